// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Every form of a trace file, read, written and refused.

use super::*;

fn recording(text: &str) -> Recording {
    read(text).unwrap_or_else(|wrong| panic!("{text:?}: {wrong}")).recording
}

/// Milliseconds and kbit/s of each step, and the period.
fn steps(text: &str) -> (Vec<(u64, u64)>, u64) {
    let Recording::Course(course) = recording(text) else { panic!("{text:?} has no rates") };
    let step = |point: &course::Point| (point.at.0 / 1_000_000, point.rate.0 / 1000);
    (course.points().iter().map(step).collect(), course.period().0 / 1_000_000)
}

#[test]
fn every_form_of_the_same_rates_is_the_same_course() {
    let expected = (vec![(0, 700), (1000, 0), (1500, 2500)], 2500);
    for (text, form) in [
        ("0 0.7\n1 0\n1.5 2.5\n", Form::Text),
        ("10,0.7\n11,0\n11.5,2.5\n", Form::Text),
        ("0\t0.7\n1\t0\n1.5\t2.5", Form::Text),
        ("time_s,rate_kbps\n0,700\n1,0\n1.5,2500\n", Form::Csv),
        ("Timestamp\tThroughput (Mbit/s)\n1764150000\t0.7\n1764150001\t0\n1764150001.5\t2.5\n", Form::Csv),
        ("\"rssi\";\"t\";\"MB/s\"\n-70;0;0.0875\n-71;1;0\n-71;1.5;0.3125\n", Form::Csv),
        ("time_ms bandwidth_bps\n0 7e5\n1000 0\n1500 2.5e6\n", Form::Csv),
        ("duration_s,Mbps\n1,0.7\n0.5,0\n1,2.5\n", Form::Csv),
        (
            "[{\"duration_ms\": 1000, \"bandwidth_kbps\": 700, \"latency_ms\": 20},\n \
              {\"duration_ms\": 500, \"bandwidth_kbps\": 0, \"latency_ms\": 30},\n \
              {\"duration_ms\": 1000.0, \"bandwidth_kbps\": 2.5e3, \"latency_ms\": 20}]",
            Form::Json,
        ),
    ] {
        // The last row lasts as long as the one before it, unless durations say otherwise.
        let period = if text.contains("uration") { 2500 } else { 2000 };
        assert_eq!(steps(text), (expected.0.clone(), period), "{text:?}");
        assert_eq!(read(text).unwrap().form, form, "{text:?}");
    }
}

#[test]
fn comments_marks_and_empty_last_lines_are_harmless() {
    for (plain, other) in [
        ("1\n5\n5\n", "\u{feff}# Verizon\r\n1\r\n5\r\n# a tunnel\r\n5\r\n\r\n \r\n"),
        ("0 1\n2 3\n", "# s Mbit/s\n\n0 1\r\n#\n2 3\n\n\n"),
        ("time_s,rate_mbps\n0,1\n2,3\n", "\u{feff}#one\r\n\r\ntime_s,rate_mbps\r\n0,1\r\n\r\n2,3\r\n\r\n"),
        ("[{\"duration_s\": 1, \"Mbps\": 2}]", "\u{feff}\r\n[{\"duration_s\": 1, \"Mbps\": 2}]\r\n\r\n"),
    ] {
        assert_eq!(recording(other), recording(plain), "{other:?}");
    }
}

#[test]
fn columns_besides_the_rate_are_kept_with_one_unit_and_others_are_named() {
    let text = "time_s,cell,loss_%,rate_mbps,rtt_s\n0,7,50,1,0.03\n1,8,0.5,2,0.04\n";
    let known = read(text).unwrap();
    assert_eq!(known.ignored, ["cell"]);
    let besides: Vec<(&str, &[f64])> =
        known.recording.besides().iter().map(|one| (one.name, &*one.values)).collect();
    assert_eq!(besides, [("latency_ms", &[30.0, 40.0][..]), ("loss", &[0.5, 0.005])]);
}

#[test]
fn a_course_is_written_as_what_reads_the_same() {
    let texts = [
        "duration_ms,rate_bps\n0.001,1\n33.3,1234567\n7,0\n",
        "duration_s,rate_mbps,loss,delay_ms\n1,3,0.25,1.5\n0.1,4,0,2\n",
    ];
    for text in texts {
        let known = recording(text);
        let one = Span::from_secs(1);
        assert_eq!(recording(&known.to_csv(one).unwrap()), known);
        assert_eq!(recording(&known.to_json(one).unwrap()), known);
        assert_eq!(recording(&known.to_string()), known);
    }
}

#[test]
fn opportunities_and_rates_become_one_another() {
    let known = recording("0 6\n0.1 0\n0.2 12\n");
    let opportunities = recording(&known.to_mahimahi());
    assert_eq!((opportunities.mean(), opportunities.period()), (Rate(6_000_000), Span::from_millis(300)));
    let back = opportunities.to_csv(Span::from_millis(100)).unwrap();
    assert_eq!(steps(&back), (vec![(0, 6000), (100, 0), (200, 12000)], 300));
    assert_eq!(recording("1\n5\n").to_mahimahi(), "1\n5\n");
    assert_eq!(recording("4000000000\n").to_csv(Span::from_millis(1)), None);
}

#[test]
fn gaps_are_where_nothing_is_carried_and_continue_past_the_end() {
    let gaps = |text: &str, ms| {
        let gaps = recording(text).gaps(Span::from_millis(ms)).into_iter();
        gaps.map(|gap| gap.0 / 1_000_000).collect::<Vec<_>>()
    };
    assert_eq!(gaps("30\n40\n40\n100\n", 20), [60, 30]);
    assert_eq!(gaps("0 0\n1 0\n2 5\n3 0\n4 5\n5 0\n", 1), [1000, 3000]);
    assert_eq!(gaps("0 1\n1 2\n", 1), Vec::<u64>::new());
}

#[test]
fn a_wrong_trace_names_line_column_value_range_and_remedy() {
    for (text, wrong) in [
        ("", "the trace is empty"),
        ("# nothing\n\n", "the trace is empty"),
        ("1\n2\nx3\n", "line 3: `x3` is not a whole number of milliseconds"),
        ("5\n4\n", "line 2: 4 comes after 5"),
        ("0\n", "the trace ends at 0 ms"),
        ("1\n\n2", "line 2: ``"),
        ("99999999999", "line 1: `99999999999`"),
        ("0 1 2\n", "line 1: 3 columns without names: begin with a header"),
        ("0 1\n1 x\n", "line 2, column 2 (Mbit/s): `x` is not a number"),
        ("0 1\n1\n", "line 2: expected 2 cells as in line 1, found 1"),
        ("0 1\n2 1\n1 1\n", "line 3, column 1 (seconds): 1 comes after 2: let the times increase"),
        ("0 -1\n", "line 1, column 2 (Mbit/s): -1 is outside the allowed range, 0 to 1000 Gbit/s"),
        ("0 0\n1 0\n", "the trace carries less than 1 bit/s in the mean: raise a rate"),
        ("time_s,rate\n", "line 1, column 2: `rate` has no unit: write it as in `rate_bps`"),
        ("time_s,bandwith_kbps\n", "line 1: no column is a rate: did you mean `bandwidth_kbps`?"),
        ("rate_mbps,loss\n", "line 1: no column is a time: name it as in `time_s`"),
        ("time_s,rate_mbps,Mbps\n", "line 1, column 3: `Mbps` means the same as `rate_mbps`: leave one out"),
        ("time_s,duration_s,Mbps\n", "line 1, column 2: `duration_s` besides a time"),
        ("time_s,Mbps,loss\n0,1,2\n", "line 2, column 3 (loss): 2 is outside the allowed range, 0 to 1"),
        (
            "time_s,Mbps\n0,1\n\n9e7,1\n",
            "line 4, column 1 (time_s): 90000000 is more than 10000000 s after 0",
        ),
        ("time_s,Mbps\n", "the trace is empty"),
        ("[", "line 1, column 1: EOF"),
        ("[\n 1]", "line 2, column 2: invalid type"),
        ("{\"a\": 1}", "line 1, column 1: invalid type"),
        ("[]", "the trace is empty"),
        (
            "[{\"duration_ms\": 0, \"bandwidth_kbps\": 1}]",
            "entry 1, `duration_ms`: 0 is outside the allowed range",
        ),
        ("[{\"duration_ms\": 5, \"Mbps\": 1}, {\"Mbps\": 1}]", "entry 2, `duration_ms`: the key is missing"),
        ("[{\"duration_ms\": 5, \"Mbps\": \"1\"}]", "entry 1, `Mbps`: this is not a number"),
    ] {
        let error = read(text).unwrap_err();
        assert!(error.starts_with(wrong), "{text:?}: {error}");
    }
}

#[test]
fn a_capacity_written_as_a_trace_carries_the_same() {
    // 6 Mbit/s: 1500 bytes every 2 ms; nothing from 7 to 10 ms, and at the end the trace begins again.
    let carried = |at: Time| 6e6 * at.min(Time(7_000_000)).as_secs_f64();
    let times = Times::of(carried, Span::from_millis(10));
    assert_eq!(times.to_text(), "2\n4\n6\n10\n");
    assert_eq!(recording(&times.to_text()), Recording::Opportunities(times));
}

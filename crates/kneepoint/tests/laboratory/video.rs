// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Video over a simulated network: lateness of live streams, playback of stored ones.

use kneepoint::measure::Meter;
use kneepoint::run;
use kneepoint::scenario::parse;
use kneepoint::table::{Row, value};

/// The rows of a dumbbell of 40 ms with this section of traffic, over a bottleneck of this rate, for 100 s.
fn rows(rate: &str, traffic: &str) -> Vec<Row> {
    let text = format!(
        "[run]\nduration = \"100s\"\nmeasure = \"0s..100s\"\n[topology]\nkind = \"dumbbell\"\naccess = \"minimal\"\nrate = \"{rate}\"\n\
         rtt = \"40ms\"\nbuffer = \"1000pkt\"\n{traffic}"
    );
    let plan = parse(&text).expect("a scenario");
    let valid = &plan.cases[0].valid;
    let (meter, _) = run::run(valid, 1, Meter::new(valid, 1));
    meter.finish()
}

fn at(rows: &[Row], metric: &str, startup: &str) -> f64 {
    value(rows, metric, &[("group", "video"), ("startup", startup)])
}

#[test]
fn nothing_of_a_live_stream_is_late_where_there_is_room() {
    let rows =
        rows("10mbit", "[[video]]\ncc = \"reno\"\ncount = 3\nrate = \"300kbit\"\nstart = \"0s..1s\"\n");
    for startup in ["100ms", "1s", "21s"] {
        assert_eq!(
            (at(&rows, "late_share", startup), at(&rows, "streams_on_time_share", startup)),
            (0.0, 1.0)
        );
    }
    // A packet takes 20 ms and its transmission.
    let group = |metric| value(&rows, metric, &[("group", "video")]);
    assert!((20.0..25.0).contains(&group("completion_time_p50_ms")), "{}", group("completion_time_p50_ms"));
}

#[test]
fn a_live_stream_on_a_link_of_half_its_rate_is_late_as_computed_by_hand() {
    // With headers a packet of 1000 bytes is 8320 bits: 130 kbit/s carry 125 kbit/s of a video of 250 kbit/s. The packet made at t
    // arrives at 2 t and some round trips, so that with a start-up delay of τ the packets of the first τ seconds are on
    // time, out of the 79 s that count.
    let rows = rows("130kbit", "[[video]]\ncc = \"reno\"\nrate = \"250kbit\"\nstart = \"0s\"\n");
    for (startup, delay) in [("5s", 5.0), ("10s", 10.0), ("20s", 20.0)] {
        let late = at(&rows, "late_share", startup);
        let expected = 1.0 - delay / 79.0;
        assert!((late - expected).abs() < 0.02, "{startup}: {late} and not {expected}");
        assert_eq!(at(&rows, "streams_on_time_share", startup), 0.0);
    }
}

#[test]
fn a_viewer_has_the_bit_rate_that_the_link_allows_and_no_stalls() {
    for rule in ["bba", "bola", "throughput"] {
        let traffic = format!("[[vod]]\ncc = \"reno\"\nrule = \"{rule}\"\nstart = \"0s\"\n");
        let rows = rows("3mbit", &traffic);
        let group = |metric| value(&rows, metric, &[("group", "vod")]);
        assert_eq!(group("stalls_per_minute"), 0.0, "{rule}");
        let rate = group("bitrate_mean_bps") / 1e6;
        // 2.88 Mbit/s are payload; the rung below 0.85 of them has 2.35.
        let most = if rule == "throughput" { 2.35 } else { 2.88 };
        assert!((0.9..=most).contains(&rate), "{rule}: {rate}");
        assert!(group("startup_time_mean_ms") < 1500.0, "{rule}: {}", group("startup_time_mean_ms"));
    }
}

#[test]
fn a_video_in_one_encoding_above_the_rate_of_the_link_stalls_for_the_difference() {
    // 1.25 Mbit/s of 1.3 are payload; a second of video takes 1.6 s, so playback stalls for 0.6 of each 1.6 s.
    let rows =
        rows("1.3mbit", "[[vod]]\ncc = \"reno\"\nladder = \"2mbit\"\nrule = \"highest\"\nstart = \"0s\"\n");
    let group = |metric| value(&rows, metric, &[("group", "vod")]);
    assert!((group("stall_share") - 0.375).abs() < 0.04, "{}", group("stall_share"));
    assert_eq!(group("bitrate_mean_bps"), 2e6);
    assert_eq!(group("switches_per_minute"), 0.0);
}

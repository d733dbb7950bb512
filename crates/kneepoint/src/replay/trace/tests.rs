// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Traces that are read and written, and the places of faults.

use super::*;

const EVERY: &str = "\
at_us,kind,packets,rtt_us,acked,credit,una,next,in_flight,recovering,draw,reported,rate
0,open,10,,,,,,,,,,
60000.125,ack,,60000.125,2,1,2,12,10,0,0.25,,
60001,ack,,,0,0,2,12,10,1,0.5,,
60002,loss,10.5,,,,2,12,,,,,
90000,timeout,10,,,,,12,,,,1,
90001,advice,,,,,,,,,,,1250.5
";

#[test]
fn what_is_written_is_read() {
    let steps = read(EVERY).unwrap();
    assert_eq!(write(&steps), EVERY);
    assert_eq!(steps[1].at, Time(60_000_125));
    let Signal::Ack(heard) = steps[1].signal else { panic!("an acknowledgement") };
    assert_eq!((heard.rtt, heard.credit, heard.draw), (Some(Span(60_000_125)), 1, 0.25));
}

#[test]
fn what_quic_is_told_has_columns_of_its_own() {
    let heard = Heard {
        rtt: None,
        acked: 1,
        credit: 0,
        una: 7,
        next: 9,
        in_flight: 2,
        recovering: false,
        draw: 1.0 / 3.0,
        delivered: 6,
        resent: 1,
        limited: true,
    };
    let signals = [
        Signal::Open { window: 10.0 },
        Signal::Ack(heard),
        Signal::Mark { flight: 5.1, next: 9 },
        Signal::Resume { idle: Span(1_000_001) },
        Signal::Resize { window: 3.7, threshold: f64::INFINITY },
    ];
    let steps = signals.map(|signal| Step { at: Time(3), signal });
    assert_eq!(read(&write(&steps)).unwrap(), steps);
}

#[test]
fn columns_come_in_any_order_and_may_be_missing() {
    let steps = read("# mine\nkind,at_us,packets\nopen,0,3\n").unwrap();
    assert_eq!(steps, [Step { at: Time(0), signal: Signal::Open { window: 3.0 } }]);
}

#[test]
fn faults_have_a_place() {
    for (text, at, message) in [
        ("at_us,kind,rate\n0,open,\n", 16, "no `packets`"),
        ("at_us,knd\n", 6, "`knd` is not a column"),
        ("at_us,kind,packets\n0,opn,3\n", 21, "`opn` is not a kind"),
        ("at_us,kind,packets\n0.0001,open,3\n", 19, "not a value of `at_us`"),
        ("at_us,kind,packets\n0,open,0\n", 26, "not a value of `packets`"),
        ("at_us,kind,packets\n0,open,3\n0,open,3\n", 28, "one step `open`"),
        ("at_us,kind,packets,rate\n5,open,3,\n4,advice,,1\n", 34, "time runs back"),
        ("", 0, "no steps"),
    ] {
        let faults = read(text).unwrap_err();
        assert_eq!(faults[0].span.start, at, "{text}: {}", faults[0].message);
        assert!(faults[0].message.contains(message), "{}", faults[0].message);
    }
}

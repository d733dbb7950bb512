// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee identify` on qlog and captures.

use std::fs;

use super::{assert_refuses, json, knee, stderr};

const AIOQUIC: &[u8] = include_bytes!("../../../kneepoint/tests/laboratory/qlog/aioquic.qlog");

const HEAD: &str = "{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON-SEQ\",\"trace\":{\"title\":\"one\"}}\n";

/// A record a line: so many packets sent, and received without frames.
fn log(sent: usize, received: usize) -> String {
    let event = |name: &str, place: usize| {
        format!(
            "{{\"time\":{place},\"name\":\"transport:{name}\",\"data\":{{\"header\":{{\"packet_type\":\"1RTT\",\
             \"packet_number\":{place}}},\"raw\":{{\"length\":1200}}}}}}\n"
        )
    };
    let sent = (0..sent).map(|place| event("packet_sent", place));
    let received = (0..received).map(|place| event("packet_received", place));
    [HEAD.to_string()].into_iter().chain(sent).chain(received).collect()
}

#[test]
fn a_qlog_of_another_stack_is_compared_with_what_stacks_have() {
    let here = tempfile::tempdir().unwrap();
    fs::write(here.path().join("a.qlog"), AIOQUIC).unwrap();
    fs::write(here.path().join("b.sqlog"), log(8, 40)).unwrap();
    let found = json(&knee(here.path(), &["identify", "a.qlog", "b.sqlog", "--json"]));
    let [flow] = &found["flows"].as_array().unwrap()[..] else { panic!("one of the two is a sender's") };
    assert_eq!((&flow["path"]["segment_bytes"], &flow["file"]), (&1200.into(), &"a.qlog".into()));
    assert!((flow["path"]["base_rtt_ms"].as_f64().unwrap() - 40.0).abs() < 0.1, "{flow}");
    assert_eq!((&flow["path"]["retransmitted"], &flow["logged"]), (&2.into(), &true.into()));
    let versions: Vec<&str> = flow["candidates"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|one| one["same"].as_array().unwrap())
        .map(|one| one.as_str().unwrap())
        .collect();
    for candidate in ["reno (published)", "cubic (rfc8312)", "bbr3 (published)", "copa (published)"] {
        assert!(versions.contains(&candidate), "{versions:?}");
    }
    let notes = found["notes"].as_array().unwrap();
    let noted = |text: &str| notes.iter().any(|note| note.as_str().unwrap().contains(text));
    assert!(noted("`b.sqlog` is the log of the receiver") && noted("RFC 9002"), "{notes:?}");
}

#[test]
fn a_qlog_that_does_not_tell_is_refused_with_its_name() {
    let here = tempfile::tempdir().unwrap();
    fs::write(here.path().join("receiver.sqlog"), log(4, 40)).unwrap();
    fs::write(here.path().join("unanswered.sqlog"), log(40, 20)).unwrap();
    fs::write(here.path().join("silent.sqlog"), HEAD).unwrap();
    fs::write(here.path().join("x.csv"), "no qlog").unwrap();
    fs::write(here.path().join("cut.qlog"), &HEAD[..40]).unwrap();
    fs::write(here.path().join("odd.qlog"), "{odd").unwrap();
    fs::write(here.path().join("a.qlog"), AIOQUIC).unwrap();
    for (words, status, said) in [
        (
            &["identify", "receiver.sqlog"][..],
            1,
            ["`receiver.sqlog` is the log of the receiver", "side that sends"],
        ),
        (
            &["identify", "unanswered.sqlog"],
            1,
            ["`unanswered.sqlog` logs no acknowledgements", "bytes_in_flight"],
        ),
        (&["identify", "silent.sqlog"], 1, ["`silent.sqlog` logs no `packet_sent`", "side that sends"]),
        (&["identify", "a.qlog", "x.csv"], 2, ["`x.csv` is not qlog", "give qlog only"]),
        (&["identify", "a.qlog", "--flow", "nobody"], 2, ["no connection `nobody`", "with the most data: "]),
        (&["identify", "a.qlog", "--charts", "png"], 2, ["--charts, --size and --font", "--out DIR"]),
        (&["identify", "a.qlog", "--against", "xcp"], 2, ["`xcp` needs feedback", "knee list"]),
        (&["identify", "a.qlog", "--against", "all,reno"], 2, ["`all` beside names", "give `all` alone"]),
        (
            &["identify", "cut.qlog"],
            1,
            ["`cut.qlog` at byte 0: the record ends too early", "JSON text sequence"],
        ),
        (
            &["identify", "odd.qlog"],
            1,
            [
                "`odd.qlog` at byte 0: the record is no JSON from its line 1, column 2 on",
                "JSON text sequence",
            ],
        ),
    ] {
        assert_refuses(&knee(here.path(), words), status, &said);
    }
}

#[test]
fn a_capture_at_the_sender_and_one_at_the_other_end_of_its_link_name_it() {
    let here = tempfile::tempdir().unwrap();
    let network = ["--rate", "10mbit", "--rtt", "60ms", "--flows", "1", "--duration", "15s", "--seeds", "1"];
    let captured = ["--tcp", "linux", "--pcap", "s1-r1", "--pcap", "r1-s1", "--out", "out"];
    let made = knee(here.path(), &[&["compare", "cubic"], &network[..], &captured[..]].concat());
    assert!(made.status.success(), "{}", stderr(&made));
    // Acknowledgements are captured where they enter the last link, of 5 % of the round trip.
    let captures = ["out/captures/cubic-seed1-s1-r1.pcapng", "out/captures/cubic-seed1-r1-s1.pcapng"];
    let found = json(&knee(here.path(), &[&["identify", "--json"], &captures[..]].concat()));
    let best = &found["flows"][0]["candidates"][0];
    assert_eq!((&best["controller"], &best["named"]), (&"cubic".into(), &true.into()), "{best}");
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee identify` on qlog and captures.

use std::fs;
use std::io::Write;
use std::path::Path;

use serde_json::Value;

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
            ["`cut.qlog` at line 1: the record ends too early", "JSON text sequence"],
        ),
        (
            &["identify", "odd.qlog"],
            1,
            ["`odd.qlog` at line 1: the record is no JSON from column 2 on", "JSON text sequence"],
        ),
    ] {
        assert_refuses(&knee(here.path(), words), status, &said);
    }
}

/// A log with every `from` replaced.
fn replaced(from: &str, to: &str) -> String {
    let text = log(40, 0);
    assert!(text.contains(from), "{text}");
    text.replace(from, to)
}

#[test]
fn events_that_cannot_have_happened_are_refused_or_named() {
    let here = tempfile::tempdir().unwrap();
    for (name, text, said) in [
        (
            "huge",
            replaced("\"packet_number\":5}", "\"packet_number\":9007199254740992}"),
            "`huge.sqlog` at line 7: packet 9007199254740992 is sent after packet 4 of line 6",
        ),
        (
            "later",
            replaced("\"packet_number\":30}", "\"packet_number\":5000000}"),
            "`later.sqlog` at line 33: packet 31 is sent after packet 5000000 of line 32",
        ),
        (
            "early",
            replaced("\"time\":9,", "\"time\":-5,"),
            "`early.sqlog` at line 11: a time of -5 ms, below zero, follows 8 ms",
        ),
        (
            "long",
            replaced("\"time\":9,", "\"time\":1e300,"),
            "`long.sqlog` at line 11: 1e300 is not a time in milliseconds, from 0 to 3200000000000",
        ),
        (
            "renamed",
            replaced("packet_sent", "packet_went"),
            "`renamed.sqlog` logs no `packet_sent` with data",
        ),
    ] {
        let file = format!("{name}.sqlog");
        fs::write(here.path().join(&file), text).unwrap();
        assert_refuses(&knee(here.path(), &["identify", &file]), 1, &[said, "help: "]);
    }
    let ack = |last: u64| {
        format!(
            "{{\"time\":50,\"name\":\"packet_received\",\"data\":{{\"header\":{{\"packet_type\":\"1RTT\"}},\
             \"frames\":[{{\"frame_type\":\"ack\",\"acked_ranges\":[[0,{last}]]}}]}}}}\n"
        )
    };
    let cut = "{\"time\":60,\"na";
    let text = [log(40, 0), ack(9_007_199_254_740_992), ack(39), cut.to_string()].concat();
    fs::write(here.path().join("acked.sqlog"), text).unwrap();
    for verb in ["identify", "predict"] {
        let said = stderr(&knee(here.path(), &[verb, "acked.sqlog"]));
        let unsent =
            "warning: acked.sqlog: At line 42, packet 9007199254740992 is acknowledged, but none above 39";
        assert!(said.contains(unsent), "{said}");
        assert!(said.contains("warning: acked.sqlog was cut off at line 44"), "{said}");
    }
}

#[test]
fn a_compressed_qlog_of_any_name_is_one_and_counts_once() {
    let here = tempfile::tempdir().unwrap();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(AIOQUIC).unwrap();
    fs::write(here.path().join("packed.gz"), packed.finish().unwrap()).unwrap();
    let found = json(&knee(here.path(), &["identify", "packed.gz", "--json"]));
    assert_eq!(found["flows"][0]["file"], "packed.gz", "{found}");
    for verb in ["identify", "predict"] {
        let twice = knee(here.path(), &[verb, "packed.gz", "./packed.gz"]);
        assert_refuses(&twice, 2, &["`./packed.gz` is given twice, first as `packed.gz`", "each file once"]);
    }
}

/// Captures of one flow at both ends of its sender's link: data where they enter it, and acknowledgements as well, 5 % of the round trip before the sender
/// has them.
const CAPTURES: [&str; 2] =
    ["out/captures/cubic-seed1-s1-r1.pcapng", "out/captures/cubic-seed1-r1-s1.pcapng"];

/// Makes them in `here`.
fn capture(here: &Path, more: &[&str]) {
    let network = ["--rate", "10mbit", "--rtt", "60ms", "--flows", "1", "--duration", "15s", "--seeds", "1"];
    let captured = ["--tcp", "linux", "--pcap", "s1-r1", "--pcap", "r1-s1", "--out", "out"];
    let made = knee(here, &[&["compare", "cubic"], &network[..], &captured[..], more].concat());
    assert!(made.status.success(), "{}", stderr(&made));
}

fn identified(here: &Path) -> Value {
    json(&knee(here, &["identify", CAPTURES[0], CAPTURES[1], "--json"]))["flows"][0].clone()
}

#[test]
fn captures_at_both_ends_of_the_link_of_a_sender_name_it() {
    let here = tempfile::tempdir().unwrap();
    capture(here.path(), &[]);
    let flow = identified(here.path());
    let best = &flow["candidates"][0];
    assert_eq!((&best["controller"], &best["named"]), (&"cubic".into(), &true.into()), "{flow}");
    let [data, _] = CAPTURES;
    let message = "none of their acknowledgements";
    assert_refuses(&knee(here.path(), &["identify", data]), 1, &[message, "the other direction"]);
    let backward = "10.128.0.0:5001-10.0.0.0:10000";
    let asked = ["identify", CAPTURES[0], CAPTURES[1], "--flow", backward];
    assert_refuses(&knee(here.path(), &asked), 2, &["the sender is first: `10.0.0.0:10000-10.128.0.0:5001`"]);
}

#[test]
fn a_flow_that_repairs_losses_in_every_second_has_a_verdict() {
    let here = tempfile::tempdir().unwrap();
    capture(here.path(), &["--loss", "2%"]);
    let flow = identified(here.path());
    let base = flow["path"]["base_rtt_ms"].as_f64().unwrap();
    assert!((60.0..63.0).contains(&base), "{flow}");
    assert_eq!(flow["candidates"][0]["controller"], "cubic", "{flow}");
}

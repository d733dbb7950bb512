// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Predict: scenarios and captures, and what it refuses.

use super::*;

/// Six flows over a small bottleneck, whose sender's links take no time.
const SMALL: &str = r#"
name = "small"
[run]
duration = "30s"
measure = "5s..30s"
[topology]
kind = "dumbbell"
rate = "10mbit"
rtt = "40ms"
[[flows]]
name = "long"
count = 6
cc = "reno"
start = "0s..1s"
"#;

fn small(here: &Path) {
    std::fs::write(here.join("small.toml"), SMALL).unwrap();
}

#[test]
fn a_flow_of_a_scenario_is_judged_by_itself_and_by_its_queue() {
    let here = tempfile::tempdir().unwrap();
    small(here.path());
    let arguments = ["predict", "small.toml", "--flow", "long/2", "--seeds", "2", "--predictors", "rtt,dual"];
    let result = json(&knee(here.path(), &[&arguments[..], &["--json"]].concat()));
    let case = &result["cases"][0];
    assert_eq!(case["flow"], "long/2");
    assert_eq!(case["runs"].as_array().unwrap().len(), 2);
    for run in case["runs"].as_array().unwrap() {
        let scores = run["scores"].as_array().unwrap();
        let told = scores.iter().map(|score| (score["predictor"].as_str(), score["judged_by"].as_str()));
        let expected = [("rtt", "flow"), ("rtt", "queue"), ("dual", "flow"), ("dual", "queue")];
        assert_eq!(told.collect::<Vec<_>>(), expected.map(|(name, judge)| (Some(name), Some(judge))));
    }
    let csv = std::fs::read_to_string(here.path().join("out/predict/scores.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + 2 * 4);
    assert!(std::fs::read_to_string(here.path().join("out/predict/report.html")).unwrap().contains("<svg"));
    let again = stdout(&knee(here.path(), &arguments));
    assert!(again.contains("all drops at the queue") && again.contains("would have worked best"), "{again}");
}

#[test]
fn a_capture_of_a_run_is_read_back_from_two_files() {
    let here = tempfile::tempdir().unwrap();
    small(here.path());
    let links = ["--pcap", "s1-r1", "--pcap", "r1-s1", "--pcap", "r1-r2", "--pcap", "r2-r1"];
    let run = knee(here.path(), &[&["run", "small.toml", "--out", "run"], &links[..]].concat());
    assert!(run.status.success(), "{}", stderr(&run));
    let mut files: Vec<String> = std::fs::read_dir(here.path().join("run/captures"))
        .unwrap()
        .map(|file| file.unwrap().path().display().to_string())
        .collect();
    files.sort();
    let (between, at_sender): (Vec<&str>, Vec<&str>) =
        files.iter().map(String::as_str).partition(|file| !file.contains("s1"));
    let text = stdout(&knee(here.path(), &[&["predict"], &at_sender[..]].concat()));
    assert!(text.contains("10.0.0.0:10000-10.128.0.0:5001"), "{text}");
    assert!(text.contains("segments of 1000 bytes") && text.contains("srtt-0.99"), "{text}");
    assert!(!text.contains("all drops at the queue"), "{text}");
    let listed = json(&knee(here.path(), &[&["predict"], &between[..], &["--flows", "--json"]].concat()));
    assert_eq!(listed["flows"].as_array().unwrap().len(), 6, "{listed}");
    assert!(listed["flows"][0]["losses"].as_u64().unwrap() > 0, "{listed}");
    let all = stdout(&knee(here.path(), &[&["predict"], &between[..], &["--all"]].concat()));
    assert_eq!(all.matches("judged by the flow's own losses").count(), 6, "{all}");
    assert!(all.contains("by chance") && all.contains("±"), "{all}");
    let missing =
        knee(here.path(), &[&["predict"], &at_sender[..], &["--flow", "1.2.3.4:5-6.7.8.9:10"]].concat());
    assert_refuses(&missing, 2, &["--flow: no flow `1.2.3.4:5-6.7.8.9:10`", "10.0.0.0:10000"]);
    let one_way = [&["predict"], &at_sender[1..]].concat();
    assert_refuses(&knee(here.path(), &one_way), 1, &["both directions"]);
}

#[test]
fn what_cannot_be_watched_is_refused_with_what_can() {
    let here = tempfile::tempdir().unwrap();
    small(here.path());
    std::fs::write(here.path().join("cut.pcap"), [0xd4, 0xc3, 0xb2, 0xa1, 2, 0]).unwrap();
    for (arguments, status, sayings) in [
        (&["predict", "small.toml", "--flow", "long/6"][..], 2, &["long/6", "long/0 to 5"][..]),
        (&["predict", "small.toml", "--flow", "short/0"], 2, &["short/0", "long/0 to 5"]),
        (&["predict", "small.toml", "--predictors", "vega"], 2, &["vega", "vegas"]),
        (&["predict", "small.toml", "--predictors", "rtt,rtt"], 2, &["twice"]),
        (&["predict", "small.toml", "--hold-off", "2000"], 2, &["hold-off"]),
        (&["predict", "small.toml", "small.toml"], 2, &["not a capture"]),
        (&["predict", "cut.pcap"], 1, &["byte 0", "file header"]),
        (&["predict", "cut.pcap", "--seeds", "3"], 2, &["no seed"]),
        (&["predict", "small.toml", "--flows"], 2, &["captures"]),
        (&["predict", "cut.pcap", "--flows", "--all"], 2, &["--all"]),
        (&["predict", "none.toml"], 1, &["none.toml"]),
    ] {
        assert_refuses(&knee(here.path(), arguments), status, sayings);
    }
}

#[test]
fn a_bad_capture_is_told_as_one() {
    let here = tempfile::tempdir().unwrap();
    // A pcap file that ends with its header is one, of no packets.
    let header =
        [&0xa1b2_c3d4_u32.to_le_bytes()[..], &[2, 0, 4, 0], &[0; 8], &[255, 255, 0, 0, 1, 0, 0, 0]].concat();
    let files: [(&str, &[u8]); 5] = [
        ("empty.pcap", b""),
        ("random.PCAPNG", b"\x12\xfe\x00\x9cnoise"),
        ("text.pcap.gz", b"name = 'a scenario'"),
        ("none.pcap", &header),
        ("header.bin", &header[..10]),
    ];
    for (name, bytes) in files {
        std::fs::write(here.path().join(name), bytes).unwrap();
    }
    for (name, saying) in [
        ("empty.pcap", "`empty.pcap` is an empty file"),
        ("random.PCAPNG", "`random.PCAPNG` is not a capture: neither pcap nor pcapng"),
        ("text.pcap.gz", "`text.pcap.gz` is not a capture"),
        ("none.pcap", "the capture has no packets"),
        ("header.bin", "`header.bin` at byte 0"),
    ] {
        assert_refuses(&knee(here.path(), &["predict", name]), 1, &[saying, "help: "]);
    }
    for verb in [["predict", "-"], ["run", "-"]] {
        let piped = knee_reading(here.path(), &verb, &header);
        assert_refuses(&piped, 1, &["`-` is a packet capture", "`knee predict FILE`"]);
    }
    assert_eq!(names(here.path()).len(), 5, "nothing is written");
}

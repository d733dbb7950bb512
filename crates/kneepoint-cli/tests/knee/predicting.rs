// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Predict: scenarios and captures, and refusals.

use super::*;

/// The core's tests make captures by hand with it.
#[allow(dead_code)]
#[path = "../../../kneepoint/tests/laboratory/common/shots.rs"]
mod shots;

use shots::{Story, ethernet, frames, ipv4, over_ipv4, pcap, transfer, udp};

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
fn csv_of_tshark_is_a_capture_and_no_scenario() {
    let here = tempfile::tempdir().unwrap();
    let text = "frame.number,_ws.col.Time,frame.len,tcp.seq,ip.dst,tcp.dstport,tcp.len,tcp.ack,tcp.srcport,frame.time_relative\n\
                1,x,60,0,10.0.0.2,5000,0,0,4000,0.0\n2,x,60,0,10.0.0.1,4000,0,1,5000,0.1\n";
    std::fs::write(here.path().join("reno.csv"), text).unwrap();
    let listed = knee(here.path(), &["predict", "reno.csv", "--flows"]);
    assert!(!stderr(&listed).contains("TOML"), "{}", stderr(&listed));
    for verb in ["run", "check"] {
        let told =
            ["`reno.csv` is a packet capture, but expected is a scenario in TOML", "`knee identify FILE`"];
        assert_refuses(&knee(here.path(), &[verb, "reno.csv"]), 1, &told);
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
        (
            "random.PCAPNG",
            "`random.PCAPNG` is not a capture: neither pcap nor pcapng, nor CSV with tshark's names of columns, nor qlog",
        ),
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

#[test]
fn a_capture_that_was_cut_off_before_its_first_packet_is_not_used() {
    let here = tempfile::tempdir().unwrap();
    let whole = captured(&transfer(), 1514);
    // The header of the file has 24 bytes, that of a packet 16.
    std::fs::write(here.path().join("cut.pcap"), &whole[..44]).unwrap();
    std::fs::write(here.path().join("block.pcapng"), [0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0]).unwrap();
    std::fs::write(here.path().join("whole.pcap"), &whole).unwrap();
    for (name, place) in [("cut.pcap", 24), ("block.pcapng", 0)] {
        let warning = format!("warning: {name} was cut off at byte {place}: ");
        for more in [&[][..], &["--flows"]] {
            let alone = knee(here.path(), &[&["predict", name], more].concat());
            let sayings = [&warning, "nothing of it could be used", "the capture has no packets"];
            assert_refuses(&alone, 1, &sayings);
        }
        let both = knee(here.path(), &["predict", "whole.pcap", name, "--flows"]);
        assert!(both.status.success() && stderr(&both).contains(&warning), "{}", stderr(&both));
    }
    let twice = knee(here.path(), &["predict", "whole.pcap", "whole.pcap", "--flows"]);
    assert_refuses(&twice, 2, &["`whole.pcap` is given twice", "each file once"]);
}

/// A pcap file of a story, with at most this many bytes of each packet.
fn captured(story: &Story, snapshot: usize) -> Vec<u8> {
    let mut frames = frames(story, |shot, id| vec![ethernet(0x0800, &over_ipv4(shot, id))]);
    frames.iter_mut().for_each(|(_, bytes, _)| bytes.truncate(snapshot));
    pcap(&frames, 1, false, false)
}

#[test]
fn a_capture_without_data_says_what_it_holds() {
    let here = tempfile::tempdir().unwrap();
    let answers = transfer().with(|shot| if shot.forward { vec![] } else { vec![shot.clone()] });
    let datagram = ethernet(0x0800, &ipv4(17, [1, 2], 1, &udp(53, &[0; 20])));
    let other = [datagram.clone(), datagram, ethernet(0x0806, &[0; 28])].map(|bytes| (0, bytes, 62));
    let files: [(&str, Vec<u8>, &[&str]); 5] = [
        (
            "answers.pcap",
            captured(&answers, 1514),
            &["only acknowledgements", "10.0.0.1:45000-10.0.0.2:80, is missing", "both directions"],
        ),
        ("other.pcap", pcap(&other, 1, false, false), &["only 3 other packets: 2 UDP; 1 ARP"]),
        (
            "cut.pcap",
            captured(&transfer(), 47),
            &["TCP headers that are cut before their flags", "120 bytes"],
        ),
        ("old.snoop", b"snoop\0\0\0\0\0\0\x02\0\0\0\x04".to_vec(), &["a snoop capture", "editcap -F pcap"]),
        ("old", b"GMBU\0\x02\0\0".to_vec(), &["Network Monitor 2", "editcap"]),
    ];
    for (name, bytes, sayings) in files {
        std::fs::write(here.path().join(name), bytes).unwrap();
        for more in [&[][..], &["--flows"], &["--flows", "--json"], &["--all"]] {
            assert_refuses(&knee(here.path(), &[&["predict", name], more].concat()), 1, sayings);
        }
    }
    assert_refuses(&knee(here.path(), &["run", "old.snoop"]), 1, &["a snoop capture", "not text"]);
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_damaged_capture_is_refused_and_one_that_was_cut_off_is_used_with_a_warning() {
    let here = tempfile::tempdir().unwrap();
    let whole = gzipped(&captured(&transfer(), 1514));
    let (mut wrong, end) = (whole.clone(), whole.len());
    wrong[end - 6] ^= 1;
    let two = [gzipped(b""), whole.clone()].concat();
    for (name, bytes) in [
        ("whole.pcap.gz", &whole[..]),
        ("two.pcap.gz", &two),
        ("wrong.pcap.gz", &wrong),
        ("garbage.pcap.gz", &[&whole, &b"garbage"[..]].concat()),
        ("cut.pcap.gz", &whole[..end * 3 / 4]),
    ] {
        std::fs::write(here.path().join(name), bytes).unwrap();
    }
    let flows = |name: &str| json(&knee(here.path(), &["predict", name, "--flows", "--json"]));
    assert_eq!(flows("whole.pcap.gz"), flows("two.pcap.gz"));
    assert_eq!(flows("whole.pcap.gz")["notes"].as_array().map(Vec::len), Some(0));
    for (name, place) in [("wrong.pcap.gz", end), ("garbage.pcap.gz", end)] {
        for more in [&[][..], &["--flows"], &["--all", "--json"]] {
            let sayings = [
                &format!("`{name}` is damaged: its gzip cannot be decompressed at byte {place}"),
                "gzip -t FILE",
            ];
            assert_refuses(&knee(here.path(), &[&["predict", name], more].concat()), 1, &sayings);
        }
    }
    let warning = format!("cut.pcap.gz was cut off, or is damaged: its gzip ends at byte {}", end * 3 / 4);
    let listed = knee(here.path(), &["predict", "cut.pcap.gz", "--flows", "--json"]);
    assert!(stderr(&listed).contains(&format!("warning: {warning}")), "{}", stderr(&listed));
    assert!(json(&listed)["notes"][0].as_str().is_some_and(|note| note.starts_with(&warning)));
    let watched = knee(here.path(), &["predict", "cut.pcap.gz", "--json", "--out", "o"]);
    assert!(stderr(&watched).contains(&format!("warning: {warning}")), "{}", stderr(&watched));
    assert!(json(&watched)["notes"].to_string().contains(&warning));
    assert!(
        std::fs::read_to_string(here.path().join("o/report.md")).unwrap().contains("cut.pcap.gz was cut off")
    );
    assert!(!here.path().join("out").exists(), "a refusal writes nothing");
}

#[test]
fn what_readers_have_to_know_of_a_capture_is_printed_with_its_flows() {
    let here = tempfile::tempdir().unwrap();
    let story = transfer();
    let mut set = frames(&story, |shot, id| vec![ethernet(0x0800, &over_ipv4(shot, id))]);
    set.iter_mut().skip(299).for_each(|(at, _, _)| *at -= 3_600_000_000_000);
    set.iter_mut().for_each(|(_, bytes, _)| bytes.truncate(100));
    set.push((set[0].0, ethernet(0x0806, &[0; 28]), 42));
    let mut late = frames(&story, |shot, id| vec![ethernet(0x0800, &over_ipv4(shot, id))]);
    late.iter_mut().step_by(5).for_each(|(at, _, _)| *at += 4_500_000);
    // The handshake has both directions.
    let alone = story.with(|shot| if shot.forward || shot.syn { vec![shot.clone()] } else { vec![] });
    for (name, bytes, sayings) in [
        (
            "set.pcap",
            pcap(&set, 1, false, false),
            &["set.pcap: the clock was set back by 3600.0", "at packet 300, 1.018 s"][..],
        ),
        (
            "cut.pcap",
            captured(&story, 64),
            &["The snapshot length cuts", "selective acknowledgements", "-s 120"],
        ),
        (
            "late.pcap",
            pcap(&late, 1, false, false),
            &["An earlier time than the packet before at its interface"],
        ),
        (
            "alone.pcap",
            captured(&alone, 1514),
            &["Of 1 flow only the data was captured: the direction of the acknowledgements is missing"],
        ),
    ] {
        std::fs::write(here.path().join(name), bytes).unwrap();
        let output = knee(here.path(), &["predict", name, "--flows", "--json"]);
        let listed = json(&output);
        let flow = &listed["flows"][0];
        assert_eq!(
            (flow["packets"].as_u64(), flow["losses"].as_u64()),
            (Some(story.packets), Some(story.losses as u64))
        );
        for saying in sayings {
            assert!(stderr(&output).contains(saying), "{name}: {}", stderr(&output));
            let notes = listed["notes"].as_array().unwrap();
            assert!(notes.iter().any(|note| note.as_str().unwrap().contains(saying)), "{notes:?}");
        }
    }
    assert_refuses(&knee(here.path(), &["predict", "alone.pcap"]), 1, &["its data is not acknowledged"]);
    // The clock goes back by almost 5 ms at each packet.
    let mut hasty = frames(&story, |shot, id| vec![ethernet(0x0800, &over_ipv4(shot, id))]);
    hasty.iter_mut().for_each(|(at, _, _)| *at += 10_000_000_000);
    hasty.iter_mut().zip(0..).skip(3).for_each(|((at, _, _), place)| *at -= 5_900_000 * (place - 2));
    std::fs::write(here.path().join("hasty.pcap"), pcap(&hasty, 1, false, false)).unwrap();
    let sayings = ["no acknowledgement is later than the data that it is for", "one clock"];
    assert_refuses(&knee(here.path(), &["predict", "hasty.pcap"]), 1, &sayings);
}

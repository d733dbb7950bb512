// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One vocabulary of paths for all verbs about a bottleneck, and the page that has it.

use super::*;

const PAGE: &str = include_str!("../../../../docs/paths.md");
const MODEM: &str = include_str!("../../../../scenarios/modem.csv");
const DUMBBELL: &str = "[run]\nduration = '4s'\n[topology]\nkind = 'dumbbell'\nrate = '9mbit'\nrtt = '40ms'\n\
                        [[flows]]\nname = 'long'\ncount = 2\ncc = 'cubic'\n";
const GRAPH: &str = "[run]\nduration = '4s'\n[topology]\nkind = 'graph'\n[[link]]\nfrom = 'a'\nto = 'b'\nrate = '9mbit'\ndelay = '5ms'\n\
                     [[flows]]\ncc = 'cubic'\nfrom = 'a'\nto = 'b'\n";
const LISTED: &str = "[run]\nduration = '4s'\n[topology]\nkind = 'dumbbell'\nrate = '9mbit'\nrtt = '40ms'\n\
                      [[flows]]\nname = 'long'\ncc = 'cubic'\nfile = 'flows.csv'\n";
/// Files that commands of the page name.
pub const FILES: [(&str, &str); 5] = [
    ("graph.toml", GRAPH),
    ("listed.toml", LISTED),
    ("delays.txt", "0 20ms\n2 45ms\n"),
    ("sizes.txt", "0 0\n8000 20\n60000 50\n2000000 100\n"),
    ("flows.csv", "group,start_s,stop_s,size_bytes\nlong,0,3,\nlong,1,,200000\n"),
];

fn here() -> tempfile::TempDir {
    let here = tempfile::tempdir().unwrap();
    for (name, text) in FILES.into_iter().chain([("modem.csv", MODEM), ("my.toml", DUMBBELL)]) {
        std::fs::write(here.path().join(name), text).unwrap();
    }
    here
}

/// The sentences of the page with their commands.
fn sentences() -> Vec<(&'static str, &'static str)> {
    let rows =
        PAGE.lines().filter(|line| ["| `knee ", "| `sudo knee "].iter().any(|begin| line.contains(begin)));
    let row = |line: &'static str| {
        let mut cells = line.trim_matches('|').splitn(2, '|').map(str::trim);
        let (sentence, command) = (cells.next().unwrap_or(""), cells.next().unwrap_or(""));
        (sentence, command.trim_matches('`'))
    };
    rows.map(row).collect()
}

/// The options that make a command of the page short.
fn shortened(verb: &str) -> &'static [&'static str] {
    match verb {
        "compare" => &["--duration", "3s", "--seeds", "1", "--sample", "1s", "--flows", "2"],
        "coexist" => &["--duration", "3s", "--seeds", "1"],
        "run" => &["--seeds", "1"],
        _ => &[],
    }
}

#[cfg(target_os = "linux")]
fn can_emulate() -> bool {
    super::emulating::able()
}

#[cfg(not(target_os = "linux"))]
fn can_emulate() -> bool {
    false
}

#[test]
fn every_sentence_of_the_page_is_said_by_its_command() {
    let all = sentences();
    assert!(all.len() >= 30, "{} sentences", all.len());
    let here = here();
    for (sentence, line) in all {
        let words: Vec<&str> = line.trim_start_matches("sudo ").split_whitespace().skip(1).collect();
        if words[0] == "live" || words[0] == "emulate" && !can_emulate() {
            eprintln!("SKIPPED, no root, TUN device or kernel for virtual time: {sentence}");
            continue;
        }
        // Whatever the program is, it has its path.
        let words: Vec<&str> =
            words.iter().map(|word| if *word == "./my-client" { "true" } else { word }).collect();
        let given: Vec<&str> = words.iter().copied().filter(|word| word.starts_with("--")).collect();
        let more = shortened(words[0]).chunks(2).filter(|two| !given.contains(&two[0])).flatten();
        let arguments: Vec<&str> = words.iter().copied().chain(more.copied()).collect();
        let output = knee(here.path(), &arguments);
        // A busy machine may be late with the packets of an emulated link.
        let late = words[0] == "emulate" && stderr(&output).contains("not a valid emulation");
        assert!(output.status.success() || late, "{sentence}: {arguments:?}\n{}", stderr(&output));
    }
}

#[test]
fn an_option_takes_the_place_of_the_field_of_a_scenario() {
    let here = here();
    let rows = |arguments: &[&str]| {
        let all = json(&knee(here.path(), &[&["run", "my.toml", "--json"], arguments].concat()));
        all["schemes"].as_array().unwrap().clone()
    };
    let goodput = |all: &[Value]| all[0]["flow_goodput_bps"]["mean"].as_f64().unwrap();
    let slow = goodput(&rows(&["--rate", "2mbit"]));
    assert!(slow < 1.3e6, "two flows share 2 Mbit/s: {slow}");
    let lossy = goodput(&rows(&["--loss", "5%"]));
    assert!(lossy < 0.8 * goodput(&rows(&[])), "{lossy}");
    assert_eq!(rows(&["--rtt", "20ms,60ms,120ms", "--buffer", "0.5bdp,1bdp"]).len(), 6);
    let twice = ["run", "my.toml", "--rtt", "20ms,60ms", "--set", "topology.rtt=5ms"];
    assert_refuses(&knee(here.path(), &twice), 2, &["--rtt 20ms,60ms and --set topology.rtt=5ms both set"]);
    let linux = knee(here.path(), &["run", "my.toml", "--tcp", "linux", "--out", "l"]);
    assert!(linux.status.success(), "{}", stderr(&linux));
    let text = std::fs::read_to_string(here.path().join("l/scenarios/my.toml")).unwrap();
    assert!(text.contains("preset = \"linux\""), "{text}");
}

#[test]
fn a_field_that_the_topology_lacks_is_refused_by_the_name_of_the_option() {
    let here = here();
    for (option, words) in [
        (["--jitter", "5ms"], ["--jitter 5ms", "jitter"]),
        (["--rtt", "20ms"], ["--rtt 20ms", "rtt"]),
        (["--reverse-rate", "1mbit"], ["--reverse-rate 1mbit", "reverse_rate"]),
    ] {
        let refused = knee(here.path(), &[&["run", "graph.toml"], &option[..]].concat());
        assert_refuses(&refused, 2, &words);
    }
    let sized = knee(here.path(), &["run", "my.toml", "--up", "speed=3"]);
    assert_refuses(&sized, 2, &["`speed=3` is not a property of a link", "rate"]);
    let twice = knee(here.path(), &["run", "my.toml", "--loss", "1%", "--set", "loss=none"]);
    assert_refuses(&twice, 2, &["`loss` is set twice"]);
    let lone = knee(here.path(), &["compare", "cubic", "--up", "delay=5ms"]);
    assert_refuses(&lone, 2, &["--up delay=5ms", "--rtt"]);
}

#[test]
fn a_link_of_a_graph_has_a_path() {
    let here = here();
    let faster = ["run", "graph.toml", "--set", "link.a-b.rate=2mbit", "--out", "g", "--json"];
    let goodput =
        json(&knee(here.path(), &faster))["schemes"][0]["flow_goodput_bps"]["mean"].as_f64().unwrap();
    assert!(goodput < 2e6, "{goodput}");
    let text = std::fs::read_to_string(here.path().join("g/scenarios/graph.toml")).unwrap();
    assert!(text.contains("rate = \"2mbit\""), "{text}");
    let wrong = knee(here.path(), &["run", "graph.toml", "--set", "link.a-c.rate=2mbit"]);
    assert_refuses(&wrong, 2, &["no [[link]] leads from and to as in `a-c`", "a-b"]);
}

#[test]
fn controllers_meet_on_a_trace_and_under_fields_from_outside() {
    let here = here();
    let pair = [
        "coexist",
        "cubic",
        "reno",
        "--buffers",
        "20pkt",
        "--flows",
        "2",
        "--duration",
        "8s",
        "--seeds",
        "1",
    ];
    let coexist = |more: &[&str]| knee(here.path(), &[&pair[..], more].concat());
    let traced = coexist(&["--trace", "modem.csv", "--set", "tcp.preset=linux", "--out", "t", "--json"]);
    let document = json(&traced);
    assert!(document["about"].as_str().unwrap_or_default().contains("trace modem.csv"), "{document}");
    let copy = here.path().join("t/scenarios/cubic-beside-reno--2-flows.toml");
    let text = std::fs::read_to_string(copy).unwrap();
    assert!(text.contains("modem.csv") && text.contains("preset = \"linux\""), "{text}");
    assert_refuses(&coexist(&["--set", "flows.row.cc=bbr"]), 2, &["--set puts `bbr`"]);
    assert_refuses(
        &coexist(&["--set", "topology.buffer=9pkt"]),
        2,
        &["buffers and seeds come from the options"],
    );
    assert_refuses(&coexist(&["--set", "run.seeds=3"]), 2, &["buffers and seeds come from the options"]);
    let again = knee(here.path(), &["run", "t/scenarios/cubic-beside-reno--2-flows.toml", "--out", "again"]);
    assert!(again.status.success(), "the copy of the scenario has a copy of the trace: {}", stderr(&again));
}

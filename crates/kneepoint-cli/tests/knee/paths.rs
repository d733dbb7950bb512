// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One vocabulary of paths for all verbs about a bottleneck, and its page.

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
pub const FILES: [(&str, &str); 6] = [
    ("graph.toml", GRAPH),
    ("listed.toml", LISTED),
    ("delays.txt", "0 20ms\n2 45ms\n"),
    ("sizes.txt", "0 0\n8000 20\n60000 50\n2000000 100\n"),
    ("train.csv", "time_s,rate_mbps\n0,10\n1,20\n2,5\n"),
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
            say(&format!("SKIPPED, no root, TUN device or kernel for virtual time: {sentence}"));
            continue;
        }
        // The program has its path in any case.
        let words: Vec<&str> =
            words.iter().map(|word| if *word == "./my-client" { "true" } else { word }).collect();
        let given: Vec<&str> = words.iter().copied().filter(|word| word.starts_with("--")).collect();
        let more = shortened(words[0]).chunks(2).filter(|two| !given.contains(&two[0])).flatten();
        let arguments: Vec<&str> = words.iter().copied().chain(more.copied()).collect();
        let output = knee(here.path(), &arguments);
        assert!(carried(&output), "{sentence}: {arguments:?}\n{}", stderr(&output));
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
    assert_refuses(&twice, 2, &["--loss 1% and --set loss=none both set loss"]);
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
    assert_refuses(
        &coexist(&["--set", "flows.row.cc=bbr"]),
        2,
        &["--set flows.row.cc=bbr replaces a part of `cubic/droptail` with `bbr`"],
    );
    assert_refuses(
        &coexist(&["--set", "topology.buffer=9pkt"]),
        2,
        &["buffers and seeds come from the options"],
    );
    assert_refuses(&coexist(&["--set", "run.seeds=3"]), 2, &["buffers and seeds come from the options"]);
    let again = knee(here.path(), &["run", "t/scenarios/cubic-beside-reno--2-flows.toml", "--out", "again"]);
    assert!(again.status.success(), "the copy of the scenario has a copy of the trace: {}", stderr(&again));
}

/// A short comparison with these options.
fn compared(here: &tempfile::TempDir, more: &[&str]) -> Output {
    let short = ["compare", "cubic", "--duration", "4s", "--seeds", "1", "--flows", "2", "--sample", "1s"];
    knee(here.path(), &[&short[..], more].concat())
}

#[test]
fn two_options_of_one_field_are_refused_whichever_they_are() {
    let here = here();
    for (options, one, other) in [
        (
            &["--rate", "20mbit", "--set", "topology.rate=9mbit"][..],
            "--rate 20mbit",
            "--set topology.rate=9mbit",
        ),
        (&["--reverse-rate", "2mbit", "--up", "rate=1mbit"], "--reverse-rate 2mbit", "--up rate=1mbit"),
        (&["--rate", "20mbit", "--down", "rate=9mbit"], "--rate 20mbit", "--down rate=9mbit"),
        (&["--ack-filter", "--up", "queue=codel"], "--ack-filter conservative", "--up queue=codel"),
        (
            &["--policer", "5mbit", "--set", "policer.rate=2mbit"],
            "--policer 5mbit",
            "--set policer.rate=2mbit",
        ),
        (&["--tcp", "rto_min=1s", "--set", "tcp.rto_min=2s"], "--tcp rto_min=1s", "--set tcp.rto_min=2s"),
        (&["--set", "run.duration=8s"], "--duration 4s", "--set run.duration=8s"),
        (&["--set", "flows.forward.count=4"], "--flows 2", "--set flows.forward.count=4"),
        (&["--set", "run.seeds=4"], "--seeds 1", "--set run.seeds=4"),
    ] {
        assert_refuses(&compared(&here, options), 2, &[one, other, "both set"]);
    }
    let general = ["run", "my.toml", "--seeds", "1", "--policer", "5mbit", "--set", "policer.burst=9kb"];
    assert!(knee(here.path(), &general).status.success(), "a field that the option leaves open");
    let preset = compared(&here, &["--path", "cable", "--up", "rate=5mbit", "--set", "topology.jitter=1ms"]);
    assert!(preset.status.success(), "{}", stderr(&preset));
}

#[test]
fn what_cannot_be_read_of_a_path_names_the_option_and_the_remedy() {
    let here = here();
    std::fs::write(here.path().join("empty.txt"), "").unwrap();
    for (options, parts) in [
        (
            &["--path", "leo", "--trace", "modem.csv"][..],
            &["--path leo and --trace modem.csv", "15s:delays=16ms"][..],
        ),
        (&["--delays", "empty.txt"], &["`empty.txt`, it has no rows"]),
        (&["--corrupt", "1:2"], &["--corrupt: nothing can follow `1`"]),
        (&["--handover", "rates=5mbit"], &["`rates=5mbit` is given instead of `every`", "EVERY:rates=5mbit"]),
        (
            &["--down", "queue=codel"],
            &["--down queue=codel replaces a part of the scheme `cubic` with `codel`"],
        ),
        (&["--loss", "1,5%"], &["`1` is a share of all packets or more", "write 1% for percent"]),
        (&["--duplicate", "2"], &["`2` is a share of all packets or more"]),
        (
            &["--policer", "5mbit,9mbit:burst=64kb"],
            &["`:burst=64kb` follows a list of values", "--set policer.burst=VALUE"],
        ),
        (&["--proxy", "r1", "--tcp", "linux,recovery=sack"], &["with their own recovery"]),
        (&["--loss", "1%,none"], &["--loss 1%,none: `none` in a list"]),
    ] {
        assert_refuses(&compared(&here, options), 2, parts);
    }
    let graph = knee(here.path(), &["run", "graph.toml", "--path", "leo"]);
    assert_refuses(&graph, 2, &["--path leo: ", "is that of a dumbbell", "link.a-b.rate"]);
    let quick = ["coexist", "cubic", "reno", "--quick", "--loss", "1%,2%"];
    assert_refuses(&knee(here.path(), &quick), 2, &["--loss 1%,2%: the pairs"]);
}

#[test]
fn several_losses_are_several_rows() {
    let here = here();
    let all = json(&compared(&here, &["--rate", "20mbit", "--loss", "0.1%,5%", "--json"]));
    let losses: Vec<f64> = all["schemes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["links"][0]["channel_loss_ratio"]["mean"].as_f64().unwrap())
        .collect();
    assert!(losses.len() == 2 && losses[1] > 5.0 * losses[0], "{losses:?}");
}

#[test]
fn a_report_says_what_a_path_stands_for_and_what_its_links_did() {
    let here = here();
    let told = |output: Output| {
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let leo = told(compared(&here, &["--path", "leo", "--rate", "5mbit"]));
    for part in
        ["`--path leo` stands for", "--up rate=15mbit", "a round trip takes", "No handover falls into"]
    {
        assert!(leo.contains(part), "{part}: {leo}");
    }
    let handed = told(compared(&here, &["--rate", "5mbit", "--handover", "1s:outage=10ms"]));
    assert!(!handed.contains("No handover"), "{handed}");
    let doubled = told(compared(&here, &["--rate", "20mbit", "--duplicate", "2%", "--corrupt", "1%"]));
    assert!(doubled.contains("r1-r2 duplicated") && doubled.contains("r1-r2 corrupted"), "{doubled}");
    let filled = "compare cubic --rate 5mbit --rtt 200ms --loss at:times=1.2s --duration 4s --seeds 1 --flows 1 --tcp linux --measure 2s..2.2s";
    let early = told(knee(here.path(), &filled.split(' ').collect::<Vec<_>>()));
    assert!(early.contains("above the capacity of the link"), "{early}");
}

#[test]
fn goodput_through_proxies_counts_where_it_ends() {
    let here = here();
    let proxied = ["--rate", "9mbit", "--rtt", "40ms", "--tcp", "linux", "--web", "3", "--proxy", "r1,r2"];
    let output = compared(&here, &proxied);
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(text.contains("long goodput") && !text.contains("Transfers of web-to-r1"), "{text}");
    assert!(!text.contains("above the capacity"), "{text}");
}

#[test]
fn several_traces_are_an_axis_and_each_has_its_mean() {
    let here = here();
    let schemes = |files: &str| {
        json(&compared(&here, &["--trace", files, "--json"]))["schemes"].as_array().expect("schemes").clone()
    };
    let both = schemes("train.csv,modem.csv");
    assert_eq!(both.len(), 2);
    for (together, file) in both.iter().zip(["train.csv", "modem.csv"]) {
        assert!(together["scheme"].as_str().is_some_and(|name| name.ends_with(file)), "{together}");
        assert_eq!(together["utilization"], schemes(file)[0]["utilization"], "{file}");
    }
    assert_refuses(&compared(&here, &["--trace", "train.csv,nothing.csv"]), 1, &["nothing.csv"]);
    std::fs::write(here.path().join("a,b.csv"), MODEM).unwrap();
    assert!(compared(&here, &["--trace", "a,b.csv"]).status.success(), "a comma in a name");
}

#[test]
fn a_trace_whose_delays_are_played_is_not_said_to_lose_them() {
    let here = here();
    let alone = compared(&here, &["--trace", "modem.csv"]);
    assert!(stderr(&alone).contains("the rate alone is played, without latency_ms"), "{}", stderr(&alone));
    let both = compared(&here, &["--trace", "modem.csv", "--rtt", "80ms", "--delays", "modem.csv"]);
    assert!(both.status.success() && !stderr(&both).contains("is played"), "{}", stderr(&both));
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Links compared with Linux's own: the measurements of the kernel's disciplines by `validation/links/probe.py`, and
//! the table of docs/paths.md.

use std::collections::BTreeMap;

use kneepoint::link::{LinkSpec, NodeId, capacity};
use kneepoint::measure::Meter;
use kneepoint::run;
use kneepoint::scenario::parse;
use kneepoint::settings::Raw;
use kneepoint::table::{Row, number, value};
use kneepoint::units::{Rate, Time};

const RECORDED: &str = include_str!("../../../../validation/links/kernel.csv");
const PAGE: &str = include_str!("../../../../docs/paths.md");

/// A comparison: case and figure of the record, the words of the table, and the permitted difference of kernel and
/// simulator, relative to the greater.
const FIGURES: [(&str, &str, &str, f64); 18] = [
    ("tbf", "ms_to_50_percent", "`tbf`: the first half of 500 packets at once, ms", 0.05),
    ("tbf", "ms_to_100_percent", "`tbf`: all of them, ms", 0.02),
    ("reorder", "reordered_percent", "`netem reorder`: reordered, %", 0.25),
    ("reorder", "three_reordered_percent", "`netem reorder`: 3-reordered, %", 0.25),
    ("reorder", "extent_packets", "`netem reorder`: mean extent, packets", 0.02),
    ("reorder", "late_ms", "`netem reorder`: mean late time, ms", 0.02),
    ("duplicate", "duplicated_percent", "`netem duplicate`: came twice, %", 0.25),
    ("corrupt", "missing_percent", "`netem corrupt`: ignored by the receiver, %", 0.25),
    ("ack-filter", "off_mbit", "`cake no-ack-filter`: goodput, Mbit/s", 0.05),
    ("ack-filter", "off_filtered_percent", "`cake no-ack-filter`: acknowledgements filtered, %", 0.05),
    ("ack-filter", "conservative_mbit", "`cake ack-filter`: goodput, Mbit/s", 0.02),
    ("ack-filter", "conservative_filtered_percent", "`cake ack-filter`: acknowledgements filtered, %", 0.05),
    ("ack-filter", "aggressive_mbit", "`cake ack-filter-aggressive`: goodput, Mbit/s", 0.02),
    (
        "ack-filter",
        "aggressive_filtered_percent",
        "`cake ack-filter-aggressive`: acknowledgements filtered, %",
        0.05,
    ),
    ("police", "first_percent", "`police`: share of the first 500 packets that passes at 32 Mbit/s, %", 0.02),
    ("police", "passed_percent", "`police`: passed of 20,000 packets, %", 0.02),
    ("police", "cubic_mbit", "`police`: goodput of CUBIC, Mbit/s", 0.05),
    ("police", "bbr_mbit", "`police`: goodput of BBR, Mbit/s", 0.05),
];

type Found = BTreeMap<(String, String), f64>;

fn recorded() -> Found {
    let cells = |line: &str| {
        let [case, figure, value] = line.split(',').collect::<Vec<_>>()[..] else { panic!("{line}") };
        ((case.to_string(), figure.to_string()), value.parse().expect("a number"))
    };
    RECORDED.lines().skip(1).map(cells).collect()
}

fn rows(text: &str) -> Vec<Row> {
    let plan = parse(text).unwrap_or_else(|faults| panic!("{faults:#?}\n{text}"));
    let valid = &plan.cases[0].valid;
    run::run(valid, 1, Meter::new(valid, 1)).0.finish()
}

/// A datagram of 1000 bytes every millisecond for 20 s over a link with an effect.
fn probes(effect: &str) -> Vec<Row> {
    rows(&format!(
        "[run]\nduration = \"20s\"\nmeasure = \"0s..20s\"\n[topology]\nkind = \"dumbbell\"\nrate = \"1gbit\"\nrtt = \"2ms\"\n\
         buffer = \"1000pkt\"\naccess = \"minimal\"\n{effect}\n[[cbr]]\nname = \"probes\"\nrate = \"8mbit\"\nsize = \"1000b\"\n\
         start = \"0s..1ns\"\n"
    ))
}

fn transfer(filter: &str) -> Vec<Row> {
    rows(&format!(
        "queues = \"linux\"\n[run]\nduration = \"12s\"\nmeasure = \"0s..12s\"\n[topology]\nkind = \"dumbbell\"\nrate = \"20mbit\"\n\
         reverse_rate = \"200kbit\"\nrtt = \"40ms\"\nbuffer = \"133pkt\"\nreverse_buffer = \"1000pkt\"\naccess = \"full\"\n\
         [reverse_queue]\nkind = \"cake\"\nack_filter = \"{filter}\"\n[tcp]\npreset = \"linux\"\n\
         [[flows]]\nname = \"long\"\ncc = \"cubic\"\nstart = \"0s..1ns\"\n"
    ))
}

/// The policer of the record, whose kilobytes have 1024 bytes.
const POLICER: &str = "[policer]\nrate = \"20mbit\"\nburst = \"102400b\"\n";

/// The part of datagrams of 1000 bytes at 32 Mbit/s that passes the policer, in percent.
fn passed_percent(lasting: &str) -> f64 {
    let rows = rows(&format!(
        "[run]\nduration = \"{lasting}\"\nmeasure = \"0s..{lasting}\"\n[topology]\nkind = \"dumbbell\"\nrate = \"10gbit\"\n\
         rtt = \"1us\"\nbuffer = \"1000pkt\"\naccess = \"minimal\"\n{POLICER}\
         [[cbr]]\nrate = \"32mbit\"\nsize = \"1000b\"\nstart = \"0s..1ns\"\n"
    ));
    let link = |key: &str| value(&rows, key, &[("link", "r1-r2")]);
    let (passed, dropped) = (link("served_packets"), link("drops_policed"));
    100.0 * passed / (passed + dropped)
}

fn policed(cc: &str) -> Vec<Row> {
    rows(&format!(
        "[run]\nduration = \"12s\"\nmeasure = \"0s..12s\"\n[topology]\nkind = \"dumbbell\"\nrate = \"100mbit\"\nrtt = \"40ms\"\n\
         buffer = \"10000pkt\"\naccess = \"minimal\"\n{POLICER}[tcp]\npreset = \"linux\"\n\
         [[flows]]\nname = \"long\"\ncc = \"{cc}\"\nstart = \"0s..1ns\"\n"
    ))
}

fn simulated() -> Found {
    let mut found = Found::new();
    let mut add = |case: &str, figure: &str, value: f64| {
        found.insert((case.to_string(), figure.to_string()), value);
    };
    let mut shaper = LinkSpec { rate: Some(Rate::from_mbit(20)), ..LinkSpec::new(NodeId(0), NodeId(1)) };
    shaper.capacity = capacity::Config::named("token-bucket").expect("a registered name");
    // The kilobytes of tc have 1024 bytes.
    shaper.capacity.set("burst", &Raw::Text("102400b".into())).expect("a size");
    let mut transmitter = shaper.transmitter(1, 0);
    let ends: Vec<Time> = (0..500).map(|_| transmitter.send(Time::ZERO, 1014).1).collect();
    add("tbf", "ms_to_50_percent", ends[249].as_secs_f64() * 1e3);
    add("tbf", "ms_to_100_percent", ends[499].as_secs_f64() * 1e3);
    let reordered = probes("[reordering]\np = 0.01\ndelay = \"5500us\"");
    let group = |key: &str| value(&reordered, key, &[("group", "probes")]);
    add("reorder", "reordered_percent", 100.0 * group("reordered_ratio"));
    add("reorder", "three_reordered_percent", 100.0 * group("three_reordered_ratio"));
    add("reorder", "extent_packets", group("reordering_extent_mean_packets"));
    add("reorder", "late_ms", 1e3 * group("reordering_late_mean_s"));
    for (case, figure, section, count) in [
        ("duplicate", "duplicated_percent", "duplication", "duplicated"),
        ("corrupt", "missing_percent", "corruption", "corrupted"),
    ] {
        let effect = probes(&format!("[{section}]\np = 0.01"));
        let link = |key: &str| value(&effect, key, &[("link", "r1-r2")]);
        add(case, figure, 100.0 * link(count) / link("served_packets"));
    }
    add("police", "first_percent", passed_percent("125ms"));
    add("police", "passed_percent", passed_percent("5s"));
    for cc in ["cubic", "bbr"] {
        let goodput = value(&policed(cc), "goodput_bps", &[("group", "long")]) / 1e6;
        add("police", &format!("{cc}_mbit"), goodput);
    }
    for filter in ["off", "conservative", "aggressive"] {
        let rows = transfer(filter);
        let back = |key: &str| value(&rows, key, &[("link", "r2-r1")]);
        add("ack-filter", &format!("{filter}_mbit"), value(&rows, "goodput_bps", &[("group", "long")]) / 1e6);
        let filtered = 100.0 * back("drops_pushed_out") / back("arrivals");
        add("ack-filter", &format!("{filter}_filtered_percent"), filtered);
    }
    found
}

#[test]
fn links_do_what_the_kernel_does_and_the_page_has_both() {
    let (kernel, ours) = (recorded(), simulated());
    let mut apart = Vec::new();
    let mut lines = Vec::new();
    for (case, figure, words, within) in FIGURES {
        let key = (case.to_string(), figure.to_string());
        let (theirs, own) = (kernel[&key], ours[&key]);
        lines.push(format!(
            "| {words} | {} | {} |",
            number::significant(theirs, 3),
            number::significant(own, 3)
        ));
        if (theirs - own).abs() > within * theirs.abs().max(own.abs()) {
            apart.push(format!("{words}: {theirs} of the kernel, {own} of ours"));
        }
    }
    assert!(apart.is_empty(), "{apart:#?}");
    let missing = lines.iter().filter(|line| !PAGE.contains(line.as_str())).count();
    assert!(missing == 0, "docs/paths.md needs these lines:\n{}", lines.join("\n"));
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Converts the settings of a run of ns-2 or ns-3 into a scenario.
//!
//! ns-2's habits become explicit settings: a connection starts with a SYN, the window grows even if not full, objects
//! are whole packets, each requested over its own connection, which takes two more round trips, Vegas sends
//! packets without a header, and a drop-tail or REM queue of n packets holds n − 1.
//!
//! In ns-3 a device holds one packet ahead of the discipline, links have a header of two bytes, and hosts send at once.

use std::fmt::Write;

use serde_json::{Map, Value};

/// Settings of a script; absent ones have the script's default.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// File name of the script.
    pub script: String,
    args: Map<String, Value>,
}

impl Setup {
    /// Settings of a script.
    pub fn new(script: &str, args: Map<String, Value>) -> Setup {
        Setup { script: script.into(), args }
    }

    /// Whether it is the parking-lot script.
    pub fn parking_lot(&self) -> bool {
        self.script == "parkinglot.tcl"
    }

    /// Whether it is a script of ns-3.
    pub fn ns3(&self) -> bool {
        self.script.ends_with(".py")
    }

    /// The settings as given.
    pub fn args(&self) -> &Map<String, Value> {
        &self.args
    }

    /// A number, or the default.
    pub fn number(&self, key: &str, default: f64) -> f64 {
        self.args.get(key).and_then(Value::as_f64).unwrap_or(default)
    }

    /// A count, or the default.
    pub fn count(&self, key: &str, default: u64) -> u64 {
        self.number(key, default as f64) as u64
    }

    /// A word, or the default.
    pub fn text(&self, key: &str, default: &'static str) -> &str {
        self.args.get(key).and_then(Value::as_str).unwrap_or(default)
    }

    /// `key=value` for each setting, as arguments of the scripts.
    pub fn arguments(&self) -> Vec<String> {
        let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
        self.args.iter().map(|(key, value)| format!("{key}={}", plain(value))).collect()
    }

    /// Congestion control and queue of the scheme.
    pub fn scheme(&self) -> (&str, &str) {
        let scheme = self.text("scheme", "sack-droptail");
        scheme.split_once('-').unwrap_or((scheme, "droptail"))
    }

    /// The queue of the scheme, and whether it marks.
    fn discipline(&self) -> (&str, bool) {
        let queue = self.scheme().1;
        queue.strip_suffix("ecn").map_or((queue, false), |kind| (kind, true))
    }
}

/// Payload of every packet.
const PAYLOAD: f64 = 1000.0;
/// Header without timestamps in ns-2, and the script's addition to the payload for the size on the wire.
const HEADER: f64 = 40.0;
/// Header of ns-3's point-to-point links.
const LINK_HEADER: f64 = 2.0;
/// Timestamps in ns-2, and in ns-3.
const STAMPS: (f64, f64) = (10.0, 12.0);

/// Buffer in packets, as computed by the scripts.
pub fn buffer(setup: &Setup) -> f64 {
    if setup.parking_lot() {
        return setup.number("buffer", 563.0);
    }
    match setup.number("buffer", 0.0) {
        given if given > 0.0 => given,
        _ => product(setup).max(2.0 * setup.number("nflows", 50.0)),
    }
}

fn product(setup: &Setup) -> f64 {
    (setup.number("bw", 150e6) * setup.number("rtt", 0.06) / 8.0 / PAYLOAD).round()
}

/// The scenario with the settings of `setup`, for `seeds` seeds.
pub fn scenario(name: &str, setup: &Setup, seeds: u64) -> String {
    let end = setup.number("t1", 300.0);
    let mut text = format!("name = \"{name}\"\n\n[run]\n");
    let from = setup.number("t0", 100.0);
    line(&mut text, "duration", format_args!("\"{end}s\""));
    line(&mut text, "measure", format_args!("\"{from}s..{end}s\""));
    line(&mut text, "seeds", format_args!("{seeds}"));
    network(&mut text, setup);
    queue(&mut text, setup);
    options(&mut text, setup);
    if setup.parking_lot() {
        hops(&mut text, setup)
    } else {
        flows(&mut text, setup)
    }
    text
}

fn line(text: &mut String, key: &str, value: std::fmt::Arguments) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{key} = {value}");
}

/// A time span to the nanosecond.
fn span(seconds: f64) -> String {
    format!("\"{}ns\"", (seconds * 1e9).round() as u64)
}

fn network(text: &mut String, setup: &Setup) {
    let rate = setup.number("bw", 150e6);
    let beside = match setup.discipline().0 {
        _ if setup.ns3() => 1.0,
        "droptail" | "rem" => -1.0,
        _ => 0.0,
    };
    let room = buffer(setup) + beside;
    text.push_str("\n[topology]\n");
    line(text, "rate", format_args!("\"{rate}bit\""));
    line(text, "buffer", format_args!("\"{room}pkt\""));
    line(text, "access_rate", format_args!("\"{}bit\"", setup.number("accbw", 1e9)));
    if setup.parking_lot() {
        line(text, "kind", format_args!("\"parking-lot\""));
        line(text, "routers", format_args!("6"));
        line(text, "hop_delay", format_args!("\"5ms\""));
        line(text, "access_delay", format_args!("\"5ms\""));
        return;
    }
    let rtt = setup.number("rtt", 0.06);
    line(text, "kind", format_args!("\"dumbbell\""));
    line(text, "rtt", format_args!("{}", span(rtt)));
    line(text, "delay", format_args!("{}", span(setup.number("bdelay", rtt / 3.0))));
    line(text, "reverse_buffer", format_args!("\"{}pkt\"", buffer(setup).max(10_000.0)));
}

fn queue(text: &mut String, setup: &Setup) {
    let (kind, marks) = setup.discipline();
    let (kind, own) = discipline(kind, setup);
    text.push_str("\n[queue]\n");
    line(text, "kind", format_args!("\"{kind}\""));
    if kind != "droptail" {
        line(text, "ecn", format_args!("{marks}"));
    }
    for (key, value) in own {
        line(text, key, format_args!("{value}"));
    }
}

/// Our discipline for one of the scripts', and its settings other than defaults.
fn discipline(kind: &str, setup: &Setup) -> (&'static str, Vec<(&'static str, String)>) {
    let given = |ours, key, default| (ours, setup.number(key, default).to_string());
    let quantum = vec![("quantum", "\"1500b\"".into())];
    match kind {
        "pi" => ("pi", vec![given("reference", "qref", 200.0)]),
        "rem" => ("rem", vec![]),
        "avq" => ("avq", vec![]),
        "rio" => {
            let (rate, burst) = (setup.number("tagrate", 5e5), setup.number("tagdepth", 1e4));
            (
                "rio",
                vec![("profile_rate", format!("\"{rate}bit\"")), ("profile_burst", format!("\"{burst}b\""))],
            )
        }
        "red" => {
            let own = if setup.count("adaptive", 1) == 1 { "adaptive-red" } else { "red" };
            let limits = [("min_threshold", "redmin"), ("max_threshold", "redmax")];
            let fixed = setup.number("redmin", 0.0) > 0.0;
            (own, limits.iter().filter(|_| fixed).map(|(ours, key)| given(ours, key, 0.0)).collect())
        }
        "codel" => ("codel", vec![]),
        "fqcodel" => ("fq-codel", quantum),
        "pie" => ("pie", vec![]),
        "fqpie" => ("fq-pie", quantum),
        _ => ("droptail", vec![]),
    }
}

fn options(text: &mut String, setup: &Setup) {
    let linux = LINUX.contains(&setup.scheme().0);
    let stamps = setup.count("ts", 0) == 1 || linux;
    let (default, rate) = (if setup.parking_lot() { 6000.0 } else { 0.0 }, setup.number("bw", 150e6));
    let window = match setup.number("window", default) {
        given if given > 0.0 => given,
        _ => (2.0 * (product(setup) + buffer(setup))).max(1000.0),
    };
    let packet_time = (PAYLOAD + HEADER) * 8.0 / rate;
    let noise = setup.number("overhead", if setup.ns3() { 0.0 } else { -1.0 });
    let noise = if noise >= 0.0 { noise } else { packet_time };
    let (header, stamp) = if setup.ns3() { (HEADER + LINK_HEADER, STAMPS.1) } else { (HEADER, STAMPS.0) };
    text.push_str("\n[tcp]\n");
    line(text, "payload", format_args!("\"{PAYLOAD}b\""));
    line(text, "header", format_args!("\"{}b\"", header + if stamps { stamp } else { 0.0 }));
    // PERT for ns-2 gets the time at which each packet was sent from its acknowledgement, at no bytes.
    line(text, "timestamps", format_args!("{}", stamps || setup.scheme().0 == "pert"));
    line(text, "handshake", format_args!("{}", setup.count("syn", 1) == 1));
    line(text, "initial_window", format_args!("2"));
    line(text, "initial_ssthresh", format_args!("{}", setup.number("ssthresh", window)));
    line(text, "max_window", format_args!("{window}"));
    line(text, "rto_min", format_args!("\"200ms\""));
    line(text, "rto_initial", format_args!("\"3s\""));
    line(text, "rto_granularity", format_args!("\"10ms\""));
    line(text, "window_validation", format_args!("false"));
    line(text, "delayed_ack", format_args!("{}", setup.count("delack", 0) == 1));
    line(text, "jitter", format_args!("{}", span(noise)));
}

/// Controls taken from Linux, whose hosts always send timestamps.
const LINUX: [&str; 2] = ["reno", "cubic"];

/// Vegas times every packet, with or without timestamps, and recovers without SACK, but looks beyond the first
/// loss of a window. Its first packet opens the window to two and grows it by one, so slow start goes through
/// 3, 6, 12.
const VEGAS: &str = "[flows.tcp]\npayload = \"960b\"\nheader = \"40b\"\ntimestamps = true\n\
    initial_window = 3\nrecovery = \"newreno\"\n";

/// The control of the long flows, with their own options.
fn control(text: &mut String, setup: &Setup) {
    let control = match setup.scheme().0 {
        "pert" => format!("{{ kind = \"pert\", early_in_slow_start = {} }}", setup.count("early", 0) == 1),
        "vegas" => "\"vegas\"".to_string(),
        "cubic" => "{ kind = \"cubic\", era = \"2006\" }".to_string(),
        "fast" => format!("{{ kind = \"fast\", alpha = {} }}", setup.number("alpha", 100.0)),
        _ => "\"reno\"".to_string(),
    };
    line(text, "cc", format_args!("{control}"));
    match setup.scheme().0 {
        "vegas" => text.push_str(VEGAS),
        // Its module times every packet without timestamps.
        "fast" => text.push_str("tcp = { timestamps = true }\n"),
        "newreno" => text.push_str("tcp = { recovery = \"newreno\" }\n"),
        _ => {}
    }
}

fn flows(text: &mut String, setup: &Setup) {
    let start = setup.number("startspan", 50.0);
    text.push_str("\n[[flows]]\nname = \"long\"\n");
    line(text, "count", format_args!("{}", setup.count("nflows", 50)));
    line(text, "start", format_args!("\"0s..{start}s\""));
    let rtts: Vec<String> =
        setup.text("rtts", "").split_whitespace().filter_map(|rtt| rtt.parse().ok()).map(span).collect();
    if !rtts.is_empty() {
        line(text, "rtt", format_args!("[{}]", rtts.join(", ")));
    }
    control(text, setup);
    if setup.count("rev", 0) > 0 {
        text.push_str("\n[[flows]]\nname = \"reverse\"\ndirection = \"reverse\"\n");
        line(text, "count", format_args!("{}", setup.count("rev", 0)));
        line(text, "start", format_args!("\"0s..{start}s\""));
        control(text, setup);
    }
    if setup.count("nweb", 0) > 0 {
        sessions(text, setup, start);
    }
    if setup.count("nslots", 0) > 0 {
        slots(text, setup, start);
    }
    if setup.number("cbr", 0.0) > 0.0 {
        text.push_str("\n[[cbr]]\nname = \"cbr\"\ndirection = \"reverse\"\nsize = \"1000b\"\n");
        line(text, "rate", format_args!("\"{}bit\"", setup.number("cbr", 0.0)));
    }
}

fn sessions(text: &mut String, setup: &Setup, start: f64) {
    text.push_str("\n[[web]]\nmodel = \"readers\"\ncc = \"reno\"\ntcp = { handshake_rounds = 3 }\n");
    line(text, "sessions", format_args!("{}", setup.count("nweb", 0)));
    line(text, "start", format_args!("\"0s..{start}s\""));
    line(text, "nodes", format_args!("{}", setup.count("webnodes", 10)));
    line(text, "gap", format_args!("{}", span(setup.number("webpage", 1.0))));
    line(text, "size", format_args!("\"{}b\"", setup.number("webobj", 12.0) * PAYLOAD));
    line(text, "shape", format_args!("{}", setup.number("webshape", 1.2)));
    line(text, "multiple", format_args!("\"{PAYLOAD}b\""));
}

fn slots(text: &mut String, setup: &Setup, start: f64) {
    text.push_str("\n[[web]]\nmodel = \"slots\"\n");
    line(text, "sessions", format_args!("{}", setup.count("nslots", 0)));
    line(text, "start", format_args!("\"0s..{start}s\""));
    line(text, "gap", format_args!("{}", span(setup.number("slotoff", 0.5))));
    let sizes = [("size", "slotmean", 10.0), ("least", "slotmin", 1.0), ("greatest", "slotmax", 2000.0)];
    for (ours, key, default) in sizes {
        line(text, ours, format_args!("\"{}b\"", 1e3 * setup.number(key, default)));
    }
    line(text, "shape", format_args!("{}", setup.number("slotshape", 1.2)));
    line(text, "multiple", format_args!("\"{PAYLOAD}b\""));
    control(text, setup);
}

/// Twenty flows over each hop, and twenty over all.
fn hops(text: &mut String, setup: &Setup) {
    let start = setup.number("startspan", 50.0);
    let ends = (1..6).map(|hop| (format!("hop {hop}"), hop, hop + 1));
    for (name, from, to) in ends.chain([("all hops".to_string(), 1, 6)]) {
        text.push_str("\n[[flows]]\ncount = 20\n");
        line(text, "name", format_args!("\"{name}\""));
        line(text, "from", format_args!("\"r{from}\""));
        line(text, "to", format_args!("\"r{to}\""));
        line(text, "start", format_args!("\"0s..{start}s\""));
        control(text, setup);
    }
}

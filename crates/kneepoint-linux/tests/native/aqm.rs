// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The law of `bpf/aqm` in fixed point compared with the laboratory's in doubles, packet by packet.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use kneepoint::law::sparing::{Params, Rule, Sparing};
use kneepoint::law::{Adjustment, Law, pi};
use kneepoint::rng::Rng;
use kneepoint::units::Time;

/// A law: gains, reference, interval in nanoseconds, whether it judges at arrival, and the adjustment.
struct Setting {
    a: f64,
    b: f64,
    reference: f64,
    interval: u64,
    at_arrival: bool,
    sparing: Params,
}

/// A packet: when it arrives, the queue it finds, its sender's window or zero.
type Packet = (u64, u32, u32);

fn fixed(number: f64, bits: u32) -> u64 {
    (number * scale(bits)).round() as u64
}

/// 2^bits
fn scale(bits: u32) -> f64 {
    (1_u64 << bits) as f64
}

/// The native program, compiled once for all tests of this process.
fn program() -> PathBuf {
    static PROGRAM: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
    let compile = || {
        let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let built = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("aqm");
        let compiled = Command::new("cc")
            .args(["-O2", "-Wall", "-Werror", "-I"])
            .arg(here.join("../../bpf"))
            .arg(here.join("tests/native/aqm.c"))
            .arg("-o")
            .arg(&built)
            .status();
        assert!(compiled.expect("cc, which also links Rust").success());
        built
    };
    PROGRAM.get_or_init(compile).clone()
}

/// Code of the window and probability for each packet, by the kernel program's law.
fn kernel(set: &Setting, packets: &[Packet]) -> Vec<(u32, f64)> {
    let Setting { a, b, reference, interval, at_arrival, ref sparing } = *set;
    let mut input = format!(
        "{} {} {} {interval} {} {} {} {} {} {}\n",
        fixed(a, 40),
        fixed(b, 40),
        fixed(reference, 32),
        sparing.spare as u32,
        u32::from(at_arrival),
        fixed(sparing.spare_gain, 32),
        fixed(sparing.spare_weight, 32),
        fixed(sparing.min_window, 32),
        fixed(sparing.min_window_share, 32),
    );
    for (now, queue, window) in packets {
        writeln!(input, "{now} {queue} {window}").expect("a string");
    }
    let mut child =
        Command::new(program()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("ends");
    writer.join().expect("no panic").expect("written");
    let text = String::from_utf8(output.stdout).expect("numbers");
    let pair = |line: &str| {
        let (code, probability) = line.split_once(' ').expect("two numbers");
        (code.parse().expect("a code"), probability.parse::<u64>().expect("a number") as f64 / scale(32))
    };
    text.lines().map(pair).collect()
}

/// The probability for each packet, by the laboratory's law, which samples the queue of an arrival for every interval that
/// has ended by then.
fn laboratory(set: &Setting, packets: &[Packet]) -> Vec<f64> {
    // The gains in the program's form, to 40 fractional bits.
    let [a, b] = [set.a, set.b].map(|gain| fixed(gain, 40) as f64 / scale(40));
    let target = set.reference;
    let mut law = pi::Pi::new(pi::Params { target, a, b });
    let mut sparing = Sparing::new(set.sparing.clone());
    let mut next = packets[0].0 + set.interval;
    let judge = |(now, queue, window): &Packet| {
        let length = f64::from(*queue);
        while next <= *now {
            law.sample(length, Time(next));
            next += set.interval;
        }
        sparing.observe((*window > 0).then(|| carried(*window)));
        sparing.adjust(if set.at_arrival { law.at(length) } else { law.probability() })
    };
    packets.iter().map(judge).collect()
}

/// The window that a code represents.
fn carried(window: u32) -> f64 {
    libm::exp2((code(window) - 1.0) / 4.0)
}

fn code(window: u32) -> f64 {
    (1.0 + (4.0 * libm::log2(f64::from(window))).round()).min(63.0)
}

/// A queue that wanders, windows of a few flows, and pauses of up to thousands of intervals.
fn packets(seed: u64) -> Vec<Packet> {
    let mut rng = Rng::stream(seed, "aqm", 0);
    let (mut now, mut queue) = (1_000_000_000_u64, 0_u32);
    let mut packet = || {
        let pause = if rng.chance(0.001) { 2e10 } else { 2e6 };
        now += (rng.uniform() * pause) as u64;
        queue = if rng.chance(0.5) { (queue + 3).min(400) } else { queue.saturating_sub(3) };
        let window = if rng.chance(0.1) { 0 } else { (rng.uniform() * 60.0) as u32 + 1 };
        (now, queue, window)
    };
    (0..20_000).map(|_| packet()).collect()
}

fn setting(spare: Rule, at_arrival: bool, times: f64) -> Setting {
    let sparing = Params { spare, min_window_share: 0.3, ..Params::default() };
    let (a, b) = (1.822e-5 * times, 1.816e-5 * times);
    Setting { a, b, reference: 60.0, interval: 5_882_353, at_arrival, sparing }
}

#[test]
fn pi_and_its_variants_agree_with_the_laboratory_to_six_decimals() {
    for (spare, at_arrival) in
        [(Rule::None, false), (Rule::None, true), (Rule::Proportional, false), (Rule::Threshold, true)]
    {
        for (seed, times) in [(1, 1.0), (2, 1.0), (3, 10.0), (4, 300.0)] {
            let (set, arrivals) = (setting(spare, at_arrival, times), packets(seed));
            let (ours, theirs) = (kernel(&set, &arrivals), laboratory(&set, &arrivals));
            assert_eq!(ours.len(), arrivals.len());
            let mut moved = 0;
            for (place, ((_, kernel), laboratory)) in ours.iter().zip(&theirs).enumerate() {
                // MC's step: a window at the limit may fall on either side.
                let step = spare == Rule::Threshold && (*kernel == 0.0) != (*laboratory == 0.0);
                assert!(!step || arrivals[place].2 > 0, "{place}: {kernel} {laboratory}");
                assert!(
                    step || (kernel - laboratory).abs() < 1e-6,
                    "{spare} {times} {place}: {kernel} {laboratory}"
                );
                moved += u32::from(*laboratory > 0.0 && *laboratory < 1.0);
            }
            assert!(moved > 1000, "{spare} {times}: {moved}");
        }
    }
}

#[test]
fn the_code_of_a_window_is_the_nearest_of_four_an_octave() {
    let windows =
        (1..5000).chain([8191, 16_384, 40_000, 46_341, 46_342, 1 << 20, u32::MAX]).collect::<Vec<_>>();
    let arrivals = windows.iter().map(|window| (1, 0, *window)).collect::<Vec<_>>();
    for ((found, _), window) in kernel(&setting(Rule::None, false, 1.0), &arrivals).iter().zip(windows) {
        assert_eq!(f64::from(*found), code(window), "{window}");
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The estimate of a run's memory, compared with the engine's count during the run, and the causes of its growth.

use kneepoint::run::{Cost, Simulation};
use kneepoint::scenario::parse;
use kneepoint::spec::Valid;
use kneepoint::study::Packets;
use kneepoint::units::{Span, Time};

/// The only case of a scenario.
fn valid(text: &str) -> Valid {
    let mut plan = parse(text).unwrap_or_else(|faults| panic!("{text}\n{faults:#?}"));
    assert_eq!(plan.cases.len(), 1);
    plan.cases.remove(0).valid
}

/// A dumbbell with these fields, and traffic.
fn dumbbell(seconds: u32, fields: &str, traffic: &str) -> String {
    format!("[run]\nduration = \"{seconds}s\"\n[topology]\nkind = \"dumbbell\"\n{fields}\n{traffic}")
}

/// The most that the engine of a run took, by its own count.
fn most(valid: &Valid) -> u64 {
    let step = Cost::of(valid).step.min(Span::from_millis(100));
    let mut simulation = Simulation::new(valid, 1, ());
    let mut most = 0;
    while simulation.now() < valid.schedule().duration {
        simulation.advance(simulation.now() + step);
        most = most.max(simulation.footprint());
    }
    most
}

const SACK: &str = "[[flows]]\ncount = 20\ncc = \"sack\"\nstart = \"0s..1s\"\n";

/// Controllers with different growth, where the first timeout comes before the first acknowledgement.
fn beyond_the_timer() -> impl Iterator<Item = (&'static str, String)> {
    let flows = |cc: &str| {
        dumbbell(60, "rate = \"1gbit\"\nrtt = \"2s\"", &SACK.replace("\"sack\"", &format!("\"{cc}\"")))
    };
    ["reno", "cubic", "hstcp", "scalable", "illinois", "vegas", "pert", "compound", "yeah"]
        .into_iter()
        .map(move |cc| (cc, flows(cc)))
}

/// Sources that send at least twice the capacity, in front of every kind of buffer.
fn overloads() -> Vec<(&'static str, String)> {
    let path = |fields: &str, traffic: &str| {
        dumbbell(10, &format!("rate = \"50mbit\"\nrtt = \"100ms\"\n{fields}"), traffic)
    };
    let cbr = "[[cbr]]\nrate = \"200mbit\"\n";
    let many = "[[cbr]]\ncount = 40\nrate = \"5mbit\"\nsize = \"500b\"\n";
    vec![
        ("an overload of a shallow buffer", path("buffer = \"100pkt\"", cbr)),
        (
            "an overload of a deep discipline",
            format!("queue = \"drr\"\n{}", path("buffer = \"100000pkt\"", cbr)),
        ),
        ("an overload of a buffer in bytes", path("buffer = \"20mb\"", many)),
        ("an overload beside transfers", path("buffer = \"50000pkt\"", &format!("{many}{SACK}"))),
        ("an overload on a long path", path("buffer = \"100pkt\"", cbr).replace("100ms", "3s")),
    ]
}

/// From a few kilobytes to some hundred megabytes.
fn scenarios() -> Vec<(&'static str, String)> {
    let linux = "[[flows]]\ncount = 10\ncc = \"cubic\"\ntcp.preset = \"linux\"\nstart = \"0s..1s\"\n";
    let web = |gap: &str| {
        format!("[[web]]\nsessions = 400\ncc = \"sack\"\ngap = \"{gap}\"\nsize = \"20kb\"\nshape = 3.0\n")
    };
    let table = vec![
        ("one flow", dumbbell(20, "rate = \"1mbit\"\nrtt = \"20ms\"", "[[flows]]\ncc = \"reno\"\n")),
        ("some flows", dumbbell(20, "rate = \"100mbit\"\nrtt = \"60ms\"", SACK)),
        ("a long path", dumbbell(60, "rate = \"400mbit\"\nrtt = \"900ms\"", SACK)),
        ("a deep buffer", dumbbell(20, "rate = \"200mbit\"\nrtt = \"50ms\"\nbuffer = \"100000pkt\"", SACK)),
        (
            "a deep buffer of a discipline",
            format!(
                "queue = \"drr\"\n{}",
                dumbbell(20, "rate = \"200mbit\"\nrtt = \"50ms\"\nbuffer = \"100000pkt\"", SACK)
            ),
        ),
        ("a host that times segments", dumbbell(20, "rate = \"400mbit\"\nrtt = \"500ms\"", linux)),
        (
            "many flows",
            dumbbell(
                4,
                "rate = \"100mbit\"\nrtt = \"50ms\"",
                "[[flows]]\ncount = 5000\ncc = \"reno\"\nstart = \"0s..1s\"\n",
            ),
        ),
        (
            "datagrams",
            dumbbell(10, "rate = \"1gbit\"\nrtt = \"2s\"", "[[cbr]]\nrate = \"500mbit\"\nsize = \"200b\"\n"),
        ),
        (
            "datagrams that overload",
            dumbbell(
                10,
                "rate = \"100mbit\"\nrtt = \"100ms\"\nbuffer = \"200000pkt\"",
                "[[cbr]]\nrate = \"400mbit\"\n",
            ),
        ),
        ("readers of pages", dumbbell(60, "rate = \"50mbit\"\nrtt = \"100ms\"", &web("1s"))),
        ("more pages than the link carries", dumbbell(60, "rate = \"20mbit\"\nrtt = \"100ms\"", &web("1s"))),
        (
            "small packets",
            dumbbell(
                20,
                "rate = \"20mbit\"\nrtt = \"800ms\"",
                &SACK.replace("start", "tcp.payload = \"20b\"\nstart"),
            ),
        ),
        (
            "few flows that are not held back among many that are",
            dumbbell(
                20,
                "rate = \"400mbit\"\nrtt = \"500ms\"",
                &format!(
                    "{SACK}{}",
                    SACK.replace("20", "100").replace("start", "name = \"held\"\ntcp.max_window = 2\nstart")
                ),
            ),
        ),
    ];
    table.into_iter().chain(overloads()).chain(beyond_the_timer()).collect()
}

#[test]
fn an_estimate_is_within_a_factor_of_two_of_what_the_engine_counts() {
    let mut wrong = Vec::new();
    for (name, text) in scenarios() {
        let valid = valid(&text);
        let (estimate, most) = (Cost::of(&valid).engine as f64, most(&valid) as f64);
        let ratio = estimate / most;
        println!("{name}: {estimate:.3e} estimated, {most:.3e} at most, {ratio:.2}");
        // A small run may take less than was thought.
        let above = if most > 1e6 { 2.0 } else { 4.0 };
        if !(1.0 / 1.5..=above).contains(&ratio) {
            wrong.push(format!(
                "{name}: {estimate:.3e} is {ratio:.2} of {most:.3e}: {:#?}",
                Cost::of(&valid).terms
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A quantity, the scenario with a value of it, and values that rise.
type Rising = (&'static str, fn(&str) -> String, &'static [&'static str]);

#[test]
fn more_of_anything_takes_no_less() {
    let table: [Rising; 8] = [
        (
            "rate",
            |rate| dumbbell(60, &format!("rate = \"{rate}\"\nrtt = \"900ms\"\nbuffer = \"100pkt\""), SACK),
            &["1mbit", "9mbit", "800mbit", "4gbit"],
        ),
        (
            "rtt",
            |rtt| {
                dumbbell(
                    60,
                    &format!("rate = \"100mbit\"\nrtt = \"{rtt}\"\nbuffer = \"100pkt\""),
                    "[[cbr]]\nrate = \"50mbit\"\n",
                )
            },
            &["1ms", "100ms", "3s", "1000s"],
        ),
        (
            "buffer",
            |buffer| {
                dumbbell(60, &format!("rate = \"100mbit\"\nrtt = \"50ms\"\nbuffer = \"{buffer}\""), SACK)
            },
            &["10pkt", "1000pkt", "100000pkt"],
        ),
        (
            "duration",
            |seconds| dumbbell(seconds.parse().unwrap(), "rate = \"1gbit\"\nrtt = \"1s\"", SACK),
            &["5", "50", "500"],
        ),
        (
            "flows",
            |count| dumbbell(60, "rate = \"100mbit\"\nrtt = \"50ms\"", &SACK.replace("20", count)),
            &["1", "20", "300", "9000"],
        ),
        (
            "size of packets",
            |size| {
                dumbbell(
                    60,
                    "rate = \"100mbit\"\nrtt = \"1s\"",
                    &format!("[[cbr]]\nrate = \"50mbit\"\nsize = \"{size}\"\n"),
                )
            },
            &["1500b", "100b", "1b"],
        ),
        (
            "sessions",
            |count| {
                dumbbell(
                    60,
                    "rate = \"100mbit\"\nrtt = \"50ms\"",
                    &format!("[[web]]\nsessions = {count}\ncc = \"sack\"\n"),
                )
            },
            &["1", "100", "3000", "90000"],
        ),
        (
            "samples",
            |each| {
                dumbbell(60, "rate = \"1mbit\"\nrtt = \"50ms\"", SACK)
                    .replace("[topology]", &format!("sample = \"{each}\"\n[topology]"))
            },
            &["1s", "10ms", "100us"],
        ),
    ];
    for (name, scenario, values) in table {
        let bytes: Vec<u64> =
            values.iter().map(|value| Packets::from(valid(&scenario(value))).cost().bytes()).collect();
        assert!(bytes.is_sorted() && bytes[0] < bytes[bytes.len() - 1], "{name}: {values:?} take {bytes:?}");
    }
}

#[test]
fn what_cannot_be_held_is_known_without_a_packet_and_says_what_it_is() {
    let text = dumbbell(
        10,
        "rate = \"1000gbit\"\nrtt = \"1000s\"\nbuffer = \"1000pkt\"",
        "[[cbr]]\nrate = \"1000gbit\"\nsize = \"1b\"\n",
    );
    let cost = Cost::of(&valid(&text));
    let most = cost.greatest().expect("a term");
    assert_eq!(most.name, "packets in flight");
    // 125 packets in a nanosecond, for ten seconds.
    assert!((1.2e12..1.3e12).contains(&(most.count as f64)), "{most:?}");
    assert!(most.bytes() > 64_000_000_000_000, "{most:?}");
    for part in ["cbr", "1000gbit", "1000s", "1b"] {
        assert!(most.why.contains(part), "{most:?}");
    }
}

#[test]
fn a_run_grows_by_little_between_two_steps() {
    for (name, text) in scenarios() {
        let valid = valid(&text);
        let step = Cost::of(&valid).step;
        let mut simulation = Simulation::new(&valid, 1, ());
        let (mut events, mut most) = (0, 0);
        while simulation.now() < Time::ZERO + Span::from_secs(3) {
            simulation.advance(simulation.now() + step);
            most = most.max(simulation.events() - events);
            events = simulation.events();
        }
        assert!(most < 10_000_000, "{name}: {most} events in {step}");
    }
}

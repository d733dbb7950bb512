// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The cost of an acknowledgement for each controller.
//!
//! Every controller receives the same acknowledgements and reports its window after each, as in a sender. The cost of
//! iterating over them without a controller is subtracted.

use std::fmt::Write;
use std::hint::black_box;
use std::process::Command;

use clap::Args;
use kneepoint::cc::{self, Ack, Loss, Start};
use kneepoint::rng::Rng;
use kneepoint::units::{Span, Time};

use super::child::cpu_ns;
use super::instructions::counted;

/// The legend of the table.
pub const METHOD: &str = "\
Each controller receives the same acknowledgements and reports its window after each: 100 packets in flight, 60 ms
of propagation, a queueing delay that rises to 10 ms and falls, and one lost packet in 5000. The cost of the loop
without a controller is subtracted. *ns* is the minimum of many runs; *instructions* are counted as above, and
`make ratchet` holds them. A controller that takes more than three times as long as Reno needs a reason, which the
table gives.

Reno does little but divide, and the next acknowledgement needs the quotient. Other controllers do independent work
in the meantime, so their time grows less than their instructions.
";

/// Controllers that may take more than three times as long as Reno, with the reason.
const REASONS: &[(&str, &str)] = &[
    (
        "bbr",
        "It samples the delivery rate of every packet and keeps the maximum of ten rounds, a third of its instructions; \
         its state machine recomputes window and pacing rate with the rest.",
    ),
    (
        "bbr3",
        "It does all that BBR does, and for each loss decides whether the probe for bandwidth went too far.",
    ),
    (
        "copa",
        "Every sample updates three windowed filters: the minimum round-trip time of ten seconds and of half a round \
         trip, and the maximum of four round trips.",
    ),
];

/// Times as long as Reno above which a controller needs a reason.
const ENOUGH: f64 = 3.0;

/// The name of the loop without a controller.
pub const NOTHING: &str = "nothing";

/// Packets in flight.
const FLIGHT: u64 = 100;

/// Acknowledgements from loss to loss.
const LOSS_EVERY: u64 = 5_000;

/// Acknowledgements in a walk.
const ACKS: u64 = 20_000;

/// Walks of the shorter and of the longer run under valgrind.
const COUNTED: (u32, u32) = (1, 3);

/// Walks of a timed run, and the number of timed runs.
const TIMED: (u32, u32) = (50, 20);

/// The arguments of the child process.
#[derive(Args)]
pub struct Arguments {
    /// The controller, or `nothing`.
    controller: String,
    /// The number of walks through the acknowledgements.
    walks: u32,
}

/// The cost of an acknowledgement for a controller.
pub struct Cost {
    name: &'static str,
    ns: f64,
    instructions: Option<f64>,
}

/// A signal that a controller receives.
enum Event {
    Ack(Ack),
    Loss(Loss),
}

/// Congestion avoidance with one loss in [`LOSS_EVERY`] packets.
fn events() -> Vec<Event> {
    let mut events = Vec::new();
    let (mut now, mut una, mut delivered) = (Time::ZERO, 0, 0);
    for number in 1..=ACKS {
        // The queue rises and falls once in twenty round trips.
        let phase = number % (20 * FLIGHT);
        let queueing = phase.min(20 * FLIGHT - phase);
        let rtt = Span::from_micros(60_000 + 10 * queueing);
        now += Span(rtt.0 / FLIGHT);
        delivered += 1;
        let since_loss = number % LOSS_EVERY;
        if since_loss == 0 {
            events.push(Event::Loss(Loss { now, flight: FLIGHT as f64, una, next: una + FLIGHT }));
        }
        // The retransmission arrives a round trip later, and is acknowledged with all packets behind it.
        let recovering = number >= LOSS_EVERY && since_loss < FLIGHT;
        let acked = match () {
            () if recovering => 0,
            () if number > LOSS_EVERY && since_loss == FLIGHT => FLIGHT + 1,
            () => 1,
        };
        una += acked;
        events.push(Event::Ack(Ack {
            now,
            rtt: Some(rtt),
            one_way: Some(Span(rtt.0 / 2)),
            acked: acked as u32,
            delivered,
            resent: number / LOSS_EVERY,
            marked: 0,
            credit: if recovering { 0.0 } else { 1.0 },
            una,
            next: una + FLIGHT,
            in_flight: FLIGHT as u32,
            recovering,
            limited: false,
        }));
    }
    events
}

fn walk(events: &[Event], controller: &mut cc::Any, rng: &mut Rng) {
    for event in events {
        match event {
            Event::Ack(ack) => controller.on_ack(ack, rng),
            Event::Loss(loss) => controller.on_loss(loss),
        }
        black_box(controller.control());
    }
}

fn walk_alone(events: &[Event]) {
    for event in events {
        match event {
            Event::Ack(ack) => _ = black_box(ack.credit),
            Event::Loss(loss) => _ = black_box(loss.flight),
        }
    }
}

/// Walks, and prints the processor time per acknowledgement in nanoseconds.
pub fn run_once(arguments: &Arguments) -> Result<bool, String> {
    let events = events();
    let fresh = match cc::Config::named(&arguments.controller) {
        Some(config) => Some(config.build(Start::avoiding(FLIGHT as f64))),
        None if arguments.controller == NOTHING => None,
        None => return Err(format!("no controller is called {}", arguments.controller)),
    };
    let mut rng = Rng::stream(1, "controller", 0);
    let before = cpu_ns();
    for _ in 0..arguments.walks {
        match &fresh {
            Some(fresh) => walk(&events, &mut fresh.clone(), &mut rng),
            None => walk_alone(&events),
        }
    }
    println!("{}", (cpu_ns() - before) as f64 / (u64::from(arguments.walks) * ACKS) as f64);
    Ok(true)
}

/// Walks once with each controller.
pub fn train() {
    let (events, mut rng) = (events(), Rng::stream(1, "controller", 0));
    for entry in cc::REGISTRY {
        let controller =
            cc::Config::named(entry.name).map(|config| config.build(Start::avoiding(FLIGHT as f64)));
        controller.into_iter().for_each(|mut controller| walk(&events, &mut controller, &mut rng));
    }
}

/// Nanoseconds per acknowledgement, the minimum of all runs.
fn time(name: &str) -> f64 {
    let run = || -> Option<f64> {
        let output = Command::new(super::this().ok()?)
            .args(["bench-acks", name, &TIMED.0.to_string()])
            .output()
            .ok()?;
        String::from_utf8(output.stdout).ok()?.trim().parse().ok()
    };
    (0..TIMED.1).filter_map(|_| run()).fold(f64::INFINITY, f64::min)
}

/// Instructions per acknowledgement, the loop included; the error says why they cannot be counted.
pub fn instructions(name: &str) -> Result<f64, String> {
    let program = super::this()?;
    let run =
        |walks: u32| counted(&program, &["bench-acks", name, &walks.to_string()]).map(|(count, _)| count);
    let (fewer, more) = (run(COUNTED.0)?, run(COUNTED.1)?);
    Ok((more - fewer) as f64 / (u64::from(COUNTED.1 - COUNTED.0) * ACKS) as f64)
}

/// [`instructions`], or a message instead.
fn count(name: &str) -> Option<f64> {
    instructions(name).inspect_err(|error| eprintln!("NO INSTRUCTION COUNTS: {error}")).ok()
}

/// Measures every controller.
pub fn measure() -> Vec<Cost> {
    let cost = |name: &'static str| {
        eprintln!("acknowledgements: {name}");
        Cost { name, ns: time(name), instructions: count(name) }
    };
    let walk = cost(NOTHING);
    let less_walk = |name: &'static str| {
        let with = cost(name);
        let instructions = with.instructions.zip(walk.instructions).map(|(with, walk)| with - walk);
        Cost { name, ns: with.ns - walk.ns, instructions }
    };
    cc::REGISTRY.iter().map(|entry| less_walk(entry.name)).collect()
}

/// The costs as a Markdown table, also relative to the first controller of the registry, which is Reno.
pub fn table(costs: &[Cost]) -> String {
    let mut text = String::from(
        "| controller | ns/acknowledgement | times Reno's | instructions/acknowledgement | times Reno's | reason |\n\
         |---|---|---|---|---|---|\n",
    );
    for one in costs {
        let longer = one.ns / costs[0].ns;
        let reason = REASONS.iter().find(|(name, _)| *name == one.name).map(|(_, reason)| *reason);
        let why = if longer > ENOUGH { reason.unwrap_or("**no reason is given**") } else { "" };
        let instructions = one.instructions.map_or("—".into(), |count| format!("{count:.0}"));
        let more = one.instructions.zip(costs[0].instructions).map(|(one, reno)| one / reno);
        let more = more.map_or("—".into(), |more| format!("{more:.1}"));
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| `{}` | {:.1} | {longer:.1} | {instructions} | {more} | {why} |",
            one.name, one.ns
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_names_a_controller() {
        for (name, reason) in REASONS {
            assert!(cc::Config::named(name).is_some(), "{name}");
            assert!(reason.ends_with('.'), "{name}: {reason}");
        }
    }

    #[test]
    fn the_acknowledgements_are_those_of_a_possible_transfer() {
        let (mut una, mut losses) = (0, 0);
        for event in events() {
            match event {
                Event::Ack(ack) => {
                    assert_eq!(ack.una, una + u64::from(ack.acked));
                    assert_eq!(ack.recovering, ack.acked == 0);
                    una = ack.una;
                }
                Event::Loss(_) => losses += 1,
            }
        }
        assert_eq!(losses, ACKS / LOSS_EVERY);
    }
}

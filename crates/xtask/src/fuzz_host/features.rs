// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The features that scripts exercise, each with its addition to a plan.

use kneepoint::rng::Rng;
use kneepoint::units::Span;
use kneepoint_linux::player::plan::{Impairment, MSS, Plan, Transmission, Write};

/// A feature.
pub struct Feature {
    pub name: &'static str,
    pub about: &'static str,
    /// Adds it to a plan of this many segments.
    pub add: fn(&mut Plan, u32, &mut Rng),
}

/// All, the simple ones first.
pub const FEATURES: [Feature; 14] = [
    Feature { name: "loss", about: "one to four segments are lost once", add: losses },
    Feature { name: "burst", about: "two to twelve segments in a row are lost once", add: burst },
    Feature { name: "tail", about: "the last segments are lost once", add: tail },
    Feature { name: "again", about: "a segment and its first retransmissions are lost", add: again },
    Feature { name: "reorder", about: "segments arrive late, others overtake them", add: reorder },
    Feature { name: "duplicate", about: "segments arrive twice", add: duplicate },
    Feature { name: "ack-loss", about: "acknowledgements are lost", add: ack_loss },
    Feature { name: "ack-late", about: "acknowledgements arrive late and out of order", add: ack_late },
    Feature { name: "blackout", about: "everything is lost for some time", add: blackout },
    Feature { name: "idle", about: "the application pauses", add: idle },
    Feature { name: "trickle", about: "the application writes little at a time", add: trickle },
    Feature { name: "window", about: "the receive window is small, or closes and opens", add: window },
    Feature { name: "bottleneck", about: "a slow link with a short queue", add: bottleneck },
    Feature { name: "mark", about: "queues mark segments", add: mark },
];

/// The feature of this name.
pub fn named(name: &str) -> Result<&'static Feature, String> {
    FEATURES.iter().find(|feature| feature.name == name).ok_or_else(|| {
        let known: Vec<&str> = FEATURES.iter().map(|feature| feature.name).collect();
        format!("`{name}` in --features is none of {}", known.join(", "))
    })
}

fn first(segment: u32) -> Transmission {
    Transmission { segment, nth: 0 }
}

fn any(segments: u32, rng: &mut Rng) -> u32 {
    rng.below(u64::from(segments)) as u32
}

/// A number from `least` to `most`.
fn count(least: u32, most: u32, rng: &mut Rng) -> u32 {
    least + rng.below(u64::from(most - least + 1)) as u32
}

/// A share of the round trip.
fn share(plan: &Plan, least: f64, most: f64, rng: &mut Rng) -> Span {
    Span((plan.rtt.0 as f64 * rng.between(least, most)) as u64)
}

fn losses(plan: &mut Plan, segments: u32, rng: &mut Rng) {
    for _ in 0..count(1, 4, rng) {
        plan.impairments.push(Impairment::Loss(first(any(segments, rng))));
    }
}

fn lose(plan: &mut Plan, segments: std::ops::Range<u32>) {
    plan.impairments.extend(segments.map(|segment| Impairment::Loss(first(segment))));
}

fn burst(plan: &mut Plan, segments: u32, rng: &mut Rng) {
    let begin = any(segments, rng);
    let length = count(2, 12, rng);
    lose(plan, begin..(begin + length).min(segments));
}

fn tail(plan: &mut Plan, segments: u32, rng: &mut Rng) {
    let length = count(1, 6, rng);
    lose(plan, segments.saturating_sub(length)..segments);
}

fn again(plan: &mut Plan, segments: u32, rng: &mut Rng) {
    for _ in 0..count(1, 2, rng) {
        let segment = any(segments, rng);
        let times = count(2, 3, rng);
        plan.impairments.extend((0..times).map(|nth| Impairment::Loss(Transmission { segment, nth })));
    }
}

fn reorder(plan: &mut Plan, segments: u32, rng: &mut Rng) {
    for _ in 0..count(1, 6, rng) {
        let by = match rng.chance(0.5) {
            true => share(plan, 0.02, 0.4, rng),
            false => share(plan, 0.4, 1.6, rng),
        };
        plan.impairments.push(Impairment::Late(first(any(segments, rng)), by));
    }
}

fn duplicate(plan: &mut Plan, segments: u32, rng: &mut Rng) {
    for _ in 0..count(1, 4, rng) {
        let after = share(plan, 0.0, 0.6, rng);
        plan.impairments.push(Impairment::Twice(first(any(segments, rng)), after));
    }
}

fn ack_loss(plan: &mut Plan, segments: u32, rng: &mut Rng) {
    let begin = any(segments, rng);
    for number in 0..count(1, 12, rng) {
        let together = rng.chance(0.7);
        let number = if together { begin + number } else { any(segments, rng) };
        plan.impairments.push(Impairment::LostAck(number));
    }
}

fn ack_late(plan: &mut Plan, segments: u32, rng: &mut Rng) {
    for _ in 0..count(1, 6, rng) {
        let by = share(plan, 0.02, 0.8, rng);
        plan.impairments.push(Impairment::LateAck(any(segments, rng), by));
    }
}

fn blackout(plan: &mut Plan, segments: u32, rng: &mut Rng) {
    let begin = any(segments, rng);
    let retransmissions = count(0, 2, rng);
    for segment in begin..segments.min(begin + 200) {
        let times = if segment == begin { 1 + retransmissions } else { 1 };
        plan.impairments.extend((0..times).map(|nth| Impairment::Loss(Transmission { segment, nth })));
    }
}

fn idle(plan: &mut Plan, segments: u32, rng: &mut Rng) {
    let parts = count(2, 4, rng).min(segments);
    let mut at = plan.writes[0].at;
    plan.writes.clear();
    for part in 0..parts {
        let bytes = MSS * (segments * (part + 1) / parts - segments * part / parts);
        plan.writes.push(Write { at, bytes });
        at = at + plan.rtt + Span((rng.between(0.05, 1.2) * 1e9) as u64);
    }
}

fn trickle(plan: &mut Plan, segments: u32, rng: &mut Rng) {
    let mut at = plan.writes[0].at;
    let mut left = segments.min(80);
    plan.writes.clear();
    while left > 0 {
        let part = count(1, 4, rng).min(left);
        plan.writes.push(Write { at, bytes: part * MSS });
        at = at + share(plan, 0.02, 0.6, rng);
        left -= part;
    }
}

fn window(plan: &mut Plan, _: u32, rng: &mut Rng) {
    plan.scale = 0;
    plan.window = MSS * count(4, 60, rng);
    let mut at = plan.writes[0].at + share(plan, 0.5, 3.0, rng);
    for _ in 0..count(0, 3, rng) {
        plan.impairments.push(Impairment::Window(at, MSS * count(0, 8, rng)));
        at = at + share(plan, 0.3, 3.0, rng) + Span((rng.uniform() * 4e8) as u64);
        plan.impairments.push(Impairment::Window(at, MSS * count(10, 60, rng)));
        at = at + share(plan, 0.3, 3.0, rng);
    }
}

fn bottleneck(plan: &mut Plan, _: u32, rng: &mut Rng) {
    plan.spacing = Span((rng.between(0.5e6, 4e6)) as u64);
    plan.queue = count(4, 30, rng);
}

fn mark(plan: &mut Plan, segments: u32, rng: &mut Rng) {
    plan.ecn = true;
    for _ in 0..count(1, 3, rng) {
        let begin = any(segments, rng);
        let marked = begin..(begin + count(1, 4, rng)).min(segments);
        plan.impairments.extend(marked.map(|segment| Impairment::Mark(first(segment))));
    }
}

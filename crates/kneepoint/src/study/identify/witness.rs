// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A suspect sends over the path that a capture shows, simulated: how far it is from itself says how far from a capture it may be.
//!
//! The capture of the simulation is taken at the sender, and lacks what the real one lacks.

use super::path::Path;
use super::suspects::Suspect;
use crate::capture::{Course, Happened, Step};
use crate::packet::{Flags, Packet};
use crate::run;
use crate::scenario;
use crate::trace::{Event, Observer, Ordered};
use crate::units::{Bytes, Rate, Span, Time};

/// A simulation lasts no longer than this, which has as many round trips as say something.
const LONGEST: Span = Span::from_secs(60);
/// Packets that a simulation may carry.
const MOST: f64 = 200_000.0;
/// Buffers that are simulated, in packets, where a capture shows losses at less or at more.
const BUFFERS: (f64, f64) = (2.0, 1e5);

/// What the sender of a simulated flow sees.
#[derive(Default)]
struct Tap {
    steps: Vec<Step>,
    opened: Option<(Time, Span)>,
}

impl Observer for Tap {
    fn on(&mut self, at: Time, event: &Event) {
        match event {
            Event::Sent { packet, .. } if !packet.flags.has(Flags::SYN) => {
                self.steps.push(Step { at, what: Happened::Sent(packet.seq) });
            }
            Event::Delivered { packet, .. } if packet.flags.has(Flags::ACK) => self.hear(at, packet),
            _ => {}
        }
    }
}

impl Tap {
    fn hear(&mut self, at: Time, packet: &Packet) {
        if packet.flags.has(Flags::SYN) {
            self.opened = Some((at, at.since(packet.sent)));
        } else {
            let (una, blocks, echo) = (packet.seq, packet.sack(), packet.sent);
            self.steps.push(Step { at, what: Happened::Heard { una, blocks, echo } });
        }
    }
}

/// The scenario of a path.
fn scenario(suspect: &Suspect, mss: u32, path: &Path) -> String {
    let size = Bytes(u64::from(mss) + 52);
    let rate = Rate((path.rate.0 * size.0 as f64 * 8.0) as u64);
    let duration = path.lasted.min(LONGEST).min(Span::from_secs_f64(MOST / path.rate.0.max(1.0)));
    let buffer = path.buffer.unwrap_or_else(|| 2.0 * path.bdp()).clamp(BUFFERS.0, BUFFERS.1).ceil();
    format!(
        "[run]\nduration = \"{duration}\"\nmeasure = \"0s..{duration}\"\n\
         [topology]\nkind = \"dumbbell\"\nrate = \"{rate}\"\nrtt = \"{}\"\nbuffer = \"{buffer}pkt\"\naccess = \"full\"\n\
         [tcp]\npreset = \"linux\"\npayload = \"{}\"\ncontrollers = \"{}\"\ninitial_window = {}\ndelayed_ack = {}\n\
         [[flows]]\ncc = \"{}\"\n",
        path.base,
        Bytes(u64::from(mss)),
        suspect.make.version().name(),
        path.first_flight.max(1),
        path.delays,
        suspect.name(),
    )
}

/// The course of a suspect on the path of another one; none where the path cannot be simulated.
pub fn witness(suspect: &Suspect, course: &Course, path: &Path, seed: u64) -> Option<Course> {
    let plan = scenario::parse(&scenario(suspect, course.mss.max(1), path)).ok()?;
    let valid = &plan.cases.first()?.valid;
    let (tap, _) = run::run(valid, seed, Ordered::new(Tap::default()));
    let Tap { steps, opened } = tap.finish();
    let own = Course {
        steps,
        opening: opened,
        expires: true,
        vantage: None,
        windows: Vec::new(),
        ..course.clone()
    };
    Some(if course.guessed { own.with_guessed_blocks() } else { own })
}

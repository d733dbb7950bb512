// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Rate controls of interactive media over RTP: how fast an encoder and its sender may go, and their registry.
//!
//! A control sees the outcome of packets that feedback reports, and sets the target of the encoder, the pace of the sender and the bytes
//! that may be in flight. To add one: write `traffic/rtp/NAME.rs` like `traffic/rtp/gcc.rs` and add its line to the registry below.

use std::fmt;

use crate::settings::Settings;
use crate::units::{Bytes, Rate, Span, Time};

/// The encoder that a control serves.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The lowest target.
    pub min: Rate,
    /// The highest target.
    pub max: Rate,
    /// The target before any feedback.
    pub start: Rate,
    /// The greatest packet on the wire.
    pub packet: Bytes,
    /// The time between two frames.
    pub frame: Span,
}

impl Limits {
    /// A target in bit/s, within the range of the encoder.
    pub fn hold(&self, target: f64) -> f64 {
        target.clamp(self.min.as_f64(), self.max.as_f64())
    }
}

/// A packet of which feedback reports the outcome.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Its size on the wire in bytes.
    pub size: f64,
    /// When it was sent.
    pub sent: Time,
    /// When it arrived; none if it was lost.
    pub arrived: Option<Time>,
    /// Whether a queue marked it (RFC 3168 CE).
    pub marked: bool,
}

/// Inputs of a control when feedback arrives.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The packets whose outcome it reports, in the order of sending.
    pub packets: &'a [Outcome],
    /// A round-trip time without the receiver's wait for its next report; none where silence made packets count as lost.
    pub rtt: Option<Span>,
    /// The most bytes that were in flight since the feedback before.
    pub flying: f64,
}

/// A rate control.
pub trait Control: Clone + fmt::Debug {
    /// Its parameters.
    type Params: Settings;

    /// A control before its first packet.
    fn new(params: Self::Params, limits: Limits) -> Self;
    /// Whether its packets are ECT(1) (RFC 9331).
    fn scalable(&self) -> bool {
        false
    }
    /// Handles feedback.
    fn on_feedback(&mut self, seen: &Seen, now: Time);
    /// Handles a frame of this many bytes on the wire, while the oldest packet of the sender has waited this long.
    fn on_frame(&mut self, _size: f64, _waits: Span) {}
    /// The target of the encoder in bit/s on the wire, within its limits.
    fn target(&self) -> f64;
    /// The rate in bit/s at which the sender empties its queue.
    fn pace(&self) -> f64;
    /// The bytes that may be in flight; infinite without a window.
    fn window(&self) -> f64 {
        f64::INFINITY
    }
}

crate::registry! {
    trait Control(Limits);
    each each;
    algorithms {
        gcc::Gcc,
        scream::Scream,
    }
}

/// The methods of [`Control`], forwarded to the control.
#[allow(missing_docs)]
impl Any {
    pub fn scalable(&self) -> bool {
        each!(self, one => one.scalable())
    }
    pub fn on_feedback(&mut self, seen: &Seen, now: Time) {
        each!(self, one => one.on_feedback(seen, now))
    }
    pub fn on_frame(&mut self, size: f64, waits: Span) {
        each!(self, one => one.on_frame(size, waits))
    }
    pub fn target(&self) -> f64 {
        each!(self, one => one.target())
    }
    pub fn pace(&self) -> f64 {
        each!(self, one => one.pace())
    }
    pub fn window(&self) -> f64 {
        each!(self, one => one.window())
    }
}

super::written::written!("a rate control of media", "scream:l4s=true");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use crate::settings::{Raw, Setting};

    #[test]
    fn a_control_reads_what_it_prints_and_an_error_names_the_remedy() {
        let read = |text: &str| Config::read(&Raw::Text(text.into()));
        for written in REGISTRY.iter().map(|entry| entry.name) {
            assert_eq!(read(written).map(|config| config.to_string()), Ok(written.to_string()));
        }
        let error = read("gc").expect_err("no such control");
        assert!(error.starts_with("\"gc\" is not a rate control of media: did you mean `gcc`?"), "{error}");
    }

    #[test]
    fn a_target_stays_within_the_encoder_whatever_feedback_says() {
        let limits = Limits {
            min: Rate(150_000),
            max: Rate(1_500_000),
            start: Rate(300_000),
            packet: Bytes(1200),
            frame: Span::from_millis(40),
        };
        for config in REGISTRY.iter().filter_map(|entry| Config::named(entry.name)) {
            let (mut control, mut rng) = (config.build(limits), Rng::stream(1, "feedback", 0));
            let mut now = Time::ZERO;
            for _ in 0..5_000 {
                now += Span(rng.below(200_000_000));
                let packets: Vec<Outcome> = (0..rng.below(20))
                    .map(|number| {
                        let sent = now + Span(number);
                        let arrived = sent + Span(rng.below(2_000_000_000));
                        let arrived = rng.chance(0.9).then_some(arrived);
                        Outcome { size: 1200.0, sent, arrived, marked: rng.chance(0.1) }
                    })
                    .collect();
                let rtt = rng.chance(0.9).then(|| Span(rng.below(2_000_000_000)));
                control.on_feedback(&Seen { packets: &packets, rtt, flying: 1e5 * rng.uniform() }, now);
                control.on_frame(1e5 * rng.uniform(), Span(rng.below(2_000_000_000)));
                let target = control.target();
                assert!((150e3..=1500e3).contains(&target), "{config}: {target}");
                assert!(control.pace() >= target && control.pace().is_finite(), "{config}");
                assert!(control.window() >= 1200.0, "{config}: {}", control.window());
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Stamping: passes a link's packets to its feedback and writes the returned values into them.

use super::{Any, Offered, Stamp};
use crate::packet::{Flags, Packet};
use crate::queue::{Backlog, Departure};
use crate::units::{Interval, Rate, Span, Time};

/// The feedback of a link at work.
#[derive(Clone, Debug)]
pub struct Stamper {
    feedback: Any,
    /// The time of the next measurement of the capacity.
    look: Time,
}

impl Stamper {
    /// The interval over which a capacity that varies is averaged.
    pub const WINDOW: Span = Span::from_millis(40);
    /// The interval.
    const EVERY: Span = Span::from_millis(5);

    /// A stamper that shows packets to `feedback`; none if that ignores them.
    pub fn new(feedback: Any) -> Option<Box<Stamper>> {
        (!feedback.passive()).then(|| Box::new(Stamper { feedback, look: Time::ZERO }))
    }

    /// Measures a varying capacity when it is due: `bits` are the bits that it can carry in an interval.
    pub fn look(&mut self, now: Time, bits: impl FnOnce(Interval) -> f64) {
        if now >= self.look {
            self.look = now + Stamper::EVERY;
            let from = Time(now.0.saturating_sub(Stamper::WINDOW.0));
            let window = Interval { from, to: now };
            if window.span() > Span::ZERO {
                self.feedback.on_capacity(Rate((bits(window) / window.span().as_secs_f64()) as u64));
            }
        }
    }

    /// A packet arrives.
    pub fn arrive(&mut self, packet: &Packet, backlog: Backlog, now: Time) {
        self.feedback.on_arrival(&Offered { now, packet, backlog });
    }

    /// Stamps a departing packet; returns whether it was marked. Acknowledgements keep their echo.
    pub fn leave(&mut self, packet: &mut Packet, backlog: Backlog, waited: Span, now: Time) -> bool {
        let stamp = self.feedback.on_departure(&Departure { now, packet, backlog, waited });
        if packet.flags.has(Flags::ACK) {
            return false;
        }
        match stamp {
            Stamp::Lower(bound) => packet.lower(bound),
            Stamp::Mark if packet.flags.has(Flags::ECT) => {
                packet.flags = packet.flags.with(Flags::CE);
                return true;
            }
            Stamp::Mark | Stamp::Nothing => {}
        }
        false
    }

    /// The state of the feedback.
    pub fn state(&self) -> Vec<(&'static str, f64)> {
        self.feedback.state()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::packet::Explicit;

    /// A link that stamps, without a queue.
    pub struct Bench {
        pub stamper: Box<Stamper>,
        pub now: Time,
        pub backlog: Backlog,
    }

    impl Bench {
        pub fn new(feedback: Any) -> Bench {
            let stamper = Stamper::new(feedback).expect("feedback that looks at packets");
            Bench { stamper, now: Time::ZERO, backlog: Backlog::default() }
        }

        /// A packet arrives and leaves at once.
        pub fn pass(&mut self, mut packet: Packet) -> Packet {
            self.stamper.arrive(&packet, self.backlog, self.now);
            self.stamper.leave(&mut packet, self.backlog, Span::ZERO, self.now);
            packet
        }

        /// The explicit feedback with which a packet of `flow` leaves that requested `explicit`.
        pub fn stamped(&mut self, flow: u32, explicit: Explicit) -> Option<Explicit> {
            let packet = Packet::data(flow, 0, 1040, Flags::ECT, self.now).with_explicit(explicit);
            self.pass(packet).explicit()
        }
    }
}

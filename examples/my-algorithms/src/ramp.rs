// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Ramp: drops or marks arriving packets with a probability that is proportional to the delay of the queue.
//!
//! An example: RED (S. Floyd, V. Jacobson, ToN 1993) without its average and its lower threshold.
//!
//! ```text
//! p = min(1, q / (C · full))     q backlog, C rate of the link
//! ```

use kneepoint::queue::{Arrival, Decision, Discipline, Facts};
use kneepoint::rng::Rng;
use kneepoint::settings;
use kneepoint::units::{Rate, Span};

settings! {
    /// Ramp's parameters.
    pub struct Params {
        /// The delay at which the probability is one.
        full: Span = Span::from_secs(1), Span::from_millis(1)..=Span::from_secs(100);
        /// Mark packets of senders that understand marks, instead of dropping them.
        ecn: bool = false;
    }
}

/// A queue with a ramp.
#[derive(Clone, Debug)]
pub struct Ramp {
    params: Params,
    rate: Rate,
}

impl Discipline for Ramp {
    type Params = Params;

    fn new(params: Params, facts: Facts) -> Ramp {
        Ramp { params, rate: facts.rate }
    }

    fn on_arrival(&mut self, arrival: &Arrival, rng: &mut Rng) -> Decision {
        let delay = self.rate.time_for(arrival.backlog.bytes);
        let p = delay.as_secs_f64() / self.params.full.as_secs_f64();
        if rng.chance(p) { Decision::signal(arrival.packet, self.params.ecn) } else { Decision::Pass }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kneepoint::packet::{Flags, Packet};
    use kneepoint::queue::{Backlog, Limit};
    use kneepoint::units::{Bytes, Time};

    #[test]
    fn half_of_the_packets_are_dropped_halfway_up() {
        let facts = Facts {
            rate: Rate::from_mbit(8),
            delay: Span::ZERO,
            limit: Limit::Unlimited,
            packet: Bytes(1000),
        };
        let mut ramp = Ramp::new(Params::default(), facts);
        let mut rng = Rng::stream(1, "ramp", 0);
        let packet = Packet::data(0, 0, 1000, Flags::default(), Time::ZERO);
        // Half a second at 8 Mbit/s.
        let backlog = Backlog { packets: 500, bytes: Bytes(500_000) };
        let arrival = Arrival { now: Time::ZERO, packet: &packet, backlog, full: false };
        let dropped = (0..10_000).filter(|_| ramp.on_arrival(&arrival, &mut rng) == Decision::Drop).count();
        assert!((4_800..5_200).contains(&dropped), "{dropped}");
    }
}

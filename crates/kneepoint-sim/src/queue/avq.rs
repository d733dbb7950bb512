// SPDX-License-Identifier: Apache-2.0 OR MIT
//! AVQ: drops or marks arriving packets that would overflow a virtual queue, whose capacity adapts to a target utilization.
//!
//! S. Kunniyur, R. Srikant, "Analysis and Design of an Adaptive Virtual Queue (AVQ) Algorithm for Active Queue Management", SIGCOMM 2001, §2; constants as in ns-2.35.
//!
//! ```text
//! every arrival of b bytes at t, the last one at s:
//!   VQ <- max(0, VQ - Ct (t - s))
//!   VQ + b > B:   drop or mark;   otherwise VQ <- VQ + b
//!   Ct <- Ct + alpha u C (t - s) - alpha b,  within [0, C]      a dropped packet has b = 0
//! ```
//!
//! `VQ B` virtual queue and buffer, bytes; `C Ct` capacity and virtual capacity, bytes/s; `alpha` smoothing, 1/s; `u`
//! utilization; Ct begins at `initial_share` C.
//!
//! Readings: the law's probability is 0 or 1, and SA or MC make it a chance; a packet that they spare enters the real queue
//! alone, as a marked one does. A buffer in packets is as many full packets; a virtual buffer holds one at least; without a
//! limit nothing overflows. Ct adapts to the accepted rate, as in ns-2; packets that overflow the real buffer count.
//! Departures: ns-2 puts off the growth of Ct until a packet is accepted. Once Ct is 0 and the virtual queue full, none
//! ever is; here Ct grows at every arrival. A packet that cannot be marked counts as marked. Nothing is marked at the
//! front.

use super::sparing::Sparing;
use super::{Arrival, Decision, Discipline, Facts, Limit};
use crate::law::sparing;
use crate::rng::Rng;
use crate::units::Time;

crate::settings! {
    /// The adaptive virtual queue's parameters.
    pub struct Params {
        ..sparing: sparing::Params;
        /// Mark packets of senders that understand marks, instead of dropping them.
        ecn: bool = false;
        /// The target utilization u.
        utilization: f64 = 0.98, 0.01..=1.0;
        /// The smoothing alpha of the virtual capacity, per second.
        smoothing: f64 = 0.15, 0.0001..=100.0;
        /// The virtual buffer over the real one.
        buffer_share: f64 = 1.0, 0.001..=10.0;
        /// The virtual capacity at first over the link's.
        initial_share: f64 = 0.8, 0.0..=1.0;
    }
}

/// A virtual queue.
#[derive(Clone, Debug)]
pub struct Avq {
    sparing: Sparing,
    /// B, in bytes.
    buffer: f64,
    /// C, in bytes per second.
    capacity: f64,
    utilization: f64,
    smoothing: f64,
    /// VQ, in bytes.
    queue: f64,
    /// Ct, in bytes per second.
    virtual_capacity: f64,
    latest: Time,
    decision: Decision,
}

impl Avq {
    /// Takes in an arrival of `size` bytes: whether it would overflow the virtual queue.
    fn overflows(&mut self, size: f64, elapsed: f64) -> bool {
        self.queue = (self.queue - self.virtual_capacity * elapsed).max(0.0);
        let overflows = self.queue + size > self.buffer;
        if !overflows {
            self.queue += size;
        }
        overflows
    }

    /// Adapts the virtual capacity to `accepted` bytes.
    fn adapt(&mut self, accepted: f64, elapsed: f64) {
        let change = self.smoothing * (self.utilization * self.capacity * elapsed - accepted);
        self.virtual_capacity = (self.virtual_capacity + change).clamp(0.0, self.capacity);
    }
}

impl Discipline for Avq {
    type Params = Params;

    fn new(params: Params, facts: Facts) -> Avq {
        let packet = facts.packet.0 as f64;
        let buffer = match facts.limit {
            Limit::Packets(packets) => f64::from(packets) * packet,
            Limit::Bytes(bytes) => bytes.0 as f64,
            Limit::Unlimited => f64::INFINITY,
        };
        let capacity = facts.rate.as_f64() / 8.0;
        Avq {
            sparing: Sparing::new(params.sparing),
            buffer: (params.buffer_share * buffer).max(packet),
            capacity,
            utilization: params.utilization,
            smoothing: params.smoothing,
            queue: 0.0,
            virtual_capacity: params.initial_share * capacity,
            latest: Time::ZERO,
            decision: if params.ecn { Decision::Mark } else { Decision::Drop },
        }
    }

    fn on_arrival(&mut self, arrival: &Arrival, rng: &mut Rng) -> Decision {
        let size = f64::from(arrival.packet.size);
        let elapsed = arrival.now.since(self.latest).as_secs_f64();
        self.latest = arrival.now;
        self.sparing.observe(arrival);
        let probability = if self.overflows(size, elapsed) { self.sparing.adjust(1.0) } else { 0.0 };
        let decision =
            if probability > 0.0 && rng.chance(probability) { self.decision } else { Decision::Pass };
        self.adapt(if decision == Decision::Drop { 0.0 } else { size }, elapsed);
        decision
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let own =
            [("virtual_queue_bytes", self.queue), ("virtual_capacity_bps", 8.0 * self.virtual_capacity)];
        own.into_iter().chain(self.sparing.state()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{arrival, link, packet, packet_of};
    use super::*;
    use crate::law::sparing::Rule;
    use crate::packet::Packet;

    fn avq(params: Params, limit: u32) -> Avq {
        Avq::new(params, Facts { limit: Limit::Packets(limit), ..link(8, 0.06) })
    }

    fn arrive(avq: &mut Avq, packet: &Packet, micros: u64) -> Decision {
        avq.on_arrival(&arrival(packet, 0, Time(1000 * micros)), &mut Rng::stream(1, "avq", 0))
    }

    #[test]
    fn the_virtual_queue_drains_at_the_virtual_capacity_and_overflows_before_the_real_one() {
        let mut avq = avq(Params::default(), 3);
        // C is 1e6 bytes/s, Ct 8e5. Three packets fit, a fourth would not; 0.98 · 0 - 1040 bytes move Ct by 156 each.
        let fates = [0; 4].map(|_| arrive(&mut avq, &packet(), 0));
        assert_eq!(fates, [Decision::Pass, Decision::Pass, Decision::Pass, Decision::Drop]);
        assert_eq!((avq.queue, avq.virtual_capacity), (3120.0, 8e5 - 3.0 * 156.0));
        // 1 ms drains 799.5 bytes, which is less than a packet; 2 ms 1599 bytes.
        assert_eq!(arrive(&mut avq, &packet(), 1000), Decision::Drop);
        // A dropped packet leaves the growth: 0.15 · 0.98 · 1e6 / 1000.
        assert!((avq.virtual_capacity - (799_532.0 + 147.0)).abs() < 1e-6, "{avq:?}");
        assert_eq!(arrive(&mut avq, &packet(), 2000), Decision::Pass);
        assert!((avq.virtual_capacity - (799_532.0 + 2.0 * 147.0 - 156.0)).abs() < 1e-6, "{avq:?}");
    }

    #[test]
    fn the_virtual_capacity_rises_below_the_target_and_falls_above() {
        // Packets of 1040 bytes: every 1.0612 ms they are 98 % of 1e6 bytes/s.
        let after = |micros: u64| {
            let mut avq = avq(Params { ecn: true, ..Params::default() }, 1000);
            for number in 1..=1000 {
                arrive(&mut avq, &packet(), number * micros);
            }
            avq.virtual_capacity
        };
        assert!(after(1100) > 8e5 && after(1040) < 8e5);
        assert!((after(1_061) - 8e5).abs() < 100.0, "{}", after(1_061));
        assert_eq!(after(10_000), 1e6);
    }

    #[test]
    fn without_virtual_capacity_it_recovers() {
        let mut avq = avq(Params { initial_share: 0.0, smoothing: 100.0, ..Params::default() }, 2);
        for _ in 0..50 {
            arrive(&mut avq, &packet(), 0);
        }
        assert_eq!(avq.virtual_capacity, 0.0);
        let passed = (1..=1000).filter(|number| arrive(&mut avq, &packet(), number * 1000) == Decision::Pass);
        assert!(passed.count() > 500);
    }

    #[test]
    fn packets_of_small_windows_pass_a_full_virtual_queue() {
        let sparing = sparing::Params { spare: Rule::Threshold, ..Default::default() };
        for (ecn, decision) in [(false, Decision::Drop), (true, Decision::Mark)] {
            let mut avq = avq(Params { ecn, sparing: sparing.clone(), ..Params::default() }, 1);
            let fates = [50.0, 50.0, 5.0].map(|window| arrive(&mut avq, &packet_of(window), 0));
            assert_eq!(fates, [Decision::Pass, decision, Decision::Pass]);
        }
    }
}

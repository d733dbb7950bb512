// SPDX-License-Identifier: Apache-2.0 OR MIT
//! RCP: a router advises all flows one rate, which rises with spare capacity and falls with the queue.
//!
//! N. Dukkipati, M. Kobayashi, R. Zhang-Shen, N. McKeown, "Processor Sharing Flows in the Internet", IWQoS 2005.
//! N. Dukkipati, "Rate Control Protocol (RCP): Congestion Control to Make Flows Complete Quickly", PhD thesis, Stanford 2007.
//!
//! ```text
//! R <- R (1 + T/d (alpha (u C - y) - beta q/d) / (u C))     every T = min(d, interval)
//! d <- d + T/d (r - d)                                       first sample: d = r
//! rate <- min(rate, R)                                       each departing packet with an explicit rate
//! ```
//!
//! `R` advised rate, from `least` packets in d to u C; `C` capacity; `y` arrivals during T, data and acknowledgements of all traffic: bit/s.
//! `q` bits that wait. `u` target utilization. `d` mean round-trip time of the flows in s; `r` the mean of the reported
//! values in an interval, weighted by size. All flows that are bottlenecked here get C/N within some d, without a count
//! of N.
//!
//! The defaults are from the authors' router for NetFPGA (N. Dukkipati, J. Zhu, 2008): alpha 0.4, beta 0.5, u 0.95, T at most 10 ms,
//! R from 0.1 packets in d, at first 0.05 C (here u C). Their code for ns-2 has the same equation and leaves the constants to scripts, one of
//! which takes 0.4 and 1; 0.226 for beta is XCP's. With u = 1 the equation is the paper's.
//!
//! Readings: the round trips are the smoothed ones of senders, with the queue in them. The first updates assume `rtt`.
//! Departures: a link has no timer, so an update waits for an arrival. After a pause longer than d, the interval with traffic is
//! one update over d, and the idle rest multiplies R by e^(alpha rest/d), the limit of updates of an empty link. The
//! authors'
//! code averages round trips below d more slowly than those above.
//!
//! A flow that joins starts at the rate of those present, so for a round trip N flows and a new one send (N + 1)/N of the target; a second flow
//! doubles it, and fills a buffer of one bandwidth-delay product. Against flows that fill the queue, such as Reno's, R
//! falls to its least.

use super::{Explicit, Feedback, Offered, Stamp};
use crate::packet::Body;
use crate::queue::{Departure, Facts};
use crate::units::{Bytes, Rate, Span, Time};

crate::settings! {
    /// RCP's parameters at the router.
    pub struct Params {
        /// The gain of spare capacity, α.
        alpha: f64 = 0.4, 0.0..=2.0;
        /// The gain of the queue, β.
        beta: f64 = 0.5, 0.0..=2.0;
        /// The target utilization u.
        utilization: f64 = 0.95, 0.01..=1.0;
        /// The longest interval between updates.
        interval: Span = Span::from_millis(10), Span::from_micros(10)..=Span::from_secs(10);
        /// The round-trip time assumed before the first is reported.
        rtt: Span = Span::from_millis(200), Span::from_micros(10)..=Span::from_secs(10);
        /// The first advised rate, as a share of the capacity.
        initial: f64 = 0.05, 0.0001..=1.0;
        /// The least rate advised, in packets in a mean round trip.
        least: f64 = 0.1, 0.0001..=10.0;
    }
}

/// The mean round-trip time in seconds stays between these.
const RTTS: [f64; 2] = [1e-6, 100.0];

/// A router that advises one rate.
#[derive(Clone, Debug)]
pub struct Rcp {
    params: Params,
    packet: Bytes,
    /// u C.
    target: f64,
    /// R.
    rate: f64,
    /// d, and whether a request ever reported one.
    rtt: f64,
    measured: bool,
    /// The present interval: its beginning, when it may end, the bits that arrived in it.
    start: Time,
    end: Time,
    input: f64,
    /// Bits of the requests among them that reported a round trip, and the sum of the round trips weighted by these.
    reported: f64,
    rtts: f64,
}

impl Rcp {
    /// The interval is over: `waiting` bits are queued.
    fn update(&mut self, now: Time, waiting: f64) {
        let Params { alpha, beta, .. } = self.params;
        let elapsed = (now - self.start).as_secs_f64();
        if self.reported > 0.0 {
            let sample = self.rtts / self.reported;
            let weight = if self.measured { (elapsed / self.rtt).min(1.0) } else { 1.0 };
            self.rtt = (self.rtt + weight * (sample - self.rtt)).clamp(RTTS[0], RTTS[1]);
            self.measured = true;
        }
        let busy = elapsed.min(self.rtt);
        let spare = alpha * (self.target - self.input / busy) - beta * waiting / self.rtt;
        let idle = libm::exp(alpha * (elapsed - busy) / self.rtt);
        let least = self.params.least * 8.0 * self.packet.0 as f64 / self.rtt;
        self.rate = (self.rate * (1.0 + busy / self.rtt * spare / self.target)).max(least);
        self.rate = (self.rate * idle).min(self.target);

        self.start = now;
        self.end = now + Span::from_secs_f64(self.rtt).min(self.params.interval);
        (self.input, self.reported, self.rtts) = (0.0, 0.0, 0.0);
    }
}

impl Feedback for Rcp {
    type Params = Params;

    fn new(params: Params, facts: Facts) -> Rcp {
        let Params { utilization, interval, rtt, initial, .. } = params;
        let target = utilization * facts.rate.as_f64();
        Rcp {
            packet: facts.packet,
            target,
            rate: initial * target,
            rtt: rtt.as_secs_f64(),
            measured: false,
            start: Time::ZERO,
            end: Time::ZERO + rtt.min(interval),
            input: 0.0,
            reported: 0.0,
            rtts: 0.0,
            params,
        }
    }

    fn on_arrival(&mut self, offered: &Offered) {
        if offered.now >= self.end {
            self.update(offered.now, 8.0 * offered.backlog.bytes.0 as f64);
        }
        let bits = 8.0 * f64::from(offered.packet.size);
        self.input += bits;
        if let Body::Data { hint, explicit: Some(Explicit::Rate(_)) } = offered.packet.body()
            && hint.rtt > Span::ZERO
        {
            self.reported += bits;
            self.rtts += bits * hint.rtt.as_secs_f64();
        }
    }

    fn on_departure(&mut self, _: &Departure) -> Stamp {
        Stamp::Lower(Explicit::Rate(Rate(self.rate.max(1.0) as u64)))
    }

    fn on_capacity(&mut self, rate: Rate) {
        // A capacity of zero would divide: one bit a second instead.
        self.target = (self.params.utilization * rate.as_f64()).max(1.0);
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        vec![("rate_bps", self.rate), ("mean_rtt_ms", 1e3 * self.rtt)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::Any;
    use super::super::stamper::tests::Bench;
    use super::*;
    use crate::packet::{Flags, Hint, Packet};
    use crate::queue::Backlog;
    use crate::queue::tests::link;

    const RTT: Span = Span::from_millis(100);

    /// A link of 10 Mbit/s whose rate starts at one half.
    fn router() -> Bench {
        let params = Params { utilization: 1.0, initial: 0.5, ..Params::default() };
        Bench::new(Any::Rcp(Rcp::new(params, link(10, 0.06))))
    }

    /// The rate in Mbit/s of a departing packet whose sender reports `rtt`.
    fn rate(bench: &mut Bench, rtt: Span) -> f64 {
        let hint = Hint { window: 10.0, rtt };
        let packet = Packet::data(0, 0, 1250, Flags::default(), bench.now).with_hint(hint);
        match bench.pass(packet.with_explicit(Explicit::ANY_RATE)).explicit() {
            Some(Explicit::Rate(rate)) => rate.as_f64() / 1e6,
            other => panic!("{other:?}"),
        }
    }

    /// An interval of 10 ms at the start of which `packets` of 10 kbit arrive; the rate after it.
    fn interval(bench: &mut Bench, packets: u32) -> f64 {
        (1..packets).for_each(|_| {
            rate(bench, RTT);
        });
        bench.now += Span::from_millis(10);
        rate(bench, RTT)
    }

    fn close(got: f64, expected: f64) -> bool {
        (got / expected - 1.0).abs() < 1e-5
    }

    #[test]
    fn the_rate_follows_the_equation_of_the_paper() {
        let mut bench = router();
        assert_eq!(rate(&mut bench, RTT), 5.0);
        // Ten packets in 10 ms fill the link, and nothing waits.
        assert!(close(interval(&mut bench, 10), 5.0));
        // Five leave half of it: R (1 + 0.1 · 0.4 · 0.5).
        let higher = interval(&mut bench, 5);
        assert!(close(higher, 5.0 * 1.02), "{higher}");
        // 100 kbit wait where 1 Mbit is in flight: R (1 - 0.1 · 0.5 · 0.1).
        bench.backlog = Backlog { packets: 10, bytes: Bytes(12_500) };
        let lower = interval(&mut bench, 10);
        assert!(close(lower, higher * 0.995), "{lower}");
    }

    #[test]
    fn the_rate_stays_between_a_tenth_of_a_packet_in_a_round_trip_and_the_capacity() {
        let mut bench = router();
        rate(&mut bench, RTT);
        for _ in 0..100 {
            interval(&mut bench, 1);
        }
        assert_eq!(rate(&mut bench, RTT), 10.0);
        bench.backlog = Backlog { packets: 1000, bytes: Bytes(1_250_000) };
        for _ in 0..1000 {
            interval(&mut bench, 10);
        }
        let packet = link(10, 0.06).packet.0 as f64 * 8.0 / 1e6;
        assert!(close(rate(&mut bench, RTT), 0.1 * packet / 0.1));
    }

    #[test]
    fn after_a_pause_the_rate_is_what_updates_of_an_idle_link_make_of_it() {
        let mut bench = router();
        rate(&mut bench, RTT);
        interval(&mut bench, 10);
        let mut idle = Bench { stamper: bench.stamper.clone(), ..bench };
        for _ in 0..14 {
            interval(&mut idle, 1);
        }
        bench.now += Span::from_millis(140);
        let (paused, watched) = (rate(&mut bench, RTT), rate(&mut idle, RTT));
        assert!((0.95..1.1).contains(&(paused / watched)), "{paused} {watched}");
        bench.now += Span::from_secs(1_000_000);
        assert_eq!(rate(&mut bench, RTT), 10.0);
    }

    #[test]
    fn other_traffic_takes_capacity_but_reports_no_round_trip() {
        let mut bench = router();
        rate(&mut bench, RTT);
        let other = Packet::data(1, 0, 1250, Flags::default(), Time::ZERO);
        for _ in 0..9 {
            bench.pass(other.with_hint(Hint { window: 10.0, rtt: Span::from_secs(1) }));
        }
        bench.now += Span::from_millis(10);
        assert!(close(rate(&mut bench, RTT), 5.0));
        assert_eq!(bench.stamper.state()[1], ("mean_rtt_ms", 100.0));
    }

    #[test]
    fn the_mean_round_trip_moves_by_the_share_of_it_that_passed() {
        let mut bench = router();
        rate(&mut bench, Span::from_millis(100));
        bench.now += Span::from_millis(10);
        rate(&mut bench, Span::from_millis(200));
        bench.now += Span::from_millis(10);
        rate(&mut bench, Span::from_millis(200));
        let (_, millis) = bench.stamper.state()[1];
        assert!(close(millis, 110.0), "{millis}");
    }
}

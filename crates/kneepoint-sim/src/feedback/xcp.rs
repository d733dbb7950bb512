// SPDX-License-Identifier: Apache-2.0 OR MIT
//! XCP: a router writes into each packet a change of its sender's window: efficiency for all, fairness among them.
//!
//! D. Katabi, M. Handley, C. Rohrs, "Congestion Control for High Bandwidth-Delay Product Networks", SIGCOMM 2002, §3.5.
//!
//! ```text
//! phi = alpha d (C - y) - beta Q                        (1)  every control interval d
//! h   = max(0, gamma y d - |phi|)                       (2)  shuffled
//! p_i = xi_p r_i^2 s_i / w_i                            (4)  xi_p = (h + max( phi, 0)) / (d sum(r_i s_i / w_i))   (6)
//! n_i = xi_n r_i s_i                                    (7)  xi_n = (h + max(-phi, 0)) / (d sum(s_i))             (9)
//! change <- min(change, p_i - n_i)                      (3)  each departing packet with an explicit change
//! d = sum(r_i^2 s_i / w_i) / sum(r_i s_i / w_i)
//! ```
//!
//! `C` capacity, `y` input of all traffic: packets/s. `Q` persistent queue, the least that an arrival met during the last propagation delay, d less
//! the queue's own: packets. `r_i` round-trip time in s and `w_i` window in packets that the request reports, `s_i` its size: all packets
//! are counted in units of a full one. The sums are over the requests of an interval. The stability analysis (§4) gives alpha = 0.4 and
//! beta = 0.226; gamma = 0.1.
//!
//! Readings: the paper leaves the average of round trips open; in this one, which the authors' ns-2 code has, each flow
//! counts once, because a flow sends w/r packets per second. As in that code, positive and negative feedback end when
//! an interval's sums are given away,
//! and the window of the persistent queue is half of the propagation delay, at least 2 ms. A request without a round trip, a flow's
//! first packet, counts as input and is given no change. Where another link gave less, the rest of p_i stays for other packets.
//! Departures: a link has no timer, so an interval ends with the first arrival after d; y is over the time that has passed. An interval
//! without requests leaves the feedback as it was. Nothing is given before the first interval has passed. ns-2's factor of 1.1 on xi, which it
//! calls experimental, is left out.
//!
//! Traffic without requests is input and gets nothing: XCP flows leave it what it takes. Against flows that fill the
//! queue, such as Reno's, Q and y drive the windows of XCP flows towards a packet each; the paper gives either kind a
//! queue of its own.

use super::{Explicit, Feedback, Offered, Stamp};
use crate::packet::{Body, Packet};
use crate::queue::{Departure, Facts};
use crate::units::{Bytes, Rate, Span, Time};

crate::settings! {
    /// XCP's parameters at the router.
    pub struct Params {
        /// The gain of spare capacity, α.
        alpha: f64 = 0.4, 0.0..=2.0;
        /// The gain of the persistent queue, β.
        beta: f64 = 0.226, 0.0..=2.0;
        /// The share of the traffic that is shuffled, γ.
        gamma: f64 = 0.1, 0.0..=1.0;
        /// The control interval before a round trip is reported.
        interval: Span = Span::from_millis(50), Span::from_millis(1)..=Span::from_secs(10);
    }
}

/// The control interval in seconds stays between these; a request's round trip counts up to the longer.
const INTERVALS: [f64; 2] = [0.001, 10.0];
/// The shortest time over which the least queue is taken, in seconds.
const QUEUE_INTERVAL: f64 = 0.002;

/// A change of the aggregate rate in packets/s, and how it is given away.
#[derive(Clone, Copy, Debug, Default)]
struct Pool {
    left: f64,
    /// Feedback to a request of weight one.
    each: f64,
}

impl Pool {
    fn new(total: f64, weights: f64) -> Pool {
        Pool { left: total, each: total / weights }
    }

    fn share(&self, weight: f64) -> f64 {
        self.left.min(self.each * weight)
    }
}

/// A request, with its size in full packets.
struct Request {
    size: f64,
    rtt: f64,
    /// r s / w.
    weight: f64,
    /// The change that other links left.
    asked: f64,
}

/// A router that writes a change of the window into each packet.
#[derive(Clone, Debug)]
pub struct Xcp {
    params: Params,
    /// Bytes of a full packet.
    packet: f64,
    /// C.
    capacity: f64,
    /// d and phi.
    interval: f64,
    aggregate: f64,
    /// The present interval: its start, its earliest end, its arrivals, and the sums over requests.
    start: Time,
    end: Time,
    input: f64,
    sizes: f64,
    weights: f64,
    weighted_rtts: f64,
    positive: Pool,
    negative: Pool,
    /// Q; the least queue so far, and until when it is taken.
    queue: f64,
    least: f64,
    queue_end: Time,
}

impl Xcp {
    fn request(&self, packet: &Packet) -> Option<Request> {
        let Body::Data { hint, explicit: Some(Explicit::Change(asked)) } = packet.body() else { return None };
        let size = f64::from(packet.size) / self.packet;
        let rtt = hint.rtt.as_secs_f64().min(INTERVALS[1]);
        (rtt > 0.0).then(|| Request { size, rtt, weight: rtt * size / hint.window.max(1.0), asked })
    }

    /// The control interval is over.
    fn control(&mut self, now: Time) {
        if self.weights > 0.0 {
            let Params { alpha, beta, gamma, .. } = self.params;
            let d = (self.weighted_rtts / self.weights).clamp(INTERVALS[0], INTERVALS[1]);
            let rate = self.input / (now - self.start).as_secs_f64();
            let phi = alpha * d * (self.capacity - rate) - beta * self.queue;
            let shuffled = (gamma * rate * d - phi.abs()).max(0.0);
            self.positive = Pool::new((shuffled + phi.max(0.0)) / d, self.weights);
            self.negative = Pool::new((shuffled + (-phi).max(0.0)) / d, self.sizes);
            (self.interval, self.aggregate) = (d, phi);
        }
        self.start = now;
        self.end = now + Span::from_secs_f64(self.interval);
        (self.input, self.sizes, self.weights, self.weighted_rtts) = (0.0, 0.0, 0.0, 0.0);
    }

    /// An arrival finds `waiting` packets.
    fn watch(&mut self, now: Time, waiting: f64) {
        self.least = self.least.min(waiting);
        if now >= self.queue_end {
            let propagation = self.interval - waiting / self.capacity;
            self.queue = self.least;
            self.least = waiting;
            self.queue_end = now + Span::from_secs_f64((propagation / 2.0).max(QUEUE_INTERVAL));
        }
    }
}

impl Feedback for Xcp {
    type Params = Params;

    fn new(params: Params, facts: Facts) -> Xcp {
        Xcp {
            packet: facts.packet.0 as f64,
            capacity: facts.rate.packets(facts.packet),
            interval: params.interval.as_secs_f64(),
            aggregate: 0.0,
            start: Time::ZERO,
            end: Time::ZERO + params.interval,
            input: 0.0,
            sizes: 0.0,
            weights: 0.0,
            weighted_rtts: 0.0,
            positive: Pool::default(),
            negative: Pool::default(),
            queue: 0.0,
            least: 0.0,
            queue_end: Time::ZERO,
            params,
        }
    }

    fn on_arrival(&mut self, offered: &Offered) {
        self.watch(offered.now, offered.backlog.bytes.0 as f64 / self.packet);
        if offered.now >= self.end {
            self.control(offered.now);
        }
        self.input += f64::from(offered.packet.size) / self.packet;
        if let Some(Request { size, rtt, weight, .. }) = self.request(offered.packet) {
            self.sizes += size;
            self.weights += weight;
            self.weighted_rtts += rtt * weight;
        }
    }

    fn on_departure(&mut self, departure: &Departure) -> Stamp {
        let Some(Request { size, rtt, weight, asked }) = self.request(departure.packet) else {
            return Stamp::Lower(Explicit::Change(0.0));
        };
        let (more, less) = (self.positive.share(weight), self.negative.share(size));
        self.positive.left -= (asked / rtt + less).clamp(0.0, more);
        self.negative.left -= less;
        Stamp::Lower(Explicit::Change((more - less) * rtt))
    }

    fn on_capacity(&mut self, rate: Rate) {
        // The delay of a queue at a capacity of zero would be infinite: one bit a second instead.
        self.capacity = Rate(rate.0.max(1)).packets(Bytes(self.packet as u64));
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("aggregate_feedback_packets", self.aggregate),
            ("persistent_queue_packets", self.queue),
            ("mean_rtt_ms", 1e3 * self.interval),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Flags, Hint};
    use crate::queue::Backlog;
    use crate::queue::tests::link;

    /// Windows in packets and round trips in ms of flows.
    type Flows = [(f64, u64)];

    fn request((window, millis): (f64, u64)) -> Packet {
        let hint = Hint { window, rtt: Span::from_millis(millis) };
        let packet = Packet::data(0, 0, 1000, Flags::default(), Time::ZERO).with_hint(hint);
        packet.with_explicit(Explicit::ANY_CHANGE)
    }

    /// Packets of a flow in the control interval of the tests, 100 ms.
    fn packets((window, millis): (f64, u64)) -> u64 {
        window as u64 * 100 / millis
    }

    /// A router of 1000 packets/s at the end of an interval in which these flows found `waiting` packets.
    fn router(flows: &Flows, waiting: u32) -> Xcp {
        let mut facts = link(8, 0.05);
        facts.packet = Bytes(1000);
        let mut router = Xcp::new(Params::default(), facts);
        let backlog = Backlog { packets: waiting, bytes: Bytes(1000 * u64::from(waiting)) };
        for &flow in flows {
            for _ in 0..packets(flow) {
                router.on_arrival(&Offered { now: Time::ZERO, packet: &request(flow), backlog });
            }
        }
        let now = Time::ZERO + Span::from_millis(100);
        router.on_arrival(&Offered { now, packet: &Packet::default(), backlog });
        router
    }

    fn change(router: &mut Xcp, packet: &Packet) -> f64 {
        let (backlog, waited) = (Backlog::default(), Span::ZERO);
        match router.on_departure(&Departure { now: Time::ZERO, packet, backlog, waited }) {
            Stamp::Lower(Explicit::Change(change)) => change,
            other => panic!("{other:?}"),
        }
    }

    /// The requested change of the flows' rates in the next interval, in packets/s.
    fn told(router: &mut Xcp, flows: &Flows) -> Vec<f64> {
        let of = |flow: &(f64, u64)| {
            let packet = request(*flow);
            let window: f64 = (0..packets(*flow)).map(|_| change(router, &packet)).sum();
            window * 1e3 / flow.1 as f64
        };
        flows.iter().map(of).collect()
    }

    fn close(got: &[f64], expected: &[f64]) -> bool {
        got.iter().zip(expected).all(|(got, expected)| (got - expected).abs() < 1e-6)
    }

    #[test]
    fn spare_capacity_raises_the_rates_of_all_flows_by_the_same() {
        // 200 and 400 of 1000 packets/s: 0.4 of the spare 400, for all windows and round trips.
        let flows = [(20.0, 100), (20.0, 50)];
        let mut router = router(&flows, 0);
        assert!(close(&[router.interval, router.aggregate], &[0.075, 0.4 * 0.075 * 400.0]), "{router:?}");
        let told = told(&mut router, &flows);
        assert!(close(&told, &[80.0, 80.0]), "{told:?}");
        // The interval's feedback is given away.
        assert!(close(&[change(&mut router, &request(flows[0]))], &[0.0]));
    }

    #[test]
    fn overload_lowers_the_rates_of_flows_in_proportion_to_them() {
        // 1200 of 1000 packets/s: 0.4 of the excess. Shuffled: 0.1 · 1200 is above that by 40.
        let flows = [(80.0, 100), (40.0, 100)];
        let told = told(&mut router(&flows, 0), &flows);
        assert!(close(&told, &[20.0 - 80.0, 20.0 - 40.0]), "{told:?}");
    }

    #[test]
    fn a_tenth_of_the_traffic_of_a_full_link_is_shuffled_from_large_flows_to_small_ones() {
        let flows = [(80.0, 100), (20.0, 100)];
        let told = told(&mut router(&flows, 0), &flows);
        assert!(close(&told, &[50.0 - 80.0, 50.0 - 20.0]), "{told:?}");
    }

    #[test]
    fn a_queue_that_persists_is_drained_and_one_that_comes_and_goes_is_not() {
        let flows = [(100.0, 100)];
        let told = told(&mut router(&flows, 20), &flows);
        assert!(close(&told, &[-0.226 * 20.0 / 0.1]), "{told:?}");
        let mut bursts = router(&flows, 0);
        for millis in 100..300 {
            bursts.watch(Time::ZERO + Span::from_millis(millis), f64::from(millis as u32 % 5));
            assert_eq!(bursts.queue, 0.0);
        }
    }

    #[test]
    fn what_another_link_cut_is_left_to_others_and_traffic_without_requests_gets_nothing() {
        let flows = [(20.0, 100)];
        let mut router = router(&flows, 0);
        let (left, packet) = (router.positive.left, request(flows[0]));
        let cut = packet.with_explicit(Explicit::Change(0.0));
        assert!(change(&mut router, &cut) > 0.0);
        assert_eq!(router.positive.left, left);
        change(&mut router, &packet);
        assert!(router.positive.left < left);
        // A flow's first packet, and one of a flow that does not request.
        for none in [request((2.0, 0)), Packet::data(0, 0, 1000, Flags::default(), Time::ZERO)] {
            assert_eq!(change(&mut router, &none), 0.0);
        }
    }
}

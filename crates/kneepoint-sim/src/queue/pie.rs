// SPDX-License-Identifier: Apache-2.0 OR MIT
//! PIE: drops or marks arriving packets with a probability that a PI controller of the queueing delay sets.
//!
//! R. Pan, P. Natarajan, F. Baker, G. White, "Proportional Integral Controller Enhanced (PIE)", RFC 8033, §4 and §5; the step beyond 250 ms as in Linux (`sch_pie`).
//!
//! ```text
//! change = alpha (q - target) + beta (q - q')                       every interval;   q' <- q
//!          / 2048, 512, 128, 32, 8, 2, 1                            p < 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, above
//!          at most 0.02                                             p >= 0.1
//! p <- p + change,  + 0.02 where q > steep_delay,  within [0, 1]
//! p <- 0.98 p                                                       q = q' = 0
//! an arriving packet is dropped or marked with probability p, but none
//!   while q' < target / 2 and p < 0.2,  at a backlog of two full packets or less,
//!   for `burst` after p = 0 and q, q' < target / 2
//! de-randomized: s += p at each arrival;  none while s < 0.85,  certain from s >= 8.5;  s <- 0 after one
//! ```
//!
//! `q` queueing delay in seconds, `target interval burst`: time; `alpha beta` per second of delay.
//!
//! Readings: `q` is the wait of the packet that left last (§5.2: timestamps), and zero if it left nothing behind. The RFC
//! contradicts itself on the decay: §4.2, and Linux, want delays of zero; the pseudo-code of the appendices delays below
//! target / 2. §4.2 is taken. The allowance for bursts is renewed at updates (§4.4) and at arrivals (Appendix A). A full
//! packet is the mean one. Above `mark_limit` packets are dropped although they could be marked (§5.1). A packet that
//! finds no room is dropped for any p.
//! Linux (`rules = "linux"`) always de-randomizes; it lets in at a backlog of less than two full packets; q' of the exception for short
//! delays is the wait of the packet that left last, not the latest sample; p decays by a 64th, with an empty queue alone; the allowance for
//! bursts is renewed at updates alone.
//! Departures: the step beyond `steep_delay` is Linux's, and DOCSIS-PIE's beyond 200 ms (RFC 8034); RFC 8033 has none, nor
//! has `steep_delay = "1000s"`. No estimate of the departure rate (§4.3), which serves routers without timestamps; always
//! active, also while the buffer is less than a third full (§5.3); no probability in proportion to a packet's size.
//! RFC 8033's own text was not at hand: it was compared by way of implementations that quote its sections and pseudo-code.

use super::{Arrival, Backlog, Decision, Departure, Discipline, Facts};
use crate::law::{Law, pie as law};
use crate::rng::Rng;
use crate::units::{Bytes, Span, Time};

crate::choice! {
    /// The origin of the exceptions from the law.
    pub enum Rules {
        /// The exceptions of RFC 8033.
        Rfc8033 = "rfc8033",
        /// The exceptions of Linux.
        Linux = "linux",
    }
}

crate::settings! {
    /// PIE's parameters.
    pub struct Params {
        ..law: law::Params;
        /// Mark packets of senders that understand marks, instead of dropping them.
        ecn: bool = false;
        /// The probability above which packets are dropped, not marked.
        mark_limit: f64 = 0.1, 0.0..=1.0;
        /// Space drops evenly: none before the probabilities of the arrivals sum to 0.85, one before 8.5.
        derandomize: bool = false;
        /// The origin of the exceptions for short queues, short delays and bursts.
        rules: Rules = Rules::Rfc8033;
        /// The queueing delay above which every update adds 0.02 to the probability.
        steep_delay: Span = Span::from_millis(250), Span::ZERO..=Span::from_secs(1000);
    }
    linux { derandomize = "true", rules = "linux" }
}

/// The factor of the probability at an update without delay, and in Linux.
const DECAY: f64 = 0.98;
const DECAY_IN_LINUX: f64 = 63.0 / 64.0;
/// The increase of the probability by an update at a large delay.
const STEP: f64 = 0.02;
/// The sums of probabilities up to which a de-randomized drop is impossible, and from which it is certain.
const IMPOSSIBLE: f64 = 0.85;
const CERTAIN: f64 = 8.5;

/// PIE's judgement on one queue.
#[derive(Clone, Debug)]
pub struct Pie {
    law: law::Pie,
    interval: Span,
    rules: Rules,
    /// The backlog up to which no packet is dropped.
    spared: Bytes,
    ecn: bool,
    mark_limit: f64,
    derandomize: bool,
    /// The sum of the probabilities since the last drop or mark.
    sum: f64,
    steep_delay: f64,
    /// q, in seconds.
    delay: f64,
}

impl Pie {
    fn takes(&mut self, probability: f64, rng: &mut Rng) -> bool {
        if !self.derandomize {
            return rng.chance(probability);
        }
        self.sum += probability;
        self.sum >= CERTAIN || self.sum >= IMPOSSIBLE && rng.chance(probability)
    }

    /// Decides on an arrival at a queue of `backlog` bytes.
    pub fn judge(&mut self, arrival: &Arrival, backlog: Bytes, rng: &mut Rng) -> Decision {
        let probability = self.law.base();
        let now = match self.rules {
            Rules::Rfc8033 => {
                self.law.calm(self.delay);
                self.law.probability()
            }
            Rules::Linux => self.law.at(self.delay),
        };
        if probability == 0.0 || arrival.full {
            self.sum = 0.0;
        }
        let spared = backlog <= self.spared || now == 0.0;
        if spared || arrival.full || !self.takes(probability, rng) {
            return Decision::Pass;
        }
        self.sum = 0.0;
        Decision::signal(arrival.packet, self.ecn && probability <= self.mark_limit)
    }

    /// A packet left after it had waited, and left this backlog in its queue.
    #[inline]
    pub fn observe(&mut self, waited: Span, behind: Backlog) {
        self.delay = if behind.packets > 0 { waited.as_secs_f64() } else { 0.0 };
    }

    /// An interval has passed, and the queue has this backlog.
    pub fn update(&mut self, backlog: Backlog, now: Time) {
        let before = self.law.delay();
        self.law.sample(self.delay, now);
        if self.delay == 0.0 && before == 0.0 {
            match self.rules {
                Rules::Rfc8033 => self.law.correct(DECAY, 0.0),
                Rules::Linux if backlog.packets == 0 => self.law.correct(DECAY_IN_LINUX, 0.0),
                Rules::Linux => {}
            }
        }
        if self.delay > self.steep_delay {
            self.law.correct(1.0, STEP);
        }
    }
}

impl Discipline for Pie {
    type Params = Params;

    fn new(params: Params, facts: Facts) -> Pie {
        Pie {
            interval: params.law.interval,
            law: law::Pie::new(params.law),
            rules: params.rules,
            spared: match params.rules {
                Rules::Rfc8033 => facts.packet + facts.packet,
                Rules::Linux => facts.packet + facts.packet - Bytes(1),
            },
            ecn: params.ecn,
            mark_limit: params.mark_limit,
            derandomize: params.derandomize,
            sum: 0.0,
            steep_delay: params.steep_delay.as_secs_f64(),
            delay: 0.0,
        }
    }

    fn on_arrival(&mut self, arrival: &Arrival, rng: &mut Rng) -> Decision {
        self.judge(arrival, arrival.backlog.bytes, rng)
    }

    #[inline]
    fn on_departure(&mut self, departure: &Departure, _: &mut Rng) -> Decision {
        self.observe(departure.waited, departure.backlog);
        Decision::Pass
    }

    fn interval(&self) -> Option<Span> {
        Some(self.interval)
    }

    fn on_tick(&mut self, backlog: Backlog, now: Time) {
        self.update(backlog, now);
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        vec![("probability", self.law.base()), ("delay_seconds", self.delay)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{arrival, link, packet};
    use super::*;
    use crate::packet::{Flags, Packet};

    fn pie(params: Params) -> Pie {
        Pie::new(params, link(10, 0.06))
    }

    /// No allowance for bursts.
    fn plain() -> Params {
        Params { law: law::Params { burst: Span::ZERO, ..law::Params::default() }, ..Params::default() }
    }

    /// The probability after updates at these delays, in milliseconds.
    fn follow(pie: &mut Pie, delays: &[u64]) -> Vec<f64> {
        let behind = Backlog { packets: 1, bytes: Bytes(1040) };
        let update = |delay: &u64| {
            pie.observe(Span::from_millis(*delay), behind);
            pie.update(behind, Time::ZERO);
            pie.law.base()
        };
        delays.iter().map(update).collect()
    }

    fn close(got: f64, expected: f64) -> bool {
        (got - expected).abs() < 1e-12
    }

    #[test]
    fn the_probability_follows_the_printed_law() {
        let got = follow(&mut pie(Params::default()), &[35, 35]);
        // (0.125 · 20 ms + 1.25 · 35 ms) / 2048; then 0.125 · 20 ms / 128.
        assert!(close(got[0], 0.046_25 / 2048.0) && close(got[1] - got[0], 0.0025 / 128.0), "{got:?}");
    }

    #[test]
    fn without_delay_it_decays_by_a_fiftieth() {
        let mut pie = pie(plain());
        pie.law.correct(1.0, 0.5);
        // 0.5 - 0.125 · 15 ms, twice without a delay.
        assert!(close(follow(&mut pie, &[0])[0], 0.98 * (0.5 - 0.001_875)));
        // An empty queue has no delay, regardless of the last packet's delay.
        pie.observe(Span::from_millis(90), Backlog::default());
        assert_eq!(pie.delay, 0.0);
    }

    #[test]
    fn beyond_250_ms_every_update_adds_two_hundredths() {
        let mut pie = pie(plain());
        pie.law.correct(1.0, 0.5);
        // The first change is capped at 0.02; then 0.125 (300 - 15) ms = 0.035625 is, too.
        let got = follow(&mut pie, &[300, 300, 250]);
        assert!(close(got[0], 0.54) && close(got[1], 0.58), "{got:?}");
        // 0.125 · 235 ms - 1.25 · 50 ms.
        assert!(close(got[2], 0.58 + 0.029_375 - 0.0625), "{got:?}");
    }

    /// The number of `count` arrivals at this backlog that are dropped and marked.
    fn fates(pie: &mut Pie, packet: &Packet, backlog: u32, count: u32) -> (usize, usize) {
        let mut rng = Rng::stream(1, "pie", 0);
        let arrival = arrival(packet, backlog, Time::ZERO);
        let fates: Vec<_> = (0..count).map(|_| pie.on_arrival(&arrival, &mut rng)).collect();
        let number = |fate| fates.iter().filter(|one| **one == fate).count();
        (number(Decision::Drop), number(Decision::Mark))
    }

    /// A queue at its target delay with this probability.
    fn at(params: Params, probability: f64) -> Pie {
        let mut pie = pie(params);
        follow(&mut pie, &[15]);
        pie.law.correct(0.0, probability);
        pie
    }

    #[test]
    fn arrivals_are_dropped_at_random_with_that_probability_but_not_at_two_packets() {
        // 20 000 · 0.25; four standard deviations are 245.
        let (dropped, marked) = fates(&mut at(plain(), 0.25), &packet(), 10, 20_000);
        assert!((4755..=5245).contains(&dropped) && marked == 0, "{dropped}");
        assert_eq!(fates(&mut at(plain(), 1.0), &packet(), 2, 100), (0, 0));
        assert_eq!(fates(&mut at(plain(), 1.0), &packet(), 3, 100), (100, 0));
    }

    fn linux() -> Params {
        Params { rules: Rules::Linux, ..plain() }
    }

    #[test]
    fn linux_spares_one_packet_and_not_two() {
        let full = || at(linux(), 1.0);
        assert_eq!(fates(&mut full(), &packet(), 1, 100), (0, 0));
        assert_eq!(fates(&mut full(), &packet(), 2, 100), (100, 0));
    }

    #[test]
    fn linux_looks_at_the_delay_of_the_packet_that_left_last() {
        let behind = Backlog { packets: 1, bytes: Bytes(1040) };
        let dropped = |params| {
            let mut pie = at(params, 0.19);
            pie.observe(Span::from_millis(5), behind);
            fates(&mut pie, &packet(), 10, 1000).0 > 0
        };
        assert_eq!((dropped(plain()), dropped(linux())), (true, false));
    }

    #[test]
    fn linux_lets_it_decay_by_a_64th_in_an_empty_queue_alone() {
        let decayed = |packets: u32| {
            let mut pie = pie(linux());
            pie.law.correct(1.0, 0.5);
            pie.update(Backlog { packets, bytes: Bytes(1040 * u64::from(packets)) }, Time::ZERO);
            pie.law.base()
        };
        // 0.5 - 0.125 · 15 ms.
        assert!(close(decayed(0), 63.0 / 64.0 * (0.5 - 0.001_875)) && close(decayed(1), 0.5 - 0.001_875));
    }

    #[test]
    fn a_short_delay_and_a_burst_are_spared() {
        let mut short = at(plain(), 0.5);
        follow(&mut short, &[15, 7]);
        short.law.correct(0.0, 0.19);
        assert_eq!(fates(&mut short, &packet(), 10, 1000), (0, 0));
        short.law.correct(0.0, 1.0);
        assert_eq!(fates(&mut short, &packet(), 10, 1000), (1000, 0));
        // 150 ms are ten updates.
        let mut burst = at(Params::default(), 1.0);
        let dropping = (1..20).find(|_| {
            follow(&mut burst, &[100]);
            fates(&mut burst, &packet(), 10, 100).0 > 0
        });
        assert_eq!(dropping, Some(9));
    }

    #[test]
    fn an_arrival_after_one_short_delay_renews_the_allowance() {
        let dropping = |arrivals: u32| {
            let mut pie = pie(Params::default());
            // 0.125 · 85 ms + 1.25 · 100 ms, and a fall of 95 ms that takes it all back: p = 0, q' = 5 ms.
            follow(&mut pie, &[100, 5]);
            fates(&mut pie, &packet(), 10, arrivals);
            (1..20).find(|_| {
                follow(&mut pie, &[100]);
                pie.law.probability() > 0.0
            })
        };
        // Two of ten updates were used up; an arrival restarts the 150 ms.
        assert_eq!((dropping(0), dropping(1)), (Some(8), Some(10)));
    }

    #[test]
    fn a_short_delay_that_is_not_zero_lets_it_fall_by_the_law_alone() {
        let mut pie = pie(plain());
        follow(&mut pie, &[5]);
        pie.law.correct(0.0, 0.5);
        // 0.125 (5 - 15) ms, without the factor of 0.98.
        assert!(close(follow(&mut pie, &[5])[0], 0.5 - 0.00125));
    }

    #[test]
    fn marks_take_the_place_of_drops_up_to_their_limit() {
        let ecn = Params { ecn: true, ..plain() };
        let capable = Packet::data(0, 0, 1040, Flags::ECT, Time::ZERO);
        let (dropped, marked) = fates(&mut at(ecn.clone(), 0.1), &capable, 10, 10_000);
        assert!(dropped == 0 && (880..=1120).contains(&marked), "{marked}");
        assert_eq!(fates(&mut at(ecn.clone(), 0.11), &capable, 10, 10_000).1, 0);
        assert_eq!(fates(&mut at(ecn, 0.1), &packet(), 10, 10_000).1, 0);
    }

    #[test]
    fn de_randomized_drops_are_neither_close_nor_far_apart() {
        let mut pie = at(Params { derandomize: true, ..plain() }, 0.05);
        let (packet, mut rng) = (packet(), Rng::stream(1, "pie", 0));
        let mut drops = (0..50_000)
            .filter(|_| pie.on_arrival(&arrival(&packet, 10, Time::ZERO), &mut rng) == Decision::Drop)
            .collect::<Vec<u32>>();
        drops.insert(0, 0);
        let gaps: Vec<u32> = drops.windows(2).skip(1).map(|pair| pair[1] - pair[0]).collect();
        // 0.85 / 0.05 = 17 arrivals at least, 8.5 / 0.05 = 170 at most.
        let (least, most) = (gaps.iter().min().copied(), gaps.iter().max().copied());
        assert!(least >= Some(17) && least < Some(20) && most <= Some(171), "{least:?} {most:?}");
    }
}

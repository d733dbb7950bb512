// SPDX-License-Identifier: Apache-2.0 OR MIT
//! GCC: Google's congestion control of WebRTC, by the trend of delays and by losses.
//!
//! Holmer, Lundin, Carlucci, De Cicco and Mascolo, "A Google congestion control algorithm for real-time communication",
//! draft-ietf-rmcat-gcc-02, 2016, with the trendline filter of libwebrtc in place of the Kalman filter of §5.3.
//!
//! ```text
//! group      packets sent within 5 ms of the first; T its last sending, t its last arrival                     (§5.2)
//! d(i)       t(i) − t(i−1) − (T(i) − T(i−1))                                                                  (§5.1)
//! trend k    slope of the regression of smoothed Σd over t in the last 20 groups; s ← 0.9 s + 0.1 Σd          (libwebrtc)
//! m(i)       min(groups, 60) · k · 4                                                                           (libwebrtc)
//! γ(i)       γ + Δt · K · (|m| − γ), K = K_u for |m| > γ, else K_d; kept for |m| − γ > 15; 6 ≤ γ ≤ 600 ms      (§5.4)
//! over-use   m > γ for 10 ms, in more than one group, and m not falling; under-use: m < −γ                     (§5.4)
//! A          increase   η^min(Δt,1 s) · A + 1 kbit/s · Δt, η = 1.08                                          (§5.5)
//!            near the capacity A + ½ min(Δt / (RTT + 100 ms), 1) packets, at least 1 kbit/s · Δt              (§5.5)
//!            decrease   min(A, β · R), β = 0.85, at the first over-use since the path was normal; under-use holds
//!            an increase ends at 1.5 R + 10 kbit/s, which lowers no A
//! R          received bits in the last 500 ms of arrivals                                                      (§5.5)
//! A_s        p > 10 %   A_s · (1 − p/2);  p < 2 %   1.05 · A_s;  else A_s                                      (§6)
//! target     min(A, A_s);   pace 2.5 · target                                                                   (libwebrtc)
//! ```
//!
//! Near the capacity: R is within three standard deviations of its moving average at decreases, of weight 0.05 for a new one; the
//! average starts afresh when R is above that, or at a decrease below it. γ begins at 12.5 ms with Δt up to 100 ms, and A waits for 500 ms of arrivals. Readings: K_u = 0.0087 and K_d = 0.039 per ms are libwebrtc's, because the draft's belong
//! to its own filter; losses are taken over 20 packets or more; a decrease of A_s starts from the target. Departures: no
//! probing by bursts, no estimate by acknowledged rate at the start, no bound of A_s by TFRC, and arrival times are exact.

use std::collections::VecDeque;

use super::{Control, Limits, Outcome, Seen};
use crate::units::{Span, Time};

crate::settings! {
    /// The gains of the rate controller.
    pub struct Params {
        /// Factor η of the multiplicative increase in a second.
        eta: f64 = 1.08, 1.001..=2.0;
        /// Part β of the received rate that remains at over-use.
        beta: f64 = 0.85, 0.1..=0.99;
    }
}

/// Sendings this close make a group.
const BURST: Span = Span::from_millis(5);
/// Groups of the regression.
const GROUPS: usize = 20;
/// The window of the received rate.
const RATE_WINDOW: Span = Span::from_millis(500);
/// Packets over which a share of losses is taken.
const LOSS_PACKETS: u32 = 20;

/// Packets sent together.
#[derive(Clone, Copy, Debug)]
struct Group {
    began: Time,
    sent: Time,
    arrived: Time,
}

/// What the detector says of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Usage {
    Normal,
    Over,
    Under,
}

/// The trend of delays and its adaptive threshold, in milliseconds.
#[derive(Clone, Debug)]
struct Detector {
    group: Option<Group>,
    before: Option<Group>,
    groups: u32,
    delay: f64,
    smoothed: f64,
    history: VecDeque<(f64, f64)>,
    threshold: f64,
    over: f64,
    count: u32,
    trend: f64,
    adapted: Option<Time>,
    usage: Usage,
}

impl Detector {
    fn new() -> Detector {
        Detector {
            group: None,
            before: None,
            groups: 0,
            delay: 0.0,
            smoothed: 0.0,
            history: VecDeque::with_capacity(GROUPS + 1),
            threshold: 12.5,
            over: -1.0,
            count: 0,
            trend: 0.0,
            adapted: None,
            usage: Usage::Normal,
        }
    }

    /// A packet that arrived: closes the group before it if it is the first of another.
    fn packet(&mut self, sent: Time, arrived: Time) {
        let next = Group { began: sent, sent, arrived };
        let Some(group) = &mut self.group else {
            self.group = Some(next);
            return;
        };
        if sent.since(group.began) <= BURST {
            group.sent = group.sent.max(sent);
            group.arrived = group.arrived.max(arrived);
            return;
        }
        let closed = std::mem::replace(group, next);
        if let Some(before) = self.before.replace(closed) {
            self.compare(before, closed);
        }
    }

    fn compare(&mut self, before: Group, group: Group) {
        let millis = |later: Time, earlier: Time| (later.0 as f64 - earlier.0 as f64) / 1e6;
        let sending = millis(group.sent, before.sent);
        let gradient = millis(group.arrived, before.arrived) - sending;
        self.groups = (self.groups + 1).min(1000);
        self.delay += gradient;
        self.smoothed = 0.9 * self.smoothed + 0.1 * self.delay;
        self.history.push_back((group.arrived.0 as f64 / 1e6, self.smoothed));
        if self.history.len() > GROUPS {
            self.history.pop_front();
        }
        let slope = if self.history.len() == GROUPS { slope(&self.history) } else { self.trend };
        self.detect(slope, sending, group.arrived);
    }

    fn detect(&mut self, slope: f64, sending: f64, now: Time) {
        let modified = f64::from(self.groups.min(60)) * slope * 4.0;
        if modified > self.threshold {
            self.over = if self.over < 0.0 { sending / 2.0 } else { self.over + sending };
            self.count += 1;
            if self.over > 10.0 && self.count > 1 && slope >= self.trend {
                (self.over, self.count, self.usage) = (0.0, 0, Usage::Over);
            }
        } else {
            (self.over, self.count) = (-1.0, 0);
            self.usage = if modified < -self.threshold { Usage::Under } else { Usage::Normal };
        }
        self.trend = slope;
        self.adapt(modified.abs(), now);
    }

    fn adapt(&mut self, size: f64, now: Time) {
        let elapsed = self.adapted.map_or(0.0, |at| now.since(at).as_secs_f64() * 1e3).min(100.0);
        self.adapted = Some(now);
        if size > self.threshold + 15.0 {
            return;
        }
        let gain = if size < self.threshold { 0.039 } else { 0.0087 };
        self.threshold = (self.threshold + gain * (size - self.threshold) * elapsed).clamp(6.0, 600.0);
    }
}

/// The slope of the least-squares line.
fn slope(points: &VecDeque<(f64, f64)>) -> f64 {
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / count, y + point.1 / count));
    let (above, below) = points.iter().fold((0.0, 0.0), |(above, below), point| {
        let apart = point.0 - x;
        (above + apart * (point.1 - y), below + apart * apart)
    });
    if below > 0.0 { above / below } else { 0.0 }
}

/// The received rate at decreases in kbit/s: its moving average and its variance over that.
#[derive(Clone, Copy, Debug)]
struct Capacity {
    mean: f64,
    spread: f64,
}

impl Capacity {
    /// The first sample, or one more.
    fn with(known: Option<Capacity>, sample: f64) -> Capacity {
        let Some(Capacity { mean, spread }) = known else { return Capacity { mean: sample, spread: 0.4 } };
        let mean = 0.95 * mean + 0.05 * sample;
        let apart = mean - sample;
        let spread = (0.95 * spread + 0.05 * apart * apart / mean.max(1.0)).clamp(0.4, 2.5);
        Capacity { mean, spread }
    }

    /// Three standard deviations.
    fn margin(self) -> f64 {
        3.0 * (self.spread * self.mean).sqrt()
    }
}

/// The control.
#[derive(Clone, Debug)]
pub struct Gcc {
    params: Params,
    limits: Limits,
    detector: Detector,
    received: VecDeque<(Time, f64)>,
    /// The estimates by delay and by loss in bit/s.
    by_delay: f64,
    by_loss: f64,
    /// Whether it holds until the path is normal.
    holds: bool,
    capacity: Option<Capacity>,
    changed: Option<Time>,
    rtt: f64,
    lost: u32,
    counted: u32,
}

impl Control for Gcc {
    type Params = Params;

    fn new(params: Params, limits: Limits) -> Gcc {
        Gcc {
            params,
            limits,
            detector: Detector::new(),
            received: VecDeque::new(),
            by_delay: limits.start.as_f64(),
            by_loss: f64::INFINITY,
            holds: false,
            capacity: None,
            changed: None,
            rtt: 0.2,
            lost: 0,
            counted: 0,
        }
    }

    fn on_feedback(&mut self, seen: &Seen, now: Time) {
        let mut over = false;
        for Outcome { size, sent, arrived, .. } in seen.packets {
            self.counted += 1;
            let Some(at) = arrived else {
                self.lost += 1;
                continue;
            };
            self.received.push_back((*at, 8.0 * size));
            self.detector.packet(*sent, *at);
            // A report that contains an over-use is one, whatever follows in it.
            over |= self.detector.usage == Usage::Over;
        }
        self.rtt = seen.rtt.map_or(self.rtt, Span::as_secs_f64);
        self.heed_losses();
        let usage = if over { Usage::Over } else { self.detector.usage };
        self.heed_delays(usage, now);
    }

    fn target(&self) -> f64 {
        self.limits.hold(self.by_delay.min(self.by_loss))
    }

    fn pace(&self) -> f64 {
        2.5 * self.target()
    }
}

impl Gcc {
    fn heed_losses(&mut self) {
        if self.counted < LOSS_PACKETS {
            return;
        }
        let share = f64::from(self.lost) / f64::from(self.counted);
        (self.lost, self.counted) = (0, 0);
        if share > 0.1 {
            self.by_loss = self.target() * (1.0 - 0.5 * share);
        } else if share < 0.02 {
            self.by_loss *= 1.05;
        }
        self.by_loss = self.by_loss.max(self.limits.min.as_f64());
    }

    /// The received rate in bit/s, once its window is full.
    fn rate(&mut self) -> Option<f64> {
        let (last, _) = *self.received.back()?;
        let mut full = false;
        while self.received.front().is_some_and(|(at, _)| last.since(*at) > RATE_WINDOW) {
            self.received.pop_front();
            full = true;
        }
        let bits: f64 = self.received.iter().map(|(_, bits)| bits).sum();
        (full || self.changed.is_some()).then_some(bits / RATE_WINDOW.as_secs_f64())
    }

    fn heed_delays(&mut self, usage: Usage, now: Time) {
        let Some(rate) = self.rate() else { return };
        let elapsed = self.changed.map_or(0.0, |at| now.since(at).as_secs_f64());
        match usage {
            Usage::Under => self.holds = true,
            Usage::Over => {
                // Once for each reaction of the path.
                if self.changed.is_none() || !self.holds {
                    self.decrease(rate);
                }
                self.holds = true;
            }
            Usage::Normal if self.holds => self.holds = false,
            Usage::Normal => self.increase(rate, elapsed),
        }
        self.changed = Some(now);
        self.by_delay = self.limits.hold(self.by_delay);
    }

    fn decrease(&mut self, rate: f64) {
        let kbit = rate / 1e3;
        self.capacity = self.capacity.filter(|known| kbit >= known.mean - known.margin());
        self.by_delay = self.by_delay.min(self.params.beta * rate);
        self.capacity = Some(Capacity::with(self.capacity, kbit));
    }

    fn increase(&mut self, rate: f64, elapsed: f64) {
        let kbit = rate / 1e3;
        self.capacity = self.capacity.filter(|known| kbit <= known.mean + known.margin());
        let grown = match self.capacity {
            Some(_) => {
                let share = 0.5 * (elapsed / (self.rtt + 0.1)).min(1.0);
                self.by_delay + (share * 8.0 * self.limits.packet.0 as f64).max(1000.0 * elapsed)
            }
            None => self.by_delay * libm::pow(self.params.eta, elapsed.min(1.0)) + 1000.0 * elapsed,
        };
        // What is not sent is not known to fit: the bound lowers no estimate.
        self.by_delay = grown.min((1.5 * rate + 10e3).max(self.by_delay));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Bytes, Rate};

    fn limits() -> Limits {
        Limits {
            min: Rate(150_000),
            max: Rate(5_000_000),
            start: Rate(1_000_000),
            packet: Bytes(1250),
            frame: Span::from_millis(40),
        }
    }

    /// Packets of 10 000 bits every 10 ms, each this much later than the one before; feedback every fifth.
    fn run(control: &mut Gcc, packets: std::ops::Range<u64>, later: Span) {
        for number in packets {
            let sent = Time::ZERO + Span::from_millis(10 * number);
            let arrived = Some(sent + Span::from_millis(50) + Span(later.0 * number));
            let packet = Outcome { size: 1250.0, sent, arrived, marked: false };
            let rtt = Some(Span::from_millis(100));
            control
                .on_feedback(&Seen { packets: &[packet], rtt, flying: 0.0 }, sent + Span::from_millis(100));
        }
    }

    #[test]
    fn constant_delays_let_the_rate_grow_by_eight_percent_a_second() {
        let mut control = Gcc::new(Params::default(), limits());
        run(&mut control, 0..152, Span::ZERO);
        // The received rate is known with the packet of 0.51 s; from there a second and 8 %, and 1 kbit/s as libwebrtc adds.
        let seconds = 1.0;
        assert!((control.target() - (1e6 * 1.08 + 1e3 * seconds)).abs() < 200.0, "{}", control.target());
    }

    #[test]
    fn the_slope_of_a_line_is_its_own() {
        let points = (0..20).map(|x| (f64::from(x), 3.0 + 0.25 * f64::from(x))).collect();
        assert!((slope(&points) - 0.25).abs() < 1e-12);
    }

    #[test]
    fn growing_delays_leave_85_percent_of_the_received_rate() {
        let mut control = Gcc::new(Params::default(), limits());
        // A tenth later each: 10 000 bits in 11 ms are 909 kbit/s, 45 or 46 packets in 500 ms; 0.85 of that.
        run(&mut control, 0..60, Span::from_millis(1));
        let rate = control.rate().unwrap();
        assert!((900e3..=920e3).contains(&rate), "{rate}");
        assert!(control.target() <= 0.86 * 920e3, "{}", control.target());
    }

    #[test]
    fn the_threshold_approaches_the_trend_faster_from_above() {
        let mut detector = Detector::new();
        detector.adapt(0.0, Time::ZERO);
        detector.adapt(10.0, Time::ZERO + Span::from_millis(20));
        // 12.5 + 0.039 · (10 − 12.5) · 20 = 10.55, and 10.55 + 0.0087 · (20 − 10.55) · 20 = 12.1943.
        assert!((detector.threshold - 10.55).abs() < 1e-9, "{}", detector.threshold);
        detector.adapt(20.0, Time::ZERO + Span::from_millis(40));
        assert!((detector.threshold - 12.1943).abs() < 1e-9, "{}", detector.threshold);
        // More than 15 ms above it is an outlier.
        detector.adapt(40.0, Time::ZERO + Span::from_millis(60));
        assert!((detector.threshold - 12.1943).abs() < 1e-9);
    }

    #[test]
    fn a_fifth_of_packets_lost_takes_a_tenth_of_the_rate() {
        let mut control = Gcc::new(Params::default(), limits());
        let packet = |number: u64| Outcome {
            size: 1250.0,
            sent: Time::ZERO + Span::from_millis(10 * number),
            arrived: (!number.is_multiple_of(5)).then(|| Time::ZERO + Span::from_millis(10 * number + 50)),
            marked: false,
        };
        let packets: Vec<Outcome> = (0..20).map(packet).collect();
        control.on_feedback(&Seen { packets: &packets, rtt: None, flying: 0.0 }, Time::ZERO);
        assert!((control.target() - 900e3).abs() < 1e-6, "{}", control.target());
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The growth of adaptive PERT's window: three modes, chosen by queueing delay, with a step towards each one's target.
//!
//! K. Kotla, "Adapting a Delay-based Protocol to Heterogeneous Environments", M.S. thesis, Texas A&M University 2008, chapter III, Figure 2.
//!
//! ```text
//! high-speed  q <= t1         target = αmax
//! compete     q >= c qm       target = 1 + (P - 1)(1 + δ / (g - c))(1 - δ / (x - c + δ))   x = q / qm < g
//!                             target = P = 1 + p' / p                                      x >= g
//! safe        otherwise       target = 1; on Figure 2's curve αmax / (1 + (αmax - 1)(q - t1) / (t2 - t1)) up to t2
//! every k srtt:  high-speed  α <- min(α + a, αmax)
//!                compete     α <- min(α + b, target, αmax)
//!                safe        α <- max(d α, target)
//! ```
//!
//! `α` packets per round trip; `q` queueing delay, `qm` the greatest, `t1 t2` thresholds: time; `p` losses and `p'`
//! early responses per packet; `c` 0.5 and `g` 0.65 of `qm`, `δ` 0.01. [`pert_adaptive`](super) has the readings of
//! the thesis.

use crate::units::{Span, Time};

/// The distance of the pole of Figure 2's hyperbola below the compete threshold, as a fraction of the greatest delay.
const POLE: f64 = 0.01;

crate::choice! {
    /// The target of the window's growth in safe mode.
    pub enum SafeTarget {
        /// One packet per round trip, at any delay.
        One = "one",
        /// The curve of Figure 2: from `alpha_max` at `t1` to one at `t2`.
        Curve = "curve",
    }
}

crate::settings! {
    /// The modes, and how the growth follows them.
    pub struct Params {
        /// The queueing delay up to which the link counts as empty: high-speed mode, and no early response.
        t1: Span = Span::from_millis(5), Span::ZERO..=Span::from_secs(10);
        /// The queueing delay at which an early response has probability `pmax`; also the least `qm`.
        t2: Span = Span::from_millis(10), Span::from_micros(1)..=Span::from_secs(20);
        /// The fraction of the greatest queueing delay from which PERT competes; 0.65 in the video paper.
        compete: f64 = 0.5, 0.0..=1.0;
        /// The fraction of the greatest queueing delay from which it competes with all of 1 + p'/p.
        full_compete: f64 = 0.65, 0.01..=1.0;
        /// The least delay at which every acknowledgement reduces, as a multiple of `t2`: 2 in the port; the thesis has 0.65 of the
        /// greatest delay alone, which 1 gives wherever its curve can be drawn.
        third_floor: f64 = 2.0, 1.0..=100.0;
        /// The growth at the start, in packets per round trip; the port to ns-3 starts at 32.
        initial_alpha: f64 = 1.0, 1.0..=1000.0;
        /// The greatest growth, in packets per round trip.
        alpha_max: f64 = 32.0, 1.0..=1000.0;
        /// The increase of the growth by a step in high-speed mode.
        high_speed_step: f64 = 0.5, 0.0..=1000.0;
        /// The factor on the growth by a step in safe mode; 0 goes to the target at once, as in the video paper.
        safe_factor: f64 = 0.9, 0.0..=1.0;
        /// The target of the growth in safe mode.
        safe_target: SafeTarget = SafeTarget::One;
        /// Smoothed round-trip times between steps.
        step_rtts: f64 = 5.0, 0.0..=1000.0;
        /// A step acts as safe mode does unless the mode held for a window of acknowledgements since the last, as in
        /// the port to ns-3.
        hold: bool = false;
    }
    check |params| {
        let Params { t1, t2, compete, full_compete, initial_alpha, alpha_max, .. } = params;
        if t1 >= t2 {
            Err(format!("t1 = {t1}, t2 = {t2}: t1 must be less than t2, as in 5ms, 10ms"))
        } else if compete > full_compete {
            Err(format!("compete = {compete} is above full_compete = {full_compete}: it must not be, as in 0.5 and 0.65"))
        } else if initial_alpha > alpha_max {
            Err(format!("initial_alpha = {initial_alpha} is above alpha_max = {alpha_max}: it must not be, as in 1 and 32"))
        } else {
            Ok(())
        }
    }
}

/// PERT's belief about the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It is empty.
    HighSpeed,
    /// It is shared with flows that respond early.
    Safe,
    /// It is shared with flows that fill the queue.
    Compete,
}

impl Mode {
    /// The mode at queueing delay `q` where the greatest is `qm`; high-speed takes precedence where ranges overlap.
    #[inline]
    pub fn of(q: Span, qm: Span, params: &Params) -> Mode {
        if q <= params.t1 {
            Mode::HighSpeed
        } else if q.0 as f64 >= params.compete * qm.0 as f64 {
            Mode::Compete
        } else {
            Mode::Safe
        }
    }

    /// 0 high-speed, 1 safe, 2 compete: the order of queueing delays.
    pub fn number(self) -> f64 {
        match self {
            Mode::HighSpeed => 0.0,
            Mode::Safe => 1.0,
            Mode::Compete => 2.0,
        }
    }
}

/// 1 + p'/p: by how much growth must outdo Reno's to get as much with early responses at rate `early`.
pub fn fair_growth(early: f64, loss: f64) -> f64 {
    if loss > 0.0 { 1.0 + early / loss } else { f64::INFINITY }
}

/// Figure 2: the growth to which queueing delay `q` leads where the greatest is `qm` and `fair` is 1 + p'/p, which
/// may be infinite. In safe mode it is the curve.
pub fn target(q: Span, qm: Span, fair: f64, params: &Params) -> f64 {
    let Params { t1, t2, compete, full_compete, alpha_max, .. } = *params;
    let unlimited = match Mode::of(q, qm, params) {
        Mode::HighSpeed => alpha_max,
        Mode::Safe if q < t2 => {
            let way = q.saturating_sub(t1).0 as f64 / t2.saturating_sub(t1).0 as f64;
            alpha_max / (1.0 + (alpha_max - 1.0) * way)
        }
        Mode::Safe => 1.0,
        Mode::Compete => {
            let x = q.0 as f64 / qm.0 as f64;
            if x >= full_compete || fair.is_infinite() {
                fair
            } else {
                let scale = 1.0 + POLE / (full_compete - compete);
                1.0 + (fair - 1.0) * scale * (1.0 - POLE / (x - compete + POLE))
            }
        }
    };
    unlimited.clamp(1.0, alpha_max)
}

/// The inputs of a step.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// When.
    pub now: Time,
    /// The smoothed round-trip time.
    pub srtt: Span,
    /// The queueing delay.
    pub q: Span,
    /// The greatest queueing delay.
    pub qm: Span,
    /// Packets that may be outstanding.
    pub window: f64,
    /// Whether losses show that the link is full, regardless of the delay.
    pub lossy: bool,
    /// The increase of the growth by a step in compete mode.
    pub compete_step: f64,
}

/// The growth of the window in congestion avoidance, and the mode it follows.
#[derive(Clone, Debug)]
pub struct Aggression {
    alpha: f64,
    mode: Mode,
    stepped: Time,
    /// Acknowledgements in high-speed and in compete mode since the last step or the last one in safe mode.
    held: [u32; 2],
}

impl Aggression {
    /// The growth of a fresh connection.
    pub fn new(params: &Params) -> Aggression {
        Aggression { alpha: params.initial_alpha, mode: Mode::Safe, stepped: Time::NEVER, held: [0; 2] }
    }

    /// Packets per round trip.
    #[inline]
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// The mode at the last look.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Sets the growth.
    pub fn restart(&mut self, alpha: f64) {
        self.alpha = alpha;
    }

    /// Processes the measurements of an acknowledgement; `fair` is called for 1 + p'/p only if a step needs it.
    #[inline]
    pub fn look(&mut self, view: &View, fair: impl FnOnce() -> f64, params: &Params) {
        self.mode = match Mode::of(view.q, view.qm, params) {
            Mode::HighSpeed if view.lossy => Mode::Safe,
            mode => mode,
        };
        match self.mode {
            Mode::HighSpeed => self.held[0] = self.held[0].saturating_add(1),
            Mode::Compete => self.held[1] = self.held[1].saturating_add(1),
            Mode::Safe => self.held = [0; 2],
        }
        if self.stepped == Time::NEVER {
            self.stepped = view.now;
        }
        if view.now.since(self.stepped).0 as f64 >= params.step_rtts * view.srtt.0 as f64 {
            self.step(view, fair(), params);
            self.stepped = view.now;
            self.held = [0; 2];
        }
    }

    fn step(&mut self, view: &View, fair: f64, params: &Params) {
        let [high_speed, compete] = self.held.map(|acks| !params.hold || f64::from(acks) >= view.window);
        match self.mode {
            Mode::Compete if compete => {
                let target = target(view.q, view.qm, fair, params);
                self.alpha = (self.alpha + view.compete_step).min(target);
            }
            Mode::HighSpeed if high_speed => {
                self.alpha = (self.alpha + params.high_speed_step).min(params.alpha_max);
            }
            _ => {
                let target = match (params.safe_target, self.mode) {
                    (SafeTarget::Curve, Mode::Safe) => target(view.q, view.qm, fair, params),
                    _ => 1.0,
                };
                if self.alpha > target {
                    self.alpha = (self.alpha * params.safe_factor).max(target);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    fn at(micros: u64, fair: f64) -> f64 {
        target(Span::from_micros(micros), Span::from_millis(100), fair, &Params::default())
    }

    #[test]
    fn the_target_goes_through_the_points_of_figure_2() {
        for (micros, fair, expected) in [
            (0, 9.0, 32.0),
            (5_000, 9.0, 32.0),
            // 32 / (1 + 31 / 2).
            (7_500, 9.0, 32.0 / 16.5),
            (10_000, 9.0, 1.0),
            (30_000, 9.0, 1.0),
            (50_000, 9.0, 1.0),
            // x = 0.55: 1 + 8 · 16/15 · (1 - 0.01 / 0.06).
            (55_000, 9.0, 1.0 + 8.0 * 16.0 / 15.0 * (5.0 / 6.0)),
            (65_000, 9.0, 9.0),
            (100_000, 9.0, 9.0),
            (100_000, 50.0, 32.0),
            (100_000, 1.0, 1.0),
            // No loss so far.
            (50_000, f64::INFINITY, 32.0),
            (30_000, f64::INFINITY, 1.0),
        ] {
            let got = at(micros, fair);
            assert!((got - expected).abs() < 1e-6, "{micros} us: {got}");
        }
    }

    #[test]
    fn the_target_is_continuous_but_for_the_start_and_the_end_of_its_rise() {
        for micros in 0..100_000 {
            let step = (at(micros + 1, 9.0) - at(micros, 9.0)).abs();
            assert!(step < 0.2, "{micros} us: {step}");
        }
    }

    #[test]
    fn high_speed_is_tested_first_and_a_fresh_flow_has_no_safe_mode() {
        let params = Params::default();
        let mode = |micros| Mode::of(Span::from_micros(micros), params.t2, &params);
        assert_eq!((mode(5_000), mode(5_001)), (Mode::HighSpeed, Mode::Compete));
        let deep = |micros| Mode::of(Span::from_micros(micros), Span::from_millis(60), &params);
        assert_eq!((deep(5_001), deep(29_999), deep(30_000)), (Mode::Safe, Mode::Safe, Mode::Compete));
    }

    /// The growth after `seconds` at a round trip of 100 ms, an acknowledgement every 10 ms, and q of `millis`.
    fn grown(aggression: &mut Aggression, millis: u64, from: u64, seconds: u64, params: &Params) -> f64 {
        for tick in 0..seconds * 100 {
            let view = View {
                now: Span::from_millis(from * 1000 + tick * 10).after_start(),
                srtt: Span::from_millis(100),
                q: Span::from_millis(millis),
                qm: Span::from_millis(60),
                window: 60.0,
                compete_step: 0.1,
                lossy: false,
            };
            aggression.look(&view, || 4.0, params);
        }
        aggression.alpha()
    }

    #[test]
    fn steps_come_every_five_round_trips_and_are_a_half_a_tenth_and_nine_tenths() {
        let params = Params::default();
        let mut aggression = Aggression::new(&params);
        // The first step comes half a second after the first look: 19 in 10 s.
        assert!((grown(&mut aggression, 3, 0, 10, &params) - 10.5).abs() < 1e-9);
        assert!((grown(&mut aggression, 20, 10, 1, &params) - 10.5 * 0.81).abs() < 1e-9);
        assert_eq!(grown(&mut aggression, 20, 11, 60, &params), 1.0);
        assert!((grown(&mut aggression, 50, 71, 1, &params) - 1.2).abs() < 1e-9);
        assert_eq!(grown(&mut aggression, 50, 72, 60, &params), 4.0);
        // 62 steps from 1 to 32: 310 round trips.
        let mut fast = Aggression::new(&params);
        assert!((grown(&mut fast, 3, 0, 31, &params) - 31.5).abs() < 1e-9);
        assert_eq!(grown(&mut fast, 3, 31, 1, &params), 32.0);
    }

    #[test]
    fn the_hold_rule_wants_a_window_of_acknowledgements_in_one_mode() {
        // Fifty acknowledgements a step, and a window of sixty.
        let params = Params { hold: true, initial_alpha: 8.0, ..Params::default() };
        assert_eq!(grown(&mut Aggression::new(&params), 3, 0, 60, &params), 1.0);
        let slower = Params { step_rtts: 6.0, ..params };
        assert!(grown(&mut Aggression::new(&slower), 3, 0, 60, &slower) > 8.0);
    }

    #[test]
    fn the_video_papers_reading_falls_at_once_and_the_curve_holds_growth_up() {
        let at_once = Params { safe_factor: 0.0, initial_alpha: 8.0, ..Params::default() };
        assert_eq!(grown(&mut Aggression::new(&at_once), 20, 0, 1, &at_once), 1.0);
        let curve = Params { safe_target: SafeTarget::Curve, initial_alpha: 8.0, ..Params::default() };
        let held = grown(&mut Aggression::new(&curve), 6, 0, 60, &curve);
        assert!((held - 32.0 / 7.2).abs() < 1e-9, "{held}");
    }

    #[test]
    fn settings_that_contradict_one_another_are_refused() {
        for (params, place) in [
            (Params { t1: Span::from_millis(10), ..Params::default() }, "t1 = 10ms"),
            (Params { compete: 0.7, ..Params::default() }, "compete = 0.7"),
            (Params { initial_alpha: 40.0, ..Params::default() }, "initial_alpha = 40"),
        ] {
            let message = params.check().unwrap_err();
            assert!(message.contains(place), "{message}");
        }
        assert_eq!(Params::default().check(), Ok(()));
    }
}

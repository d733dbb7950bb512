// SPDX-License-Identifier: Apache-2.0 OR MIT
//! SA and MC: a probability adjusted by the window of the sender whose packet is judged, so that short flows lose less.
//!
//! M. Kim, "Proportional Integrator with Short-lived flows Adjustment", M.S. thesis, Worcester Polytechnic Institute 2004, §3.2 and §3.3 (PISA and PIMC); SA is of M. Hartling, M. Claypool, R. Kinicki, "Active Queue Management for Web Traffic", 2002.
//!
//! ```text
//! avg <- (1 - w) avg + w cwnd                      every arrival with a hint; the first one sets avg
//! SA: P = min(1, alpha p cwnd / avg)                alpha = gain,  or gain N / N0
//! MC: P = 0    cwnd <= max(MinCwnd, share avg)
//!         p    otherwise
//! ```
//!
//! `p` the law's probability; `cwnd` the window that the arriving packet carries, `avg MinCwnd` packets; `N` flows that
//! arrived lately, `N0` flows for which `gain` is meant; `w alpha gain share` numbers.
//!
//! Readings: the average includes the arrival before the arrival is judged. The thesis's text has MC spare windows "less
//! than" MinCwnd, its Figure 3.4 those up to it, and none that it reports dropped is 7: up to it. A packet without a hint,
//! a datagram or an acknowledgement, meets the law as it is. Departures: `share` is ours. The thesis suggests a MinCwnd
//! that varies, without saying how; one in proportion to the average window follows the load. `N0` is ours as well: alpha
//! "may need to be adjusted according to the number of flows" (§6.2), without an equation. Beneath PI's integrator alpha
//! sets the gain of the loop, not the level of the drops, and windows and with them the response to a drop shrink as 1/N,
//! so alpha grows with N.

use super::Adjustment;
use crate::units::Span;

crate::choice! {
    /// The adjustment of the probability by a sender's window.
    pub enum Rule {
        /// Not at all.
        None = "none",
        /// SA: in proportion to the window over the average window.
        Proportional = "sa",
        /// MC: small windows are spared.
        Threshold = "mc",
    }
}

crate::settings! {
    /// The adjustment by the sender's window.
    pub struct Params {
        /// The adjustment of a packet's probability by the window that it carries.
        spare: Rule = Rule::None;
        /// SA's alpha, the probability at the average window over the law's; the thesis tries 0.1 to 3.
        spare_gain: f64 = 3.0, 0.001..=1000.0;
        /// N0: the number of flows for which `spare_gain` is meant, and in proportion to which alpha grows; 0 keeps alpha.
        spare_gain_flows: f64 = 0.0, 0.0..=1000000.0;
        /// The time for which a flow counts after a packet of it: from one of these periods to two.
        spare_period: Span = Span::from_secs(1), Span::from_millis(1)..=Span::from_secs(3600);
        /// The weight of an arrival in the average window.
        spare_weight: f64 = 0.02, 0.000001..=1.0;
        /// MC's MinCwnd: the greatest window, in packets, that is spared.
        min_window: f64 = 7.0, 0.0..=1000000000.0;
        /// MC spares windows up to this share of the average window, too; 0 keeps to `min_window`.
        min_window_share: f64 = 0.0, 0.0..=100.0;
    }
}

impl Params {
    /// Whether alpha follows the number of flows.
    pub fn follows_flows(&self) -> bool {
        self.spare == Rule::Proportional && self.spare_gain_flows > 0.0
    }
}

/// The average window of arriving packets.
#[derive(Clone, Debug, PartialEq)]
pub struct AverageWindow {
    weight: f64,
    /// Zero before the first.
    average: f64,
}

impl AverageWindow {
    /// An average without a sample.
    pub fn new(weight: f64) -> AverageWindow {
        AverageWindow { weight, average: 0.0 }
    }

    /// Takes in a window, in packets, above zero.
    #[inline]
    pub fn observe(&mut self, window: f64) {
        let first = self.average == 0.0;
        self.average = if first { window } else { (1.0 - self.weight) * self.average + self.weight * window };
    }

    /// The average, in packets; zero before the first window.
    #[inline]
    pub fn packets(&self) -> f64 {
        self.average
    }
}

/// The window of the packet that is judged, and how it counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Sparing {
    params: Params,
    average: AverageWindow,
    window: Option<f64>,
    /// SA's alpha.
    alpha: f64,
}

impl Sparing {
    /// An adjustment before the first arrival.
    pub fn new(params: Params) -> Sparing {
        let (average, alpha) = (AverageWindow::new(params.spare_weight), params.spare_gain);
        Sparing { average, window: None, alpha, params }
    }

    /// Takes in the arrival that is judged next: the window that it carries, if it does.
    #[inline]
    pub fn observe(&mut self, window: Option<f64>) {
        if self.params.spare == Rule::None {
            return;
        }
        self.window = window;
        if let Some(window) = window {
            self.average.observe(window);
        }
    }

    /// Takes in the number of flows that alpha follows.
    #[inline]
    pub fn follow(&mut self, flows: u32) {
        self.alpha = self.params.spare_gain * f64::from(flows) / self.params.spare_gain_flows;
    }

    /// The average window of arrivals, in packets, to plot; none without a rule.
    pub fn state(&self) -> Option<(&'static str, f64)> {
        (self.params.spare != Rule::None).then_some(("average_window_packets", self.average.packets()))
    }

    fn min_window(&self) -> f64 {
        self.params.min_window.max(self.params.min_window_share * self.average.packets())
    }
}

impl Adjustment for Sparing {
    #[inline]
    fn adjust(&self, probability: f64) -> f64 {
        match (self.params.spare, self.window) {
            (Rule::Proportional, Some(window)) => {
                (self.alpha * probability * (window / self.average.packets())).min(1.0)
            }
            (Rule::Threshold, Some(window)) if window <= self.min_window() => 0.0,
            _ => probability,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The change of a probability of 0.1 by arrivals with these windows.
    fn adjusted<const N: usize>(params: Params, windows: [f64; N]) -> [f64; N] {
        let mut sparing = Sparing::new(params);
        windows.map(|window| {
            sparing.observe((window > 0.0).then_some(window));
            sparing.adjust(0.1)
        })
    }

    fn close<const N: usize>(got: [f64; N], expected: [f64; N]) -> bool {
        got.iter().zip(expected).all(|(got, expected)| (got - expected).abs() < 1e-12)
    }

    #[test]
    fn sa_is_in_proportion_to_the_window_over_the_average() {
        let sa = Params { spare: Rule::Proportional, ..Params::default() };
        // The first window is the average: 3 · 0.1. Then 0.98 · 10 + 0.02 · 2 = 9.84, and 0.98 · 9.84 + 0.02 · 60 = 10.8432.
        let expected = [0.3, 0.3 * 2.0 / 9.84, 1.0];
        assert!(close(adjusted(sa.clone(), [10.0, 2.0, 60.0]), expected));
        let gentle = Params { spare_gain: 1.0, ..sa };
        assert!(close(adjusted(gentle, [10.0, 2.0, 60.0]), [0.1, 0.2 / 9.84, 6.0 / 10.8432]));
    }

    #[test]
    fn alpha_grows_with_the_flows_beyond_those_it_is_meant_for() {
        let following = Params { spare: Rule::Proportional, spare_gain_flows: 40.0, ..Params::default() };
        let mut sparing = Sparing::new(following);
        sparing.observe(Some(8.0));
        let mut at = |flows| {
            sparing.follow(flows);
            sparing.adjust(0.1)
        };
        // 3 · 20 / 40 = 1.5, 3, 6, and more than certain.
        assert!(close([20, 40, 80, 400].map(&mut at), [0.15, 0.3, 0.6, 1.0]));
    }

    #[test]
    fn mc_spares_windows_up_to_seven() {
        let mc = Params { spare: Rule::Threshold, ..Params::default() };
        assert_eq!(adjusted(mc.clone(), [1.0, 7.0, 7.5, 100.0]), [0.0, 0.0, 0.1, 0.1]);
        // Half of an average that is the latest window: 50 spares 20, 20 spares no 15.
        let varying = Params { min_window_share: 0.5, spare_weight: 0.5, ..mc };
        assert_eq!(adjusted(varying, [100.0, 20.0, 7.0, 40.0]), [0.1, 0.0, 0.0, 0.1]);
    }

    #[test]
    fn without_a_rule_or_a_hint_the_probability_stays() {
        assert_eq!(adjusted(Params::default(), [1.0, 50.0]), [0.1; 2]);
        for spare in [Rule::Proportional, Rule::Threshold] {
            let rule = Params { spare, ..Params::default() };
            let mut sparing = Sparing::new(rule);
            sparing.observe(Some(4.0));
            sparing.observe(None);
            assert_eq!((sparing.adjust(0.1), sparing.average.packets()), (0.1, 4.0));
        }
    }
}

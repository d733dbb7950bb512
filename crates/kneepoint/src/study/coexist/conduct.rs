// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Whether a controller can be deployed: does it get its fair share against every other, and leave them theirs?

use super::coexistence::{Coexistence, Encounter, Square};
use crate::table::{Estimate, number};

crate::choice! {
    /// A controller against others.
    pub enum Conduct {
        /// It takes enough of its fair share everywhere, and leaves the others enough of theirs.
        Coexists = "coexists",
        /// It leaves enough and does not get enough somewhere.
        Yields = "yields",
        /// It gets enough and does not leave enough somewhere.
        CrowdsOut = "crowds out",
        /// Somewhere it does not get enough, and elsewhere it does not leave enough.
        Depends = "yields and crowds out",
        /// No run has it against another.
        Unknown = "unknown",
    }
}

/// The least value over all settings, with its setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extreme {
    /// The setting.
    pub place: Square,
    /// The value.
    pub estimate: Estimate,
}

/// A smaller half width reads `0.00`, which no interval is.
const LEAST: f64 = 0.005;

/// A share of a fair share to two digits, and its interval: `± 0.02`, or its ends, `0–2`, where it would exceed the
/// possible range, from zero to `most`; none that the digits do not show.
pub fn parts(estimate: &Estimate, most: f64) -> (String, Option<String>) {
    let (low, high) = estimate.interval();
    let end = |end: f64| if end == 0.0 || end == most { number::plain(end) } else { format!("{end:.2}") };
    let shown = estimate.half_width.filter(|half_width| *half_width >= LEAST);
    let interval = shown.map(|half_width| match low < 0.0 || high > most {
        true => format!("{}–{}", end(low.max(0.0)), end(high.min(most))),
        false => format!("± {half_width:.2}"),
    });
    match estimate.mean.is_finite() {
        true => (format!("{:.2}", estimate.mean), interval),
        false => (number::NONE.into(), None),
    }
}

/// `0.93 ± 0.02`, or `0.93 (0–2)`.
pub fn shown(estimate: &Estimate, most: f64) -> String {
    match parts(estimate, most) {
        (mean, None) => mean,
        (mean, Some(even)) if even.starts_with('±') => format!("{mean} {even}"),
        (mean, Some(ends)) => format!("{mean} ({ends})"),
    }
}

impl Coexistence {
    /// The setting in which a controller gets the least of its fair share.
    pub fn takes_least(&self, row: usize) -> Option<Extreme> {
        self.least(row, Encounter::taken)
    }

    /// The setting in which the others get the least of their fair share.
    pub fn leaves_least(&self, row: usize) -> Option<Extreme> {
        self.least(row, Encounter::left)
    }

    fn least(&self, row: usize, of: fn(&Encounter) -> Estimate) -> Option<Extreme> {
        let others = self.places().filter(|place| place.row == row && place.column != row);
        let all = others.map(|place| Extreme { place, estimate: of(self.cell(place)) });
        all.filter(|extreme| extreme.estimate.mean.is_finite())
            .min_by(|a, b| a.estimate.mean.total_cmp(&b.estimate.mean))
    }

    /// The verdict on a controller, by the means.
    pub fn verdict(&self, row: usize) -> Conduct {
        let enough = |extreme: Extreme| extreme.estimate.mean >= self.enough;
        match (self.takes_least(row).map(enough), self.leaves_least(row).map(enough)) {
            (Some(true), Some(true)) => Conduct::Coexists,
            (Some(false), Some(true)) => Conduct::Yields,
            (Some(true), Some(false)) => Conduct::CrowdsOut,
            (Some(false), Some(false)) => Conduct::Depends,
            _ => Conduct::Unknown,
        }
    }

    /// The noise, measured by controllers against themselves; none without such a run.
    pub fn control(&self) -> Option<String> {
        let own = self.places().filter(|place| place.row == place.column);
        let means = own.map(|place| self.cell(place).taken().mean).filter(|mean| mean.is_finite());
        let (least, most) = means
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), mean| (mean.min(low), mean.max(high)));
        (least <= most).then(|| {
            format!(
                "Two groups of the same controller got {least:.2} to {most:.2} of their fair shares: differences of \
                 this size are random."
            )
        })
    }

    /// The rule behind the verdicts.
    pub fn rule(&self) -> String {
        format!(
            "A controller coexists if in every setting it takes at least {0} of its fair share beside each other one and \
             leaves each at least {0} of its own. It yields where it does not take that much, and crowds out where it \
             does not leave it. The means decide.",
            self.enough
        )
    }

    /// The grounds of a verdict: the least share that the controller takes in any setting, and the least that it leaves.
    pub fn grounds(&self, row: usize) -> Vec<String> {
        let said = |Extreme { place, estimate }: Extreme, fair: fn(f64) -> f64| {
            let noisy = estimate.half_width.is_some_and(|half| (estimate.mean - self.enough).abs() < half);
            let doubt = if noisy { ", within the noise" } else { "" };
            let (name, setting) = (&self.controllers[place.column], self.setting(place.flows, place.buffer));
            let most = 1.0 / fair(self.cell(place).fair_share());
            (shown(&estimate, most), format!("{name} ({setting}{doubt})"))
        };
        let takes = self.takes_least(row).map(|least| said(least, |own| own));
        let takes = takes
            .map(|(least, whom)| format!("gets at least {least} of its fair share; least against {whom}"));
        let leaves = self.leaves_least(row).map(|least| said(least, |own| 1.0 - own));
        let leaves =
            leaves.map(|(least, whom)| format!("leaves at least {least} of theirs; least to {whom}"));
        takes.into_iter().chain(leaves).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::coexist::coexistence::tests::example;

    #[test]
    fn a_controller_that_gets_half_yields_to_one_that_leaves_half() {
        let all = example();
        assert_eq!([0, 1].map(|row| all.verdict(row)), [Conduct::Yields, Conduct::CrowdsOut]);
        let bold = "gets at least 0.50 ± 0.05 of its fair share; least against bold (0.5 BDP, 10 flows)";
        assert_eq!(all.grounds(0)[0], bold);
        assert!(all.rule().contains("at least 0.8 of"));
    }

    #[test]
    fn an_interval_ends_where_a_share_does() {
        let of = |mean: f64, half: f64| shown(&Estimate { mean, half_width: Some(half) }, 2.0);
        assert_eq!([of(0.93, 0.02), of(0.27, 0.004)], ["0.93 ± 0.02", "0.27"]);
        assert_eq!(
            [of(0.58, 1.59), of(1.2, 0.9), of(0.5, 2.0)],
            ["0.58 (0–2)", "1.20 (0.30–2)", "0.50 (0–2)"]
        );
        assert_eq!(of(f64::NAN, 0.1), number::NONE);
    }

    #[test]
    fn the_control_tells_what_chance_does() {
        let mut all = example();
        all.cells[0].meetings.iter_mut().for_each(|meeting| meeting.share = 0.4);
        assert!(all.control().is_some_and(|said| said.contains("got 0.80 to 1.00 of")));
    }

    #[test]
    fn a_milder_rule_makes_a_milder_verdict_and_noise_is_told() {
        let all = Coexistence { enough: 0.47, ..example() };
        assert_eq!([0, 1].map(|row| all.verdict(row)), [Conduct::Coexists; 2]);
        assert!(all.grounds(1)[1].contains("within the noise"), "{:?}", all.grounds(1));
    }

    #[test]
    fn a_controller_without_encounters_is_unknown() {
        let mut all = example();
        all.cells.iter_mut().for_each(|cell| cell.meetings.clear());
        assert_eq!(all.verdict(0), Conduct::Unknown);
        assert!(all.grounds(0).is_empty() && all.control().is_none());
    }
}

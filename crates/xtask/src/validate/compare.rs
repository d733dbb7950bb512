// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares our figures with ns-2's.

use kneepoint::table::number::signed;

use super::figures::{Figures, Ratio};

/// Difference above which a figure needs an explanation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// Fraction of ns-2's figure.
    Fraction(f64),
    /// Factor in either direction.
    Factor(f64),
}

/// A compared figure.
pub struct Metric {
    /// Key in the explanations.
    pub key: &'static str,
    /// Title in tables.
    pub title: &'static str,
    /// Tolerance.
    pub tolerance: Tolerance,
    /// The figure, and its count of packets if it is a ratio of packets.
    of: fn(&Figures) -> (f64, Option<f64>),
}

fn counted(ratio: Ratio) -> (f64, Option<f64>) {
    (ratio.ratio, Some(ratio.packets))
}

/// All compared figures, in the order of tables.
pub const METRICS: [Metric; 6] = [
    Metric {
        key: "queue",
        title: "queue / buffer",
        tolerance: Tolerance::Fraction(0.1),
        of: |figures| (figures.queue, None),
    },
    Metric {
        key: "drops",
        title: "drop ratio",
        tolerance: Tolerance::Factor(1.5),
        of: |figures| counted(figures.drops),
    },
    Metric {
        key: "marks",
        title: "mark ratio",
        tolerance: Tolerance::Factor(1.5),
        of: |figures| counted(figures.marks),
    },
    Metric {
        key: "utilization",
        title: "utilization",
        tolerance: Tolerance::Fraction(0.1),
        of: |figures| (figures.utilization, None),
    },
    Metric {
        key: "goodput",
        title: "goodput of long flows",
        tolerance: Tolerance::Fraction(0.1),
        of: |figures| (figures.goodput, None),
    },
    Metric {
        key: "jain",
        title: "Jain",
        tolerance: Tolerance::Fraction(0.1),
        of: |figures| (figures.jain, None),
    },
];

/// Packets per run below which a ratio is meaningless.
const FEWEST: f64 = 30.0;

/// A pair of figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// Ours.
    pub ours: f64,
    /// That of ns-2.
    pub theirs: f64,
    /// Result of the comparison.
    pub verdict: Agreement,
}

/// Results of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// No figure from ns-2, or too few packets in both.
    Silent,
    /// Within tolerance.
    Agrees,
    /// Beyond tolerance: needs an explanation.
    Differs,
}

impl Metric {
    /// Compares means over runs.
    pub fn compare(&self, ours: &Figures, theirs: &Figures) -> Pair {
        let ((ours, our_packets), (theirs, their_packets)) = ((self.of)(ours), (self.of)(theirs));
        let few = our_packets.unwrap_or(f64::INFINITY).max(their_packets.unwrap_or(f64::INFINITY)) < FEWEST;
        let verdict = if few || ours.is_nan() || theirs.is_nan() {
            Agreement::Silent
        } else if self.tolerance.admits(ours, theirs) {
            Agreement::Agrees
        } else {
            Agreement::Differs
        };
        Pair { ours, theirs, verdict }
    }
}

impl Tolerance {
    fn admits(self, ours: f64, theirs: f64) -> bool {
        match self {
            Tolerance::Fraction(fraction) => (ours - theirs).abs() <= fraction * theirs.abs(),
            Tolerance::Factor(factor) => ours <= theirs * factor && theirs <= ours * factor,
        }
    }
}

impl Pair {
    /// `+3.1 %`, or `×1.7` for large differences.
    pub fn difference(&self) -> String {
        let ratio = self.ours / self.theirs;
        match ratio {
            _ if self.ours == self.theirs => "0 %".into(),
            ratio if !ratio.is_finite() || ratio == 0.0 => "—".into(),
            ratio if (0.5..2.0).contains(&ratio) => signed(100.0 * (ratio - 1.0), 1) + " %",
            ratio => format!("×{ratio:.2}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dropped(packets: f64, ratio: f64) -> Figures {
        let none = Ratio { packets: 0.0, ratio: 0.0 };
        Figures {
            queue: 0.5,
            drops: Ratio { packets, ratio },
            marks: none,
            utilization: 1.0,
            goodput: f64::NAN,
            jain: 0.9,
        }
    }

    fn metric(key: &str) -> &'static Metric {
        METRICS.iter().find(|metric| metric.key == key).expect("a key of the table")
    }

    #[test]
    fn a_tenth_or_a_factor_of_one_and_a_half_agrees_and_more_differs() {
        assert!(Tolerance::Fraction(0.1).admits(0.549, 0.5) && !Tolerance::Fraction(0.1).admits(0.56, 0.5));
        assert!(Tolerance::Factor(1.5).admits(3.0, 2.0) && !Tolerance::Factor(1.5).admits(2.0, 3.1));
    }

    #[test]
    fn a_handful_of_drops_or_an_unknown_figure_is_no_ground_for_comparison() {
        let pair = metric("drops").compare(&dropped(29.0, 1e-5), &dropped(3.0, 1e-6));
        assert_eq!(pair.verdict, Agreement::Silent);
        let several = metric("drops").compare(&dropped(31.0, 1e-5), &dropped(0.0, 0.0));
        assert_eq!(several.verdict, Agreement::Differs);
        assert_eq!(
            metric("goodput").compare(&dropped(0.0, 0.0), &dropped(0.0, 0.0)).verdict,
            Agreement::Silent
        );
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The axes of a chart: quantity, spacing and range.

use super::scale::{Scale, round_step};

/// Spacing of the numbers on an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// Linear.
    Linear,
    /// Logarithmic. Zero has its own place at the edge; negative values are not shown.
    Log,
}

/// One axis of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The quantity with its unit: `bandwidth, bit/s`.
    pub label: String,
    /// Linear or logarithmic.
    pub spacing: Spacing,
    /// Range that is always shown, so that several charts can share a scale; the data extend it.
    pub holds: Option<(f64, f64)>,
    /// The numbers that the quantity can have: intervals are cut there.
    pub bounds: (f64, f64),
    /// The numbers that were measured at, to be marked instead of round ones where they are few and have room; none to mark round ones.
    pub levels: Vec<f64>,
}

const UNBOUNDED: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

/// Decades beyond which most numbers of a linear axis would lie at its edge.
const DECADES: f64 = 100.0;
/// The ends of labels of times and rates.
const SPREADING: [&str; 5] = [", s", ", ms", ", µs", "bit/s", "packets/s"];

/// Pixels between the smallest positive number of a logarithmic axis and the edge that shows zero.
const ZERO_ROOM: f64 = 20.0;

impl Axis {
    /// A linear axis.
    pub fn linear(label: impl Into<String>) -> Axis {
        Axis {
            label: label.into(),
            spacing: Spacing::Linear,
            holds: None,
            bounds: UNBOUNDED,
            levels: Vec::new(),
        }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>) -> Axis {
        Axis {
            label: label.into(),
            spacing: Spacing::Log,
            holds: None,
            bounds: UNBOUNDED,
            levels: Vec::new(),
        }
    }

    /// A linear axis, or a logarithmic one where these are times or rates that differ by more than two decades.
    pub fn spread(label: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Axis {
        let label = label.into();
        let finite: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
        let (least, greatest) = extremes(finite.iter().copied().filter(|value| *value > 0.0));
        let is_spreading = SPREADING.iter().any(|end| label.ends_with(end));
        let wide = greatest > DECADES * least && finite.iter().all(|value| *value >= 0.0);
        if is_spreading && wide { Axis::log(label) } else { Axis::linear(label) }
    }

    /// The same axis, showing at least the range from `least` to `greatest`.
    pub fn holding(self, least: f64, greatest: f64) -> Axis {
        Axis { holds: Some((least, greatest)), ..self }
    }

    /// The same axis of a quantity that is never less than `least` or more than `most`.
    pub fn bounded(self, least: f64, most: f64) -> Axis {
        Axis { bounds: (least, most), ..self }
    }

    /// The same axis of a quantity that was set to these numbers.
    pub fn at(self, levels: &[f64]) -> Axis {
        Axis { levels: levels.to_vec(), ..self }
    }

    /// The part of an interval that is possible.
    pub(super) fn possible(&self, (low, high): (f64, f64)) -> (f64, f64) {
        let (least, most) = self.bounds;
        (low.max(least), high.min(most))
    }

    /// Whether the axis can show a number.
    pub(super) fn shows(&self, value: f64) -> bool {
        value.is_finite() && (self.spacing == Spacing::Linear || value >= 0.0)
    }

    /// A number, or its logarithm.
    pub(super) fn spaced(&self, value: f64) -> f64 {
        match self.spacing {
            Spacing::Linear => value,
            Spacing::Log => libm::log10(value),
        }
    }

    /// The scale that shows `values` between two pixels, ending at round numbers if `roomy`.
    pub(super) fn scale(&self, values: &[f64], pixels: (f64, f64), roomy: bool) -> Scale {
        let held = self.holds.iter().flat_map(|(least, greatest)| [*least, *greatest]);
        let shown: Vec<f64> = values.iter().copied().chain(held).filter(|value| self.shows(*value)).collect();
        match self.spacing {
            Spacing::Linear => Scale::new(linear_range(&shown, roomy), pixels),
            Spacing::Log => {
                let room = if shown.contains(&0.0) { ZERO_ROOM } else { 0.0 };
                let start = pixels.0 + room * (pixels.1 - pixels.0).signum();
                Scale::log(log_range(&shown, roomy), (start, pixels.1), pixels.0)
            }
        }
    }
}

fn extremes(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, greatest), value| {
        (least.min(value), greatest.max(value))
    })
}

/// The range from zero, unless the values are far from it.
fn linear_range(values: &[f64], roomy: bool) -> (f64, f64) {
    let (least, greatest) = extremes(values.iter().copied());
    if values.is_empty() || (least == 0.0 && greatest == 0.0) {
        return (0.0, 1.0);
    }
    let near = if roomy { 0.5 } else { 0.25 };
    let least = if least > 0.0 && (least <= near * greatest || least == greatest) { 0.0 } else { least };
    let greatest = if greatest < 0.0 && greatest >= near * least { 0.0 } else { greatest };
    if !roomy {
        return (least, greatest);
    }
    let step = round_step((greatest - least) / 8.0);
    (step * libm::floor(least / step + 1e-9), step * libm::ceil(greatest / step - 1e-9))
}

/// The range of the positive values with some margin; one decade if there is none.
fn log_range(values: &[f64], roomy: bool) -> (f64, f64) {
    let (least, greatest) = extremes(values.iter().copied().filter(|value| *value > 0.0));
    if least > greatest {
        return (1.0, 10.0);
    }
    if least == greatest {
        return (least / 2.0, greatest * 2.0);
    }
    let room = if roomy { libm::pow(greatest / least, 0.04) } else { 1.0 };
    (least / room, greatest * room)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_axis_begins_at_zero_unless_that_wastes_half_of_it() {
        assert_eq!(linear_range(&[3.0, 47.0], true), (0.0, 50.0));
        assert_eq!(linear_range(&[97.2, 99.9], true), (97.0, 100.0));
        assert_eq!(linear_range(&[-3.0, 5.0], true), (-3.0, 5.0));
        assert_eq!(linear_range(&[0.8, 0.8], true), (0.0, 0.8));
        assert_eq!(linear_range(&[], true), (0.0, 1.0));
    }

    #[test]
    fn times_and_rates_of_more_than_two_decades_are_spaced_by_powers_of_ten() {
        let spacing = |label: &str, values: &[f64]| Axis::spread(label, values.iter().copied()).spacing;
        assert_eq!(spacing("delay, ms", &[0.1, 40.0]), Spacing::Log);
        assert_eq!(spacing("goodput, Mbit/s", &[0.0, 0.5, 90.0]), Spacing::Log);
        assert_eq!(spacing("delay, ms", &[1.0, 100.0]), Spacing::Linear, "just two decades");
        assert_eq!(spacing("delay, ms", &[-1.0, 0.1, 100.0]), Spacing::Linear, "a difference");
        assert_eq!(spacing("drop ratio, %", &[0.001, 10.0]), Spacing::Linear);
        assert_eq!(spacing("delay, ms", &[f64::NAN]), Spacing::Linear);
    }

    #[test]
    fn zero_on_a_logarithmic_axis_is_at_the_edge_and_the_rest_is_above_it() {
        let scale = Axis::log("loss").scale(&[0.0, 1e-4, 1e-2, f64::NAN, -1.0], (200.0, 20.0), false);
        assert_eq!([0.0, 1e-4, 1e-2].map(|value| scale.at(value).round()), [200.0, 180.0, 20.0]);
        let without = Axis::log("loss").scale(&[1e-4, 1e-2], (200.0, 20.0), false);
        assert_eq!(without.at(1e-4).round(), 200.0);
    }

    #[test]
    fn an_axis_holds_what_it_is_told_and_all_the_data() {
        let scale = Axis::linear("").holding(0.0, 100.0).scale(&[50.0, 160.0], (0.0, 160.0), true);
        assert_eq!((scale.at(0.0), scale.at(160.0)), (0.0, 160.0));
    }

    #[test]
    fn an_interval_ends_where_the_quantity_does() {
        let share = Axis::linear("share").bounded(0.0, 1.0);
        assert_eq!(share.possible((-0.5, 2.0)), (0.0, 1.0));
        assert_eq!(Axis::linear("").possible((-0.5, 2.0)), (-0.5, 2.0));
    }
}

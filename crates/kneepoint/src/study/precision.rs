// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Precision: seeds are added until the 95 % intervals of a comparison are as narrow as requested.
//!
//! ```text
//! half width ≤ d · |mean|     of packets, times and rates: the precision d is a part of the mean
//! half width ≤ d              of fractions: points
//! metrics                     all of the headline, or some by name; by key also those of groups, judged of each
//! next round                  n · (half width / wanted)², of the metric that needs most; 2 · n at most
//! ```
//!
//! The rule is Law and Kelton's (Simulation Modeling and Analysis, §9.4.1), after Y. Chow and H. Robbins, Annals of Mathematical Statistics 36,
//! 1965. A study that stops at the first narrow interval stops at one that is narrow by chance: with three seeds to begin with, 92 %
//!   of the intervals of a normal quantity hold its mean instead of 95 %. Eight to begin with leave 93 to 95 %, which a test counts. Seeds are added and
//!   runs are not lengthened: kept runs stay of use, and seeds are independent regardless of the correlation within a
//!   run.

use std::str::FromStr;

use super::Record;
use super::compare::Compared;
use crate::measure::{Subject, headlines};
use crate::metric::Metric;
use crate::suggest::did_you_mean;
use crate::table::{Bounds, Estimate, number, value};

/// Seeds before the first look.
pub const LEAST: usize = 8;
/// Seeds at most.
pub const MOST: usize = 1000;

/// The requested width of intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct Precision {
    /// The precision of every headline metric without one of its own.
    usual: Option<f64>,
    /// The precision of some metrics, by their keys: of the run, or of each group.
    named: Vec<(&'static str, f64)>,
}

impl FromStr for Precision {
    type Err = String;

    fn from_str(text: &str) -> Result<Precision, String> {
        let mut asked = Precision { usual: None, named: Vec::new() };
        for word in text.split(',').map(str::trim) {
            match word.split_once('=') {
                None if asked.usual.is_some() => {
                    return Err(format!("{word} is a second precision of all metrics"));
                }
                None => asked.usual = Some(part(word)?),
                Some((name, wanted)) => {
                    let key = metric(name.trim())?.key.as_str();
                    if asked.named.iter().any(|(known, _)| *known == key) {
                        return Err(format!("{name} has two precisions"));
                    }
                    asked.named.push((key, part(wanted.trim())?));
                }
            }
        }
        Ok(asked)
    }
}

/// Reads `2%` or `0.02`.
pub fn part(text: &str) -> Result<f64, String> {
    let percent =
        text.strip_suffix('%').map(|number| number.trim().parse().map(|number: f64| number / 100.0));
    let number = percent.unwrap_or_else(|| text.parse());
    let allowed = |one: &f64| (1e-4..=0.5).contains(one);
    number.ok().filter(allowed).ok_or_else(|| format!("`{text}` is no precision from 0.01% to 50%, as in 2%"))
}

/// A headline metric or one of groups, by its key or by the head of its column.
fn metric(name: &str) -> Result<&'static Metric, String> {
    let is_it = |metric: &&Metric| metric.key == name || metric.short.eq_ignore_ascii_case(name);
    let found = headlines().find(is_it).or_else(|| Subject::Group.metrics().iter().find(is_it));
    found.ok_or_else(|| {
        let names: Vec<&str> = headlines().map(|metric| metric.short.as_str()).collect();
        format!(
            "no headline metric is called `{name}`: {}, or a metric of groups by its key, as `completion_time_p50_ms`",
            did_you_mean(name, &names)
        )
    })
}

/// A metric of a case, and the ratio of its interval to the requested one.
#[derive(Clone, Debug, PartialEq)]
pub struct Widest {
    /// The case, or a group of it.
    pub case: String,
    /// The metric.
    pub metric: &'static Metric,
    /// Its mean and interval.
    pub estimate: Estimate,
    /// The ratio of its half width to the requested one.
    pub ratio: f64,
    /// Its seeds.
    pub seeds: usize,
}

impl Precision {
    fn of(&self, metric: &Metric) -> Option<f64> {
        let named = self.named.iter().find(|(key, _)| *key == metric.key).map(|(_, wanted)| *wanted);
        named.or(self.usual)
    }

    /// The requested metrics of groups.
    fn of_groups(&self) -> impl Iterator<Item = &'static Metric> {
        let is_headline = |key: &str| headlines().any(|metric| metric.key == key);
        let keys = self.named.iter().map(|(key, _)| *key).filter(move |key| !is_headline(key));
        keys.filter_map(|key| metric(key).ok())
    }

    /// The interval that is widest relative to the requested one; none where no case has an interval.
    pub fn widest(&self, cases: &[Compared]) -> Option<Widest> {
        let of_metric = |case: &Compared, metric: &'static Metric, group: Option<&str>| {
            let wanted = self.of(metric)?;
            let labels = group.map(|group| ("group", group));
            let number = |run: &Record| value(&run.rows, &metric.key, labels.as_slice());
            let numbers: Vec<f64> = case.runs.iter().map(number).collect();
            let estimate = Estimate::of(&numbers);
            let half_width = estimate.half_width?;
            let size = if metric.bounds == Bounds::FRACTION { 1.0 } else { estimate.mean.abs() };
            // Equal numbers differ only by the rounding of their sum.
            let equal = half_width <= 1e-9 * estimate.mean.abs();
            let ratio = if equal { 0.0 } else { half_width / (wanted * size) };
            let case = group.map_or(case.name.clone(), |group| format!("{group} of {}", case.name));
            Some(Widest { case, metric, estimate, ratio, seeds: numbers.len() })
        };
        let of_case = |case: &Compared| {
            let groups = case.valid.groups().iter().map(|group| group.name.as_str());
            let of_group =
                |group| self.of_groups().filter_map(move |metric| of_metric(case, metric, Some(group)));
            let of_run = headlines().filter_map(|metric| of_metric(case, metric, None));
            of_run.chain(groups.flat_map(of_group)).collect::<Vec<_>>()
        };
        cases.iter().flat_map(of_case).max_by(|one, other| one.ratio.total_cmp(&other.ratio))
    }

    /// The number of seeds of the next round; none if the intervals are narrow enough.
    pub fn next(&self, cases: &[Compared], seeds: usize) -> Option<usize> {
        next(seeds, self.widest(cases).map_or(0.0, |widest| widest.ratio))
    }

    /// The deciding interval, for readers.
    pub fn told(&self, cases: &[Compared]) -> String {
        let Some(Widest { case, metric, estimate, ratio, seeds }) = self.widest(cases) else {
            return format!("Precision: {self} could not be judged, as no number has an interval.");
        };
        let (_, spread) = number::quoted(&estimate, metric.scale, Bounds::NONE);
        let spread = spread.map_or("± 0".to_string(), |spread| spread.to_string());
        let unit = if metric.unit.is_empty() { String::new() } else { format!(" {}", metric.unit) };
        let which = format!("{} of {case}, {spread}{unit}", metric.title);
        let seeds_told = number::counted(seeds, "seed");
        match required(seeds, ratio) {
            _ if ratio == 0.0 => {
                format!("Precision: {self} could not be judged, as all seeds gave the same numbers.")
            }
            None => format!("Precision: within {self} after {seeds_told}. Last: {which}."),
            Some(required) => {
                format!("Precision: not within {self} after {seeds_told}. Last: {which}. {required}")
            }
        }
    }
}

/// The number of seeds that a widest interval of this ratio to the requested one needs; none if these suffice.
pub fn next(seeds: usize, ratio: f64) -> Option<usize> {
    match seeds < LEAST {
        true => Some(LEAST),
        false if ratio <= 1.0 || seeds >= MOST => None,
        false => Some(needed(seeds, ratio).clamp(seeds + 1, (2 * seeds).min(MOST))),
    }
}

/// The seeds with further ones behind the last, this many in all at least.
pub fn reach(seeds: &mut Vec<u64>, count: usize) {
    let last = seeds.last().copied().unwrap_or_default();
    let further = count.saturating_sub(seeds.len()) as u64;
    seeds.extend((1..=further).map(|step| last.saturating_add(step)));
}

/// A sentence on the number of seeds that a widest interval of this ratio needs; none if it is narrow enough. Fewer seeds than [`LEAST`] are no
/// ground for an estimate.
pub fn required(seeds: usize, ratio: f64) -> Option<String> {
    let all = needed(seeds, ratio);
    match () {
        () if ratio <= 1.0 => None,
        () if seeds < LEAST => {
            Some(format!("{LEAST} seeds at least are needed: allow more time with `--budget`."))
        }
        () if all <= MOST => Some(format!("About {all} seeds are needed.")),
        () => Some(format!(
            "About {all} seeds would be needed, and {MOST} are the most: measure a window {} times as long.",
            all.div_ceil(MOST)
        )),
    }
}

/// The reason for another round, of this many seeds in all.
pub fn why(seeds: usize) -> String {
    format!("some intervals are wider than asked for: {seeds} seeds in the next round, {MOST} at most")
}

/// A requested precision as it is written: `0.1 %`.
pub fn percent(part: f64) -> String {
    // To six decimals a percentage is what it was before its division.
    format!("{} %", libm::round(1e8 * part) / 1e6)
}

/// Seeds for an interval that is to be narrower by this ratio.
fn needed(seeds: usize, ratio: f64) -> usize {
    // A number beyond all seeds saturates.
    libm::ceil(seeds as f64 * ratio * ratio) as usize
}

impl std::fmt::Display for Precision {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let usual = self.usual.map(percent);
        let short = |key: &str| metric(key).map_or("", |metric| metric.short.as_str());
        let named = self.named.iter().map(|(key, part)| format!("{} of {}", percent(*part), short(key)));
        f.write_str(&usual.into_iter().chain(named).collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use crate::scenario::parse;
    use crate::table::Row;

    fn case(numbers: &[f64]) -> Compared {
        let text = "[topology]\nkind = 'dumbbell'\nrate = '5mbit'\n[[flows]]\ncc = 'reno'\n";
        let valid = parse(text).unwrap().cases.remove(0).valid;
        let record = |(seed, number): (u64, &f64)| {
            Record::computed(
                seed,
                0.0,
                vec![Row::new([]).with("queue_mean_packets", *number).with("utilization", 0.9)],
            )
        };
        Compared { name: "a".into(), valid, runs: (1..).zip(numbers).map(record).collect() }
    }

    #[test]
    fn a_precision_is_of_all_metrics_or_of_some_and_anything_else_is_refused() {
        let asked: Precision = "2%,delay=5%,utilization=0.01".parse().unwrap();
        assert_eq!(asked.usual, Some(0.02));
        assert_eq!(asked.named, [("queueing_delay_mean_ms", 0.05), ("utilization", 0.01)]);
        let grouped: Precision = "completion_time_p50_ms=5%".parse().unwrap();
        assert_eq!(grouped.to_string(), "5 % of median completion");
        for (text, why) in [
            ("0%", "0.01%"),
            ("delai=1%", "delai"),
            ("2", "50%"),
            ("2%,3%", "second"),
            ("delay=1%,delay=2%", "two"),
        ] {
            let refused = text.parse::<Precision>().unwrap_err();
            assert!(refused.contains(why), "{text}: {refused}");
        }
    }

    #[test]
    fn seeds_are_added_until_the_interval_is_narrow_enough() {
        let asked: Precision = "2%".parse().unwrap();
        let numbers: Vec<f64> = (0..8).map(|place| if place % 2 == 0 { 95.0 } else { 105.0 }).collect();
        let cases = [case(&numbers)];
        // s = 5.345, t(7) = 2.365: 4.47, that is 2.23 times what is wanted, and five times the seeds, but twice at most.
        assert_eq!(asked.next(&cases, 8), Some(16));
        assert!((asked.widest(&cases).unwrap().ratio - 2.2344).abs() < 1e-3);
        assert_eq!("5%".parse::<Precision>().unwrap().next(&cases, 8), None);
        assert_eq!("5%".parse::<Precision>().unwrap().next(&cases, 3), Some(LEAST));
        let told = asked.told(&cases);
        assert_eq!(
            told,
            "Precision: not within 2 % after 8 seeds. Last: Mean queue of a, ± 4.5 packets. About 40 seeds are needed."
        );
    }

    #[test]
    fn more_seeds_than_can_be_run_are_told_with_a_longer_window_and_few_are_no_ground_for_an_estimate() {
        assert_eq!(required(8, 1.0), None);
        assert_eq!(required(8, 10.0).as_deref(), Some("About 800 seeds are needed."));
        assert_eq!(
            required(8, 66.9).as_deref(),
            Some(
                "About 35805 seeds would be needed, and 1000 are the most: measure a window 36 times as long."
            )
        );
        assert_eq!(
            required(2, 120.0).as_deref(),
            Some("8 seeds at least are needed: allow more time with `--budget`.")
        );
    }

    #[test]
    fn equal_numbers_of_all_seeds_are_no_precision() {
        let told = "2%".parse::<Precision>().unwrap().told(&[case(&[10.0; 8])]);
        assert_eq!(told, "Precision: 2 % could not be judged, as all seeds gave the same numbers.");
    }

    #[test]
    fn a_precision_is_told_as_it_is_written() {
        for text in ["0.1", "0.01", "5", "0.7", "2.25", "33.3333"] {
            let asked: Precision = format!("{text}%").parse().unwrap();
            assert_eq!(asked.to_string(), format!("{text} %"));
        }
    }

    #[test]
    fn a_metric_of_groups_is_judged_of_each_group() {
        let mut case = case(&[10.0, 10.1, 9.9, 10.0]);
        let group = case.valid.groups()[0].name.clone();
        for (run, time) in case.runs.iter_mut().zip([80.0, 120.0, 100.0, 100.0]) {
            run.rows.push(Row::new([("group", group.clone())]).with("completion_time_p50_ms", time));
        }
        let widest = |asked: &str| asked.parse::<Precision>().unwrap().widest(&[case.clone()]);
        let found = widest("completion_time_p50_ms=5%").unwrap();
        assert_eq!(
            (found.case, found.metric.key.as_str()),
            (format!("{group} of a"), "completion_time_p50_ms")
        );
        // s = 16.3, t(3) = 3.182: 26.0 of 5.
        assert!((found.ratio - 5.196).abs() < 1e-3, "{}", found.ratio);
        assert_eq!(widest("rtt_mean_ms=5%"), None);
        assert_eq!(widest("2%").unwrap().case, "a");
    }

    /// The rule itself on a normal quantity, as in docs/precision.md.
    #[test]
    fn ninety_three_to_ninety_seven_of_a_hundred_intervals_hold_the_mean_whatever_stopped_them() {
        for (place, spread) in [0.02, 0.05, 0.1].into_iter().enumerate() {
            let mut rng = Rng::stream(1, "precision", place as u64);
            let (mut held, tries) = (0, 2000);
            for _ in 0..tries {
                let mut numbers: Vec<f64> = Vec::new();
                let estimate = loop {
                    let estimate = Estimate::of(&numbers);
                    let ratio =
                        estimate.half_width.map_or(f64::INFINITY, |half| half / (0.02 * estimate.mean.abs()));
                    let seeds = numbers.len();
                    let Some(next) = next(seeds, ratio) else { break estimate };
                    let normal = |draws: &mut Rng| libm::log(draws.lognormal(libm::exp(0.5), 1.0));
                    numbers.extend((seeds..next).map(|_| 1.0 + spread * normal(&mut rng)));
                };
                let (low, high) = estimate.interval();
                held += u32::from(low <= 1.0 && 1.0 <= high);
            }
            let held = f64::from(held) / f64::from(tries);
            assert!((0.925..=0.97).contains(&held), "{spread}: {held}");
        }
    }
}

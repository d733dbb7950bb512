// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Sizes by their distribution function, as simulators of data centres have them (HPCC's traffic generator, SIGCOMM 2019).
//!
//! ```text
//! 0 0            a size in bytes, and the percentage of transfers that are at most as large
//! 8000 20        between two lines the size is proportional
//! 20000000 100
//! ```
//!
//! Blank lines and those that begin with `#` are harmless. The mean is Σ (xᵢ + xᵢ₊₁)/2 · (pᵢ₊₁ − pᵢ).

use std::fmt;
use std::sync::Arc;

use super::sample::{SIZES, Sample};
use crate::rng::Rng;
use crate::settings::{Raw, Setting};
use crate::units::Bytes;

/// More points than any measurement has.
const MOST: usize = 100_000;

/// A distribution function: sizes in bytes with the fraction of transfers that are at most as large, both increasing to 1.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub struct Distribution(Arc<[(f64, f64)]>);

impl Distribution {
    /// Points as text, a line for each; none if the text is something else.
    fn read(text: &str) -> Option<Result<Distribution, String>> {
        let content = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines = (1..).zip(content.lines().map(str::trim));
        let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).peekable();
        lines.peek().and_then(|(_, line)| point(line))?;
        let read = |(number, line): (usize, &str)| {
            point(line)
                .ok_or_else(|| format!("line {number}: `{}` is not a size and a percentage", shown(line)))
        };
        Some(lines.map(read).collect::<Result<Vec<_>, _>>().and_then(Distribution::of))
    }

    fn of(points: Vec<(f64, f64)>) -> Result<Distribution, String> {
        let ends = (points.first().map(|point| point.1), points.last().map(|point| point.1));
        if points.len() > MOST {
            return Err(format!("a distribution of more than {MOST} points: leave some out"));
        }
        if points.len() < 2 || ends != (Some(0.0), Some(1.0)) {
            return Err(
                "a distribution function begins at 0 % and ends at 100 %, as in `0 0` and `20000 100`".into(),
            );
        }
        let falls = |two: &[(f64, f64)]| two[0].0 > two[1].0 || two[0].1 > two[1].1;
        if let Some(place) = points.windows(2).position(falls) {
            return Err(format!("point {} of the distribution function is below the one before", place + 2));
        }
        let greatest = points.last().map_or(0.0, |point| point.0);
        if points[0].0 < 0.0 || greatest < 1.0 || greatest > SIZES.end().0 as f64 {
            return Err(format!(
                "its greatest size is outside the allowed range, {}",
                Bytes::describe(&SIZES)
            ));
        }
        Ok(Distribution(points.into()))
    }

    /// The size that a fraction of transfers does not exceed.
    fn quantile(&self, fraction: f64) -> f64 {
        let place = self.0.partition_point(|(_, share)| *share < fraction).clamp(1, self.0.len() - 1);
        let [(low, below), (high, above)] = [self.0[place - 1], self.0[place]];
        let part = if above > below { (fraction - below) / (above - below) } else { 1.0 };
        low + part * (high - low)
    }

    fn mean(&self) -> f64 {
        let part = |two: &[(f64, f64)]| (two[0].0 + two[1].0) / 2.0 * (two[1].1 - two[0].1);
        self.0.windows(2).map(part).sum()
    }
}

/// A size and a fraction, which is written in percent.
fn point(line: &str) -> Option<(f64, f64)> {
    let mut words = line.split_whitespace();
    let (size, percent) = (words.next()?, words.next()?);
    let number = |text: &str| text.parse().ok().filter(|number: &f64| number.is_finite());
    let size = number(size).or_else(|| Some(size.parse::<Bytes>().ok()?.0 as f64))?;
    let percent = number(percent.strip_suffix('%').unwrap_or(percent))?;
    words.next().is_none().then_some((size, percent / 100.0))
}

fn shown(line: &str) -> String {
    line.chars().take(40).collect()
}

/// Observed sizes of transfers.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub enum Observed {
    /// A list, each with the same probability.
    Listed(Sample),
    /// A distribution function.
    Distributed(Distribution),
}

impl Observed {
    /// One size, in bytes.
    pub(super) fn draw(&self, rng: &mut Rng) -> u64 {
        match self {
            Observed::Listed(sample) => {
                let sizes = sample.values();
                sizes[rng.below(sizes.len() as u64) as usize].0
            }
            Observed::Distributed(function) => function.quantile(rng.uniform()).ceil() as u64,
        }
    }

    /// Their mean, in bytes.
    pub(super) fn mean(&self) -> f64 {
        match self {
            Observed::Listed(sample) => {
                let sizes = sample.values();
                sizes.iter().map(|size| size.0 as f64).sum::<f64>() / sizes.len() as f64
            }
            Observed::Distributed(function) => function.mean(),
        }
    }
}

impl fmt::Display for Observed {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Observed::Listed(sample) => sample.fmt(f),
            Observed::Distributed(Distribution(points)) => {
                let point = |(size, share): &(f64, f64)| format!("{size} {}%", 100.0 * share);
                write!(f, "[{}]", points.iter().map(point).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

impl Setting for Observed {
    const KIND: &'static str = "list of sizes, or their distribution function";
    const JSON: &'static [&'static str] = &["string", "array"];

    fn read(raw: &Raw) -> Result<Observed, String> {
        let text = match raw {
            Raw::Text(text) => text.clone(),
            Raw::List(points) => {
                let line =
                    |point: &Raw| if let Raw::Text(text) = point { text.clone() } else { point.to_string() };
                points.iter().map(line).collect::<Vec<_>>().join("\n")
            }
            other => other.to_string(),
        };
        match Distribution::read(&text) {
            Some(function) => function.map(Observed::Distributed),
            None => Sample::read(raw).map(Observed::Listed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four in ten are below 1 kB, the rest between 1 and 3 kB.
    const TEXT: &str = "# bytes percent\n0 0\n1000 40\n3000 100\n\n";

    fn read(text: &str) -> Result<Observed, String> {
        Observed::read(&Raw::Text(text.into()))
    }

    #[test]
    fn sizes_are_proportional_between_two_points_and_have_the_mean_of_the_function() {
        let observed = read(TEXT).unwrap();
        let Observed::Distributed(function) = &observed else { panic!("{observed}") };
        for (share, size) in [(0.0, 0.0), (0.2, 500.0), (0.4, 1000.0), (0.7, 2000.0), (1.0, 3000.0)] {
            assert!((function.quantile(share) - size).abs() < 1e-9, "{share}: {}", function.quantile(share));
        }
        assert_eq!(observed.mean(), 0.4 * 500.0 + 0.6 * 2000.0);
        let mut rng = Rng::stream(1, "distribution", 0);
        let drawn: Vec<u64> = (0..100_000).map(|_| observed.draw(&mut rng)).collect();
        let mean = drawn.iter().sum::<u64>() as f64 / drawn.len() as f64;
        assert!((mean / 1400.0 - 1.0).abs() < 0.01, "{mean}");
        let small = drawn.iter().filter(|size| **size <= 1000).count();
        assert!(small.abs_diff(40_000) < 500, "{small}");
    }

    #[test]
    fn a_function_is_read_as_it_is_printed_and_a_list_of_sizes_stays_one() {
        let observed = read(TEXT).unwrap();
        let points = ["0 0%", "1000 40%", "3kb 100%"].map(|point| Raw::Text(point.into()));
        assert_eq!(Observed::read(&Raw::List(points.to_vec())).as_ref(), Ok(&observed));
        assert_eq!(observed.to_string(), "[0 0%, 1000 40%, 3000 100%]");
        assert!(matches!(read("size_kb\n1\n2\n"), Ok(Observed::Listed(_))));
        assert_eq!(read("5kb").unwrap().mean(), 5000.0);
    }

    #[test]
    fn what_is_no_distribution_function_is_refused() {
        for (text, wrong) in [
            ("0 0\n1000 40\n", "begins at 0 % and ends at 100 %"),
            ("0 10\n1000 100\n", "begins at 0 %"),
            ("0 0\n2000 60\n1000 100\n", "point 3"),
            ("0 0\n1000 60\n2000 50\n3000 100\n", "point 3"),
            ("0 0\nmuch 50\n1000 100\n", "line 2: `much 50`"),
            ("0 0\n2e12 100\n", "greatest size"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(wrong), "{text:?}: {error}");
        }
    }
}

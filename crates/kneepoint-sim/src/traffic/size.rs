// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Distributions of sizes and times.
//!
//! ```text
//! constant      X = m
//! exponential   P(X > x) = exp(−x/m)
//! pareto        P(X > x) = (s/x)^k, x ≥ s, s = m (k − 1)/k
//! lomax         P(X > x) = (1 + x/s)^−k, s = m (k − 1)
//! lognormal     X = exp(μ + σ Z), Z normal, σ = shape, μ = ln m − σ²/2
//! ```
//!
//! Each has the mean m. A shape k below 2 gives Pareto's laws an infinite variance. An empirical distribution of sizes is a
//! list of them, each with the same probability, or a distribution function (`distribution.rs`).

use super::distribution::Observed;
use super::sample::SIZES;
use crate::rng::Rng;
use crate::settings::{Auto, FilePath, Inline, Or};
use crate::units::{Bytes, Span};

crate::choice! {
    /// A distribution, apart from its mean.
    pub enum Law {
        /// The mean itself, always.
        Constant = "constant",
        /// Exponential.
        Exponential = "exponential",
        /// Pareto, from a least value on.
        Pareto = "pareto",
        /// Pareto of the second kind, from zero on.
        Lomax = "lomax",
        /// Log-normal: the logarithm is normal, with `shape` as its standard deviation.
        LogNormal = "lognormal",
    }
}

impl Law {
    /// A value with this mean.
    pub fn draw(self, mean: f64, shape: f64, rng: &mut Rng) -> f64 {
        match self {
            Law::Constant => mean,
            Law::Exponential => rng.exponential(mean),
            Law::Pareto => rng.pareto(mean, shape),
            Law::Lomax => rng.lomax(mean, shape),
            Law::LogNormal => rng.lognormal(mean, shape),
        }
    }

    /// A time with this mean.
    pub fn span(self, mean: Span, shape: f64, rng: &mut Rng) -> Span {
        if self == Law::Constant {
            mean
        } else {
            Span::from_secs_f64(self.draw(mean.as_secs_f64(), shape, rng))
        }
    }

    /// Whether the law has a mean with this shape.
    pub fn takes(self, shape: f64) -> bool {
        shape > 1.0 || !matches!(self, Law::Pareto | Law::Lomax)
    }
}

crate::settings! {
    /// Sizes of transfers.
    pub struct Size {
        /// Mean size before clamping.
        size: Bytes = Bytes(12_000), SIZES;
        /// The distribution of sizes.
        law: Law = Law::Constant;
        /// Shape of a Pareto law, above 1, or standard deviation of a log-normal law's logarithm.
        shape: f64 = 1.2, 0.01..=100.0;
        /// Smallest size.
        least: Bytes = Bytes(1), SIZES;
        /// Greatest size.
        greatest: Bytes = Bytes(1_000_000_000), SIZES;
        /// Sizes to draw from: a list or the text of a CSV file, all equally likely, or a distribution function as `["0 0%", "8kb 20%",
        /// "20mb 100%"]`; `auto` draws from the law.
        sizes: Or<Observed, Auto> = Or::WORD;
        /// The file to take them from: CSV with a column `size_bytes`, `size_kb` or `size_mb`, or lines of a size in bytes and the
        /// percentage of transfers that are at most as large.
        sizes_file: Or<FilePath, Inline> = Or::WORD;
    } check |size| {
        if size.least > size.greatest {
            return Err(format!(
                "least, {}, is above greatest, {}: lower the one or raise the other",
                size.least, size.greatest
            ));
        }
        if !size.law.takes(size.shape) {
            return Err(format!("shape, {}, gives a {} law no mean: let it be above 1", size.shape, size.law));
        }
        Ok(())
    }
}

impl Size {
    /// A size: at least a byte, rounded up, clamped.
    pub fn draw(&self, rng: &mut Rng) -> Bytes {
        let size = match self.sizes.get() {
            Some(observed) => observed.draw(rng),
            None => self.law.draw(self.size.0 as f64, self.shape, rng).ceil() as u64,
        };
        Bytes(size.clamp(self.least.0, self.greatest.0))
    }

    /// The mean in bytes before clamping.
    pub fn mean(&self) -> f64 {
        match self.sizes.get() {
            Some(observed) => observed.mean(),
            None => self.size.0 as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Raw, Settings};

    #[test]
    fn every_law_has_its_mean() {
        let mut rng = Rng::stream(1, "law", 0);
        for &law in Law::ALL {
            let shape = if law == Law::LogNormal { 1.0 } else { 2.5 };
            let mean = (0..400_000).map(|_| law.draw(5.0, shape, &mut rng)).sum::<f64>() / 400_000.0;
            assert!((mean / 5.0 - 1.0).abs() < 0.02, "{law}: {mean}");
        }
    }

    #[test]
    fn a_sample_gives_each_of_its_sizes_equally_often() {
        let mut size = Size { greatest: Bytes(5_000), ..Size::default() };
        let csv = Raw::Text("size_kb\n1\n2\n2\n9\n".into());
        assert_eq!(size.set("sizes", &csv), Ok(()));
        assert_eq!((size.mean(), size.get("sizes").as_deref()), (3_500.0, Some("[1kb, 2kb, 2kb, 9kb]")));
        let mut rng = Rng::stream(1, "law", 0);
        let mut counts = [0_u32; 6];
        (0..40_000).for_each(|_| counts[size.draw(&mut rng).0 as usize / 1000] += 1);
        assert!([10_000, 20_000, 10_000].iter().zip([1, 2, 5]).all(|(n, at)| counts[at].abs_diff(*n) < 400));
        assert!(size.set("sizes", &Raw::List(vec![Raw::Text("0b".into())])).is_err());
    }

    #[test]
    fn a_size_is_clamped_and_whole() {
        let size = Size { law: Law::Pareto, least: Bytes(6_000), greatest: Bytes(50_000), ..Size::default() };
        let mut rng = Rng::stream(1, "law", 0);
        assert!(
            (0..1000).map(|_| size.draw(&mut rng)).all(|one| (Bytes(6_000)..=Bytes(50_000)).contains(&one))
        );
        assert_eq!(Size::default().draw(&mut rng), Bytes(12_000));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One seed, many named and independent random streams.
//!
//! A stream is named by its purpose (`"start", flow 7`), so that further draws for one flow, or another flow, change
//! no other stream: schemes are compared under common random numbers. The generator is xoshiro256++ (Blackman and
//! Vigna 2019); logarithms and powers come from `libm`, so that a draw is the same on every platform.

use rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of random numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// The stream called `name`, number `index`, of the run seeded with `seed`.
    pub fn stream(seed: u64, name: &str, index: u64) -> Rng {
        let hash = |state: u64, word: u64| mix(state ^ mix(word));
        let named = name.bytes().fold(mix(seed), |state, byte| hash(state, u64::from(byte)));
        Rng(Xoshiro256PlusPlus::seed_from_u64(hash(named, index)))
    }

    /// A stream whose first uniform number is `draw`, in [0, 1), to 53 bits: for the replay of a draw.
    pub fn drawing(draw: f64) -> Rng {
        let first = ((draw * (1u64 << 53) as f64) as u64) << 11;
        // A number of the generator is the first word of its state, plus the sum of the first and the last rotated left
        // by 23.
        let words: [u64; 4] = [1, 0, 0, first.wrapping_sub(1).rotate_right(23).wrapping_sub(1)];
        let mut state = [0; 32];
        for (bytes, word) in state.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        Rng(Xoshiro256PlusPlus::from_seed(state))
    }

    /// Uniform on [0, 1).
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// True with probability `p`.
    #[inline]
    pub fn chance(&mut self, p: f64) -> bool {
        self.uniform() < p
    }

    /// Uniform on [from, to).
    pub fn between(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * self.uniform()
    }

    /// A whole number below `n`, each as likely up to 2^-64 · n.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// One of `choices`, with equal probability.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// Exponential with this mean: F⁻¹(u) = −mean · ln(1 − u).
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.uniform())
    }

    /// Pareto with this mean and shape k > 1: least value s = mean (k − 1)/k, F⁻¹(u) = s (1 − u)^(−1/k).
    pub fn pareto(&mut self, mean: f64, shape: f64) -> f64 {
        mean * (shape - 1.0) / shape * libm::pow(1.0 - self.uniform(), -1.0 / shape)
    }

    /// Pareto of the second kind (Lomax): scale s = mean (k − 1), F⁻¹(u) = s ((1 − u)^(−1/k) − 1).
    pub fn lomax(&mut self, mean: f64, shape: f64) -> f64 {
        mean * (shape - 1.0) * (libm::pow(1.0 - self.uniform(), -1.0 / shape) - 1.0)
    }

    /// Log-normal with this mean, σ the standard deviation of the logarithm: exp(ln mean − σ²/2 + σ Z), where
    /// Z = √(−2 ln(1 − u₁)) cos 2πu₂ is normal (Box and Muller 1958).
    pub fn lognormal(&mut self, mean: f64, sigma: f64) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.uniform()));
        let normal = radius * libm::cos(core::f64::consts::TAU * self.uniform());
        mean * libm::exp(sigma * (normal - 0.5 * sigma))
    }
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(draws: usize, mut draw: impl FnMut() -> f64) -> f64 {
        (0..draws).map(|_| draw()).sum::<f64>() / draws as f64
    }

    #[test]
    fn streams_are_reproducible_and_differ_by_seed_name_and_index() {
        let first = |seed, name, index| Rng::stream(seed, name, index).uniform();
        assert_eq!(first(1, "start", 0), first(1, "start", 0));
        let all = [first(1, "start", 0), first(2, "start", 0), first(1, "stop", 0), first(1, "start", 1)];
        for (i, a) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|b| a != b));
        }
    }

    #[test]
    fn a_draw_can_be_given() {
        for draw in [0.0, 0.25, 0.7, 1.0_f64.next_down()] {
            assert!((Rng::drawing(draw).uniform() - draw).abs() < 1e-15, "{draw}");
        }
    }

    #[test]
    fn distributions_have_the_means_they_promise() {
        let mut rng = Rng::stream(7, "means", 0);
        assert!((mean(200_000, || rng.uniform()) - 0.5).abs() < 0.005);
        assert!((mean(200_000, || rng.exponential(3.0)) - 3.0).abs() < 0.05);
        assert!((mean(200_000, || rng.pareto(3.0, 2.5)) - 3.0).abs() < 0.1);
        assert!((mean(200_000, || rng.lomax(3.0, 2.5)) - 3.0).abs() < 0.1);
        assert!((mean(200_000, || rng.below(10) as f64) - 4.5).abs() < 0.05);
        assert!((mean(400_000, || rng.lognormal(3.0, 1.0)) - 3.0).abs() < 0.05);
    }
}

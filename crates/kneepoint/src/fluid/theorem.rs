// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The published conditions for stability, as formulas.
//!
//! S. Bhandarkar, A. L. N. Reddy, Y. Zhang, D. Loguinov, "Emulating AQM from End Hosts", SIGCOMM 2007, §§5.2, 5.4, 6;
//! after C. Hollot, V. Misra, D. Towsley, W. Gong, INFOCOM 2001.
//!
//! ```text
//! L = pmax / (Tmax - Tmin),  K = ln α / δ                                            (10)
//! L R³ C² / (2N)² <= sqrt(wg² / K² + 1)                       Theorem 1              (11)
//! wg = 0.1 min(2N / (R² C), 1 / R)                                                   (12)
//! δ >= -ln α / (4 N² wg) · sqrt(L² R⁶ C⁴ - 16 N⁴)                                    (13)
//! L σ² R³ <= 4 sqrt(0.04 / (σ² K² R⁴) + 1),  σ = C / N        (11) with W* >= 2      (15)
//! m = 2N / (R² C),  K = m |j R m + 1| / (R³ C² / (2N)²)       Theorem 2              (21)
//! ```
//!
//! `C` packets/s, `R` the largest round-trip time, s, `N` the fewest flows, `L` 1/s, `δ` s.
//!
//! Readings and departures:
//! * (15) is printed with R where the substitution into (11) gives R³.
//! * The paper has a decrease of 1/2. Another decrease f multiplies the left side of (11), and divides K in (21), by 2f.
//! * TCP with RED has the same condition with L = C maxp / (maxth - minth), as the paper remarks.
//! * The theorems are those of Hollot et al. and need their plant, [`plant`], whose queue has a pole at -1/R because
//!   the round-trip time contains the queue. In the paper's models (8) and (14) R is constant and the queue is a pure
//!   integrator: there, systems that satisfy the theorems can be unstable, and [`super::spectrum`] says which.

use num_complex::Complex;

/// The link and the flows of the conditions.
#[derive(Clone, Copy, Debug)]
pub struct Bottleneck {
    /// C, packets per second.
    pub capacity: f64,
    /// N, flows.
    pub flows: f64,
    /// R, seconds.
    pub rtt: f64,
    /// f, the fraction of the window that a response takes off.
    pub decrease: f64,
}

/// (21) makes the two sides of Theorem 2 equal but for rounding.
pub const ROUNDING: f64 = 1.0 + 1e-12;

/// A condition with its two sides.
#[derive(Clone, Debug)]
pub struct Theorem {
    /// Its name.
    pub name: &'static str,
    /// The side that must not be the greater one.
    pub left: f64,
    /// The other.
    pub right: f64,
    /// Further assumptions, and whether they hold.
    pub assumptions: Vec<(String, bool)>,
}

impl Theorem {
    /// Whether the inequality holds, assumptions aside.
    pub fn holds(&self) -> bool {
        self.left / self.right <= ROUNDING
    }
}

impl Bottleneck {
    /// W* = R C / N, packets: equation (9).
    pub fn window(&self) -> f64 {
        self.rtt * self.capacity / self.flows
    }

    /// p* = 1 / (f W*²): equation (9), where f = 1/2.
    pub fn probability(&self) -> f64 {
        1.0 / (self.decrease * self.window() * self.window())
    }

    /// 2N / (R² C), rad/s: the pole of the window.
    pub fn window_pole(&self) -> f64 {
        2.0 / (self.rtt * self.window())
    }

    /// wg, rad/s: equation (12).
    pub fn crossover(&self) -> f64 {
        0.1 * self.window_pole().min(1.0 / self.rtt)
    }

    /// R³ C² / (2N)² for a decrease of 1/2: how far the plant's delay falls at rest for a probability; seconds.
    pub fn gain(&self) -> f64 {
        0.5 * self.decrease * self.rtt * self.window() * self.window()
    }
}

/// Theorem 1, equation (11).
pub fn theorem1(at: Bottleneck, slope: f64, k: f64, pmax: f64) -> Theorem {
    let ratio = at.crossover() / k;
    let needed = at.probability();
    Theorem {
        name: "Theorem 1, (11)",
        left: slope * at.gain(),
        right: (ratio * ratio + 1.0).sqrt(),
        assumptions: vec![(format!("p* = {needed:.4} is at most pmax = {pmax}"), needed <= pmax)],
    }
}

/// The least sampling interval that Theorem 1 allows, equation (13): seconds; zero if any will do.
pub fn least_interval(at: Bottleneck, slope: f64, alpha: f64) -> f64 {
    let left = slope * at.gain();
    -libm::log(alpha) / at.crossover() * (left * left - 1.0).max(0.0).sqrt()
}

/// The two sides of equation (15), with the cube that the print lost.
pub fn scalable(at: Bottleneck, slope: f64, k: f64) -> (f64, f64) {
    let sigma = at.capacity / at.flows;
    let ratio = 0.2 / (sigma * k * at.rtt * at.rtt);
    (slope * sigma * sigma * at.rtt * at.rtt * at.rtt, 4.0 * (ratio * ratio + 1.0).sqrt())
}

/// The gains of Theorem 2, equation (21): K in 1/s per second of delay, m in rad/s.
pub fn pi_gains(at: Bottleneck) -> (f64, f64) {
    let m = at.window_pole();
    let modulus = (at.rtt * at.rtt * m * m + 1.0).sqrt();
    (m * modulus / at.gain(), m)
}

/// Theorem 2 applied to given gains, which may differ from its own.
pub fn theorem2(at: Bottleneck, k: f64, m: f64) -> Theorem {
    let (most, zero) = pi_gains(at);
    let window = at.window();
    Theorem {
        name: "Theorem 2, (21)",
        left: k,
        right: most,
        assumptions: vec![
            (format!("W* = {window:.2} is well above 2, say 10"), window >= 10.0),
            (
                format!("m = {m:.4} rad/s is the window's pole, {zero:.4} rad/s"),
                (m / zero - 1.0).abs() < 1e-6,
            ),
        ],
    }
}

/// The plant of Hollot et al. from probability to queueing delay, at rest of gain R³C²/(2N)² for a decrease of 1/2:
/// e^(-sR) / ((1 + s R²C/(2N)) (1 + s R)), sign taken off.
pub fn plant(at: Bottleneck, s: Complex<f64>) -> Complex<f64> {
    let delay = super::linear::exp(-s * at.rtt);
    delay * at.gain() / ((s / at.window_pole() + 1.0) * (s * at.rtt + 1.0))
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Laws of the throughput at a given loss probability, for comparison with the analysis.
//!
//! ```text
//! square root   B = (1/RTT) √(3 / (2 b p))
//! PFTK          B = ((1−p)/p + w + Q(w)/(1−p)) / (RTT (b/2 w + 1) + Q(w) T0 f(p)/(1−p))              w < W_max
//!               B = ((1−p)/p + W + Q(W)/(1−p)) / (RTT (b/8 W + (1−p)/(p W) + 2) + Q(W) T0 f(p)/(1−p)),  W = W_max, otherwise
//! w     = (2+b)/(3b) + √(8(1−p)/(3bp) + ((2+b)/(3b))²)
//! Q(w)  = min(1, (1−(1−p)³)(1 + (1−p)³(1−(1−p)^(w−3))) / (1−(1−p)^w))
//! f(p)  = 1 + p + 2p² + 4p³ + 8p⁴ + 16p⁵ + 32p⁶
//! approximate PFTK   B = min(W_max/RTT, 1 / (RTT √(2bp/3) + T0 min(1, 3√(3bp/8)) p (1 + 32p²)))
//! ```
//!
//! M. Mathis, J. Semke, J. Mahdavi, T. Ott, CCR 27(3) 1997; J. Padhye, V. Firoiu, D. Towsley, J. Kurose, SIGCOMM 1998. They describe Reno, whose
//! losses are mostly repaired without a timeout, so they are an upper line for OldTahoe. The response functions of the controllers follow as
//! window over round-trip time.

use crate::cc;
use crate::cc::steady::ResponseFunction;

/// The assumptions of a law about the path and the hosts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// The round-trip time with the mean queue, in seconds.
    pub rtt: f64,
    /// T0, the first timeout, in seconds.
    pub timeout: f64,
    /// b, packets for each acknowledgement.
    pub per_ack: f64,
    /// W_max, the most that the receiver allows, in packets.
    pub window: f64,
}

/// A law of the throughput.
#[derive(Clone, Copy, Debug)]
pub struct Law {
    /// Its name.
    pub name: &'static str,
    /// Its publication.
    pub source: &'static str,
    /// Packets per second at a loss probability.
    pub throughput: fn(f64, &Path) -> f64,
}

/// Every law.
pub const LAWS: &[Law] = &[
    Law { name: "square-root", source: "Mathis et al., CCR 27(3) 1997", throughput: square_root },
    Law { name: "pftk", source: "Padhye et al., SIGCOMM 1998, the full model", throughput: pftk },
    Law {
        name: "pftk-approximate",
        source: "Padhye et al., SIGCOMM 1998, the approximate model",
        throughput: pftk_approximate,
    },
];

/// The published response functions of the registered controllers, by name of the controller.
pub fn response_functions() -> impl Iterator<Item = (&'static str, &'static ResponseFunction)> {
    cc::REGISTRY.iter().flat_map(|entry| {
        let laws = cc::Config::named(entry.name).map_or(&[][..], |config| config.steady_state());
        laws.iter().map(|law| (entry.name, law))
    })
}

/// The throughput of a response function, in packets per second.
pub fn of_response_function(law: &ResponseFunction, p: f64, path: &Path) -> f64 {
    (law.window)(p, path.rtt).min(path.window) / path.rtt
}

fn square_root(p: f64, path: &Path) -> f64 {
    libm::sqrt(3.0 / (2.0 * path.per_ack * p)) / path.rtt
}

fn pftk(p: f64, path: &Path) -> f64 {
    let b = path.per_ack;
    let passes = 1.0 - p;
    let offset = (2.0 + b) / (3.0 * b);
    let free = offset + libm::sqrt(8.0 * passes / (3.0 * b * p) + offset * offset);
    let window = free.min(path.window);
    // The probability that a loss at this window is a timeout.
    let cube = passes * passes * passes;
    let reaches = |packets: f64| 1.0 - libm::pow(passes, packets);
    let timeout = ((1.0 - cube) * (1.0 + cube * reaches(window - 3.0)) / reaches(window)).min(1.0);
    let backoff =
        1.0 + p * (1.0 + 2.0 * p * (1.0 + 2.0 * p * (1.0 + 2.0 * p * (1.0 + 2.0 * p * (1.0 + 2.0 * p)))));
    let rounds = if free < path.window {
        b / 2.0 * window + 1.0
    } else {
        b / 8.0 * window + passes / (p * window) + 2.0
    };
    (passes / p + window + timeout / passes) / (path.rtt * rounds + timeout * path.timeout * backoff / passes)
}

fn pftk_approximate(p: f64, path: &Path) -> f64 {
    let b = path.per_ack;
    let timeouts = (3.0 * libm::sqrt(3.0 * b * p / 8.0)).min(1.0) * p * (1.0 + 32.0 * p * p);
    let free = 1.0 / (path.rtt * libm::sqrt(2.0 * b * p / 3.0) + path.timeout * timeouts);
    free.min(path.window / path.rtt)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: Path = Path { rtt: 0.2, timeout: 0.5, per_ack: 1.0, window: f64::INFINITY };

    #[test]
    fn the_laws_are_those_of_the_header() {
        // Worked out term by term for p = 0.01: w = 1 + √(264 + 1), 1 − p³ = 0.029701, f = 1.010204…
        let w: f64 = 1.0 + 265.0_f64.sqrt();
        let q = 0.029_701 * (1.0 + 0.970_299 * (1.0 - libm::pow(0.99, w - 3.0))) / (1.0 - libm::pow(0.99, w));
        let f = 1.0 + 0.01 + 2e-4 + 4e-6 + 8e-8 + 16e-10 + 32e-12;
        let expected = (99.0 + w + q / 0.99) / (0.2 * (0.5 * w + 1.0) + q * 0.5 * f / 0.99);
        assert!((pftk(0.01, &PATH) - expected).abs() < 1e-6, "{}", pftk(0.01, &PATH));
        let q8 = 0.029_701 * (1.0 + 0.970_299 * (1.0 - libm::pow(0.99, 5.0))) / (1.0 - libm::pow(0.99, 8.0));
        let limited = (99.0 + 8.0 + q8 / 0.99) / (0.2 * (1.0 + 99.0 / 8.0 + 2.0) + q8 * 0.5 * f / 0.99);
        assert!((pftk(0.01, &Path { window: 8.0, ..PATH }) - limited).abs() < 1e-6);
        let approximate =
            1.0 / (0.2 * (0.02_f64 / 3.0).sqrt() + 0.5 * 3.0 * (0.03_f64 / 8.0).sqrt() * 0.01 * 1.0032);
        assert!((pftk_approximate(0.01, &PATH) - approximate).abs() < 1e-6);
        assert_eq!(pftk_approximate(0.01, &Path { window: 8.0, ..PATH }), 40.0);
        assert!((square_root(0.01, &PATH) - 150.0_f64.sqrt() / 0.2).abs() < 1e-9);
    }

    #[test]
    fn rare_losses_leave_the_square_root() {
        for law in LAWS {
            let ratio = (law.throughput)(1e-6, &PATH) / square_root(1e-6, &PATH);
            assert!((ratio - 1.0).abs() < 0.06, "{}: {ratio}", law.name);
        }
        // PFTK counts the whole last round: √(2/3p) at first order over windows of which it takes 3/4.
        assert!(response_functions().any(|(name, _)| name == "reno"));
        for (name, law) in response_functions().filter(|(name, _)| *name == "reno") {
            let ratio = of_response_function(law, 1e-4, &PATH) / square_root(1e-4, &PATH);
            assert!((ratio - 1.0).abs() < 0.1, "{name}: {ratio}");
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Lateness: the delay of packets at their arrival, beyond the link's virtual clock.

use kneepoint::metric::{Recorder, Statistic};
use kneepoint::units::Span;

/// A packet later than this, at the 99th percentile, spoils a run.
const USUAL: Span = Span::from_millis(1);
/// A packet later than this, or than a quarter of the round trip where that is more, spoils it, too.
const GREATEST: Span = Span::from_millis(10);

/// The lateness of every packet.
#[derive(Clone, Debug, Default)]
pub struct Lateness(Recorder);

impl Lateness {
    /// A packet was passed on this much after its time.
    #[inline]
    pub fn record(&mut self, late: Span) {
        self.0.record(late);
    }

    /// Its distribution.
    pub fn summary(&self) -> Late {
        let at = |statistic| match self.0.count() {
            0 => Span::ZERO,
            _ => Span::from_secs_f64(self.0.seconds(statistic)),
        };
        Late { p50: at(Statistic::P50), p99: at(Statistic::P99), max: at(Statistic::Max) }
    }
}

/// Statistics of lateness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Late {
    /// The median.
    pub p50: Span,
    /// The 99th percentile.
    pub p99: Span,
    /// The greatest.
    pub max: Span,
}

impl Late {
    /// The reason why a run over a path with this round trip is not credible, if it is not.
    pub fn spoils(&self, rtt: Span) -> Option<String> {
        let greatest = GREATEST.max(Span(rtt.0 / 4));
        if self.p99 > USUAL {
            let p99 = self.p99.as_millis_f64();
            return Some(format!("one packet in a hundred came more than {USUAL} late (p99 {p99:.1} ms)"));
        }
        let max = self.max.as_millis_f64();
        (self.max > greatest).then(|| format!("a packet came {max:.1} ms late, more than {greatest}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_spoiled_by_many_late_packets_or_by_one_very_late() {
        let rtt = Span::from_millis(100);
        let late =
            |p99, max| Late { p50: Span::ZERO, p99: Span::from_micros(p99), max: Span::from_micros(max) };
        assert_eq!(late(1_000, 25_000).spoils(rtt), None);
        assert!(late(1_001, 1_001).spoils(rtt).is_some_and(|why| why.contains("p99 1.0 ms")));
        assert!(late(50, 25_001).spoils(rtt).is_some_and(|why| why.contains("more than 25ms")));
        assert!(late(50, 10_001).spoils(Span::from_millis(4)).is_some());
    }
}

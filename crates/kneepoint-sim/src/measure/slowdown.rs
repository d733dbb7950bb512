// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Slowdown: how much longer a transfer took than it would alone.
//!
//! ```text
//! slowdown = completion time / (Σ delays of the links on the way + size / rate of the slowest of them)
//! ```
//!
//! The reference is an ideal transfer that arrives at once, without a handshake, slow start, headers or other traffic,
//! so
//! that nothing takes less: over the shortest delay and the fastest rate between any two nodes of the group. A link whose capacity
//! varies counts with its nominal rate. A transfer through proxies crosses the ways of all its connections: a proxy forwards data at once.

use crate::link::{LinkSpec, NodeId, Routes};
use crate::units::{Bytes, Rate, Span};

/// A path without other traffic.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Alone {
    delay: Span,
    rate: Option<Rate>,
}

impl Alone {
    /// The best path between any of these pairs of nodes.
    pub(super) fn between(links: &[LinkSpec], routes: &mut Routes, pairs: &[(NodeId, NodeId)]) -> Alone {
        let paths: Vec<Vec<u32>> = pairs.iter().filter_map(|(from, to)| routes.path(*from, *to)).collect();
        let delay = |path: &Vec<u32>| {
            let shortest = |link: &u32| {
                let link = &links[*link as usize];
                link.delay_steps.iter().map(|step| step.value.0).fold(link.delay.0, u64::min)
            };
            Span(path.iter().map(shortest).sum())
        };
        let rate = |path: &Vec<u32>| path.iter().filter_map(|link| links[*link as usize].rate).min();
        Alone {
            delay: paths.iter().map(delay).min().unwrap_or_default(),
            // If one path has no rate at all, the time is unknown.
            rate: paths
                .iter()
                .map(rate)
                .collect::<Option<Vec<_>>>()
                .and_then(|rates| rates.into_iter().max()),
        }
    }

    /// This path followed by another.
    pub(super) fn then(self, next: Alone) -> Alone {
        Alone { delay: self.delay + next.delay, rate: [self.rate, next.rate].into_iter().flatten().min() }
    }

    /// The slowdown of a transfer in thousandths; none where it would take no time.
    pub(super) fn slowdown(&self, took: Span, size: Bytes) -> Option<u64> {
        let alone = self.delay.0 + self.rate?.time_for(size).0;
        (u128::from(took.0) * 1000).checked_div(u128::from(alone)).map(|thousandths| thousandths as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_over_a_delay_and_the_slowest_of_two_rates_is_compared_with_both() {
        let node = |place| NodeId(place);
        let link = |from, to, mbit, millis| LinkSpec {
            rate: Some(Rate::from_mbit(mbit)),
            delay: Span::from_millis(millis),
            ..LinkSpec::new(node(from), node(to))
        };
        let links = vec![link(0, 1, 100, 1), link(1, 2, 10, 4)];
        let network = crate::link::Network { nodes: vec![String::new(); 3], links: links.clone() };
        let alone = Alone::between(&links, &mut Routes::new(&network), &[(node(0), node(2))]);
        // 5 ms and 12 500 bytes at 10 Mbit/s, 10 ms: 15 ms.
        assert_eq!(alone.slowdown(Span::from_millis(45), Bytes(12_500)), Some(3000));
        // A proxy behind the first link changes nothing.
        let way = |from, to, routes: &mut Routes| Alone::between(&links, routes, &[(node(from), node(to))]);
        let mut routes = Routes::new(&network);
        let split = way(0, 1, &mut routes).then(way(1, 2, &mut routes));
        assert_eq!(split.slowdown(Span::from_millis(45), Bytes(12_500)), Some(3000));
        assert_eq!(Alone::default().slowdown(Span::from_millis(45), Bytes(1)), None);
    }
}

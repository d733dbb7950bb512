// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reordering: the extent to which packets of a group arrive out of order.
//!
//! A. Morton, L. Ciavattone, G. Ramachandran, S. Shalunov, J. Perser, "Packet Reordering Metrics", RFC 4737, 2006.
//!
//! ```text
//! reordered     a packet that arrives behind one that its sender sent later (§3)
//! extent        arrivals since the first of those, itself included (§4.2)
//! late time     the time since that arrival (§4.3)
//! n-reordered   the n arrivals before it were all sent later; from three on TCP takes it for lost (§5.3)
//! ```
//!
//! A second copy of a packet does not count. Per flow the last 256 arrivals are remembered, so an extent is at most that.

use std::collections::{BTreeMap, VecDeque};

use crate::metric::Recorder;
use crate::units::Time;

/// Arrivals that are remembered.
const REMEMBERED: usize = 256;
/// Duplicate acknowledgements that mean a loss.
const DUPLICATES: usize = 3;

/// The order of a group's packets.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    flows: BTreeMap<u32, Arrivals>,
    packets: u64,
    reordered: u64,
    /// Gaps that cause three duplicate acknowledgements.
    far: u64,
    /// In thousandths of a packet.
    pub(super) extent: Recorder,
    pub(super) late: Recorder,
}

/// The arrivals of a flow slot.
#[derive(Clone, Debug, Default)]
struct Arrivals {
    /// The greatest number.
    newest: Option<u32>,
    /// The numbers of the packets that arrived last, and when.
    last: VecDeque<(u32, Time)>,
}

impl Arrivals {
    fn remember(&mut self, number: u32, at: Time) {
        if self.last.len() == REMEMBERED {
            self.last.pop_front();
        }
        self.last.push_back((number, at));
    }
}

/// Whether a number was assigned after another; numbers start over after the last.
fn later(number: u32, than: u32) -> bool {
    (number.wrapping_sub(than) as i32) > 0
}

impl Order {
    /// The packet of this number arrives.
    pub(super) fn arrives(&mut self, flow: u32, number: u32, at: Time) {
        let arrivals = self.flows.entry(flow).or_default();
        // Nearly all packets are newer than all before, and need no search.
        if arrivals.newest.is_none_or(|newest| later(number, newest)) {
            arrivals.newest = Some(number);
            self.packets += 1;
            return arrivals.remember(number, at);
        }
        let arrived = &arrivals.last;
        if arrived.iter().rev().any(|(other, _)| *other == number) {
            return;
        }
        self.packets += 1;
        if let Some(first) = arrived.iter().position(|(other, _)| later(*other, number)) {
            self.reordered += 1;
            self.extent.add(1000 * (arrived.len() - first) as u64);
            self.late.record(at.since(arrived[first].1));
            let before = arrived.iter().rev().take_while(|(other, _)| later(*other, number));
            self.far += u64::from(before.count() >= DUPLICATES);
        }
        arrivals.remember(number, at);
    }

    /// The fraction of its packets that were reordered.
    pub(super) fn ratio(&self) -> f64 {
        self.reordered as f64 / self.packets as f64
    }

    /// The fraction of its packets that were 3-reordered.
    pub(super) fn far_ratio(&self) -> f64 {
        self.far as f64 / self.packets as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::Statistic;
    use crate::units::Span;

    /// The fate of packets that arrive in this order, each at its time in milliseconds.
    fn order(arrivals: &[(u32, u64)]) -> Order {
        let mut order = Order::default();
        for (number, millis) in arrivals {
            order.arrives(7, *number, Span::from_millis(*millis).after_start());
        }
        order
    }

    #[test]
    fn the_example_of_rfc_4737_with_packet_4_reordered_has_an_extent_of_4_and_is_62_ms_late() {
        // Table 1: sent every 20 ms, and 68 ms in flight, except for the fourth, which takes 150 ms.
        let sent = [1, 2, 3, 5, 6, 7, 8, 4, 9, 10];
        let taken = |number: u32| u64::from(number - 1) * 20 + if number == 4 { 150 } else { 68 };
        let order = order(&sent.map(|number| (number, taken(number))));
        assert_eq!((order.packets, order.reordered, order.far), (10, 1, 1));
        assert_eq!((order.extent.value(Statistic::Mean), order.late.value(Statistic::Mean)), (4000.0, 62e6));
        assert_eq!((order.ratio(), order.far_ratio()), (0.1, 0.1));
    }

    #[test]
    fn two_packets_behind_one_have_extents_of_1_and_2_and_one_behind_another_is_not_n_reordered() {
        // Table 2: packets 5 and 6.
        let arrivals = [1, 2, 3, 4, 7, 5, 6, 8, 9, 10].map(|number| (number, 0));
        let two = order(&arrivals);
        assert_eq!((two.reordered, two.far, two.extent.value(Statistic::Mean)), (2, 0, 1500.0));
        // Table 3: packets 4, 5 and 6 behind four; only the first of them is followed by three duplicates.
        let far = [1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11].map(|number| (number, 0));
        let three = order(&far);
        assert_eq!((three.reordered, three.far, three.extent.value(Statistic::Mean)), (3, 1, 5000.0));
    }

    #[test]
    fn what_is_newer_than_all_before_needs_no_search_and_counts_as_by_one() {
        let mut rng = crate::rng::Rng::stream(1, "order", 0);
        let mut searched: VecDeque<u32> = VecDeque::new();
        let (mut order, mut packets, mut reordered) = (Order::default(), 0, 0);
        for step in 0..20_000_u32 {
            // Some packets come late or twice, and a few behind more than are remembered.
            let farthest = if rng.chance(0.1) { 600 } else { 8 };
            let back = if rng.chance(0.1) { rng.below(farthest) as u32 } else { 0 };
            let number = (2 * step).wrapping_sub(back).wrapping_sub(10_000);
            order.arrives(1, number, Time(u64::from(step)));
            if !searched.contains(&number) {
                packets += 1;
                reordered += u64::from(searched.iter().any(|other| later(*other, number)));
                searched.push_back(number);
                if searched.len() > REMEMBERED {
                    searched.pop_front();
                }
            }
        }
        assert_eq!((order.packets, order.reordered), (packets, reordered));
        assert!(reordered > 500, "{reordered}");
    }

    #[test]
    fn order_lasts_when_numbers_begin_again_and_copies_do_not_count() {
        let last = u32::MAX;
        let order = order(&[(last - 1, 0), (last, 0), (0, 0), (0, 0), (last, 0), (1, 0)]);
        assert_eq!((order.packets, order.reordered), (4, 0));
    }
}

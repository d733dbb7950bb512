// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How flows share links: each has the demand of its window and its source, or, where a link cannot carry all demands,
//! the same share as every other flow that demands more.
//!
//! ```text
//! share of a link   s with Σ min(asked, s) = rate; without a bound where Σ asked is less
//! ```

use super::load::delay;
use super::stream::Stream;
use crate::link::LinkSpec;

/// A stream of transfers at its bottleneck.
pub(super) struct Shared<'a> {
    pub(super) stream: &'a Stream,
    /// Packets that one has outstanding at most.
    pub(super) window: f64,
    /// The link that holds it back, and which part of the flows held back there is the stream's.
    pub(super) bottleneck: Option<(usize, f64)>,
    /// Bits in a second of each flow.
    pub(super) bits: f64,
}

/// The demand of each flow of a stream.
#[derive(Clone, Copy)]
struct Asking<'a> {
    stream: &'a Stream,
    window: f64,
    bits: f64,
}

/// All streams of transfers. The bottleneck of a flow is the link of its path with the least share. `rates`
/// is the capacity of each link without datagrams.
pub(super) fn of<'a>(links: &[LinkSpec], streams: &'a [Stream], rates: &[f64]) -> Vec<Shared<'a>> {
    let all: Vec<Asking> = streams.iter().filter_map(|stream| Asking::of(links, stream)).collect();
    let crossing = shares(rates, all.iter().flat_map(|one| one.path().map(move |link| (link, one))));
    let narrowest = |asking: &Asking| {
        let rated = asking.path().filter(|link| links[*link].rate.is_some());
        rated.min_by(|one, other| crossing[*one].total_cmp(&crossing[*other]))
    };
    let places: Vec<Option<usize>> = all.iter().map(narrowest).collect();
    // At a bottleneck, flows limited elsewhere leave the rest of their share to the others.
    let share = shares(rates, places.iter().zip(&all).filter_map(|(place, one)| Some(((*place)?, one))));
    let holds = |one: &Asking, place: Option<usize>| place.filter(|place| one.bits >= share[*place]);
    let mut held = vec![0.0; links.len()];
    for (one, place) in all.iter().zip(&places) {
        holds(one, *place).iter().for_each(|place| held[*place] += one.stream.flows);
    }
    let shared = |(one, place): (&Asking<'a>, &Option<usize>)| Shared {
        stream: one.stream,
        window: one.window,
        bottleneck: holds(one, *place).map(|place| (place, one.stream.flows / held[place])),
        bits: place.map_or(one.bits, |place| one.bits.min(share[place])),
    };
    all.iter().zip(&places).map(shared).collect()
}

impl<'a> Asking<'a> {
    fn of(links: &[LinkSpec], stream: &'a Stream) -> Option<Asking<'a>> {
        let window = stream.window()?;
        let round = (delay(links, &stream.forward) + delay(links, &stream.backward)).max(1e-9);
        Some(Asking { stream, window, bits: stream.demand.min(8.0 * stream.packet * window / round) })
    }

    fn path(self) -> impl Iterator<Item = usize> + 'a {
        self.stream.forward.iter().map(|link| *link as usize)
    }
}

/// The share of each link among the flows that cross it.
fn shares<'a>(rates: &[f64], crossing: impl Iterator<Item = (usize, &'a Asking<'a>)>) -> Vec<f64> {
    let mut asked = vec![Vec::new(); rates.len()];
    crossing.for_each(|(link, one)| asked[link].push((one.bits, one.stream.flows)));
    rates.iter().zip(asked).map(|(rate, asked)| share(*rate, asked)).collect()
}

/// The part of each flow's demand that a rate does not satisfy: `asked` has each demand, and the number of flows with it.
fn share(rate: f64, mut asked: Vec<(f64, f64)>) -> f64 {
    asked.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (mut left, mut flows) = (rate, asked.iter().map(|(_, flows)| flows).sum::<f64>());
    for (each, count) in asked {
        if each * flows >= left {
            return left / flows;
        }
        left -= each * count;
        flows -= count;
    }
    f64::INFINITY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_ask_for_less_leave_the_rest_to_the_others() {
        assert_eq!(share(12.0, vec![(1.0, 2.0), (50.0, 2.0)]), 5.0);
        assert_eq!(share(12.0, vec![(50.0, 3.0)]), 4.0);
        assert_eq!(share(12.0, vec![(4.0, 1.0), (1.0, 3.0)]), f64::INFINITY);
    }
}

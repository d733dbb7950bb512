// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The links that datagrams cross without being held: links with ends known at the time of sending, up to the receiver.
//!
//! The network takes a packet through a link that one other feeds, and to a receiver whose answers have their own link, ahead of
//! its time. A datagram is then gone; of a transfer, the acknowledgement is on its way instead.

use super::load::computed;
use super::stream::Stream;
use crate::link::LinkSpec;

/// The senders of packets onto a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feeder {
    Nothing,
    Host(usize),
    Link(u32),
    Several,
}

/// The feeders of all links, and whether each computes arrivals without observers.
pub(super) struct Ahead {
    feeders: Vec<Feeder>,
    unwatched: Vec<bool>,
}

impl Ahead {
    pub(super) fn new(links: &[LinkSpec], streams: &[Stream]) -> Ahead {
        let mut feeders = vec![Feeder::Nothing; links.len()];
        for (number, stream) in streams.iter().enumerate() {
            for path in [&stream.forward, &stream.backward] {
                let mut feeder = if stream.flows > 1.0 { Feeder::Several } else { Feeder::Host(number) };
                for &link in path {
                    let known = &mut feeders[link as usize];
                    let same = *known == Feeder::Nothing || *known == feeder;
                    *known = if same { feeder } else { Feeder::Several };
                    feeder = Feeder::Link(link);
                }
            }
        }
        let unwatched = links.iter().map(|link| !link.measured && computed(link)).collect();
        Ahead { feeders, unwatched }
    }

    /// The number of links at the beginning of a stream's path that hold its packets.
    pub(super) fn resident(&self, stream: &Stream) -> usize {
        let alone = stream.backward.first().is_some_and(|back| {
            matches!(self.feeders[*back as usize], Feeder::Host(_)) && self.unwatched[*back as usize]
        });
        let mut held = stream.forward.len();
        if !alone || held == 0 {
            return held;
        }
        held -= 1;
        while held > 0 {
            let (before, link) = (stream.forward[held - 1], stream.forward[held] as usize);
            if !self.unwatched[link] || self.feeders[link] != Feeder::Link(before) {
                break;
            }
            held -= 1;
        }
        held
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The table of hops for routing, and the links that may process packets ahead of time.

use super::Links;
use super::link::End;

/// Events after a packet has crossed a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It arrives at its host.
    Arrive,
    /// It reaches a receiver that can process it ahead of time, unless another packet for the host waits.
    Reach,
    /// It takes its place in front of the next link, whose packets are put in order as they come.
    Merge,
    /// It waits for its turn at the next link.
    Join,
    /// It passes into the next link, which nothing else feeds.
    Through,
}

impl Step {
    /// Whether the path ends there.
    #[inline]
    pub fn ends(self) -> bool {
        matches!(self, Step::Arrive | Step::Reach)
    }
}

/// One hop of a path.
#[derive(Clone, Copy, Debug)]
pub struct Hop {
    /// The link.
    pub link: u32,
    /// The next step.
    pub step: Step,
}

/// The senders of packets onto a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feeder {
    Nothing,
    /// A host that immediately answers each packet from this link, and sends nothing else.
    Answers(u32),
    /// Paths cross it after this link only.
    Link(u32),
    Several,
}

impl Links {
    /// Adds a path and returns its first hop. Steps are joins until [`fuse`](Links::fuse), after which no path may be added.
    pub fn add_path(&mut self, path: &[u32]) -> u32 {
        let first = self.hops.len() as u32;
        let last = path.len() - 1;
        let step = |place| if place == last { Step::Arrive } else { Step::Join };
        self.hops.extend(path.iter().enumerate().map(|(place, &link)| Hop { link, step: step(place) }));
        first
    }

    /// Notes that one receiver answers each packet of the path at `forward` on the path at `backward`, at once.
    pub fn add_answer(&mut self, forward: u32, backward: u32) {
        let steps = self.hops[forward as usize..].iter();
        let last = forward + steps.take_while(|hop| hop.step != Step::Arrive).count() as u32;
        self.answered.push((last, backward));
    }

    /// Lets packets pass through where a single link feeds another. Call when all paths are there.
    pub fn fuse(&mut self) {
        let feeders = self.feeders();
        self.find_ends();
        self.find_merges(&feeders);
        for place in 1..self.hops.len() {
            let next = self.hops[place].link as usize;
            let hop = &mut self.hops[place - 1];
            if hop.step != Step::Join || self.links[hop.link as usize].scatters() {
                continue;
            }
            if self.links[next].end == End::Merged {
                hop.step = Step::Merge;
            } else if self.links[next].ahead() && feeders[next] == Feeder::Link(hop.link) {
                hop.step = Step::Through;
            }
        }
        for &(last, back) in &self.answered {
            let back = self.hops[back as usize].link as usize;
            let hop = &mut self.hops[last as usize];
            let orderly = !self.links[hop.link as usize].scatters();
            if orderly && feeders[back] == Feeder::Answers(hop.link) && self.links[back].ahead() {
                hop.step = Step::Reach;
            }
        }
    }

    /// Finds where each link ends.
    fn find_ends(&mut self) {
        // Whether packets continue from it, and whether they arrive.
        let mut seen = vec![[false; 2]; self.links.len()];
        for hop in &self.hops {
            seen[hop.link as usize][usize::from(hop.step.ends())] = true;
        }
        for (link, seen_there) in self.links.iter_mut().zip(seen) {
            link.end = match seen_there {
                [true, true] => End::Both,
                [false, true] => End::Hosts,
                [_, false] => End::Links,
            };
        }
    }

    /// Finds the links that put their packets in order as they come: only the noise of hosts is in front of them, so few packets
    /// wait there, and no path ends with them.
    fn find_merges(&mut self, feeders: &[Feeder]) {
        let mut shared: Vec<_> = feeders.iter().map(|feeder| *feeder == Feeder::Several).collect();
        let (mut begins, mut noise) = (true, false);
        for hop in &self.hops {
            shared[hop.link as usize] &= noise && hop.step == Step::Join;
            noise = begins && hop.step == Step::Join && self.links[hop.link as usize].only_noise();
            begins = hop.step == Step::Arrive;
        }
        for (link, is_shared) in self.links.iter_mut().zip(shared) {
            if is_shared && link.ahead() && link.plain {
                link.end = End::Merged;
            }
        }
    }

    fn feeders(&self) -> Vec<Feeder> {
        let mut hosts = vec![Feeder::Several; self.hops.len()];
        for &(last, back) in &self.answered {
            hosts[back as usize] = Feeder::Answers(self.hops[last as usize].link);
        }
        let mut feeders = vec![Feeder::Nothing; self.links.len()];
        let mut before = None;
        for (hop, host) in self.hops.iter().zip(hosts) {
            let source = before.map_or(host, Feeder::Link);
            let feeder = &mut feeders[hop.link as usize];
            let same = *feeder == Feeder::Nothing || *feeder == source;
            *feeder = if same { source } else { Feeder::Several };
            before = (hop.step != Step::Arrive).then_some(hop.link);
        }
        feeders
    }
}

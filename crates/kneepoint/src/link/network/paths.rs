// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The table of hops through which packets find their way, and what may be taken ahead of its time.

use super::Links;

/// What follows when a packet has crossed a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It arrives at its host.
    Arrive,
    /// It reaches a receiver that can take it ahead of its time.
    Reach,
    /// It waits for its turn at the next link.
    Join,
    /// It passes into the next link, which nothing else feeds.
    Through,
}

/// One hop of a path.
#[derive(Clone, Copy, Debug)]
pub struct Hop {
    /// The link.
    pub link: u32,
    /// What follows.
    pub step: Step,
}

/// What puts packets on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feeder {
    Nothing,
    /// One path begins with it.
    Host,
    /// Paths cross it after this link only.
    Link(u32),
    Several,
}

impl Links {
    /// Adds a path and returns its first hop. Steps are joins until [`fuse`](Links::fuse).
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
        self.answered.push((last, self.hops[backward as usize].link));
    }

    /// Lets packets pass through where one link is all that feeds another. Call when all paths are there.
    pub fn fuse(&mut self) {
        let feeders = self.feeders();
        for place in 1..self.hops.len() {
            let next = self.hops[place].link as usize;
            let hop = &mut self.hops[place - 1];
            if hop.step == Step::Join && self.links[next].ahead() && feeders[next] == Feeder::Link(hop.link) {
                hop.step = Step::Through;
            }
        }
        for &(last, back) in &self.answered {
            if feeders[back as usize] == Feeder::Host && self.links[back as usize].ahead() {
                self.hops[last as usize].step = Step::Reach;
            }
        }
    }

    fn feeders(&self) -> Vec<Feeder> {
        let mut feeders = vec![Feeder::Nothing; self.links.len()];
        let mut source = Feeder::Host;
        for hop in &self.hops {
            let feeder = &mut feeders[hop.link as usize];
            *feeder = match *feeder {
                Feeder::Nothing => source,
                Feeder::Link(_) if *feeder == source => source,
                _ => Feeder::Several,
            };
            source = if hop.step == Step::Arrive { Feeder::Host } else { Feeder::Link(hop.link) };
        }
        feeders
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Film: the events of a run as columns of numbers over time, all of one length, and the packets of the bottleneck.
//!
//! An ordinary observer: it requests no samples, so that a run with it handles the same events as one without. A column has a
//! number for each of some hundred intervals of equal length: what happened in it, or what was so at its end.

mod columns;
mod way;

use kneepoint::packet::Flags;
use kneepoint::spec::{Roster, Valid};
use kneepoint::trace::{Event, FlowId, Observer, Passage};
use kneepoint::units::{Bytes, Span, Time};

pub use columns::{Column, Columns};
use way::Way;

use crate::question::Question;

/// Intervals unless a page asks for more or fewer.
const USUAL: usize = 1000;

/// A group of traffic over time.
#[derive(Clone, Debug)]
struct Group {
    name: String,
    /// Payload that arrived for the first time.
    bytes: Vec<f32>,
    /// Round-trip times in milliseconds: their sums, and how many.
    rtt: Vec<(f32, f32)>,
}

/// A flow whose window is recorded.
#[derive(Clone, Debug)]
struct Followed {
    name: String,
    group: usize,
    window: Vec<f32>,
}

/// Records a run.
#[derive(Clone, Debug)]
pub struct Film {
    /// The length of an interval.
    interval: Span,
    intervals: usize,
    groups: Vec<Group>,
    /// The group of each flow slot.
    group_of: Vec<u32>,
    followed: Vec<Followed>,
    /// The place of each flow slot among the recorded ones.
    place_of: Vec<Option<u8>>,
    way: Way,
}

impl Film {
    /// Records a run of a scenario at the resolution of the question.
    pub fn new(valid: &Valid, question: &Question) -> Film {
        let intervals = if question.instants == 0 { USUAL } else { question.instants.min(100_000) };
        let duration = valid.schedule().duration.since(Time::ZERO);
        let roster = Roster::new(valid);
        let groups = valid.groups().iter().map(|group| Group {
            name: group.name.clone(),
            bytes: vec![0.0; intervals + 1],
            rtt: vec![(0.0, 0.0); intervals + 1],
        });
        let listed =
            roster.fixed().iter().enumerate().filter(|(_, slot)| valid.groups()[slot.group].cc.is_some());
        let listed: Vec<(usize, usize, usize)> =
            listed.map(|(flow, slot)| (flow, slot.group, slot.index)).collect();
        let mut place_of = vec![None; roster.fixed().len()];
        let wanted = question.followed.min(listed.len()).min(usize::from(u8::MAX));
        // Evenly over all of them, so that each group is among them.
        let chosen = (0..wanted).map(|place| listed[place * listed.len() / wanted]);
        let followed = chosen.enumerate().map(|(place, (flow, group, index))| {
            place_of[flow] = Some(place as u8);
            let name = format!("{}/{index}", valid.groups()[group].name);
            Followed { name, group, window: vec![f32::NAN; intervals + 1] }
        });
        Film {
            interval: Span(duration.0.div_ceil(intervals as u64).max(1)),
            intervals,
            groups: groups.collect(),
            group_of: roster.fixed().iter().map(|slot| slot.group as u32).collect(),
            followed: followed.collect(),
            place_of,
            way: Way::new(valid, intervals, question.packets),
        }
    }

    /// The interval of an instant. Early results of a run have the last place, and are not shown.
    #[inline]
    fn place(&self, at: Time) -> usize {
        ((at.0 / self.interval.0) as usize).min(self.intervals)
    }

    #[inline]
    fn delivered(&mut self, at: Time, flow: u32, payload: Bytes) {
        let place = self.place(at);
        if let Some(group) = self.group_of.get(flow as usize) {
            self.groups[*group as usize].bytes[place] += payload.0 as f32;
        }
    }

    #[inline]
    fn acked(&mut self, at: Time, FlowId(flow): FlowId, rtt: Option<Span>, window: f64) {
        let place = self.place(at);
        if let (Some(rtt), Some(group)) = (rtt, self.group_of.get(flow as usize)) {
            let (sum, count) = &mut self.groups[*group as usize].rtt[place];
            (*sum, *count) = (*sum + rtt.as_millis_f64() as f32, *count + 1.0);
        }
        if let Some(Some(followed)) = self.place_of.get(flow as usize) {
            self.followed[usize::from(*followed)].window[place] = window as f32;
        }
    }

    /// A slot serves a group from now on.
    #[cold]
    fn started(&mut self, FlowId(flow): FlowId, group: u32) {
        let flow = flow as usize;
        if flow >= self.group_of.len() {
            self.group_of.resize(flow + 1, group);
        }
        self.group_of[flow] = group;
    }

    fn group(&self, flow: u32) -> u32 {
        self.group_of.get(flow as usize).copied().unwrap_or_default()
    }
}

impl Observer for Film {
    #[inline]
    fn on(&mut self, at: Time, event: &Event) {
        match *event {
            Event::Arrival { link, packet, fate } if link == self.way.link() => {
                let group = self.group(packet.flow);
                self.way.arrived((at, self.place(at)), packet, group, fate);
            }
            Event::Fate { link, packet, fate } if link == self.way.link() => {
                self.way.fell((at, self.place(at)), packet, fate);
            }
            Event::Service { link, packet, .. } if link == self.way.link() => {
                self.way.left((at, self.place(at)), packet);
            }
            // Datagrams are counted whole.
            Event::Delivered { packet, payload } => match packet.flags.has(Flags::DATAGRAM) {
                true => self.delivered(at, packet.flow, packet.bytes()),
                false => self.delivered(at, packet.flow, payload),
            },
            Event::Acked { flow, rtt, window, .. } => self.acked(at, flow, rtt, window),
            Event::Started { flow, group } => self.started(flow, group),
            _ => {}
        }
    }

    #[inline]
    fn pass(&mut self, at: Time, passage: &Passage) {
        if passage.link == self.way.link() {
            let left = at + passage.waited;
            let group = self.group(passage.packet.flow);
            let (from, to) = ((at, self.place(at)), (left, self.place(left)));
            self.way.passed(from, to, passage.packet, group);
        }
    }
}

#[cfg(test)]
mod tests {
    use kneepoint::run;
    use kneepoint::scenario::parse;

    use super::*;

    fn filmed(scheme: &str) -> Columns {
        let text = format!(
            "[run]\nduration = '10s'\n[topology]\nkind = 'dumbbell'\nrate = '5mbit'\nbuffer = '1bdp'\n\
             [[flows]]\nname = 'long'\ncount = 3\ncc = 'reno'\n[sweep]\nscheme = ['{scheme}']\n"
        );
        let valid = parse(&text).expect("a scenario").cases.remove(0).valid;
        let question = Question { instants: 200, followed: 2, packets: 100_000, ..Question::default() };
        run::run(&valid, 1, Film::new(&valid, &question)).0.columns()
    }

    #[test]
    fn the_queue_is_empty_in_the_end_of_what_arrived_less_what_left() {
        // One is reported packet by packet, the other at once.
        for scheme in ["sack/droptail", "sack/codel"] {
            let film = filmed(scheme);
            let (arrived, left) = (film.numbers("arrived_s", ""), film.numbers("left_s", ""));
            assert!(arrived.len() > 3000, "{scheme}: {}", arrived.len());
            assert!(arrived.windows(2).all(|two| two[0] <= two[1]), "{scheme}");
            assert!(arrived.iter().zip(left).all(|(arrived, left)| arrived <= left), "{scheme}");
            let at_5 = |times: &[f32]| times.iter().filter(|time| **time < 5.0).count() as f32;
            let queue = film.numbers("queue_packets", &film.link)[99];
            assert_eq!(queue, at_5(arrived) - at_5(left), "{scheme}");
        }
    }

    #[test]
    fn goodput_is_about_the_rate_of_the_link_and_windows_are_of_flows_all_over_the_group() {
        let film = filmed("cubic/droptail");
        let goodput = film.numbers("goodput_mbps", "long");
        let mean = goodput[100..].iter().sum::<f32>() / 100.0;
        assert!((4.0..5.0).contains(&mean), "{mean}");
        let flows: Vec<&str> = film
            .columns
            .iter()
            .filter(|one| one.quantity == "window_packets")
            .map(|one| one.subject.as_str())
            .collect();
        assert_eq!(flows, ["long/0", "long/1"]);
    }
}

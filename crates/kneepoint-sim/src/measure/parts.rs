// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Parts: the headline metrics over equal parts of the measurement window, which show whether they have a mean.
//!
//! Metrics are defined as for the whole window, in the files of links and groups; a packet counts in the part in which it arrives, or in which
//! its transmission begins.

use crate::queue::{Backlog, Fate, Reason};
use crate::run::Joined;
use crate::spec::{Roster, Valid};
use crate::table::Table;
use crate::trace::{Event, LinkId, Observer};
use crate::units::{Interval, Span, Time};

/// The parts of a window. The long-run variance of sixty is estimated from six cosines, and their means hide changes
/// shorter than a sixtieth.
pub const PARTS: usize = 60;

/// Measures the bottleneck and the listed flows of each group in every part of the window.
#[derive(Clone, Debug)]
pub struct Parts {
    window: Interval,
    /// The bottleneck, if any.
    link: Option<LinkId>,
    counts: Vec<Count>,
    arriving: Cursor,
    served: Cursor,
    backlog: Backlog,
    /// The instant up to which the queue has been integrated.
    accounted: Time,
    queued: Cursor,
    flows: Flows,
}

/// Events at the bottleneck in a part.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    arrivals: u64,
    drops: u64,
    marks: u64,
    served: u64,
    served_bytes: u64,
    waited_nanos: u64,
    packet_nanos: u64,
}

/// The part of an instant. Most instants are in the same part as the previous one.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    window: Interval,
    step: u64,
    place: usize,
    begins: Time,
    ends: Time,
}

impl Cursor {
    fn new(window: Interval) -> Cursor {
        let step = (window.span().0 / PARTS as u64).max(1);
        Cursor { window, step, place: 0, begins: window.from, ends: window.from + Span(step) }
    }

    #[inline]
    fn at(&mut self, at: Time) -> Option<usize> {
        if at >= self.begins && at < self.ends { Some(self.place) } else { self.turn(at) }
    }

    /// The remainder of the division belongs to the last part.
    #[cold]
    fn turn(&mut self, at: Time) -> Option<usize> {
        if !self.window.contains(at) {
            return None;
        }
        let place = (at.since(self.window.from).0 / self.step).min(PARTS as u64 - 1);
        self.place = place as usize;
        self.begins = self.window.from + Span(place * self.step);
        self.ends = if self.place == PARTS - 1 { self.window.to } else { self.begins + Span(self.step) };
        Some(self.place)
    }
}

/// The listed flows of controlled groups.
#[derive(Clone, Debug)]
struct Flows {
    /// The names of the groups that have some.
    names: Vec<String>,
    /// For each flow slot: its group among these.
    group: Vec<Option<usize>>,
    /// Payload acknowledged in the part that is counted now.
    acked: Vec<u64>,
    now: usize,
    cursor: Cursor,
    /// For each part and group.
    rows: Vec<Vec<Shares>>,
}

/// The bytes that the flows of a group have acknowledged in a part. Sums of integers do not depend on their order.
#[derive(Clone, Copy, Debug, Default)]
struct Shares {
    flows: u32,
    sum: u64,
    squares: u128,
}

impl Shares {
    fn add(&mut self, bytes: u64) {
        self.flows += 1;
        self.sum += bytes;
        self.squares += u128::from(bytes).pow(2);
    }

    /// Adds what the same flows had in another region.
    fn join(&mut self, other: Shares) {
        self.sum += other.sum;
        self.squares += other.squares;
    }

    /// Goodput in bit/s, and Jain's index.
    fn numbers(self, length: Span) -> [f64; 2] {
        let sum = self.sum as f64;
        let jain_index = sum * sum / (f64::from(self.flows) * self.squares as f64);
        [8e9 * sum / length.0 as f64, jain_index]
    }
}

impl Flows {
    fn new(valid: &Valid, window: Interval) -> Flows {
        let groups = valid.groups().iter().enumerate();
        let shown: Vec<usize> = groups
            .filter(|(_, group)| group.cc.is_some() && group.kind().listed())
            .map(|(place, _)| place)
            .collect();
        let roster = Roster::new(valid);
        let group: Vec<Option<usize>> =
            roster.fixed().iter().map(|slot| shown.iter().position(|place| *place == slot.group)).collect();
        Flows {
            names: shown.iter().map(|place| valid.groups()[*place].name.clone()).collect(),
            acked: vec![0; group.len()],
            group,
            now: 0,
            cursor: Cursor::new(window),
            rows: Vec::with_capacity(PARTS),
        }
    }

    #[inline]
    fn acked(&mut self, at: Time, slot: usize, bytes: u64) {
        let Some(place) = self.cursor.at(at) else { return };
        if place > self.now {
            self.turn(place);
        }
        if let Some(sum) = self.acked.get_mut(slot) {
            *sum += bytes;
        }
    }

    /// Closes the parts before this one.
    #[cold]
    fn turn(&mut self, place: usize) {
        while self.now < place {
            let mut row = vec![Shares::default(); self.names.len()];
            for (group, bytes) in self.group.iter().zip(&self.acked) {
                if let Some(group) = group {
                    row[*group].add(*bytes);
                }
            }
            self.rows.push(row);
            self.acked.fill(0);
            self.now += 1;
        }
    }

    /// Adds the flows whose senders were in another region.
    fn join(&mut self, mut other: Flows) {
        self.turn(PARTS);
        other.turn(PARTS);
        let theirs = other.rows.into_iter().flatten();
        self.rows.iter_mut().flatten().zip(theirs).for_each(|(own, more)| own.join(more));
    }
}

/// The quantities of the bottleneck, by the keys of their metrics.
const OF_LINK: [&str; 5] =
    ["queue_mean_packets", "queueing_delay_mean_ms", "drop_ratio", "mark_ratio", "throughput_bps"];

impl Parts {
    /// For runs of `valid`.
    pub fn new(valid: &Valid) -> Parts {
        let window = valid.schedule().measure;
        let cursor = Cursor::new(window);
        Parts {
            window,
            link: valid
                .network()
                .links
                .iter()
                .position(|link| link.measured)
                .map(|place| LinkId(place as u32)),
            counts: vec![Count::default(); PARTS],
            arriving: cursor,
            served: cursor,
            backlog: Backlog::default(),
            accounted: window.from,
            queued: cursor,
            flows: Flows::new(valid, window),
        }
    }

    /// Its bytes, without the flows'.
    pub const BYTES: usize = PARTS * size_of::<Count>();

    /// A row for each part: its middle in seconds, and its numbers.
    pub fn table(mut self) -> Table {
        self.queue_until(self.window.to);
        self.flows.turn(PARTS);
        let rows = (0..PARTS).map(|place| self.row(place)).collect();
        let of_link = OF_LINK.iter().map(|key| format!("{key}[bottleneck]")).filter(|_| self.link.is_some());
        let names = self.flows.names.iter();
        let of_groups =
            names.flat_map(|name| ["goodput_bps", "jain_index"].map(|key| format!("{key}[{name}]")));
        let columns = std::iter::once("time_s".to_string()).chain(of_link).chain(of_groups).collect();
        Table { columns, rows }
    }

    /// The numbers of a part.
    fn row(&self, place: usize) -> Vec<f64> {
        let step = self.arriving.step;
        let begins = self.window.from + Span(step * place as u64);
        let ends = if place == PARTS - 1 { self.window.to } else { begins + Span(step) };
        let length = ends.since(begins);
        let middle = (begins + Span(length.0 / 2)).as_secs_f64();
        let of_link = self.counts[place].numbers(length).into_iter().filter(|_| self.link.is_some());
        let of_groups = self.flows.rows[place].iter().flat_map(|shares| shares.numbers(length));
        std::iter::once(middle).chain(of_link).chain(of_groups).collect()
    }

    #[inline]
    fn queue_until(&mut self, at: Time) {
        while self.accounted < at {
            let Some(place) = self.queued.at(self.accounted) else { return };
            let until = at.min(self.queued.ends);
            self.counts[place].packet_nanos +=
                u64::from(self.backlog.packets) * until.since(self.accounted).0;
            self.accounted = until;
        }
    }

    #[inline]
    fn fate(&mut self, at: Time, fate: Fate, arrivals: u64) {
        let Some(place) = self.arriving.at(at) else { return };
        let count = &mut self.counts[place];
        count.arrivals += arrivals;
        match fate {
            Fate::Passed | Fate::Dropped(Reason::Channel) => {}
            Fate::Marked => count.marks += 1,
            Fate::Dropped(_) => count.drops += 1,
        }
    }
}

impl Count {
    /// In the order of [`OF_LINK`].
    fn numbers(&self, length: Span) -> [f64; OF_LINK.len()] {
        let arrivals = self.arrivals as f64;
        [
            self.packet_nanos as f64 / length.0 as f64,
            self.waited_nanos as f64 / 1e6 / self.served as f64,
            self.drops as f64 / arrivals,
            self.marks as f64 / arrivals,
            8.0 * self.served_bytes as f64 / length.as_secs_f64(),
        ]
    }
}

impl Joined for Parts {
    fn join(&mut self, mut other: Parts, theirs: &dyn Fn(LinkId) -> bool) {
        // One region has all of the bottleneck.
        if self.link.is_some_and(theirs) {
            std::mem::swap(self, &mut other);
        }
        self.flows.join(other.flows);
    }
}

impl Observer for Parts {
    #[inline(always)]
    fn on(&mut self, at: Time, event: &Event) {
        match event {
            Event::Queue { link, backlog } if Some(*link) == self.link => {
                self.queue_until(at);
                self.backlog = *backlog;
            }
            Event::Arrival { link, fate, .. } if Some(*link) == self.link => self.fate(at, *fate, 1),
            Event::Fate { link, fate, .. } if Some(*link) == self.link => self.fate(at, *fate, 0),
            Event::Service { link, packet, waited } => {
                if Some(*link) == self.link
                    && let Some(place) = self.served.at(at)
                {
                    let count = &mut self.counts[place];
                    count.served += 1;
                    count.served_bytes += u64::from(packet.size);
                    count.waited_nanos += waited.0;
                }
            }
            Event::Acked { flow, acked, .. } => self.flows.acked(at, flow.0 as usize, acked.0),
            _ => {}
        }
    }
}

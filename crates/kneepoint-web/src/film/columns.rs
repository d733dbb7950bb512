// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Columns of a film as a page takes them: one block of numbers, and its layout.

use kneepoint::units::Time;
use serde::Serialize;

use super::way::Passed;
use super::{Film, Followed, Group};

/// A column: a part of the numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Column {
    /// The meaning of its numbers, with their unit: `window_packets`.
    pub quantity: &'static str,
    /// The link, the group or the flow that it is about; nothing of packets.
    pub subject: String,
    /// The place of the group, where it is about a group or a flow.
    pub group: Option<usize>,
    /// The place of its first number.
    pub from: usize,
    /// Their number.
    pub count: usize,
}

/// A film as columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Columns {
    /// The length of an interval.
    pub interval_s: f64,
    /// The number of intervals of the whole run: columns of a run in progress are shorter.
    pub intervals: usize,
    /// The bottleneck.
    pub link: String,
    /// Its rate.
    pub rate_bps: Option<f64>,
    /// The delay of a packet on it.
    pub delay_s: f64,
    /// The longest time that a packet waited there, of those that are kept.
    pub longest_wait_s: f32,
    /// The time until which packets are kept.
    pub kept_until_s: f64,
    /// The columns.
    pub columns: Vec<Column>,
    /// Their numbers.
    #[serde(skip)]
    pub all: Vec<f32>,
}

impl Columns {
    /// The numbers of a column; none if there is no such column.
    pub fn numbers(&self, quantity: &str, subject: &str) -> &[f32] {
        let found = self.columns.iter().find(|one| one.quantity == quantity && one.subject == subject);
        found.map_or(&[], |column| &self.all[column.from..column.from + column.count])
    }

    fn push(
        &mut self,
        quantity: &'static str,
        subject: &str,
        group: Option<usize>,
        numbers: impl Iterator<Item = f32>,
    ) {
        let from = self.all.len();
        self.all.extend(numbers);
        let count = self.all.len() - from;
        self.columns.push(Column { quantity, subject: subject.into(), group, from, count });
    }
}

/// A number of a packet.
type OfPacket = fn(&Passed) -> f32;

/// A running sum.
fn sums(steps: &[f32]) -> impl Iterator<Item = f32> {
    steps.iter().scan(0.0, |sum, step| {
        *sum += step;
        Some(*sum)
    })
}

/// The numbers, with the last known one in place of each unknown one.
fn held(numbers: &[f32]) -> impl Iterator<Item = f32> {
    numbers.iter().scan(f32::NAN, |last, number| {
        if !number.is_nan() {
            *last = *number;
        }
        Some(*last)
    })
}

impl Film {
    /// The whole film.
    pub fn columns(&self) -> Columns {
        self.columns_until(self.intervals)
    }

    /// The film of a run in progress, until an instant.
    pub fn columns_so_far(&self, now: Time) -> Columns {
        self.columns_until(self.place(now))
    }

    /// Its first `count` intervals.
    fn columns_until(&self, count: usize) -> Columns {
        let way = &self.way;
        let waits = way.packets.iter().map(|one| one.left_s - one.arrived_s);
        let interval_s = self.interval.as_secs_f64();
        let mut film = Columns {
            interval_s,
            intervals: self.intervals,
            link: way.facts.name.clone(),
            rate_bps: way.facts.rate_bps,
            delay_s: way.facts.delay_s,
            longest_wait_s: waits.fold(0.0, f32::max),
            kept_until_s: way.kept_until.map_or(0.0, |at| at.as_secs_f64()),
            columns: Vec::new(),
            all: Vec::with_capacity(5 * way.packets.len() + self.intervals * (self.groups.len() * 2 + 4)),
        };
        let link = way.facts.name.as_str();
        film.push("queue_packets", link, None, sums(&way.grown[..count]));
        film.push("drops", link, None, way.drops[..count].iter().copied());
        film.push("marks", link, None, way.marks[..count].iter().copied());
        for (place, Group { name, bytes, rtt }) in self.groups.iter().enumerate() {
            let mbps = |sum: &f32| (f64::from(*sum) * 8e-6 / interval_s) as f32;
            film.push("goodput_mbps", name, Some(place), bytes[..count].iter().map(mbps));
            film.push("rtt_ms", name, Some(place), rtt[..count].iter().map(|(sum, samples)| sum / samples));
        }
        for Followed { name, group, window } in &self.followed {
            film.push("window_packets", name, Some(*group), held(&window[..count]));
        }
        let of_packets: [(&str, OfPacket); 5] = [
            ("arrived_s", |one| one.arrived_s),
            ("left_s", |one| one.left_s),
            ("flow", |one| one.flow),
            ("group", |one| one.group),
            ("fate", |one| one.fate),
        ];
        for (quantity, number) in of_packets {
            film.push(quantity, "", None, way.packets.iter().map(number));
        }
        film
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Throughput and loss shares of controllers whose flows share a queue, for every pair in every setting.
//!
//! ```text
//! fair share    the row's flows / all flows
//! of fair       share of the bytes served / fair share          1: its due, less: it is starved
//! loss balance  drop ratio of the row / (its + the column's)    ½: both lose alike
//! loss ratio    balance / (1 - balance)                         drop ratio of the row / of the column
//! ```
//!
//! The balance has a mean and an interval where the ratio of two small numbers has none; both change sides without
//! a remainder when row and column do. A controller against itself is the control: a difference from one there is
//! noise.

use crate::scenario::Buffer;
use crate::table::Estimate;
use crate::table::number::counted;

/// Controllers that met each other in every setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Coexistence {
    /// The title: the controllers.
    pub title: String,
    /// The network.
    pub about: String,
    /// Rows and columns.
    pub controllers: Vec<String>,
    /// The buffers in which they met.
    pub buffers: Vec<String>,
    /// Numbers of flows, of both sides together.
    pub flows: Vec<u32>,
    /// The fraction of them that is the row's.
    pub mix: f64,
    /// The part of a fair share that is enough, both to take and to leave.
    pub enough: f64,
    /// By row, column, flows and buffers, the last fastest.
    pub cells: Vec<Encounter>,
}

/// Two controllers in one setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Encounter {
    /// Flows of the row and of the column.
    pub flows: [u32; 2],
    /// One for each seed.
    pub meetings: Vec<Meeting>,
}

/// Two controllers in one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Meeting {
    /// The fraction of the bytes served that is the row's.
    pub share: f64,
    /// Packets that the queue dropped per packet that arrived, of the row and of the column.
    pub drop_ratio: [f64; 2],
    /// Of the bottleneck.
    pub utilization: f64,
    /// Mean queue of the buffer.
    pub queue: f64,
}

impl Meeting {
    /// The same seen from the other side.
    pub fn mirrored(self) -> Meeting {
        let [row, column] = self.drop_ratio;
        Meeting { share: 1.0 - self.share, drop_ratio: [column, row], ..self }
    }
}

/// A place in the matrix, by the places of its labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Square {
    /// The controller that is measured.
    pub row: usize,
    /// The other controller.
    pub column: usize,
    /// The number of flows.
    pub flows: usize,
    /// The buffer.
    pub buffer: usize,
}

impl Encounter {
    /// The estimate of a number of each meeting.
    pub fn estimate(&self, of: impl Fn(&Meeting) -> f64) -> Estimate {
        let values: Vec<f64> = self.meetings.iter().map(of).filter(|value| value.is_finite()).collect();
        Estimate::of(&values)
    }

    /// The part of the flows that was the row's.
    pub fn fair_share(&self) -> f64 {
        f64::from(self.flows[0]) / f64::from(self.flows[0] + self.flows[1])
    }

    /// The whole throughput, over the row's fair share.
    pub fn most(&self) -> f64 {
        1.0 / self.fair_share()
    }

    /// The share of the row over its fair share.
    pub fn taken(&self) -> Estimate {
        let fair = self.fair_share();
        self.estimate(|meeting| meeting.share / fair)
    }

    /// The share of the column over its fair share.
    pub fn left(&self) -> Estimate {
        let fair = 1.0 - self.fair_share();
        self.estimate(|meeting| (1.0 - meeting.share) / fair)
    }

    /// Half where both lost equally; NaN without losses.
    pub fn loss_balance(&self) -> Estimate {
        self.estimate(|Meeting { drop_ratio: [row, column], .. }| row / (row + column))
    }

    /// The drop ratio of the row over that of the column, and the ends of its interval.
    pub fn loss_ratio(&self) -> [f64; 3] {
        let balance = self.loss_balance();
        let (low, high) = balance.interval();
        [balance.mean, low.max(0.0), high.min(1.0)].map(|balance| balance / (1.0 - balance))
    }
}

impl Coexistence {
    /// Every place in the order of [`cells`](Coexistence::cells).
    pub fn places(&self) -> impl Iterator<Item = Square> {
        places(self.controllers.len(), self.flows.len(), self.buffers.len())
    }

    /// The encounter at a place.
    pub fn cell(&self, place: Square) -> &Encounter {
        let pair = place.row * self.controllers.len() + place.column;
        &self.cells[(pair * self.flows.len() + place.flows) * self.buffers.len() + place.buffer]
    }

    /// The setting in the middle: the places of its flows and of its buffer.
    pub fn middle(&self) -> (usize, usize) {
        (self.flows.len() / 2, self.buffers.len() / 2)
    }

    /// The settings that a terminal shows: all, or of many the one in the middle.
    pub fn few(&self) -> Vec<(usize, usize)> {
        const MANY: usize = 4;
        let all = (0..self.flows.len())
            .flat_map(|flows| (0..self.buffers.len()).map(move |buffer| (flows, buffer)));
        if self.flows.len() * self.buffers.len() < MANY { all.collect() } else { vec![self.middle()] }
    }

    /// A setting in words: `1 BDP, 10 flows`.
    pub fn setting(&self, flows: usize, buffer: usize) -> String {
        format!("{}, {} flows", self.buffer(buffer), self.flows[flows])
    }

    /// A buffer in words: `1 BDP`.
    pub fn buffer(&self, place: usize) -> String {
        let written = &self.buffers[place];
        written.parse::<Buffer>().map_or_else(|_| written.clone(), |buffer| buffer.people())
    }

    /// The least and the greatest number of runs of an encounter.
    fn runs(&self) -> (usize, usize) {
        let runs = || self.cells.iter().map(|cell| cell.meetings.len());
        (runs().min().unwrap_or(0), runs().max().unwrap_or(0))
    }

    /// The number of seeds behind each number: `3 seeds each`, `2 to 3 seeds each`.
    pub fn seeds(&self) -> String {
        match self.runs() {
            (least, most) if least == most => format!("{} each", counted(most, "seed")),
            (least, most) => format!("{least} to {most} seeds each"),
        }
    }

    /// The number of runs behind the numbers.
    pub fn extent(&self) -> String {
        match self.runs() {
            (1, 1) => "one run each: no confidence intervals".into(),
            _ => format!("{}, with 95 % confidence intervals", self.seeds()),
        }
    }
}

/// Every place of a matrix in order.
pub fn places(controllers: usize, flows: usize, buffers: usize) -> impl Iterator<Item = Square> {
    let pairs = (0..controllers).flat_map(move |row| (0..controllers).map(move |column| (row, column)));
    pairs.flat_map(move |(row, column)| {
        (0..flows)
            .flat_map(move |flows| (0..buffers).map(move |buffer| Square { row, column, flows, buffer }))
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Two controllers: the second takes three times as much as the first and loses half as often.
    pub(crate) fn example() -> Coexistence {
        let mild = |share: f64, drop_ratio| Meeting { share, drop_ratio, utilization: 0.99, queue: 0.4 };
        let between = |base: Meeting| {
            [-0.01, 0.0, 0.01].map(|noise| Meeting { share: base.share + noise, ..base }).to_vec()
        };
        let pair = |place: Square| match (place.row, place.column) {
            (0, 1) => mild(0.25, [0.02, 0.01]),
            (1, 0) => mild(0.25, [0.02, 0.01]).mirrored(),
            _ => mild(0.5, [0.0, 0.0]),
        };
        let cells = places(2, 1, 3).map(|place| Encounter { flows: [5, 5], meetings: between(pair(place)) });
        Coexistence {
            title: "meek<1> and bold".into(),
            about: "10mbit, 60ms, droptail".into(),
            controllers: ["meek<1>", "bold"].map(String::from).to_vec(),
            buffers: ["0.5bdp", "1bdp", "2bdp"].map(String::from).to_vec(),
            flows: vec![10],
            mix: 0.5,
            enough: 0.8,
            cells: cells.collect(),
        }
    }

    #[test]
    fn what_one_takes_the_other_is_left() {
        let all = example();
        for place in all.places() {
            let mirror = Square { row: place.column, column: place.row, ..place };
            let (own, other) = (all.cell(place), all.cell(mirror));
            assert!((own.taken().mean - other.left().mean).abs() < 1e-12, "{place:?}");
            let [own, other] = [own, other].map(|cell| cell.loss_ratio()[0]);
            assert!((own * other - 1.0).abs() < 1e-12 || own.is_nan(), "{place:?}");
        }
        let meek = all.cell(Square { row: 0, column: 1, flows: 0, buffer: 1 });
        assert!((meek.taken().mean - 0.5).abs() < 1e-12 && (meek.loss_ratio()[0] - 2.0).abs() < 1e-12);
    }

    #[test]
    fn a_fair_share_is_that_of_the_flows() {
        let meeting = Meeting { share: 0.1, drop_ratio: [0.0, 0.5], utilization: 1.0, queue: 0.5 };
        let cell = Encounter { flows: [1, 9], meetings: vec![meeting] };
        assert!((cell.taken().mean - 1.0).abs() < 1e-12 && (cell.left().mean - 1.0).abs() < 1e-12);
        assert_eq!(cell.loss_ratio()[0], 0.0);
        let alone = Encounter { meetings: vec![meeting.mirrored()], ..cell };
        assert_eq!(alone.loss_ratio()[0], f64::INFINITY);
    }

    #[test]
    fn places_come_in_the_order_of_the_cells() {
        let all = example();
        for (number, place) in all.places().enumerate() {
            assert!(std::ptr::eq(&all.cells[number], all.cell(place)), "{place:?}");
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Archive: the worst network of each kind, by the settings that users vary.
//!
//! The method is MAP-Elites (J.-B. Mouret, J. Clune, Illuminating search spaces by mapping elites, arXiv 1504.04909, 2015): a search keeps the
//! best of each cell instead of the best of all, which yields a map, and finds cases that a search for the best alone
//! would miss.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::genome::Genome;
use crate::units::Bytes;

/// The features by which cells differ.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// Its name, with its unit.
    pub name: &'static str,
    /// Names of its bins, in order.
    pub bins: &'static [&'static str],
    /// The least value of each bin but the first.
    edges: &'static [f64],
    of: fn(&Genome, Bytes) -> f64,
}

/// The axes of a map.
pub const AXES: [Axis; 4] = [
    Axis {
        name: "greatest rate over the least",
        bins: &["1", "1–2", "2–5", "5–20", "20+"],
        edges: &[1.0001, 2.0, 5.0, 20.0],
        of: |genome, _| genome.change(|step| step.rate),
    },
    Axis {
        name: "greatest RTT over the least",
        bins: &["1", "1–1.5", "1.5–3", "3+"],
        edges: &[1.0001, 1.5, 3.0],
        of: |genome, _| {
            let least = genome.steps.iter().map(|step| step.delay).min().unwrap_or(1).max(1);
            let odd = 1.0 + f64::from(genome.odd_delay) / (2.0 * f64::from(least));
            genome.change(|step| step.delay).max(odd)
        },
    },
    Axis {
        name: "buffer, BDP",
        bins: &["0–0.5", "0.5–1", "1–2", "2–5", "5+"],
        edges: &[0.5, 1.0, 2.0, 5.0],
        of: |genome, packet| f64::from(genome.buffer) / genome.least_bdp(packet).max(1.0),
    },
    Axis {
        name: "random loss",
        bins: &["0", "0–0.1 %", "0.1–1 %", "1 %+"],
        edges: &[1.0, 1000.0, 10_000.0],
        of: |genome, _| f64::from(genome.loss),
    },
];

/// The bin on each axis.
pub type Cell = [u32; AXES.len()];

crate::keys! {
    /// The network of the greatest score in a cell.
    #[derive(Clone, Debug, PartialEq, Deserialize)]
    pub struct Elite {
        /// The cell: the bins of the change of the rate, of the ratio of round trips, of the buffer and of random losses, each from 0.
        #[serde(rename = "bins")]
        pub cell: Cell,
        /// The score.
        pub score: f64,
        /// The network.
        #[serde(rename = "network")]
        pub genome: Genome,
    }
}

/// The network of the highest score in each cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Archive {
    cells: BTreeMap<Cell, Elite>,
}

/// The cell of a network, where a full packet has this size.
pub fn cell(genome: &Genome, packet: Bytes) -> Cell {
    AXES.map(|axis| axis.edges.partition_point(|edge| *edge <= (axis.of)(genome, packet)) as u32)
}

impl Archive {
    /// Keeps a network if its score is above that of its cell.
    pub fn offer(&mut self, cell: Cell, score: f64, genome: &Genome) {
        if self.cells.get(&cell).is_none_or(|elite| elite.score < score) {
            self.cells.insert(cell, Elite { cell, score, genome: genome.clone() });
        }
    }

    /// The score that a network of this cell must exceed.
    pub fn known(&self, cell: Cell) -> f64 {
        self.cells.get(&cell).map_or(f64::NEG_INFINITY, |elite| elite.score)
    }

    /// The known networks, in the order of their cells.
    pub fn elites(&self) -> impl ExactSizeIterator<Item = &Elite> {
        self.cells.values()
    }

    /// The known networks, the highest score first; of equal scores the first cell.
    pub fn ranked(&self) -> Vec<&Elite> {
        let mut all: Vec<_> = self.cells.values().collect();
        all.sort_by(|a, b| b.score.total_cmp(&a.score));
        all
    }

    /// The highest score.
    pub fn best(&self) -> Option<&Elite> {
        self.ranked().first().copied()
    }

    /// The greatest score by the bins of two axes, rows first; none where no network is known.
    pub fn map(&self, rows: usize, columns: usize) -> Vec<Vec<Option<f64>>> {
        let mut map = vec![vec![None; AXES[columns].bins.len()]; AXES[rows].bins.len()];
        for (cell, elite) in &self.cells {
            let place: &mut Option<f64> = &mut map[cell[rows] as usize][cell[columns] as usize];
            *place = Some(place.unwrap_or(0.0).max(elite.score));
        }
        map
    }

    /// The part of the known cells whose score is at least this.
    pub fn part_above(&self, score: f64) -> f64 {
        let above = self.cells.values().filter(|elite| elite.score >= score).count();
        if self.cells.is_empty() { 0.0 } else { above as f64 / self.cells.len() as f64 }
    }
}

impl From<Vec<Elite>> for Archive {
    fn from(elites: Vec<Elite>) -> Archive {
        Archive { cells: elites.into_iter().map(|elite| (elite.cell, elite)).collect() }
    }
}

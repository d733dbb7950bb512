// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Archive: the worst network of each kind, by the settings that users vary.
//!
//! The method is MAP-Elites (J.-B. Mouret, J. Clune, Illuminating search spaces by mapping elites, arXiv 1504.04909, 2015): a search keeps the
//! best of each cell instead of the best of all, which yields a map, and finds cases that a search for the best alone
//! would miss.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::genome::Genome;
use super::profile::Profile;
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
    /// The archive of these networks; the error names the first, counted from 1, that an archive of this
    /// profile cannot have.
    pub fn restored(elites: Vec<Elite>, profile: &Profile, packet: Bytes) -> Result<Archive, String> {
        let mut cells = BTreeMap::new();
        for (place, elite) in (1..).zip(elites) {
            if let Some(objection) = elite.objection(profile, packet) {
                return Err(format!("entry {place}: {objection}"));
            }
            let bins = elite.cell;
            if cells.insert(bins, elite).is_some() {
                return Err(format!("entry {place}: its bins are {bins:?}, as those of an entry before it"));
            }
        }
        Ok(Archive { cells })
    }

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

impl Elite {
    /// The reason why no archive of this profile has it.
    fn objection(&self, profile: &Profile, packet: Bytes) -> Option<String> {
        if let Some(outside) = profile.objection(&self.genome) {
            return Some(outside);
        }
        if !(0.0..=1.0).contains(&self.score) {
            return Some(format!("its score is {}, and may be 0 to 1", self.score));
        }
        let own = cell(&self.genome, packet);
        (self.cell != own).then(|| format!("its bins are {:?}, and those of its network {own:?}", self.cell))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    const PACKET: Bytes = Bytes(1500);

    fn elite(profile: &Profile) -> Elite {
        let genome = profile.draw(&mut Rng::stream(1, "archive", 0));
        Elite { cell: cell(&genome, PACKET), score: 0.5, genome }
    }

    #[test]
    fn an_archive_is_restored_of_its_networks() {
        let profile = Profile::named("any").unwrap();
        let elites = vec![elite(profile)];
        let archive = Archive::restored(elites.clone(), profile, PACKET).unwrap();
        assert_eq!(archive.elites().cloned().collect::<Vec<_>>(), elites);
    }

    #[test]
    fn what_no_hunt_keeps_is_named_with_what_is_allowed() {
        let profile = Profile::named("any").unwrap();
        let changed = |change: fn(&mut Elite)| {
            let mut other = elite(profile);
            change(&mut other);
            Archive::restored(vec![other], profile, PACKET).unwrap_err()
        };
        for (told, saying) in [
            (
                changed(|one| one.cell = [99, 0, 0, 0]),
                "entry 1: its bins are [99, 0, 0, 0], and those of its",
            ),
            (changed(|one| one.score = 1e9), "its score is 1000000000, and may be 0 to 1"),
            (changed(|one| one.score = f64::NAN), "its score is NaN, and may be 0 to 1"),
            (changed(|one| one.genome.buffer = 1), "its buffer_packets is 1, and may be 2 to 10000"),
            (changed(|one| one.genome.loss = 5), "its loss_ppm is 5, and may be 0 or 10 to 50000"),
            (changed(|one| one.genome.steps.clear()), "its network has 0 steps, and may have 1 to 15"),
            (changed(|one| one.genome.queue = "none".into()), "the profile any does not allow its network"),
        ] {
            assert!(told.contains(saying), "{told}");
        }
        let twice = Archive::restored(vec![elite(profile), elite(profile)], profile, PACKET).unwrap_err();
        assert!(twice.starts_with("entry 2: its bins are"), "{twice}");
    }
}

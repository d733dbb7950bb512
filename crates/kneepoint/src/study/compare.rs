// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compare: cases side by side, each with the same seeds. `knee compare` and `knee run` are both this study.

use super::precision::{self, Precision};
use super::{Packets, Record, Records, Study, Wanted, Work};
use crate::fluid::Theory;
use crate::measure::Followed;
use crate::spec::Valid;

/// Cases and seeds.
#[derive(Clone, Debug)]
pub struct Compare {
    cases: Vec<Case>,
    seeds: Vec<u64>,
    precision: Option<Precision>,
}

/// One row of the report.
#[derive(Clone, Debug)]
struct Case {
    name: String,
    work: Work,
}

/// The results of one case.
#[derive(Clone, Debug)]
pub struct Compared {
    /// Its name in the report.
    pub name: String,
    /// Its spec.
    pub valid: Valid,
    /// The known runs, in the order of the seeds.
    pub runs: Vec<Record>,
}

impl Compared {
    /// The fluid model that describes the case; the error says why there is none.
    pub fn theory(&self) -> Result<Theory, String> {
        Theory::of(&self.valid)
    }
}

impl Compare {
    /// Cases by name, each with every seed. The series has the `followed` flows one by one.
    pub fn new(
        cases: impl IntoIterator<Item = (String, Valid)>,
        seeds: Vec<u64>,
        followed: Followed,
    ) -> Compare {
        let case = |(name, valid)| {
            let packets = Packets { shown: true, followed, ..Packets::from(valid) };
            Case { name, work: Work::Packets(Box::new(packets)) }
        };
        Compare { cases: cases.into_iter().map(case).collect(), seeds, precision: None }
    }

    /// With further seeds until the intervals are this narrow.
    #[must_use]
    pub fn precise(mut self, precision: Option<Precision>) -> Compare {
        self.precision = precision;
        precision::reach(&mut self.seeds, self.precision.as_ref().map_or(0, |_| precision::LEAST));
        self
    }

    /// The seeds of this round.
    pub fn seeds(&self) -> &[u64] {
        &self.seeds
    }

    /// The place of the case and the seed of each run that some round may want.
    pub fn every_place(&self) -> Vec<(usize, u64)> {
        let mut all = self.clone();
        all.every_round();
        all.places().collect()
    }

    /// The place of the case and the seed of each wanted run.
    pub fn places(&self) -> impl Iterator<Item = (usize, u64)> {
        self.seeds.iter().flat_map(|seed| (0..self.cases.len()).map(|case| (case, *seed)))
    }
}

impl Study for Compare {
    type Outcome = Vec<Compared>;

    fn wanted(&self) -> Vec<Wanted<'_>> {
        // The report draws the series of the first run.
        let series = |seed| Some(&seed) == self.seeds.first();
        let one =
            |(case, seed): (usize, u64)| Wanted { work: &self.cases[case].work, seed, series: series(seed) };
        self.places().map(one).collect()
    }

    fn again(&mut self, outcome: &Vec<Compared>) -> Option<String> {
        let count = self.precision.as_ref()?.next(outcome, self.seeds.len())?;
        precision::reach(&mut self.seeds, count);
        Some(precision::why(count))
    }

    fn every_round(&mut self) {
        precision::reach(&mut self.seeds, self.precision.as_ref().map_or(0, |_| precision::MOST));
    }

    fn outcome(&self, records: &Records) -> Vec<Compared> {
        let case = |case: &Case| {
            let Work::Packets(packets) = &case.work else { return None };
            let runs = records.of(&case.work, &self.seeds).cloned();
            Some(Compared { name: case.name.clone(), valid: packets.valid.clone(), runs: runs.collect() })
        };
        self.cases.iter().filter_map(case).collect()
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Predict: the accuracy of congestion predictors on a flow, case by case and seed by seed.

use super::watch::scores;
use super::{Packets, Record, Records, Study, Wanted, Watched, Work, seed_by_seed};
use crate::predict::{Config, Score};
use crate::spec::Valid;
use crate::trace::FlowId;

/// Steps of the queue's length in which false positives are counted.
const BINS: usize = 20;

/// Predictors on one flow of each case.
#[derive(Clone, Debug)]
pub struct Predict {
    works: Vec<Work>,
    seeds: Vec<u64>,
}

/// The scores of one run: its seed, and a score of each predictor before each judge.
pub type Judged = (u64, Vec<Score>);

impl Predict {
    /// Predictors on a flow of each case. The error says why a flow cannot be watched.
    pub fn new(
        cases: impl IntoIterator<Item = (Valid, FlowId)>,
        predictors: &[(String, Config)],
        hold_off: f64,
        seeds: Vec<u64>,
    ) -> Result<Predict, String> {
        let work = |(valid, flow): (Valid, FlowId)| {
            // Only scores are needed.
            let valid = valid.with_sample(None).map_err(|invalid| invalid.to_string())?;
            let watched = Watched::flow(&valid, flow, predictors, hold_off, BINS)?;
            Ok(Work::Packets(Box::new(Packets { watched: Some(watched), ..Packets::from(valid) })))
        };
        Ok(Predict { works: cases.into_iter().map(work).collect::<Result<_, String>>()?, seeds })
    }
}

impl Study for Predict {
    /// The known runs of each case.
    type Outcome = Vec<Vec<Judged>>;

    fn wanted(&self) -> Vec<Wanted<'_>> {
        seed_by_seed(&self.seeds, self.works.iter())
    }

    fn outcome(&self, records: &Records) -> Vec<Vec<Judged>> {
        let judged = |record: &Record| (record.seed, scores(&record.rows, BINS));
        let case = |work| records.of(work, &self.seeds).map(judged).collect();
        self.works.iter().map(case).collect()
    }
}

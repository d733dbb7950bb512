// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs many predictors on one flow; each is judged by the flow's own losses and by all drops of the queue.
//!
//! S. Bhandarkar, A. L. N. Reddy, Y. Zhang, D. Loguinov, "Emulating AQM from End Hosts", SIGCOMM 2007, §2.2 to §3, Figures 2 to 4.
//!
//! Samples and drops are fed in order of time, a sample before a drop of the same instant. Only the predictors keep
//! state.

use serde::{Deserialize, Deserializer, Serialize};

use super::transitions::{Machine, share};
use super::{Any, Config, Sample};
use crate::keys::{Keyed, Shape};
use crate::units::Time;

/// The losses against which predictions are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Judge {
    /// Losses of the flow itself.
    Flow,
    /// All drops of the bottleneck queue.
    Queue,
}

impl Keyed for Judge {
    const SHAPE: Shape = Shape::Value;
}

impl Judge {
    /// Both judges.
    pub const ALL: [Judge; 2] = [Judge::Flow, Judge::Queue];
}

crate::keys! {
    /// Score of a predictor.
    #[derive(Clone, Debug, PartialEq, Deserialize)]
    pub struct Score {
        /// The predictor with its settings.
        pub predictor: String,
        /// The losses it is judged by: `flow`, its own, or `queue`, all of the bottleneck.
        pub judged_by: Judge,
        /// Counts of the transitions 1 to 6 between low, high and loss.
        pub counts: [u64; 6],
        /// n2 / (n2 + n5): the fraction of predictions that a loss followed.
        #[serde(deserialize_with = "number")]
        pub efficiency: f64,
        /// n5 / (n2 + n5): the fraction of predictions that no loss followed.
        #[serde(deserialize_with = "number")]
        pub false_positives: f64,
        /// n4 / (n2 + n4): the fraction of losses that were not predicted.
        #[serde(deserialize_with = "number")]
        pub false_negatives: f64,
        /// The distribution of false positives over the length of the queue, in equal bins from empty to full.
        pub queue_at_false_positives: Vec<f64>,
    }
}

impl Score {
    /// F1 score, 2 n2 / (2 n2 + n5 + n4): 1 for a predictor that is high before every loss and at no other time. NaN
    /// without predictions and losses.
    pub fn balance(&self) -> f64 {
        let [_, predicted, _, missed, vain, _] = self.counts;
        share(2 * predicted, vain + missed)
    }
}

/// Writes a number; NaN becomes null.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Option::<f64>::deserialize(deserializer).map(|number| number.unwrap_or(f64::NAN))
}

/// One predictor and one judge.
#[derive(Clone, Debug)]
struct Trial {
    machine: Machine,
    /// False positives by bin of the queue length.
    lengths: Vec<u64>,
}

#[derive(Clone, Debug)]
struct Subject {
    name: String,
    predictor: Any,
    /// In the order of [`Judge::ALL`].
    cases: [Trial; 2],
}

/// Several predictors on one flow.
#[derive(Clone, Debug)]
pub struct Laboratory {
    subjects: Vec<Subject>,
    /// Buffer size in packets.
    buffer: f64,
    /// Last reported queue length in packets.
    queue: Option<u32>,
    /// False positives whose queue length is not yet known: time, subject, case.
    pending: Vec<(Time, usize, usize)>,
}

impl Laboratory {
    /// Creates fresh predictors under their names. A loss episode ends `hold_off` round trips after its last drop; queue
    /// lengths are counted in `bins` bins up to `buffer_packets`.
    pub fn new(configs: &[(String, Config)], hold_off: f64, buffer_packets: f64, bins: usize) -> Laboratory {
        let case = Trial { machine: Machine::new(hold_off), lengths: vec![0; bins] };
        let subject = |(name, config): &(String, Config)| Subject {
            name: name.clone(),
            predictor: config.build(),
            cases: [case.clone(), case.clone()],
        };
        Laboratory {
            subjects: configs.iter().map(subject).collect(),
            buffer: buffer_packets,
            queue: None,
            pending: Vec::new(),
        }
    }

    /// Processes a round-trip sample.
    pub fn observe(&mut self, sample: &Sample) {
        for (place, subject) in self.subjects.iter_mut().enumerate() {
            let state = subject.predictor.observe(sample);
            for (judge, case) in subject.cases.iter_mut().enumerate() {
                if case.machine.hear(sample.now, sample.rtt, state) {
                    self.pending.push((sample.now, place, judge));
                }
            }
        }
    }

    /// Processes a drop that counts for `judge`.
    pub fn lose(&mut self, at: Time, judge: Judge) {
        for subject in &mut self.subjects {
            subject.cases[judge as usize].machine.lose(at);
        }
    }

    /// Reports that `packets` wait at the bottleneck from `at` on. The report may come late: a false positive waits for
    /// the first change after it, and takes the queue length after all changes at its own instant.
    #[inline]
    pub fn queue(&mut self, at: Time, packets: u32) {
        if !self.pending.is_empty() {
            self.settle(at);
        }
        self.queue = Some(packets);
    }

    /// Resets the counts; the predictors keep their state.
    pub fn forget(&mut self) {
        self.pending.clear();
        for case in self.subjects.iter_mut().flat_map(|subject| &mut subject.cases) {
            case.machine.forget();
            case.lengths.fill(0);
        }
    }

    /// The scores of each predictor: by its flow, then by the queue.
    pub fn finish(mut self) -> Vec<Score> {
        self.settle(Time::NEVER);
        self.subjects.iter().flat_map(Subject::scores).collect()
    }

    /// Applies the last reported queue length to the false positives before `until`.
    fn settle(&mut self, until: Time) {
        let (queue, buffer) = (self.queue, self.buffer);
        let subjects = &mut self.subjects;
        self.pending.retain(|&(at, subject, judge)| {
            if at >= until {
                return true;
            }
            let lengths = &mut subjects[subject].cases[judge].lengths;
            if let Some(packets) = queue {
                let step = (f64::from(packets) / buffer * lengths.len() as f64) as usize;
                let last = lengths.len().saturating_sub(1);
                if let Some(count) = lengths.get_mut(step.min(last)) {
                    *count += 1;
                }
            }
            false
        });
    }
}

impl Subject {
    fn scores(&self) -> impl Iterator<Item = Score> {
        self.cases.iter().zip(Judge::ALL).map(|(case, judged_by)| {
            let counts = case.machine.counts();
            let [_, predicted, _, missed, vain, _] = counts;
            let all = case.lengths.iter().sum::<u64>().max(1) as f64;
            Score {
                predictor: self.name.clone(),
                judged_by,
                counts,
                efficiency: share(predicted, vain),
                false_positives: share(vain, predicted),
                false_negatives: share(missed, predicted),
                queue_at_false_positives: case.lengths.iter().map(|count| *count as f64 / all).collect(),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;
    use crate::units::Span;

    fn laboratory() -> Laboratory {
        Laboratory::new(&[parse("rtt").unwrap()], 1.0, 100.0, 4)
    }

    fn sample(now: u64, rtt: u64) -> Sample {
        let millis = Span::from_millis;
        Sample { now: millis(now).after_start(), rtt: millis(rtt), window: 1.0, one_way: None, acked: 1 }
    }

    fn at(millis: u64) -> Time {
        Span::from_millis(millis).after_start()
    }

    #[test]
    fn the_two_judges_see_different_losses() {
        let mut laboratory = laboratory();
        laboratory.observe(&sample(0, 60));
        laboratory.observe(&sample(10, 80));
        laboratory.lose(at(20), Judge::Queue);
        laboratory.observe(&sample(30, 60));
        let [flow, queue] = &laboratory.finish()[..] else { panic!() };
        assert_eq!((flow.judged_by, flow.counts), (Judge::Flow, [1, 0, 0, 0, 1, 0]));
        assert_eq!((queue.judged_by, queue.counts), (Judge::Queue, [1, 1, 0, 0, 0, 0]));
        assert_eq!((flow.efficiency, flow.false_positives), (0.0, 1.0));
        assert_eq!((queue.efficiency, queue.false_negatives), (1.0, 0.0));
        assert!(flow.false_negatives.is_nan());
        assert_eq!((flow.balance(), queue.balance()), (0.0, 1.0));
    }

    #[test]
    fn a_false_positive_finds_the_queue_as_it_was_even_if_that_is_told_later() {
        let mut laboratory = laboratory();
        laboratory.queue(at(0), 80);
        laboratory.observe(&sample(0, 60));
        laboratory.observe(&sample(10, 80));
        laboratory.observe(&sample(20, 60));
        // 40 and 30 packets at 15 and 20; 99 at 21.
        for (time, packets) in [(15, 40), (20, 30), (21, 99)] {
            laboratory.queue(at(time), packets);
        }
        laboratory.observe(&sample(30, 80));
        laboratory.observe(&sample(40, 60));
        let scores = laboratory.finish();
        assert_eq!(scores[0].queue_at_false_positives, [0.0, 0.5, 0.0, 0.5]);
    }

    #[test]
    fn forgetting_keeps_what_was_learnt_and_where_the_flow_is() {
        let mut laboratory = laboratory();
        laboratory.observe(&sample(0, 60));
        laboratory.observe(&sample(10, 80));
        laboratory.forget();
        laboratory.observe(&sample(20, 60));
        assert_eq!(laboratory.finish()[0].counts, [0, 0, 0, 0, 1, 0]);
    }

    #[test]
    fn a_score_reads_back_from_what_it_wrote_even_where_there_is_no_ratio() {
        let score = laboratory().finish().remove(0);
        let read: Score = serde_json::from_str(&serde_json::to_string(&score).unwrap()).unwrap();
        assert!(read.efficiency.is_nan() && read.false_negatives.is_nan());
        assert_eq!((read.predictor.as_str(), read.judged_by, read.counts), ("rtt", Judge::Flow, [0; 6]));
    }
}

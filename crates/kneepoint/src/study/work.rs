// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The work of a run: packets to be simulated and watched, or numbers to be computed.

use super::compute::Computation;
use super::watch::SCORES;
use crate::measure::cost::{self, Watching};
use crate::measure::{Followed, Played, RECEIVING, SENDING, Series, Subject};
use crate::predict::{Config, Prediction};
use crate::run::Cost;
use crate::spec::{Builder, Valid};
use crate::trace::FlowId;
use crate::units::Interval;

/// The run or the computation.
#[derive(Clone, Debug)]
pub enum Work {
    /// A simulation.
    Packets(Box<Packets>),
    /// A computation, which takes no seed and little time.
    Computation(Box<Computation>),
}

impl Work {
    /// Everything on which its rows depend, except the seed and the program.
    pub fn identity(&self) -> String {
        match self {
            Work::Packets(packets) => packets.identity(),
            Work::Computation(computation) => computation.identity(),
        }
    }
}

/// A simulation to be watched.
#[derive(Clone, Debug)]
pub struct Packets {
    /// The network and its traffic.
    pub valid: Valid,
    /// The flow that predictors watch, if any.
    pub watched: Option<Watched>,
    /// Intervals that are measured in addition to the measurement window, by name.
    pub windows: Vec<(String, Interval)>,
    /// Whether a report shows the run: each flow and each length of a queue has a row, and the sampled series follows
    /// flows one by one.
    pub shown: bool,
    /// The flows, if it is shown.
    pub followed: Followed,
}

/// The default number of flows of each group whose windows are in the series of a shown run.
pub const FOLLOWED: usize = 4;

impl From<Valid> for Packets {
    /// A run that is measured in its measurement window alone.
    fn from(valid: Valid) -> Packets {
        Packets { valid, watched: None, windows: Vec::new(), shown: false, followed: FOLLOWED.into() }
    }
}

/// Predictors on a flow.
#[derive(Clone, Debug)]
pub struct Watched {
    flow: FlowId,
    predictors: Vec<(String, Config)>,
    hold_off: f64,
    bins: usize,
}

impl Watched {
    /// Predictors on a flow by its number; the error says why it cannot be watched. An episode of losses ends
    /// `hold_off` round trips after its last drop; the queue at false positives is counted in `bins` steps.
    pub fn flow(
        valid: &Valid,
        flow: FlowId,
        predictors: &[(String, Config)],
        hold_off: f64,
        bins: usize,
    ) -> Result<Watched, String> {
        let watched = Watched { flow, predictors: predictors.to_vec(), hold_off, bins };
        watched.prediction(valid).map(|_| watched)
    }

    /// The names of the predictors in their registry.
    pub fn predictors(&self) -> impl Iterator<Item = &'static str> {
        self.predictors.iter().map(|(_, config)| config.name())
    }

    pub(super) fn prediction(&self, valid: &Valid) -> Result<Prediction, String> {
        Prediction::new(valid, self.flow, &self.predictors, self.hold_off, self.bins)
    }
}

impl Packets {
    /// Everything on which its rows depend, except the seed and the program.
    pub fn identity(&self) -> String {
        let Packets { valid, watched, windows, shown, followed: _ } = self;
        // The name is for readers.
        let Builder { name: _, schedule, network, groups, joints } = valid.parts();
        let followed = match self.followed() {
            Followed::Windows(flows) => flows.to_string(),
            Followed::Every => "every".into(),
        };
        format!("{schedule:?} {network:?} {groups:?} {joints:?} {watched:?} {windows:?} {shown} {followed}")
    }

    /// Flows that are sampled one by one: claims ignore them, and reports draw some.
    pub(super) fn followed(&self) -> Followed {
        if self.shown { self.followed } else { Followed::Windows(0) }
    }

    /// The keys of all metrics in its rows, in a simulation or on a machine.
    pub(crate) fn metrics(&self) -> Vec<String> {
        let of_runs = Subject::FEW.iter().flat_map(|subject| subject.metrics());
        let mut keys: Vec<String> = of_runs.map(|metric| metric.key.clone()).collect();
        if self.valid.schedule().sample.is_some() {
            let series = Series::new(&self.valid, 0, self.followed()).table();
            keys.extend((1..series.columns.len()).map(|column| series.quantity(column).to_string()));
        }
        if self.watched.is_some() {
            keys.extend(SCORES.map(String::from));
        }
        keys.extend([SENDING, RECEIVING].map(String::from));
        keys.extend(Played::metrics().map(|metric| metric.key));
        keys
    }

    /// The memory of a run, its observers included.
    pub fn cost(&self) -> Cost {
        let mut cost = Cost::of(&self.valid);
        cost.terms.extend(cost::watching(&self.valid, self.watching(cost.slots())));
        cost
    }

    /// The bytes of a finished run for a study, which may need its series.
    pub fn left(&self, series: bool) -> u64 {
        cost::left(&self.valid, self.watching(0), series)
    }

    fn watching(&self, flows: u64) -> Watching {
        let windows = 1 + self.windows.len();
        Watching { shown: self.shown, followed: self.followed(), windows, flows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::parse;

    #[test]
    fn another_scenario_is_another_identity() {
        let identity = |rtt: &str| {
            let text = format!(
                "[topology]\nkind = 'dumbbell'\nrate = '10mbit'\nrtt = '{rtt}'\n[[flows]]\ncc = 'pert'\n"
            );
            let valid = parse(&text).unwrap().cases.remove(0).valid;
            Packets::from(valid).identity()
        };
        assert_eq!(identity("60ms"), identity("60ms"));
        assert_ne!(identity("60ms"), identity("61ms"));
    }
}

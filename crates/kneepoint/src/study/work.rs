// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The work of a run: packets to be simulated and watched, or numbers to be computed.

use super::compute::Computation;
use super::watch::{SCORES, Yield};
use crate::measure::cost::{self, Watching};
use crate::measure::{Followed, Played, RECEIVING, SENDING, Series, Subject};
use crate::predict::{Config, Prediction};
use crate::run::{Cost, Division, Outcome, Simulation};
use crate::spec::{Builder, Schedule, Valid};
use crate::trace::{FlowId, Observer};
use crate::units::{Interval, Span, Time};

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

/// Simulated time between two looks for transfers that have yet to be reported.
const STEP: Span = Span::from_millis(500);

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

    /// The end of its last window, after which its rows change only by transfers that were delivered before and are reported later; its
    /// duration where something is observed outside of windows.
    pub fn observed(&self) -> Time {
        let Schedule { duration, measure, sample } = self.valid.schedule();
        let reports = self.valid.groups().iter().any(|group| !group.source.reports().metrics.is_empty());
        if sample.is_some() || self.watched.is_some() || reports {
            return duration;
        }
        self.windows.iter().map(|(_, window)| window.to).fold(measure.to, Time::max)
    }

    /// The time to which a run goes on that is observed until `end`, at most `step` further: first to `end`, then until each transfer that
    /// was delivered before `end` is reported. Nothing once no later event can change its rows.
    pub fn next<O: Observer>(&self, run: &Simulation<O>, end: Time, step: Span) -> Option<Time> {
        let (now, duration) = (run.now(), self.valid.schedule().duration);
        let to = if now < end { end } else { duration };
        let goes_on = now < end || now < duration && !run.has_reported(end);
        goes_on.then(|| to.min(now + step))
    }

    /// Its run as at most `threads` regions, which by estimate transmit at least `packets` between two exchanges; none if it cannot be divided
    /// so. All regions make the same steps, and their [observations](super::Watch::of_region) are [joined](Division::join).
    pub fn division(&self, threads: usize, packets: u64) -> Option<Division<'_>> {
        // Predictors compare a flow with a queue that may be in another region.
        self.watched.is_none().then(|| Division::new(&self.valid, threads, packets)).flatten()
    }

    /// What its run with this seed yields. The run ends as soon as its rows are known.
    pub fn run(&self, seed: u64) -> (Yield, Outcome) {
        let mut simulation = Simulation::new(&self.valid, seed, self.watch(seed));
        let end = self.observed();
        while let Some(until) = self.next(&simulation, end, STEP) {
            simulation.advance(until);
        }
        let (watch, outcome) = simulation.finish();
        (watch.finish(), outcome)
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
    use crate::run::run;
    use crate::scenario::parse;
    use crate::table::Row;

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

    /// A run of 20 s with this traffic, measured from 4 s to 9 s.
    fn measured(traffic: &str) -> Packets {
        let text = format!(
            "[run]\nduration = '20s'\nmeasure = '4s..9s'\n[topology]\nkind = 'dumbbell'\nrate = '4mbit'\nrtt = '60ms'\n{traffic}"
        );
        Packets::from(parse(&text).unwrap().cases.remove(0).valid)
    }

    #[test]
    fn a_run_ends_with_its_last_window_and_its_rows_are_those_of_the_whole_one() {
        let window = |name: &str, from, to| {
            let at = |seconds| Span::from_secs(seconds).after_start();
            (name.to_string(), Interval { from: at(from), to: at(to) })
        };
        let long = "[[flows]]\ncount = 3\ncc = 'pert'\n[[flows]]\nname = 'back'\ncc = 'cubic'\ndirection = 'reverse'\n";
        let sized = "[[flows]]\nname = 'sized'\ncount = 9\ncc = 'reno'\nsize = '400kB'\nstart = '5s..8s'\n";
        let mixed = "[[web]]\nsessions = 8\ncc = 'reno'\n[[cbr]]\nrate = '1mbit'\n[[flows]]\ncc = 'bbr'\nstop = '12s'\n";
        let random = "[loss]\nkind = 'uniform'\np = 0.2\n";
        for traffic in [long, sized, mixed, &format!("{long}{sized}{random}"), &format!("{mixed}{random}")] {
            for windows in [Vec::new(), vec![window("later", 8, 12), window("early", 0, 3)]] {
                for shown in [false, true] {
                    let packets = Packets { windows: windows.clone(), shown, ..measured(traffic) };
                    let (whole, all) = run(&packets.valid, 3, packets.watch(3));
                    let (seen, some) = packets.run(3);
                    let rows = |rows: &[Row]| serde_json::to_string(rows).unwrap();
                    assert_eq!(rows(&seen.rows), rows(&whole.finish().rows), "{traffic}");
                    assert!(some.events < all.events, "{some:?} of {all:?}: {traffic}");
                }
            }
        }
    }

    #[test]
    fn a_transfer_that_was_delivered_in_the_window_counts_though_its_sender_learns_that_after_the_end() {
        // Some of the last acknowledgements are lost; in the second case all, so that nothing is ever reported.
        for (lost, size, ever) in [(0.3, "4kB", true), (1.0, "1kB", false)] {
            let packets = measured(&format!(
                "[[flows]]\ncount = 20\ncc = 'reno'\nsize = '{size}'\nstart = '8s..8.9s'\n[reverse.loss]\nkind = 'uniform'\np = {lost:.1}\n",
            ));
            let mut simulation = Simulation::new(&packets.valid, 1, packets.watch(1));
            simulation.advance(packets.observed());
            assert!(!simulation.has_reported(packets.observed()), "none is reported late");
            let (whole, _) = run(&packets.valid, 1, packets.watch(1));
            let (seen, _) = packets.run(1);
            let rows = |rows: &[Row]| serde_json::to_string(rows).unwrap();
            assert_eq!(rows(&seen.rows), rows(&whole.finish().rows));
            // Steps that do not divide what is left end with the run.
            let step = Span::from_millis(700);
            while let Some(until) = packets.next(&simulation, packets.observed(), step) {
                assert!(until <= packets.valid.schedule().duration && until > simulation.now());
                simulation.advance(until);
            }
            assert_eq!(simulation.has_reported(packets.observed()), ever);
        }
    }

    #[test]
    fn a_run_that_is_observed_outside_of_windows_has_its_whole_length() {
        let whole = |packets: &Packets| packets.observed() == packets.valid.schedule().duration;
        let long = measured("[[flows]]\ncc = 'pert'\n");
        assert!(!whole(&long));
        let sampled = long.valid.clone().with_sample(Some(Span::from_secs(1))).unwrap();
        assert!(whole(&Packets::from(sampled)));
        assert!(whole(&measured("[[media]]\ncontrol = 'gcc'\n")));
    }
}

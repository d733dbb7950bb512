// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Computations: work without packets, the same for every seed.

use crate::cc::{self, Ack, Loss, Start};
use crate::fluid::axis::ParameterAxis;
use crate::fluid::boundary::{Change, boundary};
use crate::fluid::dde::Trajectory;
use crate::fluid::theorem::Theorem;
use crate::fluid::{self, Local};
use crate::markov::{self, Solution};
use crate::rng::Rng;
use crate::scenario::Words;
use crate::table::Row;
use crate::units::{Span, Time};

crate::choice! {
    /// The result to compute.
    pub enum What {
        /// The trajectory of a fluid model from its start.
        Trajectory = "trajectory",
        /// The behaviour of a fluid model near its equilibrium, and the theorem's verdict.
        Stability = "stability",
        /// The value of a parameter at which a fluid model becomes unstable.
        Boundary = "boundary",
        /// A controller's function of a queueing delay: the probability of a response, and further state.
        Response = "response",
        /// The throughput of a persistent session next to ephemeral ones, by Markov renewal analysis.
        Markov = "markov",
    }
}

crate::settings! {
    /// A computation.
    pub struct ComputeParams {
        /// The result to compute.
        what: What = What::Trajectory;
        /// The length of a trajectory.
        until: Span = Span::from_secs(60), Span::from_millis(1)..=Span::from_secs(100_000);
        /// Samples of a trajectory, for its figure.
        samples: u32 = 500, 2..=100_000;
        /// The parameter along which a boundary is sought, as in `rtt=100ms..250ms`.
        along: Words = Words("rtt=20ms..500ms:200".into());
        /// The queueing delay that a controller answers.
        queueing: Span = Span::ZERO, Span::ZERO..=Span::from_secs(100);
        /// The greatest queueing delay that it received before.
        greatest: Span = Span::ZERO, Span::ZERO..=Span::from_secs(100);
        /// The losses that it had before, each after a thousand acknowledgements at the greatest queueing delay.
        losses: u32 = 0, 0..=1000;
    }
}

/// A computation with its subject.
#[derive(Clone, Debug)]
pub struct Computation {
    /// Its parameters.
    pub settings: ComputeParams,
    /// The fluid model, unless its subject is a controller.
    pub model: fluid::Config,
    /// The controller, unless its subject is a model.
    pub controller: cc::Config,
    /// The persistent session, if its subject is one.
    pub chain: markov::Params,
}

/// A metric of a persistent session: its key, and its value.
type Metric = (&'static str, fn(&Solution) -> f64);

/// The metrics of a persistent session.
const CHAIN: [Metric; 8] = [
    ("throughput_pps", |solution| solution.throughput),
    ("efficiency", |solution| solution.efficiency),
    ("losses_per_s", |solution| solution.losses),
    ("loss_probability", |solution| solution.loss_probability),
    ("mean_window_packets", |solution| solution.mean_window),
    ("fair_rate_pps", |solution| solution.fair_rate),
    ("states", |solution| solution.states as f64),
    ("transitions", |solution| solution.transitions as f64),
];

impl Computation {
    /// All inputs of its rows, except for the program.
    pub fn identity(&self) -> String {
        format!("{self:?}")
    }

    /// The result; the error says why there is none.
    pub fn rows(&self) -> Result<Vec<Row>, String> {
        match self.settings.what {
            What::Trajectory => self.trajectory(),
            What::Stability => self.stability(),
            What::Boundary => self.boundary(),
            What::Response => Ok(vec![self.settings.response(&self.controller)]),
            What::Markov => self.chain(),
        }
    }

    /// The metrics of its rows; none if it has no result.
    pub(crate) fn metrics(&self) -> Option<Vec<String>> {
        if self.settings.what == What::Boundary {
            return self.settings.along.0.parse().ok().map(|axis| boundaries(&axis).to_vec());
        }
        if self.settings.what == What::Markov {
            return Some(CHAIN.map(|(metric, _)| metric.to_string()).to_vec());
        }
        // They depend neither on the length of a trajectory nor on earlier losses.
        let until = Span::from_millis(1);
        let settings = ComputeParams { until, samples: 2, losses: 0, ..self.settings.clone() };
        let rows = Computation { settings, ..self.clone() }.rows().ok()?;
        Some(rows.into_iter().flat_map(|row| row.values.into_keys()).collect())
    }

    fn trajectory(&self) -> Result<Vec<Row>, String> {
        let model = self.model.build();
        let rest = model.local()?.equilibrium.state;
        let end = self.settings.until.as_secs_f64();
        let trajectory = model.run(model.start(), end)?;
        let whole = (0..3).fold(Row::new([]), |row, state| {
            let name = model.states()[state];
            let motion = Motion::of(&trajectory, state, rest[state], end);
            row.with(format!("{name}_rest"), rest[state])
                .with(format!("{name}_end"), trajectory.at(trajectory.end())[state])
                .with(format!("{name}_least"), motion.least)
                .with(format!("{name}_greatest"), motion.greatest)
                .with(format!("{name}_turns"), motion.turns as f64)
                .with(format!("{name}_growth"), motion.growth)
        });
        let samples = self.settings.samples;
        let instants = (0..samples).map(|place| end * f64::from(place) / f64::from(samples - 1));
        let instants = instants.filter(|at| *at <= trajectory.end());
        let over_time = instants.map(|at| {
            let states = trajectory.at(at);
            let row = Row::new([("time", at.to_string())]);
            (0..3).fold(row, |row, state| row.with(model.states()[state], states[state]))
        });
        Ok(std::iter::once(whole).chain(over_time).collect())
    }

    fn stability(&self) -> Result<Vec<Row>, String> {
        let model = self.model.build();
        let local = model.local()?;
        let theorem = model.theorem();
        let phase = local.margins().phase.map_or(f64::NAN, |(degrees, _)| degrees);
        let row = (0..3).fold(Row::new([]), |row, state| {
            row.with(format!("{}_rest", model.states()[state]), local.equilibrium.state[state])
        });
        let row = row
            .with("least_interval_over_delta", stretch(&theorem))
            .with("probability_rest", local.equilibrium.probability)
            .with("mode_real_per_s", local.mode().re)
            .with("mode_imaginary_per_s", local.mode().im)
            .with("damping", Local::damping(&local))
            .with("phase_margin_degrees", phase)
            .with("theorem_left", theorem.left)
            .with("theorem_right", theorem.right);
        Ok(vec![row])
    }

    fn chain(&self) -> Result<Vec<Row>, String> {
        let solution = markov::solve(&self.chain)?;
        Ok(vec![CHAIN.iter().fold(Row::new([]), |row, (metric, of)| row.with(*metric, of(&solution)))])
    }

    fn boundary(&self) -> Result<Vec<Row>, String> {
        let axis: ParameterAxis = self.settings.along.0.parse()?;
        let found = boundary(&self.model, &axis)?;
        let changes = [found.unstable, found.theorem, found.oscillating];
        let at = |change: Option<Change>| change.map_or(f64::NAN, |change| change.at);
        let named = boundaries(&axis).into_iter().zip(changes);
        Ok(vec![named.fold(Row::new([]), |row, (name, change)| row.with(name, at(change)))])
    }
}

/// The metrics of a boundary along an axis.
fn boundaries(axis: &ParameterAxis) -> [String; 3] {
    ["boundary", "theorem", "oscillating"].map(|what| format!("{what}_{}", axis.column()))
}

/// Acknowledgements between losses, and packets in flight.
const BETWEEN: u64 = 1000;
const FLIGHT: u64 = 100;

impl ComputeParams {
    /// The controller receives an empty path once, then the earlier samples, then the queue once: its average must not
    /// remember. Its numbers have the names that it assigns.
    fn response(&self, controller: &cc::Config) -> Row {
        let mut controller = controller.build(Start::avoiding(FLIGHT as f64));
        let mut rng = Rng::stream(1, "response", 0);
        let mut heard = 0;
        let mut hear = |one: &mut cc::Any, queueing: Span| {
            heard += 1;
            let (now, rtt) = (Time::ZERO + Span::from_millis(heard), Span::from_millis(60) + queueing);
            let ack = Ack {
                now,
                rtt: Some(rtt),
                one_way: Some(rtt),
                acked: 1,
                delivered: heard,
                resent: 0,
                marked: 0,
                credit: 1.0,
                limited: false,
                una: heard,
                next: heard + FLIGHT,
                in_flight: FLIGHT as u32,
                recovering: false,
            };
            one.on_ack(&ack, &mut rng);
            Loss { now, flight: FLIGHT as f64, una: heard, next: heard + FLIGHT }
        };
        hear(&mut controller, Span::ZERO);
        if self.greatest > Span::ZERO {
            hear(&mut controller, self.greatest);
        }
        for _ in 0..self.losses {
            let acks = (0..BETWEEN).map(|_| hear(&mut controller, self.greatest));
            if let Some(loss) = acks.last() {
                controller.on_loss(&loss);
            }
        }
        hear(&mut controller, self.queueing);
        let state = controller.state();
        let row = Row::new([]).with("probability", f64::NAN);
        state.into_iter().fold(row, |row, (name, value)| row.with(name, value))
    }
}

/// The factor of the sampling interval that makes both sides of Theorem 1 equal; zero if any factor does.
///
/// Equation (13) is the interval itself: the right side of (11) is sqrt(wg²/K² + 1), and K is inverse to the interval.
fn stretch(theorem: &Theorem) -> f64 {
    let excess = |side: f64| (side * side - 1.0).max(0.0);
    (excess(theorem.left) / excess(theorem.right)).sqrt()
}

/// The motion of one state of a trajectory.
struct Motion {
    /// Its range in the last fifth.
    least: f64,
    greatest: f64,
    /// The number of turning points.
    turns: usize,
    /// The greatest ratio of a peak's height over the equilibrium to that of the peak before.
    growth: f64,
}

impl Motion {
    fn of(trajectory: &Trajectory<3>, state: usize, rest: f64, end: f64) -> Motion {
        // Closer to the equilibrium than this, turning points are due to rounding.
        let near = 1e-6 * rest.abs();
        let turns = trajectory.extrema(state, 0.0, end);
        let heights: Vec<f64> =
            turns.iter().map(|(_, value)| value - rest).filter(|off| off.abs() > near).collect();
        let peaks: Vec<f64> = heights.iter().copied().filter(|height| *height > 0.0).collect();
        let (least, greatest) = trajectory.range(state, 0.8 * end);
        Motion {
            least,
            greatest,
            turns: heights.len(),
            growth: peaks.windows(2).map(|pair| pair[1] / pair[0]).fold(f64::NAN, f64::max),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fluid::theorem::{Bottleneck, least_interval, theorem1};
    use crate::measure::Subject;
    use crate::settings::{Raw, Settings};

    fn computation(what: What) -> Computation {
        let settings = ComputeParams { what, ..ComputeParams::default() };
        Computation {
            settings,
            model: fluid::Config::default(),
            controller: cc::Config::named("pert").unwrap(),
            chain: markov::Params::default(),
        }
    }

    fn number(rows: &[Row], metric: &str) -> f64 {
        rows[0].values[metric].unwrap_or(f64::NAN)
    }

    #[test]
    fn the_stretched_interval_is_equation_13() {
        let at = Bottleneck { capacity: 1000.0, flows: 10.0, rtt: 0.2, decrease: 0.5 };
        let theorem = theorem1(at, 2.0, libm::log(0.99) / 1.0, 0.1);
        assert!((stretch(&theorem) - least_interval(at, 2.0, 0.99)).abs() < 1e-9);
        assert!((stretch(&theorem) - 8.0378).abs() < 1e-4, "{}", stretch(&theorem));
    }

    #[test]
    fn a_trajectory_tells_where_it_ends_and_whether_its_peaks_grow() {
        let rows = computation(What::Trajectory).rows().unwrap();
        // 160 ms: W* = 3.2, with peaks of 4.232, 3.934, 3.745, …
        assert!((number(&rows, "window_packets_rest") - 3.2).abs() < 1e-9);
        assert!((number(&rows, "window_packets_end") - 3.2).abs() < 1e-3);
        let growth = number(&rows, "window_packets_growth");
        assert!((0.7..1.0).contains(&growth), "{growth}");
        assert_eq!(rows.len(), 501);
    }

    #[test]
    fn a_boundary_has_the_unit_of_its_axis() {
        let mut computation = computation(What::Boundary);
        computation.settings.along = Words("rtt=120ms..200ms:20".into());
        let boundary = number(&computation.rows().unwrap(), "boundary_rtt_ms");
        assert!((boundary - 165.83).abs() < 0.01, "{boundary}");
    }

    #[test]
    fn a_persistent_session_has_every_metric_that_is_announced_and_none_that_runs_have() {
        let mut computation = computation(What::Markov);
        computation.chain.set("protocol", &Raw::Text("tcp".into())).unwrap();
        let rows = computation.rows().unwrap();
        let announced = computation.metrics().unwrap();
        assert!(rows[0].values.keys().all(|metric| announced.contains(metric)));
        assert_eq!((rows.len(), rows[0].values.len()), (1, announced.len()));
        assert!((0.5..1.0).contains(&number(&rows, "efficiency")));
        // An experiment may have both under the same labels.
        for metric in Subject::Run.metrics().iter().chain(Subject::Link.metrics()) {
            assert!(!announced.contains(&metric.key), "{}", metric.key);
        }
    }

    #[test]
    fn a_controller_without_memory_answers_by_its_curve() {
        let mut computation = computation(What::Response);
        computation.controller.set("history", &Raw::Float(0.0)).unwrap();
        for (micros, expected) in [(5_000, 0.0), (7_500, 0.025), (15_000, 0.525), (50_000, 1.0)] {
            computation.settings.queueing = Span::from_micros(micros);
            let probability = number(&computation.rows().unwrap(), "probability");
            assert!((probability - expected).abs() < 1e-9, "{micros}: {probability}");
        }
    }

    #[test]
    fn a_controller_shows_what_it_remembers_of_what_came_before() {
        let mut computation = computation(What::Response);
        computation.controller.set("history", &Raw::Float(0.0)).unwrap();
        computation.settings.greatest = Span::from_millis(30);
        computation.settings.queueing = Span::from_millis(20);
        let rows = computation.rows().unwrap();
        assert_eq!((number(&rows, "queueing_delay_ms"), number(&rows, "early_responses")), (20.0, 1.0));
        computation.settings.losses = 3;
        // Certain at 30 ms, so once for each flight of 100 of the 3002 that follow the first.
        let responses = number(&computation.rows().unwrap(), "early_responses");
        assert!((25.0..=31.0).contains(&responses), "{responses}");
    }
}

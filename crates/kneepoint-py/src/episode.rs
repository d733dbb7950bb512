// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A run that advances step by step, with one transfer whose window is set from outside between the steps.

use std::sync::{Arc, Mutex};

use kneepoint::cc::external::{External, Object};
use kneepoint::cc::steady::ResponseFunction;
use kneepoint::cc::{
    Ack, Advised, Any, Config, Control, Ecn, Loss, Marks, Resize, Sizes, Start, Timeout, Wanted,
};
use kneepoint::rng::Rng;
use kneepoint::run::Simulation;
use kneepoint::settings::NoParameters;
use kneepoint::spec::Valid;
use kneepoint::suggest::did_you_mean;
use kneepoint::units::{PacketRate, Span, Time};
use kneepoint_bench::budget::{self, Guard};
use kneepoint_bench::failure::Failure;
use kneepoint_bench::session::{Spelling, lock};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::algorithms::{self, Algorithm, Raised};
use crate::errors;

type Run<'a> = Simulation<'a, ()>;

self_cell::self_cell!(
    /// A run, with the scenario that it borrows.
    struct Running {
        owner: Valid,
        #[not_covariant]
        dependent: Run,
    }
);

/// Packets that a window may have at most.
const MOST_PACKETS: f64 = 1e6;

/// Settings from outside, and the sender's observations since the last call.
#[derive(Debug)]
struct Shared {
    window: f64,
    factor: f64,
    pacing: Option<PacketRate>,
    seen: Seen,
    /// Least round-trip time of the whole run.
    rtt_min: f64,
    rtt_last: f64,
    /// Packets sent, retransmitted and delivered so far.
    totals: [u64; 3],
    in_flight: u32,
}

/// The sender's view of an interval.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    acks: u64,
    marked: u64,
    losses: u64,
    timeouts: u64,
    /// Round-trip times over time: their number, and the sums of t, r, t·r and t².
    rtts: f64,
    t: f64,
    r: f64,
    tr: f64,
    tt: f64,
    /// The totals when it began.
    began: [u64; 3],
}

impl Seen {
    /// The slope of round-trip times over time, by least squares.
    fn gradient(&self) -> f64 {
        let spread = self.rtts * self.tt - self.t * self.t;
        if self.rtts < 2.0 || spread <= 0.0 { 0.0 } else { (self.rtts * self.tr - self.t * self.r) / spread }
    }
}

/// The controller of the transfer.
#[derive(Debug)]
struct Agent {
    shared: Arc<Mutex<Shared>>,
    /// The controller whose window is scaled, if there is one.
    under: Option<Any>,
}

impl Object for Agent {
    fn marks(&self) -> Marks {
        self.under.as_ref().map_or(Marks::Classic, Any::marks)
    }
    fn wanted(&self) -> Wanted {
        self.under.as_ref().map_or(Wanted::Nothing, Any::wanted)
    }
    fn steers_recovery(&self) -> bool {
        self.under.as_ref().is_none_or(Any::steers_recovery)
    }
    fn steady_state(&self) -> &'static [ResponseFunction] {
        &[]
    }
    fn control(&self) -> Control {
        let shared = lock(&self.shared);
        let under = self.under.as_ref().map(Any::control);
        let window = under.map_or(shared.window, |control| control.window * shared.factor);
        let pacing = shared.pacing.or(under.and_then(|control| control.pacing));
        Control { window: window.clamp(1.0, MOST_PACKETS), pacing }
    }
    fn state(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
    fn on_ack(&mut self, ack: &Ack, rng: &mut Rng) {
        {
            let mut shared = lock(&self.shared);
            shared.totals = [ack.next + ack.resent, ack.resent, ack.delivered];
            shared.in_flight = ack.in_flight;
            shared.seen.acks += 1;
            shared.seen.marked += u64::from(ack.marked);
            if let Some(rtt) = ack.rtt.map(Span::as_secs_f64) {
                shared.rtt_min = shared.rtt_min.min(rtt);
                shared.rtt_last = rtt;
                let (t, seen) = (ack.now.as_secs_f64(), &mut shared.seen);
                seen.rtts += 1.0;
                seen.t += t;
                seen.r += rtt;
                seen.tr += t * rtt;
                seen.tt += t * t;
            }
        }
        if let Some(under) = &mut self.under {
            under.on_ack(ack, rng);
        }
    }
    fn on_loss(&mut self, loss: &Loss) {
        lock(&self.shared).seen.losses += 1;
        if let Some(under) = &mut self.under {
            under.on_loss(loss);
        }
    }
    fn on_timeout(&mut self, timeout: &Timeout) {
        lock(&self.shared).seen.timeouts += 1;
        if let Some(under) = &mut self.under {
            under.on_timeout(timeout);
        }
    }
    fn on_ecn(&mut self, ecn: &Ecn) {
        lock(&self.shared).seen.marked += 1;
        if let Some(under) = &mut self.under {
            under.on_ecn(ecn);
        }
    }
    fn on_advice(&mut self, advised: &Advised) {
        if let Some(under) = &mut self.under {
            under.on_advice(advised);
        }
    }
    fn on_resize(&mut self, resize: &Resize) {
        if let Some(under) = &mut self.under {
            let factor = lock(&self.shared).factor;
            under.on_resize(&Resize { window: resize.window / factor, ..*resize });
        }
    }
    fn on_opened(&mut self, now: Time, rtt: Span) {
        if let Some(under) = &mut self.under {
            under.on_opened(now, rtt);
        }
    }
    fn on_resume(&mut self, now: Time, idle: Span) {
        if let Some(under) = &mut self.under {
            under.on_resume(now, idle);
        }
    }
    /// The request of the wrapped controller.
    fn yields(&mut self) -> bool {
        self.under.as_mut().is_some_and(Any::yields)
    }
    /// The window is set from outside, or scaled from there.
    fn sizes(&mut self) -> Option<Sizes<'_>> {
        None
    }
    fn duplicate(&self) -> Box<dyn Object> {
        Box::new(Agent { shared: Arc::clone(&self.shared), under: self.under.clone() })
    }
}

/// One run of a scenario in steps. Between them the window of one transfer is set.
#[pyclass(unsendable, module = "kneepoint._native")]
pub struct Episode {
    running: Running,
    shared: Arc<Mutex<Shared>>,
    /// The failure of an algorithm in Python.
    raised: Arc<Raised>,
    /// Its limits.
    guard: Guard,
    now: Time,
    end: Time,
}

#[pymethods]
impl Episode {
    /// A run of the scenario with this text and seed. The only transfer of `group`, or of the first group, is the
    /// agent's; with `under` its window is this controller's, times a factor. The scenario and `under` may name the
    /// algorithms.
    #[new]
    #[pyo3(signature = (text, seed, group = None, under = None, algorithms = Vec::new()))]
    fn new(
        py: Python<'_>,
        text: String,
        seed: u64,
        group: Option<&str>,
        under: Option<&str>,
        algorithms: Vec<Algorithm>,
    ) -> PyResult<Episode> {
        let usage = |message: String, remedy: &str| errors::of_failure(py, Failure::usage(message, remedy));
        let raised = Arc::new(Raised::default());
        let extensions = algorithms::extensions(py, algorithms, &raised)?;
        let under = under.map(|name| {
            let own = extensions.controllers();
            let registered = kneepoint::cc::REGISTRY.iter().map(|entry| entry.name);
            let known: Vec<&str> = registered.chain(own.iter().map(Config::name)).collect();
            Config::named(name)
                .or_else(|| own.iter().find(|one| one.name() == name).cloned())
                .ok_or_else(|| usage(format!("unknown controller `{name}`"), &did_you_mean(name, &known)))
        });
        let under = under.transpose()?;
        let plan = match extensions.parse(&text) {
            Ok(plan) => plan,
            Err(faults) => {
                let origin = "the environment's scenario".to_string();
                return Err(errors::of_failure(py, Failure::Scenario { origin, text, faults }));
            }
        };
        let Ok([case]) = <[_; 1]>::try_from(plan.cases) else {
            return Err(usage("the scenario has a sweep".into(), "an environment has one case"));
        };
        let mut parts = case.valid.into_builder();
        let mut groups = parts.groups.iter_mut().filter(|one| one.kind().listed());
        let chosen = groups.find(|one| group.is_none_or(|name| one.name == name));
        let Some(chosen) = chosen.filter(|one| one.members.len() == 1) else {
            let what = group.map_or("the first group".to_string(), |name| format!("the group `{name}`"));
            return Err(usage(
                format!("{what} is not one transfer"),
                "an agent steers `count = 1` of [[flows]]",
            ));
        };
        let shared = Arc::new(Mutex::new(Shared {
            window: 10.0,
            factor: 1.0,
            pacing: None,
            seen: Seen::default(),
            rtt_min: f64::INFINITY,
            rtt_last: f64::NAN,
            totals: [0; 3],
            in_flight: 0,
        }));
        let own = Arc::clone(&shared);
        let make = move |_: NoParameters, start: Start| -> Box<dyn Object> {
            Box::new(Agent {
                shared: Arc::clone(&own),
                under: under.as_ref().map(|config| config.build(start)),
            })
        };
        chosen.cc = Some(Config::from(External::new("agent", "//! An agent outside the run.\n", make)));
        let valid = parts.build().map_err(|invalid| usage(invalid.message.clone(), &invalid.help.clone()))?;
        let end = valid.schedule().duration;
        let guard =
            budget::admit(&valid, Spelling::Keywords).map_err(|failure| errors::of_failure(py, failure))?;
        let running = Running::new(valid, |valid| Simulation::new(valid, seed, ()));
        raised.check()?;
        Ok(Episode { running, shared, raised, guard, now: Time::ZERO, end })
    }

    /// Sets the window in packets, or the factor of the controller beneath, and the rate of packets per second, if any.
    #[pyo3(signature = (window = None, factor = None, pacing = None))]
    fn set(&self, window: Option<f64>, factor: Option<f64>, pacing: Option<f64>) {
        let mut shared = lock(&self.shared);
        let sound = |number: f64| number.is_finite() && number > 0.0;
        shared.window = window.filter(|window| sound(*window)).unwrap_or(shared.window);
        shared.factor = factor.filter(|factor| sound(*factor)).unwrap_or(shared.factor);
        shared.pacing = pacing.filter(|rate| sound(*rate)).map(PacketRate).or(shared.pacing);
    }

    /// Continues for this many seconds, or to the end, and returns the sender's observations in them.
    fn advance<'py>(&mut self, py: Python<'py>, seconds: f64) -> PyResult<Bound<'py, PyDict>> {
        let until = self.end.min(self.now + Span::from_secs_f64(seconds.max(1e-6)));
        let began = self.now;
        let Episode { running, guard, .. } = self;
        let went = running.with_dependent_mut(|_, run| guard.advance(run, until));
        self.now = until;
        self.raised.check()?;
        went.map_err(|failure| errors::of_failure(py, failure))?;
        let mut shared = lock(&self.shared);
        let seen = std::mem::take(&mut shared.seen);
        shared.seen.began = shared.totals;
        let passed = |place: usize| (shared.totals[place] - seen.began[place]) as f64;
        let numbers = [
            ("time_s", until.as_secs_f64()),
            ("duration_s", until.since(began).as_secs_f64()),
            ("sent_packets", passed(0)),
            ("resent_packets", passed(1)),
            ("delivered_packets", passed(2)),
            ("acks", seen.acks as f64),
            ("marked", seen.marked as f64),
            ("loss_episodes", seen.losses as f64),
            ("timeouts", seen.timeouts as f64),
            ("rtt_mean_s", if seen.rtts > 0.0 { seen.r / seen.rtts } else { shared.rtt_last }),
            ("rtt_min_s", shared.rtt_min),
            ("rtt_last_s", shared.rtt_last),
            ("rtt_gradient", seen.gradient()),
            ("in_flight_packets", f64::from(shared.in_flight)),
        ];
        let told = PyDict::new(py);
        for (name, number) in numbers {
            told.set_item(name, number)?;
        }
        Ok(told)
    }

    /// Whether the run has ended.
    #[getter]
    fn over(&self) -> bool {
        self.now >= self.end
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Controllers in Python: an object for each flow, which receives every signal, and whose window and pace are read
//! after each.

use std::sync::Arc;

use kneepoint::cc::external::Object;
use kneepoint::cc::steady::ResponseFunction;
use kneepoint::cc::{self, Advice, Advised, Control, Marks, Resize, Sizes, Wanted};
use kneepoint::rng::Rng;
use kneepoint::units::{PacketRate, Span, Time};
use pyo3::intern;
use pyo3::prelude::*;

use super::body::{At, Body, Definition, Outcome, Trouble, choice, shown};
use super::draws::Draws;
use super::parameters::Parameters;

/// Packets that a window may have at most: one that grows beyond is a mistake, and would be sent at once.
const MOST_PACKETS: f64 = 1e6;

/// The initial conditions of a controller; windows are in packets.
#[pyclass(frozen, get_all, module = "kneepoint._native")]
struct Start {
    /// The window of a fresh connection.
    initial_window: f64,
    /// The slow-start threshold; infinite unless an experiment sets it.
    initial_ssthresh: f64,
    /// The growth of the window below the threshold.
    slow_start: String,
    /// The version of a controller that runs: "published" or "linux".
    version: String,
    /// The random numbers of the flow.
    rng: Py<Draws>,
}

/// An acknowledgement arrived.
#[pyclass(frozen, get_all, module = "kneepoint._native")]
struct Ack {
    /// The time.
    now_s: f64,
    /// The round-trip time it measures, where it measures one.
    rtt_s: Option<f64>,
    /// The time from sender to receiver that it measures, where it measures one; the clocks may differ by a constant.
    one_way_s: Option<f64>,
    /// Packets newly acknowledged in order; zero for a duplicate.
    acked: u32,
    /// Packets known to have arrived, in order or not.
    delivered: u64,
    /// Packets retransmitted so far.
    resent: u64,
    /// Marked packets according to this acknowledgement, for `marks` that are echoed one by one.
    marked: u32,
    /// Packets by which this acknowledgement may grow the window: zero while something else limits the sender, or losses are repaired.
    credit: f64,
    /// Whether the sender had nothing more to send.
    limited: bool,
    /// The first packet not yet acknowledged in order.
    una: u64,
    /// The next packet never sent so far.
    next: u64,
    /// Packets outstanding.
    in_flight: u32,
    /// Whether losses are being repaired.
    recovering: bool,
}

/// Packets were lost: once per episode, when the host begins to repair.
#[pyclass(frozen, get_all, module = "kneepoint._native")]
struct Loss {
    /// The time.
    now_s: f64,
    /// Packets that were using the path.
    flight: f64,
    /// The first packet not yet acknowledged in order.
    una: u64,
    /// The next packet never sent so far: the episode ends when it is acknowledged.
    next: u64,
}

/// The retransmission timer expired: nothing counts as in flight from here.
#[pyclass(frozen, get_all, module = "kneepoint._native")]
struct Timeout {
    /// The time.
    now_s: f64,
    /// Packets that were using the path.
    flight: f64,
    /// Whether the loss was already reported, so that the threshold must not fall again.
    reported: bool,
    /// The next packet never sent so far.
    next: u64,
}

/// The receiver echoed a congestion mark: at most once per window of data.
#[pyclass(frozen, get_all, module = "kneepoint._native")]
struct Ecn {
    /// The time.
    now_s: f64,
    /// Packets that were using the path.
    flight: f64,
    /// The next packet never sent so far.
    next: u64,
}

/// The network advised the sender, as requested by `wanted`.
#[pyclass(frozen, get_all, module = "kneepoint._native", name = "Advised")]
struct PyAdvised {
    /// The time.
    now_s: f64,
    /// The rate that the path allows.
    rate_packets_per_s: Option<f64>,
    /// Packets by which the window should change.
    change: Option<f64>,
}

pub(super) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Start>()?;
    module.add_class::<Ack>()?;
    module.add_class::<Loss>()?;
    module.add_class::<Timeout>()?;
    module.add_class::<Ecn>()?;
    module.add_class::<PyAdvised>()
}

/// An object for a flow.
pub(super) fn make(
    definition: &Arc<Definition>,
    parameters: &Parameters,
    start: cc::Start,
) -> Box<dyn Object> {
    Box::new(Scripted::new(definition, parameters, start))
}

/// The description of an object, read once.
#[derive(Clone, Copy, Debug)]
struct Traits {
    marks: Marks,
    wanted: Wanted,
    steers_recovery: bool,
    paces: bool,
    hears_marks: bool,
    hears_advice: bool,
}

impl Traits {
    const NONE: Traits = Traits {
        marks: Marks::Classic,
        wanted: Wanted::Nothing,
        steers_recovery: false,
        paces: false,
        hears_marks: false,
        hears_advice: false,
    };

    fn read(object: &Bound<'_, PyAny>) -> Outcome<Traits> {
        Ok(Traits {
            marks: choice(
                object,
                "marks",
                &[("classic", Marks::Classic), ("each", Marks::Each), ("scalable", Marks::Scalable)],
            )?,
            wanted: choice(
                object,
                "wanted",
                &[("nothing", Wanted::Nothing), ("rate", Wanted::Rate), ("change", Wanted::Change)],
            )?,
            steers_recovery: match object.getattr_opt("steers_recovery")? {
                Some(steers) => steers.is_truthy()?,
                None => false,
            },
            paces: object.hasattr("pacing")?,
            hears_marks: object.hasattr("on_ecn")?,
            hears_advice: object.hasattr("on_advice")?,
        })
    }
}

/// A controller in Python.
#[derive(Clone, Debug)]
struct Scripted {
    body: Body,
    traits: Traits,
    control: Control,
}

impl Scripted {
    fn new(definition: &Arc<Definition>, parameters: &Parameters, start: cc::Start) -> Scripted {
        let context = |py: Python<'_>, rng: Py<Draws>| {
            let start = Start {
                initial_window: start.initial_window,
                initial_ssthresh: start.initial_ssthresh,
                slow_start: start.slow_start.to_string(),
                version: start.version.to_string(),
                rng,
            };
            Ok(Py::new(py, start)?.into_any())
        };
        let read = |object: &Bound<'_, PyAny>| {
            let traits = Traits::read(object)?;
            Ok((traits, control(object, traits.paces)?))
        };
        let (body, told) = Body::new(definition, parameters, context, read);
        let idle = Control { window: start.initial_window.max(1.0), pacing: None };
        let (traits, control) = told.unwrap_or((Traits::NONE, idle));
        Scripted { body, traits, control }
    }
}

/// Tells the object something, and reads its window and its pace.
macro_rules! tell {
    ($scripted:expr, $method:literal, $now:expr, $signal:expr, $rng:expr) => {{
        let paces = $scripted.traits.paces;
        let told = $scripted.body.call(At($method, $now), $rng, |object| {
            object.call_method1(intern!(object.py(), $method), ($signal,))?;
            control(object, paces)
        });
        $scripted.control = told.unwrap_or($scripted.control);
    }};
}

/// Its window and its pace now.
fn control(object: &Bound<'_, PyAny>, paces: bool) -> Outcome<Control> {
    let py = object.py();
    let window = positive(&object.getattr(intern!(py, "window"))?, "window", MOST_PACKETS, "packets")?;
    let pacing = match paces {
        false => None,
        true => {
            let pacing = object.getattr(intern!(py, "pacing"))?;
            let rate = || positive(&pacing, "pacing", f64::MAX, "packets per second, or None");
            if pacing.is_none() { None } else { Some(PacketRate(rate()?)) }
        }
    };
    Ok(Control { window: window.max(1.0), pacing })
}

/// A positive number.
fn positive(given: &Bound<'_, PyAny>, name: &str, most: f64, unit: &str) -> Outcome<f64> {
    match given.extract::<f64>() {
        Ok(number) if number > 0.0 && number <= most => Ok(number),
        _ => {
            let most = if most < f64::MAX { format!("up to {most}") } else { "finite".to_string() };
            let message =
                format!("{name} is {}; allowed is a number above 0, {most}, in {unit}", shown(given));
            Err(Trouble::Wrong(message, "keep it in the range where it is set, as with min() and max()"))
        }
    }
}

fn seconds(span: Option<Span>) -> Option<f64> {
    span.map(Span::as_secs_f64)
}

impl Object for Scripted {
    fn marks(&self) -> Marks {
        self.traits.marks
    }
    fn wanted(&self) -> Wanted {
        self.traits.wanted
    }
    fn steers_recovery(&self) -> bool {
        self.traits.steers_recovery
    }
    fn steady_state(&self) -> &'static [ResponseFunction] {
        &[]
    }
    fn control(&self) -> Control {
        self.control
    }
    fn state(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
    fn on_ack(&mut self, ack: &cc::Ack, rng: &mut Rng) {
        let signal = Ack {
            now_s: ack.now.as_secs_f64(),
            rtt_s: seconds(ack.rtt),
            one_way_s: seconds(ack.one_way),
            acked: ack.acked,
            delivered: ack.delivered,
            resent: ack.resent,
            marked: ack.marked,
            credit: ack.credit,
            limited: ack.limited,
            una: ack.una,
            next: ack.next,
            in_flight: ack.in_flight,
            recovering: ack.recovering,
        };
        tell!(self, "on_ack", ack.now, signal, Some(rng));
    }
    fn on_loss(&mut self, loss: &cc::Loss) {
        let signal =
            Loss { now_s: loss.now.as_secs_f64(), flight: loss.flight, una: loss.una, next: loss.next };
        tell!(self, "on_loss", loss.now, signal, None);
    }
    fn on_timeout(&mut self, timeout: &cc::Timeout) {
        let cc::Timeout { now, flight, reported, next } = *timeout;
        let signal = Timeout { now_s: now.as_secs_f64(), flight, reported, next };
        tell!(self, "on_timeout", now, signal, None);
    }
    fn on_ecn(&mut self, ecn: &cc::Ecn) {
        let cc::Ecn { now, flight, next } = *ecn;
        if !self.traits.hears_marks {
            // As a loss: RFC 3168 section 6.1.2.
            return self.on_loss(&cc::Loss { now, flight, una: next, next });
        }
        let signal = Ecn { now_s: now.as_secs_f64(), flight, next };
        tell!(self, "on_ecn", now, signal, None);
    }
    fn on_advice(&mut self, advised: &Advised) {
        if !self.traits.hears_advice {
            return;
        }
        let (rate_packets_per_s, change) = match advised.advice {
            Advice::Rate(PacketRate(rate)) => (Some(rate), None),
            Advice::Change(packets) => (None, Some(packets)),
        };
        let signal = PyAdvised { now_s: advised.now.as_secs_f64(), rate_packets_per_s, change };
        tell!(self, "on_advice", advised.now, signal, None);
    }
    // The object keeps its own window, and may have no threshold; it decides about values that the host would set.
    fn on_resize(&mut self, _: &Resize) {}
    fn on_resume(&mut self, _: Time, _: Span) {}
    fn on_opened(&mut self, _: Time, _: Span) {}
    fn yields(&mut self) -> bool {
        false
    }
    fn sizes(&mut self) -> Option<Sizes<'_>> {
        None
    }
    fn duplicate(&self) -> Box<dyn Object> {
        Box::new(self.clone())
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Queue disciplines in Python: one first-in-first-out queue, with a decision on each arrival and each departure.

use std::sync::Arc;

use kneepoint::packet::{Body as Content, Flags, Packet};
use kneepoint::queue::external::Object;
use kneepoint::queue::{self, Backlog, Decision, Limit, Order, Ticket, Waiting};
use kneepoint::rng::Rng;
use kneepoint::units::{Span, Time};
use pyo3::intern;
use pyo3::prelude::*;

use super::body::{Body, Definition, Outcome, Trouble, shown};
use super::draws::Draws;
use super::parameters::Parameters;

/// The link of a discipline.
#[pyclass(frozen, get_all, module = "kneepoint._native")]
struct Facts {
    rate_bps: f64,
    delay_s: f64,
    limit_packets: Option<u32>,
    limit_bytes: Option<u64>,
    packet_bytes: u64,
    rng: Py<Draws>,
}

/// A packet arrived.
#[pyclass(frozen, get_all, module = "kneepoint._native")]
struct Arrival {
    now_s: f64,
    flow: u32,
    size_bytes: u16,
    ect: bool,
    scalable: bool,
    window: Option<f64>,
    backlog_packets: u32,
    backlog_bytes: u64,
    full: bool,
}

/// The next packet leaves.
#[pyclass(frozen, get_all, module = "kneepoint._native")]
struct Departure {
    now_s: f64,
    flow: u32,
    size_bytes: u16,
    ect: bool,
    scalable: bool,
    window: Option<f64>,
    backlog_packets: u32,
    backlog_bytes: u64,
    waited_s: f64,
}

/// An interval has passed, or the queue is empty.
#[pyclass(frozen, get_all, module = "kneepoint._native")]
struct Tick {
    now_s: f64,
    backlog_packets: u32,
    backlog_bytes: u64,
}

pub(super) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Facts>()?;
    module.add_class::<Arrival>()?;
    module.add_class::<Departure>()?;
    module.add_class::<Tick>()
}

/// An object for a link.
pub(super) fn make(
    definition: &Arc<Definition>,
    parameters: &Parameters,
    facts: queue::Facts,
) -> Box<dyn Object> {
    Box::new(Scripted::new(definition, parameters, facts))
}

/// What an object says of itself once.
#[derive(Clone, Copy, Debug, Default)]
struct Traits {
    decides_on_arrival: bool,
    decides_on_departure: bool,
    hears_idle: bool,
    interval: Option<Span>,
}

impl Traits {
    fn read(object: &Bound<'_, PyAny>) -> Outcome<Traits> {
        Ok(Traits {
            decides_on_arrival: object.hasattr("on_arrival")?,
            decides_on_departure: object.hasattr("on_departure")?,
            hears_idle: object.hasattr("on_idle")?,
            interval: if object.hasattr("on_tick")? { Some(interval(object)?) } else { None },
        })
    }
}

/// Between two ticks.
fn interval(object: &Bound<'_, PyAny>) -> Outcome<Span> {
    let given = object.getattr(intern!(object.py(), "interval_s"))?;
    match given.extract::<f64>() {
        Ok(seconds) if (1e-6..=1e6).contains(&seconds) => Ok(Span::from_secs_f64(seconds)),
        _ => Err(Trouble::Wrong(format!(
            "interval_s is {}; allowed is 0.000001 to 1000000, in seconds",
            shown(&given)
        ))),
    }
}

/// A discipline in Python.
#[derive(Clone, Debug)]
struct Scripted {
    body: Body,
    traits: Traits,
}

impl Scripted {
    fn new(definition: &Arc<Definition>, parameters: &Parameters, facts: queue::Facts) -> Scripted {
        let context = |py: Python<'_>, rng: Py<Draws>| {
            let (limit_packets, limit_bytes) = match facts.limit {
                Limit::Packets(packets) => (Some(packets), None),
                Limit::Bytes(bytes) => (None, Some(bytes.0)),
                Limit::Unlimited => (None, None),
            };
            let facts = Facts {
                rate_bps: facts.rate.as_f64(),
                delay_s: facts.delay.as_secs_f64(),
                limit_packets,
                limit_bytes,
                packet_bytes: facts.packet.0,
                rng,
            };
            Ok(Py::new(py, facts)?.into_any())
        };
        let (body, told) = Body::new(definition, parameters, context, Traits::read);
        Scripted { body, traits: told.unwrap_or_default() }
    }
}

/// The decision that Python answers with.
fn decision(answer: &Bound<'_, PyAny>) -> Outcome<Decision> {
    if answer.is_none() {
        return Ok(Decision::Pass);
    }
    match answer.extract::<std::borrow::Cow<str>>().as_deref() {
        Ok("pass") => Ok(Decision::Pass),
        Ok("mark") => Ok(Decision::Mark),
        Ok("drop") => Ok(Decision::Drop),
        _ => {
            let message =
                format!("the decision is {}; expected \"pass\", \"mark\", \"drop\" or None", shown(answer));
            Err(Trouble::Wrong(message))
        }
    }
}

/// The congestion window that the sender of a packet tells queues.
fn window(packet: &Packet) -> Option<f64> {
    match packet.body() {
        Content::Data { hint, .. } if hint.window > 0.0 => Some(hint.window),
        _ => None,
    }
}

impl Object for Scripted {
    fn order(&self) -> Order {
        Order::Arrival
    }
    fn passive(&self) -> bool {
        false
    }
    fn interval(&self) -> Option<Span> {
        self.traits.interval
    }
    fn state(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
    fn push_out(&mut self, _: &queue::Arrival, _: &mut Waiting, _: &mut Rng) -> Option<Ticket> {
        None
    }
    fn on_arrival(&mut self, arrival: &queue::Arrival, rng: &mut Rng) -> Decision {
        if !self.traits.decides_on_arrival {
            return Decision::Pass;
        }
        let queue::Arrival { now, packet, backlog, full } = *arrival;
        let signal = Arrival {
            now_s: now.as_secs_f64(),
            flow: packet.flow,
            size_bytes: packet.size,
            ect: packet.flags.has(Flags::ECT),
            scalable: packet.flags.has(Flags::SCALABLE),
            window: window(packet),
            backlog_packets: backlog.packets,
            backlog_bytes: backlog.bytes.0,
            full,
        };
        let decided = self.body.call("on_arrival", Some(rng), |object| {
            decision(&object.call_method1(intern!(object.py(), "on_arrival"), (signal,))?)
        });
        decided.unwrap_or(Decision::Pass)
    }
    fn join(&mut self, ticket: Ticket, waiting: &mut Waiting) {
        waiting.push(ticket);
    }
    fn next(&mut self, waiting: &mut Waiting, _: Time) -> Option<Ticket> {
        waiting.pop()
    }
    fn on_departure(&mut self, departure: &queue::Departure, rng: &mut Rng) -> Decision {
        if !self.traits.decides_on_departure {
            return Decision::Pass;
        }
        let queue::Departure { now, packet, backlog, waited } = *departure;
        let signal = Departure {
            now_s: now.as_secs_f64(),
            flow: packet.flow,
            size_bytes: packet.size,
            ect: packet.flags.has(Flags::ECT),
            scalable: packet.flags.has(Flags::SCALABLE),
            window: window(packet),
            backlog_packets: backlog.packets,
            backlog_bytes: backlog.bytes.0,
            waited_s: waited.as_secs_f64(),
        };
        let decided = self.body.call("on_departure", Some(rng), |object| {
            decision(&object.call_method1(intern!(object.py(), "on_departure"), (signal,))?)
        });
        decided.unwrap_or(Decision::Pass)
    }
    fn on_idle(&mut self, now: Time) {
        if self.traits.hears_idle {
            let signal = Tick { now_s: now.as_secs_f64(), backlog_packets: 0, backlog_bytes: 0 };
            self.body.call("on_idle", None, |object| {
                Ok(object.call_method1(intern!(object.py(), "on_idle"), (signal,)).map(drop)?)
            });
        }
    }
    fn on_tick(&mut self, backlog: Backlog, now: Time) {
        let signal = Tick {
            now_s: now.as_secs_f64(),
            backlog_packets: backlog.packets,
            backlog_bytes: backlog.bytes.0,
        };
        self.body.call("on_tick", None, |object| {
            Ok(object.call_method1(intern!(object.py(), "on_tick"), (signal,)).map(drop)?)
        });
    }
    fn duplicate(&self) -> Box<dyn Object> {
        Box::new(self.clone())
    }
}

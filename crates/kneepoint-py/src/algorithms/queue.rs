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

use super::body::{At, Body, Definition, Outcome, Trouble, shown};
use super::draws::Draws;
use super::parameters::Parameters;

/// The link of a queue discipline.
#[pyclass(frozen, get_all, module = "kneepoint._native")]
struct Facts {
    /// The rate of the link.
    rate_bps: f64,
    /// The link's propagation delay.
    delay_s: f64,
    /// The number of packets that may wait, if packets are counted.
    limit_packets: Option<u32>,
    /// The number of bytes that may wait, if bytes are counted.
    limit_bytes: Option<u64>,
    /// The size of a full packet on the wire.
    packet_bytes: u64,
    /// The random numbers of the queue.
    rng: Py<Draws>,
}

/// A packet at a queue.
#[pyclass(frozen, get_all, subclass, name = "_Waiting", module = "kneepoint._native")]
struct AtQueue {
    /// The time.
    now_s: f64,
    /// The number of its flow in the run.
    flow: u32,
    /// Its size on the wire.
    size_bytes: u16,
    /// Whether its sender understands marks.
    ect: bool,
    /// Whether its sender answers marks in proportion: ECT(1).
    scalable: bool,
    /// The congestion window that its sender announces to queues, in packets, if any.
    window: Option<f64>,
    /// The backlog without it.
    backlog_packets: u32,
    /// The same in bytes.
    backlog_bytes: u64,
}

impl AtQueue {
    fn of(now: Time, packet: &Packet, backlog: Backlog) -> PyClassInitializer<AtQueue> {
        let window = match packet.body() {
            Content::Data { hint, .. } if hint.window > 0.0 => Some(hint.window),
            _ => None,
        };
        PyClassInitializer::from(AtQueue {
            now_s: now.as_secs_f64(),
            flow: packet.flow,
            size_bytes: packet.size,
            ect: packet.flags.has(Flags::ECT),
            scalable: packet.flags.has(Flags::SCALABLE),
            window,
            backlog_packets: backlog.packets,
            backlog_bytes: backlog.bytes.0,
        })
    }
}

/// A packet arrived.
#[pyclass(frozen, get_all, extends = AtQueue, module = "kneepoint._native")]
struct Arrival {
    /// Whether there is no room: it is dropped for any decision.
    full: bool,
}

/// The next packet leaves.
#[pyclass(frozen, get_all, extends = AtQueue, module = "kneepoint._native")]
struct Departure {
    /// The time that it waited.
    waited_s: f64,
}

/// An interval has passed, or the link found the queue empty.
#[pyclass(frozen, get_all, module = "kneepoint._native")]
struct Tick {
    /// The time.
    now_s: f64,
    /// The backlog.
    backlog_packets: u32,
    /// The same in bytes.
    backlog_bytes: u64,
}

pub(super) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Facts>()?;
    module.add_class::<AtQueue>()?;
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

/// The description of an object, read once.
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
        _ => {
            let message =
                format!("interval_s is {}; allowed is 0.000001 to 1000000, in seconds", shown(&given));
            Err(Trouble::Wrong(message, "set it in __init__, as in `self.interval_s = 0.01`"))
        }
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

/// The decision that Python returns.
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
            Err(Trouble::Wrong(message, "return one of these; a method without `return` lets packets pass"))
        }
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
        let decided = self.body.call(At("on_arrival", now), Some(rng), |object| {
            let signal = AtQueue::of(now, packet, backlog).add_subclass(Arrival { full });
            let signal = Bound::new(object.py(), signal)?;
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
        let decided = self.body.call(At("on_departure", now), Some(rng), |object| {
            let departing = Departure { waited_s: waited.as_secs_f64() };
            let signal = Bound::new(object.py(), AtQueue::of(now, packet, backlog).add_subclass(departing))?;
            decision(&object.call_method1(intern!(object.py(), "on_departure"), (signal,))?)
        });
        decided.unwrap_or(Decision::Pass)
    }
    fn on_idle(&mut self, now: Time) {
        if self.traits.hears_idle {
            let signal = Tick { now_s: now.as_secs_f64(), backlog_packets: 0, backlog_bytes: 0 };
            self.body.call(At("on_idle", now), None, |object| {
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
        self.body.call(At("on_tick", now), None, |object| {
            Ok(object.call_method1(intern!(object.py(), "on_tick"), (signal,)).map(drop)?)
        });
    }
    fn duplicate(&self) -> Box<dyn Object> {
        Box::new(self.clone())
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Sources of traffic in Python: a machine without I/O that receives the time and the events of its connections, and
//! answers with requests.

use std::collections::BTreeMap;
use std::sync::Arc;

use kneepoint::metric::Reports;
use kneepoint::rng::Rng;
use kneepoint::traffic::external::Object;
use kneepoint::traffic::{self, Demand, Kind, Nature, Site, Streams};
use kneepoint::units::{Bytes, Rate, Span, Time};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;

use super::body::{At, Body, Definition, Outcome, Trouble, choice, shown};
use super::draws::Draws;
use super::lasting;
use super::parameters::Parameters;

/// The initial conditions of a member of a group of traffic.
#[pyclass(frozen, get_all, name = "Site", module = "kneepoint._native")]
struct Place {
    /// The time at which it starts.
    start_s: f64,
    /// The end of its traffic; infinite if there is none.
    stop_s: f64,
    /// The number of pairs of hosts that it may use.
    pairs: u32,
    /// The random numbers of the member.
    rng: Py<Draws>,
}

/// An input of a source.
#[pyclass(frozen, module = "kneepoint._native")]
enum Cue {
    /// Its timer expired.
    Time(),
    /// Everything written into a connection so far is acknowledged.
    Delivered {
        /// The number that was given to the connection.
        connection: u32,
        /// Payload acknowledged since the connection was opened.
        bytes: u64,
        /// The time at which the client had all of it.
        at_s: f64,
    },
    /// A connection ended.
    Completed {
        /// The number that was given to the connection.
        connection: u32,
        /// The time at which the client had everything.
        at_s: f64,
    },
}

/// A request of a source.
#[pyclass(frozen, from_py_object, module = "kneepoint._native")]
#[derive(Clone, Debug)]
enum Request {
    /// Open a connection: `size_bytes` on it, or what will be written until it is closed.
    #[pyo3(constructor = (connection, pair = 0, size_bytes = None))]
    Open {
        /// A number for the connection, which is not in use.
        connection: u32,
        /// The pair of hosts, from 0 to `site.pairs` - 1.
        pair: u32,
        /// The size; None if it is written later.
        size_bytes: Option<u64>,
    },
    /// Write into an open connection that has no size. `transfer_bytes` is the size of the transfer that ends with it, if one does.
    #[pyo3(constructor = (connection, size_bytes, transfer_bytes = None))]
    Write {
        /// The number of the connection.
        connection: u32,
        /// The amount written.
        size_bytes: u64,
        /// The size of the transfer that ends with it, if one does.
        transfer_bytes: Option<u64>,
    },
    /// Close an open connection that has no size.
    Close {
        /// The number of the connection.
        connection: u32,
    },
    /// Send a datagram of this size on the wire, at most `packet_bytes`.
    Datagram {
        /// Its size on the wire.
        size_bytes: u64,
    },
}

pub(super) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Place>()?;
    module.add_class::<Cue>()?;
    module.add_class::<Request>()
}

/// An object for a member of a group.
pub(super) fn make(definition: &Arc<Definition>, parameters: &Parameters, site: Site) -> Box<dyn Object> {
    Box::new(Scripted::new(definition, parameters, site))
}

/// A source in Python.
#[derive(Clone, Debug)]
struct Scripted {
    body: Body,
    nature: Nature,
    wakeup: Time,
    pairs: u32,
    /// Its open connections, and whether they may be written into.
    open: BTreeMap<u32, bool>,
    /// The number that it has opened.
    opened: u32,
    /// The time of the last cue, and how many there were at it.
    expired: (Time, u32),
}

/// A timer that expires after this many cues at one time does not advance.
const MOST_AT_ONCE: u32 = 10_000;
/// The greatest packet.
const GREATEST_PACKET: u64 = 60_000;

impl Scripted {
    fn new(definition: &Arc<Definition>, parameters: &Parameters, site: Site) -> Scripted {
        let context = |py: Python<'_>, rng: Py<Draws>| {
            let Site { start, stop, pairs } = site;
            let place = Place { start_s: seconds(start), stop_s: seconds(stop), pairs, rng };
            Ok(Py::new(py, place)?.into_any())
        };
        let name = definition.name;
        let read = |object: &Bound<'_, PyAny>| Ok((nature(object, name)?, wakeup(object, Time::ZERO)?));
        let (body, told) = Body::new(definition, parameters, context, read);
        let (nature, wakeup) = told.unwrap_or((nature_of(name, Kind::Datagrams), Time::NEVER));
        Scripted {
            body,
            nature,
            wakeup,
            pairs: site.pairs,
            open: BTreeMap::new(),
            opened: 0,
            expired: (Time::NEVER, 0),
        }
    }

    /// A request to the laboratory, or its fault and the remedy.
    fn request(&mut self, request: Request) -> Result<traffic::Request, (String, &'static str)> {
        let kind = self.nature.kind;
        Ok(match request {
            Request::Open { connection, pair, size_bytes } => {
                if !kind.connects() {
                    let remedy = "set `kind` to \"sessions\", \"process\" or \"streams\"";
                    return Err(("a source of datagrams opens no connection".into(), remedy));
                }
                if pair >= self.pairs {
                    let message = format!("pair {pair} of an Open; allowed is 0 to {}", self.pairs - 1);
                    return Err((message, "`site.pairs` says how many there are"));
                }
                if kind == Kind::Streams && self.opened > 0 {
                    let remedy = "set `kind = \"sessions\"`";
                    return Err(("a source with `kind = \"streams\"` has one connection".into(), remedy));
                }
                sized(size_bytes.unwrap_or(1), "Open")?;
                if self.open.insert(connection, size_bytes.is_none()).is_some() {
                    let message = format!("connection {connection} is open already");
                    return Err((message, "give it another number, or wait until it has ended"));
                }
                self.opened += 1;
                traffic::Request::Open { connection, pair, size: size_bytes.map(Bytes) }
            }
            Request::Write { connection, size_bytes, transfer_bytes } => {
                self.writable(connection, "Write")?;
                sized(size_bytes, "Write")?;
                let (size, transfer) = (Bytes(size_bytes), transfer_bytes.map(Bytes));
                traffic::Request::Write { connection, size, transfer }
            }
            Request::Close { connection } => {
                self.writable(connection, "Close")?;
                self.open.insert(connection, false);
                traffic::Request::Close { connection }
            }
            Request::Datagram { size_bytes } => {
                let Some(Bytes(greatest)) = self.nature.packet.filter(|_| !kind.connects()) else {
                    let remedy = "set `kind = \"datagrams\"`, or open a connection";
                    return Err(("a source of connections sends no datagrams".into(), remedy));
                };
                if !(1..=greatest).contains(&size_bytes) {
                    let message =
                        format!("size_bytes {size_bytes} of a Datagram; allowed is 1 to {greatest}");
                    return Err((
                        message,
                        "send less at once, or raise `packet_bytes`, the greatest datagram",
                    ));
                }
                traffic::Request::Datagram { size: Bytes(size_bytes) }
            }
        })
    }

    /// Ends for this reason.
    fn refuse(&mut self, now: Time, wrong: String, remedy: &'static str) {
        self.wakeup = Time::NEVER;
        self.body.refuse(At("on", now), wrong, remedy);
    }

    fn writable(&self, connection: u32, what: &str) -> Result<(), (String, &'static str)> {
        let remedy = "Open it without `size_bytes`, and Close it after the last Write";
        match self.open.get(&connection) {
            Some(true) => Ok(()),
            Some(false) => {
                Err((format!("{what} of connection {connection}, which has a size or is closed"), remedy))
            }
            None => Err((format!("{what} of connection {connection}, which is not open"), remedy)),
        }
    }
}

/// Refuses an empty transfer.
fn sized(size_bytes: u64, what: &str) -> Result<(), (String, &'static str)> {
    match size_bytes {
        0 => {
            Err((format!("size_bytes 0 of {what}; allowed is 1 and more"), "give a size of at least 1 byte"))
        }
        _ => Ok(()),
    }
}

/// The description of a source, read once.
fn nature(object: &Bound<'_, PyAny>, name: &'static str) -> Outcome<Nature> {
    let kinds = [
        ("datagrams", Kind::Datagrams),
        ("streams", Kind::Streams),
        ("sessions", Kind::Sessions),
        ("process", Kind::Process),
    ];
    let kind = choice(object, "kind", &kinds)?;
    let number = |attribute: &str, most: f64| -> Outcome<Option<u64>> {
        let Some(given) = object.getattr_opt(attribute)?.filter(|given| !given.is_none()) else {
            return Ok(None);
        };
        match given.extract::<f64>() {
            Ok(number) if (1.0..=most).contains(&number) => Ok(Some(number as u64)),
            _ => {
                let message = format!("{attribute} is {}; allowed is 1 to {most}", shown(&given));
                Err(Trouble::Wrong(message, "set it as an attribute of the class, or in __init__"))
            }
        }
    };
    let packet = number("packet_bytes", GREATEST_PACKET as f64)?.map(Bytes);
    if kind == Kind::Datagrams && packet.is_none() {
        let remedy = "add it to the class, as in `packet_bytes = 1000`, or set `kind` for connections";
        return Err(Trouble::Wrong(
            "packet_bytes, the size of its greatest datagram, is missing".into(),
            remedy,
        ));
    }
    Ok(Nature { packet, pressing: number("pressing_bps", 1e15)?.map(Rate), ..nature_of(name, kind) })
}

fn nature_of(name: &'static str, kind: Kind) -> Nature {
    let streams = Streams { starts: lasting(&format!("start-{name}")), shared: false, draws: name };
    Nature { section: name, kind, streams, packet: None, pressing: None, live: None }
}

fn seconds(time: Time) -> f64 {
    if time == Time::NEVER { f64::INFINITY } else { time.as_secs_f64() }
}

/// The expiry of its timer.
fn wakeup(object: &Bound<'_, PyAny>, now: Time) -> Outcome<Time> {
    let given = object.getattr(intern!(object.py(), "wakeup_s"))?;
    if given.is_none() {
        return Ok(Time::NEVER);
    }
    match given.extract::<f64>() {
        Ok(seconds) if seconds >= 0.0 => {
            // Times beyond the greatest one mean never.
            let span = if seconds < 1e9 { Span::from_secs_f64(seconds) } else { return Ok(Time::NEVER) };
            let time = span.after_start();
            if time >= now { Ok(time) } else { past(&given, now) }
        }
        _ => past(&given, now),
    }
}

fn past(given: &Bound<'_, PyAny>, now: Time) -> Outcome<Time> {
    let message =
        format!("wakeup_s is {}; allowed is a time from {} s on, or None", shown(given), seconds(now));
    Err(Trouble::Wrong(message, "set it to a later time in each call of `on`, or to None"))
}

/// The requests that Python answers with: none, one or several.
fn requests(answer: &Bound<'_, PyAny>) -> Outcome<Vec<Request>> {
    if answer.is_none() {
        return Ok(Vec::new());
    }
    if let Ok(one) = answer.extract::<Request>() {
        return Ok(vec![one]);
    }
    let each = |one: PyResult<Bound<'_, PyAny>>| {
        let one = one?;
        one.extract::<Request>().map_err(|_| {
            Trouble::Wrong(
                format!("{} is not a Request", shown(&one)),
                "return one of `kneepoint.algorithms.Request`",
            )
        })
    };
    match answer.try_iter() {
        Ok(several) => several.map(each).collect(),
        Err(error) if error.is_instance_of::<PyTypeError>(answer.py()) => {
            let message = format!("{} is neither a Request nor several of them", shown(answer));
            Err(Trouble::Wrong(
                message,
                "return None, one of `kneepoint.algorithms.Request`, or a list of them",
            ))
        }
        Err(error) => Err(error.into()),
    }
}

impl Object for Scripted {
    fn nature(&self) -> Nature {
        self.nature
    }
    /// A program's size is not known beforehand.
    fn demand(&self) -> Option<Demand> {
        None
    }
    fn rule(&self) -> Option<&'static str> {
        None
    }
    fn reports(&self) -> Reports {
        Reports::NONE
    }
    fn listens(&self) -> bool {
        false
    }
    fn control(&self) -> Option<&'static str> {
        None
    }
    fn next_wakeup(&self) -> Time {
        self.wakeup
    }
    fn on(&mut self, cue: traffic::Cue, now: Time, rng: &mut Rng, granted: &mut Vec<traffic::Request>) {
        let cue = match cue {
            traffic::Cue::Time => Cue::Time(),
            traffic::Cue::Delivered { connection, bytes, at } => {
                Cue::Delivered { connection, bytes: bytes.0, at_s: at.as_secs_f64() }
            }
            traffic::Cue::Completed { connection, at } => {
                self.open.remove(&connection);
                Cue::Completed { connection, at_s: at.as_secs_f64() }
            }
            // Only of sources that listen, which Python's do not.
            traffic::Cue::Arrived { .. } | traffic::Cue::Answered { .. } => return,
        };
        let told = self.body.call(At("on", now), Some(rng), |object| {
            let answer = object.call_method1(intern!(object.py(), "on"), (cue, now.as_secs_f64()))?;
            // A generator of requests runs while they are read, which is before its timer is read.
            Ok((requests(&answer)?, wakeup(object, now)?))
        });
        let (asked, wakeup) = told.unwrap_or((Vec::new(), Time::NEVER));
        self.wakeup = wakeup;
        let (last, times) = self.expired;
        self.expired = (now, if now == last { times + 1 } else { 1 });
        if self.expired.1 > MOST_AT_ONCE && wakeup == now {
            let wrong = format!("wakeup_s stays at {} s", seconds(now));
            return self.refuse(now, wrong, "set it to a later time, or to None");
        }
        for request in asked {
            match self.request(request) {
                Ok(request) => granted.push(request),
                Err((wrong, remedy)) => return self.refuse(now, wrong, remedy),
            }
        }
    }
    fn duplicate(&self) -> Box<dyn Object> {
        Box::new(self.clone())
    }
}

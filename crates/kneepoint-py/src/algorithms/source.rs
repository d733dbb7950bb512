// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Sources of traffic in Python: a machine without I/O that is told of the time and of its connections, and answers with requests.

use std::collections::BTreeMap;
use std::sync::Arc;

use kneepoint::rng::Rng;
use kneepoint::traffic::external::Object;
use kneepoint::traffic::{self, Kind, Nature, Site, Streams};
use kneepoint::units::{Bytes, Rate, Span, Time};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;

use super::body::{Body, Definition, Outcome, Trouble, choice, shown};
use super::draws::Draws;
use super::lasting;
use super::parameters::Parameters;

/// The initial conditions of a member. Times without an end are infinite.
#[pyclass(frozen, get_all, name = "Site", module = "kneepoint._native")]
struct Place {
    start_s: f64,
    stop_s: f64,
    pairs: u32,
    rng: Py<Draws>,
}

/// An input of a member.
#[pyclass(frozen, module = "kneepoint._native")]
enum Cue {
    /// Its timer expired.
    Time(),
    /// Everything written into a connection so far is acknowledged.
    Delivered { connection: u32, bytes: u64, at_s: f64 },
    /// A connection ended.
    Completed { connection: u32, at_s: f64 },
}

/// A request of a member.
#[pyclass(frozen, from_py_object, module = "kneepoint._native")]
#[derive(Clone, Debug)]
enum Request {
    /// Open a connection.
    #[pyo3(constructor = (connection, pair = 0, size_bytes = None))]
    Open { connection: u32, pair: u32, size_bytes: Option<u64> },
    /// Write into an open connection that has no size.
    #[pyo3(constructor = (connection, size_bytes, transfer_bytes = None))]
    Write { connection: u32, size_bytes: u64, transfer_bytes: Option<u64> },
    /// Close an open connection that has no size.
    Close { connection: u32 },
    /// Send a datagram.
    Datagram { size_bytes: u64 },
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
    /// How many it has opened.
    opened: u32,
    /// The time of the last cue, and how many there were at it.
    expired: (Time, u32),
}

/// After so many cues at one time a timer that expires then does not move on.
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

    /// A request for the laboratory, if it can be granted.
    fn request(&mut self, request: Request) -> Result<traffic::Request, String> {
        let kind = self.nature.kind;
        Ok(match request {
            Request::Open { connection, pair, size_bytes } => {
                if !kind.connects() {
                    return Err("a source of datagrams opens no connection: set `kind`".into());
                }
                if pair >= self.pairs {
                    return Err(format!("pair {pair} of an Open; allowed is 0 to {}", self.pairs - 1));
                }
                if kind == Kind::Streams && self.opened > 0 {
                    return Err("`kind = \"streams\"` has one connection: set `kind = \"sessions\"`".into());
                }
                if size_bytes == Some(0) {
                    return Err("size_bytes 0 of an Open; allowed is 1 and more, or None".into());
                }
                if self.open.insert(connection, size_bytes.is_none()).is_some() {
                    return Err(format!("connection {connection} is open already: number it otherwise"));
                }
                self.opened += 1;
                traffic::Request::Open { connection, pair, size: size_bytes.map(Bytes) }
            }
            Request::Write { connection, size_bytes, transfer_bytes } => {
                self.writable(connection, "Write")?;
                if size_bytes == 0 {
                    return Err("size_bytes 0 of a Write; allowed is 1 and more".into());
                }
                let (size, transfer) = (Bytes(size_bytes), transfer_bytes.map(Bytes));
                traffic::Request::Write { connection, size, transfer }
            }
            Request::Close { connection } => {
                self.writable(connection, "Close")?;
                self.open.insert(connection, false);
                traffic::Request::Close { connection }
            }
            Request::Datagram { size_bytes } => {
                if kind.connects() {
                    return Err(
                        "a source of connections sends no datagrams: set `kind = \"datagrams\"`".into()
                    );
                }
                if !(1..=GREATEST_PACKET).contains(&size_bytes) {
                    let message =
                        format!("size_bytes {size_bytes} of a Datagram; allowed is 1 to {GREATEST_PACKET}");
                    return Err(message);
                }
                traffic::Request::Datagram { size: Bytes(size_bytes) }
            }
        })
    }

    /// Ends for this reason.
    fn refuse(&mut self, wrong: String) {
        self.wakeup = Time::NEVER;
        self.body.refuse("on", wrong);
    }

    fn writable(&self, connection: u32, what: &str) -> Result<(), String> {
        match self.open.get(&connection) {
            Some(true) => Ok(()),
            Some(false) => Err(format!("{what} of connection {connection}, which has a size or is closed")),
            None => Err(format!("{what} of connection {connection}, which is not open")),
        }
    }
}

/// What a source says of itself once.
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
            _ => Err(Trouble::Wrong(format!("{attribute} is {}; allowed is 1 to {most}", shown(&given)))),
        }
    };
    let packet = number("packet_bytes", GREATEST_PACKET as f64)?.map(Bytes);
    if kind == Kind::Datagrams && packet.is_none() {
        return Err(Trouble::Wrong("packet_bytes, the size of its greatest datagram, is missing".into()));
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
            // What is beyond the greatest time is never.
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
    Err(Trouble::Wrong(message))
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
        one.extract::<Request>().map_err(|_| Trouble::Wrong(format!("{} is no Request", shown(&one))))
    };
    match answer.try_iter() {
        Ok(several) => several.map(each).collect(),
        Err(error) if error.is_instance_of::<PyTypeError>(answer.py()) => {
            Err(Trouble::Wrong(format!("{} is no Request and no list of them", shown(answer))))
        }
        Err(error) => Err(error.into()),
    }
}

impl Object for Scripted {
    fn nature(&self) -> Nature {
        self.nature
    }
    fn rule(&self) -> Option<&'static str> {
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
        };
        let told = self.body.call("on", Some(rng), |object| {
            let answer = object.call_method1(intern!(object.py(), "on"), (cue, now.as_secs_f64()))?;
            // A generator of requests runs while they are read, before its timer is.
            Ok((requests(&answer)?, wakeup(object, now)?))
        });
        let (asked, wakeup) = told.unwrap_or((Vec::new(), Time::NEVER));
        self.wakeup = wakeup;
        let (last, times) = self.expired;
        self.expired = (now, if now == last { times + 1 } else { 1 });
        if self.expired.1 > MOST_AT_ONCE && wakeup == now {
            let wrong = format!("wakeup_s stays at {} s: set it to a later time, or to None", seconds(now));
            return self.refuse(wrong);
        }
        for request in asked {
            match self.request(request) {
                Ok(request) => granted.push(request),
                Err(wrong) => return self.refuse(wrong),
            }
        }
    }
    fn duplicate(&self) -> Box<dyn Object> {
        Box::new(self.clone())
    }
}

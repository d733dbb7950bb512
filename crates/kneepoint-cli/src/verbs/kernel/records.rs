// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reports of controllers: `top`, `trace`.
#![allow(clippy::disallowed_methods, reason = "records of a kernel come in real time")]

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use kneepoint::report::output;
use kneepoint_bench::files::Pending;
use kneepoint_bench::session::Session;
use kneepoint_linux::kernel::{self, Reader, Record};
use serde_json::{Value, json};

use super::refused;
use crate::failure::Failure;
use crate::manifest;
use crate::outputs::Out;
use crate::parquet::{self, Column};

/// The longest wait for records, and so the delay of Ctrl-C.
const WAIT: Duration = Duration::from_millis(100);
/// Flows are shown for this long after their last record.
const SHOWN: Duration = Duration::from_secs(5);

/// Readers of the requested controllers, or of all loaded ones.
fn open(names: &[String]) -> Result<Vec<(String, Reader)>, Failure> {
    let loaded = || kernel::list().into_iter().filter(|one| one.loaded);
    let chosen = match names {
        [] => loaded().map(|one| one.controller.name.to_string()).collect(),
        given => given.to_vec(),
    };
    if chosen.is_empty() {
        return Err(Failure::run("no congestion control is loaded", "`knee kernel load pert` loads one"));
    }
    chosen.into_iter().map(|name| Ok((name.clone(), Reader::open(&name).map_err(refused)?))).collect()
}

/// A column of a trace.
enum Get {
    Text(fn(&str, &Record) -> String),
    Number(fn(&Record) -> f64),
}

/// The columns of a trace: names with units.
const COLUMNS: &[(&str, Get)] = &[
    ("time_s", Get::Number(|one| one.at.as_secs_f64())),
    ("controller", Get::Text(|name, _| name.to_string())),
    ("source", Get::Text(|_, one| one.source.to_string())),
    ("destination", Get::Text(|_, one| one.destination.to_string())),
    ("window_packets", Get::Number(|one| one.window)),
    ("ssthresh_packets", Get::Number(|one| one.ssthresh)),
    ("rtt_ms", Get::Number(|one| one.rtt)),
    ("smoothed_rtt_ms", Get::Number(|one| one.smoothed)),
    ("least_rtt_ms", Get::Number(|one| one.least)),
    ("queueing_delay_ms", Get::Number(|one| one.queueing)),
    ("alpha_packets", Get::Number(|one| one.alpha)),
    ("probability", Get::Number(|one| one.probability)),
    ("mode", Get::Text(|_, one| one.mode.unwrap_or_default().to_string())),
    ("early_responses", Get::Number(|one| f64::from(one.early))),
    ("losses", Get::Number(|one| f64::from(one.losses))),
    ("in_flight_packets", Get::Number(|one| f64::from(one.in_flight))),
    ("delivered_packets", Get::Number(|one| one.delivered as f64)),
    ("closed", Get::Number(|one| f64::from(u8::from(one.closed)))),
];

/// A number as in a file: none unless it is finite.
fn number(value: f64) -> Value {
    if value.is_finite() { value.into() } else { Value::Null }
}

fn row(name: &str, record: &Record) -> Value {
    let cell = |(column, get): &(&str, Get)| {
        let value = match get {
            Get::Text(text) => text(name, record).into(),
            Get::Number(get) => number(get(record)),
        };
        ((*column).to_string(), value)
    };
    Value::Object(COLUMNS.iter().map(cell).collect())
}

/// `knee kernel trace`.
pub fn trace(session: &Session, arguments: &super::Trace, as_json: bool) -> Result<(), Failure> {
    let readers = open(&arguments.names)?;
    session.listen_saying("stopping; records so far are kept (again to stop at once)")?;
    let out = Out::or_free(arguments.out.as_deref(), PathBuf::from("knee-trace")).settle(session)?;
    let began = Instant::now();
    let wanted = arguments.duration.map(|span| Duration::from_nanos(span.0));
    let mut taken: Vec<(usize, Record)> = Vec::new();
    while !session.asked() && wanted.is_none_or(|wanted| began.elapsed() < wanted) {
        for (place, (_, reader)) in readers.iter().enumerate() {
            let wait = WAIT / readers.len() as u32;
            taken.extend(reader.take(wait).map_err(refused)?.into_iter().map(|record| (place, record)));
        }
    }
    let controller = |at: &usize| readers[*at].0.as_str();
    let csv = out.join("records.csv");
    let mut sink = Pending::create(&csv)?;
    let head = COLUMNS.iter().map(|(column, _)| *column).collect::<Vec<_>>().join(",");
    let line = |(at, record): &(usize, Record)| {
        let cell = |(_, get): &(&str, Get)| match get {
            Get::Text(text) => text(controller(at), record),
            Get::Number(get) => {
                Some(get(record)).filter(|value| value.is_finite()).map_or(String::new(), |v| v.to_string())
            }
        };
        COLUMNS.iter().map(cell).collect::<Vec<_>>().join(",")
    };
    let lines = std::iter::once(head).chain(taken.iter().map(line));
    for text in lines {
        writeln!(sink, "{text}").map_err(|error| Failure::io("write", &csv, &error))?;
    }
    sink.commit()?;
    let names = COLUMNS.iter().map(|(column, _)| (*column).to_string()).collect::<Vec<_>>();
    let columns = COLUMNS.iter().map(|(_, get)| match get {
        Get::Text(text) => Column::Texts(
            taken.iter().map(|(at, one)| Some(text(controller(at), one).into_bytes().into())).collect(),
        ),
        Get::Number(get) => Column::numbers(taken.iter().map(|(_, one)| get(one))),
    });
    let columns = columns.collect::<Vec<_>>();
    let manifest = manifest::of(session, Vec::new(), Vec::new(), Vec::new());
    let origin = parquet::Origin { output: &output::RECORDS, manifest: &manifest };
    parquet::save(&out.join("records.parquet"), |file| {
        parquet::write_columns(origin, &names, &columns, file)
    })?;
    let path = out.publish(session)?.display().to_string();
    if as_json {
        return session.print_json(&json!({"records": taken.len(), "out": path}));
    }
    session.print(format!("{} records in {path}/records.csv and records.parquet", taken.len()))
}

/// A flow in the table.
struct Flow {
    controller: String,
    record: Record,
    seen: Instant,
    /// The record from which the rate is counted.
    before: Record,
    /// Packets per second.
    rate: f64,
}

/// `knee kernel top`.
pub fn top(session: &Session, arguments: &super::Top, as_json: bool) -> Result<(), Failure> {
    let readers = open(&arguments.names)?;
    let once = arguments.once || as_json || !std::io::stdout().is_terminal();
    let mut flows: BTreeMap<(SocketAddr, SocketAddr), Flow> = BTreeMap::new();
    session.listen_saying("stopping")?;
    let screen = (!once).then(|| Screen::enter(session));
    while !session.asked() {
        gather(session, &readers, &mut flows)?;
        if once {
            let rows = flows.values().map(|flow| {
                let mut shown = row(&flow.controller, &flow.record);
                shown["rate_packets_per_s"] = number(flow.rate);
                shown
            });
            return match as_json {
                true => session.print_json(&json!({ "flows": rows.collect::<Vec<_>>() })),
                false => session.print(table(&flows)),
            };
        }
        if let Some(screen) = &screen {
            screen.show(&table(&flows));
        }
    }
    Ok(())
}

/// Takes the records of a second.
fn gather(
    session: &Session,
    readers: &[(String, Reader)],
    flows: &mut BTreeMap<(SocketAddr, SocketAddr), Flow>,
) -> Result<(), Failure> {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(1) && !session.asked() {
        for (name, reader) in readers {
            for record in reader.take(WAIT / readers.len() as u32).map_err(refused)? {
                let seen = Instant::now();
                let new = || Flow { controller: name.clone(), record, seen, before: record, rate: f64::NAN };
                let flow = flows.entry((record.source, record.destination)).or_insert_with(new);
                (flow.record, flow.seen) = (record, seen);
            }
        }
    }
    flows.retain(|_, flow| flow.seen.elapsed() < SHOWN && !flow.record.closed);
    for flow in flows.values_mut() {
        let span = flow.record.at.since(flow.before.at).as_secs_f64();
        // A flow without new reports does not move.
        let packets = flow.record.delivered.saturating_sub(flow.before.delivered) as f64;
        flow.rate = if span > 0.0 { packets / span } else { 0.0 };
        flow.before = flow.record;
    }
    Ok(())
}

fn table(flows: &BTreeMap<(SocketAddr, SocketAddr), Flow>) -> String {
    let mut text = format!(
        "{:<14} {:<44} {:>8} {:>9} {:>8} {:>7} {:<10} {:>6} {:>6} {:>10}\n",
        "controller", "flow", "window", "srtt ms", "q ms", "alpha", "mode", "early", "losses", "packets/s"
    );
    for flow in flows.values() {
        let one = &flow.record;
        text += &format!(
            "{:<14} {:<44} {:>8.1} {:>9.3} {:>8.3} {:>7.3} {:<10} {:>6} {:>6} {:>10.0}\n",
            flow.controller,
            format!("{} > {}", one.source, one.destination),
            one.window,
            one.smoothed,
            one.queueing,
            one.alpha,
            one.mode.unwrap_or("-"),
            one.early,
            one.losses,
            flow.rate
        );
    }
    if flows.is_empty() {
        text += "no flow reported within the last second\n";
    }
    text
}

/// The terminal's other screen, left when dropped.
struct Screen<'s>(&'s Session);

impl<'s> Screen<'s> {
    fn enter(session: &'s Session) -> Screen<'s> {
        put(session, "\x1b[?1049h\x1b[?25l");
        Screen(session)
    }
    fn show(&self, table: &str) {
        put(self.0, &format!("\x1b[H\x1b[J{table}\nCtrl-C ends"));
    }
}

impl Drop for Screen<'_> {
    fn drop(&mut self) {
        put(self.0, "\x1b[?25h\x1b[?1049l");
    }
}

/// Writes to the terminal, which may be gone.
fn put(session: &Session, text: &str) {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if written.is_err() {
        session.tell("the terminal is gone");
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Real clients over the network of a scenario: their own reports next to the meter's.
//!
//! ```text
//! iperf3  near: a client for each group, with as many connections as it has transfers ─ far: a server for each
//! curl    near: nginx, with the congestion control of the first group ─ far: curl, which fetches an object again and again
//! ```
//!
//! Both sides count from the beginning of the run to its end. A client's own time of an object begins with its connection, the meter's
//! with the first packet of data.

#![allow(clippy::disallowed_methods, reason = "it runs in real time")]

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, Builder};
use std::time::Instant;

use clap::ValueEnum;
use kneepoint::measure::Meter;
use kneepoint::spec::Valid;
use kneepoint::table::{Row, value};
use kneepoint::units::{Interval, Span, Time};
use kneepoint_bench::files;
use kneepoint_bench::session::Session;
use kneepoint_linux::behind::{self, Far, Host, Program};
use kneepoint_linux::emulator::{self, Emulator, Stop};
use kneepoint_linux::frame::Tuple;
use kneepoint_linux::live::{Transfer, least_rtt};
use kneepoint_linux::privilege::Rights;
use kneepoint_linux::tap::{Role, Tap};
use kneepoint_linux::tun;
use serde::Serialize;
use serde_json::Value;
use tempfile::TempDir;

use super::invalid;
use crate::failure::Failure;

/// The port of the first server.
const PORT: u16 = 5201;
/// The object that is fetched where the scenario gives no size.
const OBJECT: u64 = 1_000_000;
/// The end of a run that clients need for their farewell.
const FAREWELL: Span = Span::from_secs(1);

/// Programs that send or fetch.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Client {
    /// Bulk transfers of iperf3
    Iperf3,
    /// Objects that curl fetches from nginx
    Curl,
}

/// A client's own report, and the meter's.
#[derive(Serialize)]
pub struct Said {
    case: String,
    repetition: u64,
    group: String,
    quantity: &'static str,
    unit: &'static str,
    client: f64,
    meter: f64,
    spoiled: Option<String>,
}

impl Client {
    /// A program that it needs and this machine lacks.
    pub fn lacks(self) -> Option<&'static str> {
        let needed: &[&'static str] = match self {
            Client::Iperf3 => &["iperf3"],
            Client::Curl => &["curl", "nginx"],
        };
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders: Vec<_> = std::env::split_paths(&path).chain([Path::new("/usr/sbin").into()]).collect();
        needed.iter().copied().find(|name| !folders.iter().any(|folder| folder.join(name).is_file()))
    }

    /// Runs a case once.
    pub fn run(
        self,
        session: &Session,
        case: &str,
        valid: &Valid,
        transfers: &[Transfer],
        repetition: u64,
    ) -> Result<Vec<Said>, Failure> {
        let mut builder = valid.clone().into_builder();
        let duration = builder.schedule.duration;
        builder.schedule.measure = Interval { from: Time::ZERO, to: duration };
        let whole = builder.build().map_err(invalid)?;
        let room = Room::new(&whole, transfers, repetition)?;
        let (rows, spoiled, found) = match self {
            Client::Iperf3 => room.iperf3(session)?,
            Client::Curl => room.curl(session)?,
        };
        let said = |Found { group, quantity, unit, client, metric, scale }: Found| {
            let name = whole.groups()[group].name.clone();
            let meter = scale * value(&rows, metric, &[("group", &name)]);
            let (case, spoiled) = (case.to_string(), spoiled.clone());
            Said { case, repetition, group: name, quantity, unit, client, meter, spoiled }
        };
        Ok(found.into_iter().map(said).collect())
    }
}

/// The lines for a terminal.
pub fn text(all: &[Said]) -> String {
    let mut text = format!("{:32} {:>20} {:>11} {:>11}\n", "case, group", "quantity", "client", "meter");
    for (place, one) in all.iter().enumerate() {
        let name: String = format!("{}, {}", one.case, one.group).chars().take(32).collect();
        let quantity =
            if one.unit.is_empty() { one.quantity.into() } else { format!("{}, {}", one.quantity, one.unit) };
        text += &format!("{name:32} {quantity:>20} {:>11.3} {:>11.3}\n", one.client, one.meter);
        let next = all.get(place + 1).map(|next| (&next.case, next.repetition));
        if let Some(why) = one.spoiled.as_ref().filter(|_| next != Some((&one.case, one.repetition))) {
            text += &format!("  spoiled: {why}\n");
        }
    }
    text
}

/// A number of a client, and the metric that is the same.
struct Found {
    group: usize,
    quantity: &'static str,
    unit: &'static str,
    client: f64,
    metric: &'static str,
    scale: f64,
}

/// The results of a run.
type Yielded = (Vec<Row>, Option<String>, Vec<Found>);

/// Two hosts, the network between them, and a place for files.
struct Room<'a> {
    valid: &'a Valid,
    transfers: &'a [Transfer],
    seed: u64,
    hosts: [Host; 2],
    folder: TempDir,
}

impl<'a> Room<'a> {
    fn new(valid: &'a Valid, transfers: &'a [Transfer], seed: u64) -> Result<Room<'a>, Failure> {
        let folder = super::scratch()?;
        let hosts = behind::hosts(Far::Apart).map_err(|error| failed("make two hosts", &error))?;
        Ok(Room { valid, transfers, seed, hosts, folder })
    }

    fn of_group(&self, group: usize) -> impl Iterator<Item = &Transfer> {
        self.transfers.iter().filter(move |transfer| transfer.group as usize == group)
    }

    fn iperf3(&self, session: &Session) -> Result<Yielded, Failure> {
        let [near, far] = &self.hosts;
        let seconds = self.valid.schedule().duration.since(Time::ZERO + FAREWELL).as_secs_f64().max(1.0);
        let groups = self.valid.groups().len();
        let servers = (0..groups).map(|group| {
            let words = ["iperf3", "-s", "-p", &(PORT + group as u16).to_string()].map(OsString::from);
            start(far, &words, near, Stdio::null())
        });
        let servers = servers.collect::<Result<Vec<_>, _>>()?;
        far.listens().map_err(|error| failed("wait for iperf3", &error))?;
        let clients = |group: usize| {
            let Some(first) = self.of_group(group).next() else { return Ok(None) };
            let (port, count) = (PORT + group as u16, self.of_group(group).count());
            let [server, port] = [far.address.v4.to_string(), port.to_string()];
            let [count, seconds] = [count.to_string(), format!("{seconds:.0}")];
            let words = [
                "iperf3",
                "-c",
                &server,
                "-p",
                &port,
                "-C",
                &first.control,
                "-P",
                &count,
                "-t",
                &seconds,
                "-J",
            ];
            let words = words.map(OsString::from);
            start(near, &words, far, self.output(group)?.into()).map(Some)
        };
        let begin = || (0..groups).map(clients).collect::<Result<Vec<_>, Failure>>();
        let firsts: Vec<u32> = (0..groups)
            .map(|group| self.transfers.iter().take_while(|one| (one.group as usize) < group).count() as u32)
            .collect();
        // The first connection to each server is for control.
        let seen: Vec<AtomicU32> = firsts.iter().map(|_| AtomicU32::new(0)).collect();
        let classify = move |tuple: &Tuple| {
            let group = usize::from(tuple.ports.1.checked_sub(PORT)?);
            let place = seen.get(group)?.fetch_add(1, Ordering::Relaxed).checked_sub(1)?;
            let number = firsts[group] + place;
            Some(Role { group: group as u32, listed: Some(number), path: number, told: false })
        };
        let (rows, spoiled) = self.carry(session, Box::new(classify), begin)?;
        drop(servers);
        let mut found = Vec::new();
        for group in 0..groups {
            let said: Value = serde_json::from_str(&self.read(session, group)?).unwrap_or_default();
            let number = |place: &str| said.pointer(place).and_then(Value::as_f64).unwrap_or(f64::NAN);
            let rate = number("/end/sum_received/bits_per_second") * number("/end/sum_received/seconds");
            let whole = self.valid.schedule().duration.as_secs_f64();
            found.push(Found {
                group,
                quantity: "goodput",
                unit: "Mbit/s",
                client: 1e-6 * rate / whole,
                metric: "goodput_bps",
                scale: 1e-6,
            });
            let client = number("/end/sum_sent/retransmits");
            found.push(Found {
                group,
                quantity: "retransmitted",
                unit: "",
                client,
                metric: "retransmissions",
                scale: 1.0,
            });
        }
        Ok((rows, spoiled, found))
    }

    fn curl(&self, session: &Session) -> Result<Yielded, Failure> {
        let [near, far] = &self.hosts;
        let control = self.transfers[0].control.clone();
        let set = move || fs::write("/proc/sys/net/ipv4/tcp_congestion_control", control);
        near.run(set).map_err(|error| failed("set the congestion control of nginx", &error))?;
        let size = self.transfers[0].size.map_or(OBJECT, |size| size.0);
        let folder = self.folder.path().display();
        files::write(&self.folder.path().join("object"), vec![b'k'; size as usize])?;
        let config = format!(
            "daemon off; worker_processes 1; pid {folder}/pid; error_log /dev/null; user root;\n\
             events {{}}\nhttp {{ access_log off; keepalive_timeout 0; client_body_temp_path {folder}/a; proxy_temp_path {folder}/b;\n\
             fastcgi_temp_path {folder}/c; uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;\n\
             server {{ listen {PORT}; root {folder}; }} }}\n"
        );
        let file = self.folder.path().join("nginx.conf");
        files::write(&file, config)?;
        let options = ["nginx", "-e", "/dev/null", "-c"].map(OsString::from);
        let server = options.into_iter().chain([file.into_os_string()]).collect::<Vec<_>>();
        let server = start(near, &server, far, Stdio::null())?;
        near.listens().map_err(|error| failed("wait for nginx", &error))?;
        let line = format!(
            "while :; do curl -s -o /dev/null -w '%{{time_total}} %{{size_download}}\\n' http://{}:{PORT}/object; done",
            near.address.v4
        );
        let words = ["/bin/sh", "-c", &line].map(OsString::from);
        let begin = || Ok(vec![Some(start(far, &words, near, self.output(0)?.into())?)]);
        let classify = |tuple: &Tuple| (tuple.ports.0 == PORT).then(Role::default);
        let (rows, spoiled) = self.carry(session, Box::new(classify), begin)?;
        drop(server);
        let text = self.read(session, 0)?;
        let whole = text.lines().filter_map(|fetched| {
            let (time, bytes) = fetched.split_once(' ')?;
            (bytes.parse::<u64>().ok()? == size).then(|| time.parse::<f64>().ok()).flatten()
        });
        let times: Vec<f64> = whole.collect();
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        let group = 0;
        let found = vec![
            Found {
                group,
                quantity: "objects",
                unit: "",
                client: times.len() as f64,
                metric: "completions",
                scale: 1.0,
            },
            Found {
                group,
                quantity: "time",
                unit: "ms",
                client: 1e3 * mean,
                metric: "completion_time_mean_ms",
                scale: 1.0,
            },
        ];
        Ok((rows, spoiled, found))
    }

    /// Carries packets from the start of the clients to the end of the run.
    fn carry(
        &self,
        session: &Session,
        classify: kneepoint_linux::tap::Classifier,
        begin: impl FnOnce() -> Result<Vec<Option<Program>>, Failure>,
    ) -> Result<(Vec<Row>, Option<String>), Failure> {
        let [near, far] = &self.hosts;
        let tap = Tap::new(tun::MTU as u16, self.transfers.len() as u32, classify);
        let ways: Vec<_> = self.transfers.iter().map(|transfer| transfer.way).collect();
        let meter = Meter::new(self.valid, self.seed);
        let mut emulator = Emulator::new(self.valid, self.seed, &ways, tap, meter);
        let devices = [&near.device.file, &far.device.file];
        let at = self.valid.schedule().duration;
        let (ended, _keep): (std::io::PipeReader, std::io::PipeWriter) =
            std::io::pipe().map_err(|error| failed("make a pipe", &error))?;
        let ended: OwnedFd = ended.into();
        let origin = Instant::now();
        let programs = begin()?;
        let carried = thread::scope(|scope| {
            let link = Builder::new().spawn_scoped(scope, || {
                emulator::be_prompt();
                let _sleepless = emulator::Sleepless::request();
                let stop = Stop { at, when: ended.as_fd(), asked: &|| session.asked(), awake: Span::ZERO };
                emulator::carry(&mut emulator, devices, origin, &stop, &mut ())
            })?;
            link.join().expect("no panic inside")
        });
        let carried = carried.map_err(|error| failed("carry packets", &error))?;
        drop(programs);
        let rows = emulator.finish(carried.ended).0.finish();
        Ok((rows, carried.lateness.summary().spoils(least_rtt(self.valid, &ways))))
    }

    fn output(&self, group: usize) -> Result<File, Failure> {
        let file = self.folder.path().join(group.to_string());
        File::create(&file).map_err(|error| Failure::io("write", &file, &error))
    }

    fn read(&self, session: &Session, group: usize) -> Result<String, Failure> {
        files::read_text(session, &self.folder.path().join(group.to_string()))
    }
}

fn start(host: &Host, words: &[OsString], peer: &Host, output: Stdio) -> Result<Program, Failure> {
    host.start(words, peer, output, &Rights::of_caller())
        .map_err(|error| failed(&format!("start `{}`", words[0].to_string_lossy()), &error))
}

fn failed(doing: &str, error: &std::io::Error) -> Failure {
    Failure::of_system(doing, error)
}

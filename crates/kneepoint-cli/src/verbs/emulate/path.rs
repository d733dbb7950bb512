// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The emulated path: written as a scenario of two hosts, or taken from one.

use std::path::{Path, PathBuf};

use clap::Args;
use kneepoint::link::recording::Times;
use kneepoint::link::{LinkSpec, NodeId, Routes};
use kneepoint::queue::Limit;
use kneepoint::scenario;
use kneepoint::spec::{Builder, Group, Invalid, Schedule, Valid};
use kneepoint::tcp::{self, Host};
use kneepoint::traffic;
use kneepoint::units::{Bytes, Interval, Rate, Span, Time};
use kneepoint_bench::files;
use kneepoint_bench::session::Session;

use crate::completion;
use crate::failure::Failure;
use crate::traced;
use crate::values::distinct;

/// The group of all traffic.
const TRAFFIC: &str = "traffic";
/// The rate that stands in a scenario for none.
const UNLIMITED: &str = "1000gbit";

/// Properties of the path.
#[derive(Args)]
pub struct PathOptions {
    /// Rate in both directions [default: unlimited]
    #[arg(long)]
    rate: Option<Rate>,
    /// One-way delay, in both directions
    #[arg(long, value_name = "TIME", default_value = "0ms")]
    delay: Span,
    /// By how much more packets may be delayed, at random and without reordering
    #[arg(long, value_name = "TIME", default_value = "0ms")]
    jitter: Span,
    /// Queue discipline, with parameters: droptail, pisa, codel, red:ecn=true
    #[arg(long, default_value = "droptail", add = completion::queue())]
    queue: String,
    /// Buffer: 1bdp, 750pkt, 500kb, 100ms [default: 1bdp, 100pkt without a delay]
    #[arg(long)]
    buffer: Option<String>,
    /// Loss: a share as 1% or 0.01, or a model as gilbert-elliott:to_bad=0.001 or at:times=5s
    #[arg(long, default_value = "none")]
    loss: String,
    /// Capacity that follows a trace, in any form that `knee trace` knows
    #[arg(long, value_name = "FILE", conflicts_with = "rate")]
    trace: Option<PathBuf>,
    /// Other properties of the way from the program: rate=2mbit,queue=codel,trace=FILE
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',')]
    up: Vec<String>,
    /// Other properties of the way to the program
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',')]
    down: Vec<String>,
    /// The network of a scenario, between the hosts of its first flows, instead of all these
    #[arg(long, value_name = "SCENARIO", conflicts_with_all = ["rate", "delay", "jitter", "queue", "buffer", "loss", "trace", "up", "down"])]
    from: Option<PathBuf>,
}

/// A path to emulate.
pub struct Emulated {
    /// The text of its scenario.
    pub scenario: String,
    /// Its network, with one group of traffic.
    pub valid: Valid,
    /// The nodes of the near and the far host.
    pub ends: (NodeId, NodeId),
}

impl Emulated {
    /// The delay there and back.
    pub fn rtt(&self) -> Span {
        let mut routes = Routes::new(self.valid.network());
        let links = &self.valid.network().links;
        let (near, far) = self.ends;
        let there = routes.path(near, far).into_iter().chain(routes.path(far, near)).flatten();
        there.fold(Span::ZERO, |sum, link| sum + links[link as usize].delay)
    }

    /// The capacity of a link until `end` as a Mahimahi trace.
    pub fn capacity_as_trace(&self, link: usize, seed: u64, end: Time) -> Result<String, Failure> {
        let spec = &self.valid.network().links[link];
        if spec.rate.is_none() {
            return Err(Failure::usage(
                "--save-trace: the link has no rate",
                "give one with --rate or --trace",
            ));
        }
        let until = |at: Time| spec.capacity_bits(Interval { from: Time::ZERO, to: at }, seed, link);
        Ok(Times::of(until, end.since(Time::ZERO)).to_text())
    }
}

impl PathOptions {
    /// The path, run for at most `duration` and sampled so often.
    pub fn build(
        &self,
        session: &Session,
        duration: Span,
        sample: Option<Span>,
    ) -> Result<Emulated, Failure> {
        let (scenario, network) = match &self.from {
            Some(file) => taken(session, file)?,
            None => self.written(session)?,
        };
        let first = network.groups().first().and_then(|group| group.pairs.first());
        let ends = *first.ok_or_else(|| {
            Failure::usage(
                "the scenario has no flows, whose hosts the emulation would stand for",
                "add `[[flows]]`",
            )
        })?;
        let mut traffic = Group::new(TRAFFIC, traffic::Config::default());
        let linux = tcp::Options::of(Host::Linux);
        // Packets of real hosts fill Ethernet's 1500 bytes.
        traffic.tcp = Some(tcp::Options { payload: Bytes(1448), header: Bytes(52), ..linux });
        let mut parts = Builder { groups: vec![traffic], ..network.into_builder() };
        if self.from.is_none() {
            parts.network.links.iter_mut().for_each(lift);
        }
        let end = duration.min(longest(&parts)).after_start();
        let measure = Interval { from: Time::ZERO, to: end };
        parts.schedule = Schedule { duration: end, measure, sample };
        let valid = parts.build().map_err(|Invalid { message, help }| Failure::usage(message, help))?;
        Ok(Emulated { scenario, valid, ends })
    }

    /// A scenario of two hosts.
    fn written(&self, session: &Session) -> Result<(String, Valid), Failure> {
        let mut text = format!(
            "name = \"emulation\"\n\n[run]\nduration = \"1s\"\n\n[topology]\nkind = \"graph\"\n{}{}",
            self.link(session, "near", "far", &self.up)?,
            self.link(session, "far", "near", &self.down)?
        );
        text += "\n[tcp]\npreset = \"linux\"\n\n[[flows]]\nname = \"traffic\"\ncc = \"cubic\"\nfrom = \"near\"\nto = \"far\"\n";
        let open =
            |name: &str| std::fs::read_to_string(self.trace_called(name)).map_err(|error| error.to_string());
        parse(session, text, "the scenario that these arguments make", &open)
    }

    /// The file of a trace by its name in the scenario, which is UTF-8.
    fn trace_called<'p>(&'p self, name: &'p str) -> &'p Path {
        let given = self.trace.as_deref().filter(|file| file.display().to_string() == name);
        given.unwrap_or(Path::new(name))
    }

    fn link(&self, session: &Session, from: &str, to: &str, others: &[String]) -> Result<String, Failure> {
        let rate = self.rate.map_or_else(|| UNLIMITED.to_string(), |rate| rate.to_string());
        let mut fields = [
            ("rate", rate),
            ("delay", self.delay.to_string()),
            ("jitter", self.jitter.to_string()),
            ("queue", self.queue.clone()),
            ("buffer", self.buffer.clone().unwrap_or_default()),
            ("loss", self.loss.clone()),
            ("trace", self.trace.as_ref().map(|file| file.display().to_string()).unwrap_or_default()),
        ];
        // A discipline's parameters have commas of their own: what has no known key belongs to the property before.
        let mut given: Vec<(&str, String)> = Vec::new();
        for word in others {
            match word.split_once('=').filter(|(key, _)| fields.iter().any(|(known, _)| known == key)) {
                Some((key, value)) => given.push((key, value.to_string())),
                None if given.is_empty() => {
                    let known = fields.iter().map(|(key, _)| *key).collect::<Vec<_>>().join(", ");
                    return Err(Failure::usage(
                        format!("`{word}` is not a property of a link"),
                        format!("write KEY=VALUE with one of {known}"),
                    ));
                }
                None => given.iter_mut().for_each(|(_, value)| *value += &format!(",{word}")),
            }
        }
        let keys: Vec<&str> = given.iter().map(|(key, _)| *key).collect();
        distinct(&format!("the property of the link from {from} to {to}"), &keys, |key| *key)?;
        for (key, value) in given {
            if let Some((_, field)) = fields.iter_mut().find(|(known, _)| *known == key) {
                *field = value;
            }
        }
        let value = |key: &str| fields.iter().find(|(known, _)| *known == key).map_or("", |(_, value)| value);
        let mut text = format!("\n[[link]]\nfrom = \"{from}\"\nto = \"{to}\"\nduplex = false\n");
        let mut line =
            |key: &str, written: &str| text += &format!("{key} = {}\n", serde_json::Value::from(written));
        match value("trace") {
            "" => line("rate", value("rate")),
            file => {
                let known = traced::played(session, self.trace_called(file))?;
                line("rate", &known.recording.mean().to_string());
            }
        }
        line("delay", value("delay"));
        line("jitter", value("jitter"));
        line("queue", value("queue"));
        let still = value("delay").parse::<Span>().is_ok_and(|delay| delay == Span::ZERO);
        match value("buffer") {
            "" if still || value("rate") == UNLIMITED && value("trace").is_empty() => {
                line("buffer", "100pkt")
            }
            "" => line("buffer", "1bdp"),
            buffer => line("buffer", buffer),
        }
        line("loss", &loss(value("loss"))?);
        if !value("trace").is_empty() {
            let file = serde_json::Value::from(value("trace"));
            text += &format!("capacity = {{ kind = \"trace\", file = {file}, besides = \"ignored\" }}\n");
        }
        Ok(text)
    }
}

/// How long a run can be measured: until a flow would have sent as many packets as it can number.
fn longest(parts: &Builder) -> Span {
    const NUMBERED: u64 = 3_000_000_000;
    let rate =
        parts.network.links.iter().filter_map(|link| link.rate).max().unwrap_or(Rate::from_mbit(10_000));
    rate.time_for(Bytes(NUMBERED * 1448)).min(Span::from_secs(7 * 24 * 3600))
}

/// Lifts the limits of a link whose rate stands for none.
fn lift(link: &mut LinkSpec) {
    if link.rate == UNLIMITED.parse().ok() {
        (link.rate, link.limit) = (None, Limit::Unlimited);
    }
}

/// A share is a model, too.
fn loss(written: &str) -> Result<String, Failure> {
    let share = match written.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => written.parse::<f64>(),
    };
    match share {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(format!("uniform:p={share}")),
        Ok(share) => Err(Failure::usage(
            format!("--loss: {share} is not a share of packets"),
            "write a number from 0 to 1, or 0% to 100%",
        )),
        Err(_) => Ok(written.into()),
    }
}

/// A scenario's text and its first case.
fn taken(session: &Session, file: &Path) -> Result<(String, Valid), Failure> {
    let text = files::read_text(session, file)?;
    parse(session, text, &file.display().to_string(), &|name| files::beside(file, name))
}

fn parse(
    session: &Session,
    text: String,
    origin: &str,
    open: &dyn Fn(&str) -> Result<String, String>,
) -> Result<(String, Valid), Failure> {
    let mut plan = match scenario::parse_with(&text, open) {
        Ok(plan) => plan,
        Err(faults) => return Err(Failure::Scenario { origin: origin.into(), text, faults }),
    };
    if plan.cases.len() > 1 {
        session.tell(format!("{origin} has {} cases; the first is emulated", plan.cases.len()));
    }
    Ok((text, plan.cases.swap_remove(0).valid))
}

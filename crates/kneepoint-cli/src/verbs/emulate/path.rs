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

use crate::comparison::refused;
use crate::completion;
use crate::failure::Failure;
use crate::named::NamedFiles;
use crate::path::{Fields, PathOptions, Way};

/// The group of all traffic.
const TRAFFIC: &str = "traffic";
/// The rate that represents none in a scenario.
const UNLIMITED: &str = "1000gbit";

/// The emulated path.
#[derive(Args)]
pub struct EmulatedPath {
    /// Rate in both directions [default: from --path, or unlimited]
    #[arg(long)]
    rate: Option<Rate>,
    /// One-way delay, in both directions [default: none, or from --path]
    #[arg(long, value_name = "TIME")]
    delay: Option<Span>,
    /// Round-trip time, of which each direction has half
    #[arg(long, value_name = "TIME", conflicts_with = "delay")]
    rtt: Option<Span>,
    /// Queue discipline, with parameters: droptail, pisa, codel, red:ecn=true
    #[arg(long, default_value = "droptail", add = completion::queue())]
    queue: String,
    /// Buffer: 1bdp, 750pkt, 500kb, 100ms [default: from --path, or 1bdp, 100pkt without a delay]
    #[arg(long)]
    buffer: Option<String>,
    #[command(flatten)]
    properties: PathOptions,
    /// The network of a scenario, between the hosts of its first flows; other options set fields of its bottleneck
    #[arg(long, value_name = "SCENARIO", conflicts_with_all = ["rate", "delay", "rtt", "queue", "buffer"])]
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

impl EmulatedPath {
    /// The path, run for at most `duration` and sampled this often.
    pub fn build(
        &self,
        session: &Session,
        duration: Span,
        sample: Option<Span>,
    ) -> Result<Emulated, Failure> {
        let (scenario, network) = match &self.from {
            Some(file) => self.taken(session, file)?,
            None => self.written(session)?,
        };
        let first = network.groups().first().and_then(|group| group.pairs.first());
        let ends = *first.ok_or_else(|| {
            Failure::usage(
                "the scenario has no flows, whose hosts the emulation would replace",
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
        self.properties.notes(Some(&valid)).into_iter().for_each(|note| session.tell(note));
        Ok(Emulated { scenario, valid, ends })
    }

    /// A scenario of two hosts.
    fn written(&self, session: &Session) -> Result<(String, Valid), Failure> {
        let mut text = format!(
            "name = \"emulation\"\n\n[run]\nduration = \"1s\"\n\n[topology]\nkind = \"graph\"\n{}{}",
            self.link(session, ("near", "far"), Way::Up)?,
            self.link(session, ("far", "near"), Way::Down)?
        );
        text += "\n[tcp]\npreset = \"linux\"\n\n[[flows]]\nname = \"traffic\"\ncc = \"cubic\"\nfrom = \"near\"\nto = \"far\"\n";
        let open = |name: &str| files::beside(Path::new(""), name);
        parse(session, text, "the scenario that these arguments make", &self.properties.set(), &open)
    }

    /// A scenario's text and its first case.
    fn taken(&self, session: &Session, file: &Path) -> Result<(String, Valid), Failure> {
        let text = files::read_text(session, file)?;
        let fields = self.properties.fields(session, Fields::default())?;
        let named = NamedFiles::default();
        parse(session, text, &file.display().to_string(), &fields, &|name| named.set(file, name))
    }

    fn link(&self, session: &Session, (from, to): (&str, &str), way: Way) -> Result<String, Failure> {
        let of_path = |word: &str| self.properties.preset().and_then(|preset| preset.get(word));
        let rtt = self.rtt.or_else(|| of_path("rtt").filter(|_| self.delay.is_none())?.parse().ok());
        let delay = rtt.map_or(self.delay.unwrap_or_default(), |rtt| Span(rtt.0 / 2));
        let rate = self.rate.map(|rate| rate.to_string());
        let general = [
            ("rate", rate.unwrap_or_else(|| of_path("rate").unwrap_or(UNLIMITED).to_string())),
            ("delay", delay.to_string()),
            ("queue", self.queue.clone()),
        ];
        let buffer = self.buffer.as_deref().or_else(|| of_path("buffer")).map(String::from);
        let general = general.into_iter().chain(buffer.map(|size| ("buffer", size)));
        let mut fields = self.properties.of_link(session, way, &general.collect::<Vec<_>>())?;
        let is =
            |key: &str, wanted: &str| fields.iter().any(|(known, value)| *known == key && *value == wanted);
        if !fields.iter().any(|(key, _)| *key == "buffer") {
            let still = is("delay", "\"0s\"") || is("delay", "\"0ms\"");
            let usual = if still || is("rate", &format!("\"{UNLIMITED}\"")) { "100pkt" } else { "1bdp" };
            fields.push(("buffer", format!("\"{usual}\"")));
        }
        let lines: String = fields.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
        Ok(format!("\n[[link]]\nfrom = \"{from}\"\nto = \"{to}\"\nduplex = false\n{lines}"))
    }
}

/// The longest measurable run: until a flow would have sent as many packets as it can number.
fn longest(parts: &Builder) -> Span {
    const NUMBERED: u64 = 3_000_000_000;
    let rate =
        parts.network.links.iter().filter_map(|link| link.rate).max().unwrap_or(Rate::from_mbit(10_000));
    rate.time_for(Bytes(NUMBERED * 1448)).min(Span::from_secs(7 * 24 * 3600))
}

/// Removes the limits of a link whose rate represents none.
fn lift(link: &mut LinkSpec) {
    if link.rate == UNLIMITED.parse().ok() {
        (link.rate, link.limit) = (None, Limit::Unlimited);
    }
}

/// The first case of a scenario with these fields set, and its text.
fn parse(
    session: &Session,
    text: String,
    origin: &str,
    fields: &Fields,
    open: &dyn Fn(&str) -> Result<String, String>,
) -> Result<(String, Valid), Failure> {
    let (mut plan, with_fields) = match scenario::parse_set(&text, fields.lines(), open, open) {
        Ok(read) => read,
        Err(faults) => return Err(refused(origin.into(), text, fields, faults)),
    };
    if plan.cases.len() > 1 {
        session.tell(format!("{origin} has {} cases; the first is emulated", plan.cases.len()));
    }
    Ok((with_fields, plan.cases.swap_remove(0).valid))
}

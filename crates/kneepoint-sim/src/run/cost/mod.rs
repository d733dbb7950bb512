// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The cost of a run: memory by use, and packets. A pure function of the spec, computed before anything is built.
//!
//! ```text
//! bytes of a term    count · the size of the type that the run has this many of
//! count              static for links and flows; [`load`] predicts packets, queues and connections
//! growing tables     half more: one that doubles when it is full takes between one and two times its contents
//! ```
//!
//! The packet count assumes full bottlenecks and queues at their limits, as after slow start; a run with short queues
//! takes less. The number of connections that are opened in the run is a mean, which a conductor can check by
//! [`Simulation::footprint`].
//!
//! [`Simulation::footprint`]: super::Simulation::footprint

mod ahead;
mod growth;
mod load;
mod shared;
mod stream;

use super::Engine;
use super::agents::{Agent, Pool};
use super::flow::{Part, SLOT};
use crate::event::EventQueue;
use crate::link::{LinkSpec, Links, Tail};
use crate::queue::Waiting;
use crate::spec::Valid;
use crate::tcp::Sender;
use crate::traffic::Kind;
use crate::units::Span;
use load::Load;

crate::keys! {
    /// A part of the memory of a run.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Term {
        /// Its name.
        pub name: &'static str,
        /// The number of them.
        pub count: u64,
        /// Bytes for each.
        pub each: u64,
        /// The computation of the number.
        pub why: String,
        /// The remedy that makes it smaller.
        #[serde(skip)]
        pub remedy: &'static str,
    }
}

impl Term {
    /// This much of something.
    pub fn new(
        (name, remedy): (&'static str, &'static str),
        count: f64,
        each: usize,
        why: impl Into<String>,
    ) -> Term {
        // Casts saturate, so a number too large to count becomes the largest one.
        Term { name, count: count.ceil() as u64, each: each as u64, why: why.into(), remedy }
    }

    /// Bytes in all.
    pub fn bytes(&self) -> u64 {
        self.count.saturating_mul(self.each)
    }
}

/// Bytes of these terms.
pub fn total(terms: &[Term]) -> u64 {
    terms.iter().map(Term::bytes).fold(0, u64::saturating_add)
}

/// The cost of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    /// Its memory, of the engine alone or with observers.
    pub terms: Vec<Term>,
    /// Bytes of the engine alone.
    pub engine: u64,
    /// The approximate number of packets that bottlenecks carry and sources send.
    pub packets: f64,
    /// Transfers that complete, about.
    pub transfers: f64,
    /// A time in which at most [`STEP`] packets are sent, so that memory grows little between two checks.
    pub step: Span,
}

/// Packets between two looks at a run's memory.
const STEP: f64 = 1e6;

/// A table that doubles when it is full has half more room than contents in the mean, and, while it moves, both places.
pub const fn growing(each: usize) -> usize {
    each + each / 2
}

/// Bytes that a run takes now.
pub(super) fn footprint(engine: &Engine) -> u64 {
    let Engine { valid, network, hosts, .. } = engine;
    let [flying, tails, ruled] = network.most();
    let packets = flying * growing(Links::PACKET) + tails * Tail::PACKET + ruled * growing(Waiting::PACKET);
    let sources = engine.agents.len() * growing(size_of::<Agent>() + size_of::<Pool>());
    let fixed = total(&[links(valid), hops(valid.network().links.len() as f64)]);
    fixed + (packets + sources + hosts.footprint()) as u64
}

impl Cost {
    /// The memory of the engine.
    pub fn of(valid: &Valid) -> Cost {
        let load = Load::of(valid);
        let terms = vec![
            links(valid),
            hops(load.hops),
            flows(valid, &load),
            sources(valid),
            in_flight(&load),
            waiting(&load),
            outstanding(&load),
            written(&load),
        ];
        let duration = valid.schedule().duration.0 as f64 / 1e9;
        let per_second = (load.per_second()).max(STEP / duration.max(1e-9) * 1e-3);
        Cost {
            engine: total(&terms),
            terms,
            packets: load.sent,
            transfers: load.transfers,
            step: Span::from_secs_f64((STEP / per_second).clamp(1e-9, duration.max(1e-9))),
        }
    }

    /// Bytes in all.
    pub fn bytes(&self) -> u64 {
        total(&self.terms)
    }

    /// Flow slots.
    pub fn slots(&self) -> u64 {
        self.terms.iter().find(|term| term.name == FLOWS.0).map_or(0, |term| term.count)
    }

    /// The part that takes most.
    pub fn greatest(&self) -> Option<&Term> {
        self.terms.iter().max_by_key(|term| term.bytes())
    }
}

/// The users of memory in the engine, and remedies.
const LINKS: (&str, &str) = ("links", "simulate fewer hosts, or let `access` be \"minimal\"");
const PATHS: (&str, &str) = ("paths", "simulate fewer hosts");
const FLOWS: (&str, &str) = ("flows", "simulate fewer flows, or let fewer arrive than the links carry");
const SOURCES: (&str, &str) = ("sources", "simulate fewer members");
const FLYING: (&str, &str) =
    ("packets in flight", "lower the rate or the delay, send larger packets, or shorten the run");
const QUEUES: (&str, &str) =
    ("packets in queues", "limit the buffer, lower the rate, send larger packets, or shorten the run");
const OUTSTANDING: (&str, &str) =
    ("segments outstanding", "lower the rate or the delay, or send larger packets");
const WRITTEN: (&str, &str) = ("data written", "write less, or in larger pieces, than the links carry");

fn links(valid: &Valid) -> Term {
    let count = valid.network().links.len();
    // The description is copied once while the run is set up.
    let each = Links::LINK + size_of::<LinkSpec>() + 3 * EventQueue::ENTITY;
    Term::new(LINKS, count as f64, each, format!("{count} links"))
}

fn hops(hops: f64) -> Term {
    Term::new(PATHS, hops, growing(Links::HOP), "links along all paths, both ways")
}

fn flows(valid: &Valid, load: &Load) -> Term {
    let slot = |group: usize| {
        let options = valid.groups()[group].tcp.clone().unwrap_or_default();
        (SLOT + Sender::history(&options)) as f64
    };
    let count: f64 = load.flows.iter().map(|(_, flows)| flows).sum();
    let bytes: f64 = load.flows.iter().map(|(group, flows)| flows * slot(*group)).sum();
    let each = if count > 0.0 { bytes / count } else { 0.0 };
    let opens = |group: usize| valid.groups()[group].kind().opens();
    let opened: f64 = load.flows.iter().filter(|(group, _)| opens(*group)).map(|(_, flows)| flows).sum();
    let why = match opened > 0.0 {
        true => format!("of them about {opened:.0} connections that are open at the same time"),
        false => "senders with their receivers".to_string(),
    };
    Term::new(FLOWS, count, each as usize, why)
}

fn sources(valid: &Valid) -> Term {
    let acting = valid.groups().iter().filter(|group| group.kind() != Kind::Transfers);
    let count: usize = acting.map(|group| group.members.len()).sum();
    Term::new(
        SOURCES,
        count as f64,
        growing(size_of::<Agent>() + size_of::<Pool>()),
        "that decide in the run",
    )
}

fn in_flight(load: &Load) -> Term {
    Term::new(FLYING, load.flying, growing(Links::PACKET), load.longest.clone())
}

/// Packets in buffers that store them; packets of computed queues already count as in flight.
fn waiting(load: &Load) -> Term {
    let (tails, ruled) =
        (load.tails * growing(Tail::PACKET) as f64, load.ruled * growing(Waiting::PACKET) as f64);
    let packets = load.tails + load.ruled;
    let each = if packets > 0.0 { (tails + ruled) / packets } else { 0.0 };
    Term::new(QUEUES, packets, each as usize, load.deepest.clone())
}

fn outstanding(load: &Load) -> Term {
    let each = if load.outstanding > 0.0 { load.histories / load.outstanding } else { 0.0 };
    let why = "segments sent and not acknowledged, with the senders' and receivers' state of each";
    Term::new(OUTSTANDING, load.outstanding, each.ceil() as usize, why)
}

fn written(load: &Load) -> Term {
    Term::new(WRITTEN, load.written, growing(size_of::<Part>()), "transfers that wait in their connections")
}

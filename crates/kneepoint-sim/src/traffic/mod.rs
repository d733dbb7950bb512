// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Traffic: the sources of load on a network, and their registry.
//!
//! A group of traffic has members, and each member is a source: a machine without I/O. Its inputs are the time and
//! the progress of its connections; its outputs are requests to open, write and close connections and to send
//! datagrams. It is independent of hosts and of the network. Its time and its random numbers are arguments.
//!
//! To add one: write `traffic/NAME.rs` like `traffic/cbr.rs` and add its line to the registry below. Its section, its
//! fields, its schema, its place in the example and its laws follow from these two. A source of another crate needs no line: see
//! [`external`].

pub mod abr;
mod csv;
mod distribution;
pub mod external;
pub mod har;
mod roll;
pub mod rtp;
mod sample;
mod size;
mod written;

pub use distribution::{Distribution, Observed};
pub use external::External;
pub use roll::{Entry as RollEntry, Roll};
pub use sample::Sample;
pub use size::{Law, Size};

use crate::metric::{Report, Reports};
use crate::rng::Rng;
use crate::settings::{Entry, Settings};
use crate::units::{Bytes, Rate, Span, Time};

/// The way in which the members of a group use the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One transfer each, scheduled by the run's own agenda without the machine.
    Transfers,
    /// One connection each, known before the run, which the machine opens, writes into and closes.
    Streams,
    /// Members that open connections between any servers and clients of the group.
    Sessions,
    /// One member that does so.
    Process,
    /// Datagrams between a pair of hosts for each member.
    Datagrams,
}

impl Kind {
    /// Whether its members have connections, and so a congestion control.
    pub fn connects(self) -> bool {
        self != Kind::Datagrams
    }

    /// Whether its connections are opened in the run, as many as needed.
    pub fn opens(self) -> bool {
        matches!(self, Kind::Sessions | Kind::Process)
    }

    /// Whether each member has one connection that is known before the run.
    pub fn listed(self) -> bool {
        matches!(self, Kind::Transfers | Kind::Streams)
    }
}

/// The names of a source's random streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Streams {
    /// The stream of the members' starts.
    pub starts: &'static str,
    /// Whether all groups draw their starts from one stream, instead of each from its own.
    pub shared: bool,
    /// The stream from which each member draws, by its number among all that use the name.
    pub draws: &'static str,
}

/// Properties of a source that the rest of the laboratory uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nature {
    /// The section of a scenario that describes a group.
    pub section: &'static str,
    /// The way in which its members use the network.
    pub kind: Kind,
    /// Its random streams.
    pub streams: Streams,
    /// The size of its datagrams on the wire, if it sends any.
    pub packet: Option<Bytes>,
    /// The rate of each member, if it ignores congestion.
    pub pressing: Option<Rate>,
    /// When each member makes what its client plays a constant time later, if it streams live from its start to its stop.
    pub live: Option<Beat>,
}

/// The approximate number of transfers of a member.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// Their number per second without congestion.
    pub per_second: f64,
    /// Their mean size in bytes.
    pub size: f64,
    /// The greatest number at a time; infinite if the next does not wait for the last.
    pub at_most: f64,
}

impl Demand {
    /// This many transfers per second, of this mean size, with at most this many at a time.
    pub fn new(per_second: f64, size: f64, at_most: f64) -> Demand {
        Demand { per_second, size, at_most }
    }
}

/// Packets at a constant rate, without drift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beat {
    /// The size of a packet.
    pub size: Bytes,
    /// The rate.
    pub rate: Rate,
}

impl Beat {
    /// The time that this many packets take.
    pub fn after(self, packets: u64) -> Span {
        let bits = u128::from(packets) * u128::from(self.size.0) * 8_000_000_000;
        Span(u64::try_from(bits / u128::from(self.rate.0)).unwrap_or(u64::MAX))
    }

    /// The number of packets made by that time after the first, which counts.
    pub fn made_by(self, time: Span) -> u64 {
        let bits = (u128::from(time.0) + 1) * u128::from(self.rate.0);
        u64::try_from(bits.div_ceil(u128::from(self.size.0) * 8_000_000_000)).unwrap_or(u64::MAX)
    }
}

/// The initial conditions of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// The time at which it starts.
    pub start: Time,
    /// The time at which it stops; [`Time::NEVER`] if it does not.
    pub stop: Time,
    /// The number of pairs of hosts that it may use.
    pub pairs: u32,
}

/// An input of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cue {
    /// Its timer expired.
    Time,
    /// Everything written into a connection so far is acknowledged.
    Delivered {
        /// The number that the member gave the connection.
        connection: u32,
        /// Payload acknowledged since the connection was opened.
        bytes: Bytes,
        /// The time at which the client had all of it.
        at: Time,
    },
    /// A connection ended: it is closed, or had a size, and all of its data is acknowledged.
    Completed {
        /// The number that the member gave the connection.
        connection: u32,
        /// The time at which the client had everything.
        at: Time,
    },
    /// A numbered datagram of a member that [listens](Source::listens) reached its receiver.
    Arrived {
        /// Its number.
        number: u32,
        /// Whether a queue marked it (RFC 3168 CE).
        marked: bool,
    },
    /// A report of such a member's receiver reached the sender.
    Answered {
        /// Its number.
        number: u32,
    },
}

/// A request of a member.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Request {
    /// Open a connection.
    Open {
        /// A number that no other open connection of the member has.
        connection: u32,
        /// The pair of hosts that it connects, below [`Site::pairs`].
        pair: u32,
        /// The size; if `None`, as much as is written until it is closed.
        size: Option<Bytes>,
    },
    /// Write into an open connection that has no size.
    Write {
        /// The connection's number.
        connection: u32,
        /// The amount.
        size: Bytes,
        /// The size of the transfer that ends with it, if one does; it began when it was written.
        transfer: Option<Bytes>,
    },
    /// Count a number of its application.
    Report(Report),
    /// Close an open connection that has no size: no write follows.
    Close {
        /// The connection's number.
        connection: u32,
    },
    /// Send a datagram.
    Datagram {
        /// Its size on the wire, at most 65 535 bytes.
        size: Bytes,
    },
    /// Send a datagram whose arrival is a [cue](Cue::Arrived).
    Numbered {
        /// Its size on the wire, at most 65 535 bytes.
        size: Bytes,
        /// The number in its cue.
        number: u32,
        /// Whether it is ECT(1), so that an L4S queue marks it (RFC 9331).
        scalable: bool,
    },
    /// Send a report from the receiver to the sender, whose arrival is a [cue](Cue::Answered).
    Answer {
        /// Its size on the wire, at most 65 535 bytes.
        size: Bytes,
        /// The number in its cue.
        number: u32,
    },
}

/// A source of traffic: one member of a group.
pub trait Source: Clone + std::fmt::Debug {
    /// The parameters of its group.
    type Params: Settings;

    /// A fresh member.
    fn new(params: Self::Params, site: Site) -> Self;
    /// Its properties, which depend on the parameters alone.
    fn nature(&self) -> Nature;
    /// The name of its rule of adaptive bit rate, on which a kept run depends, too.
    fn rule(&self) -> Option<&'static str> {
        None
    }
    /// Whether arrivals of its numbered datagrams and of their reports are cues, as a source of datagrams with feedback needs.
    fn listens(&self) -> bool {
        false
    }
    /// The name of its rate control of media, on which a kept run depends, too.
    fn control(&self) -> Option<&'static str> {
        None
    }
    /// Its reports on its application, and their metrics.
    fn reports(&self) -> Reports {
        Reports::NONE
    }
    /// Its transfers, where known, for the estimate of a run's memory.
    fn demand(&self) -> Option<Demand> {
        None
    }
    /// Handles an input; requests are appended to `requests`.
    fn on(&mut self, cue: Cue, now: Time, rng: &mut Rng, requests: &mut Vec<Request>);
    /// The expiry of its timer; [`Time::NEVER`] if none is set.
    fn next_wakeup(&self) -> Time;
}

crate::registry! {
    trait Source(Site);
    each each;
    external External;
    algorithms {
        bulk::Bulk,
        onoff::OnOff,
        web::Web,
        browser::Browser,
        arrivals::Arrivals,
        cbr::Cbr,
        datagrams::Datagrams,
        video::Video,
        media::Media,
        vod::Vod,
    }
}

/// The methods of [`Source`], forwarded to the source.
#[allow(missing_docs)]
impl Any {
    #[inline]
    pub fn on(&mut self, cue: Cue, now: Time, rng: &mut Rng, requests: &mut Vec<Request>) {
        each!(self, one => one.on(cue, now, rng, requests))
    }
    pub fn listens(&self) -> bool {
        each!(self, one => one.listens())
    }
    #[inline]
    pub fn next_wakeup(&self) -> Time {
        each!(self, one => one.next_wakeup())
    }
}

impl Config {
    /// The properties of a source with these parameters.
    pub fn nature(&self) -> Nature {
        let nowhere = Site { start: Time::NEVER, stop: Time::NEVER, pairs: 1 };
        each!(&self.build(nowhere), one => one.nature())
    }

    /// The transfers that a source with these parameters requests, if known.
    pub fn demand(&self) -> Option<Demand> {
        let nowhere = Site { start: Time::NEVER, stop: Time::NEVER, pairs: 1 };
        each!(&self.build(nowhere), one => one.demand())
    }

    /// The reports of a source with these parameters.
    pub fn reports(&self) -> Reports {
        let nowhere = Site { start: Time::NEVER, stop: Time::NEVER, pairs: 1 };
        each!(&self.build(nowhere), one => one.reports())
    }

    /// Whether a source with these parameters [listens](Source::listens).
    pub fn listens(&self) -> bool {
        let nowhere = Site { start: Time::NEVER, stop: Time::NEVER, pairs: 1 };
        each!(&self.build(nowhere), one => one.listens())
    }

    /// The name of the rate control of media of a source with these parameters.
    pub fn control(&self) -> Option<&'static str> {
        let nowhere = Site { start: Time::NEVER, stop: Time::NEVER, pairs: 1 };
        each!(&self.build(nowhere), one => one.control())
    }

    /// The name of the rule of adaptive bit rate of a source with these parameters.
    pub fn rule(&self) -> Option<&'static str> {
        let nowhere = Site { start: Time::NEVER, stop: Time::NEVER, pairs: 1 };
        each!(&self.build(nowhere), one => one.rule())
    }
}

/// Every source that a scenario may have: its section, its entry, and its defaults.
pub fn sources() -> impl Iterator<Item = (&'static str, &'static Entry, Config)> {
    REGISTRY.iter().filter_map(|entry| {
        let config = Config::named(entry.name)?;
        Some((config.nature().section, entry, config))
    })
}

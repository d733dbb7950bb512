// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Endpoints of QUIC stacks as the hosts of a scenario: their packets cross the laboratory's links, in its time.
//!
//! ```text
//! End ─ Datagram ─ Packet ─ Links: queue, capacity, loss, line ─ Packet ─ Datagram ─ End
//!   └────────── timers ── one queue of events ── agenda, samples
//! ```
//!
//! Only the network takes time: no run is late, and a seed gives the same packets on every machine. Connections are not
//! encrypted ([`plain`]), their ids are numbers in order, and random numbers come from the run's seed. Observers receive
//! the events of a simulation, so rows and series have the same definitions; a sender's losses, round trips and windows
//! are the ones that its controller receives.
//!
//! The run knows no stack: it works on [`Ends`] and [`End`]. A room of each stack in [`STACKS`] has its hosts and the list
//! of its own controllers.

mod end;
mod fitness;
mod noq;
mod plain;
mod quinn;
mod run;
mod seen;

use std::boxed::Box;
use std::string::String;
use std::sync::Arc;
use std::time::Instant;
use std::vec::Vec;

use kneepoint_cc::cc::Config;

use crate::record::Records;
use crate::tape::Tape;

pub use fitness::refuse;
pub use run::{run, run_each, run_recorded, run_until};
pub use seen::Ear;

/// Every stack whose endpoints can be hosts.
pub const STACKS: [&Hosts; 2] = [&noq::HOSTS, &quinn::HOSTS];

/// The stack of this name.
pub fn named(name: &str) -> Option<&'static Hosts> {
    STACKS.into_iter().find(|stack| stack.name == name)
}

/// Bytes of IP's and UDP's headers.
const HEADERS: u64 = 28;
/// Bytes of QUIC's smallest full datagram (RFC 9000 §14).
const SMALLEST: u64 = 1200;
/// Bytes of the largest packet on the wire: Ethernet's.
const LARGEST: u64 = 1500;

/// Makes the ends of a group's connections.
pub type Factory = Arc<dyn Ends>;

/// A stack as hosts.
#[derive(Debug)]
pub struct Hosts {
    /// The stack's name.
    pub name: &'static str,
    /// The stack's own controllers.
    pub own: &'static [Own],
    /// Ends whose senders have a controller of the laboratory, with its signals on a tape if there is one; the error
    /// says what the stack lacks.
    pub carrying: fn(Config, Option<Tape>) -> Result<Factory, String>,
}

/// A controller of a stack itself.
#[derive(Debug)]
pub struct Own {
    /// Its name, after the stack's.
    pub name: &'static str,
    /// Ends whose senders have it.
    pub make: fn() -> Factory,
    /// Whether a seed gives the same packets again; false if it draws from the machine's entropy.
    pub repeats: bool,
}

/// Makes the two ends of connections.
pub trait Ends: Send + Sync {
    /// The name of their stack.
    fn stack(&self) -> &'static str;
    /// The sender, which opens the connection at `now` for so many bytes, without end if `None`.
    fn sender(&self, settings: &Settings, size: Option<u64>, now: Instant) -> Result<Box<dyn End>, String>;
    /// The receiver, which waits for the connection.
    fn receiver(&self, settings: &Settings) -> Box<dyn End>;
}

/// The settings of a connection.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Bytes of a full packet on the wire.
    pub packet: u64,
    /// The run's seed.
    pub seed: u64,
    /// The connection's number in its run.
    pub number: u64,
    /// Receives the signals to the sender's controller.
    pub ear: Ear,
    /// Where the stack records the sender, and as what.
    pub record: Option<(Records, String)>,
}

impl Settings {
    /// Bytes of a full datagram.
    pub fn payload(&self) -> u64 {
        self.packet.saturating_sub(HEADERS).clamp(SMALLEST, LARGEST - HEADERS)
    }
}

/// One end of a connection, and the stream that it sends or receives.
pub trait End {
    /// A datagram arrived.
    fn receive(&mut self, datagram: &Datagram, now: Instant) -> Result<(), String>;
    /// The time of its next timer.
    fn timeout(&mut self) -> Option<Instant>;
    /// A timer may have expired.
    fn wake(&mut self, now: Instant);
    /// No data follows.
    fn stop(&mut self);
    /// Does all pending work at `now`: receives, delivers, and sends by `emit`.
    fn work(&mut self, now: Instant, emit: &mut dyn FnMut(Datagram)) -> Result<News, String>;
}

/// The result of an end's work.
#[derive(Clone, Copy, Debug, Default)]
pub struct News {
    /// Payload that was not there before.
    pub received: u64,
    /// All that was sent is acknowledged.
    pub finished: bool,
}

/// A datagram to send.
#[derive(Clone, Debug)]
pub struct Datagram {
    /// Its payload.
    pub bytes: Vec<u8>,
    /// The two bits of explicit congestion notification in its IP header (RFC 3168).
    pub ecn: u8,
}

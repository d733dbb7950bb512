// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The reports of controllers: one record per socket and interval, and one when it closes (`bpf/lib/telemetry.h`).

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use kneepoint::units::Time;
use libbpf_rs::{MapHandle, RingBuffer, RingBufferBuilder};

use super::errors::{Error, While};
use super::objects;
use super::programs::controller;

/// The ring buffer of a controller.
const RECORDS: &str = "records";

/// The state of a sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    /// The time, by the machine's monotonic clock.
    pub at: Time,
    /// The sender.
    pub source: SocketAddr,
    /// The receiver.
    pub destination: SocketAddr,
    /// Whether the socket closed.
    pub closed: bool,
    /// The mode of adaptive PERT.
    pub mode: Option<&'static str>,
    /// The window, in packets.
    pub window: f64,
    /// The slow-start threshold, in packets; infinite without one.
    pub ssthresh: f64,
    /// The latest round-trip time, in milliseconds.
    pub rtt: f64,
    /// The smoothed round-trip time, in milliseconds.
    pub smoothed: f64,
    /// The least round-trip time, in milliseconds.
    pub least: f64,
    /// The queueing delay, in milliseconds.
    pub queueing: f64,
    /// The increase, in packets a round trip.
    pub alpha: f64,
    /// The probability of an early response.
    pub probability: f64,
    /// Early responses so far.
    pub early: u32,
    /// Losses so far.
    pub losses: u32,
    /// Packets outstanding.
    pub in_flight: u32,
    /// Packets delivered so far.
    pub delivered: u64,
}

/// The modes by number; other numbers are invalid.
const MODES: [&str; 3] = ["high-speed", "safe", "compete"];

/// Reads numbers one after another.
struct Bytes<'b>(&'b [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }
    fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_ne_bytes)
    }
    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_ne_bytes)
    }
    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_ne_bytes)
    }
    fn address(&mut self) -> Option<IpAddr> {
        self.take().map(|bytes: [u8; 16]| Ipv6Addr::from(bytes).to_canonical())
    }
}

impl Record {
    /// Reads a record in the kernel's format.
    pub fn read(bytes: &[u8]) -> Option<Record> {
        let mut bytes = Bytes(bytes);
        let at = Time(bytes.u64()?);
        let (source, destination) = (bytes.address()?, bytes.address()?);
        let (from, to) = (bytes.u16()?, bytes.u16()?);
        let [closed, mode, _, _] = bytes.take()?;
        let packets = |number: u32| f64::from(number) / 65_536.0;
        let millis = |number: u32| f64::from(number) / 1e3;
        let window = packets(bytes.u32()?);
        let ssthresh = bytes.u32()?;
        let [rtt, smoothed, least, queueing] =
            [bytes.u32()?, bytes.u32()?, bytes.u32()?, bytes.u32()?].map(millis);
        let alpha = packets(bytes.u32()?);
        let probability = f64::from(bytes.u32()?) / 4_294_967_296.0;
        let (early, losses, in_flight) = (bytes.u32()?, bytes.u32()?, bytes.u32()?);
        bytes.u32()?;
        Some(Record {
            at,
            source: SocketAddr::new(source, from),
            destination: SocketAddr::new(destination, to),
            closed: closed != 0,
            mode: MODES.get(usize::from(mode)).copied(),
            window,
            ssthresh: if ssthresh >= i32::MAX as u32 { f64::INFINITY } else { f64::from(ssthresh) },
            rtt,
            smoothed,
            least,
            queueing,
            alpha,
            probability,
            early,
            losses,
            in_flight,
            delivered: bytes.u64()?,
        })
    }
}

/// Takes the records of a controller. Each record is taken by one reader only.
pub struct Reader {
    ring: RingBuffer<'static>,
    taken: Receiver<Record>,
}

impl Reader {
    /// A reader of a loaded controller's records, from now on.
    pub fn open(name: &str) -> Result<Reader, Error> {
        let name = controller(name)?.name;
        let map: MapHandle = objects::map(name, RECORDS).ok_or_else(|| {
            let remedy = format!("`knee kernel load {name}` loads it; reading needs root");
            Error::new(format!("`{name}` is not loaded, or reports nothing"), remedy)
        })?;
        let (give, taken) = channel();
        let mut builder = RingBufferBuilder::new();
        let added = builder.add(&map, move |bytes| {
            // A closed reader needs nothing.
            Record::read(bytes).map_or(0, |record| give.send(record).map_or(-1, |()| 0))
        });
        added.during("read the records")?;
        let ring = builder.build().during("read the records")?;
        // Older records remain from a time without a reader.
        ring.consume().during("read the records")?;
        taken.try_iter().for_each(drop);
        Ok(Reader { ring, taken })
    }

    /// The records that arrived, after at most `wait`.
    pub fn take(&self, wait: Duration) -> Result<Vec<Record>, Error> {
        match self.ring.poll(wait) {
            Err(error) if error.kind() != libbpf_rs::ErrorKind::Interrupted => {
                return Err(error).during("read the records");
            }
            _ => {}
        }
        // Programs submit without waking readers, so a poll alone would miss records.
        self.ring.consume().during("read the records")?;
        Ok(self.taken.try_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_as_it_was_written() {
        let mut bytes = Vec::new();
        bytes.extend(7_u64.to_ne_bytes());
        bytes.extend(std::net::Ipv4Addr::new(10, 77, 0, 1).to_ipv6_mapped().octets());
        bytes.extend(Ipv6Addr::LOCALHOST.octets());
        bytes.extend([5001_u16, 80].map(u16::to_ne_bytes).concat());
        bytes.extend([1, 2, 0, 0]);
        let numbers = [3 << 15, u32::MAX, 20_500, 20_000, 10_000, 10_000, 1 << 16, 1 << 30, 4, 5, 6, 0];
        bytes.extend(numbers.map(u32::to_ne_bytes).concat());
        bytes.extend(9_u64.to_ne_bytes());
        assert_eq!(bytes.len(), 104);
        let record = Record::read(&bytes).expect("a record");
        assert_eq!(record.source, "10.77.0.1:5001".parse().expect("an address"));
        assert_eq!(record.destination, "[::1]:80".parse().expect("an address"));
        assert_eq!((record.closed, record.mode, record.window), (true, Some("compete"), 1.5));
        assert_eq!((record.ssthresh, record.rtt, record.alpha), (f64::INFINITY, 20.5, 1.0));
        assert_eq!((record.probability, record.early, record.losses), (0.25, 4, 5));
        assert_eq!((record.in_flight, record.delivered), (6, 9));
        assert_eq!(Record::read(&bytes[..103]), None);
    }
}

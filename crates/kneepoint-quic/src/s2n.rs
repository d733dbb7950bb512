// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Controllers in s2n-quic, behind its feature `unstable-congestion-controller`.
//!
//! Marks are counted, and a packet leaves no earlier than the controller's rate allows. s2n-quic gives the time at which the newest packet
//! was sent with each batch of acknowledgements, so a batch is one acknowledgement.

use std::string::String;

use kneepoint_cc::cc::Config;
use kneepoint_cc::units::{Span, Time};
use s2n_quic_core::random::Generator;
use s2n_quic_core::recovery::RttEstimator;
use s2n_quic_core::recovery::congestion_controller::{CongestionController, Endpoint, PathInfo, Publisher};
use s2n_quic_core::time::Timestamp;

use crate::carried::{S2N, Supply};
use crate::host::Host;

/// A controller for every path of an endpoint.
#[derive(Debug)]
pub struct Carried(Supply);

impl Carried {
    /// Paths with this controller; the error names what s2n-quic lacks.
    pub fn new(config: Config) -> Result<Carried, String> {
        Supply::new(&S2N, config).map(Carried)
    }
}

impl Endpoint for Carried {
    type CongestionController = Path;

    fn new_congestion_controller(&mut self, info: PathInfo) -> Path {
        let host = self.0.host(info.max_datagram_size);
        Path { host, mtu: info.max_datagram_size.into(), began: None, limited: false, departure: None }
    }
}

/// The controller of a path.
#[derive(Clone, Debug)]
pub struct Path {
    host: Host,
    mtu: u64,
    /// The time of the first packet.
    began: Option<Timestamp>,
    /// Whether the application had nothing more to send.
    limited: bool,
    /// The time at which the next packet may leave.
    departure: Option<Timestamp>,
}

impl Path {
    /// The receiver of s2n-quic's events.
    pub fn host(&self) -> &Host {
        &self.host
    }

    fn at(&self, at: Timestamp) -> Time {
        let passed = self.began.map_or(0, |began| at.saturating_duration_since(began).as_nanos());
        Span(u64::try_from(passed).unwrap_or(u64::MAX)).after_start()
    }
}

/// The sending time of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Sent(Timestamp);

impl CongestionController for Path {
    type PacketInfo = Sent;

    fn congestion_window(&self) -> u32 {
        u32::try_from(self.host.window()).unwrap_or(u32::MAX)
    }

    fn bytes_in_flight(&self) -> u32 {
        u32::try_from(self.host.in_flight()).unwrap_or(u32::MAX)
    }

    fn is_congestion_limited(&self) -> bool {
        self.host.in_flight() + self.mtu > self.host.window()
    }

    fn requires_fast_retransmission(&self) -> bool {
        false
    }

    fn on_packet_sent<Pub: Publisher>(
        &mut self,
        sent: Timestamp,
        bytes: usize,
        limited: Option<bool>,
        _: &RttEstimator,
        _: &mut Pub,
    ) -> Sent {
        self.began.get_or_insert(sent);
        if bytes > 0 {
            self.limited = limited.unwrap_or(self.limited);
            self.host.on_sent(self.at(sent), bytes as u64);
            let from = self.departure.filter(|departure| *departure > sent).unwrap_or(sent);
            let takes = |rate: u64| core::time::Duration::from_secs_f64(bytes as f64 / rate as f64);
            self.departure = self.host.pacing().map(|rate| from + takes(rate));
        }
        Sent(sent)
    }

    fn on_rtt_update<Pub: Publisher>(&mut self, _: Timestamp, _: Timestamp, _: &RttEstimator, _: &mut Pub) {}

    fn on_ack<Pub: Publisher>(
        &mut self,
        newest: Timestamp,
        bytes: usize,
        _: Sent,
        _: &RttEstimator,
        _: &mut dyn Generator,
        now: Timestamp,
        _: &mut Pub,
    ) {
        self.host.on_acked(self.at(newest), bytes as u64);
        self.host.on_end_acks(self.at(now), self.limited);
    }

    fn on_packet_lost<Pub: Publisher>(
        &mut self,
        lost: u32,
        Sent(sent): Sent,
        persistent: bool,
        _: bool,
        _: &mut dyn Generator,
        now: Timestamp,
        _: &mut Pub,
    ) {
        let now = self.at(now);
        self.host.on_lost(now, self.at(sent), lost.into());
        if persistent {
            self.host.on_persistent_congestion(now);
        }
    }

    fn on_explicit_congestion<Pub: Publisher>(&mut self, marked: u64, now: Timestamp, _: &mut Pub) {
        self.host.on_marked(u32::try_from(marked).unwrap_or(u32::MAX));
        // The mark is of a packet that was just acknowledged.
        self.host.on_congestion_of_newest(self.at(now));
    }

    fn on_mtu_update<Pub: Publisher>(&mut self, mtu: u16, _: &mut Pub) {
        self.mtu = mtu.into();
        self.host.on_mtu(self.mtu);
    }

    fn on_packet_discarded<Pub: Publisher>(&mut self, bytes: usize, _: &mut Pub) {
        self.host.on_discarded(bytes as u64);
    }

    fn earliest_departure_time(&self) -> Option<Timestamp> {
        self.departure
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Controllers in quinn.
//!
//! quinn paces by the window alone, so a controller's rate is not obeyed; spurious losses are not reported. A mark
//! arrives as a loss of zero bytes. Per connection:
//!
//! ```
//! use std::sync::Arc;
//! use kneepoint_cc::cc;
//! use kneepoint_quic::quinn::Carried;
//!
//! let pert = cc::Config::named("pert").expect("a registered controller");
//! let mut transport = quinn_proto::TransportConfig::default();
//! transport.congestion_controller_factory(Arc::new(Carried::new(pert).expect("quinn can carry PERT")));
//! ```

use std::any::Any;
use std::string::String;
use std::sync::Arc;
use std::time::Instant;

use alloc::boxed::Box;
use kneepoint_cc::cc::Config;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

use crate::carried::{QUINN, Supply};
use crate::clock::Clock;
use crate::host::Host;
use crate::tape::{Tape, Track};

/// A controller for every connection of an endpoint.
#[derive(Debug)]
pub struct Carried(Supply, Option<Tape>);

impl Carried {
    /// Connections with this controller; the error names what quinn lacks.
    pub fn new(config: Config) -> Result<Carried, String> {
        Supply::new(&QUINN, config).map(|supply| Carried(supply, None))
    }

    /// The same, with all signals to controllers on a tape.
    pub fn taped(config: Config, tape: Tape) -> Result<Carried, String> {
        Supply::new(&QUINN, config).map(|supply| Carried(supply, Some(tape)))
    }
}

impl ControllerFactory for Carried {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let mut host = self.0.host(current_mtu);
        let track = self.1.as_ref().map(|tape| tape.begin(&mut host));
        Box::new(Connection { initial: host.window(), host, clock: Clock::starting(now), track })
    }
}

/// The controller of a connection.
#[derive(Clone, Debug)]
pub struct Connection {
    host: Host,
    clock: Clock,
    initial: u64,
    /// The record of the controller's signals.
    track: Option<Track>,
}

impl Connection {
    /// The receiver of quinn's events.
    pub fn host(&self) -> &Host {
        &self.host
    }

    fn keep(&mut self) {
        if let Some(track) = &self.track {
            track.keep(&mut self.host);
        }
    }
}

impl Controller for Connection {
    fn on_sent(&mut self, now: Instant, bytes: u64, _: u64) {
        self.host.on_sent(self.clock.at(now), bytes);
        self.keep();
    }

    fn on_ack(&mut self, _: Instant, sent: Instant, bytes: u64, _: bool, _: &RttEstimator) {
        self.host.on_acked(self.clock.at(sent), bytes);
    }

    fn on_end_acks(&mut self, now: Instant, _: u64, limited: bool, _: Option<u64>) {
        self.host.on_end_acks(self.clock.at(now), limited);
        self.keep();
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost: u64) {
        let (now, sent) = (self.clock.at(now), self.clock.at(sent));
        if lost == 0 {
            self.host.on_congestion(now, sent);
        } else {
            self.host.on_lost(now, sent, lost);
            if persistent {
                self.host.on_persistent_congestion(now);
            }
        }
        self.keep();
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        self.host.on_mtu(mtu.into());
    }

    fn window(&self) -> u64 {
        self.host.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.host.window();
        metrics.ssthresh = self.host.threshold();
        metrics.pacing_rate = self.host.pacing().map(|bytes| bytes.saturating_mul(8));
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.initial
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

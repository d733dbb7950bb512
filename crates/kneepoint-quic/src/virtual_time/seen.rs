// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A wrapper that observes the signals to a connection's controller: around any controller, the stack's own ones too.

use std::any::Any;
use std::boxed::Box;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

/// Signals since the last call of `take`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Heard {
    /// Bytes acknowledged.
    pub(super) acked: u64,
    /// The time since the newest of them was sent.
    pub(super) rtt: Option<Duration>,
    /// Packets lost.
    pub(super) lost: u32,
    /// The number of congestion signals to the controller.
    pub(super) episodes: u32,
    /// Times that all packets of a long time were lost.
    pub(super) persistent: u32,
    /// Bytes that may be in flight, as last reported.
    pub(super) window: u64,
}

/// The place where a connection's controller reports it.
#[derive(Clone, Debug, Default)]
pub(super) struct Ear(Arc<Mutex<Heard>>);

impl Ear {
    /// The signal; the window stays.
    pub(super) fn take(&self) -> Heard {
        self.note(|heard| std::mem::replace(heard, Heard { window: heard.window, ..Heard::default() }))
    }

    /// Bytes that may be in flight.
    pub(super) fn window(&self) -> u64 {
        self.note(|heard| heard.window)
    }

    fn note<T>(&self, how: impl FnOnce(&mut Heard) -> T) -> T {
        // Nothing that holds the lock can fail.
        how(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Makes observable controllers.
pub(super) struct Seen {
    pub(super) inner: Arc<dyn ControllerFactory + Send + Sync>,
    pub(super) ear: Ear,
}

impl ControllerFactory for Seen {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        let inner = Arc::clone(&self.inner).build(now, mtu);
        let ear = self.ear.clone();
        ear.note(|heard| heard.window = inner.window());
        Box::new(Watched { inner, ear })
    }
}

#[derive(Debug)]
struct Watched {
    inner: Box<dyn Controller>,
    ear: Ear,
}

impl Watched {
    fn note(&self, how: impl FnOnce(&mut Heard)) {
        let window = self.inner.window();
        self.ear.note(|heard| {
            heard.window = window;
            how(heard);
        });
    }
}

impl Controller for Watched {
    fn on_sent(&mut self, now: Instant, bytes: u64, largest: u64) {
        self.inner.on_sent(now, bytes, largest);
    }
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, number: u64) {
        self.inner.on_packet_sent(now, bytes, number);
    }
    fn on_cwnd_limited(&mut self) {
        self.inner.on_cwnd_limited();
    }
    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        number: u64,
        limited: bool,
        rtt: &RttEstimator,
    ) {
        self.inner.on_ack(now, sent, bytes, number, limited, rtt);
        let took = now.saturating_duration_since(sent);
        self.note(|heard| {
            heard.acked += bytes;
            heard.rtt = Some(heard.rtt.map_or(took, |least| least.min(took)));
        });
    }
    fn on_end_acks(&mut self, now: Instant, in_flight: u64, limited: bool, largest: Option<u64>) {
        self.inner.on_end_acks(now, in_flight, limited, largest);
        self.note(|_| ());
    }
    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        persistent: bool,
        ecn: bool,
        lost: u64,
        largest: u64,
    ) {
        self.inner.on_congestion_event(now, sent, persistent, ecn, lost, largest);
        self.note(|heard| {
            heard.episodes += 1;
            heard.persistent += u32::from(persistent);
        });
    }
    fn on_packet_lost(&mut self, bytes: u16, number: u64, now: Instant) {
        self.inner.on_packet_lost(bytes, number, now);
        self.note(|heard| heard.lost += 1);
    }
    fn on_spurious_congestion_event(&mut self) {
        self.inner.on_spurious_congestion_event();
    }
    fn on_mtu_update(&mut self, mtu: u16) {
        self.inner.on_mtu_update(mtu);
    }
    fn on_ack_frequency_update(&mut self, threshold: u64, delay: Duration) {
        self.inner.on_ack_frequency_update(threshold, delay);
    }
    fn window(&self) -> u64 {
        self.inner.window()
    }
    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }
    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Watched { inner: self.inner.clone_box(), ear: self.ear.clone() })
    }
    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.inner.into_any()
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A wrapper that observes the signals to a connection's controller: around any controller, the stack's own ones too.

use std::boxed::Box;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Signals since the last call of `take`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Heard {
    /// Bytes acknowledged.
    pub(super) acked: u64,
    /// The time since the newest of them was sent.
    pub(super) rtt: Option<Duration>,
    /// The number of congestion signals to the controller.
    pub(super) episodes: u32,
    /// Times that all packets of a long time were lost.
    pub(super) persistent: u32,
    /// Bytes that may be in flight, as last reported.
    pub(super) window: u64,
}

impl Heard {
    /// Bytes of a packet were acknowledged.
    pub(super) fn ack(&mut self, now: Instant, sent: Instant, bytes: u64) {
        let took = now.saturating_duration_since(sent);
        self.acked += bytes;
        self.rtt = Some(self.rtt.map_or(took, |least| least.min(took)));
    }

    /// Packets were lost or marked.
    pub(super) fn congestion(&mut self, persistent: bool) {
        self.episodes += 1;
        self.persistent += u32::from(persistent);
    }
}

/// The place where a connection's controller reports it.
#[derive(Clone, Debug, Default)]
pub struct Ear(Arc<Mutex<Heard>>);

impl Ear {
    /// The signal; the window stays.
    pub(super) fn take(&self) -> Heard {
        self.note(|heard| std::mem::replace(heard, Heard { window: heard.window, ..Heard::default() }))
    }

    /// Bytes that may be in flight.
    pub(super) fn window(&self) -> u64 {
        self.note(|heard| heard.window)
    }

    pub(super) fn note<T>(&self, how: impl FnOnce(&mut Heard) -> T) -> T {
        // Nothing that holds the lock can fail.
        how(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Makes observable controllers, from a stack's factory.
pub(super) struct Seen<F: ?Sized> {
    pub(super) inner: Arc<F>,
    pub(super) ear: Ear,
}

/// An observable controller, around a stack's.
#[derive(Debug)]
pub(super) struct Watched<C: ?Sized> {
    pub(super) inner: Box<C>,
    pub(super) ear: Ear,
}

/// The factory, and the reports of the wrapper.
macro_rules! observable {
    () => {
        impl ControllerFactory for Seen<dyn ControllerFactory + Send + Sync> {
            fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
                let watched =
                    Watched { inner: Arc::clone(&self.inner).build(now, mtu), ear: self.ear.clone() };
                watched.note(|_| ());
                Box::new(watched)
            }
        }

        impl Watched<dyn Controller> {
            fn note(&self, how: impl FnOnce(&mut Heard)) {
                let window = self.inner.window();
                self.ear.note(|heard| {
                    heard.window = window;
                    how(heard);
                });
            }
        }
    };
}
pub(super) use observable;

/// The methods of a controller that have the same types in quinn and noq.
macro_rules! passed_on {
    () => {
        fn on_sent(&mut self, now: Instant, bytes: u64, largest: u64) {
            self.inner.on_sent(now, bytes, largest);
        }
        fn on_end_acks(&mut self, now: Instant, in_flight: u64, limited: bool, largest: Option<u64>) {
            self.inner.on_end_acks(now, in_flight, limited, largest);
            self.note(|_| ());
        }
        fn on_mtu_update(&mut self, mtu: u16) {
            self.inner.on_mtu_update(mtu);
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
    };
}
pub(super) use passed_on;

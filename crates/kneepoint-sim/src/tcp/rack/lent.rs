// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The parts of a sender that its recovery borrows for the length of one event.

use crate::cc::{self, Cause, Control, Ecn, Loss, Marks, Resize, Timeout};
use crate::tcp::Options;
use crate::tcp::rtt::{Deviation, Estimator, RttEstimator};
use crate::units::{Span, Time};

/// The rest of a sender.
#[derive(Debug)]
pub struct Lent<'a> {
    /// The time.
    pub now: Time,
    /// The options of the connection.
    pub options: &'a Options,
    /// The congestion control.
    pub controller: &'a mut cc::Any,
    /// Its window, or the reduced window; and its pace.
    pub control: &'a mut Control,
    /// The round-trip time and the timeout.
    pub rtt: &'a mut RttEstimator,
    /// One above the last existing segment.
    pub total: u32,
}

impl Lent<'_> {
    /// The window in whole packets.
    #[inline]
    pub fn window(&self) -> u32 {
        self.control.window as u32
    }

    /// The slow-start threshold in packets.
    pub fn threshold(&mut self) -> f64 {
        self.controller.threshold().unwrap_or(f64::INFINITY)
    }

    /// Whether the controller sets its window by itself in recovery, too (Linux `cong_control`).
    pub fn steers(&self) -> bool {
        self.controller.steers_recovery()
    }

    /// Processes a round-trip time and returns it with the clock's error.
    #[inline]
    pub fn measure(&mut self, rtt: Span, deviation: &mut Deviation, una: u32, high: u32) -> Span {
        match self.options.rto_estimator {
            Estimator::Rfc6298 => self.rtt.sample(rtt),
            Estimator::Linux => self.rtt.sample_as_linux(rtt, deviation, una, high),
        }
    }

    /// The window is the controller's.
    #[inline]
    pub fn follow(&mut self) {
        *self.control = self.controller.control();
    }

    /// Losses are to be repaired: the controller's window falls, the host's does not yet.
    pub fn lose(&mut self, una: u32, high: u32) {
        let flight = self.control.window;
        let (now, una, next) = (self.now, u64::from(una), u64::from(high));
        self.controller.on_loss(&Loss { now, flight, una, next });
    }

    /// A mark was echoed. A controller that counts marks takes it for a loss where the receiver does not count.
    pub fn heed_mark(&mut self, una: u32, high: u32) {
        let flight = self.control.window;
        if self.options.echoes_once() && self.controller.marks() != Marks::Classic {
            return self.lose(una, high);
        }
        self.controller.on_ecn(&Ecn { now: self.now, flight, next: u64::from(high) });
    }

    /// The timer expired, with `in_flight` packets still in flight.
    pub fn restart(&mut self, reported: bool, high: u32, in_flight: u32) {
        let flight = self.control.window;
        self.controller.on_timeout(&Timeout { now: self.now, flight, reported, next: u64::from(high) });
        self.follow();
        if in_flight > 0 {
            let threshold = self.threshold();
            self.resize(f64::from(in_flight + 1), threshold, Cause::Timeout);
        }
    }

    /// The host sets the window and the threshold.
    pub fn resize(&mut self, window: f64, threshold: f64, cause: Cause) {
        self.controller.on_resize(&Resize { now: self.now, window, threshold, cause });
        self.follow();
    }
}

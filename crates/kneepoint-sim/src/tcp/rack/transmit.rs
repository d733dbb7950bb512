// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The next segment to send: a segment regardless of the window, then lost ones, then new data.
//!
//! As Linux's `tcp_xmit_retransmit_queue`, `tcp_write_xmit` and `tcp_tso_should_defer` have it.
//!
//! ```text
//! retransmission  while in flight < W, inside the receiver's window; only where an event called for it
//! new data        while in flight < W, inside the receiver's window
//! deferred        (with `tso`, before Recovery, within 1 ms of the last transmission) where less may leave than
//!                 a millisecond of the pace and a third of the window, and the next acknowledgement is due within min(SRTT / 2, 1 ms);
//!                 not where what may leave reaches the end of a buffer
//! ```
//!
//! The pace that deferring goes by is 2 W / SRTT below half of the threshold, else 1.2 W / SRTT, of a sender that is not paced.
//! Not here: small queues (TSQ) would hold back what waits in the host's own device, which no host here has.

use super::lent::Lent;
use super::timer::Purpose;
use super::{CongestionState as State, Forced, Rack};
use crate::units::{Bytes, PacketRate, Span, Time};

/// Bytes of the largest unit that Linux hands to a device.
const LARGEST: u64 = 65_535;
/// Segments of the smallest one.
const SMALLEST: u32 = 2;
/// The age of the last transmission for which segments wait, and their longest wait.
const PATIENCE: Span = Span::from_millis(1);
/// The part of a second whose data is one unit (Linux `sk_pacing_shift`).
const UNITS_PER_SECOND: f64 = 1024.0;
/// The pace by window and round trip in slow start, and in avoidance.
const PACES: (f64, f64) = (2.0, 1.2);

/// The reaction to an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Turn {
    /// Nothing.
    #[default]
    None,
    /// New data, as far as the window permits.
    Fresh,
    /// Lost segments, then new data.
    Lost,
    /// Lost segments only.
    OnlyLost,
    /// New data, and if there is none, lost segments (F-RTO).
    NewFirst,
}

impl Turn {
    pub(super) fn and_fresh(self) -> Turn {
        match self {
            Turn::None => Turn::Fresh,
            Turn::OnlyLost => Turn::Lost,
            turn => turn,
        }
    }
}

impl Rack {
    /// One above the last segment that exists and fits the receiver's window.
    #[inline]
    pub fn limit(&self, host: &Lent) -> u32 {
        host.total.min(self.edge)
    }

    /// The next segment to send.
    #[inline]
    pub fn choose(&mut self, host: &mut Lent) -> Option<u32> {
        // The rest of a unit was requested with its first segment.
        if self.unit > 0 && self.turn == Turn::Fresh && self.forced.is_none() {
            self.unit -= 1;
            return Some(self.out.high());
        }
        self.choose_anew(host)
    }

    fn choose_anew(&mut self, host: &mut Lent) -> Option<u32> {
        if let Some(Forced { seq, probe, .. }) = self.forced {
            if self.out.is_missing(seq) {
                return Some(seq);
            }
            // A segment held back by pacing has been acknowledged meanwhile.
            self.forced = None;
            self.probe = self.probe.take().filter(|_| !probe);
        }
        if self.turn == Turn::NewFirst {
            if let Some(seq) = self.next_new(host) {
                return Some(seq);
            }
            // F-RTO without new data is an ordinary timeout.
            self.forward &= self.out.high() > self.point;
            self.turn = if self.out.high() > self.point { Turn::Fresh } else { Turn::Lost };
        }
        if matches!(self.turn, Turn::Lost | Turn::OnlyLost) {
            if let Some(seq) = self.next_lost(host) {
                return Some(seq);
            }
            self.turn = if self.turn == Turn::Lost { Turn::Fresh } else { Turn::None };
        }
        if self.turn == Turn::Fresh {
            if let Some(seq) = self.next_new(host) {
                return Some(seq);
            }
            self.turn = Turn::None;
            self.end_turn(host);
        }
        if std::mem::take(&mut self.rearms) {
            self.rearm(host);
        }
        None
    }

    fn next_lost(&mut self, host: &Lent) -> Option<u32> {
        if self.out.in_flight() >= host.window() {
            return None;
        }
        let edge = self.edge;
        self.out.next_lost().filter(|seq| *seq < edge || *seq == self.out.una())
    }

    #[inline]
    fn next_new(&mut self, host: &mut Lent) -> Option<u32> {
        let (seq, in_flight, window) = (self.out.high(), self.out.in_flight(), host.window());
        if seq >= self.limit(host) || in_flight >= window {
            return None;
        }
        if host.options.tso && host.control.pacing.is_none() {
            self.unit = self.next_unit(host, window - in_flight)? - 1;
        }
        Some(seq)
    }

    /// Segments of the next unit that the device is given; none where they wait for more.
    fn next_unit(&mut self, host: &mut Lent, room: u32) -> Option<u32> {
        let left = host.total - self.out.high();
        if left == 1 {
            return Some(1);
        }
        let offered = self.edge - self.out.high();
        let recent = self.state < State::Recovery && host.now.since(self.last_sent) <= PATIENCE;
        if recent && self.waits(host, room, offered, left) {
            self.deferred = room <= offered;
            return None;
        }
        Some(self.unit_of(host, room))
    }

    /// Segments of a unit that has `room` in the window.
    pub(super) fn unit_of(&self, host: &mut Lent, room: u32) -> u32 {
        let left = self.limit(host) - self.out.high();
        let most = room.min((host.window() / 2).max(1)).min(left).max(1);
        if most <= SMALLEST { most } else { most.min(self.largest_unit(host)) }
    }

    /// Segments of a millisecond of the pace.
    fn largest_unit(&self, host: &mut Lent) -> u32 {
        let srtt = host.rtt.smoothed().as_secs_f64();
        let window = host.control.window;
        let pace = if window < host.threshold() / 2.0 { PACES.0 } else { PACES.1 };
        let packets = pace * window.max(f64::from(self.out.len())) / srtt.max(1e-6);
        unit_at(PacketRate(packets), host.options.payload)
    }

    /// Whether segments wait for more to leave with them.
    #[cold]
    fn waits(&self, host: &mut Lent, room: u32, offered: u32, left: u32) -> bool {
        let now_possible = room.min(offered);
        let queued = left.min(self.left_of_buffer(host));
        // At least a third of the window, the rest of a buffer, or a unit.
        if 3 * now_possible >= host.window().min(self.offered)
            || left > queued && now_possible >= queued
            || now_possible >= self.largest_unit(host)
        {
            return false;
        }
        let Some(head) = self.out.head() else { return false };
        let srtt = host.rtt.smoothed();
        let patience = Span(srtt.0 / 2).min(PATIENCE);
        head.at + srtt <= host.now + patience
    }

    /// Segments from the next one to the end of its buffer. Linux fills buffers of 64 KiB behind the first flight.
    fn left_of_buffer(&self, host: &Lent) -> u32 {
        let size = largest(host.options.payload);
        size - self.out.high().saturating_sub(host.options.initial_window as u32) % size
    }

    /// Nothing more may be sent for now.
    #[inline]
    fn end_turn(&mut self, host: &mut Lent) {
        let full = std::mem::take(&mut self.deferred) || self.out.in_flight() >= host.window();
        let sent = std::mem::take(&mut self.sent) > 0;
        self.unit = 0;
        if sent || full {
            self.validate(host, full);
        }
        if sent {
            self.schedule_probe(host, false);
        } else if self.out.is_empty() && self.out.high() < host.total && self.out.high() >= self.edge {
            self.watch_window(host);
        }
    }

    /// A segment leaves.
    #[inline]
    pub fn on_sent(&mut self, seq: u32, host: &mut Lent) {
        // PRR counts new segments, a probe among them, and retransmissions other than probes.
        let counts = self.forced.is_none() || seq == self.out.high();
        if let Some(prr) = self.reduction.as_mut().filter(|_| counts) {
            prr.on_sent();
        }
        if seq == self.out.high() {
            self.on_new(host);
        } else {
            self.on_resent(seq, host);
        }
        self.last_sent = host.now;
    }

    #[inline]
    fn on_new(&mut self, host: &mut Lent) {
        if self.out.in_flight() == 0 && self.last_sent > Time::ZERO {
            host.controller.on_resume(host.now, host.now.since(self.last_sent));
        }
        let first = self.out.is_empty();
        self.out.send(host.now);
        self.answers = false;
        if let Some(Forced { seq, probe, more }) = self.forced.take() {
            self.forced = more.checked_sub(1).map(|more| Forced { seq: seq + 1, probe, more });
            return;
        }
        self.sent += 1;
        if first || self.timer.purpose == Purpose::Tail {
            self.rearm(host);
        }
    }

    #[cold]
    fn on_resent(&mut self, seq: u32, host: &mut Lent) {
        let forced = self.forced.take();
        let probe = forced.is_some_and(|forced| forced.probe);
        self.out.resend(seq, host.now, probe);
        self.resent += 1;
        if probe {
            return;
        }
        self.undo.resent(host.now);
        let head = seq == self.out.una();
        if forced.is_none() && head && self.timer.purpose != Purpose::Reordering {
            self.timer.purpose = Purpose::None;
            self.rearm(host);
        }
    }
}

/// Segments of the largest unit.
fn largest(payload: Bytes) -> u32 {
    (LARGEST / payload.0).max(u64::from(SMALLEST)) as u32
}

/// Segments with this payload that leave together at a pace (Linux `tcp_tso_autosize`).
pub fn unit_at(pace: PacketRate, payload: Bytes) -> u32 {
    ((pace.0 / UNITS_PER_SECOND) as u32).clamp(SMALLEST, largest(payload))
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A controller's host in QUIC, without a stack: bytes and times of sending in, a window and a rate in bytes out.
//!
//! QUIC recovers by RFC 9002. The host translates:
//!
//! | QUIC | controller |
//! |---|---|
//! | bytes | packets of the MTU; a rest waits for the next |
//! | packets of an ACK frame | one acknowledgement |
//! | newly sent, newest acknowledged | `next`, `una`: packets by the order of their sending, because numbers are never used again |
//! | packets lost, and sent after the episode began | a loss; others belong to the episode (§7.3.2) |
//! | persistent congestion | a timeout (§7.6.2) |
//! | packets marked, and sent after the episode began | a mark, once a round trip (§7.1) |
//! | a spurious loss | window and threshold as before the episode |
//! | nothing in flight, then a packet | sending begins again |
//!
//! The window is never below two packets (§7.2). A host never fails: a time that goes back is ignored, bytes that were never sent
//! are not counted, and the memory of a connection has a limit.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use kneepoint_cc::cc::{Ack, Any, Cause, Config, Ecn, Loss, Marks, Resize, Signal, Start, Timeout};
use kneepoint_cc::rng::Rng;
use kneepoint_cc::units::{Span, Time};

/// Packets of a fresh connection (RFC 9002 §7.2).
pub const INITIAL_WINDOW: f64 = 10.0;
/// The least window, in packets.
const LEAST: f64 = 2.0;
/// The most packets that a window has: beyond it, it is none.
const MOST: f64 = 1e9;
/// Instants of sending that are remembered one by one.
const REMEMBERED: usize = 1 << 16;

/// A count of packets that grows by bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    packets: u64,
    rest: u64,
}

impl Tally {
    /// Counts bytes; returns the packets that they completed.
    fn add(&mut self, bytes: u64, mtu: u64) -> u64 {
        let bytes = self.rest.saturating_add(bytes);
        let whole = bytes / mtu;
        self.packets = self.packets.saturating_add(whole);
        self.rest = bytes % mtu;
        whole
    }
}

/// Packets sent by the end of an instant.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Time,
    packets: u64,
}

/// A round trip in which the window was reduced.
#[derive(Clone, Copy, Debug)]
struct Episode {
    began: Time,
    /// Whether acknowledgements of its packets are pending.
    open: bool,
    /// The window and the threshold before.
    before: Option<(f64, f64)>,
}

/// Packets that were acknowledged together, before the end of their batch.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    packets: u64,
    /// The sending time of the newest of them.
    newest: Option<Time>,
    marked: u32,
}

/// A controller and the state of its connection.
#[derive(Clone, Debug)]
pub struct Host {
    controller: Any,
    rng: Rng,
    mtu: u64,
    now: Time,
    sent: Tally,
    delivered: Tally,
    /// Sending times newer than any acknowledged packet's.
    log: VecDeque<Sent>,
    una: u64,
    /// The sending time of the newest acknowledged packet.
    newest: Time,
    /// The time of the last acknowledgement of data.
    heard: Time,
    lost: u64,
    in_flight: u64,
    last_sent: Option<Time>,
    batch: Batch,
    episode: Option<Episode>,
    /// The slow-start threshold in packets, where there is one.
    threshold: Option<f64>,
    /// Signals to the controller since the last call of `take`, if they are recorded.
    record: Option<Vec<Told>>,
}

/// A signal to a controller, and its window in packets afterwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Told {
    /// The signals that it received.
    pub signal: Signal,
    /// Its window.
    pub window: f64,
}

impl Host {
    /// A fresh connection with packets of `mtu` bytes and an initial window of so many. The seed is for controllers
    /// that draw.
    pub fn new(config: &Config, initial_window: f64, mtu: u64, seed: u64) -> Host {
        Host {
            controller: config.build(Start::new(Host::opening(initial_window))),
            rng: Rng::stream(seed, "quic", 0),
            mtu: mtu.max(1),
            now: Time::ZERO,
            sent: Tally::default(),
            delivered: Tally::default(),
            log: VecDeque::new(),
            una: 0,
            newest: Time::ZERO,
            heard: Time::ZERO,
            lost: 0,
            in_flight: 0,
            last_sent: None,
            batch: Batch::default(),
            episode: None,
            threshold: None,
            record: None,
        }
    }

    /// Records the controller's signals from now on, for [`take`](Host::take).
    pub fn record(&mut self) {
        self.record.get_or_insert_default();
    }

    /// The controller's signals since the last call.
    pub fn take(&mut self) -> Vec<Told> {
        self.record.as_mut().map(core::mem::take).unwrap_or_default()
    }

    /// Packets of a connection's initial window, as its controller was given them.
    pub fn opening(initial_window: f64) -> f64 {
        initial_window.clamp(LEAST, MOST)
    }

    /// A packet of this many bytes was sent.
    pub fn on_sent(&mut self, now: Time, bytes: u64) {
        self.pass(now);
        if let Some(last) = self.last_sent.filter(|_| self.in_flight == 0) {
            self.tell(Signal::Resume { now: self.now, idle: self.now.since(last) });
        }
        self.last_sent = Some(self.now);
        self.in_flight = self.in_flight.saturating_add(bytes);
        self.sent.add(bytes, self.mtu);
        let sent = Sent { at: self.now, packets: self.next() };
        let full = self.log.len() >= REMEMBERED;
        match self.log.back_mut() {
            Some(last) if full || last.at == sent.at => *last = sent,
            _ => self.log.push_back(sent),
        }
    }

    /// A packet of this many bytes, sent at `sent`, is acknowledged: one of a batch that [`on_end_acks`](Host::on_end_acks) ends.
    pub fn on_acked(&mut self, sent: Time, bytes: u64) {
        self.in_flight = self.in_flight.saturating_sub(bytes);
        self.batch.packets += self.delivered.add(bytes, self.mtu);
        self.batch.newest = self.batch.newest.max(Some(sent));
    }

    /// This many packets of the batch arrived with a congestion mark.
    pub fn on_marked(&mut self, packets: u32) {
        self.batch.marked = self.batch.marked.saturating_add(packets);
    }

    /// A batch of acknowledgements ended; `limited` if the sender had nothing more to send.
    pub fn on_end_acks(&mut self, now: Time, limited: bool) {
        self.pass(now);
        let batch = core::mem::take(&mut self.batch);
        let Some(newest) = batch.newest else { return };
        self.newest = self.newest.max(newest);
        self.heard = self.now;
        while let Some(sent) = self.log.front().filter(|sent| sent.at <= newest) {
            self.una = self.una.max(sent.packets);
            self.log.pop_front();
        }
        if let Some(episode) = self.episode.as_mut().filter(|episode| newest > episode.began) {
            episode.open = false;
        }
        let recovering = self.episode.is_some_and(|episode| episode.open);
        let acked = u32::try_from(batch.packets).unwrap_or(u32::MAX);
        let ack = Ack {
            now: self.now,
            rtt: (newest <= self.now).then(|| self.now.since(newest)).filter(|rtt| *rtt > Span::ZERO),
            one_way: None,
            acked,
            delivered: self.delivered.packets,
            resent: self.lost,
            marked: batch.marked,
            credit: if limited || recovering { 0.0 } else { f64::from(acked) },
            limited,
            una: self.una,
            next: self.next(),
            in_flight: self.packets_in_flight(),
            recovering,
        };
        let draw = self.rng.uniform();
        if self.tell(Signal::Ack(ack, draw)) {
            self.reduce(newest, |host, flight| host.mark(flight));
        }
        self.look();
    }

    /// Bytes were lost, the newest of them sent at `sent`.
    pub fn on_lost(&mut self, now: Time, sent: Time, bytes: u64) {
        self.pass(now);
        let flight = self.flight();
        self.in_flight = self.in_flight.saturating_sub(bytes);
        self.lost = self.lost.saturating_add(bytes.div_ceil(self.mtu));
        let loss = Loss { now: self.now, flight, una: self.una, next: self.next() };
        self.reduce(sent, |host, _| {
            host.tell(Signal::Loss(loss));
        });
    }

    /// All packets of a long time were lost.
    pub fn on_persistent_congestion(&mut self, now: Time) {
        self.pass(now);
        let reported = self.episode.is_some_and(|episode| episode.open);
        let timeout = Timeout { now: self.now, flight: self.flight(), reported, next: self.next() };
        self.tell(Signal::Timeout(timeout));
        self.episode = Some(Episode { began: self.now, open: true, before: None });
        self.look();
    }

    /// Packets arrived with marks of congestion, the newest of them sent at `sent`. Controllers that count marks get
    /// them from [`on_marked`](Host::on_marked) alone.
    pub fn on_congestion(&mut self, now: Time, sent: Time) {
        self.pass(now);
        if self.controller.marks() == Marks::Classic {
            self.reduce(sent, |host, flight| host.mark(flight));
        }
    }

    /// The same for the newest acknowledged packet, from a stack that does not identify the marked one.
    pub fn on_congestion_of_newest(&mut self, now: Time) {
        self.on_congestion(now, self.newest);
    }

    /// Bytes in flight that are neither acknowledged nor lost and never will be.
    pub fn on_discarded(&mut self, bytes: u64) {
        self.in_flight = self.in_flight.saturating_sub(bytes);
    }

    /// All losses of the last episode were spurious.
    pub fn on_spurious(&mut self, now: Time) {
        self.pass(now);
        let Some((window, threshold)) = self.episode.take().and_then(|episode| episode.before) else {
            return;
        };
        let window = window.max(self.controller.control().window);
        self.tell(Signal::Resize(Resize { now: self.now, window, threshold, cause: Cause::Undo }));
    }

    /// The packet size changes.
    pub fn on_mtu(&mut self, mtu: u64) {
        self.mtu = mtu.max(1);
    }

    /// Bytes that may be in flight.
    pub fn window(&self) -> u64 {
        (self.controller.control().window.clamp(LEAST, MOST) * self.mtu as f64) as u64
    }

    /// Bytes per second at which to send them, of a controller that paces.
    pub fn pacing(&self) -> Option<u64> {
        let pace = self.controller.control().pacing?;
        Some(((pace.0 * self.mtu as f64) as u64).max(1))
    }

    /// The slow-start threshold in bytes, for a controller that has one, once it is known.
    pub fn threshold(&self) -> Option<u64> {
        self.threshold.map(|packets| (packets * self.mtu as f64) as u64)
    }

    /// Bytes in flight, as the host counts them.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// From the connection's beginning to the last acknowledgement of data.
    pub fn lasted(&self) -> Span {
        self.heard.since(Time::ZERO)
    }

    /// The controller.
    pub fn controller(&self) -> &Any {
        &self.controller
    }

    /// Time advances, and never goes back.
    fn pass(&mut self, now: Time) {
        self.now = self.now.max(now);
    }

    /// The next packet that was never sent: a partial packet counts as one.
    fn next(&self) -> u64 {
        self.sent.packets + u64::from(self.sent.rest > 0)
    }

    fn packets_in_flight(&self) -> u32 {
        u32::try_from(self.in_flight.div_ceil(self.mtu)).unwrap_or(u32::MAX)
    }

    /// Packets that were using the path: the window where it was full (RFC 5681 §3.1).
    fn flight(&self) -> f64 {
        let window = self.controller.control().window;
        let packets = f64::from(self.packets_in_flight());
        if packets + 1.0 > window { window } else { packets.max(1.0) }
    }

    fn mark(&mut self, flight: f64) {
        self.tell(Signal::Ecn(Ecn { now: self.now, flight, next: self.next() }));
    }

    /// Passes a signal to the controller, and records it. Whether it yields.
    fn tell(&mut self, signal: Signal) -> bool {
        let yields = signal.tell(&mut self.controller);
        if let Some(record) = &mut self.record {
            record.push(Told { signal, window: self.controller.control().window });
        }
        yields
    }

    /// Begins an episode if the packet was sent after the last one began.
    fn reduce(&mut self, sent: Time, how: impl FnOnce(&mut Host, f64)) {
        if self.episode.is_some_and(|episode| sent <= episode.began) {
            return;
        }
        let window = self.controller.control().window;
        let before = self.controller.threshold().map(|threshold| (window, threshold));
        let flight = self.flight();
        how(self, flight);
        self.episode = Some(Episode { began: self.now, open: true, before });
        self.look();
    }

    /// Keeps the threshold, which a controller shows only to code that may change it.
    fn look(&mut self) {
        self.threshold = self.controller.threshold().filter(|threshold| threshold.is_finite());
    }
}

#[cfg(test)]
mod tests;

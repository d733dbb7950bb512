// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Congestion control: the signals of a sender, the answers of a controller, and the registry.
//!
//! A controller is independent of TCP, QUIC and the simulator. Its host calls it with a signal and reads
//! [`Control`]. Windows are counted in **packets of full size**, as the papers count them: a host that counts
//! bytes divides by its segment size. Time and randomness are arguments.
//!
//! To add one: write `cc/NAME.rs` like `cc/reno.rs` and add its line to the registry below. A controller of another crate
//! needs no line: see [`external`].

pub mod base_delay;
pub mod delay;
pub mod delivery;
pub mod early;
pub mod external;
pub mod extreme;
pub mod marking;
pub mod rate_window;
pub mod response;
pub mod rounds;
mod signals;
pub mod startup;
pub mod steady;
pub mod window;

use alloc::vec::Vec;

use crate::rng::Rng;
use crate::settings::Settings;
use crate::units::{PacketRate, Span, Time};

pub use external::External;
pub use signals::{Ack, Advice, Advised, Cause, Ecn, Loss, Resize, Signal, Sizes, Timeout};
pub use startup::{Crossing, SlowStart};

crate::choice! {
    /// The version of a controller that runs where Linux's differs from its publication.
    pub enum Version {
        /// As published.
        Published = "published",
        /// As in Linux.
        Linux = "linux",
    }
}

/// The initial conditions of a controller.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// The window of a fresh connection in packets.
    pub initial_window: f64,
    /// The slow-start threshold of a fresh connection in packets; infinite unless an experiment sets it.
    pub initial_ssthresh: f64,
    /// The most that the receiver has room for, in packets: more of a window is not in use. Infinite where reductions act on all of
    /// the window, as Linux's do.
    pub room: f64,
    /// The growth of the window below the threshold.
    pub slow_start: SlowStart,
    /// The value of an acknowledgement beyond the threshold.
    pub crossing: Crossing,
    /// The version of the controller that runs.
    pub version: Version,
    /// Bytes of a full segment, for controllers that count whole bytes in Linux.
    pub segment: u32,
}

/// Bytes of a full segment over Ethernet with timestamps, IPv4.
const SEGMENT: u32 = 1448;

impl Start {
    /// A fresh connection with a window of `packets` and nothing else set.
    pub fn new(packets: f64) -> Start {
        Start {
            initial_window: packets,
            initial_ssthresh: f64::INFINITY,
            room: f64::INFINITY,
            slow_start: SlowStart::Own,
            crossing: Crossing::Carried,
            version: Version::Published,
            segment: SEGMENT,
        }
    }

    /// A connection beyond its slow start, with a window of `packets`.
    pub fn avoiding(packets: f64) -> Start {
        Start { initial_ssthresh: 2.0, ..Start::new(packets) }
    }
}

/// The explicit feedback that a sender requests from the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// None: the controller receives nothing from the network.
    #[default]
    Nothing,
    /// The least rate along the path: [`Advice::Rate`].
    Rate,
    /// The least change of the window along the path: [`Advice::Change`].
    Change,
}

/// The ECN codepoint of a sender's packets, and how its receiver echoes marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Marks {
    /// ECT(0); the echo lasts until the sender says that it has answered, one answer a window (RFC 3168).
    #[default]
    Classic,
    /// ECT(0); the mark of each packet is echoed once (RFC 8257 §3.2).
    Each,
    /// ECT(1): queues may mark early and often, because the sender answers in proportion; echoed as [`Marks::Each`]
    /// (RFC 9331 §4).
    Scalable,
}

/// The answer of a controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Control {
    /// Packets that may be outstanding: at least one, finite.
    pub window: f64,
    /// The rate at which to space them, or as acknowledgements come.
    pub pacing: Option<PacketRate>,
}

/// A congestion control.
///
/// A loss or a mark reduces the window at once; the host sends no more than [`Control`] allows and, while it
/// repairs, inflates nothing here.
pub trait Controller: Clone + core::fmt::Debug {
    /// Its parameters.
    type Params: Settings;

    /// The ECN codepoint of its packets and the echo it needs.
    const MARKS: Marks = Marks::Classic;
    /// The explicit feedback it uses.
    const WANTED: Wanted = Wanted::Nothing;
    /// During recovery the controller sets its own window: proportional rate reduction stays off.
    const STEERS_RECOVERY: bool = false;
    /// Published response functions: its mean window at a given loss rate.
    const STEADY_STATE: &'static [steady::ResponseFunction] = &[];

    /// [`MARKS`](Controller::MARKS).
    fn marks(&self) -> Marks {
        Self::MARKS
    }
    /// [`WANTED`](Controller::WANTED).
    fn wanted(&self) -> Wanted {
        Self::WANTED
    }
    /// [`STEERS_RECOVERY`](Controller::STEERS_RECOVERY).
    fn steers_recovery(&self) -> bool {
        Self::STEERS_RECOVERY
    }
    /// [`STEADY_STATE`](Controller::STEADY_STATE).
    fn steady_state(&self) -> &'static [steady::ResponseFunction] {
        Self::STEADY_STATE
    }
    /// A controller for a fresh connection.
    fn new(params: Self::Params, start: Start) -> Self;
    /// The handshake took this long; never where a connection begins without one.
    fn on_opened(&mut self, _now: Time, _rtt: Span) {}
    /// An acknowledgement arrived, in order or duplicate.
    fn on_ack(&mut self, ack: &Ack, rng: &mut Rng);
    /// A loss episode begins.
    fn on_loss(&mut self, loss: &Loss);
    /// Start over from one packet.
    fn on_timeout(&mut self, timeout: &Timeout);
    /// A mark was echoed, reported once per window; by default a loss (RFC 3168 §6.1.2).
    fn on_ecn(&mut self, ecn: &Ecn) {
        self.on_loss(&Loss { now: ecn.now, flight: ecn.flight, una: ecn.next, next: ecn.next });
    }
    /// Whether it asks its host for a reduction as after a mark, since it was asked last (Linux `tcp_enter_cwr`): the
    /// host spreads it over a round trip, and reports it by [`on_ecn`](Controller::on_ecn). Where no host asks, it
    /// reduces by itself with the next acknowledgement.
    fn yields(&mut self) -> bool {
        false
    }
    /// The network advised it as [`WANTED`](Controller::WANTED); without explicit feedback in the network, never.
    fn on_advice(&mut self, _: &Advised) {}
    /// Its window and threshold, if it has both.
    fn sizes(&mut self) -> Option<Sizes<'_>> {
        None
    }
    /// The host sets window and threshold; a controller without both ignores it by default.
    fn on_resize(&mut self, resize: &Resize) {
        if let Some(Sizes { window, threshold }) = self.sizes() {
            *window = resize.window.max(1.0);
            *threshold = resize.threshold;
        }
    }
    /// Sending begins again with nothing in flight, `idle` after the last packet was sent.
    fn on_resume(&mut self, _now: Time, _idle: Span) {}
    /// Its window and pace now.
    fn control(&self) -> Control;
    /// Internal variables for plots: names with units, and values.
    fn state(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}

crate::registry! {
    trait Controller(Start);
    each each;
    external External;
    algorithms {
        reno::Reno,
        pert::Pert,
        response/pi::PertPi as "pert-pi",
        response/rem::PertRem as "pert-rem",
        response/pie::PertPie as "pert-pie",
        response/codel::PertCoDel as "pert-codel",
        pert_adaptive::PertAdaptive as "pert-adaptive",
        pert_small::PertSmall as "pert-small",
        cubic::Cubic,
        vegas::Vegas,
        illinois::Illinois,
        fast::Fast,
        hstcp::HsTcp,
        scalable::Scalable,
        bic::Bic,
        htcp::Htcp,
        ltcp::Ltcp,
        bbr::Bbr,
        bbr3::Bbr3,
        copa::Copa,
        dctcp::Dctcp,
        prague::Prague,
        compound::Compound,
        westwood::Westwood,
        veno::Veno,
        yeah::Yeah,
        cdg::Cdg,
        hybla::Hybla,
        lp::Lp,
        nv::Nv,
        ledbat::Ledbat,
        ledbat_pp::LedbatPp as "ledbat-pp",
        c4::C4,
        ratcp::Ratcp,
        rcp::Rcp,
        xcp::Xcp,
        abc::Abc,
        ratcp_rem::RatcpRem as "ratcp-rem",
    }
}

impl Config {
    /// Published response functions: the mean window at a given loss rate.
    pub fn steady_state(&self) -> &'static [steady::ResponseFunction] {
        each!(&self.build(Start::new(2.0)), one => one.steady_state())
    }
}

/// The methods of [`Controller`], forwarded to the variant.
#[allow(missing_docs)]
impl Any {
    pub fn marks(&self) -> Marks {
        each!(self, one => one.marks())
    }
    pub fn wanted(&self) -> Wanted {
        each!(self, one => one.wanted())
    }
    pub fn steers_recovery(&self) -> bool {
        each!(self, one => one.steers_recovery())
    }
    #[cold]
    #[inline(never)]
    pub fn on_opened(&mut self, now: Time, rtt: Span) {
        each!(self, one => one.on_opened(now, rtt))
    }
    #[inline]
    pub fn on_ack(&mut self, ack: &Ack, rng: &mut Rng) {
        each!(self, one => one.on_ack(ack, rng))
    }
    /// [`on_ack`](Any::on_ack), then [`control`](Any::control), at the price of one dispatch.
    #[inline]
    pub fn hear(&mut self, ack: &Ack, rng: &mut Rng) -> Control {
        each!(self, one => {
            one.on_ack(ack, rng);
            one.control()
        })
    }
    #[inline]
    pub fn yields(&mut self) -> bool {
        each!(self, one => one.yields())
    }
    pub fn on_advice(&mut self, advised: &Advised) {
        each!(self, one => one.on_advice(advised))
    }
    pub fn on_resize(&mut self, resize: &Resize) {
        each!(self, one => one.on_resize(resize))
    }
    pub fn on_resume(&mut self, now: Time, idle: Span) {
        each!(self, one => one.on_resume(now, idle))
    }
    /// The slow-start threshold in packets, of a controller that has one.
    pub fn threshold(&mut self) -> Option<f64> {
        each!(self, one => one.sizes().map(|sizes| *sizes.threshold))
    }
    pub fn on_loss(&mut self, loss: &Loss) {
        each!(self, one => one.on_loss(loss))
    }
    pub fn on_timeout(&mut self, timeout: &Timeout) {
        each!(self, one => one.on_timeout(timeout))
    }
    pub fn on_ecn(&mut self, ecn: &Ecn) {
        each!(self, one => one.on_ecn(ecn))
    }
    #[inline]
    pub fn control(&self) -> Control {
        each!(self, one => one.control())
    }
    pub fn state(&self) -> Vec<(&'static str, f64)> {
        each!(self, one => one.state())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Drives a controller by hand, one round trip at a time, for tests of worked numbers.
    #[derive(Clone)]
    pub(crate) struct Trace<C> {
        pub controller: C,
        pub now: Time,
        pub rtt: Span,
        pub one_way: Option<Span>,
        pub una: u64,
        /// Whether acknowledgements echo marks.
        pub marked: bool,
        next: u64,
        rng: Rng,
    }

    impl<C: Controller> Trace<C> {
        pub fn new(controller: C) -> Trace<C> {
            let mut trace = Trace {
                controller,
                now: Time::ZERO,
                rtt: Span::from_millis(60),
                one_way: None,
                una: 0,
                marked: false,
                next: 0,
                rng: Rng::stream(1, "trace", 0),
            };
            trace.send();
            trace
        }
        pub fn window(&self) -> f64 {
            self.controller.control().window
        }
        /// Fills the window.
        fn send(&mut self) {
            self.next = self.next.max(self.una + self.window() as u64);
        }
        /// One acknowledgement of one packet, `gap` after the one before.
        pub fn ack(&mut self, gap: Span) {
            self.now += gap;
            self.una += 1;
            let ack = Ack {
                now: self.now,
                rtt: Some(self.rtt),
                one_way: self.one_way,
                acked: 1,
                delivered: self.una,
                resent: 0,
                marked: u32::from(self.marked),
                credit: 1.0,
                limited: false,
                una: self.una,
                next: self.next,
                in_flight: (self.next - self.una) as u32,
                recovering: false,
            };
            self.controller.on_ack(&ack, &mut self.rng);
            self.send();
        }
        /// Acknowledges a full window over one round trip; the window after.
        pub fn round_trip(&mut self) -> f64 {
            let packets = self.window() as u64;
            for _ in 0..packets {
                self.ack(Span(self.rtt.0 / packets));
            }
            self.window()
        }
        pub fn loss(&mut self) {
            let loss = Loss { now: self.now, flight: self.window(), una: self.una, next: self.next };
            self.controller.on_loss(&loss);
            self.send();
        }
        pub fn timeout(&mut self) {
            let timeout = Timeout { now: self.now, flight: self.window(), reported: false, next: self.next };
            self.controller.on_timeout(&timeout);
            self.send();
        }
        pub fn ecn(&mut self) {
            let ecn = Ecn { now: self.now, flight: self.window(), next: self.next };
            self.controller.on_ecn(&ecn);
            self.send();
        }
    }
}

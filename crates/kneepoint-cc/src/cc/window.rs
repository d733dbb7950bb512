// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The window and threshold that most controllers share, with the growth and the reductions of RFC 5681.
//!
//! Linux has whole packets: in avoidance the window gains one when it has counted as many acknowledged as the window has
//! (tcp_cong_avoid_ai). The difference is a packet, but a packet more at a full queue is a packet lost: alone on a
//! drop-tail link, the window so counted gains its next packet just before the loss that the one before had caused is
//! detected, and loses two where the fractional window loses one or two.
//!
//! Of a reduction, some of Linux's controllers round down what is left, max(W / 2, 2), and others what is taken off, W -
//! b W. Where windows are a few packets and marks take a fraction of one, this determines whether a flow yields at all.
//! Each controller therefore declares its rule ([`InLinux`]); those that are not in Linux have fractions everywhere.

use alloc::boxed::Box;

use super::startup::Startup;
use super::{Ack, Control, Crossing, Sizes, Start, Timeout, Version};

/// The least window after a loss (RFC 5681 equation 4).
pub const FLOOR_AFTER_LOSS: f64 = 2.0;

/// The parts of a controller's window that are in whole packets for Linux's controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InLinux {
    /// Nothing: the controller is not in Linux, or its implementation there has fractions too.
    Fractions,
    /// The window; after a reduction it is rounded down.
    WholeLeft,
    /// The window; the decrease of a reduction is rounded down.
    WholeTaken,
}

/// Packets acknowledged towards the next one that a window gains (Linux's `snd_cwnd_cnt`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally(f64);

impl Tally {
    /// The whole packets that a window gains with `acked` more acknowledged, one for each `each`.
    #[inline]
    pub fn gained(&mut self, acked: f64, each: f64) -> f64 {
        // The count gathered while more were needed adds one packet.
        let gathered = if self.0 >= each { 1.0 } else { 0.0 };
        let acked = acked + self.0 * (1.0 - gathered);
        let gained = libm::floor(acked / each);
        self.0 = acked - gained * each;
        gathered + gained
    }
}

/// A congestion window `W` and its slow-start threshold `S`, in packets.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Packets that may be outstanding.
    pub packets: f64,
    /// Below it the window doubles every round trip.
    pub ssthresh: f64,
    extra: Option<Box<Extra>>,
}

/// Quantities that a window of slow start and avoidance lacks.
#[derive(Clone, Debug, PartialEq)]
struct Extra {
    /// The count of a window of whole packets, and how its reductions are rounded.
    whole: Option<(Tally, InLinux)>,
    /// Rules that end slow start before a loss.
    startup: Option<Startup>,
    crossing: Crossing,
}

impl Window {
    /// The window of a fresh connection; `in_linux` counts where the host asks for Linux's controllers.
    pub fn new(start: Start, in_linux: InLinux) -> Window {
        let counts = start.version == Version::Linux && in_linux != InLinux::Fractions;
        let whole = counts.then(|| (Tally::default(), in_linux));
        let startup = Startup::of(&start);
        let crossing = start.crossing;
        let extra = whole.is_some() || startup.is_some() || crossing != Crossing::Carried;
        Window {
            packets: start.initial_window,
            ssthresh: start.initial_ssthresh,
            extra: extra.then(|| Box::new(Extra { whole, startup, crossing })),
        }
    }

    /// Whether the window still doubles every round trip: `W < S`.
    #[inline]
    pub fn slow_start(&self) -> bool {
        self.packets < self.ssthresh
    }

    /// Slow start, then `per_rtt` packets a round trip: `W += acked`, `W += per_rtt · acked / W`.
    #[inline]
    pub fn grow(&mut self, ack: &Ack, per_rtt: f64) {
        if self.slow_start() || self.extra.is_some() {
            self.grow_otherwise(ack, per_rtt);
        } else {
            self.packets += per_rtt * ack.credit / self.packets;
        }
    }

    /// As [`grow`](Window::grow), with `credit` packets in place of the acknowledgement's.
    #[inline]
    pub fn grow_by(&mut self, credit: f64, ack: &Ack, per_rtt: f64) {
        if self.slow_start() || self.extra.is_some() {
            self.grow_otherwise(&Ack { credit, ..*ack }, per_rtt);
        } else {
            self.packets += per_rtt * credit / self.packets;
        }
    }

    /// Slow start alone: how many packets of the acknowledgement it leaves to congestion avoidance.
    pub fn start(&mut self, ack: &Ack) -> f64 {
        if !self.slow_start() {
            self.converge(ack);
            return ack.credit;
        }
        let haste = self.haste(ack);
        let (whole, room) = (haste * ack.credit, self.ssthresh - self.packets);
        let (growth, rest) = match self.extra.as_ref().map_or(Crossing::Carried, |extra| extra.crossing) {
            Crossing::Carried => (whole.min(room), ack.credit - whole.min(room) / haste),
            Crossing::Dropped => (whole.min(room), 0.0),
            Crossing::Doubled => (whole, 0.0),
        };
        self.packets += growth;
        rest
    }

    /// Slow start, then a packet for every `each` acknowledged (Linux's `tcp_cong_avoid_ai`).
    pub fn grow_for_each(&mut self, ack: &Ack, each: impl FnOnce(f64) -> f64) {
        let beyond = self.start(ack);
        if beyond > 0.0 {
            let each = each(self.packets);
            let gained = self.whole().map(|(tally, _)| tally.gained(beyond, each));
            self.packets += gained.unwrap_or(beyond / each);
        }
    }

    /// Slow start and whole packets, in a separate function to save registers in plain avoidance.
    #[inline(never)]
    fn grow_otherwise(&mut self, ack: &Ack, per_rtt: f64) {
        // Packets beyond the threshold grow the window as congestion avoidance does, unless the host has another rule.
        let beyond = self.start(ack);
        let each = self.packets / per_rtt;
        self.packets += match self.whole() {
            None => per_rtt * beyond / self.packets,
            Some(_) if per_rtt == 0.0 => 0.0,
            Some((tally, _)) => tally.gained(beyond, each),
        };
    }

    /// Counts packets acknowledged, in whole packets: whether there were `each` of them before, which begins the count anew without these.
    pub fn count_to(&mut self, each: f64, acked: f64) -> bool {
        let Some((tally, _)) = self.whole() else { return false };
        let reached = tally.0 >= each;
        tally.0 = if reached { 0.0 } else { tally.0 + acked };
        reached
    }

    /// Whether the window is in whole packets.
    pub fn is_whole(&self) -> bool {
        self.extra.as_ref().is_some_and(|extra| extra.whole.is_some())
    }

    fn whole(&mut self) -> Option<&mut (Tally, InLinux)> {
        self.extra.as_mut()?.whole.as_mut()
    }

    /// The window after a reduction to `packets`, in whole packets where the window has them; the count restarts.
    fn rounded(&mut self, packets: f64) -> f64 {
        let before = self.packets;
        let Some((tally, in_linux)) = self.whole() else { return packets };
        *tally = Tally::default();
        match in_linux {
            InLinux::Fractions => packets,
            InLinux::WholeLeft => libm::floor(packets),
            InLinux::WholeTaken => before - libm::floor(before - packets),
        }
    }

    fn startup(&mut self) -> Option<&mut Startup> {
        self.extra.as_mut()?.startup.as_mut()
    }

    /// Goes on with a first reduction that follows what arrives.
    fn converge(&mut self, ack: &Ack) {
        let window = self.packets;
        if let Some(converged) = self.startup().and_then(|startup| startup.converged(ack, window)) {
            self.packets = converged.max(FLOOR_AFTER_LOSS);
            self.ssthresh = self.packets;
        }
    }

    /// The current growth of slow start in units of doubling; where slow start is over, the threshold falls.
    fn haste(&mut self, ack: &Ack) -> f64 {
        let packets = self.packets;
        let Some(startup) = self.startup() else { return 1.0 };
        startup.haste(ack, packets).unwrap_or_else(|| {
            self.ssthresh = packets;
            1.0
        })
    }

    /// Continues from `packets`, in congestion avoidance; never from more than before, or two.
    #[inline]
    pub fn reduce_to(&mut self, packets: f64) {
        let before = self.packets;
        let starts = self.slow_start();
        let packets = match self.startup() {
            Some(startup) if starts => startup.reduced(before, packets),
            _ => packets,
        };
        self.packets = self.rounded(packets.min(self.packets)).max(FLOOR_AFTER_LOSS);
        self.ssthresh = self.packets;
    }

    /// Starts over from one packet, and doubles up to `ssthresh`; where the loss was reported before, up to the window
    /// after that report.
    #[inline]
    pub fn restart(&mut self, timeout: &Timeout, ssthresh: f64) {
        if !timeout.reported {
            self.ssthresh = self.rounded(ssthresh);
        }
        self.ssthresh = self.ssthresh.max(FLOOR_AFTER_LOSS);
        self.packets = 1.0;
        if let Some(startup) = self.startup() {
            startup.restart();
        }
    }

    /// Window and threshold, for the host to set.
    pub fn sizes(&mut self) -> Sizes<'_> {
        Sizes { window: &mut self.packets, threshold: &mut self.ssthresh }
    }

    /// This window, unpaced.
    #[inline]
    pub fn control(&self) -> Control {
        Control { window: self.packets.max(1.0), pacing: None }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::super::tests::Trace;
    use super::super::{
        Controller, abc::Abc, bic::Bic, compound::Compound, cubic, cubic::Cubic, dctcp::Dctcp, hstcp::HsTcp,
        htcp::Htcp, illinois::Illinois, ltcp::Ltcp, pert::Pert, pert_adaptive::PertAdaptive, prague::Prague,
        reno::Reno, scalable::Scalable, vegas::Vegas, veno::Veno, westwood::Westwood, xcp::Xcp, yeah::Yeah,
    };
    use super::*;
    use crate::units::{Span, Time};

    #[test]
    fn a_tally_gains_a_packet_for_each_window_acknowledged() {
        let mut tally = Tally::default();
        let gains: [f64; 5] = core::array::from_fn(|_| tally.gained(2.0, 3.0));
        assert_eq!(gains, [0.0, 1.0, 1.0, 0.0, 1.0]);
        // Five of six had been counted; where three suffice they add one packet, and the count restarts.
        let mut full = Tally(5.0);
        assert_eq!((full.gained(1.0, 3.0), full), (1.0, Tally(1.0)));
    }

    /// Windows after reductions of 15 packets by a tenth and by a half.
    fn left(version: Version, in_linux: InLinux) -> [f64; 2] {
        [13.5, 7.5].map(|packets| {
            let mut window = Window::new(Start { version, ..Start::avoiding(15.0) }, in_linux);
            window.reduce_to(packets);
            window.packets
        })
    }

    #[test]
    fn of_a_reduction_linux_rounds_down_what_is_left_or_what_is_taken_off() {
        assert_eq!(left(Version::Linux, InLinux::WholeLeft), [13.0, 7.0]);
        assert_eq!(left(Version::Linux, InLinux::WholeTaken), [14.0, 8.0]);
        for in_linux in [InLinux::Fractions, InLinux::WholeLeft, InLinux::WholeTaken] {
            assert_eq!(left(Version::Published, in_linux), [13.5, 7.5]);
        }
    }

    #[test]
    fn an_acknowledgement_past_the_threshold_avoids_stops_or_doubles_with_its_rest() {
        // From 1.3 packets to a threshold of two, with 0.3 of the acknowledgement left: 2 + 0.3 / 2.
        let after = |crossing| {
            let start = Start { crossing, initial_ssthresh: 2.0, ..Start::new(1.3) };
            let mut trace = Trace::new(Reno::new(Default::default(), start));
            trace.ack(Span::from_millis(1));
            trace.window()
        };
        let [carried, dropped, doubled] =
            [Crossing::Carried, Crossing::Dropped, Crossing::Doubled].map(after);
        assert!((carried - 2.15).abs() < 1e-9 && (doubled - 2.3).abs() < 1e-9, "{carried} {doubled}");
        assert_eq!(dropped, 2.0);
    }

    /// A window of 15 packets after this many acknowledgements and a loss.
    fn after_a_loss<C: Controller>(version: Version, acknowledged: u32) -> f64 {
        let start = Start { version, ..Start::avoiding(15.0) };
        let mut trace = Trace::new(C::new(C::Params::default(), start));
        (0..acknowledged).for_each(|_| trace.ack(Span::from_millis(4)));
        trace.loss();
        trace.window()
    }

    #[test]
    fn a_loss_leaves_of_fifteen_packets_what_each_controller_of_linux_leaves() {
        let linux = [
            // max(W / 2, 2)
            ("reno", 7.0, after_a_loss::<Reno>(Version::Linux, 0)),
            ("dctcp", 7.0, after_a_loss::<Dctcp>(Version::Linux, 0)),
            ("htcp", 7.0, after_a_loss::<Htcp>(Version::Linux, 0)),
            ("westwood", 7.0, after_a_loss::<Westwood>(Version::Linux, 0)),
            // 717 W / 1024, 819 W / 1024, 4 W / 5
            ("cubic", 10.0, after_a_loss::<Cubic>(Version::Linux, 0)),
            ("bic", 11.0, after_a_loss::<Bic>(Version::Linux, 0)),
            ("veno", 12.0, after_a_loss::<Veno>(Version::Linux, 0)),
            ("vegas", 7.0, after_a_loss::<Vegas>(Version::Linux, 0)),
            // W - W / 2
            ("hstcp", 8.0, after_a_loss::<HsTcp>(Version::Linux, 0)),
            ("illinois", 8.0, after_a_loss::<Illinois>(Version::Linux, 0)),
            // W - W / 8
            ("scalable", 14.0, after_a_loss::<Scalable>(Version::Linux, 0)),
            ("yeah", 14.0, after_a_loss::<Yeah>(Version::Linux, 0)),
        ];
        let wrong: Vec<_> = linux.into_iter().filter(|(_, expected, left)| expected != left).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn a_controller_that_is_not_in_linux_has_fractions_on_its_hosts_too() {
        fn both<C: Controller>() -> [f64; 2] {
            [Version::Linux, Version::Published].map(|version| after_a_loss::<C>(version, 5))
        }
        let others = [both::<Prague>(), both::<Compound>(), both::<Pert>(), both::<PertAdaptive>()];
        for [linux, published] in others.into_iter().chain([both::<Ltcp>(), both::<Abc>(), both::<Xcp>()]) {
            assert_eq!(linux, published);
            assert!(linux != libm::floor(linux), "{linux}");
        }
    }

    #[test]
    fn cubic_of_another_era_has_fractions_on_hosts_of_linux() {
        let start = Start { version: Version::Linux, ..Start::avoiding(15.0) };
        let params = cubic::Params { era: cubic::Era::Rfc9438, ..cubic::Params::default() };
        let mut trace = Trace::new(Cubic::new(params, start));
        trace.loss();
        assert_eq!(trace.window(), 10.5);
    }

    #[test]
    fn the_threshold_of_a_timeout_is_rounded_as_a_loss_is() {
        let timeout = Timeout { now: Time::ZERO, flight: 15.0, reported: false, next: 15 };
        for (in_linux, threshold) in [(InLinux::WholeLeft, 7.0), (InLinux::WholeTaken, 8.0)] {
            let start = Start { version: Version::Linux, ..Start::avoiding(15.0) };
            let mut window = Window::new(start, in_linux);
            window.restart(&timeout, 7.5);
            assert_eq!((window.packets, window.ssthresh), (1.0, threshold));
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The states of congestion control, as Linux's `tcp_fastretrans_alert` changes them.
//!
//! ```text
//! Open      ─ block or duplicate → Disorder ─ loss → Recovery ─ all of it acknowledged → Open
//!           ─ echoed mark → Cwr ─ something above what was outstanding acknowledged → Open
//! any       ─ timer → Loss ─ all that was outstanding acknowledged, or undone → Open
//! Loss      ─ a retransmission lost → Recovery: the window falls once more
//! Recovery  ─ every retransmission needless, or a late original → undone
//! ```
//!
//! The window falls when Cwr or Recovery begins: at once in the controller, by proportional rate reduction (RFC 9937)
//! in the sender.
//! A retransmission that is lost again during Recovery causes no reduction by itself: it delivers nothing, so nothing
//! is sent for it.

use super::lent::Lent;
use super::news::News;
use super::{CongestionState as State, Forced, Rack, Turn};
use crate::cc::Cause;
use crate::packet::Packet;
use crate::tcp::Reduction;
use crate::tcp::prr::{Progress, Prr};

impl Rack {
    /// Whether the window comes down step by step.
    #[inline]
    pub(super) fn reduces(&self) -> bool {
        matches!(self.state, State::Cwr | State::Recovery)
    }

    /// Whether everything that was outstanding at the beginning of the state is acknowledged.
    fn passed(&self) -> bool {
        self.out.una() >= self.point
    }

    /// The effect of an acknowledgement that is not in order, or arrives in another state than Open.
    #[cold]
    pub(super) fn alert(
        &mut self,
        host: &mut Lent,
        packet: &Packet,
        (before, duplicates): (u32, u32),
        news: &mut News,
    ) -> Turn {
        if news.echoed {
            self.undo.threshold = None;
        }
        match self.state {
            State::Open => self.undo.first = None,
            State::Cwr if self.out.una() > self.point => self.end_reduction(host, State::Open),
            State::Recovery if self.passed() => {
                if !host.options.sack {
                    self.out.forget_duplicates();
                }
                if self.try_undo_recovery(host, packet) {
                    return Turn::Fresh;
                }
                self.end_reduction(host, State::Open);
            }
            _ => {}
        }
        match self.state {
            State::Recovery => {
                if !news.advanced {
                    self.add_duplicates(host, duplicates);
                } else if self.try_undo_partial(host, packet, before) {
                    return Turn::Fresh;
                }
                if self.try_undo_by_blocks(host) {
                    self.try_to_open(host, news);
                }
                self.identify(host, news);
                if self.state != State::Recovery {
                    if self.out.lost() == 0 {
                        return Turn::Fresh;
                    }
                    self.enter_recovery(host, news.echoed);
                }
            }
            State::Loss => {
                let turn = self.process_loss(host, packet, duplicates, news);
                self.identify(host, news);
                if self.state != State::Open && !news.lost_again {
                    return turn;
                }
                return self.advance_state(host, duplicates, news);
            }
            _ => return self.advance_state(host, duplicates, news),
        }
        Turn::Lost
    }

    /// In Open, Disorder and Cwr, and where Loss ended or lost a retransmission.
    fn advance_state(&mut self, host: &mut Lent, duplicates: u32, news: &mut News) -> Turn {
        if !host.options.sack {
            if news.advanced {
                self.out.forget_duplicates();
            }
            self.add_duplicates(host, duplicates);
        }
        if self.state <= State::Disorder {
            self.try_undo_by_blocks(host);
        }
        self.identify(host, news);
        if self.out.lost() == 0 {
            self.try_to_open(host, news);
            return Turn::Fresh;
        }
        self.enter_recovery(host, news.echoed);
        Turn::Lost
    }

    fn add_duplicates(&mut self, host: &Lent, duplicates: u32) {
        if !host.options.sack && duplicates > 0 {
            self.count_duplicates(duplicates, 0);
        }
    }

    /// Looks for losses.
    fn identify(&mut self, host: &mut Lent, news: &mut News) {
        if self.out.is_empty() {
            return;
        }
        if !host.options.sack {
            return self.identify_by_duplicates(news.advanced);
        }
        let resent = self.out.resent();
        if self.detect(host) {
            news.timer = false;
        }
        news.lost_again |= self.out.resent() < resent;
    }

    /// NewReno's losses: the first segment after DupThresh duplicates, and after each partial acknowledgement (RFC 6582).
    fn identify_by_duplicates(&mut self, advanced: bool) {
        let begins = self.state < State::Recovery && self.out.sacked() >= self.detection.degree;
        if begins || self.state == State::Recovery && advanced {
            self.out.lose_head();
        }
    }

    /// Losses are to be repaired. A mark that came with them is congestion for certain.
    #[cold]
    pub(super) fn enter_recovery(&mut self, host: &mut Lent, marked: bool) {
        self.clean_first();
        self.undo.threshold = None;
        self.undo.begin(self.out.una(), self.out.resent() + self.probe_on_its_way());
        if !self.reduces() {
            if !marked {
                self.undo.threshold = Some(self.present_threshold(host));
            }
            self.begin_reduction(host, false);
        }
        self.state = State::Recovery;
        self.began = true;
    }

    /// A mark was echoed, or the controller requests it: the window is reduced, and nothing is undone.
    pub fn enter_cwr(&mut self, host: &mut Lent) {
        self.undo.threshold = None;
        if self.state < State::Cwr {
            self.undo.marker = None;
            self.begin_reduction(host, true);
            self.state = State::Cwr;
        }
    }

    /// The threshold that an undone reduction gives back (Linux `tcp_current_ssthresh`).
    pub(super) fn present_threshold(&self, host: &mut Lent) -> f64 {
        let window = f64::from(host.window());
        let threshold = host.threshold();
        if self.reduces() {
            threshold
        } else {
            threshold.max((window / 2.0).floor() + (window / 4.0).floor())
        }
    }

    /// The controller's window falls; the host's follows.
    pub(super) fn begin_reduction(&mut self, host: &mut Lent, mark: bool) {
        self.point = self.out.high();
        self.probe = None;
        self.undo.window = host.control.window;
        let rule = host.options.reduction;
        let steps = rule != Reduction::AtOnce && !host.steers();
        self.reduction = steps.then(|| Prr::of_window(rule, host.window()));
        match mark {
            true => host.heed_mark(self.out.una(), self.point),
            false => host.lose(self.out.una(), self.point),
        }
        self.answers = true;
        if !steps {
            host.follow();
        }
        // A window that is reduced at once holds everything back but the fast retransmission (RFC 6675 §5 step 4.3).
        let lost = if steps || host.steers() { None } else { self.out.next_lost() };
        self.forced = lost.map(|seq| Forced { seq, probe: false, more: 0 });
    }

    /// The number of segments to send for an acknowledgement of `delivered` segments that detected `losses`.
    pub(super) fn reduce(&mut self, host: &mut Lent, delivered: u32, losses: u32, advanced: bool) {
        let pipe = self.out.in_flight();
        if let Some(prr) = self.reduction.as_mut().filter(|_| delivered > 0) {
            let target = host.controller.control().window;
            let progress = Progress { delivered, pipe, safe: advanced && losses == 0 };
            host.control.window = prr.window(progress, target);
        }
    }

    /// The window has its reduced value, unless the reduction was undone.
    fn end_reduction(&mut self, host: &mut Lent, state: State) {
        if self.state == State::Cwr || self.undo.marker.is_some() || self.reduction.is_none() {
            host.follow();
        }
        self.reduction = None;
        self.state = state;
    }

    /// A tail loss probe repaired a loss of which there was no other sign: the window falls immediately.
    pub(super) fn repair_by_probe(&mut self, host: &mut Lent) {
        self.begin_reduction(host, false);
        self.state = State::Cwr;
        self.end_reduction(host, State::Cwr);
        self.reduction = None;
        self.try_keep_open();
    }

    /// Open where nothing is missing, else Disorder.
    pub(super) fn try_keep_open(&mut self) {
        let quiet = self.out.left() == 0 && !self.out.any_repeated();
        let state = if quiet { State::Open } else { State::Disorder };
        if self.state != state {
            self.state = state;
            self.point = self.out.high();
        }
    }

    fn try_to_open(&mut self, host: &mut Lent, news: &News) {
        self.clean_first();
        if news.echoed {
            self.enter_cwr(host);
        }
        if self.state != State::Cwr {
            self.try_keep_open();
        }
    }

    /// No retransmission is in flight: the next one is the first.
    fn clean_first(&mut self) {
        if !self.out.any_repeated() {
            self.undo.first = None;
        }
    }

    /// Whether an acknowledgement answers an original that was merely late.
    fn is_late(&self, host: &Lent, packet: &Packet) -> bool {
        if self.undo.first.is_none() && !host.options.sack && self.passed() {
            return false;
        }
        self.undo.delayed(packet, host.options.timestamps)
    }

    fn may_undo(&self, host: &Lent, packet: &Packet) -> bool {
        self.undo.marker.is_some() && (self.undo.all_reported() || self.is_late(host, packet))
    }

    /// Window and threshold are again what they were before, if that is more.
    fn undo(&mut self, host: &mut Lent, found: bool) {
        if found {
            self.out.withdraw_losses();
        }
        let (window, present) = (host.control.window, host.threshold());
        if let Some(threshold) = self.undo.threshold {
            host.resize(window.max(self.undo.window), threshold.max(present), Cause::Undo);
            self.answers &= threshold <= present;
        } else if self.reduction.is_some() && self.reduces() {
            // After a mark the reduction ends at the present window.
            host.resize(window, present, Cause::Undo);
        }
        self.undo.marker = None;
        self.detection.advanced = true;
    }

    /// Without blocks the state is held until something above the point is acknowledged: duplicates may answer what was sent twice
    /// (RFC 6582 §3.2).
    fn is_held(&mut self, host: &Lent) -> bool {
        let held = !host.options.sack && self.out.una() == self.point;
        if held {
            self.clean_first();
        }
        held
    }

    /// The episode is over: whether its state is held all the same.
    fn try_undo_recovery(&mut self, host: &mut Lent, packet: &Packet) -> bool {
        if self.may_undo(host, packet) {
            self.undo(host, false);
        } else {
            self.detection.confirm();
        }
        if self.is_held(host) {
            return true;
        }
        self.state = State::Open;
        false
    }

    /// D-SACKs reported all retransmissions.
    fn try_undo_by_blocks(&mut self, host: &mut Lent) -> bool {
        let undone = self.undo.all_reported();
        if undone {
            self.detection.regret();
            self.undo(host, false);
        }
        undone
    }

    /// A partial acknowledgement in Recovery: whether it acknowledges an original while retransmissions are in flight,
    /// so that no more need to be retransmitted.
    fn try_undo_partial(&mut self, host: &mut Lent, packet: &Packet, before: u32) -> bool {
        if self.undo.marker.is_none() || !self.is_late(host, packet) {
            return false;
        }
        self.reorder(before);
        if self.out.resent() > 0 {
            return true;
        }
        self.clean_first();
        self.undo(host, true);
        self.try_keep_open();
        false
    }

    /// An undone timeout.
    fn try_undo_loss(&mut self, host: &mut Lent, packet: &Packet, spurious: bool) -> bool {
        if !spurious && !self.may_undo(host, packet) {
            return false;
        }
        self.undo(host, true);
        self.retries = 0;
        if !self.is_held(host) && (spurious || host.options.sack) {
            self.state = State::Open;
        }
        true
    }

    /// An acknowledgement after a timeout (F-RTO, RFC 5682 §3).
    fn process_loss(&mut self, host: &mut Lent, packet: &Packet, duplicates: u32, news: &News) -> Turn {
        let recovered = self.passed();
        if news.advanced && self.try_undo_loss(host, packet, false) {
            return Turn::Fresh;
        }
        if self.forward {
            // §3 step 3b: something arrived that was never retransmitted.
            if news.original && self.try_undo_loss(host, packet, true) {
                return Turn::Fresh;
            }
            if self.out.high() > self.point {
                // Step 3a.
                self.forward &= !(news.sacked || duplicates > 0);
            } else if news.advanced && !recovered {
                self.point = self.out.high();
                // Step 2b: new data shows whether the timeout was spurious.
                if self.out.high() < self.limit(host) {
                    return Turn::NewFirst;
                }
                self.forward = false;
            }
        }
        if recovered {
            self.try_undo_recovery(host, packet);
            return Turn::Fresh;
        }
        if !host.options.sack {
            if self.out.high() > self.point && duplicates > 0 {
                self.add_duplicates(host, duplicates);
            } else if news.advanced {
                self.out.forget_duplicates();
            }
        }
        Turn::Lost
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A flow's controller in C, behind safe calls.

use std::ffi::c_void;
use std::fmt;
use std::sync::{Arc, OnceLock};

use kneepoint::cc::external::Object;
use kneepoint::cc::steady::ResponseFunction;
use kneepoint::cc::{self, Advised, Marks, Sizes, Wanted};
use kneepoint::rng::Rng;
use kneepoint::units::{PacketRate, Span, Time};

use crate::table::{Ack, Checked, Control, Event, Refused, Resize, Start, Told, WINDOWS};

/// Memory with the alignment of `malloc`.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Cell([u8; 16]);

/// The first answer in any run that no host could use, which all flows of a controller share.
pub(crate) type Fault = Arc<OnceLock<String>>;

/// A controller and its state.
#[derive(Clone)]
pub(crate) struct Flow {
    table: Checked,
    state: Box<[Cell]>,
    /// The last answer that a host could use.
    control: cc::Control,
    /// Has an answer that no host could use, for which the one before stands.
    fault: Fault,
}

impl fmt::Debug for Flow {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}({:?})", self.table.name, self.control)
    }
}

impl Flow {
    pub(crate) fn new(table: Checked, start: cc::Start, fault: Fault) -> Flow {
        let state = vec![Cell([0; 16]); table.state.div_ceil(16)].into();
        let control = cc::Control { window: start.initial_window.max(1.0), pacing: None };
        let mut flow = Flow { table, state, control, fault };
        let given = Start { window: start.initial_window, ssthresh: start.initial_ssthresh };
        // SAFETY: the state has the size and the alignment of the header.
        unsafe { (table.open)(flow.place(), &raw const given) };
        flow.read("open");
        flow
    }

    /// Its state for C.
    fn place(&mut self) -> *mut c_void {
        self.state.as_mut_ptr().cast()
    }

    /// The answer of C, as it is.
    pub(crate) fn answer(&self) -> Control {
        let mut answer = Control { window: f64::NAN, packets_per_s: f64::NAN };
        // SAFETY: as in `new`; the answer is a place of C's structure.
        unsafe { (self.table.control)(self.state.as_ptr().cast(), &raw mut answer) };
        answer
    }

    /// Takes the answer of C after a function, if a host can use it.
    fn read(&mut self, function: &'static str) {
        let answer = self.answer();
        match usable(answer) {
            Some(control) => self.control = control,
            // Only the first one is kept.
            None => drop(
                self.fault.set(Refused::Answer(self.table.name, answer.to_string(), function).to_string()),
            ),
        }
    }

    fn event(&mut self, (told, name): (Told<Event>, &'static str), event: Event) {
        // SAFETY: as in `new`, and the event outlives the call.
        unsafe { told(self.place(), &raw const event) };
        self.read(name);
    }
}

/// An answer as hosts have it: a window from 1 packet to 1e6, and a finite rate.
pub(crate) fn usable(answer: Control) -> Option<cc::Control> {
    let Control { window, packets_per_s } = answer;
    let fits = WINDOWS.contains(&window) && packets_per_s.is_finite() && packets_per_s >= 0.0;
    let pacing = (packets_per_s > 0.0).then_some(PacketRate(packets_per_s));
    fits.then_some(cc::Control { window, pacing })
}

impl Object for Flow {
    fn marks(&self) -> Marks {
        self.table.marks
    }
    fn wanted(&self) -> Wanted {
        Wanted::Nothing
    }
    fn steers_recovery(&self) -> bool {
        false
    }
    fn steady_state(&self) -> &'static [ResponseFunction] {
        &[]
    }
    fn control(&self) -> cc::Control {
        self.control
    }
    fn state(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
    fn on_ack(&mut self, ack: &cc::Ack, rng: &mut Rng) {
        let ack = Ack {
            now_ns: ack.now.0,
            rtt_ns: ack.rtt.map_or(0, |rtt| rtt.0),
            delivered: ack.delivered,
            una: ack.una,
            next: ack.next,
            credit: ack.credit,
            random: rng.uniform(),
            acked: ack.acked,
            marked: ack.marked,
            in_flight: ack.in_flight,
            limited: ack.limited,
            recovering: ack.recovering,
        };
        // SAFETY: as in `new`, and the acknowledgement outlives the call.
        unsafe { (self.table.on_ack)(self.place(), &raw const ack) };
        self.read("on_ack");
    }
    fn on_loss(&mut self, loss: &cc::Loss) {
        let cc::Loss { now, flight, una, next } = *loss;
        self.event(
            (self.table.on_loss, "on_loss"),
            Event { now_ns: now.0, flight, una, next, reported: false },
        );
    }
    fn on_timeout(&mut self, timeout: &cc::Timeout) {
        let cc::Timeout { now, flight, reported, next } = *timeout;
        self.event(
            (self.table.on_timeout, "on_timeout"),
            Event { now_ns: now.0, flight, una: next, next, reported },
        );
    }
    fn on_ecn(&mut self, ecn: &cc::Ecn) {
        let cc::Ecn { now, flight, next } = *ecn;
        let told = self.table.on_mark.map_or((self.table.on_loss, "on_loss"), |told| (told, "on_mark"));
        self.event(told, Event { now_ns: now.0, flight, una: next, next, reported: false });
    }
    fn on_resize(&mut self, resize: &cc::Resize) {
        let Some(told) = self.table.on_resize else { return };
        let sizes = Resize { now_ns: resize.now.0, window: resize.window, ssthresh: resize.threshold };
        // SAFETY: as in `new`, and the sizes outlive the call.
        unsafe { told(self.place(), &raw const sizes) };
        self.read("on_resize");
    }
    fn on_resume(&mut self, now: Time, idle: Span) {
        let Some(told) = self.table.on_resume else { return };
        // SAFETY: as in `new`.
        unsafe { told(self.place(), now.0, idle.0) };
        self.read("on_resume");
    }
    // The table has no entry for it: a controller learns round trips from acknowledgements.
    fn on_opened(&mut self, _: Time, _: Span) {}
    fn on_advice(&mut self, _: &Advised) {}
    fn yields(&mut self) -> bool {
        false
    }
    fn sizes(&mut self) -> Option<Sizes<'_>> {
        None
    }
    fn duplicate(&self) -> Box<dyn Object> {
        Box::new(self.clone())
    }
}

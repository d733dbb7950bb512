// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A suspect is led through a capture: it receives the captured acknowledgements at their times, and the segments that were sent count as
//! its own. Its window and pace determine what it would have had in flight.
//!
//! ```text
//! moment      before an acknowledgement: all that the last one permitted was sent
//! observed    packets in flight, as Linux's recovery counts them; where the sender logged its window, that
//! expected    E, of the suspect:  an acknowledgement takes as much from E as from what is observed;
//!             without a pace E is at least the window; with one E grows by it up to the window. Of a logged window it is the window
//! ```
//!
//! Some round trips after each repair the suspect goes on from the window that is observed ([`RENEWAL`]): those before tell how it reduces
//! its window, those after how it changes one. A suspect with a pace does so at the end of each repair and with each round trip: a pace
//! says how much more leaves, not how much is in flight.

use std::iter::Peekable;
use std::slice;
use std::sync::Arc;

use super::logged::Logged;
use super::suspects::Suspect;
use crate::capture::{Course, Happened, Step};
use crate::packet::{Flags, Lag, Packet};
use crate::rng::Rng;
use crate::tcp::{CongestionState, Host, Options, Sender, Standing};
use crate::units::{Bytes, Time};

/// What the sender had in flight at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// When.
    pub at: Time,
    /// Packets in flight, or the window that was logged.
    pub observed: u32,
    /// Packets that the suspect would have had.
    pub expected: f64,
    /// Packets by which the sender may have stayed below its window, because it saves permissions up and sends several segments at once.
    pub saved: u32,
    /// Packets by which it may have gone ahead of its pace, because several segments leave at once.
    pub ahead: u32,
    /// Whether losses are being repaired.
    pub repairs: bool,
}

/// Header of a packet with timestamps, IPv4.
const HEADER: Bytes = Bytes(52);

/// The greatest receive window without scaling (RFC 7323 §2), in bytes.
const UNSCALED: u32 = 65_535;

/// The host that the suspect runs on: Linux's, with what the capture shows of it.
fn options(course: &Course, suspect: &Suspect) -> Options {
    Options {
        payload: Bytes(u64::from(course.mss.max(1))),
        header: HEADER,
        handshake: course.opening.is_some(),
        initial_window: first_window(course),
        sack: course.selective,
        controllers: suspect.make.version(),
        // The capture says how much there was to send.
        window_validation: false,
        slow_start_after_idle: false,
        ..Options::of(Host::Linux)
    }
}

/// The window that was logged before the first packet, else what was sent before the first answer.
fn first_window(course: &Course) -> f64 {
    let logged = course.windows.first().filter(|(after, _)| *after == 0).map(|(_, window)| *window);
    logged.unwrap_or(f64::from(course.first_flight())).max(1.0)
}

/// When a suspect goes on from what is observed, in round trips.
#[derive(Clone, Copy, Debug)]
pub struct Renewal {
    /// After the repair of an episode of loss, once.
    pub repaired: u32,
    /// Again and again, of a suspect with a pace.
    pub paced: u32,
}

/// Renewals of a verdict.
pub const RENEWAL: Renewal = Renewal { repaired: 4, paced: 1 };

/// A suspect on its way through a capture.
#[derive(Clone)]
struct Follower {
    sender: Sender,
    rng: Rng,
    expected: f64,
    /// Up to when the pace was used, and what it left of a packet.
    paced: Time,
    heard: Time,
    most_growth: f64,
    room: f64,
    timestamps: bool,
    /// The segment that ends the round trip, and round trips since the suspect went on from what was observed.
    round: u32,
    rounds: u32,
    /// Round trips at which it is to do so again; before the first repair never, for slow start goes on for longer than any number.
    due: u32,
    renewal: Renewal,
    high: u32,
    /// The most in flight, or the greatest window that was logged, in this round trip and in the one before: the window is at least that.
    most: [f64; 2],
    saving: Saving,
    logged: Logged,
}

/// How many permissions to send a sender saves up (Linux `tcp_tso_should_defer`): after an acknowledgement it sends more than the packets
/// that this took from flight, and the one by which a window grows.
#[derive(Clone, Copy, Debug, Default)]
struct Saving {
    /// Segments sent since the last acknowledgement, and what that took from flight.
    sent: u32,
    taken: u32,
    /// The most saved and the most sent at once, in this round trip and in the one before.
    most: [(u32, u32); 2],
}

impl Saving {
    /// Another acknowledgement arrives.
    fn settle(&mut self) {
        let (saved, at_once) = self.most[0];
        self.most[0] = (saved.max(self.sent.saturating_sub(self.taken + 1)), at_once.max(self.sent));
        self.sent = 0;
    }

    /// The most saved and the most sent at once of late.
    fn lately(&self) -> (u32, u32) {
        let [now, before] = self.most;
        (now.0.max(before.0), now.1.max(before.1))
    }
}

impl Follower {
    fn new(course: &Course, suspect: &Suspect, seed: u64, renewal: Renewal) -> Follower {
        let mut sender = Sender::new(Arc::new(options(course, suspect)), &suspect.config, None);
        if course.guessed {
            sender.ignore_times_of_blocks();
        }
        if !course.expires {
            sender.never_expires();
        }
        let mut rng = stream(seed);
        if let Some((at, rtt)) = course.opening {
            sender.impose_opening();
            let sent = Time(at.0.saturating_sub(rtt.0));
            let answer = Packet::ack(0, 0, HEADER.0 as u16, Flags::SYN, sent, [(0, 0); 3]);
            sender.on_ack(&answer, sent + rtt, &mut rng);
        }
        let first = first_window(course);
        if sender.standing().control.window.floor() != first.floor() {
            // Some know from the handshake how much to begin with.
            sender.anchor(first, false, Time::ZERO);
        }
        Follower {
            sender,
            rng,
            expected: 0.0,
            paced: Time::ZERO,
            heard: Time::ZERO,
            most_growth: suspect.make.most_growth(),
            room: f64::INFINITY,
            timestamps: course.timestamps,
            round: 0,
            rounds: 0,
            due: u32::MAX,
            renewal,
            high: 0,
            most: [0.0; 2],
            saving: Saving::default(),
            logged: Logged::new(),
        }
    }

    /// Packets in flight, or the window where the sender says it.
    fn observed(&self) -> f64 {
        self.logged.window().unwrap_or_else(|| f64::from(self.sender.standing().in_flight))
    }

    /// A window as far as it is seen: to a part of a packet only where the sender says it.
    fn visible(&self, window: f64) -> f64 {
        if self.logged.window().is_some() { window } else { window.floor() }
    }

    /// The logged window fell, from this.
    fn fall(&mut self, before: f64, now: Time) {
        if self.logged.fall(self.repairs()) && self.sender.standing().control.pacing.is_none() {
            self.sender.reduce_again(before, now);
        }
    }

    /// Tells the log of a recovery that began or ended since the sender stood there.
    fn notice(&mut self, before: Standing) {
        let began = self.sender.standing().point != before.point;
        self.logged.follow(began, self.repairs());
    }

    /// The window fills, or the pace goes on until `now`.
    fn fill(&mut self, now: Time) {
        let Standing { control, .. } = self.sender.standing();
        let window = control.window.floor().min(self.room);
        match control.pacing {
            None => self.expected = self.expected.max(window),
            Some(rate) => {
                let more = rate.0 * now.since(self.paced).as_secs_f64();
                self.expected = self.expected.max((self.expected + more).min(window));
            }
        }
        self.paced = now;
    }

    /// Takes from what is expected what an event took from what is in flight.
    fn take(&mut self, before: u32) {
        let after = self.sender.standing().in_flight;
        self.expected = (self.expected + f64::from(after) - f64::from(before)).max(0.0);
    }

    fn send(&mut self, seq: u32, now: Time) {
        self.fill(now);
        let standing = self.sender.standing();
        let before = standing.in_flight;
        self.saving.sent += 1;
        self.sender.impose(seq, self.heard, now);
        self.notice(standing);
        self.high = self.high.max(seq + 1);
        // The packet itself is in flight; what a timeout gave up is not.
        self.take(before + 1);
        let Standing { in_flight, state, .. } = self.sender.standing();
        if state == CongestionState::Loss && in_flight <= before {
            // It gave up all, also what this one would have had in flight beyond what was.
            self.expected = f64::from(in_flight);
        }
    }

    /// The moment before an acknowledgement.
    fn moment(&mut self, now: Time) -> Moment {
        self.sender.rest(self.heard);
        self.fill(now);
        let Standing { control, state, .. } = self.sender.standing();
        let observed = self.observed();
        let repairs = state == CongestionState::Recovery || self.logged.lacks_loss();
        self.saving.settle();
        if state > CongestionState::Cwr {
            (self.most, self.saving.most) = ([0.0; 2], [(0, 0); 2]);
        } else {
            self.most[0] = self.most[0].max(observed);
        }
        let (expected, saved, ahead) = match self.logged.window() {
            Some(_) => (control.window.floor().min(self.room), 0, 0),
            None => {
                let (saved, at_once) = self.saving.lately();
                // A pace is even: what leaves at once is before it or behind.
                let ahead = control.pacing.map_or(0, |pace| at_once.min(self.sender.unit(pace)));
                (self.expected, saved.max(ahead), ahead)
            }
        };
        Moment { at: now, observed: observed as u32, expected, saved, ahead, repairs }
    }

    /// The timer of reordering may have found a loss meanwhile.
    fn judge(&mut self, now: Time) {
        let before = self.sender.standing();
        self.sender.pass(now);
        self.notice(before);
        self.take(before.in_flight);
    }

    /// The window that the sender was seen to have: the most that it filled of late.
    fn seen(&self) -> f64 {
        self.most[0].max(self.most[1]).max(self.observed())
    }

    fn hear(&mut self, (una, blocks, echo): (u32, [(u32, u32); 3], Time), now: Time) {
        let standing = self.sender.standing();
        let before = standing.in_flight;
        let mut packet = Packet::ack(0, una, HEADER.0 as u16, Flags::default(), echo, blocks);
        if self.timestamps {
            packet.lag = Lag::of(now.since(echo));
        }
        if self.most_growth.is_finite() {
            self.sender.limit_growth(self.most_growth);
        }
        self.sender.on_ack(&packet, now, &mut self.rng);
        self.notice(standing);
        self.heard = now;
        self.take(before);
        self.saving.taken = before.saturating_sub(self.sender.standing().in_flight);
        if una >= self.round {
            self.round = self.high;
            self.rounds += 1;
            self.most = [0.0, self.most[0]];
            self.saving.most = [(0, 0), self.saving.most[0]];
            self.logged.end_round();
        }
    }

    /// An episode of loss begins with the next step: the window that is reduced is the observed one.
    fn meet_loss(&mut self, now: Time) {
        let Standing { control, .. } = self.sender.standing();
        let seen = self.seen();
        if control.pacing.is_none() && seen > 0.0 && self.visible(control.window) != seen {
            self.sender.anchor(seen, false, now);
        }
    }

    /// Whether losses are being repaired.
    fn repairs(&self) -> bool {
        self.sender.standing().state > CongestionState::Cwr
    }

    /// Goes on from what is observed, if it is time for it.
    fn settle(&mut self, moment: &Moment) {
        let Standing { control, state, .. } = self.sender.standing();
        let paced = control.pacing.is_some();
        if state > CongestionState::Cwr {
            // A pace does not tell how much is left in flight.
            (self.rounds, self.due) = (0, if paced { 0 } else { self.renewal.repaired });
            return;
        }
        let due = if paced { self.due.min(self.renewal.paced) } else { self.due };
        if self.rounds < due {
            return;
        }
        (self.rounds, self.due) = (0, if paced { self.renewal.paced } else { u32::MAX });
        if paced {
            self.expected = f64::from(moment.observed);
            return;
        }
        self.expected = self.seen();
        if self.visible(control.window) != self.expected && self.expected > 0.0 {
            self.sender.anchor(self.expected, true, moment.at);
        }
    }
}

/// What a course says before suspects are led: it is the same for all.
#[derive(Clone, Debug, Default)]
pub struct Passed {
    /// The steps with which episodes of loss begin.
    losses: Vec<usize>,
    /// Packets for which the receiver has room, as far as it is seen: the most that were in flight, or the window without scaling.
    room: f64,
}

impl Passed {
    /// Found with a suspect; any will do.
    pub fn of(course: &Course, suspect: &Suspect) -> Passed {
        let mut follower = Follower::new(course, suspect, 1, RENEWAL);
        let room = f64::from(UNSCALED / course.mss.max(1));
        let mut passed = Passed { losses: Vec::new(), room };
        let mut windows = course.windows.iter().peekable();
        for (place, &Step { at, what }) in course.steps.iter().enumerate() {
            follower.logged.read(&mut windows, place);
            let before = follower.repairs();
            match what {
                Happened::Sent(seq) => follower.send(seq, at),
                Happened::Heard { una, blocks, echo } => {
                    passed.room = passed.room.max(f64::from(follower.moment(at).observed));
                    follower.judge(at);
                    follower.hear((una, blocks, echo), at);
                }
            }
            if follower.repairs() && !before {
                passed.losses.push(place);
            }
        }
        passed
    }
}

/// A suspect on its way, and what it reads beside the steps.
#[derive(Clone)]
pub(super) struct Walk<'c> {
    follower: Follower,
    losses: Peekable<slice::Iter<'c, usize>>,
    windows: Peekable<slice::Iter<'c, (usize, f64)>>,
}

impl<'c> Walk<'c> {
    /// It draws from the stream of this seed.
    pub(super) fn new(
        course: &'c Course,
        passed: &'c Passed,
        suspect: &Suspect,
        seed: u64,
        renewal: Renewal,
    ) -> Walk<'c> {
        let mut follower = Follower::new(course, suspect, seed, renewal);
        follower.room = passed.room;
        Walk { follower, losses: passed.losses.iter().peekable(), windows: course.windows.iter().peekable() }
    }

    /// From here on it draws from another stream.
    pub(super) fn reseed(&mut self, seed: u64) {
        self.follower.rng = stream(seed);
    }

    /// The next step, and the moment before an acknowledgement.
    pub(super) fn step(&mut self, place: usize, &Step { at, what }: &Step) -> Option<Moment> {
        let follower = &mut self.follower;
        if let Some(before) = follower.logged.read(&mut self.windows, place) {
            follower.fall(before, at);
        }
        let loses = self.losses.next_if(|loss| **loss == place).is_some();
        match what {
            Happened::Sent(seq) => {
                if loses {
                    follower.meet_loss(at);
                }
                follower.send(seq, at);
                None
            }
            Happened::Heard { una, blocks, echo } => {
                let moment = follower.moment(at);
                follower.settle(&moment);
                if loses {
                    follower.meet_loss(at);
                }
                follower.judge(at);
                follower.hear((una, blocks, echo), at);
                Some(moment)
            }
        }
    }
}

/// The random numbers of a suspect.
fn stream(seed: u64) -> Rng {
    Rng::stream(seed, "identify", 0)
}

/// What a suspect expects at every moment of a capture, and whether it draws, for which `seed` is.
pub fn follow(
    course: &Course,
    passed: &Passed,
    suspect: &Suspect,
    seed: u64,
    renewal: Renewal,
) -> (Vec<Moment>, bool) {
    let mut walk = Walk::new(course, passed, suspect, seed, renewal);
    let undrawn = walk.follower.rng.clone();
    let moments =
        (course.steps.iter().enumerate()).filter_map(|(place, step)| walk.step(place, step)).collect();
    (moments, walk.follower.rng != undrawn)
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The resources of a connection: the device, the clock, and its own timers.

use std::fs::File;
use std::io::{self, Write as _};

use kneepoint::units::Time;
use nix::time::{ClockId, clock_gettime};

use super::receiver::{Ack, Piece};
use crate::tun::VIRTUAL_HEADER;

/// A timed event of a connection.
#[derive(Clone, Debug)]
pub(super) enum Cue {
    /// The SYN arrives.
    Open,
    /// The handshake ends.
    Confirm,
    /// The application writes.
    Write(u32),
    /// A segment arrives at the peer.
    Arrive(Piece),
    /// The peer waits no longer for a segment to acknowledge with the last, unless another number came since.
    Patience(u32),
    /// An acknowledgement with this timestamp arrives late.
    Answer(Ack, u32),
    /// The peer has this much room.
    Resize(u32),
    /// The connection is over if there are still only this many records.
    Rest(usize),
    /// It is over.
    End,
}

pub(super) struct Stage<'a> {
    device: &'a File,
    /// The time of the current event.
    pub now: Time,
    /// New cues.
    pub cues: Vec<(Time, Cue)>,
}

impl Stage<'_> {
    pub fn new(device: &File) -> Stage<'_> {
        Stage { device, now: clock(), cues: Vec::new() }
    }

    pub fn at(&mut self, time: Time, cue: Cue) {
        self.cues.push((time, cue));
    }

    pub fn clock(&self) -> Time {
        clock()
    }

    /// The kernel receives a frame before this returns.
    pub fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        let whole = [&[0; VIRTUAL_HEADER][..], frame].concat();
        self.device.write(&whole).map(drop)
    }
}

/// The machine's clock.
pub(super) fn clock() -> Time {
    clock_gettime(ClockId::CLOCK_MONOTONIC)
        .map_or(Time::ZERO, |time| Time(time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64))
}

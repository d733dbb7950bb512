// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Packets and reports of a call that are on their way.

use crate::units::Time;

/// A packet on its way from the encoder to its report.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parcel {
    pub frame: u64,
    pub size: u64,
    /// When it left the encoder, then when it was sent.
    pub at: Time,
    pub number: u32,
    /// Whether it has arrived: a path may deliver it twice.
    pub there: bool,
}

/// A packet at the receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub number: u32,
    pub at: Time,
    pub marked: bool,
}

/// A report under way: the arrivals that it tells, and the time of its making.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    pub number: u32,
    pub arrivals: u64,
    pub made: Time,
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a capture at both hosts would have seen, of headers as packets left: routers change their time to live alone, and queues mark them.

use kneepoint::units::Time;

use super::trips::Trips;
use crate::emulator::{Capture, Side};

/// Gives the frames of both hosts until `end` to a capture, in order. A host answers in the instant in which a packet arrives.
pub(super) fn capture(trips: &Trips, end: Time, to: &mut impl Capture) {
    let mut frames: Vec<(Time, bool, Side, usize)> = Vec::new();
    for (place, trip) in trips.all.iter().enumerate() {
        frames.push((trip.sent, true, trip.from, place));
        frames.extend(trip.delivered.map(|at| (at, false, trip.from.other(), place)));
    }
    frames.sort_by_key(|(at, leaves, ..)| (*at, *leaves));
    for (at, _, side, place) in frames.into_iter().take_while(|(at, ..)| *at <= end) {
        to.frame(side, at, &trips.headers[trips.all[place].bytes.clone()]);
    }
}

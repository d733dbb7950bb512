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

#[cfg(test)]
mod tests {
    use super::super::trips::Trip;
    use super::*;
    use crate::frame::Headers;

    /// What was seen: where, when, and the first byte.
    #[derive(Default)]
    struct Seen(Vec<(Side, u64, u8)>);

    impl Capture for Seen {
        fn frame(&mut self, side: Side, at: Time, bytes: &[u8]) {
            self.0.push((side, at.0, bytes[0]));
        }
    }

    #[test]
    fn an_answer_follows_the_packet_that_arrives_in_the_same_instant() {
        let trip = |from, sent, delivered: Option<u64>, place: usize| Trip {
            headers: Headers::foreign(40),
            size: 40,
            path: 0,
            from,
            sent: Time(sent),
            seen: Vec::new(),
            delivered: delivered.map(Time),
            bytes: place..place + 1,
        };
        let all = vec![
            trip(Side::Near, 10, Some(30), 0),
            trip(Side::Near, 20, None, 1),
            trip(Side::Far, 30, Some(50), 2),
            trip(Side::Near, 50, Some(70), 3),
        ];
        let trips = Trips { all, visits: Vec::new(), headers: vec![1, 2, 3, 4] };
        let mut seen = Seen::default();
        capture(&trips, Time(60), &mut seen);
        let (near, far) = (Side::Near, Side::Far);
        assert_eq!(
            seen.0,
            [(near, 10, 1), (near, 20, 2), (far, 30, 1), (far, 30, 3), (near, 50, 3), (near, 50, 4)]
        );
    }
}

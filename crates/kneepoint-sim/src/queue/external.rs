// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Queue disciplines of other crates, behind a pointer.

use super::{Arrival, Backlog, Decision, Departure, Discipline, Facts, Order, Ticket, Waiting};
use crate::rng::Rng;
use crate::units::{Span, Time};

crate::external! {
    trait Discipline(Facts);
    asked {
        /// The order in which packets leave.
        fn order() -> Order;
        /// Whether it never drops, ticks or keeps state.
        fn passive() -> bool;
        /// The interval of its ticks.
        fn interval() -> Option<Span>;
        /// Its state for plots: names with units, and values.
        fn state() -> Vec<(&'static str, f64)>;
    }
    told {
        /// A waiting packet to drop in favour of an arrival, taken out of its line.
        fn push_out(arrival: &Arrival, waiting: &mut Waiting, rng: &mut Rng) -> Option<Ticket>;
        /// Decides on an arriving packet.
        fn on_arrival(arrival: &Arrival, rng: &mut Rng) -> Decision;
        /// Puts a packet in line.
        fn join(ticket: Ticket, waiting: &mut Waiting);
        /// The next packet, taken out of its line.
        fn next(waiting: &mut Waiting, now: Time) -> Option<Ticket>;
        /// Decides on the packet that is next.
        fn on_departure(departure: &Departure, rng: &mut Rng) -> Decision;
        /// The link requested a packet and the queue was empty.
        fn on_idle(now: Time);
        /// An interval has passed.
        fn on_tick(backlog: Backlog, now: Time);
    }
}

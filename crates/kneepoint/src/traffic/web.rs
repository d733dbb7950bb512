// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Web sessions: short transfers, one after another, each a connection of its own.
//!
//! *Pages* (Feldmann et al., SIGCOMM 1999): a session asks for a page, waits an exponential time from that
//! request, and asks for the next, whether the first has arrived or not.
//! *Readers* (ns-2's PagePool/WebTraf since November 2001): a session asks for a page, waits until all of it has
//! arrived and an exponential time more, and asks for the next. Where pages are slow the load falls.
//! *Slots* (HTTP/1.0 in the PISA thesis): a slot transfers one object, rests, and transfers the next.
//! Object sizes are Pareto of the second kind, clamped to `least` and `greatest`, rounded up to `multiple`.

use crate::units::{Bytes, Span};

crate::choice! {
    /// What starts the next page.
    pub enum Model {
        /// Time since the request: an open loop.
        Pages = "pages",
        /// An exponential time since the page before arrived: a closed loop.
        Readers = "readers",
        /// A constant time since the transfer before ended: a closed loop.
        Slots = "slots",
    }
}

crate::settings! {
    /// A population of web sessions.
    pub struct Params {
        /// What starts the next page.
        model: Model = Model::Pages;
        /// Mean time between a session's pages or of reading one (exponential), or a slot's rest (constant).
        gap: Span = Span::from_secs(15), Span::from_millis(1)..=Span::from_secs(100_000);
        /// Objects in a page.
        objects: u32 = 1, 1..=1000;
        /// Mean time between the requests for a page's objects (exponential).
        object_gap: Span = Span::from_millis(10), Span::ZERO..=Span::from_secs(1000);
        /// Mean size of an object before clamping.
        size: Bytes = Bytes(12_000), Bytes(1)..=Bytes(1_000_000_000);
        /// Shape of the size's Pareto law.
        shape: f64 = 1.2, 1.01..=100.0;
        /// Smallest object.
        least: Bytes = Bytes(1), Bytes(1)..=Bytes(1_000_000_000);
        /// Greatest object.
        greatest: Bytes = Bytes(1_000_000_000), Bytes(1)..=Bytes(1_000_000_000);
        /// Sizes are rounded up to a multiple of this; ns-2 counts them in full packets.
        multiple: Bytes = Bytes(1), Bytes(1)..=Bytes(60_000);
    } check |params| {
        if params.least > params.greatest {
            return Err(format!("least, {}, is above greatest, {}", params.least, params.greatest));
        }
        Ok(())
    }
}

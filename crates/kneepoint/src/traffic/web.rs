// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Web sessions: short transfers, one after another, each a connection of its own.
//!
//! *Pages* (Feldmann et al., SIGCOMM 1999; ns-2's PagePool/WebTraf): a session asks for a page, waits an
//! exponential time from that request, and asks for the next, whether the first has arrived or not.
//! *Slots* (HTTP/1.0 in the PISA thesis): a slot transfers one object, rests, and transfers the next.
//! Object sizes are Pareto of the second kind, clamped to `least` and `greatest`.

use crate::units::{Bytes, Span};

crate::choice! {
    /// What starts the next page.
    pub enum Model {
        /// Time since the request: an open loop.
        Pages = "pages",
        /// The end of the transfer before: a closed loop.
        Slots = "slots",
    }
}

crate::settings! {
    /// A population of web sessions.
    pub struct Params {
        /// What starts the next page.
        model: Model = Model::Pages;
        /// Mean time between a session's pages (exponential), or a slot's rest (constant).
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
    } check |params| {
        if params.least > params.greatest {
            return Err(format!("least, {}, is above greatest, {}", params.least, params.greatest));
        }
        Ok(())
    }
}

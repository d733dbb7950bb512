// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Pages: how long browsers of a group waited for them.
//!
//! ```text
//! page load time    from a page's request, as it reaches the server, to the delivery of the last byte of its last object
//! ```
//!
//! A page counts where its last byte arrived inside the window.

use crate::metric::{Entry, PLAIN, Quantity, Reports, Tallies, number, times};

/// The time from a page's request to its last byte.
pub const PAGE: Quantity = Quantity::times("page");

const METRICS: &[Entry<Tallies>] = &[
    number("pages_loaded", "Pages loaded", "pages", PLAIN, |all| match all.count(PAGE) {
        0 => f64::NAN,
        pages => pages as f64,
    }),
    times("page_load_time", "Page load time", "page load", |all| all.times(PAGE)),
];

/// The reports of browsers.
pub(super) const REPORTS: Reports =
    Reports { source: include_str!("loading.rs"), metrics: METRICS, courses: &[] };

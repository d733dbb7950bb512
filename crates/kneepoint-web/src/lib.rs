// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Kneepoint in a page: a scenario in, columns of numbers out, a step at a time, and the same bytes as everywhere else.
//!
//! ```text
//! Question ─plan→ cases ─Running::new→ Running ─advance→ … ─finish→ Answer: rows, film
//! ```
//!
//! A question is a scenario's text with fields set from outside, as `knee run FILE --set PATH=VALUE` takes them. Rows
//! are the same as in `knee run`; a [`film`] has in addition the data that a page draws over time.
//!
//! | module | purpose |
//! |---|---|
//! | [`question`] | a scenario as a page asks about it; its cases, or its problems |
//! | [`film`] | events to columns over time, and the packets of the bottleneck |
//! | [`running`] | a run in progress |
//! | [`figure`] | published figures: claims judged by a page's runs |
//! | [`catalogue`] | algorithms, parameters and metrics with their explanations |
//! | [`presets`] | the scenarios that a page offers |
//! | [`picture`] | columns to the laboratory's charts |
//! | [`given`] | files that a reader drops on the page |
//! | [`replayed`] | a trace of signals to a controller, for the comparison of machines |
//! | [`desk`] | all of these as functions of bytes |
//! | [`exports`] | these under names that JavaScript calls |

pub mod catalogue;
pub mod desk;
pub mod exports;
pub mod figure;
pub mod film;
pub mod given;
pub mod picture;
pub mod presets;
pub mod question;
pub mod replayed;
pub mod running;

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Kneepoint's congestion controls, and what they stand on.
//!
//! | room | what it does |
//! |---|---|
//! | [`units`] | instants, spans, bytes, rates: the only unit system |
//! | [`rng`] | one seed, many named streams |
//! | [`settings`] | declared parameters and registries |
//! | [`cc`] | congestion controls, one file each |
//!
//! A controller hears signals and answers with a window and a pace; time and random numbers are arguments. It knows
//! neither simulator nor kernel, so a QUIC stack can carry it. A room imports only from rooms above it.

#[macro_use]
pub mod settings;
pub mod cc;
pub mod rng;
pub mod units;

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Kneepoint: a congestion-control laboratory.
//!
//! The laboratory has no clock, no entropy and no I/O; it compiles to wasm32. Inside it a room imports only
//! from rooms above it in this list:
//!
//! | room | what it does |
//! |---|---|
//! | [`units`] | instants, spans, bytes, rates: the only unit system |
//! | [`rng`] | one seed, many named streams |
//! | [`settings`] | declared parameters and registries |
//! | [`packet`] | what travels |
//! | [`event`] | what happens next |
//! | [`cc`] | congestion controls, one file each |
//! | [`aqm`] | queue disciplines, one file each |
//! | [`link`] | queue, transmitter, delay, loss |
//! | [`predict`] | congestion predictors, one file each, and what they are worth |
//! | [`capture`] | captures of real traffic to what a sender could have known |
//! | [`tcp`] | a host without I/O that carries a controller |
//! | [`traffic`] | bulk, web, constant rate |
//! | [`fluid`] | congestion control as delay-differential equations, and when they are stable |
//! | [`scenario`] | TOML text to a valid network with traffic |
//! | [`run`] | a valid scenario to events |
//! | [`measure`] | events to a summary, a table over time, headline figures |
//! | [`experiment`] | a published figure or table: what to run, what was claimed, what became of it |
//! | [`report`] | summaries to bytes: text, json, csv, svg, html, markdown, pcapng |
//!
//! The one law: data flows one way, down this list.

#[macro_use]
pub mod settings;
pub mod aqm;
pub mod capture;
pub mod cc;
pub mod event;
pub mod experiment;
pub mod fluid;
pub mod link;
pub mod measure;
pub mod packet;
pub mod predict;
pub mod report;
pub mod rng;
pub mod run;
pub mod scenario;
pub mod tcp;
pub mod traffic;
pub mod units;

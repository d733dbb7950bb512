// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Kneepoint: a congestion-control laboratory.
//!
//! The library has no clock, no entropy and no I/O, and compiles to wasm32. A room imports only from rooms above it in
//! this list:
//!
//! | room | purpose |
//! |---|---|
//! | [`units`] | instants, spans, bytes, rates: the only unit system |
//! | [`rng`] | one seed, many named streams |
//! | [`settings`] | declared parameters and registries |
//! | [`law`] | probabilities from queues, delays and prices, one file each |
//! | [`cc`] | congestion controls, one file each |
//! | [`suggest`] | suggestions for misspelt names |
//! | [`table`] | rows of numbers under labels, estimates, number formats |
//! | [`packet`] | what travels |
//! | [`event`] | the queue of pending events |
//! | [`trace`] | events of a run, the names in them, and observers |
//! | [`queue`] | queue disciplines, one file each |
//! | [`feedback`] | explicit feedback of links, one file each |
//! | [`link`] | transmitter, delay, loss, and networks of links at work |
//! | [`tcp`] | a host without I/O that carries a controller |
//! | [`traffic`] | sources of traffic, one file each |
//! | [`spec`] | a valid network with its traffic |
//! | [`run`] | a spec to events |
//! | [`fluid`] | congestion control as delay-differential equations, and when they are stable |
//! | [`markov`] | RATCP and TCP as a Markov renewal process, solved, and sampled |
//! | [`predict`] | congestion predictors, one file each, and their scores |
//! | [`capture`] | packet captures: pcap to the signals of a sender, and a simulated link to pcapng |
//! | [`scenario`] | TOML text to a spec |
//! | [`measure`] | events to a summary, a table over time, headline figures |
//! | [`experiment`] | a published figure or table: runs, claims and verdicts |
//! | [`study`] | what a study wants run, and what becomes of the rows |
//! | [`chart`] | numbers to SVG |
//! | [`report`] | outcomes to documents and data, and these to bytes |
//!
//! The first five are a crate of their own, `kneepoint-cc`. The one law: data flows one way, down this list.

pub use kneepoint_cc::{cc, choice, law, registry, rng, settings, units};

pub mod capture;
pub mod chart;
pub mod event;
pub mod experiment;
pub mod feedback;
pub mod fluid;
pub mod link;
pub mod markov;
pub mod measure;
pub mod packet;
pub mod predict;
pub mod queue;
pub mod report;
pub mod run;
pub mod scenario;
pub mod spec;
pub mod study;
pub mod suggest;
pub mod table;
pub mod tcp;
pub mod trace;
pub mod traffic;

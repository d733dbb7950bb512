// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The engine of Kneepoint: a network and its traffic, checked once, become events, and events become rows.
//!
//! A page, a host of another transport or an algorithm of another crate depends on it alone: controllers, queue
//! disciplines, links, TCP, sources of traffic, and metrics. The laboratory (crate `kneepoint`) has everything above
//! it: scenarios as text,
//! models, published experiments, studies and reports. [`spec::Builder`] makes a network link by link.
//!
//! Without a clock, entropy or I/O. A room imports only from rooms above it in this list; the first five are in
//! `kneepoint-cc`:
//!
//! | room | purpose |
//! |---|---|
//! | [`units`] | instants, spans, bytes, rates: the only unit system |
//! | [`rng`] | one seed, many named streams |
//! | [`settings`] | declared parameters and registries |
//! | [`law`] | probabilities from queues, delays and prices, one file each |
//! | [`cc`] | congestion controls, one file each |
//! | [`suggest`] | suggestions for misspelt names |
//! | [`fault`] | faults of texts: place, problem and remedy |
//! | [`visible`] | characters that act instead of being seen, as escapes |
//! | [`keys`] | keys of machine-readable output, and their definitions |
//! | [`table`] | rows of numbers under labels, estimates, number formats |
//! | [`metric`] | metrics, their construction, and the reports of sources |
//! | [`packet`] | packets |
//! | [`event`] | the queue of pending events |
//! | [`trace`] | events of a run, the names in them, and observers |
//! | [`queue`] | queue disciplines, one file each |
//! | [`feedback`] | explicit feedback of links, one file each |
//! | [`link`] | transmitter, delay, loss, and networks of links at work |
//! | [`tcp`] | a host without I/O that carries a controller |
//! | [`traffic`] | sources of traffic, one file each |
//! | [`spec`] | a valid network with its traffic |
//! | [`run`] | a spec to events |
//! | [`laws`] | promises of every algorithm, as checks for tests |
//! | [`measure`] | events to a summary, a table over time, headline figures |

pub use kneepoint_cc::{cc, choice, external, law, registry, rng, settings, units};

pub mod event;
pub mod fault;
pub mod feedback;
pub mod keys;
pub mod laws;
pub mod link;
pub mod measure;
pub mod metric;
pub mod packet;
pub mod queue;
pub mod run;
pub mod spec;
pub mod suggest;
pub mod table;
pub mod tcp;
pub mod trace;
pub mod traffic;
pub mod visible;

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Kneepoint: a congestion-control laboratory.
//!
//! A scenario is parsed and checked once. A run takes it and a seed, and passes its events to observers; the
//! [`Meter`](measure::Meter)
//! is the observer that counts them. Its rows are numbers under labels, and the same seed gives the same rows on every machine.
//!
//! ```
//! use kneepoint::measure::Meter;
//! use kneepoint::table::value;
//! use kneepoint::{run, scenario};
//!
//! fn main() -> Result<(), scenario::Fault> {
//!     let text = r#"
//!         [run]
//!         duration = "20s"
//!         seeds = 2
//!
//!         [topology]
//!         kind = "dumbbell"
//!         rate = "10mbit"
//!         rtt = "40ms"
//!
//!         [[flows]]
//!         count = 4
//!         cc = "cubic"
//!         start = "0s..1s"
//!
//!         [sweep]
//!         queue = ["droptail", "codel"]
//!     "#;
//!     let plan = scenario::parse(text).map_err(|mut faults| faults.remove(0))?;
//!     let mut delays = Vec::new();
//!     for case in &plan.cases {
//!         for &seed in &plan.seeds {
//!             let (meter, _) = run::run(&case.valid, seed, Meter::new(&case.valid, seed));
//!             let rows = meter.finish();
//!             let delay_ms = value(&rows, "queueing_delay_mean_ms", &[]);
//!             let goodput_bps = value(&rows, "goodput_bps", &[("group", "cubic")]);
//!             println!("{:?} {seed}: {delay_ms:.1} ms, {:.2} Mbit/s", case.settings, goodput_bps / 1e6);
//!             delays.push(delay_ms);
//!         }
//!     }
//!     // CoDel keeps a shorter queue than drop tail, with either seed.
//!     assert!(delays[2..].iter().all(|codel| *codel < delays[0].min(delays[1])));
//!     Ok(())
//! }
//! ```
//!
//! [`spec::Builder`] makes a network link by link, without a text. Controllers, queue disciplines and sources of another crate take part
//! by name: see [`scenario::Extensions`], and the crate `my-algorithms` in the folder `examples`.
//!
//! The library has no clock, no entropy and no I/O, and compiles to wasm32. A room imports only from rooms above it in
//! this list:
//!
//! | room | purpose |
//! |---|---|
//! | [`fluid`] | congestion control as delay-differential equations, and when they are stable |
//! | [`markov`] | RATCP and TCP as a Markov renewal process, solved, and sampled |
//! | [`predict`] | congestion predictors, one file each, and their scores |
//! | [`capture`] | packet captures: pcap to the signals of a sender, and a simulated link to pcapng |
//! | [`scenario`] | TOML text to a spec |
//! | [`replay`] | the signals to a controller as a trace, and a controller that receives them |
//! | [`study`] | the runs that a study needs, and the outcome of their rows |
//! | [`experiment`] | a published figure or table: runs, claims and verdicts |
//! | [`chart`] | numbers to SVG |
//! | [`report`] | outcomes to documents and data, and these to bytes |
//!
//! Above them are the rooms of the engine, `kneepoint-sim`, and above those the algorithms alone, `kneepoint-cc`; their names are names of this
//! crate too. The one law: data flows one way, down these lists.

pub use kneepoint_sim::{
    cc, choice, event, external, fault, feedback, keys, law, laws, link, measure, metric, packet, queue,
    registry, rng, run, settings, spec, suggest, table, tcp, trace, traffic, units, visible,
};

pub mod capture;
pub mod chart;
pub mod experiment;
pub mod fluid;
pub mod markov;
pub mod predict;
pub mod replay;
pub mod report;
pub mod scenario;
pub mod study;

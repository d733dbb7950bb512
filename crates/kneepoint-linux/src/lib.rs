// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Kneepoint on a Linux machine.
//!
//! ```text
//! hosts ─ TCP of the kernel ─ device ─ emulator: queue, rate, delay ─ device ─ TCP of the kernel ─ hosts
//!   └──────── one network namespace ┘                               └ another network namespace ──┘
//! ```
//!
//! [`experiment`] runs bulk transfers between two namespaces over an emulated link and returns what the link saw. It
//! needs root and `/dev/net/tun`; [`missing`] says what this machine lacks. Nothing outlives the process: namespaces
//! and devices have no name outside it.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, reason = "the link and its hosts run in real time")]

mod emulator;
mod experiment;
mod hosts;
mod namespace;
mod tun;

pub use emulator::{Arrival, Lateness, Path};
pub use experiment::{Experiment, Outcome, Transfer, experiment, missing};
pub use namespace::SYSCTLS;

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Kneepoint on a Linux machine.
//!
//! ```text
//! hosts ─ TCP of the kernel ─ device ─ emulator: the laboratory's links ─ device ─ TCP of the kernel ─ hosts
//!   └──────── one network namespace ┘                                     └ another network namespace ──┘
//! ```
//!
//! Namespaces and devices that are made here have no name outside the process and do not outlive it.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, reason = "the link and its hosts run in real time")]

pub mod behind;
pub mod emulator;
mod fixed;
mod forge;
pub mod frame;
#[cfg(feature = "bpf")]
pub mod kernel;
mod leftovers;
pub mod live;
pub mod namespace;
pub mod native;
pub mod player;
pub mod privilege;
pub mod probe;
pub mod signals;
pub mod tap;
pub mod tun;
pub mod uml;
pub mod wire;

pub use leftovers::{Holder, Outcome, remove_leftovers};
pub use namespace::SYSCTLS;

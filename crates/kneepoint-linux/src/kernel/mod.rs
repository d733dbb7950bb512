// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Algorithms in this machine's kernel, by BPF.
//!
//! ```text
//! bpf/NAME.bpf.c ─build.rs→ object ─settings→ object with its read-only data set ─load→ programs and maps ─pin→ /sys/fs/bpf/knee
//! ```
//!
//! | file | what it does |
//! |---|---|
//! | [`programs`] | the registry of controllers |
//! | [`settings`] | parameters to a program's read-only data and back |
//! | [`probe`] | what this kernel or process lacks |
//! | [`turn`] | one process at a time, by a lock that is root's |
//! | [`pins`] | names below `/sys/fs/bpf/knee`, which keep programs alive |
//! | [`controllers`] | congestion controls: load, unload, list, status |
//! | [`option`](mod@option) | signals from packets to a controller, in an option of TCP |
//! | [`default`] | the congestion control of new sockets |
//! | [`filters`] | programs at the egress of a device: PI, PISA, PIMC, and the hint of the sender's window |
//! | [`rates`](mod@rates) | the rates of RATCP's senders |
//! | [`clean`] | everything that is left, removed |
//! | [`records`] | what controllers report |
//!
//! Nothing here stays in a process: a program lives as long as its pins do.

mod clean;
mod controllers;
mod default;
mod errors;
mod filters;
mod objects;
mod option;
mod pins;
mod probe;
mod programs;
mod rates;
mod records;
mod settings;
mod turn;

pub use clean::clean;
pub use controllers::{Listed, Program, Status, Unloaded, left, list, load, load_at, status, unload};
pub use default::{Restored, default, restore};
pub use errors::{Error, quiet};
pub use filters::{
    Device, QueueStatus, attach_hint, attach_queue, hint_status, queue_status, remove_hint, remove_queue,
};
pub use option::OptionUse;
pub use pins::{require, visible};
pub use probe::{LENGTHS, Need, needs};
pub use programs::{CONTROLLERS, Controller};
pub use rates::{clear_rates, rates, set_rate};
pub use records::{Reader, Record};
pub use settings::Value;
pub use turn::tell_waits;

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One file per verb: its arguments and its action.

pub mod check;
pub mod coexist;
pub mod compare;
pub mod completions;
pub mod doctor;
pub mod drill;
#[cfg(target_os = "linux")]
pub mod emulate;
pub mod explain;
pub mod fluid;
pub mod init;
pub mod kernel;
pub mod list;
#[cfg(target_os = "linux")]
pub mod live;
pub mod man;
pub mod markov;
pub mod predict;
#[cfg(target_os = "linux")]
pub mod replay;
pub mod reproduce;
pub mod run;
pub mod schema;

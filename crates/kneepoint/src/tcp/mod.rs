// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A TCP host without I/O: a sender that carries a controller, and a receiver.

mod options;

pub use options::{Options, Recovery};

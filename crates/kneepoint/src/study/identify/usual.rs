// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Who is suspected unless somebody is named.

/// The controllers of mainline Linux.
pub const MAINLINE: [&str; 17] = [
    "reno", "bbr", "bic", "cdg", "cubic", "dctcp", "hstcp", "htcp", "hybla", "illinois", "lp", "nv",
    "scalable", "vegas", "veno", "westwood", "yeah",
];
/// The controllers that QUIC stacks have, of those that need no help of the network.
pub const OF_STACKS: [&str; 5] = ["reno", "cubic", "bbr", "bbr3", "copa"];

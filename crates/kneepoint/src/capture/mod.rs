// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Packet captures, in and out: pcap and pcapng files to the signals a sender could have had ([`Capture`]), and the
//! packets of a simulated link to pcapng ([`Writer`]). [`qlog`] has what QUIC stacks write of themselves.

pub mod qlog;
mod read;
mod write;

pub use read::{
    Capture, ClockStep, Course, Direction, Format, Fragmented, Happened, Malformed, Other, Segment, Step,
    Transfer, Vantage, foreign_format, is_capture, is_export, parse_direction, supported,
};
pub use write::{Blocks, Writer};

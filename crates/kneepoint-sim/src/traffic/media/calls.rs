// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Calls: frames, packets and targets of a group's media inside the measurement window.
//!
//! ```text
//! frame delay       from the capture of a frame to the arrival of its last packet, for frames that arrived whole
//! late frames       (later than `deadline`, not whole or skipped) / (arrived whole, not whole or skipped)
//! skipped frames    not encoded because the sender's oldest packet had waited longer than `deadline`
//! loss              packets reported as lost or given up / packets reported
//! target            mean over the frames of the rate that the control sets
//! ```
//!
//! Frames and packets count when the event is known: at the receiver if whole, at the sender if lost or skipped.

use crate::metric::{Course, Entry, MBIT, PERCENT, Quantity, Reports, Tallies, number, times};

/// The delay of a frame that arrived whole.
pub const FRAME: Quantity = Quantity::times("frame");
/// Frames that arrived whole, but late.
pub const LATE: Quantity = Quantity::number("late");
/// Frames of which a packet was lost.
pub const BROKEN: Quantity = Quantity::number("broken");
/// Frames that were not encoded.
pub const SKIPPED: Quantity = Quantity::number("skipped");
/// Packets that feedback reports, and those of them that were lost.
pub const REPORTED: Quantity = Quantity::number("reported");
/// Packets that were lost.
pub const LOST: Quantity = Quantity::number("lost");
/// The target at each frame, in bit/s.
pub const TARGET: Quantity = Quantity::number("target");

/// Frames whose fate is known.
fn frames(all: &Tallies) -> f64 {
    all.count(FRAME) as f64 + all.sum(BROKEN) + all.sum(SKIPPED)
}

const METRICS: &[Entry<Tallies>] = &[
    times("frame_delay", "Delay of frames", "frame delay", |all| all.times(FRAME)),
    number("late_frame_share", "Frames late, lost or skipped", "late frames", PERCENT, |all| {
        (all.sum(LATE) + all.sum(BROKEN) + all.sum(SKIPPED)) / frames(all)
    }),
    number("skipped_frame_share", "Frames skipped", "skipped", PERCENT, |all| all.sum(SKIPPED) / frames(all)),
    number("media_loss_ratio", "Media packets lost", "loss", PERCENT, |all| {
        all.sum(LOST) / all.sum(REPORTED)
    }),
    number("target_rate_bps", "Mean target of the encoder", "target", MBIT, |all| {
        all.sum(TARGET) / all.count(TARGET) as f64
    }),
];

/// What is drawn over time.
const COURSES: &[Course] = &[
    Course {
        name: "target_bps",
        title: "target, Mbit/s",
        scale: 1e-6,
        about: "Mean target of the group's encoders at the frames since the instant before.",
        value: |all| all.sum(TARGET) / all.count(TARGET) as f64,
    },
    Course {
        name: "frame_delay_ms",
        title: "frame delay, ms",
        scale: 1.0,
        about: "Mean delay of the group's frames that arrived whole since the instant before.",
        value: |all| 1e3 * all.seconds(FRAME) / all.count(FRAME) as f64,
    },
];

/// The reports of media.
pub(super) const REPORTS: Reports =
    Reports { source: include_str!("calls.rs"), metrics: METRICS, courses: COURSES };

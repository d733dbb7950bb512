// SPDX-License-Identifier: Apache-2.0 OR MIT
//! qlog (draft-ietf-quic-qlog-main-schema-13, draft-ietf-quic-qlog-quic-events-12), in both directions: a simulated
//! flow as a file of a QUIC sender, and files of any stack as the signals of their sender.
//!
//! | event | written | read |
//! |---|---|---|
//! | `packet_sent` | each transmission has its own number | number, time, length |
//! | `packet_received` with an `ack` frame | packets newly acknowledged in order | packets newly acknowledged; without frames, packets that are no longer in flight |
//! | `packet_lost` | the transmission that is repaired, when its repair leaves | a loss, dated by the lost transmission |
//! | `recovery_metrics_updated` | window, bytes in flight, round trips (RFC 9002 §5) | the same, and a round-trip sample where it is new |
//! | `congestion_state_updated` | `recovery`, and `open` after it | – |
//!
//! TCP has no packet numbers and selective acknowledgements are not among a run's events, so ranges follow cumulative
//! acknowledgements. Nor is the rate of a controller that paces an event.

mod clock;
mod course;
mod exchange;
mod fault;
mod numbers;
mod read;
mod segments;
mod write;

pub use course::Instant;
pub use exchange::{Exchange, Unfit};
pub use fault::{Fault, Place};
pub use read::{Traced, is_qlog, read};
pub use write::Tracer;

/// The byte before each record of a JSON text sequence (RFC 7464).
const SEPARATOR: u8 = 0x1e;

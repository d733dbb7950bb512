// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Probes of a closed window and of an idle connection (RFC 9293 §3.8.6.1, RFC 1122 §4.2.3.6).
//!
//! A probe carries no data, or data for which the receiver has no room, or that it already has. Retransmitted until the
//! receiver answers, they are
//! neither data nor losses. The window is that of the newest acknowledgement, which the sender knows where the capture
//! is at the sender. Elsewhere, data in flight when the window closed looks like a probe until it is acknowledged. Before any
//! acknowledgement is known, a single byte of a sender of larger segments counts as a probe.

use super::Segment;

/// The receiver's window.
#[derive(Clone, Debug, Default)]
pub(super) struct Window {
    /// The newest acknowledgement.
    ack: Option<u32>,
    closed: bool,
}

/// Whether `one` is `other` or later, where numbers wrap.
fn reaches(one: u32, other: u32) -> bool {
    one.wrapping_sub(other) as i32 >= 0
}

impl Window {
    /// Notes what the receiver announces.
    pub(super) fn hear(&mut self, segment: &Segment) {
        let (Some(ack), Some(window)) = (segment.ack, segment.window) else { return };
        if segment.syn || self.ack.is_none_or(|known| reaches(ack, known)) {
            *self = Window { ack: Some(ack), closed: window == 0 };
        }
    }

    /// Whether a data segment is a probe, where `sent` are the first unacknowledged byte and the one after the last sent, of segments
    /// of up to `mss` bytes.
    pub(super) fn is_probed(&self, segment: &Segment, sent: Option<(u32, u32)>, mss: u32) -> bool {
        if self.ack.is_none() && segment.payload == 1 && mss > 1 {
            return true;
        }
        let Some((una, high)) = sent.or(self.ack.map(|ack| (ack, ack))) else { return false };
        let keeps_alive = segment.payload == 1 && segment.seq.wrapping_add(1) == una && una == high;
        keeps_alive || self.closed && (reaches(segment.seq, high) || segment.payload == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(ack: u32, window: u16) -> Segment {
        Segment { ack: Some(ack), window: Some(window), ..Segment::default() }
    }

    fn data(seq: u32, payload: u32) -> Segment {
        Segment { seq, payload, ..Segment::default() }
    }

    #[test]
    fn new_data_or_a_byte_into_a_closed_window_is_a_probe_and_a_repair_is_none() {
        let mut window = Window::default();
        window.hear(&answer(2001, 0));
        window.hear(&answer(1001, 1000));
        assert!(window.is_probed(&data(4001, 1000), Some((2001, 4001)), 1000));
        assert!(window.is_probed(&data(2001, 1), Some((2001, 4001)), 1000));
        assert!(!window.is_probed(&data(2001, 1000), Some((2001, 4001)), 1000));
        window.hear(&answer(4001, 1));
        assert!(!window.is_probed(&data(4001, 4), Some((4001, 4001)), 1000));
        window.hear(&Segment { window: None, ..answer(4001, 0) });
        assert!(!window.is_probed(&data(4001, 4), Some((4001, 4001)), 1000), "a reset closes no window");
    }

    #[test]
    fn a_byte_before_the_first_unacknowledged_one_keeps_a_connection_alive() {
        let mut window = Window::default();
        window.hear(&answer(100, 1000));
        assert!(window.is_probed(&data(99, 1), Some((100, 100)), 1000));
        assert!(!window.is_probed(&data(99, 1), Some((99, 100)), 1000));
    }

    #[test]
    fn a_byte_is_a_probe_where_no_acknowledgement_is_known_and_segments_are_larger() {
        let window = Window::default();
        assert!(window.is_probed(&data(4001, 1), Some((2001, 4001)), 1000));
        assert!(!window.is_probed(&data(4001, 1), Some((2001, 4001)), 1));
        assert!(!window.is_probed(&data(4001, 4), Some((2001, 4001)), 1000));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The data of a sender: without end, of a given size, or written while the sender runs.
//!
//! Writes fill whole segments. The last one ends with the data and may be short; a later write fills it up unless it
//! was sent already, so short segments may be anywhere among the outstanding ones. There is no delay for the sake of
//! larger
//! packets (RFC 9293 §3.7.4, Nagle).

use std::collections::VecDeque;
use std::sync::Arc;

use super::{ENDLESS, Phase, Sender};
use crate::cc;
use crate::tcp::Options;
use crate::units::{Bytes, Time};

/// The data to send.
#[derive(Clone, Debug)]
pub(super) enum Data {
    /// Full segments only: without end, or up to where the sender was stopped.
    Full,
    /// This much.
    Sized(Bytes),
    /// As much as has been written.
    Written(Box<Written>),
}

/// The record of writes.
#[derive(Clone, Debug, Default)]
pub(super) struct Written {
    bytes: u64,
    closed: bool,
    /// Short segments, oldest first: the number of one, and the bytes that all up to it lack of full ones.
    short: VecDeque<(u32, u64)>,
    /// The bytes lacking below the first of them.
    below: u64,
}

impl Written {
    fn lacking_below(&self, seq: u32) -> u64 {
        let after = self.short.partition_point(|(short, _)| *short < seq);
        after.checked_sub(1).map_or(self.below, |last| self.short[last].1)
    }

    /// Takes in more data: how many segments there are then.
    fn append(&mut self, bytes: Bytes, payload: Bytes, (una, high, total): (u32, u32, u32)) -> u32 {
        while let Some((_, lacking)) = self.short.pop_front_if(|(short, _)| *short < una) {
            self.below = lacking;
        }
        self.short.pop_back_if(|(short, _)| *short >= high && *short + 1 == total);
        self.bytes += bytes.0;
        let before = self.lacking_below(u32::MAX);
        let segments = (self.bytes + before).div_ceil(payload.0).min(u64::from(ENDLESS - 1));
        let lacking = (segments * payload.0).saturating_sub(self.bytes);
        if lacking > before {
            self.short.push_back((segments as u32 - 1, lacking));
        }
        segments as u32
    }

    /// Forgets the segments from `end` on.
    fn cut(&mut self, end: u32) {
        self.short.retain(|(short, _)| *short < end);
        self.closed = true;
    }
}

impl Sender {
    /// A sender of the data that will be written into it.
    pub fn writable(options: Arc<Options>, controller: &cc::Config) -> Sender {
        let data = Data::Written(Box::default());
        Sender { total: 0, data, ..Sender::new(options, controller, None) }
    }

    /// More data to send; [`poll`](Sender::poll) may return packets of it at once. It is lost on a sender that is not
    /// [`writable`](Sender::writable), or no longer.
    pub fn write(&mut self, bytes: Bytes, now: Time) {
        let ends = (self.una, self.high, self.total);
        if let Data::Written(written) = &mut self.data
            && !written.closed
        {
            self.total = written.append(bytes, self.options.payload, ends);
            self.note_written(now);
        }
    }

    /// No write follows. Returns whether everything written is acknowledged.
    pub fn close(&mut self) -> bool {
        if let Data::Written(written) = &mut self.data {
            written.closed = true;
        }
        self.finish_if_done()
    }

    /// No data follows the data sent so far. Returns whether all of it is acknowledged.
    pub fn stop(&mut self) -> bool {
        match &mut self.data {
            Data::Written(written) => written.cut(self.high),
            // The last segment sent is a full one.
            _ if self.high < self.total => self.data = Data::Full,
            _ => {}
        }
        self.total = self.total.min(self.high);
        self.finish_if_done()
    }

    #[inline]
    pub(super) fn finish_if_done(&mut self) -> bool {
        let done = self.una >= self.total && self.phase != Phase::Done && self.is_closed();
        if done {
            self.phase = Phase::Done;
            self.calm = false;
            self.timer = Time::NEVER;
        }
        done
    }

    fn is_closed(&self) -> bool {
        match &self.data {
            Data::Full | Data::Sized(_) => true,
            Data::Written(written) => written.closed,
        }
    }

    #[inline]
    pub(super) fn bytes_below(&self, seq: u32) -> Bytes {
        let full = Bytes(u64::from(seq) * self.options.payload.0);
        match &self.data {
            Data::Full => full,
            Data::Sized(size) => {
                if seq == self.total {
                    *size
                } else {
                    full
                }
            }
            Data::Written(written) => full - Bytes(written.lacking_below(seq)),
        }
    }

    /// The bytes of the segments from `first` to the one before `end`, which is no less than `first`.
    #[inline]
    pub(super) fn bytes_between(&self, first: u32, end: u32) -> Bytes {
        let full = Bytes(u64::from(end - first) * self.options.payload.0);
        match &self.data {
            Data::Full => full,
            Data::Sized(_) if end != self.total => full,
            Data::Sized(_) | Data::Written(_) => self.bytes_below(end) - self.bytes_below(first),
        }
    }

    /// Payload of a full segment.
    pub fn payload(&self) -> Bytes {
        self.options.payload
    }

    /// Payload of the segments from `first` to the one before `end`, which is no less than `first`.
    pub fn payload_between(&self, first: u32, end: u32) -> Bytes {
        self.bytes_between(first, end)
    }

    /// Payload written and not yet acknowledged.
    pub fn waiting(&self) -> Bytes {
        self.bytes_between(self.una, self.total.max(self.una))
    }

    #[inline]
    pub(super) fn wire_size(&self, seq: u32) -> u16 {
        (self.options.header + self.bytes_between(seq, seq + 1)).0 as u16
    }
}

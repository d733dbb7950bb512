// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Bytes of a script as segments. A write that ends inside a segment ends it there, as its segment leaves before the next write.

/// The written data.
#[derive(Clone, Debug)]
pub(super) struct Cuts {
    /// Payload of a full segment.
    payload: u32,
    /// Segments and bytes written.
    segments: u32,
    written: u32,
    /// The same at the end of each short segment, in order.
    short: Vec<(u32, u32)>,
}

impl Cuts {
    pub fn new(payload: u32) -> Cuts {
        Cuts { payload, segments: 0, written: 0, short: Vec::new() }
    }

    /// Bytes written so far.
    pub fn written(&self) -> u32 {
        self.written
    }

    /// More are written.
    pub fn write(&mut self, bytes: u32) {
        self.written += bytes;
        self.segments += bytes.div_ceil(self.payload);
        if !bytes.is_multiple_of(self.payload) {
            self.short.push((self.segments, self.written));
        }
    }

    /// The segment that begins behind this many bytes, or the ends of the one that they are in; all segments beyond the written ones
    /// are full.
    pub fn segment(&self, bytes: u32) -> Result<u32, (u32, u32)> {
        let before = self.short.partition_point(|(_, end)| *end <= bytes);
        let (segments, first) = before.checked_sub(1).map_or((0, 0), |last| self.short[last]);
        let inside = (bytes - first) % self.payload;
        if inside == 0 {
            return Ok(segments + (bytes - first) / self.payload);
        }
        let upper = (bytes - inside).saturating_add(self.payload);
        Err((bytes - inside, self.short.get(before).map_or(upper, |(_, end)| upper.min(*end))))
    }

    /// The segments that a range of bytes contains whole.
    pub fn whole(&self, first: u32, end: u32) -> (u32, u32) {
        let around = |bytes| match self.segment(bytes) {
            Ok(segment) => (segment, segment),
            Err((lower, _)) => {
                let segment = self.segment(lower).unwrap_or(0);
                (segment, segment + 1)
            }
        };
        let (first, end) = (around(first).1, around(end).0);
        if first < end { (first, end) } else { (0, 0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_write_ends_a_segment_and_the_next_begins_behind_it() {
        let mut cuts = Cuts::new(1000);
        cuts.write(2000);
        cuts.write(400);
        cuts.write(1500);
        assert_eq!(cuts.written(), 3900);
        assert_eq!(
            [0, 1000, 2000, 2400, 3400, 3900].map(|bytes| cuts.segment(bytes)),
            [0, 1, 2, 3, 4, 5].map(Ok)
        );
        assert_eq!(
            [1500, 2399, 3800].map(|bytes| cuts.segment(bytes)),
            [Err((1000, 2000)), Err((2000, 2400)), Err((3400, 3900))]
        );
        // Nothing is written there yet.
        assert_eq!([4900, 5000].map(|bytes| cuts.segment(bytes)), [Ok(6), Err((4900, 5900))]);
        assert_eq!(
            [cuts.whole(1000, 2400), cuts.whole(1001, 3900), cuts.whole(1001, 1900)],
            [(1, 3), (2, 5), (0, 0)]
        );
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Frames: the bytes of the packets that are inside the network, each in a slot that its packet names.

use super::Side;

/// The most bytes of a packet: Ethernet's payload, with room for devices that carry more.
pub const LONGEST: usize = 2048;

/// The bytes of packets. A slot that was freed last is used first, while it is in the processor's cache.
#[derive(Debug, Default)]
pub struct Frames {
    #[expect(clippy::vec_box, reason = "bytes are not copied when there are more slots")]
    slots: Vec<Box<[u8; LONGEST]>>,
    /// The length and the origin of each.
    known: Vec<(u16, Side)>,
    /// The number of further packets that name each, beyond the first.
    further: Vec<u32>,
    free: Vec<u32>,
}

impl Frames {
    /// A slot that no packet uses.
    #[inline]
    pub fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.slots.push(Box::new([0; LONGEST]));
            self.known.push((0, Side::Near));
            self.further.push(0);
            self.slots.len() as u32 - 1
        })
    }

    /// The whole slot, to be filled.
    #[inline]
    pub fn room(&mut self, slot: u32) -> &mut [u8] {
        &mut self.slots[slot as usize][..]
    }

    /// The slot holds this many bytes from a side.
    #[inline]
    pub fn fill(&mut self, slot: u32, length: usize, from: Side) {
        self.known[slot as usize] = (length as u16, from);
    }

    /// The origin of a packet.
    #[inline]
    pub fn from(&self, slot: u32) -> Side {
        self.known[slot as usize].1
    }

    /// The bytes of a packet.
    #[inline]
    pub fn bytes(&mut self, slot: u32) -> &mut [u8] {
        &mut self.slots[slot as usize][..usize::from(self.known[slot as usize].0)]
    }

    /// A packet that names the slot continues twice.
    pub fn share(&mut self, slot: u32) {
        self.further[slot as usize] += 1;
    }

    /// A packet no longer uses the slot.
    #[inline]
    pub fn release(&mut self, slot: u32) {
        match &mut self.further[slot as usize] {
            0 => self.free.push(slot),
            further => *further -= 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_keep_their_bytes_and_are_used_again() {
        let mut frames = Frames::default();
        let (a, b) = (frames.take(), frames.take());
        for (slot, byte) in [(a, 1), (b, 2)] {
            frames.room(slot)[..3].fill(byte);
            frames.fill(slot, 3, Side::Far);
        }
        assert_eq!(frames.bytes(a), [1, 1, 1]);
        frames.release(a);
        assert_eq!((frames.take(), frames.bytes(b)), (a, &mut [2, 2, 2][..]));
    }

    #[test]
    fn a_slot_that_two_packets_name_is_free_when_both_are_gone() {
        let mut frames = Frames::default();
        let slot = frames.take();
        frames.share(slot);
        frames.release(slot);
        assert_ne!(frames.take(), slot);
        frames.release(slot);
        assert_eq!(frames.take(), slot);
    }
}

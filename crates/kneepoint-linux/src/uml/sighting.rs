// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The instance's observations of packets: one record after another in a file.
//!
//! ```text
//! time 8 · key 8 · device 4 · size 2 · class 1 · direction and length 1 · headers, of packets that leave their host
//! ```
//!
//! The time is in nanoseconds since the run began. The key is a hash of the constant part of a packet: its headers
//! without the time to live, the ECN bits and the checksum over these.

use std::io::{self, Read};

use super::layout::Point;

const FIXED: usize = 24;
/// The longest headers: IPv4 and TCP with all their options.
pub(super) const LONGEST: usize = 120;
/// The bit of the last byte that means that the packet left.
const LEAVING: u8 = 0x80;

/// A packet at a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sighting {
    /// Nanoseconds since the run began, which began before some packets did not.
    pub(super) at: u64,
    pub(super) key: u64,
    pub(super) point: Point,
    /// Of the IP packet.
    pub(super) size: u16,
    /// Traffic class, with the bits of congestion notification.
    pub(super) class: u8,
    /// A packet that leaves its host.
    pub(super) headers: Vec<u8>,
}

impl Sighting {
    /// Appends the record.
    pub(super) fn write(&self, to: &mut Vec<u8>) {
        to.extend(self.at.to_le_bytes());
        to.extend(self.key.to_le_bytes());
        to.extend(self.point.device.to_le_bytes());
        to.extend(self.size.to_le_bytes());
        let length = self.headers.len().min(LONGEST);
        to.push(self.class);
        to.push(length as u8 | if self.point.leaving { LEAVING } else { 0 });
        to.extend(&self.headers[..length]);
    }

    /// The next record; none at the end of the file.
    pub(super) fn read(from: &mut impl Read) -> io::Result<Option<Sighting>> {
        let mut fixed = [0; FIXED];
        match from.read(&mut fixed[..1])? {
            0 => return Ok(None),
            _ => from.read_exact(&mut fixed[1..])?,
        }
        let long = |at: usize| u64::from_le_bytes(fixed[at..at + 8].try_into().expect("eight bytes"));
        let device = u32::from_le_bytes(fixed[16..20].try_into().expect("four bytes"));
        let mut headers = vec![0; usize::from(fixed[23] & !LEAVING)];
        from.read_exact(&mut headers)?;
        Ok(Some(Sighting {
            at: long(0),
            key: long(8),
            point: Point { device, leaving: fixed[23] & LEAVING != 0 },
            size: u16::from_le_bytes([fixed[20], fixed[21]]),
            class: fixed[22],
            headers,
        }))
    }
}

/// The length of the headers of an IPv4 packet, as far as they are present.
pub(super) fn headers(packet: &[u8]) -> usize {
    let internet = 4 * usize::from(packet.first().map_or(0, |first| first & 15));
    let transport = match packet.get(9) {
        Some(6) => packet.get(internet + 12).map_or(0, |offset| 4 * usize::from(offset >> 4)),
        _ => 8,
    };
    (internet + transport).min(packet.len()).min(LONGEST)
}

/// The key of a packet with these headers: FNV-1a, 64 bits.
pub(super) fn key(headers: &[u8]) -> u64 {
    let same = headers.iter().enumerate().filter(|(at, _)| !matches!(at, 1 | 8 | 10 | 11));
    same.fold(0xcbf2_9ce4_8422_2325, |hash, (_, byte)| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet() -> Vec<u8> {
        let mut packet = vec![0; 1500];
        (packet[0], packet[9], packet[32]) = (0x45, 6, 0x80);
        packet
    }

    #[test]
    fn what_is_written_is_read() {
        let point = Point { device: 12, leaving: true };
        let sighting =
            Sighting { at: 5_000_000_000, key: 7, point, size: 1500, class: 2, headers: vec![1; 52] };
        let bare =
            Sighting { headers: Vec::new(), point: Point { device: 13, leaving: false }, ..sighting.clone() };
        let mut bytes = Vec::new();
        sighting.write(&mut bytes);
        bare.write(&mut bytes);
        let mut left = &bytes[..];
        assert_eq!(Sighting::read(&mut left).unwrap(), Some(sighting));
        assert_eq!(Sighting::read(&mut left).unwrap(), Some(bare));
        assert_eq!(Sighting::read(&mut left).unwrap(), None);
        assert!(Sighting::read(&mut &bytes[..30]).is_err(), "half a record");
    }

    #[test]
    fn a_packet_has_the_same_key_before_and_behind_a_router() {
        let sent = packet();
        let mut forwarded = sent.clone();
        (forwarded[1], forwarded[8], forwarded[10]) = (3, 63, 9);
        let length = headers(&sent);
        assert_eq!(length, 20 + 32);
        assert_eq!(key(&sent[..length]), key(&forwarded[..length]));
        forwarded[5] = 1;
        assert_ne!(key(&sent[..length]), key(&forwarded[..length]), "another number of the packet");
    }

    #[test]
    fn headers_of_what_is_cut_short_end_with_it() {
        assert_eq!(headers(&[]), 0);
        assert_eq!(headers(&packet()[..40]), 40);
        assert_eq!(headers(&packet()[..30]), 20, "how long the second header is, is not there");
    }
}

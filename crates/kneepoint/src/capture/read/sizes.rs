// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The size of packets on the wire, where a capture shows segments that a network card merged or will split.

use std::collections::BTreeMap;

use super::Segment;

/// Bytes of the timestamp option with its padding.
const TIMESTAMPS: u32 = 12;
/// Smallest payload of full packets where the handshake is not there: the default of RFC 9293 without options of IP and TCP.
const SMALLEST: u32 = 500;
/// Sizes that are tried, the most frequent ones.
const TRIED: usize = 16;

/// Packets that a network card makes of one at most. Where there would be more, the MSS is not what it seems.
const PARTS: u32 = 1024;

/// The packets of at most one MSS that the wire carried.
pub(super) fn packets_of(segment: &Segment, mss: u32) -> impl Iterator<Item = Segment> + use<> {
    let whole = segment.clone();
    let mss = if whole.payload.div_ceil(mss.max(1)) > PARTS { whole.payload } else { mss.max(1) };
    (0..segment.payload.div_ceil(mss).max(1)).map(move |place| Segment {
        seq: whole.seq.wrapping_add(place * mss),
        payload: (whole.payload - place * mss).min(mss),
        ..whole.clone()
    })
}

/// The payload of a full packet: the one of which most payloads are multiples.
///
/// With the handshake, the smaller MSS announced, less the options of data packets (RFC 6691), is the first choice; the MSS itself and
/// the most frequent payload close below it, as where the path asks for smaller packets, are the others. Without the handshake, the
/// most frequent payloads.
pub(super) fn mss(data: &[Segment], answers: &[Segment]) -> u32 {
    let opening = data.iter().chain(answers).filter(|segment| segment.syn);
    let announced = opening.filter_map(|segment| segment.mss).min().map(u32::from);
    let stamped = data.iter().any(|segment| !segment.syn && segment.timestamps.is_some());
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    for segment in data.iter().filter(|segment| segment.payload > 0) {
        *counts.entry(segment.payload).or_default() += 1;
    }
    let mut frequent: Vec<(u32, u64)> = counts.iter().map(|(payload, count)| (*payload, *count)).collect();
    frequent.sort_by_key(|(payload, count)| std::cmp::Reverse((*count, *payload)));
    let candidates: Vec<u32> = match announced.filter(|mss| *mss > TIMESTAMPS) {
        Some(mss) => {
            let close = |payload: &u32| (mss - mss / 8..=mss).contains(payload);
            let first = if stamped { mss - TIMESTAMPS } else { mss };
            [first, mss].into_iter().chain(frequent.iter().map(|(payload, _)| *payload).find(close)).collect()
        }
        None => {
            let full = frequent.iter().map(|(payload, _)| *payload).filter(|payload| *payload >= SMALLEST);
            let mut full: Vec<u32> = full.take(TRIED).collect();
            full.sort_unstable_by_key(|payload| std::cmp::Reverse(*payload));
            full
        }
    };
    let fitting = |size: u32| -> u64 {
        counts.iter().filter(|(payload, _)| **payload % size == 0).map(|(_, count)| count).sum()
    };
    let most = candidates.iter().map(|size| fitting(*size)).max();
    let best = candidates.iter().copied().find(|size| Some(fitting(*size)) == most);
    best.or(frequent.first().map(|(payload, _)| *payload)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sized(payloads: &[u32]) -> Vec<Segment> {
        let stamped = Segment { timestamps: Some((1, 1)), ..Segment::default() };
        payloads.iter().map(|payload| Segment { payload: *payload, ..stamped.clone() }).collect()
    }

    fn with_handshake(announced: u16, payloads: &[u32]) -> u32 {
        let opening = Segment { syn: true, mss: Some(announced), ..Segment::default() };
        mss(&[vec![opening], sized(payloads)].concat(), &[])
    }

    #[test]
    fn the_options_of_data_packets_are_no_part_of_the_segment_size_unless_the_packets_say_otherwise() {
        assert_eq!(with_handshake(1460, &[1448, 1448, 300]), 1448);
        // A network card merged them.
        assert_eq!(with_handshake(1460, &[14480, 2896, 300]), 1448);
        // An MSS that counts no room for options.
        assert_eq!(with_handshake(1448, &[1448, 1448, 300]), 1448);
        assert_eq!(with_handshake(1448, &[2896, 4344, 300]), 1448);
        // A tunnel on the path.
        assert_eq!(with_handshake(1460, &[1398, 1398, 2796, 300]), 1398);
        // An application that writes little at a time.
        assert_eq!(with_handshake(1460, &[100, 100, 200, 1000]), 1448);
    }

    #[test]
    fn a_packet_is_not_cut_into_more_parts_than_a_card_can_make() {
        let parts = |payload| packets_of(&Segment { payload, ..Segment::default() }, 100).count();
        assert_eq!([0, 100, 101, 102_400, 102_401].map(parts), [1, 1, 2, 1024, 1]);
    }

    #[test]
    fn without_the_handshake_the_size_is_that_of_which_most_payloads_are_multiples() {
        assert_eq!(mss(&sized(&[2896, 2896, 1448, 4344]), &[]), 1448);
        assert_eq!(mss(&sized(&[1448, 1448, 20]), &[]), 1448);
        assert_eq!(mss(&sized(&[20, 20, 30]), &[]), 20);
    }
}

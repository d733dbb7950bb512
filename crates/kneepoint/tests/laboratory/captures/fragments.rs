// SPDX-License-Identifier: Apache-2.0 OR MIT
//! IP fragments: reassembled, or counted where some are missing.

use kneepoint::capture::Fragmented;

use super::tunnels::{OUTER, frame4, tunnel};
use super::{ETHERNET, RAW, only, read, same};
use crate::common::shots::{
    PAYLOAD, Shot, ethernet, fragments_v4, fragments_v6, frames, ipv4, over_ipv4, over_ipv6, pcap, transfer,
    udp,
};

/// Fragments as carried.
type Parts = fn(&Shot, u16) -> Vec<Vec<u8>>;

/// Forms of fragments, all over Ethernet.
pub const FRAGMENTS: &[(&str, Parts)] = &[
    ("three of IPv4", |s, id| framed(0x0800, fragments_v4(&over_ipv4(s, id), 496))),
    ("two of IPv4, the last one first", |s, id| {
        framed(0x0800, fragments_v4(&over_ipv4(s, id), 1200)).into_iter().rev().collect()
    }),
    ("two of IPv6", |s, id| framed(0x86dd, fragments_v6(&over_ipv6(s, id), u32::from(id), 1000))),
    ("each of them twice", |s, id| {
        let fragments = framed(0x0800, fragments_v4(&over_ipv4(s, id), 1200));
        fragments.into_iter().flat_map(|one| [one.clone(), one]).collect()
    }),
    ("of a tunnel", |s, id| {
        let outer = udp(4789, &[&[8, 0, 0, 0, 0, 0, 42, 0], &frame4(s, id)[..]].concat());
        framed(0x0800, fragments_v4(&ipv4(17, OUTER, id, &outer), 1304))
    }),
    ("in a tunnel", |s, id| {
        let inner = fragments_v4(&over_ipv4(s, id), 800);
        inner.iter().map(|one| tunnel(47, &[0, 0, 8, 0], one)).collect()
    }),
];

fn framed(kind: u16, packets: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    packets.iter().map(|packet| ethernet(kind, packet)).collect()
}

#[test]
fn fragments_are_put_together() {
    for (form, parts) in FRAGMENTS {
        let frames = frames(&transfer(), parts);
        let capture = read(&pcap(&frames, ETHERNET, true, false));
        same(&only(&capture), form);
        assert_eq!(capture.fragmented().incomplete, 0, "{form}");
        assert!(capture.fragmented().whole >= transfer().packets, "{form}");
    }
}

#[test]
fn a_fragment_that_comes_again_is_a_copy_while_a_receiver_would_wait() {
    let story = transfer();
    for again in 0..3 {
        let parts = |shot: &Shot, id| {
            let mut parts = fragments_v4(&over_ipv4(shot, id), 496);
            parts.extend(parts.get(again).filter(|_| shot.payload > 0).cloned());
            parts
        };
        let capture = read(&pcap(&frames(&story, parts), RAW, true, false));
        same(&only(&capture), "a copy");
        assert_eq!(capture.fragmented(), Fragmented { whole: story.packets, incomplete: 0 });
        assert_eq!(capture.others(), 0);
    }
    let first = &frames(&story, |shot, id| fragments_v4(&over_ipv4(shot, id), 496))[3..6];
    for (seconds, incomplete) in [(29, 0), (31, 1)] {
        let (at, bytes, length) = first[0].clone();
        let later = [first, &[(at + seconds * 1_000_000_000, bytes, length)]].concat();
        let capture = read(&pcap(&later, RAW, true, false));
        assert_eq!(capture.fragmented(), Fragmented { whole: 1, incomplete }, "{seconds}");
    }
}

#[test]
fn missing_fragments_are_counted() {
    let story = transfer();
    // Without the second one, and without the last one, of three.
    for (missing, missed) in [(1, 0), (2, 1448 + 32 - 2 * 496)] {
        let parts = |shot: &Shot, id| {
            let mut parts = fragments_v4(&over_ipv4(shot, id), 496);
            if parts.len() > 2 && id % 10 == 0 {
                parts.remove(missing);
            }
            parts
        };
        let capture = read(&pcap(&frames(&story, parts), RAW, true, false));
        let incomplete =
            story.shots.iter().zip(1..).filter(|(shot, id)| shot.payload > 0 && id % 10 == 0).count();
        let whole = story.packets - incomplete as u64;
        assert_eq!(capture.fragmented(), Fragmented { whole, incomplete: incomplete as u64 });
        // The last fragment gives the length.
        let bytes = story.packets * PAYLOAD as u64 - incomplete as u64 * missed;
        assert_eq!(only(&capture).bytes, bytes);
    }
    let last = |shot: &Shot, id| fragments_v4(&over_ipv4(shot, id), 496).split_off(1);
    let capture = read(&pcap(&frames(&story, last), RAW, true, false));
    assert_eq!((capture.senders().len(), capture.others()), (0, 2 * story.packets));
    assert!(capture.kinds()[0].0.to_string().contains("fragments without the first"));
}

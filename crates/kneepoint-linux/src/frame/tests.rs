// SPDX-License-Identifier: Apache-2.0 OR MIT
#![allow(clippy::shadow_unrelated, reason = "a script has one name for the packet at hand")]

use kneepoint::rng::Rng;

use super::options::RateOption;
use super::*;
use crate::forge::{self, Segment, tuple};

fn v4() -> Tuple {
    tuple("10.77.0.1", "10.77.0.2", (40_000, 5001), TCP)
}

fn v6() -> Tuple {
    tuple("fd77::1", "fd77::2", (40_000, 5001), TCP)
}

/// Timestamps, a block and a rate: 12 + 12 + 12 bytes of options.
fn segment() -> Segment {
    let options = [forge::timestamps(7, 9), forge::sack(&[(5, 8)]), forge::rate(u32::MAX, 300)].concat();
    let (flags, class) = (forge::ACK | 0x40, 0b1101_0110);
    Segment { seq: 1000, ack: 2000, flags, options, payload: 101, window: 0x1000, class }
}

#[test]
fn headers_of_both_versions_are_read() {
    for flow in [v4(), v6()] {
        let read = read(&forge::tcp(flow, &segment())).unwrap();
        assert_eq!((read.flow, read.ecn, read.dscp, read.payload), (flow, Ecn::Capable, 0b11_0101, 101));
        let tcp = read.tcp.unwrap();
        assert_eq!(
            (tcp.seq, tcp.ack, tcp.syn, tcp.ece, tcp.cwr, tcp.window),
            (1000, Some(2000), false, true, false, 0x1000)
        );
        assert_eq!(tcp.options.timestamps, Some((7, 9)));
        assert_eq!(tcp.options.blocks().collect::<Vec<_>>(), [(5, 8)]);
        assert_eq!(tcp.options.rate, Some(RateOption { rate: u32::MAX, echo: 300 }));
    }
}

#[test]
fn options_of_a_syn_and_of_the_ip_header_are_read() {
    let options = [forge::mss(1460), vec![4, 2], vec![3, 3, 9], vec![99, 3, 0]].concat();
    let syn = forge::tcp(v4(), &Segment { seq: 5, flags: forge::SYN, options, ..Segment::default() });
    let check = |frame: &[u8]| {
        let tcp = read(frame).unwrap().tcp.unwrap();
        assert!(tcp.syn && tcp.ack.is_none() && tcp.options.sack_permitted);
        assert_eq!((tcp.options.mss, tcp.options.scale), (Some(1460), Some(9)));
    };
    check(&syn);
    // The same after eight bytes of IP options.
    let mut longer = [&syn[..20], &[1; 8], &syn[20..]].concat();
    longer[0] = 0x47;
    let length = longer.len() as u16;
    longer[2..4].copy_from_slice(&length.to_be_bytes());
    check(&longer);
}

#[test]
fn extension_headers_are_skipped_and_fragments_have_no_ports() {
    let plain = forge::tcp(v6(), &segment());
    let hop_by_hop = [&[60, 1][..], &[0; 14]].concat();
    let destination = [&[TCP, 0][..], &[0; 6]].concat();
    let after = [&hop_by_hop, &destination, &plain[40..]].concat();
    let read_as =
        |first: u8, bytes: &[u8]| read(&forge::ip(Tuple { protocol: first, ..v6() }, 0, bytes)).unwrap();
    let found = read_as(0, &after);
    assert_eq!((found.flow, found.payload), (v6(), 101));
    assert_eq!(found.tcp.unwrap().seq, 1000);
    // The first fragment, a later one, and one that is whole.
    let fragment = |offset: [u8; 2]| {
        read_as(FRAGMENT, &[&[TCP, 0, offset[0], offset[1], 0, 0, 0, 1], &plain[40..]].concat())
    };
    for offset in [[0, 1], [0x10, 0]] {
        let found = fragment(offset);
        assert_eq!((found.flow.ports, found.flow.protocol, found.tcp), ((0, 0), TCP, None));
    }
    assert_eq!(fragment([0, 0]).flow, v6());
    let mut first = forge::tcp(v4(), &segment());
    first[6] = 0x20;
    let found = read(&first).unwrap();
    assert_eq!((found.flow.ports, found.tcp, found.payload), ((0, 0), None, 20 + 36 + 101));
}

#[test]
fn datagrams_and_other_protocols_are_read() {
    let flow = Tuple { protocol: UDP, ..v4() };
    let found = read(&forge::udp(flow, 30)).unwrap();
    assert_eq!((found.flow, found.tcp, found.payload, found.ecn), (flow, None, 30, Ecn::Not));
    let ping = Tuple { protocol: 1, ports: (0, 0), ..v4() };
    let found = read(&forge::ip(ping, 0, &[8, 0, 0, 0, 1, 2, 3, 4])).unwrap();
    assert_eq!((found.flow, found.payload), (ping, 8));
}

#[test]
fn a_mark_needs_a_capable_sender_and_leaves_the_checksums_right() {
    for flow in [v4(), v6()] {
        for (class, marked) in [(0b1010_0100, false), (0b1010_0101, true), (0b0000_0010, true), (0b11, true)]
        {
            let mut frame = forge::tcp(flow, &Segment { class, ..segment() });
            assert_eq!(mark(&mut frame), marked);
            let read = read(&frame).unwrap();
            assert_eq!((read.ecn == Ecn::Marked, read.dscp), (marked, class >> 2));
            assert!(forge::is_sound(flow, &frame));
        }
    }
}

#[test]
fn a_rate_is_lowered_and_never_raised_or_invented() {
    let mbit = Rate::from_mbit;
    for flow in [v4(), v6()] {
        // The option at an even place, and at an odd one.
        for pad in [vec![1, 1], vec![1], vec![]] {
            let options = [pad, forge::rate(u32::MAX, 5)].concat();
            let mut frame = forge::tcp(flow, &Segment { options, ..segment() });
            assert_eq!(rate(&frame), Some(Rate(u64::MAX)));
            for (offered, lowers, left) in [(9, true, 9), (3, true, 3), (4, false, 3)] {
                assert_eq!(stamp_rate(&mut frame, mbit(offered)), lowers);
                assert_eq!(rate(&frame), Some(mbit(left)));
                assert!(forge::is_sound(flow, &frame), "{left} Mbit/s");
            }
            let told = read(&frame).unwrap().tcp.unwrap().options.rate.unwrap();
            assert_eq!((as_rate(told.rate), told.echo), (mbit(3), 5));
        }
        let mut plain = forge::tcp(flow, &Segment { options: forge::timestamps(1, 2), ..segment() });
        let before = plain.clone();
        assert!(!stamp_rate(&mut plain, mbit(1)) && rate(&plain).is_none() && plain == before);
    }
    // A bound without end is a bound: the field cannot say that nothing limits.
    let mut frame = forge::tcp(v4(), &segment());
    assert!(stamp_rate(&mut frame, Rate(u64::MAX)));
    assert_eq!(rate(&frame), Some(Rate((u64::from(u32::MAX) - 1) * 1000)));
}

#[test]
fn codes_of_windows_are_four_to_a_doubling() {
    assert_eq!(window_hint(0), None);
    let close = |code, window: f64| (window_hint(code).unwrap() / window - 1.0).abs() < 1e-12;
    assert!(close(1, 1.0) && close(5, 2.0) && close(9, 4.0) && close(63, libm::exp2(15.5)));
    // The simulator's hosts write the same codes.
    for code in 1..=63 {
        let window = window_hint(code).unwrap();
        assert!(close(code, kneepoint::tcp::Encoding::Dscp.carries(window)));
    }
}

#[test]
fn no_bytes_make_it_panic() {
    let mut rng = Rng::stream(3, "frames", 0);
    let seeds = [
        forge::tcp(v4(), &segment()),
        forge::tcp(v6(), &segment()),
        forge::udp(Tuple { protocol: UDP, ..v4() }, 9),
        forge::ip(
            Tuple { protocol: 0, ..v6() },
            0,
            &[[60, 0, 0, 0, 0, 0, 0, 0], [TCP, 0, 0, 0, 0, 0, 0, 0]].concat(),
        ),
    ];
    let mut understood = 0;
    for round in 0..100_000 {
        let mut frame = seeds[round % seeds.len()].clone();
        for _ in 0..rng.below(6) {
            let place = rng.below(frame.len() as u64) as usize;
            frame[place] = rng.below(256) as u8;
        }
        if rng.below(3) == 0 {
            frame.truncate(rng.below(frame.len() as u64 + 1) as usize);
        }
        understood += usize::from(read(&frame).is_some_and(|headers| headers.tcp.is_some()));
        let length = frame.len();
        let (marks, stamps) = (mark(&mut frame), stamp_rate(&mut frame, Rate::from_mbit(1)));
        assert!(!marks || read(&frame).is_none_or(|headers| headers.ecn == Ecn::Marked));
        assert!(!stamps || rate(&frame) == Some(Rate::from_mbit(1)));
        assert_eq!(frame.len(), length);
    }
    assert!(understood > 20_000, "{understood}");
}

#[test]
fn an_ip_header_is_found_behind_tags() {
    let mut frame = vec![0; 60];
    frame[12..14].copy_from_slice(&[8, 0]);
    assert_eq!(ethernet(&frame), 14);
    frame[12..14].copy_from_slice(&[0x88, 0xa8]);
    frame[16..18].copy_from_slice(&[0x81, 0]);
    assert_eq!(ethernet(&frame), 22);
    assert_eq!(ethernet(&[0; 9]), 9);
}

/// The value that a sender writes into the field when it leaves the checksum to its device: the sum of the
/// pseudo-header, not inverted.
#[test]
fn an_unfinished_checksum_is_finished_to_that_of_the_whole_frame() {
    for (protocol, place, length) in [(6_u8, 16, 20 + 7), (17, 6, 8 + 7)] {
        let mut frame =
            vec![0x45, 0, 0, 20 + length as u8, 0, 0, 0, 0, 64, protocol, 0, 0, 10, 77, 0, 1, 10, 77, 0, 2];
        frame.extend((0..length).map(|place| (place as u8).wrapping_mul(37)));
        frame[20 + place..][..2].fill(0);
        let sum = |bytes: &[u8]| {
            let mut sum: u32 = bytes
                .chunks(2)
                .map(|two| u32::from(two[0]) << 8 | u32::from(*two.get(1).unwrap_or(&0)))
                .sum();
            while sum > 0xffff {
                sum = (sum & 0xffff) + (sum >> 16);
            }
            sum as u16
        };
        let pseudo = [10, 77, 0, 1, 10, 77, 0, 2, 0, protocol, 0, length as u8];
        let whole = [&pseudo[..], &frame[20..]].concat();
        let right = !sum(&whole);
        frame[20 + place..][..2].copy_from_slice(&sum(&pseudo).to_be_bytes());
        finish_checksum(&mut frame);
        assert_eq!(frame[20 + place..][..2], right.to_be_bytes(), "protocol {protocol}");
    }
}

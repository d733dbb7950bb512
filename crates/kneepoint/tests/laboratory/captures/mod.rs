// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One transfer in many forms of capture: through tunnels, in fragments, cut short, with probes, in retransmissions of other sizes, and
//! by clocks that were set. The numbers equal the plain capture's, or the capture names the missing part.
//!
//! `KNEE_FUZZ_CASES` sets the number of damaged files to try.

mod clocks;
mod counting;
mod fragments;
mod tunnels;

use clocks::set;
use fragments::FRAGMENTS;
use kneepoint::capture::{Capture, Other, Transfer, foreign_format, is_capture};
use kneepoint::predict;
use kneepoint::rng::Rng;
use kneepoint::units::Span;
use tunnels::{FORMS, OUTER, frame4};

use crate::common::shots::{
    Frame, Kept, PAYLOAD, Shot, ethernet, frames, ipv4, ipv6, over_ipv4, pcap, pcapng, transfer, udp,
};

const ETHERNET: u32 = 1;
const RAW: u32 = 101;

fn read(file: &[u8]) -> Capture {
    let mut capture = Capture::default();
    assert_eq!(capture.read(file).unwrap(), None, "the file is whole");
    capture
}

/// The only direction with data.
fn only(capture: &Capture) -> Transfer {
    let senders = capture.senders();
    assert_eq!(senders.len(), 1, "{senders:?}, {:?}", capture.kinds());
    assert_eq!((senders[0].0.0.port(), senders[0].0.1.port()), (45_000, 80));
    capture.transfer(senders[0].0).unwrap()
}

fn only_in(frames: &[Frame], link: u32) -> Transfer {
    only(&read(&pcap(frames, link, false, false)))
}

/// The plain capture.
fn base() -> Transfer {
    only_in(&frames(&transfer(), |shot, id| vec![over_ipv4(shot, id)]), RAW)
}

fn numbers(transfer: &Transfer) -> (u64, usize, u64, u64, u64, u32) {
    let Transfer { packets, losses, needless, holes, bytes, mss, .. } = transfer;
    (*packets, losses.len(), *needless, *holes, *bytes, *mss)
}

/// Round-trip times with their acknowledged data.
fn round_trips(transfer: &Transfer) -> Vec<(Span, u32)> {
    transfer.samples.iter().map(|sample| (sample.rtt, sample.acked)).collect()
}

fn same(transfer: &Transfer, form: &str) {
    let base = base();
    assert_eq!(numbers(transfer), numbers(&base), "{form}");
    assert_eq!(round_trips(transfer), round_trips(&base), "{form}");
}

#[test]
fn the_plain_capture_has_the_packets_and_losses_of_the_transfer() {
    let (base, story) = (base(), transfer());
    let bytes = story.packets * PAYLOAD as u64;
    assert_eq!(numbers(&base), (story.packets, story.losses, 0, 0, bytes, PAYLOAD as u32));
    assert!(base.samples.len() > 150 && story.losses > 40, "{} {}", base.samples.len(), story.losses);
}

#[test]
fn a_transfer_is_the_same_in_every_file_format_byte_order_and_clock() {
    let frames = frames(&transfer(), |shot, id| vec![frame4(shot, id)]);
    for big_endian in [false, true] {
        for nanos in [false, true] {
            same(&only(&read(&pcap(&frames, ETHERNET, nanos, big_endian))), "pcap");
        }
        for kept in [Kept::Enhanced, Kept::Obsolete] {
            same(
                &only(&read(&pcapng(&frames, ETHERNET as u16, kept, big_endian))),
                &format!("{kept:?} {big_endian}"),
            );
        }
        let timeless = read(&pcapng(&frames, ETHERNET as u16, Kept::Simple, big_endian));
        assert_eq!(timeless.others(), frames.len() as u64);
        assert!(timeless.kinds()[0].0.to_string().contains("simple packet blocks"));
    }
}

/// The frames with at most this many bytes of each.
fn cut(frames: &[Frame], snapshot: usize) -> Vec<Frame> {
    frames
        .iter()
        .map(|(at, bytes, length)| (*at, bytes[..snapshot.min(bytes.len())].to_vec(), *length))
        .collect()
}

#[test]
fn a_header_that_is_cut_counts_without_its_options() {
    let story = transfer();
    let plain = frames(&story, |shot, id| vec![frame4(shot, id)]);
    let bare = story.with(|shot| vec![Shot { stamps: None, ..shot.clone() }]);
    let without = only_in(&frames(&bare, |shot, id| vec![frame4(shot, id)]), ETHERNET);
    // The handshake has eight bytes of other options.
    for (snapshot, whole) in [(66, 1), (65, 0), (64, 0), (60, 0), (54, 0), (50, 0), (48, 0)] {
        let capture = read(&pcap(&cut(&plain, snapshot), ETHERNET, false, false));
        let transfer = only(&capture);
        let all = story.shots.len() as u64;
        assert_eq!(capture.cut_headers(), if whole == 1 { 2 } else { all }, "{snapshot}");
        assert_eq!((transfer.packets, transfer.losses.len()), (story.packets, story.losses), "{snapshot}");
        if whole == 0 {
            assert_eq!(round_trips(&transfer), round_trips(&without), "{snapshot}");
        }
    }
    let capture = read(&pcap(&cut(&plain, 47), ETHERNET, false, false));
    assert!(capture.senders().is_empty());
    assert_eq!(capture.kinds()[0].0.to_string(), "TCP headers that are cut before their flags");
    assert!(read(&pcap(&cut(&plain, 30), ETHERNET, false, false)).kinds()[0].0.to_string().contains("cut"));
}

#[test]
fn what_is_no_tcp_is_named() {
    let named = |kind: u16, packet: &[u8]| {
        let frames = [(0, ethernet(kind, packet), packet.len() + 14)];
        let capture = read(&pcap(&frames, ETHERNET, false, false));
        let [(other, 1)] = capture.kinds()[..] else { panic!("{:?}", capture.kinds()) };
        other.to_string()
    };
    assert_eq!(named(0x0806, &[0; 28]), "ARP");
    assert_eq!(named(0x1234, &[0; 28]), "Ethernet type 0x1234");
    assert_eq!(named(38, &[0x42, 0x42, 3, 0]), "802.3 frames without IP");
    assert_eq!(named(0x0800, &ipv4(17, OUTER, 1, &udp(53, &[0; 20]))), "UDP");
    assert_eq!(named(0x0800, &ipv4(17, OUTER, 1, &udp(51_820, &[0; 20]))), "WireGuard, which encrypts");
    assert_eq!(named(0x0800, &ipv4(50, OUTER, 1, &[0; 20])), "ESP, which encrypts");
    assert_eq!(named(0x86dd, &ipv6(58, OUTER, &[0; 20])), "ICMPv6");
    assert_eq!(named(0x0800, &ipv4(200, OUTER, 1, &[0; 20])), "IP protocol 200");
    let nested = (0..12).fold(over_ipv4(&transfer().shots[3], 1), |inner, _| ipv4(4, OUTER, 1, &inner));
    assert_eq!(named(0x0800, &nested), "tunnels in more than eight others");
    assert_eq!(Other::Protocol(132).to_string(), "SCTP");
}

#[test]
fn formats_that_are_not_read_are_named() {
    for (head, name) in [
        (&b"snoop\0\0\0\0\0\0\x02\0\0\0\x04"[..], "snoop"),
        (b"GMBU\0\0", "Network Monitor"),
        (b"BZh91AY&SY", "bzip2"),
        (b"PK\x03\x04", "ZIP"),
    ] {
        assert!(foreign_format(head).unwrap().name.contains(name) && !is_capture(head));
    }
    assert_eq!(foreign_format(b"name = \"a scenario\""), None);
    assert_eq!(foreign_format(b""), None);
}

#[test]
fn the_reader_survives_any_bytes_in_every_form() {
    let mut short = transfer();
    short.shots.truncate(120);
    let mut files: Vec<Vec<u8>> = Vec::new();
    for (_, link, carried) in FORMS {
        let frames = frames(&short, |shot, id| vec![carried(shot, id)]);
        files.push(pcap(&cut(&frames, 160), *link, false, false));
    }
    for (_, parts) in FRAGMENTS {
        files.push(pcap(&frames(&short, parts), ETHERNET, true, true));
    }
    let plain = frames(&short, |shot, id| vec![frame4(shot, id)]);
    for kept in [Kept::Enhanced, Kept::Obsolete, Kept::Simple] {
        files.push(pcapng(&set(&cut(&plain, 70), 50, -5000), ETHERNET as u16, kept, kept == Kept::Obsolete));
    }
    let cases = std::env::var("KNEE_FUZZ_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(600);
    let mut rng = Rng::stream(1, "forms of captures", 0);
    for case in 0..cases {
        let mut file = files[case % files.len()].clone();
        for _ in 0..rng.below(200) {
            let at = rng.below(file.len() as u64) as usize;
            file[at] ^= 1 << rng.below(8);
        }
        let mut capture = Capture::default();
        if let Err(fault) | Ok(Some(fault)) = capture.read(&file) {
            assert!(fault.offset <= file.len() && !fault.message.is_empty(), "{fault}");
        }
        for (direction, _) in capture.senders() {
            let transfer = capture.transfer(direction).unwrap();
            assert_eq!(transfer.score(&predict::standard(), 1.0).len(), predict::standard().len());
        }
        assert!(capture.kinds().iter().all(|(other, _)| !other.to_string().is_empty()));
    }
}

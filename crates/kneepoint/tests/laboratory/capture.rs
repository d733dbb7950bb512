// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Captures read back: predictors score the same on a capture of a simulated flow as on the live run; the reader
//! survives any bytes.
//!
//! `KNEE_FUZZ_CASES` sets the number of damaged files to try.

use std::collections::BTreeSet;

use kneepoint::capture::{Capture, Segment, Transfer, Writer, is_capture, parse_direction, supported};
use kneepoint::predict::{self, Judge, Prediction, Score};
use kneepoint::rng::Rng;
use kneepoint::run;
use kneepoint::spec::Valid;
use kneepoint::tcp::{Host, Options, Recovery};
use kneepoint::trace::FlowId;
use kneepoint::units::{Span, Time};

use crate::common::dumbbell::{self, bottleneck, disciplines, edit, flow, group, interval, link, scenario};

/// Node 0 sends to node 3 over the bottleneck from 1 to 2. The capture is taken on the sender's own link, which has no delay.
fn valid() -> Valid {
    let queue = disciplines().next().unwrap();
    let own = |from, to| {
        let mut link = link(from, to, None, Span::ZERO);
        link.measured = true;
        link
    };
    let away = Span::from_millis(5);
    let mut valid = scenario(
        4,
        vec![bottleneck(1, 2, &queue), own(0, 1), own(1, 0), link(2, 3, None, away), link(3, 1, None, away)],
    );
    edit(&mut valid, |parts| {
        parts.groups = vec![group("reno", vec![flow(0, 3, None), flow(0, 3, None), flow(0, 3, None)])]
    });
    dumbbell::tcp(&mut valid, 0, |options| options.recovery = Recovery::Sack);
    edit(&mut valid, |parts| parts.schedule.duration = dumbbell::at(120.0));
    edit(&mut valid, |parts| parts.schedule.measure = interval(0.0, 120.0));
    valid
}

/// Captures of both directions at the sender of a run, and the live scores.
fn captured(valid: &Valid) -> ([Vec<u8>; 2], Vec<Score>) {
    let capture = |link| Writer::new(Vec::new(), valid, link).unwrap();
    let live = Prediction::new(valid, FlowId(0), &predict::standard(), 1.0, 0).unwrap();
    let watch = ((capture("0-1"), capture("1-0")), live);
    let (((data, answers), heard), _) = run::run(valid, 5, watch);
    let scores = heard.finish().into_iter().filter(|score| score.judged_by == Judge::Flow).collect();
    ([data.finish().unwrap(), answers.finish().unwrap()], scores)
}

fn read(files: &[Vec<u8>]) -> Capture {
    let mut capture = Capture::default();
    for file in files {
        assert_eq!(capture.read(file).unwrap(), None, "the file is whole");
    }
    capture
}

#[test]
fn predictors_score_the_same_on_a_capture_at_the_sender_as_live() {
    let (files, live) = captured(&valid());
    let capture = read(&files);
    let direction = parse_direction("10.0.0.0:10000-10.128.0.0:5001").unwrap();
    let transfer = capture.transfer(direction).unwrap();
    assert_eq!((transfer.mss, transfer.needless, transfer.holes, capture.others()), (1000, 0, 0, 0));
    assert!(transfer.losses.len() > 50, "{}", transfer.losses.len());
    let later = transfer.score(&predict::standard(), 1.0);
    for (heard, told) in live.iter().zip(&later) {
        match heard.predictor.as_str() {
            // A capture shows whole packets outstanding, not the fractional window: while only the fraction grows,
            // these two predictors do not decide.
            "card" | "tri-s" => {}
            // Our files hold the time at which an ACK passed, in whole milliseconds, not its departure from the receiver.
            "sync-tcp" => {}
            _ => assert_eq!((&heard.predictor, heard.counts), (&told.predictor, told.counts)),
        }
        // Both are scored against the same losses.
        let losses = |score: &Score| score.counts[1] + score.counts[3];
        assert_eq!(losses(heard), losses(told), "{}", heard.predictor);
    }
}

#[test]
fn a_capture_of_linux_hosts_counts_each_packet_once() {
    let mut valid = valid();
    dumbbell::tcp(&mut valid, 0, |options| *options = Options::of(Host::Linux));
    let (files, _) = captured(&valid);
    let capture = read(&files);
    let direction = parse_direction("10.0.0.0:10000-10.128.0.0:5001").unwrap();
    let transfer = capture.transfer(direction).unwrap();
    let seen =
        |syn| capture.segments(direction).filter(move |one| if syn { one.syn } else { one.payload > 0 });
    assert_eq!(seen(true).next().unwrap().mss, Some(1460), "1448 bytes, and 12 of timestamps");
    assert!(seen(false).all(|one| one.payload == 1448 && one.timestamps.is_some()));
    assert_eq!((transfer.packets, transfer.mss), (seen(false).count() as u64, 1448));
    // Every packet is on the wire in 1500 bytes: 20 of IP, 32 of TCP.
    assert_eq!(transfer.bytes, transfer.packets * 1448);
    let repeats = seen(false).count() - seen(false).map(|one| one.seq).collect::<BTreeSet<_>>().len();
    assert_eq!(transfer.losses.len() + transfer.needless as usize, repeats);
    assert!(transfer.losses.len() > 20, "{}", transfer.losses.len());
}

/// An IP packet with a TCP segment of which no payload was captured.
fn packet(version: u8) -> Vec<u8> {
    let mut tcp = vec![0x30, 0x39, 0x13, 0x89, 0, 0, 0, 7, 0, 0, 0, 9, 0xb0, 0x10, 255, 255, 0, 0, 0, 0];
    // Timestamps 5 and 4; one block from 20 to 30.
    tcp.extend([1, 1, 8, 10, 0, 0, 0, 5, 0, 0, 0, 4, 1, 1, 5, 10, 0, 0, 0, 20, 0, 0, 0, 30]);
    let length = (tcp.len() + 100) as u8;
    let mut packet = match version {
        4 => vec![0x45, 0, 0, 20 + length, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2],
        _ => {
            // A hop-by-hop header of eight bytes before TCP.
            let mut header = vec![0x60, 0, 0, 0, 0, 8 + length, 0, 64];
            header.extend([0; 15].iter().chain(&[1]).chain(&[0; 15]).chain(&[2]));
            header.extend([6, 0, 1, 4, 0, 0, 0, 0]);
            header
        }
    };
    packet.extend(tcp);
    packet
}

fn word(value: u32, big_endian: bool) -> [u8; 4] {
    if big_endian { value.to_be_bytes() } else { value.to_le_bytes() }
}

/// A pcap file of one packet, 3 s and 5 ticks after the epoch.
fn pcap(magic: u32, link: u32, frame: &[u8], big_endian: bool) -> Vec<u8> {
    let mut file = Vec::new();
    let length = frame.len() as u32;
    let half = if big_endian { [0, 2, 0, 4] } else { [2, 0, 4, 0] };
    file.extend(word(magic, big_endian).into_iter().chain(half));
    for value in [0, 0, 65535, link, 3, 5, length, length + 100] {
        file.extend(word(value, big_endian));
    }
    file.extend(frame);
    file
}

/// The only segment of a file, from port 12345 to 5001.
fn only(file: &[u8]) -> (String, Segment) {
    let mut capture = Capture::default();
    capture.read(file).unwrap();
    let senders = capture.senders();
    let [(direction, 100)] = senders[..] else { panic!("{senders:?}, {} others", capture.others()) };
    let segments: Vec<&Segment> = capture.segments(direction).collect();
    assert_eq!(segments.len(), 1);
    (format!("{}-{}", direction.0, direction.1), segments[0].clone())
}

#[test]
fn a_segment_is_the_same_under_every_link_address_family_byte_order_and_clock() {
    let behind = |header: &[u8], version| [header, &packet(version)].concat();
    let ethernet = |kind: [u8; 2]| [&[0; 12][..], &kind].concat();
    let tagged = [&[0; 12][..], &[0x88, 0xa8, 0, 7, 0x81, 0, 0, 7, 0x08, 0]].concat();
    let cooked = [&[0; 14][..], &[0x86, 0xdd]].concat();
    let cooked2 = [&[0x08, 0][..], &[0; 18]].concat();
    // Two labels of MPLS; a session of PPPoE; quality of service in 802.11 behind eight bytes of radiotap.
    let labelled = [&[0; 12][..], &[0x88, 0x47, 0, 1, 0, 64, 0, 2, 1, 64]].concat();
    let session = [&[0; 12][..], &[0x88, 0x64, 0x11, 0, 0, 1, 0, 99, 0x00, 0x57]].concat();
    let logical = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
    let wireless = [&[0x88, 0x01][..], &[0; 24], &logical].concat();
    let tapped = [&[0, 0, 8, 0, 0, 0, 0, 0][..], &[0x08, 0x02], &[0; 22], &logical].concat();
    for (link, frame, version) in [
        (101, packet(4), 4),
        (101, packet(6), 6),
        (1, behind(&ethernet([0x08, 0]), 4), 4),
        (1, behind(&ethernet([0x86, 0xdd]), 6), 6),
        (1, behind(&tagged, 4), 4),
        (113, behind(&cooked, 6), 6),
        (276, behind(&cooked2, 4), 4),
        (0, behind(&[2, 0, 0, 0], 4), 4),
        (1, behind(&labelled, 4), 4),
        (1, behind(&session, 6), 6),
        (9, behind(&[0xff, 3, 0, 0x21], 4), 4),
        (9, behind(&[0, 0x21], 4), 4),
        (105, behind(&wireless, 4), 4),
        (127, behind(&tapped, 4), 4),
    ] {
        for (magic, nanos) in [(0xa1b2_c3d4, 5000), (0xa1b2_3c4d, 5)] {
            for big_endian in [false, true] {
                let (direction, segment) = only(&pcap(magic, link, &frame, big_endian));
                let expected =
                    if version == 4 { "10.0.0.1:12345-10.0.0.2:5001" } else { "[::1]:12345-[::2]:5001" };
                assert_eq!(direction, expected, "link {link}");
                assert_eq!((segment.at, segment.seq, segment.ack), (Time(3_000_000_000 + nanos), 7, Some(9)));
                assert_eq!((segment.payload, segment.timestamps), (100, Some((5, 4))));
                assert_eq!(segment.sack, [(20, 30), (0, 0), (0, 0), (0, 0)]);
            }
        }
    }
}

#[test]
fn packets_other_than_tcp_are_counted_and_skipped() {
    let mut udp = packet(4);
    udp[9] = 17;
    let mut fragment = packet(4);
    fragment[7] = 1;
    for frame in [udp, fragment, packet(4)[..33].to_vec(), vec![], vec![0x45]] {
        let mut capture = Capture::default();
        capture.read(&pcap(0xa1b2_c3d4, 101, &frame, false)).unwrap();
        assert_eq!((capture.senders().len(), capture.others()), (0, 1));
    }
}

#[test]
fn a_file_that_ends_early_or_is_something_else_says_where_and_what() {
    let whole = pcap(0xa1b2_c3d4, 101, &packet(4), false);
    let refused = |file: &[u8]| Capture::default().read(file).unwrap_err().to_string();
    let cut = |file: &[u8]| Capture::default().read(file).unwrap().expect("the file was cut").to_string();
    assert!(cut(&whole[..whole.len() - 1]).starts_with("at byte 24: the file ends inside a packet record"));
    assert!(refused(&whole[..20]).starts_with("at byte 0: the file ends inside a file header"));
    assert!(refused(b"name = \"a\"").contains("neither pcap nor pcapng"));
    assert!(refused(b"").contains("neither") && !is_capture(b"") && is_capture(&whole));
    let (files, _) = captured(&{
        let mut short = valid();
        edit(&mut short, |parts| parts.schedule.measure = interval(0.0, 1.0));
        edit(&mut short, |parts| parts.schedule.duration = dumbbell::at(1.0));
        short
    });
    // All that is before the cut counts.
    let mut capture = Capture::default();
    let end = capture.read(&files[0][..files[0].len() - 3]).unwrap().unwrap();
    assert!(end.to_string().contains("the file ends inside a block"));
    let all = read(&files[..1]);
    let packets = |read: &Capture| read.segments(read.senders()[0].0).count();
    assert!(packets(&capture) + 3 > packets(&all), "{} of {}", packets(&capture), packets(&all));
    // Interface 7 in the first packet, whose block follows the two of the file's head.
    let head = files[0].windows(4).position(|bytes| bytes == [6, 0, 0, 0]).unwrap();
    let mut wrong = files[0].clone();
    wrong[head + 8] = 7;
    assert_eq!(refused(&wrong), format!("at byte {head}: a packet refers to interface 7 of 1 described"));
}

#[test]
fn a_link_layer_that_is_not_read_is_counted_by_its_number() {
    let mut capture = Capture::default();
    capture.read(&pcap(0xa1b2_c3d4, 147, &packet(4), false)).unwrap();
    assert_eq!(capture.foreign().collect::<Vec<_>>(), [(147, 1)]);
    assert_eq!(capture.others(), 0);
    assert!(supported().contains("802.11"));
}

/// The transfer of the first flow in these files.
fn first(files: &[Vec<u8>]) -> Transfer {
    read(files).transfer(parse_direction("10.0.0.0:10000-10.128.0.0:5001").unwrap()).unwrap()
}

#[test]
fn what_was_captured_twice_counts_once_wherever_it_was() {
    let (files, _) = captured(&valid());
    let [data, answers] = &files;
    let plain = first(&files);
    // Each file twice, as from two capture points: the second copies are set aside.
    let twice = first(&[data.clone(), answers.clone(), data.clone(), answers.clone()]);
    assert_eq!((&twice.losses, &twice.samples), (&plain.losses, &plain.samples));
    assert!(twice.set_aside > plain.packets);
}

#[test]
fn the_reader_survives_any_bytes() {
    let mut short = valid();
    edit(&mut short, |parts| parts.schedule.measure = interval(0.0, 3.0));
    edit(&mut short, |parts| parts.schedule.duration = dumbbell::at(3.0));
    let ([data, answers], _) = captured(&short);
    let both = [&data[..], &pcap(0xa1b2_c3d4, 1, &packet(6), true)];
    let cases = std::env::var("KNEE_FUZZ_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(400);
    let mut rng = Rng::stream(1, "capture", 0);
    let mut refused = 0;
    for case in 0..cases {
        let mut file = both[case % 2].to_vec();
        for _ in 0..rng.below(8) {
            let at = rng.below(file.len() as u64) as usize;
            file[at] ^= 1 << rng.below(8);
        }
        if rng.chance(0.5) {
            file.truncate(rng.below(file.len() as u64 + 1) as usize);
        }
        let mut capture = Capture::default();
        if let Err(fault) | Ok(Some(fault)) = capture.read(&file) {
            assert!(fault.offset <= file.len() && !fault.message.is_empty(), "{fault}");
            refused += 1;
        }
        // Earlier input must not disturb the rest.
        capture.read(&answers).unwrap();
        for (direction, _) in capture.senders() {
            let transfer = capture.transfer(direction).unwrap();
            assert_eq!(transfer.score(&predict::standard(), 1.0).len(), predict::standard().len());
        }
    }
    assert!(refused > cases / 10, "{refused}");
}

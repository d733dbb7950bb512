// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Files that would take long if the time grew faster than they do.

use super::super::copies::{Once, Point, Points};
use super::super::{Capture, Segment, Transfer};
use super::*;
use crate::units::Span;

/// Segments of one direction and of the other.
type Two = (Vec<Segment>, Vec<Segment>);

/// Packets that could take long to read, by their name and their number.
type Story = (&'static str, fn(u32) -> Two);

fn data(place: u32, seq: u32, payload: u32) -> Segment {
    let at = Span::from_millis(place.into()).after_start();
    Segment {
        at,
        number: place.into(),
        id: Some(place as u16),
        seq,
        payload,
        ack: Some(1),
        ..Segment::default()
    }
}

fn answer(place: u32, ack: u32, sack: &[(u32, u32)]) -> Segment {
    let mut answer = Segment { ack: Some(ack), window: Some(9), ..data(place, 1, 0) };
    answer.sack.iter_mut().zip(sack).for_each(|(to, from)| *to = *from);
    answer
}

/// One timestamp of all packets, which also have one identification: each could be a copy of a part of each.
fn one_timestamp(count: u32) -> Two {
    let stamped = |place| Segment { id: None, timestamps: Some((7, 7)), ..data(place, 2000 * place, 1000) };
    ((0..count).map(stamped).collect(), Vec::new())
}

/// The first packet is missing until all others have arrived, and every acknowledgement lists all of them.
fn one_hole(count: u32) -> Two {
    let answers = (1..count).map(|place| answer(place, 1000, &[(2000, 1000 * (place + 1))]));
    ((1..=count).map(|place| data(place, 1000 * place, 1000)).collect(), answers.collect())
}

/// One byte of each packet arrives.
fn many_blocks(count: u32) -> Two {
    let block = |place: u32| (1000 * place + 500, 1000 * place + 501);
    let answers = (1..count)
        .map(|place| answer(place, 1000, &[block(place), block(place / 2), (1400, 1000 * place + 7)]));
    ((1..=count).map(|place| data(place, 1000 * place, 1000)).collect(), answers.collect())
}

/// Probes of a closed window, each with another byte.
fn many_probes(count: u32) -> Two {
    let closed = Segment { window: Some(0), ..answer(1, 1000, &[]) };
    let probes = (2..count).map(|place| data(place, 1000 + 3 * (count - place), 1));
    ([data(0, 0, 1000)].into_iter().chain(probes).collect(), vec![closed])
}

/// All of these take a step and some for each packet.
const STORIES: [Story; 4] = [
    ("one timestamp", one_timestamp),
    ("one hole", one_hole),
    ("many blocks", many_blocks),
    ("many probes", many_probes),
];

fn steps(work: impl FnOnce()) -> u64 {
    STEPS.set(0);
    work();
    STEPS.get()
}

fn watch((data, answers): Two) {
    let point = Point { file: 1, interface: 0, place: 0 };
    let points = |segments| Points::from([(point, segments)]);
    assert!(Transfer::new(Once::of(&points(data), &points(answers))).packets > 0);
}

/// Twice the size takes twice the steps, plus a logarithmic term.
fn assert_linear(name: &str, work: impl Fn(u32)) {
    let [once, twice] = [2000, 4000].map(|size| steps(|| work(size)));
    assert!(once >= 1000 && twice <= 5 * once / 2, "{name}: {once} steps, and of twice as much {twice}");
}

#[test]
fn twice_the_packets_take_twice_the_steps_whatever_they_say() {
    for (name, story) in STORIES {
        assert_linear(name, |size| watch(story(size)));
    }
}

#[test]
fn so_do_places_of_capture() {
    assert_linear("places", |count| {
        let place = |place| {
            let point = Point { file: 1, interface: place, place: 0 };
            (point, vec![data(place, 2000 * place, 1000), data(place, 2000 * place, 1000)])
        };
        let points: Points = (0..count).map(place).collect();
        assert_eq!(Once::of(&points, &points).copies, 2 * u64::from(count));
    });
}

/// An Ethernet frame with a part of an IPv4 packet of TCP.
fn fragment(offset: u16, more: bool, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![0; 12];
    frame.extend([8, 0, 0x45, 0]);
    frame.extend((20 + payload.len() as u16).to_be_bytes());
    frame.extend([0, 7]);
    frame.extend(((offset / 8) | if more { 0x2000 } else { 0 }).to_be_bytes());
    frame.extend([64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    frame.extend(payload);
    frame
}

fn pcap(frames: impl Iterator<Item = (u32, Vec<u8>)>) -> Vec<u8> {
    let mut file = [0xa1b2_c3d4, 4 << 16 | 2, 0, 0, 65535, 1_u32].map(u32::to_le_bytes).concat();
    for (second, frame) in frames {
        let length = frame.len() as u32;
        file.extend([second, 0, length, length].map(u32::to_le_bytes).concat());
        file.extend(frame);
    }
    file
}

/// A header of TCP without options; data of one byte.
fn segment(port: u16, seq: u32, payload: &[u8]) -> Vec<u8> {
    let mut header = [port.to_be_bytes(), [0, 80]].concat();
    header.extend(seq.to_be_bytes());
    header.extend([0, 0, 0, 1, 0x50, 0x10, 1, 0, 0, 0, 0, 0]);
    header.extend(payload);
    header
}

#[test]
fn so_do_fragments_in_any_order() {
    assert_linear("fragments", |count| {
        let whole = segment(1, 1, &[0; 8]);
        let pieces = (0..count).rev().map(|place| {
            let payload = if place < 3 { whole[8 * place as usize..][..8].to_vec() } else { vec![0; 8] };
            (0, fragment(8 * place as u16, place + 1 < count, &payload))
        });
        let mut capture = Capture::default();
        capture.read(&pcap(pieces)).unwrap();
        assert_eq!((capture.fragmented().whole, capture.tcp()), (1, 1));
    });
}

#[test]
fn so_do_jumps_of_the_clock_through_many_connections() {
    assert_linear("jumps", |count| {
        // Each connection has a packet at the beginning and one at the end, and the clock jumps between.
        let flow = |flow: u32, seq| segment(flow as u16 + 1, seq, &[0]);
        let begin = (0..count).map(|one| (0, fragment(0, false, &flow(one, 1))));
        let jumps =
            (0..count).map(|place| (20 * place, fragment(0, false, &flow(u32::from(u16::MAX - 1), place))));
        let end = (0..count).map(|one| (20 * count, fragment(0, false, &flow(one, 2))));
        let mut capture = Capture::default();
        capture.read(&pcap(begin.chain(jumps).chain(end))).unwrap();
        assert_eq!(capture.tcp(), 3 * u64::from(count));
    });
}

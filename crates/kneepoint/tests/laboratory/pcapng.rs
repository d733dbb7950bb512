// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The bytes of a capture: blocks as in the draft of the format, headers as in RFC 791 and RFC 9293.

use kneepoint::capture::Writer;
use kneepoint::cc;
use kneepoint::link::loss;
use kneepoint::link::{LinkSpec, Network, NodeId};
use kneepoint::packet::{Flags, Packet};
use kneepoint::queue::Limit;
use kneepoint::run;
use kneepoint::spec::{Builder, Group, Member, Schedule, Valid};
use kneepoint::tcp::{Host, Options};
use kneepoint::trace::{Event, LinkId, Observer};
use kneepoint::units::{Bytes, Interval, Rate, Span, Time};

fn valid() -> Valid {
    of(Options::default())
}

/// Hosts with these options.
fn of(options: Options) -> Valid {
    let link = |name: &str, from: u32, to: u32, measured: bool| LinkSpec {
        name: name.into(),
        rate: Some(Rate::from_mbit(1)),
        delay: Span::from_millis(10),
        limit: Limit::Packets(10),
        loss: loss::Config::Uniform(loss::uniform::Params { p: if measured { 0.02 } else { 0.0 } }),
        measured,
        ..LinkSpec::new(NodeId(from), NodeId(to))
    };
    let parts = Builder {
        name: "line".into(),
        schedule: Schedule {
            duration: Time(2_000_000_000),
            measure: Interval { from: Time(0), to: Time(2_000_000_000) },
            sample: None,
        },
        network: Network {
            nodes: ["a", "b"].map(String::from).to_vec(),
            links: vec![link("a-b", 0, 1, true), link("b-a", 1, 0, true), link("b-a-2", 1, 0, false)],
        },
        joints: Vec::new(),
        groups: vec![Group {
            name: "forward".into(),
            cc: cc::Config::named("reno"),
            tcp: Some(Options { handshake: true, ..options }),
            source: Default::default(),
            pairs: vec![(NodeId(0), NodeId(1))],
            members: vec![Member::default()],
        }],
    };
    parts.build().expect("a valid spec")
}

fn captured(packets: &[(Time, Packet)]) -> Vec<u8> {
    captured_of(&valid(), packets)
}

fn captured_of(valid: &Valid, packets: &[(Time, Packet)]) -> Vec<u8> {
    let mut capture = Writer::new(Vec::new(), valid, "a-b").unwrap();
    for (at, packet) in packets {
        capture.on(*at, &Event::Service { link: LinkId(0), packet, waited: Span::ZERO });
        capture.on(*at, &Event::Service { link: LinkId(1), packet, waited: Span::ZERO });
    }
    capture.finish().unwrap()
}

/// Type and body of each block; its two lengths must agree.
fn blocks(file: &[u8]) -> Vec<(u32, &[u8])> {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let (mut at, mut blocks) = (0, Vec::new());
    while at < file.len() {
        let length = word(at + 4) as usize;
        assert_eq!(length % 4, 0);
        assert_eq!(word(at + length - 4) as usize, length);
        blocks.push((word(at), &file[at + 8..at + length - 4]));
        at += length;
    }
    blocks
}

fn data() -> Packet {
    let mut packet = Packet::data(0, 3, 1040, Flags::ECT.with(Flags::CE), Time(7_000_000));
    packet.id = 0xabcd;
    packet
}

#[test]
fn a_file_begins_with_a_section_and_an_interface_in_nanoseconds() {
    let file = captured(&[]);
    let blocks = blocks(&file);
    assert_eq!(blocks.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), [0x0a0d_0d0a, 1]);
    assert_eq!(file[8..16], [0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0]);
    // Raw IP, no limit, named a-b, 10^-9 s.
    let interface =
        [101, 0, 0, 0, 0, 0, 0, 0, 2, 0, 3, 0, b'a', b'-', b'b', 0, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(blocks[1].1, interface);
}

#[test]
fn a_data_packet_has_its_time_its_addresses_its_bytes_and_its_mark() {
    let at = Time(0x1_0000_0002);
    let file = captured(&[(at, data())]);
    let (kind, body) = blocks(&file)[2];
    assert_eq!(kind, 6);
    // Interface 0; high and low word of the time; 52 bytes of the 1052 that it would have with its options.
    assert_eq!(body[..20], [0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 52, 0, 0, 0, 0x1c, 4, 0, 0]);
    let ip = &body[20..40];
    assert_eq!(ip[..4], [0x45, 0b11, 0x04, 0x1c]);
    assert_eq!(ip[4..6], [0xab, 0xcd]);
    assert_eq!(ip[12..], [10, 0, 0, 0, 10, 128, 0, 0]);
    let tcp = &body[40..72];
    assert_eq!(tcp[..4], [0x27, 0x10, 0x13, 0x89]);
    // The fourth segment of a thousand bytes begins at 3001.
    assert_eq!(tcp[4..12], [0, 0, 0x0b, 0xb9, 0, 0, 0, 1]);
    assert_eq!(tcp[12..14], [0x80, 0x10]);
    assert_eq!(tcp[20..], [1, 1, 8, 10, 0, 0, 0, 7, 0, 0, 0, 0]);
}

#[test]
fn the_segment_size_of_a_syn_has_room_for_the_timestamps_of_data_packets() {
    let syn = Packet::data(0, 0, 40, Flags::SYN, Time(7_000_000));
    let file = captured(&[(Time(7_000_000), syn)]);
    // RFC 6691: 1000 bytes of payload and twelve of options.
    assert_eq!(blocks(&file)[2].1[60..64], [2, 4, 0x03, 0xf4]);
}

#[test]
fn what_a_sender_says_of_marks_is_in_the_last_two_bits_of_the_service_byte() {
    let scalable = Flags::ECT.with(Flags::SCALABLE);
    // RFC 3168 §5, RFC 9331 §4.1: Not-ECT, ECT(0), ECT(1), CE.
    let said =
        [(Flags::default(), 0b00), (Flags::ECT, 0b10), (scalable, 0b01), (scalable.with(Flags::CE), 0b11)];
    for (flags, bits) in said {
        let packet = Packet::data(0, 3, 1040, flags, Time::ZERO);
        let file = captured(&[(Time::ZERO, packet)]);
        assert_eq!(blocks(&file)[2].1[21], bits, "{flags:?}");
    }
}

#[test]
fn an_acknowledgement_goes_back_with_its_blocks_and_its_echo() {
    let ack = Packet::ack(0, 5, 40, Flags::ECE, Time(7_000_000), [(7, 9), (11, 12), (0, 0)]);
    let file = captured(&[(Time(9_000_000), ack)]);
    let body = blocks(&file)[2].1;
    assert_eq!(body[32..40], [10, 128, 0, 0, 10, 0, 0, 0]);
    let tcp = &body[40..40 + 20 + 12 + 20];
    assert_eq!(tcp[8..12], 5001u32.to_be_bytes());
    // ECE and ACK; thirteen words of header.
    assert_eq!(tcp[12..14], [0xd0, 0x50]);
    assert_eq!(tcp[20..32], [1, 1, 8, 10, 0, 0, 0, 9, 0, 0, 0, 7]);
    let edges: Vec<u8> = [7001u32, 9001, 11_001, 12_001].into_iter().flat_map(u32::to_be_bytes).collect();
    assert_eq!(tcp[32..36], [1, 1, 5, 18]);
    assert_eq!(tcp[36..], edges);
}

#[test]
fn a_limited_receiver_announces_its_window_and_others_the_largest_there_is() {
    let ack = |flags| Packet::ack(0, 5, 40, flags, Time(7_000_000), [(0, 0); 3]);
    let [opened, closed] = [45, 0].map(|packets| ack(Flags::ACK).with_receive_window(packets));
    let syn = ack(Flags::SYN).with_receive_window(45);
    let packets = [syn, ack(Flags::ACK), opened, closed].map(|packet| (Time(9_000_000), packet));
    let limited =
        Options { payload: Bytes(1448), receive_buffer: Bytes(32 << 20), ..Options::of(Host::Linux) };
    let linux = of(limited);
    let file = captured_of(&linux, &packets);
    let of_packet = |at: usize| blocks(&file)[2 + at].1;
    let window = |at: usize| u16::from_be_bytes(of_packet(at)[54..56].try_into().unwrap());
    // 45 · 1448 bytes: unscaled in a SYN, then in units of 1 KiB, in which 32 MiB fit into 16 bits.
    assert_eq!([0, 1, 2, 3].map(window), [65_160, u16::MAX, 64, 0]);
    // MSS, padding, window scale: kind 3, three bytes, 10.
    assert_eq!(of_packet(0)[60..68][4..], [1, 3, 3, 10]);
}

#[test]
fn a_probe_of_a_closed_window_has_the_last_number_acknowledged_and_no_data() {
    // The fourth segment was acknowledged last.
    let file = captured(&[(Time(7_000_000), Packet::data(0, 3, 40, Flags::PROBE, Time(7_000_000)))]);
    let body = blocks(&file)[2].1;
    assert_eq!(body[44..48], 4000u32.to_be_bytes());
    assert_eq!(u16::from_be_bytes([body[22], body[23]]), 20 + 32);
}

#[test]
fn a_link_that_is_not_measured_is_refused_with_a_list_of_those_that_are() {
    let refusal = Writer::new(Vec::new(), &valid(), "b-a-2").err().unwrap().to_string();
    assert_eq!(refusal, "no measured link is called `b-a-2`: expected one of a-b, b-a");
}

#[test]
fn a_full_disk_is_reported_at_the_end() {
    let mut room = [0; 160];
    let mut capture = Writer::new(&mut room[..], &valid(), "a-b").unwrap();
    for _ in 0..10 {
        capture.on(Time(0), &Event::Service { link: LinkId(0), packet: &data(), waited: Span::ZERO });
    }
    assert!(capture.finish().is_err());
}

#[test]
fn a_run_is_captured_packet_by_packet() {
    let valid = valid();
    let capture = Writer::new(Vec::new(), &valid, "a-b").unwrap();
    let (capture, outcome) = run::run(&valid, 1, capture);
    let file = capture.finish().unwrap();
    let packets = blocks(&file).len() as u64 - 2;
    // The last may start after the end of the run: a link reports a packet as soon as its departure is known.
    assert!(packets > 100 && packets.abs_diff(outcome.bottleneck_packets) <= 10, "{packets}");
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
#![allow(clippy::shadow_unrelated, reason = "a script has one name for the packet at hand")]

use kneepoint::packet::Body;
use kneepoint::rng::Rng;
use kneepoint::units::Bytes;

use super::*;
use crate::forge::{self, ACK, FIN, RST, SYN, Segment, tuple};

const ISN: u32 = 1_000;
const MSS: u32 = 1448;
const WAY: Span = Span::from_millis(10);

/// The events of flows, as text.
#[derive(Debug, Default)]
struct Log(Vec<String>);

impl Observer for Log {
    fn on(&mut self, at: Time, event: &Event) {
        let at = at.0 / 1_000_000;
        self.0.push(match event {
            Event::Started { flow, group } => format!("{at} {}/{group} starts", flow.0),
            Event::Sent { packet, group } => {
                let again = if packet.flags.has(Flags::RETRANSMITTED) { " again" } else { "" };
                let what = if packet.flags.has(Flags::SYN) { "syn".into() } else { packet.seq.to_string() };
                format!("{at} {}/{group} sends {what}{again}", packet.flow)
            }
            Event::Acked { flow, acked, rtt, window, .. } => {
                let rtt = rtt.map_or(String::new(), |rtt| format!(" rtt {}", rtt.0 / 1_000_000));
                format!("{at} {} acked {}{rtt} out {window:.1}", flow.0, acked.0)
            }
            Event::Repair { flow, timeout } => {
                format!("{at} {} {}", flow.0, if *timeout { "timeout" } else { "repairs" })
            }
            Event::Completed { flow, began, delivered, size, .. } => {
                let millis = |time: &Time| time.0 / 1_000_000;
                format!("{at} {} completes {} {}..{}", flow.0, size.0, millis(began), millis(delivered))
            }
            Event::Closed { flow } => format!("{at} {} closes", flow.0),
            _ => return,
        });
    }
}

/// Two hosts, ten milliseconds apart, whose frames are scripted.
struct Talk {
    tap: Tap,
    log: Log,
    forward: Tuple,
    /// Whether headers carry timestamps: the sender's clock in milliseconds.
    stamps: bool,
}

impl Talk {
    fn new(tap: Tap) -> Talk {
        let forward = tuple("10.77.0.1", "10.77.0.2", (40_000, 5001), 6);
        Talk { tap, log: Log::default(), forward, stamps: false }
    }

    /// A segment enters at `at` milliseconds and leaves one delay later, unless it is lost.
    fn say(&mut self, at: u64, forward: bool, lost: bool, segment: Segment) -> Packet {
        let flow = if forward { self.forward } else { self.forward.reversed() };
        let frame = forge::tcp(flow, &segment);
        let (headers, now) = (frame::read(&frame).unwrap(), Time(at * 1_000_000));
        let packet = self.tap.enter(&headers, frame.len() as u16, now, &mut self.log);
        if !lost {
            self.tap.leave(&headers, &packet, now + WAY, &mut self.log);
        }
        packet
    }

    fn data(&mut self, at: u64, segment: u32, lost: bool) -> Packet {
        let options = if self.stamps { forge::timestamps(at as u32, 0) } else { Vec::new() };
        let seq = ISN.wrapping_add(1).wrapping_add(segment.wrapping_mul(MSS));
        self.say(
            at,
            true,
            lost,
            Segment { seq, ack: 1, flags: ACK, options, payload: MSS as usize, class: 2, window: 0 },
        )
    }

    fn ack(&mut self, at: u64, segment: u32, blocks: &[(u32, u32)], echo: u32) -> Packet {
        let seq = |segment: u32| ISN.wrapping_add(1).wrapping_add(segment.wrapping_mul(MSS));
        let mut options = if self.stamps { forge::timestamps(at as u32, echo) } else { Vec::new() };
        if !blocks.is_empty() {
            let blocks: Vec<_> = blocks.iter().map(|(first, end)| (seq(*first), seq(*end))).collect();
            options.extend(forge::sack(&blocks));
        }
        self.say(
            at,
            false,
            false,
            Segment { seq: 1, ack: seq(segment), flags: ACK, options, ..Segment::default() },
        )
    }

    /// SYN, SYN-ACK, ACK from 0 to 20 ms.
    fn handshake(&mut self) -> [Packet; 3] {
        let options = || [forge::mss(1460), forge::timestamps(1, 1)].concat();
        let syn = Segment { seq: ISN, flags: SYN, options: options(), ..Segment::default() };
        let accepts =
            Segment { seq: 0, ack: ISN + 1, flags: SYN | ACK, options: options(), ..Segment::default() };
        let third = Segment { seq: ISN + 1, ack: 1, flags: ACK, ..Segment::default() };
        [self.say(0, true, false, syn), self.say(10, false, false, accepts), self.say(20, true, false, third)]
    }

    /// Reports since the last call.
    fn told(&mut self) -> Vec<String> {
        std::mem::take(&mut self.log.0)
    }
}

fn alone() -> Talk {
    Talk::new(Tap::one_group(1500))
}

#[test]
fn a_transfer_is_told_from_its_syn_to_the_acknowledgement_of_its_fin() {
    let mut talk = alone();
    let [syn, accepts, third] = talk.handshake();
    assert_eq!(
        (syn.flags, syn.flow, accepts.flags, accepts.flow),
        (Flags::SYN, 0, Flags::SYN.with(Flags::ACK), 0)
    );
    assert!(third.flags.has(Flags::ACK) && third.size == 40);
    let first = talk.data(20, 0, false);
    assert_eq!((first.seq, first.flow, first.flags, first.size), (0, 0, Flags::ECT, 1488));
    talk.data(21, 1, false);
    let last =
        Segment { seq: ISN + 1 + 2 * MSS, ack: 1, flags: ACK | FIN, payload: 100, ..Segment::default() };
    assert_eq!(talk.say(22, true, false, last).seq, 2);
    // The first acknowledgement is for two packets, the last for the third and the FIN.
    assert_eq!(talk.ack(31, 2, &[], 0).seq, 2);
    let fin = Segment { seq: 1, ack: ISN + 1 + 2 * MSS + 101, flags: ACK, ..Segment::default() };
    assert_eq!(talk.say(32, false, false, fin).seq, 3);
    assert_eq!(
        talk.told(),
        [
            "0 0/0 starts",
            "0 0/0 sends syn",
            "20 0 acked 0 rtt 20 out 0.0",
            "20 0/0 sends 0",
            "21 0/0 sends 1",
            "22 0/0 sends 2",
            "41 0 acked 2896 rtt 20 out 0.1",
            "42 0 acked 100 rtt 20 out 0.0",
            "42 0 completes 2996 0..32",
            "42 0 closes",
        ]
    );
    assert_eq!(talk.tap.superpackets(), 0);
}

#[test]
fn the_peers_payload_is_a_flow_of_its_own_and_its_acknowledgements_ride_on_data() {
    let mut talk = alone();
    talk.handshake();
    talk.told();
    // A request, and a response that acknowledges it.
    talk.data(20, 0, false);
    let response = Segment { seq: 1, ack: ISN + 1 + MSS, flags: ACK, payload: 1000, ..Segment::default() };
    let packet = talk.say(30, false, false, response);
    assert_eq!((packet.flow, packet.flags, packet.seq), (1, Flags::default(), 0));
    let answer = Segment { seq: ISN + 1 + MSS, ack: 1001, flags: ACK, ..Segment::default() };
    let packet = talk.say(40, true, false, answer);
    assert_eq!((packet.flow, packet.flags, packet.seq), (1, Flags::ACK, 1));
    let expected = [
        "20 0/0 sends 0",
        "30 1/0 starts",
        "30 1/0 sends 0",
        "40 0 acked 1448 rtt 20 out 0.0",
        "50 1 acked 1000 rtt 20 out 0.0",
    ];
    assert_eq!(talk.told(), expected);
    assert_eq!(talk.tap.tuples().map(|(flow, _)| flow.0).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn a_repair_begins_with_the_retransmission_after_blocks_and_its_round_trip_is_ambiguous() {
    let mut talk = alone();
    talk.handshake();
    talk.told();
    talk.data(20, 0, true);
    for segment in 1..5 {
        talk.data(20, segment, segment == 3);
    }
    // Blocks arrive one by one; only the new part of each is a measurement.
    talk.ack(30, 0, &[(1, 2)], 0);
    talk.ack(31, 0, &[(1, 3)], 0);
    let packet = talk.ack(32, 0, &[(4, 5), (1, 3)], 0);
    assert_eq!(packet.sack(), [(4, 5), (1, 3), (0, 0)]);
    assert!(talk.data(50, 0, false).flags.has(Flags::RETRANSMITTED));
    talk.data(50, 3, false);
    talk.ack(60, 3, &[(4, 5)], 0);
    talk.ack(61, 5, &[], 0);
    let expected = [
        "20 0/0 sends 0",
        "20 0/0 sends 1",
        "20 0/0 sends 2",
        "20 0/0 sends 3",
        "20 0/0 sends 4",
        "40 0 acked 0 rtt 20 out 4.0",
        "41 0 acked 0 rtt 21 out 3.0",
        "42 0 acked 0 rtt 22 out 2.0",
        "50 0/0 sends 0 again",
        "50 0 repairs",
        "50 0/0 sends 3 again",
        "70 0 acked 4344 out 1.0",
        "71 0 acked 2896 out 0.0",
    ];
    assert_eq!(talk.told(), expected);
}

#[test]
fn timestamps_tell_the_round_trip_of_a_segment_sent_twice() {
    for (echo, rtt) in [(50, " rtt 20"), (20, "")] {
        let mut talk = alone();
        talk.stamps = true;
        talk.handshake();
        talk.data(20, 0, true);
        talk.data(20, 1, false);
        let packet = talk.ack(30, 0, &[(1, 2)], 20);
        assert_eq!(
            packet.sent,
            Time(20_000_000),
            "an acknowledgement carries the time of the packet that caused it"
        );
        talk.data(50, 0, false);
        talk.told();
        talk.ack(60, 2, &[], echo);
        assert_eq!(talk.told(), [format!("70 0 acked 2896{rtt} out 0.0")]);
    }
}

#[test]
fn silence_before_a_retransmission_is_a_timeout_and_a_probe_of_the_tail_is_none() {
    let mut talk = alone();
    talk.handshake();
    talk.data(20, 0, true);
    talk.data(20, 1, true);
    talk.told();
    talk.data(70, 1, true);
    talk.data(310, 0, true);
    talk.data(710, 0, false);
    let expected = [
        "70 0/0 sends 1 again",
        "310 0/0 sends 0 again",
        "310 0 timeout",
        "710 0/0 sends 0 again",
        "710 0 timeout",
    ];
    assert_eq!(talk.told(), expected);
}

#[test]
fn a_syn_sent_again_is_a_timeout_and_measures_nothing() {
    let mut talk = alone();
    let syn = || Segment { seq: ISN, flags: SYN, options: forge::mss(1460), ..Segment::default() };
    talk.say(0, true, true, syn());
    talk.say(1000, true, false, syn());
    let accepts = Segment { seq: 0, ack: ISN + 1, flags: SYN | ACK, ..Segment::default() };
    talk.say(1010, false, false, accepts);
    let expected = [
        "0 0/0 starts",
        "0 0/0 sends syn",
        "1000 0/0 sends syn again",
        "1000 0 timeout",
        "1020 0 acked 0 out 0.0",
    ];
    assert_eq!(talk.told(), expected);
}

#[test]
fn sequence_numbers_wrap() {
    let mut talk = alone();
    talk.handshake();
    talk.told();
    let headers = |flow: Tuple, segment: &Segment| frame::read(&forge::tcp(flow, segment)).unwrap();
    let mut data = headers(talk.forward, &Segment { flags: ACK, payload: 60_000, ..Segment::default() });
    let mut ack = headers(talk.forward.reversed(), &Segment { flags: ACK, ..Segment::default() });
    let (mut seq, mut total) = (ISN + 1, 0u64);
    while total < 2 * (1 << 32) {
        data.tcp.as_mut().unwrap().seq = seq;
        total += u64::from(data.payload);
        seq = seq.wrapping_add(data.payload);
        ack.tcp.as_mut().unwrap().ack = Some(seq);
        let now = Time(total);
        for headers in [&data, &ack] {
            let packet = talk.tap.enter(headers, 1500, now, &mut ());
            assert!(!packet.flags.has(Flags::RETRANSMITTED));
            talk.tap.leave(headers, &packet, now + WAY, &mut talk.log);
        }
        assert_eq!(talk.told(), [format!("{} 0 acked 60000 rtt 10 out 0.0", (now + WAY).0 / 1_000_000)]);
    }
}

#[test]
fn a_reset_closes_both_directions_and_completes_nothing() {
    let mut talk = alone();
    talk.handshake();
    talk.data(20, 0, false);
    let response = Segment { seq: 1, ack: ISN + 1, flags: ACK, payload: 10, ..Segment::default() };
    talk.say(21, false, false, response);
    talk.told();
    talk.say(
        40,
        true,
        false,
        Segment { seq: ISN + 1 + MSS, ack: 11, flags: RST | ACK, ..Segment::default() },
    );
    assert_eq!(talk.told(), ["40 0 closes", "50 1 acked 10 rtt 29 out 0.0", "50 1 closes"]);
    talk.say(60, false, false, Segment { seq: 11, flags: RST, ..Segment::default() });
    assert_eq!(talk.told(), [""; 0]);
}

#[test]
fn a_connection_that_reuses_the_ports_is_another_flow_but_a_listed_one_stays() {
    for listed in [None, Some(0)] {
        let role = move |flow: &Tuple| {
            (flow.ports.1 == 5001).then_some(Role { group: 3, listed, ..Role::default() })
        };
        let mut talk = Talk::new(Tap::new(1500, 4, Box::new(role)));
        talk.handshake();
        let reset = Segment { seq: ISN + 1, flags: RST, ..Segment::default() };
        talk.say(30, true, false, reset);
        talk.told();
        let syn = Segment { seq: 77, flags: SYN, ..Segment::default() };
        let again = talk.say(50, true, false, syn);
        let number = listed.unwrap_or(5);
        assert_eq!((again.flow, again.epoch), (number, 1));
        assert_eq!(talk.told(), [format!("50 {number}/3 starts"), format!("50 {number}/3 sends syn")]);
        // The peer's payload belongs to no flow: it has a number, and no events.
        let response = Segment { seq: 1, ack: 78, flags: ACK, payload: 10, ..Segment::default() };
        let packet = talk.say(60, false, false, response);
        assert!(packet.flow >= 4 && !packet.flags.has(Flags::ACK));
        assert_eq!(talk.told(), [""; 0]);
    }
}

#[test]
fn a_connection_that_was_open_before_is_followed_from_its_first_payload() {
    let mut talk = alone();
    talk.ack(5, 0, &[], 0);
    let packet = talk.data(20, 7, false);
    assert_eq!(packet.seq, 0);
    talk.ack(30, 8, &[], 0);
    assert_eq!(talk.told(), ["20 1/0 starts", "20 1/0 sends 0", "40 1 acked 1448 rtt 20 out 0.0"]);
    assert_eq!(talk.tap.window(FlowId(1)), 0.0);
    assert!(talk.tap.window(FlowId(9)).is_nan());
}

#[test]
fn hints_rates_and_marks_are_in_the_packet() {
    let mut talk = alone();
    talk.handshake();
    let options = forge::rate(5000, 0);
    let segment =
        Segment { seq: ISN + 1, ack: 1, flags: ACK, options, payload: 9000, window: 0, class: 9 << 2 | 1 };
    let packet = talk.say(20, true, false, segment);
    let Body::Data { hint, explicit } = packet.body() else { panic!("data") };
    assert_eq!(hint.window, 4.0);
    assert_eq!(explicit, Some(Explicit::Rate(kneepoint::units::Rate::from_mbit(5))));
    assert!(packet.flags.has(Flags::ECT.with(Flags::SCALABLE)));
    assert_eq!(talk.tap.superpackets(), 1);
}

#[test]
fn datagrams_are_flows_without_acknowledgements() {
    let mut tap = Tap::one_group(1500);
    let mut log = Log::default();
    for protocol in [17, 1] {
        let flow = tuple("10.77.0.1", "10.77.0.2", if protocol == 17 { (9, 10) } else { (0, 0) }, protocol);
        let frame = forge::ip(flow, 0, &[0, 9, 0, 10, 0, 12, 0, 0, 1, 2, 3, 4]);
        let headers = frame::read(&frame).unwrap();
        let packets = [0, 1].map(|at| tap.enter(&headers, 32, Time(at), &mut log));
        assert!(packets.iter().all(|packet| packet.flags == Flags::DATAGRAM));
        packets.iter().for_each(|packet| tap.leave(&headers, packet, Time(9), &mut log));
    }
    assert_eq!(log.0, ["0 0/0 starts", "0 1/0 starts"]);
}

/// Any frames in any order: nothing panics, and only sent data is acknowledged.
#[test]
fn garbage_is_survived() {
    #[derive(Default)]
    struct Sum(u64, u64);
    impl Observer for Sum {
        fn on(&mut self, _: Time, event: &Event) {
            match event {
                Event::Acked { acked: Bytes(acked), window, .. } => {
                    self.0 += acked;
                    assert!(*window >= 0.0);
                }
                Event::Sent { packet, .. } => self.1 += u64::from(packet.size),
                Event::Completed { began, delivered, .. } => assert!(began <= delivered),
                _ => {}
            }
        }
    }
    let mut rng = Rng::stream(5, "garbage", 0);
    let (mut tap, mut sum) = (Tap::one_group(1500), Sum::default());
    for at in 0..300_000u64 {
        let ports = (1 + rng.below(3) as u16, 5001);
        let flow = tuple("10.77.0.1", "10.77.0.2", ports, 6);
        let flow = if rng.below(2) == 0 { flow } else { flow.reversed() };
        let near = |rng: &mut Rng| ISN.wrapping_sub(2000).wrapping_add(rng.below(6000) as u32);
        let mut segment = Segment { seq: near(&mut rng), ack: near(&mut rng), ..Segment::default() };
        segment.flags = if rng.below(50) == 0 { rng.below(64) as u8 } else { ACK };
        segment.payload = [0, 100, 1448][rng.below(3) as usize];
        if rng.below(3) == 0 {
            segment.options =
                forge::sack(&[(near(&mut rng), near(&mut rng)), (near(&mut rng), near(&mut rng))]);
        } else {
            segment.options = forge::timestamps(rng.below(9) as u32, rng.below(9) as u32);
        }
        let frame = forge::tcp(flow, &segment);
        let headers = frame::read(&frame).unwrap();
        let packet = tap.enter(&headers, frame.len() as u16, Time(at), &mut sum);
        if rng.below(4) > 0 {
            tap.leave(&headers, &packet, Time(at + 1), &mut sum);
        }
    }
    assert!(sum.0 > 0 && sum.0 <= sum.1, "{} of {}", sum.0, sum.1);
}

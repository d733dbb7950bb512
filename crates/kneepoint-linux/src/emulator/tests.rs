// SPDX-License-Identifier: Apache-2.0 OR MIT

use kneepoint::scenario::parse;

use super::*;
use crate::forge::{self, ACK, SYN, Segment, rate, tuple};
use crate::tun;

/// A network of 10 Mbit/s with this feedback and two transfers, scripted.
struct Link(Emulator<()>);

impl Link {
    fn new(feedback: &str) -> Link {
        Link::with(&format!("[feedback]\n{feedback}"))
    }

    /// The same with these sections.
    fn with(sections: &str) -> Link {
        let text = format!(
            "[run]\nduration = '5s'\n[topology]\nkind = 'dumbbell'\nrate = '10mbit'\nrtt = '20ms'\nbuffer = '1bdp'\n\
             {sections}\n[[flows]]\ncount = 2\ncc = 'ratcp'\nstart = '0s'\n"
        );
        let valid = parse(&text).unwrap().cases.remove(0).valid;
        let way = valid.groups()[0].pairs[0];
        Link(Emulator::new(&valid, 1, &[way], Tap::one_group(tun::MTU as u16), ()))
    }

    /// The frame of the near host's segment from this port, as delivered to the far host.
    fn carry(&mut self, port: u16, segment: &Segment, millis: u64) -> Vec<u8> {
        let (flow, mut handed) = self.hand(port, segment, millis);
        let frame = handed.pop().unwrap_or_default();
        assert!(forge::is_sound(flow, &frame), "checksums");
        frame
    }

    /// All frames that the far host receives for a segment of the near one.
    fn hand(&mut self, port: u16, segment: &Segment, millis: u64) -> (Tuple, Vec<Vec<u8>>) {
        let flow = tuple("10.77.0.1", "10.77.0.2", (port, 5001), 6);
        let (frame, now) = (forge::tcp(flow, segment), Time::ZERO + Span::from_millis(millis));
        self.0.advance(now, |_, _, _| ());
        self.0.room()[..frame.len()].copy_from_slice(&frame);
        self.0.enter(Side::Near, frame.len(), now);
        let mut handed = Vec::new();
        self.0.advance(now + Span::from_millis(40), |_, bytes, _| handed.push(bytes.to_vec()));
        (flow, handed)
    }

    fn open(&mut self, port: u16, millis: u64) {
        self.carry(port, &Segment { seq: 9, flags: SYN, ..Segment::default() }, millis);
    }

    /// The rate with which a packet of data arrives that requests `field`, in kbit/s.
    fn told(&mut self, port: u16, field: u32, millis: u64) -> u32 {
        let options = rate(field, 0);
        let data = Segment { seq: 10, flags: ACK, options, payload: 100, ..Segment::default() };
        let frame = self.carry(port, &data, millis);
        let option = frame::read(&frame).unwrap().tcp.unwrap().options.rate.unwrap();
        assert_eq!(option.echo, 0, "kept");
        option.rate
    }
}

const ANY: u32 = u32::MAX;

#[test]
fn a_link_that_counts_flows_lowers_what_packets_request() {
    let mut link = Link::new("kind = 'erica'\nutilization = 0.9");
    assert_eq!([link.told(1, ANY, 50), link.told(1, 4_000, 60)], [9_000, 4_000], "the least");
    link.told(2, ANY, 70);
    assert_eq!(link.told(1, ANY, 150), 4_500, "two were active in the last interval");
}

#[test]
fn an_oracle_tells_each_flow_its_share_while_it_is_open() {
    let mut link = Link::new("kind = 'oracle'");
    link.open(1, 0);
    assert_eq!(link.told(1, ANY, 50), 10_000);
    link.open(2, 100);
    assert_eq!([link.told(1, ANY, 150), link.told(2, ANY, 200)], [5_000, 5_000]);
    let reset = Segment { seq: 10, flags: forge::RST | ACK, ..Segment::default() };
    link.carry(2, &reset, 300);
    assert_eq!([link.told(1, ANY, 350), link.told(1, 4_000, 400)], [10_000, 4_000]);
}

#[test]
fn a_link_without_feedback_changes_no_rate() {
    let mut link = Link::new("kind = 'none'");
    assert_eq!([link.told(1, ANY, 0), link.told(1, 7, 50)], [ANY, 7]);
}

#[test]
fn a_link_hands_over_two_copies_or_a_frame_whose_checksum_is_wrong() {
    let data = Segment { seq: 10, flags: ACK, payload: 100, ..Segment::default() };
    let (flow, twice) = Link::with("[duplication]\np = 1.0").hand(1, &data, 0);
    assert!(twice.len() == 2 && twice.iter().all(|frame| forge::is_sound(flow, frame)));
    let sections = "[duplication]\np = 1.0\n[corruption]\np = 1.0";
    let (_, corrupt) = Link::with(sections).hand(1, &data, 0);
    assert!(corrupt.len() == 2 && corrupt.iter().all(|frame| !forge::is_sound(flow, frame)));
}

#[test]
fn a_policer_drops_frames_beyond_its_burst() {
    let mut link = Link::with("[policer]\nrate = '1kbit'\nburst = '1100b'");
    let data = Segment { seq: 10, flags: ACK, payload: 460, ..Segment::default() };
    let passed: Vec<usize> = (0..6).map(|place| link.hand(1, &data, 50 * place).1.len()).collect();
    let first = passed.iter().take_while(|frames| **frames == 1).count();
    // Two frames of 500 bytes; a quarter of a second gains 31.
    assert!(first == 2 && passed[first..].iter().all(|frames| *frames == 0), "{passed:?}");
}

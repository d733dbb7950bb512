// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Synthesises the IP and transport headers of a simulated packet.
//!
//! Flow f runs from 10.0.0.0 + f to 10.128.0.0 + f, port 5001; a slot that serves several transfers in turn uses a new
//! source port for each. Sequence numbers count bytes from 1, after a SYN at 0; timestamps count milliseconds. A receiver whose
//! buffer is limited announces its window as Linux does, by the scale that its largest buffer needs and rounded up to it; others
//! announce the largest window there is. A probe of a closed window repeats the last number acknowledged, without data.
//! Lengths cover the headers as written plus the payload. With TCP options they exceed the simulated packet sizes,
//! which assume headers of constant size.

use etherparse::{IpEcn, IpNumber, Ipv4Header, TcpHeader, TcpOptionElement, UdpHeader};

use crate::packet::{Body, Flags, Packet};
use crate::spec::{Roster, Valid};
use crate::tcp::Options;
use crate::trace::FlowId;
use crate::units::Time;

const PORT: u16 = 5001;
/// First source port of successive transfers.
const FIRST_PORT: u16 = 10_000;
/// Bytes of the timestamp option with its padding, which the MSS counts as payload (RFC 6691).
const TIMESTAMPS: u64 = 12;
/// Maximum payload of an IPv4 packet, in bytes.
const LARGEST: u32 = 65_535 - 20;

/// The largest scale of a window (RFC 7323 §2.3).
const LARGEST_SCALE: u8 = 14;

/// Headers and the total length that they announce.
pub(super) struct Headers {
    pub(super) bytes: Vec<u8>,
    pub(super) length: u32,
}

/// TCP options of each flow.
pub(super) struct Dialects {
    roster: Roster,
    groups: Vec<Option<Options>>,
    /// The group of each slot opened during the run.
    opened: Vec<u32>,
}

impl Dialects {
    pub(super) fn of(valid: &Valid) -> Dialects {
        Dialects {
            roster: Roster::new(valid),
            groups: valid.groups().iter().map(|group| group.tcp.clone()).collect(),
            opened: Vec::new(),
        }
    }

    /// Notes the group of a slot that was opened during the run.
    pub(super) fn open(&mut self, flow: FlowId, group: u32) {
        if let Some(opened) = (flow.0 as usize).checked_sub(self.roster.fixed().len()) {
            self.opened.resize(self.opened.len().max(opened + 1), group);
            self.opened[opened] = group;
        }
    }

    fn of_flow(&self, flow: u32) -> Option<&Options> {
        let group = match self.roster.slot(FlowId(flow)) {
            Some(slot) => slot.group,
            None => *self.opened.get((flow as usize).checked_sub(self.roster.fixed().len())?)? as usize,
        };
        self.groups.get(group)?.as_ref()
    }

    pub(super) fn headers(&self, packet: &Packet, at: Time) -> Headers {
        if packet.flags.has(Flags::DATAGRAM) {
            return datagram(packet);
        }
        match self.of_flow(packet.flow) {
            Some(options) => segment(packet, at, options),
            None => segment(packet, at, &Options::default()),
        }
    }
}

/// 10.x.y.z
fn address(flow: u32, receiver: bool) -> [u8; 4] {
    let [_, high, middle, low] = flow.to_be_bytes();
    [10, (high & 0x7f) | if receiver { 0x80 } else { 0 }, middle, low]
}

fn segment(packet: &Packet, at: Time, options: &Options) -> Headers {
    let acknowledges = packet.flags.has(Flags::ACK);
    let opens = packet.flags.has(Flags::SYN);
    let offset = |segments: u32| segments.wrapping_mul(options.payload.0 as u32).wrapping_add(1);
    let payload =
        if acknowledges { 0 } else { u32::from(packet.size).saturating_sub(options.header.0 as u32) };
    let own = FIRST_PORT + packet.epoch % (u16::MAX - FIRST_PORT);
    let (source, destination) = if acknowledges { (PORT, own) } else { (own, PORT) };
    let sequence = match (opens, acknowledges) {
        (true, _) => 0,
        (false, true) => 1,
        (false, false) if packet.flags.has(Flags::PROBE) => offset(packet.seq + 1) - 1,
        (false, false) => offset(packet.seq),
    };
    let mut tcp = TcpHeader::new(source, destination, sequence, window(packet, options));
    tcp.syn = opens;
    tcp.ack = acknowledges || !opens;
    tcp.acknowledgment_number = match (acknowledges, opens) {
        (true, true) => 1,
        (true, false) => offset(packet.seq),
        (false, opens) => u32::from(!opens),
    };
    tcp.ece = packet.flags.has(Flags::ECE);
    tcp.cwr = packet.flags.has(Flags::CWR);
    // The bit was the nonce sum's before it was AE.
    tcp.ns = packet.flags.has(Flags::AE);
    // Cannot fail: three SACK blocks and timestamps fill the 40 option bytes exactly.
    let _ = tcp.set_options(&tcp_options(packet, at, options, offset));
    let payload = payload.min(LARGEST - u32::from(tcp.header_len_u16()));
    let ip = network_header(packet, IpNumber::TCP, u32::from(tcp.header_len_u16()) + payload);
    let nothing = [0; LARGEST as usize];
    tcp.checksum = tcp.calc_checksum_ipv4(&ip, &nothing[..payload as usize]).unwrap_or(0);
    let mut bytes = ip.to_bytes().to_vec();
    bytes.extend_from_slice(&tcp.to_bytes());
    Headers { bytes, length: u32::from(ip.total_len) }
}

/// The power of two by which windows are scaled: the least for the largest buffer, or the largest.
fn scale(options: &Options) -> u8 {
    let fits = |scale: &u8| u64::from(u16::MAX) << scale >= options.receive_buffer.0;
    match options.receive_buffer.0 {
        0 => LARGEST_SCALE,
        _ => (0..LARGEST_SCALE).find(fits).unwrap_or(LARGEST_SCALE),
    }
}

/// The window that a packet announces; a SYN's is not scaled.
fn window(packet: &Packet, options: &Options) -> u16 {
    let Some(packets) = packet.receive_window() else { return u16::MAX };
    let scale = if packet.flags.has(Flags::SYN) { 0 } else { scale(options) };
    let bytes = u64::from(packets).saturating_mul(options.payload.0);
    u16::try_from(bytes.div_ceil(1 << scale)).unwrap_or(u16::MAX)
}

fn tcp_options(
    packet: &Packet,
    at: Time,
    options: &Options,
    offset: impl Fn(u32) -> u32,
) -> Vec<TcpOptionElement> {
    use TcpOptionElement::{MaximumSegmentSize, Noop, SelectiveAcknowledgement, Timestamp};
    use TcpOptionElement::{SelectiveAcknowledgementPermitted, WindowScale};
    let mut elements = Vec::new();
    if packet.flags.has(Flags::SYN) {
        let option = if options.timestamps { TIMESTAMPS } else { 0 };
        let mss = u16::try_from(options.payload.0 + option).unwrap_or(u16::MAX);
        elements.extend([MaximumSegmentSize(mss), Noop, WindowScale(scale(options))]);
        elements.extend([Noop, Noop, SelectiveAcknowledgementPermitted]);
    }
    if options.timestamps {
        let millis = |time: Time| (time.0 / 1_000_000) as u32;
        let acknowledges = packet.flags.has(Flags::ACK);
        let (value, echo) = if acknowledges { (at, packet.sent) } else { (packet.sent, Time::ZERO) };
        elements.extend([Noop, Noop, Timestamp(millis(value), millis(echo))]);
    }
    let Body::Ack { blocks, .. } = packet.body() else { return elements };
    let mut blocks = blocks.into_iter().filter(|(first, end)| first < end);
    let mut block = || blocks.next().map(|(first, end)| (offset(first), offset(end)));
    if let Some(first) = block() {
        elements.extend([Noop, Noop, SelectiveAcknowledgement(first, [block(), block(), None])]);
    }
    elements
}

fn datagram(packet: &Packet) -> Headers {
    let payload = u32::from(packet.size).saturating_sub(28).min(LARGEST - 8);
    let ip = network_header(packet, IpNumber::UDP, payload + 8);
    // A zero checksum means none (RFC 768).
    let udp = UdpHeader {
        source_port: FIRST_PORT,
        destination_port: PORT,
        length: payload as u16 + 8,
        checksum: 0,
    };
    let mut bytes = ip.to_bytes().to_vec();
    bytes.extend_from_slice(&udp.to_bytes());
    Headers { bytes, length: u32::from(ip.total_len) }
}

fn network_header(packet: &Packet, protocol: IpNumber, length: u32) -> Ipv4Header {
    let answers = packet.flags.has(Flags::ACK);
    let (source, destination) = (address(packet.flow, answers), address(packet.flow, !answers));
    // `length` is at most LARGEST.
    let mut ip = Ipv4Header::new(length as u16, 64, protocol, source, destination).unwrap_or_default();
    ip.identification = packet.id as u16;
    let says = |flags| packet.flags.has(flags);
    ip.ecn = match () {
        _ if says(Flags::CE) => IpEcn::CongestionExperienced,
        _ if says(Flags::ECT.with(Flags::SCALABLE)) => IpEcn::Ect1,
        _ if says(Flags::ECT) => IpEcn::Ect0,
        _ => IpEcn::NotEct,
    };
    ip.header_checksum = ip.calc_header_checksum();
    ip
}

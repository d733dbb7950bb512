// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A transfer made by hand, packet by packet, and captures of it in many forms. Its losses are known.

/// A TCP segment as the capture point saw it.
#[derive(Clone, Debug)]
pub struct Shot {
    pub micros: u64,
    /// Whether it is from the sender of the data.
    pub forward: bool,
    pub seq: u32,
    pub ack: u32,
    pub syn: bool,
    pub payload: usize,
    pub window: u16,
    pub stamps: Option<(u32, u32)>,
    /// Whether it is a retransmission.
    pub again: bool,
}

/// Packets in order, and the expected reading.
#[derive(Clone, Debug)]
pub struct Story {
    pub shots: Vec<Shot>,
    pub packets: u64,
    pub losses: usize,
}

/// Payload of a packet, in bytes.
pub const PAYLOAD: usize = 1448;
/// The time at which the window may close: all sent data is acknowledged.
pub const PAUSE: u64 = 1_260_000;
const ROUND: u64 = 60_000;
const RTT: u64 = 49_700;

/// Rounds of ten packets. Every seventh packet is lost, but for the rounds before [`PAUSE`] and the last ones; each loss is repaired in
/// the next round.
pub fn transfer() -> Story {
    let stamp = |micros: u64| (micros / 1000) as u32 + 12_345;
    let answered = |micros: u64| (micros / 1000) as u32 + 987_654;
    let shot = |micros, forward| Shot {
        micros,
        forward,
        seq: if forward { 1001 } else { 5001 },
        ack: if forward { 5001 } else { 1001 },
        syn: false,
        payload: 0,
        window: 1000,
        stamps: Some(if forward {
            (stamp(micros), answered(micros))
        } else {
            (answered(micros - RTT / 2), 0)
        }),
        again: false,
    };
    let mut shots = vec![
        Shot { seq: 1000, ack: 0, syn: true, ..shot(0, true) },
        Shot { seq: 5000, syn: true, stamps: Some((answered(RTT / 2), stamp(0))), ..shot(RTT, false) },
        shot(RTT + 10, true),
    ];
    let (mut count, mut losses, mut next, mut edge) = (0_u64, 0, 0_u32, 0_u32);
    let (mut repair, mut arrived, mut recent): (Vec<u32>, Vec<u32>, u32) = (Vec::new(), Vec::new(), 0);
    for round in 1..40 {
        let mut sending = std::mem::take(&mut repair);
        sending.truncate(10);
        let again = sending.len();
        while sending.len() < 10 {
            sending.push(next);
            next += 1;
        }
        for (place, packet) in sending.into_iter().enumerate() {
            let at = round * ROUND + place as u64 * 1000;
            let seq = 1001 + packet * PAYLOAD as u32;
            let sent = Shot { seq, payload: PAYLOAD, again: place < again, ..shot(at, true) };
            shots.push(sent);
            count += 1;
            let calm = round > 35 || (18..21).contains(&round);
            if count % 7 == 3 && !calm {
                losses += 1;
                repair.push(packet);
                continue;
            }
            arrived.push(packet);
            let before = edge;
            while arrived.contains(&edge) {
                edge += 1;
            }
            recent = if edge > before || recent == 0 { stamp(at) } else { recent };
            let ack = 1001 + edge * PAYLOAD as u32;
            let stamps = Some((answered(at + RTT / 2), recent));
            shots.push(Shot { ack, stamps, ..shot(at + RTT, false) });
        }
    }
    shots.sort_by_key(|one| one.micros);
    Story { shots, packets: count, losses }
}

impl Story {
    /// The same with everything from `at` on later by `by`, and with these packets in the gap.
    pub fn paused(&self, at: u64, by: u64, inside: Vec<Shot>) -> Story {
        let mut shots = self.shots.clone();
        shots.iter_mut().filter(|shot| shot.micros >= at).for_each(|shot| shot.micros += by);
        shots.extend(inside);
        shots.sort_by_key(|shot| shot.micros);
        Story { shots, ..self.clone() }
    }

    /// The same with other packets instead of each.
    pub fn with(&self, each: impl FnMut(&Shot) -> Vec<Shot>) -> Story {
        Story { shots: self.shots.iter().flat_map(each).collect(), ..self.clone() }
    }

    /// The last packet of the receiver before a time.
    pub fn answer_before(&self, micros: u64) -> Shot {
        let mut answers = self.shots.iter().filter(|shot| !shot.forward && shot.micros < micros);
        answers.next_back().unwrap().clone()
    }
}

impl Shot {
    /// Header and payload of TCP.
    pub fn tcp(&self) -> Vec<u8> {
        let mut options = if self.syn { vec![2, 4, 0x05, 0xb4, 1, 3, 3, 7] } else { Vec::new() };
        if let Some((value, echo)) = self.stamps {
            options.extend([1, 1, 8, 10]);
            options.extend(value.to_be_bytes().into_iter().chain(echo.to_be_bytes()));
        }
        let ports: [u16; 2] = if self.forward { [45_000, 80] } else { [80, 45_000] };
        let mut bytes: Vec<u8> = ports.into_iter().flat_map(u16::to_be_bytes).collect();
        bytes.extend(self.seq.to_be_bytes().into_iter().chain(self.ack.to_be_bytes()));
        let flags = if self.syn { 2 } else { 0 } | if self.ack > 0 { 0x10 } else { 0 };
        bytes.extend([((20 + options.len()) as u8 / 4) << 4, flags]);
        bytes.extend(self.window.to_be_bytes().into_iter().chain([0; 4]));
        bytes.extend(options);
        bytes.resize(bytes.len() + self.payload, 0);
        bytes
    }

    /// The last bytes of the addresses, its own first.
    pub fn hosts(&self) -> [u8; 2] {
        if self.forward { [1, 2] } else { [2, 1] }
    }
}

/// An IPv4 packet.
pub fn ipv4(protocol: u8, hosts: [u8; 2], id: u16, payload: &[u8]) -> Vec<u8> {
    let [high, low] = ((20 + payload.len()) as u16).to_be_bytes();
    let [first, second] = id.to_be_bytes();
    let head = [0x45, 0, high, low, first, second, 0, 0, 64, protocol, 0, 0];
    let addresses = [10, 0, 0, hosts[0], 10, 0, 0, hosts[1]];
    [&head[..], &addresses, payload].concat()
}

/// An IPv6 packet.
pub fn ipv6(next: u8, hosts: [u8; 2], payload: &[u8]) -> Vec<u8> {
    let [high, low] = (payload.len() as u16).to_be_bytes();
    let mut bytes = vec![0x60, 0, 0, 0, high, low, next, 64];
    for host in hosts {
        bytes.extend([0x20, 1, 0x0d, 0xb8]);
        bytes.extend([0; 11]);
        bytes.push(host);
    }
    [&bytes, payload].concat()
}

/// The segment over IPv4.
pub fn over_ipv4(shot: &Shot, id: u16) -> Vec<u8> {
    ipv4(6, shot.hosts(), id, &shot.tcp())
}

/// The segment over IPv6.
pub fn over_ipv6(shot: &Shot, _: u16) -> Vec<u8> {
    ipv6(6, shot.hosts(), &shot.tcp())
}

/// A UDP datagram.
pub fn udp(port: u16, payload: &[u8]) -> Vec<u8> {
    let [high, low] = port.to_be_bytes();
    let [long, short] = ((8 + payload.len()) as u16).to_be_bytes();
    [&[0xc0, 1, high, low, long, short, 0, 0], payload].concat()
}

/// An Ethernet frame.
pub fn ethernet(kind: u16, payload: &[u8]) -> Vec<u8> {
    [&[2; 12][..], &kind.to_be_bytes(), payload].concat()
}

/// The fragments of an IPv4 packet, of at most `size` bytes each, a multiple of eight.
pub fn fragments_v4(packet: &[u8], size: usize) -> Vec<Vec<u8>> {
    let (head, payload) = packet.split_at(20);
    let parts = payload.chunks(size).enumerate();
    let fragment = |(place, part): (usize, &[u8])| {
        let mut head = head.to_vec();
        let more = if (place + 1) * size < payload.len() { 0x2000 } else { 0 };
        head[2..4].copy_from_slice(&((20 + part.len()) as u16).to_be_bytes());
        head[6..8].copy_from_slice(&((place * size / 8) as u16 | more).to_be_bytes());
        [&head, part].concat()
    };
    parts.map(fragment).collect()
}

/// The same for IPv6.
pub fn fragments_v6(packet: &[u8], id: u32, size: usize) -> Vec<Vec<u8>> {
    let (head, payload) = packet.split_at(40);
    let fragment = |(place, part): (usize, &[u8])| {
        let mut head = head.to_vec();
        head[4..6].copy_from_slice(&((8 + part.len()) as u16).to_be_bytes());
        head[6] = 44;
        let more = u16::from((place + 1) * size < payload.len());
        let [high, low] = ((place * size) as u16 | more).to_be_bytes();
        [&head, &[6, 0, high, low][..], &id.to_be_bytes(), part].concat()
    };
    payload.chunks(size).enumerate().map(fragment).collect()
}

/// A frame in a file: its time in ns, its bytes, and its length on the wire.
pub type Frame = (u64, Vec<u8>, usize);

/// The frames of a story, each packet in one or several.
pub fn frames(story: &Story, packet: impl Fn(&Shot, u16) -> Vec<Vec<u8>>) -> Vec<Frame> {
    let numbered = story.shots.iter().zip(1..);
    let framed = |(shot, id): (&Shot, u16)| {
        let at = 1_700_000_000_000_000_000 + shot.micros * 1000;
        packet(shot, id).into_iter().map(move |bytes| (at, bytes.clone(), bytes.len())).collect::<Vec<_>>()
    };
    numbered.flat_map(framed).collect()
}

fn number(value: u32, big_endian: bool) -> [u8; 4] {
    if big_endian { value.to_be_bytes() } else { value.to_le_bytes() }
}

fn halves(low: u16, high: u16, big_endian: bool) -> [u8; 4] {
    let [a, b] = [low, high].map(|half| if big_endian { half.to_be_bytes() } else { half.to_le_bytes() });
    [a[0], a[1], b[0], b[1]]
}

/// A pcap file.
pub fn pcap(frames: &[Frame], link: u32, nanos: bool, big_endian: bool) -> Vec<u8> {
    let magic = if nanos { 0xa1b2_3c4d } else { 0xa1b2_c3d4 };
    let mut file = [number(magic, big_endian), halves(2, 4, big_endian)].concat();
    file.extend([0, 0, 65_535, link].into_iter().flat_map(|value| number(value, big_endian)));
    for (at, bytes, length) in frames {
        let tick = if nanos { 1 } else { 1000 };
        let time = [at / 1_000_000_000, at % 1_000_000_000 / tick].map(|part| part as u32);
        let head = [time[0], time[1], bytes.len() as u32, *length as u32];
        file.extend(head.into_iter().flat_map(|value| number(value, big_endian)));
        file.extend(bytes);
    }
    file
}

/// The block of pcapng that holds a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    Enhanced,
    /// The obsolete packet block.
    Obsolete,
    /// Without time.
    Simple,
}

/// A pcapng file, with times in ns.
pub fn pcapng(frames: &[Frame], link: u16, kept: Kept, big_endian: bool) -> Vec<u8> {
    let word = |value| number(value, big_endian);
    let block = |kind: u32, body: &[u8]| {
        let padded = body.len().next_multiple_of(4);
        let length = word(padded as u32 + 12);
        [&word(kind)[..], &length, body, &vec![0; padded - body.len()], &length].concat()
    };
    let mut file =
        block(0x0a0d_0d0a, &[&word(0x1a2b_3c4d)[..], &halves(1, 0, big_endian), &[0xff; 8]].concat());
    let nanos = [&halves(9, 1, big_endian)[..], &[9, 0, 0, 0], &[0; 4]].concat();
    file.extend(block(1, &[&halves(link, 0, big_endian)[..], &word(0), &nanos].concat()));
    for (at, bytes, length) in frames {
        let time = [word((at >> 32) as u32), word(*at as u32)].concat();
        let sizes = [word(bytes.len() as u32), word(*length as u32)].concat();
        file.extend(match kept {
            Kept::Enhanced => block(6, &[&word(0), &time[..], &sizes, bytes].concat()),
            // Interface 0, and no word of dropped packets.
            Kept::Obsolete => block(2, &[&halves(0, 0xffff, big_endian), &time[..], &sizes, bytes].concat()),
            Kept::Simple => block(3, &[&word(*length as u32)[..], bytes].concat()),
        });
    }
    file
}

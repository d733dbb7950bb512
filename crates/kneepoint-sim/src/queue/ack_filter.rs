// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The acknowledgement that a queue may drop because a later one makes it redundant: the rules of CAKE's filter.

use crate::packet::{Block, Flags, Packet};

crate::choice! {
    /// Whether a queue drops acknowledgements that a later one makes redundant.
    pub enum AckFilter {
        /// It drops none.
        Off = "off",
        /// Of two in a row that the arriving one makes redundant, the first (Linux `ack-filter`).
        Conservative = "conservative",
        /// The same, and also a lone one directly before the arriving one (Linux `ack-filter-aggressive`).
        Aggressive = "aggressive",
    }
}

/// Flags that a redundant acknowledgement may have. The option of AccECN is not among them: CAKE drops no acknowledgement with options
/// that it does not know.
const HARMLESS: u16 = Flags::ACK.0
    | Flags::ECT.0
    | Flags::CE.0
    | Flags::SCALABLE.0
    | Flags::RETRANSMITTED.0
    | Flags::WINDOW.0
    | Flags::CORRUPT.0
    | ECHO.0;
/// Flags that must not change between an acknowledgement that is dropped and the next.
const ECHO: Flags = Flags(Flags::ECE.0 | Flags::CWR.0 | Flags::AE.0);

/// The place of the packet to drop, among the packets in front of the arriving one, counted from the first.
pub(super) fn redundant<'p>(
    waiting: impl Iterator<Item = &'p Packet>,
    arriving: &Packet,
    filter: AckFilter,
) -> Option<u32> {
    if filter == AckFilter::Off || !arriving.flags.has(Flags::ACK) || arriving.flags.has(Flags::SYN) {
        return None;
    }
    let echo = |packet: &Packet| packet.flags.0 & ECHO.0;
    // The first candidate, with its flags; and the number found.
    let (mut first, mut found, mut length) = (None, 0u32, 0);
    for (place, packet) in (0u32..).zip(waiting) {
        length = place + 1;
        if (packet.flow, packet.epoch) != (arriving.flow, arriving.epoch) {
            continue;
        }
        if first.is_some_and(|(_, flags)| flags != echo(packet)) {
            (first, found) = (None, found.saturating_sub(1));
        }
        if !says_no_more(packet, arriving) {
            continue;
        }
        let (oldest, _) = *first.get_or_insert((place, echo(packet)));
        found += 1;
        if found > 1 {
            return Some(oldest);
        }
    }
    let (place, flags) = first.filter(|_| filter == AckFilter::Aggressive)?;
    (place + 1 == length && flags == echo(arriving)).then_some(place)
}

/// Whether a packet is an acknowledgement that the arriving one makes redundant.
fn says_no_more(packet: &Packet, arriving: &Packet) -> bool {
    let plain = packet.flags.has(Flags::ACK) && packet.flags.0 & !HARMLESS == 0;
    let ahead = arriving.seq.wrapping_sub(packet.seq) as i32;
    if !plain || ahead < 0 || packet.sent > arriving.sent {
        return false;
    }
    match compare(packet, arriving) {
        Blocks::Fewer => false,
        Blocks::Same => ahead > 0,
        Blocks::More => true,
    }
}

/// Compares the blocks of the arriving acknowledgement with a waiting one's.
#[derive(PartialEq)]
enum Blocks {
    Fewer,
    Same,
    More,
}

fn compare(waiting: &Packet, arriving: &Packet) -> Blocks {
    let used = |packet: &Packet| packet.sack().into_iter().filter(|(first, end)| first != end);
    let covers = |one: &Block| used(arriving).any(|other| other.0 <= one.0 && one.1 <= other.1);
    let sum =
        |packet: &Packet| used(packet).map(|(first, end)| u64::from(end.wrapping_sub(first))).sum::<u64>();
    // A block below the acknowledged data reports a duplicate (RFC 2883), which is new information.
    if !used(waiting).all(|one| covers(&one) && (one.0.wrapping_sub(waiting.seq) as i32) >= 0) {
        return Blocks::Fewer;
    }
    if sum(arriving) > sum(waiting) { Blocks::More } else { Blocks::Same }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Time;

    const NONE: [Block; 3] = [(0, 0); 3];

    fn ack(seq: u32, blocks: [Block; 3]) -> Packet {
        Packet::ack(1, seq, 40, Flags::default(), Time(seq.into()), blocks)
    }

    fn place(waiting: &[Packet], arriving: Packet, filter: AckFilter) -> Option<u32> {
        redundant(waiting.iter(), &arriving, filter)
    }

    #[test]
    fn the_conservative_filter_keeps_one_of_two_and_the_aggressive_one_none() {
        use AckFilter::{Aggressive, Conservative, Off};
        let plain = |seq| ack(seq, NONE);
        assert_eq!(place(&[plain(1)], plain(2), Conservative), None);
        assert_eq!(place(&[plain(1)], plain(2), Aggressive), Some(0));
        let three = [plain(1), plain(2), plain(3)];
        assert_eq!(
            [Off, Conservative, Aggressive].map(|filter| place(&three, plain(4), filter)),
            [None, Some(0), Some(0)]
        );
    }

    #[test]
    fn duplicates_and_newer_acknowledgements_stay() {
        let waiting = [ack(5, NONE), ack(5, NONE)];
        assert_eq!(place(&waiting, ack(5, NONE), AckFilter::Aggressive), None, "duplicates");
        assert_eq!(place(&waiting, ack(4, NONE), AckFilter::Aggressive), None, "overtaken");
        let data = Packet::data(1, 9, 1040, Flags::default(), Time(9));
        assert_eq!(place(&waiting, data, AckFilter::Aggressive), None, "data");
    }

    #[test]
    fn blocks_must_be_covered_by_the_arriving_acknowledgement() {
        let with = |seq, block| ack(seq, [block, (0, 0), (0, 0)]);
        let waiting = [with(5, (7, 8)), with(5, (7, 9))];
        assert_eq!(place(&waiting, with(5, (7, 10)), AckFilter::Conservative), Some(0), "covered");
        assert_eq!(place(&waiting, with(5, (8, 10)), AckFilter::Conservative), None, "7 is news");
        assert_eq!(place(&waiting, ack(6, NONE), AckFilter::Conservative), None, "no blocks");
        // A block within the data received in order reports a duplicate.
        let duplicates = [with(9, (3, 4)), with(9, (3, 4))];
        assert_eq!(place(&duplicates, with(10, (3, 4)), AckFilter::Aggressive), None);
    }

    #[test]
    fn a_change_of_the_echo_of_marks_is_kept() {
        let echo = |seq: u32| Packet::ack(1, seq, 40, Flags::ECE, Time(seq.into()), NONE);
        let waiting = [ack(1, NONE), echo(2), echo(3)];
        // The first would lose the change; the echoes are two of a kind.
        assert_eq!(place(&waiting[..2], ack(4, NONE), AckFilter::Aggressive), None);
        assert_eq!(place(&waiting, echo(4), AckFilter::Conservative), Some(1));
        let other = Packet::ack(2, 2, 40, Flags::default(), Time(2), NONE);
        assert_eq!(place(&[ack(1, NONE), other], ack(3, NONE), AckFilter::Aggressive), None, "not next");
    }
}

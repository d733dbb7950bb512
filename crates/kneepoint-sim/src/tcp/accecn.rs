// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Accurate ECN feedback: the receiver counts marked packets, and every acknowledgement carries the count modulo 8.
//!
//! M. Kühlewind, B. Briscoe, R. Scheffenegger, RFC 9768.
//!
//! ```text
//! r.cep = 5, then + 1 for each packet that arrives marked;  ACE = r.cep mod 8            §3.2.1, §3.2.2
//! d     = (ACE − s.cep) mod 8                           the fewest new marks             Appendix A.1
//! safe  = n − (n − d) mod 8                             the most, of n packets           Appendix A.2
//! ```
//!
//! `s.cep` the sender's copy of `r.cep`; `n` packets that an acknowledgement says have arrived. Up to 7 packets, both are `d`.
//! A receiver acknowledges at once when two packets have arrived marked since its last acknowledgement (§3.2.2.5.1), so
//! one acknowledgement never brings more than two marks, and the counter cycles only if acknowledgements are lost.
//! The sender takes `safe` where acknowledgements are rarely for many packets, since then one for 8 or more follows lost ones,
//! and `d` where most are for many, by the rule of Linux for "prevailing conditions" (§3.2.2.5.2): a mean of `n` with the weight 1/64 above 4.
//!
//! Readings: an acknowledgement that reports no arrival may be an old one and is not read (Appendix A.1); the next one brings its marks.
//! Left out: the AccECN TCP Option and its byte counters, so a long loss of acknowledgements leaves the count of marks uncertain by
//! multiples of 8; the negotiation by flags of the SYN, as both hosts have the same options, and with it the handshake encoding of
//! ACE, the fall-back to classic ECN and the detection of zeroed or bleached fields (§3.2.2.2 to §3.2.2.4). Emulated networks and their
//! packets do not carry it, and neither do files of captured packets (the flag AE).

use std::num::NonZeroU8;

use crate::packet::Flags;

/// The values of ACE.
const CYCLE: u32 = 8;
/// Both counters begin here.
const INITIAL: u32 = 5;
/// One packet in the mean of acknowledged packets, and the inverse weight of a new one (Linux `PKTS_ACKED_PREC`, `PKTS_ACKED_WEIGHT`).
const ONE: u32 = 64;
/// A mean of more packets than this comes from thinned acknowledgements (Linux `ACK_COMP_THRESH`).
const THIN: u32 = 4;

/// A count in the flags AE, CWR and ECE of an acknowledgement.
fn encode(count: u8) -> Flags {
    Flags::default()
        .with_if(count & 4 != 0, Flags::AE)
        .with_if(count & 2 != 0, Flags::CWR)
        .with_if(count & 1 != 0, Flags::ECE)
}

/// ACE.
fn decode(flags: Flags) -> u32 {
    u32::from(flags.has(Flags::AE)) << 2
        | u32::from(flags.has(Flags::CWR)) << 1
        | u32::from(flags.has(Flags::ECE))
}

/// The receiver's count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counter {
    /// r.cep, modulo a multiple of 8.
    packets: u8,
    /// A mark was counted since the last acknowledgement: with the second one the receiver acknowledges at once.
    unsaid: bool,
}

impl Counter {
    /// Of a new connection.
    pub(super) fn new() -> Counter {
        Counter { packets: INITIAL as u8, unsaid: false }
    }

    /// A packet arrived; returns whether its acknowledgement is urgent.
    pub(super) fn count(&mut self, marked: bool) -> bool {
        let urgent = marked && self.unsaid;
        self.packets = self.packets.wrapping_add(u8::from(marked));
        self.unsaid |= marked;
        urgent
    }

    /// The flags of an acknowledgement.
    pub(super) fn report(&mut self) -> Flags {
        self.unsaid = false;
        encode(self.packets)
    }
}

/// The sender's copy of the count, in four bytes with its absence.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copied {
    /// s.cep modulo 8, and 8.
    packets: NonZeroU8,
    /// The mean number of packets that an acknowledgement is for, in parts of [`ONE`], at most a thousand; 0 before the first.
    mean: u16,
}

/// A count modulo 8, and 8.
fn kept(count: u32) -> NonZeroU8 {
    NonZeroU8::MIN.saturating_add((CYCLE + count % CYCLE) as u8 - 1)
}

impl Copied {
    /// Of a new connection.
    pub(super) fn new() -> Copied {
        Copied { packets: kept(INITIAL), mean: 0 }
    }

    /// The fewest marks that an acknowledgement may report.
    pub(super) fn fewest(&self, flags: Flags) -> u32 {
        decode(flags).wrapping_sub(u32::from(self.packets.get())) % CYCLE
    }

    /// The marks that an acknowledgement of `arrived` packets reports.
    pub(super) fn read(&mut self, flags: Flags, arrived: u32) -> u32 {
        if arrived == 0 {
            return 0;
        }
        let sample = arrived.saturating_mul(ONE);
        let mean = match u32::from(self.mean) {
            0 => u64::from(sample),
            mean => (u64::from(mean) * u64::from(ONE - 1) + u64::from(sample)) / u64::from(ONE),
        };
        self.mean = u16::try_from(mean).unwrap_or(u16::MAX);
        let fewest = self.fewest(flags);
        let thin = u32::from(self.mean) > THIN * ONE;
        let marks = if arrived < CYCLE || thin { fewest } else { safest(fewest, arrived) };
        self.packets = kept(u32::from(self.packets.get()) + marks % CYCLE);
        marks
    }
}

/// The most marks of `arrived` packets, at least 8, that agree with `fewest` (Appendix A.2).
fn safest(fewest: u32, arrived: u32) -> u32 {
    arrived - (arrived - fewest) % CYCLE
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::cc;
    use crate::packet::Packet;
    use crate::rng::Rng;
    use crate::tcp::{EcnFeedback, Options, Receiver, Recovery, Sender};
    use crate::units::{Bytes, Span, Time};

    #[test]
    fn the_counter_begins_at_five_in_the_three_flags() {
        assert_eq!(Counter::new().report(), Flags::AE.with(Flags::ECE));
        assert!((0..8).all(|count| decode(encode(count)) == u32::from(count)));
        assert_eq!(encode(13), encode(5));
    }

    #[test]
    fn a_change_of_two_is_ten_where_ten_packets_are_acknowledged() {
        assert_eq!(safest(2, 10), 10);
        // Of nine packets no ten are marked.
        assert_eq!(safest(2, 9), 2);
        assert_eq!([safest(0, 8), safest(0, 15), safest(7, 15)], [8, 8, 15]);
    }

    #[test]
    fn the_copy_has_no_more_than_four_bytes() {
        assert_eq!(size_of::<Option<Copied>>(), 4);
        assert!((0..20).all(|count| u32::from(kept(count).get()) == 8 + count % 8));
        assert!(size_of::<Sender>() + size_of::<Receiver>() < 768);
    }

    #[test]
    fn the_second_mark_is_urgent() {
        let mut counter = Counter::new();
        assert_eq!([true, false, true, true].map(|marked| counter.count(marked)), [false, false, true, true]);
        counter.report();
        assert_eq!([false, true, true].map(|marked| counter.count(marked)), [false, false, true]);
    }

    #[test]
    fn up_to_seven_packets_every_pattern_of_marks_and_lost_acknowledgements_is_read_exactly() {
        // Each packet is acknowledged; bits say which were marked and which acknowledgements were lost.
        for marks in 0..1u32 << 7 {
            for lost in 0..1u32 << 6 {
                let (mut counter, mut copy, mut read, mut arrived) = (Counter::new(), Copied::new(), 0, 0);
                for packet in 0..7 {
                    counter.count(marks >> packet & 1 == 1);
                    let flags = counter.report();
                    arrived += 1;
                    if lost >> packet & 1 == 0 {
                        read += copy.read(flags, std::mem::take(&mut arrived));
                    }
                }
                assert_eq!(read, marks.count_ones(), "marks {marks:b}, lost {lost:b}");
            }
        }
    }

    #[test]
    fn longer_losses_are_read_as_no_fewer_marks_and_the_error_is_whole_cycles() {
        let mut rng = Rng::stream(1, "accecn", 0);
        let mut over = 0;
        for _ in 0..1000 {
            let (mut counter, mut copy) = (Counter::new(), Copied::new());
            // The mean is that of single acknowledgements.
            copy.read(counter.report(), 1);
            let (run, chance) = (8 + rng.below(40) as u32, rng.below(11) as f64 / 10.0);
            let mut marks = 0;
            for _ in 0..run {
                let marked = rng.chance(chance);
                marks += u32::from(marked);
                counter.count(marked);
            }
            let read = copy.read(counter.report(), run);
            assert!(
                read >= marks && read <= run && (read - marks) % CYCLE == 0,
                "{read} of {marks} in {run}"
            );
            over += u32::from(read > marks);
        }
        assert!(over > 0, "no run was long enough to be uncertain");
    }

    #[test]
    fn where_acknowledgements_are_thin_as_a_rule_a_standing_counter_says_no_mark() {
        let (mut counter, mut thin, mut dense) = (Counter::new(), Copied::new(), Copied::new());
        let flags = counter.report();
        (0..200).for_each(|_| _ = (thin.read(flags, 16), dense.read(flags, 1)));
        assert_eq!([thin.read(flags, 16), dense.read(flags, 16)], [0, 16]);
    }

    #[test]
    fn an_old_acknowledgement_changes_nothing() {
        let (mut counter, mut copy) = (Counter::new(), Copied::new());
        let old = counter.report();
        counter.count(true);
        let new = counter.report();
        assert_eq!([copy.read(new, 1), copy.read(old, 0), copy.read(new, 1)], [1, 0, 0]);
    }

    /// The marks of a transfer that a sender counts, and those there were: a fifth of the packets are marked, and every second
    /// acknowledgement is lost.
    fn counted(name: &str, recovery: Recovery, ecn_feedback: EcnFeedback) -> (f64, f64) {
        let options =
            Arc::new(Options { recovery, ecn_feedback, initial_window: 10.0, ..Options::default() });
        let config = cc::Config::named(name).expect("a controller of the registry");
        let mut sender = Sender::new(options.clone(), &config, Some(Bytes(2_000_000)));
        let mut receiver = Receiver::new(&options, sender.controller().marks());
        let (mut rng, mut now, mut number, mut marks) = (Rng::stream(1, "accecn", 1), Time::ZERO, 0u32, 0.0);
        while !sender.done() {
            let mut flight = Vec::new();
            while let Some(segment) = sender.poll(now) {
                let marked = segment.flags.has(Flags::ECT) && rng.chance(0.2);
                marks += f64::from(u8::from(marked));
                let flags = segment.flags.with_if(marked, Flags::CE);
                flight.push(Packet::data(0, segment.seq, segment.size, flags, now));
            }
            now = if flight.is_empty() {
                sender.next_wakeup(now).max(now)
            } else {
                now + Span::from_millis(20)
            };
            for packet in flight {
                let reply = receiver.on_next(&packet, now).or_else(|| receiver.on_data(&packet, now));
                number += 1;
                if let Some(reply) = reply.filter(|_| number % 2 == 0) {
                    let ack = Packet::ack(0, reply.seq, 40, reply.flags, reply.sent, reply.sack);
                    sender.on_ack(&ack, now, &mut rng);
                }
            }
            sender.on_wakeup(now);
        }
        let state = sender.controller().state();
        let counted = state.iter().find(|(one, _)| *one == "marked_packets").expect("a count").1;
        (counted, marks)
    }

    #[test]
    fn with_every_second_acknowledgement_lost_the_count_is_exact_and_echoes_are_not() {
        for name in ["dctcp", "prague"] {
            for recovery in [Recovery::Sack, Recovery::Rack] {
                let (counted_marks, marks) = counted(name, recovery, EcnFeedback::AccEcn);
                assert!(marks > 100.0);
                assert_eq!(counted_marks, marks, "{name}, {recovery:?}");
                let (echoed, real) = counted(name, recovery, EcnFeedback::Echo);
                assert_ne!(echoed, real, "{name}, {recovery:?}: of {marks}");
            }
        }
    }
}

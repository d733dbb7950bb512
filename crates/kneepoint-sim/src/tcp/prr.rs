// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Proportional rate reduction: how much a sender sends for each acknowledgement while its window shrinks.
//!
//! RFC 9937 §6, and RFC 6937 §3 with its slow-start reduction bound.
//!
//! ```text
//! RecoverFS = segments outstanding as the reduction begins;
//!             RFC 9937: less those that had arrived before the acknowledgement that began it
//! each acknowledgement:   delivered += D
//! pipe > S:    sndcnt = ceil(delivered S / RecoverFS) - out
//! pipe <= S:   sndcnt = min(S - pipe, max(delivered - out, D) + 1)
//!              RFC 9937: + 1 only if the acknowledgement advances and finds no loss
//! out = 0:     sndcnt >= 1, the fast retransmit
//! window = pipe + sndcnt;   each packet sent: out += 1
//! ```
//!
//! `S` the window after the reduction, `pipe` packets in flight, `D` packets newly delivered, `out` packets sent since
//! the reduction began. Linux has RFC 9937 with its window for RecoverFS; the two differ by the segments that had
//! arrived out of order before.

crate::choice! {
    /// The course of a sender's window to its reduced value after a loss or a mark.
    pub enum Reduction {
        /// At once: nothing is sent until the flight has shrunk by this much (RFC 6675 §5).
        AtOnce = "at-once",
        /// Proportional rate reduction with its slow-start bound (RFC 6937).
        Rfc6937 = "rfc6937",
        /// Proportional rate reduction, in slow start only while retransmissions arrive (RFC 9937).
        Rfc9937 = "rfc9937",
    }
}

/// The news of an acknowledgement for a reduction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Packets newly known to have arrived.
    pub delivered: u32,
    /// Packets in flight after it.
    pub pipe: u32,
    /// It acknowledges in order and finds nothing lost.
    pub safe: bool,
}

/// A reduction under way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prr {
    rule: Reduction,
    /// RecoverFS.
    from: u32,
    delivered: u32,
    out: u32,
}

impl Prr {
    /// A reduction begins: `flight` packets are outstanding, `sacked` of them arrived out of order, and the
    /// acknowledgement that began it delivered `delivered`.
    pub fn begin(rule: Reduction, flight: u32, sacked: u32, delivered: u32) -> Prr {
        let from = if rule == Reduction::Rfc6937 { flight } else { flight + delivered - sacked };
        Prr { rule, from: from.max(1), delivered: 0, out: 0 }
    }

    /// A reduction begins at a window of `packets`, which Linux takes for RecoverFS.
    pub fn of_window(rule: Reduction, packets: u32) -> Prr {
        Prr { rule, from: packets.max(1), delivered: 0, out: 0 }
    }

    /// The window after an acknowledgement, where `target` is to be reached.
    pub fn window(&mut self, progress: Progress, target: f64) -> f64 {
        let Progress { delivered, pipe, safe } = progress;
        self.delivered += delivered;
        let sent = self.out;
        let packets = if f64::from(pipe) > target {
            let share = (f64::from(self.delivered) * target / f64::from(self.from)).ceil();
            (share as u32).saturating_sub(sent)
        } else {
            let bound = self.delivered.saturating_sub(sent).max(delivered);
            let faster = u32::from(safe || self.rule == Reduction::Rfc6937);
            (bound + faster).min(target as u32 - pipe)
        };
        f64::from(pipe + packets.max(u32::from(sent == 0)))
    }

    /// A packet was sent.
    #[inline]
    pub fn on_sent(&mut self) {
        self.out += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// One acknowledgement at a time, each for one packet, and everything sent that the window permits; returns the number at each.
    fn sends(rule: Reduction, flight: u32, lost: u32, target: f64, acks: usize) -> Vec<u32> {
        let mut prr = Prr::begin(rule, flight, 0, 0);
        let mut pipe = flight - lost;
        (0..acks)
            .map(|_| {
                pipe = pipe.saturating_sub(1);
                let window = prr.window(Progress { delivered: 1, pipe, safe: true }, target);
                let sent = (window as u32).saturating_sub(pipe);
                (0..sent).for_each(|_| prr.on_sent());
                pipe += sent;
                sent
            })
            .collect()
    }

    #[test]
    fn half_of_the_window_goes_at_every_other_acknowledgement() {
        // RFC 6937 §4, first example: FlightSize 20, one lost, ssthresh 10: the retransmission, then one for every other.
        let sent = sends(Reduction::Rfc9937, 20, 1, 10.0, 19);
        // At the seventeenth 10 are in flight, which is ssthresh: from then on they are kept there.
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1]);
    }

    #[test]
    fn seven_tenths_go_at_seven_of_ten_acknowledgements() {
        let sent = sends(Reduction::Rfc9937, 100, 1, 70.0, 99);
        assert_eq!(sent.iter().sum::<u32>(), 70);
        assert!(sent.iter().all(|&one| one <= 1));
        assert_eq!(sent[..10], [1, 1, 1, 0, 1, 1, 0, 1, 1, 0]);
    }

    #[test]
    fn after_a_burst_of_losses_the_flight_returns_by_two_packets_for_each_that_arrives() {
        // As the second example of RFC 6937 §4: 15 of 20 are lost, and the pipe is below ssthresh from the first on: 4, 5, 6, 7, 8 and then 9.
        let sent = sends(Reduction::Rfc6937, 20, 15, 10.0, 8);
        assert_eq!(sent, [2, 2, 2, 2, 2, 1, 1, 1]);
        // Without progress in order, RFC 9937 sends one for one.
        let mut prr = Prr::begin(Reduction::Rfc9937, 20, 0, 0);
        assert_eq!(prr.window(Progress { delivered: 1, pipe: 4, safe: false }, 10.0), 5.0);
    }

    #[test]
    fn what_arrived_before_counts_in_rfc_6937_alone() {
        // Three of twenty arrived out of order, the last of them just now.
        let from = |rule| Prr::begin(rule, 20, 3, 1).from;
        assert_eq!((from(Reduction::Rfc9937), from(Reduction::Rfc6937)), (18, 20));
    }

    #[test]
    fn no_more_is_sent_than_the_bounds_of_the_rfc_allow() {
        let mut rng = Rng::stream(3, "prr", 0);
        for rule in [Reduction::Rfc6937, Reduction::Rfc9937] {
            for _ in 0..2000 {
                let flight = 4 + rng.below(200) as u32;
                let target = (f64::from(flight) * rng.between(0.1, 0.9)).max(2.0);
                let mut prr = Prr::begin(rule, flight, 0, 0);
                let (mut pipe, mut delivered, mut out) = (flight, 0, 0);
                for _ in 0..60 {
                    let left = (flight + out).saturating_sub(delivered);
                    let now = (rng.below(3) as u32).min(left).min(pipe);
                    delivered += now;
                    pipe -= now;
                    let lost = if rng.chance(0.1) { rng.below(u64::from(pipe / 2 + 1)) as u32 } else { 0 };
                    pipe -= lost;
                    let progress = Progress { delivered: now, pipe, safe: lost == 0 && rng.chance(0.5) };
                    let sent = prr.window(progress, target) as u32 - pipe;
                    let (sent_before, bound) = (out, (delivered - out.min(delivered)).max(now) + 1);
                    (0..sent).for_each(|_| prr.on_sent());
                    out += sent;
                    if f64::from(pipe) > target {
                        let share = f64::from(delivered) * target / f64::from(flight);
                        assert!(sent == 0 || sent_before == 0 && sent == 1 || f64::from(out) < share + 1.0);
                    } else {
                        assert!(sent <= bound.max(1), "{sent} of {bound}");
                        assert!(
                            f64::from(pipe + sent)
                                <= target.max(f64::from(pipe + u32::from(sent_before == 0)))
                        );
                    }
                    pipe += sent;
                }
            }
        }
    }
}

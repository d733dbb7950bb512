// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Slow start after a timeout, at a constant rate: its length, its packets, and the state that it leaves.
//!
//! ```text
//! c = μΔ/(m+1)                                  packets that the link serves in an interval (§VIII)
//! mini-cycle i with a_i acknowledgements, a_1 = 0 and one packet sent:
//! W_i = W_{i−1} + a_i                            up to ssthresh
//! b_i = b_{i−1} + 2 a_i − a_{i+1}                backlog
//! a_{i+1} = min(⌊c⌋, b_{i−1} + 2 a_i)            packets served
//! loss in mini-cycle i  ⇔  b_{i−1} + 1 + a_i > B
//! ```
//!
//! So the window doubles until it fills the pipe and grows by c in each mini-cycle after that; acknowledgements return at the rate of the link, each
//! sends two packets while the link serves one, and the buffer holds most at the last of them.
//! A loss before ssthresh is a second timeout: recovery begins at the third epoch again, with half of the window as ssthresh.
//! The paper has the slow start after it succeed; if it does not, the same is repeated.

use super::interval::{Epoch, interval};
use super::params::{Ahead, Params, Service, SlowStart, SlowStartReward};

/// Intervals between the epoch before a loss and the beginning of slow start.
pub(super) const TIMEOUT: u32 = 3;

/// A recovery that has succeeded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Recovered {
    /// Its length in intervals.
    pub intervals: u32,
    /// Packets that count as delivered.
    pub delivered: u32,
    /// Losses in it.
    pub losses: u32,
    /// The state at its end; `before` belongs to the frozen rate.
    pub epoch: Epoch,
}

/// One slow start.
pub(super) struct Attempt {
    pub intervals: u32,
    /// Packets sent and acknowledgements received; with a loss, packets sent before the lost one and acknowledgements in its interval.
    pub sent: u32,
    pub acknowledged: u32,
    pub result: Result<Epoch, Loss>,
}

/// The end of a slow start that fails.
pub(super) struct Loss {
    pub window: f64,
    pub served: u32,
}

/// The recovery with `sessions` ephemeral sessions and the slow-start threshold `ssthresh`.
pub(super) fn recovery(params: &Params, sessions: u32, ssthresh: f64) -> Recovered {
    match params.readings.slow_start {
        SlowStart::MiniCycles => {
            repeat(params, ssthresh, |ssthresh| mini_cycles(params, sessions, ssthresh, 0.0))
        }
        SlowStart::LongMiniCycles => {
            repeat(params, ssthresh, |ssthresh| mini_cycles(params, sessions, ssthresh, 1.0))
        }
        SlowStart::Packets => repeat(params, ssthresh, |ssthresh| packets(params, sessions, ssthresh)),
    }
}

/// The packets ahead of a lost one that count: `served` since the epoch, and those in the buffer.
pub(super) fn ahead(params: &Params, served: u32) -> u32 {
    match params.readings.ahead {
        Ahead::Buffer => params.buffer,
        Ahead::Served => params.buffer + served,
        Ahead::None => 0,
    }
}

/// Slow starts with half of the window as the next threshold, until one succeeds.
pub(super) fn repeat(
    params: &Params,
    ssthresh: f64,
    mut slow_start: impl FnMut(f64) -> Attempt,
) -> Recovered {
    let (mut intervals, mut delivered, mut losses, mut ssthresh) = (0, 0, 0, ssthresh);
    loop {
        let attempt = slow_start(ssthresh);
        intervals += attempt.intervals;
        delivered += match params.readings.slow_start_reward {
            SlowStartReward::Transmitted => attempt.sent,
            SlowStartReward::Acknowledged => attempt.acknowledged,
        };
        match attempt.result {
            Ok(epoch) => return Recovered { intervals, delivered, losses, epoch },
            Err(loss) => {
                if params.readings.slow_start_reward == SlowStartReward::Acknowledged {
                    delivered += ahead(params, loss.served);
                }
                intervals += TIMEOUT;
                losses += 1;
                ssthresh = half(loss.window);
            }
        }
    }
}

/// Half of a window in whole packets, at least one.
pub(super) fn half(window: f64) -> f64 {
    libm::floor(window / 2.0).max(1.0)
}

/// Slow start in mini-cycles of length Δ and `extra` service times.
fn mini_cycles(params: &Params, sessions: u32, ssthresh: f64, extra: f64) -> Attempt {
    let share = params.share(sessions);
    let length = 1.0 + extra / share;
    let carried = params.readings.service == Service::Carried;
    let (mut window, mut backlog, mut acks, mut progress) = (1u32, 0, 0, 0.0);
    let (mut sent, mut acknowledged) = (0, 0);
    for cycle in 1u32.. {
        let growth = acks.min((libm::ceil(ssthresh - 1e-9) as u32).saturating_sub(window));
        if backlog + 1 + growth > params.buffer && acks > 0 {
            let room = params.buffer.saturating_sub(backlog);
            return Attempt {
                intervals: (f64::from(cycle - 1) * length) as u32,
                sent: sent + 2 * room.max(1) - 1,
                acknowledged: acknowledged + acks,
                result: Err(Loss { window: f64::from(window + room), served: room.saturating_sub(1) }),
            };
        }
        let inflow = if cycle == 1 { 1 } else { acks + growth };
        window += growth;
        sent += inflow;
        acknowledged += acks;
        backlog += inflow;
        let budget = progress + share * length + 1e-9;
        acks = backlog.min(budget as u32);
        backlog -= acks;
        progress = if carried && backlog > 0 { (budget - f64::from(acks)).clamp(0.0, 1.0) } else { 0.0 };
        if f64::from(window) + 1e-9 >= ssthresh {
            let flight = acks.min(libm::ceil(share - 1e-9) as u32);
            return Attempt {
                intervals: libm::ceil(f64::from(cycle) * length - 1e-9) as u32,
                sent,
                acknowledged,
                result: Ok(Epoch {
                    before: sessions,
                    window: f64::from(window),
                    queue: window - flight,
                    flight,
                    progress,
                }),
            };
        }
    }
    unreachable!("the window grows in every second mini-cycle")
}

/// Slow start interval by interval.
fn packets(params: &Params, sessions: u32, ssthresh: f64) -> Attempt {
    let mut epoch = Epoch { before: sessions, window: 1.0, queue: 1, flight: 0, progress: 0.0 };
    let mut acknowledged = 0;
    for intervals in 1.. {
        let law = interval(params, &epoch, sessions, |window| if window < ssthresh { 1.0 } else { 0.0 });
        if let [lost, ..] = law.losses[..] {
            acknowledged += epoch.flight;
            let sent = acknowledged + lost.served + params.buffer;
            let result = Err(Loss { window: lost.window, served: lost.served });
            return Attempt { intervals: intervals - 1, sent, acknowledged, result };
        }
        acknowledged += epoch.flight;
        let end = law.ends[0];
        epoch = Epoch {
            before: sessions,
            window: end.window,
            queue: end.queue,
            flight: end.flight,
            progress: end.progress,
        };
        if epoch.window >= ssthresh {
            return Attempt {
                intervals,
                sent: acknowledged + epoch.queue + epoch.flight,
                acknowledged,
                result: Ok(epoch),
            };
        }
    }
    unreachable!("the window grows with every acknowledgement")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Rate, Span};

    /// A bandwidth-delay product of 4 packets, as in the paper's Figure 16.
    fn figure_16() -> Params {
        Params { rate: Rate(800_000), delay: Span::from_millis(40), ..Params::default() }
    }

    #[test]
    fn the_window_doubles_until_the_pipe_is_full_and_grows_by_the_product_then() {
        // Windows at the ends of mini-cycles: 1, 2, 4, 8, 12, 16; the backlog is the excess over 4.
        for (ssthresh, cycles, sent) in
            [(1.0, 1, 1), (2.0, 2, 3), (4.0, 3, 7), (8.0, 4, 15), (12.0, 5, 23), (16.0, 6, 31)]
        {
            let end = recovery(&figure_16(), 0, ssthresh);
            assert_eq!((end.intervals, end.delivered, end.losses), (cycles, sent, 0));
            let expected = Epoch {
                before: 0,
                window: ssthresh,
                queue: (ssthresh as u32).saturating_sub(4),
                flight: (ssthresh as u32).min(4),
                progress: 0.0,
            };
            assert_eq!(end.epoch, expected);
        }
    }

    #[test]
    fn the_recursion_is_that_of_the_header() {
        let (mut window, mut backlog, mut acks) = (1, 0, 1);
        for (cycle, expected) in [(2, 2), (3, 4), (4, 8), (5, 12), (6, 16)] {
            let next = (backlog + 2 * acks).min(4);
            window += acks;
            backlog = backlog + 2 * acks - next;
            acks = next;
            assert_eq!(window, expected);
            let end = recovery(&figure_16(), 0, f64::from(window));
            assert_eq!((end.intervals, end.epoch.queue, end.epoch.flight), (cycle, backlog, acks));
        }
    }

    #[test]
    fn a_loss_before_ssthresh_is_a_second_timeout_with_half_of_the_window() {
        // At 12 the peak is 4 + 1 + 4 packets: a buffer of 9 holds it, and 8 do not.
        assert_eq!(recovery(&Params { buffer: 9, ..figure_16() }, 0, 12.0).losses, 0);
        let again = recovery(&Params { buffer: 8, ..figure_16() }, 0, 12.0);
        // The loss is in the fifth mini-cycle at a window of 12, so 4 + 3 intervals pass before a slow start up to 6, which takes 4.
        // Packets sent before the lost one: 15 and 7. The second slow start acknowledges 7 and leaves 6 outstanding.
        assert_eq!((again.losses, again.intervals, again.epoch.window), (1, 4 + 3 + 4, 6.0));
        assert_eq!(again.delivered, 15 + 7 + 13);
    }

    #[test]
    fn packets_one_by_one_take_longer_where_acknowledgements_are_spread() {
        let mut params = Params::default();
        let cycles = recovery(&params, 0, 22.0).intervals;
        params.readings.slow_start = SlowStart::Packets;
        let close = recovery(&params, 0, 22.0).intervals;
        params.readings.ack_spacing = super::super::AckSpacing::Even;
        let spread = recovery(&params, 0, 22.0).intervals;
        assert_eq!((cycles, close, spread), (6, 6, 8));
    }
}

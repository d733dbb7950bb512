// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The figures of a run, by one definition for the kernel and for the simulator: from the packets that came to the
//! link's queue.

use kneepoint::units::{Bytes, Span, Time};
use serde::{Deserialize, Serialize};

use super::setting::{DURATION, STARTUP, Setting};

/// The time for which a link must be busy to count as busy.
const BUSY: Span = Span::from_millis(100);

/// A packet that came to the queue.
#[derive(Clone, Copy, Debug)]
pub struct Passed {
    /// The time at which it came.
    pub at: Time,
    /// The sending time; [`Time::NEVER`] if it was dropped.
    pub departs: Time,
    /// Its size on the wire.
    pub size: Bytes,
    /// The place of its transfer.
    pub transfer: usize,
}

/// The figures of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Share of the link's capacity that is used after the start-up.
    pub utilization: f64,
    /// Packets waiting, on average after the start-up.
    pub queue: f64,
    /// Packets dropped, from the beginning.
    pub drops: f64,
    /// Share of the capacity that is used in the start-up.
    pub startup: f64,
    /// Seconds until the link carried nine tenths of its capacity for a tenth of a second; the whole run if it never did.
    pub to_90: f64,
    /// Jain's index of the transfers' bytes after the start-up.
    pub jain: f64,
    /// Share of the bytes that transfers of the first controller have, after the start-up.
    pub share: f64,
    /// Packets retransmitted.
    pub retransmissions: f64,
}

/// The figures of these packets.
pub fn figures(setting: &Setting, packets: &[Passed], retransmissions: f64) -> Figures {
    let (startup, end) = (STARTUP.after_start(), DURATION.after_start());
    let bytes = |from: Time, to: Time| -> f64 {
        let sent = packets.iter().filter(|one| one.departs >= from && one.departs < to);
        sent.map(|one| one.size.0 as f64).sum()
    };
    let capacity = |seconds: f64| setting.rate().as_f64() / 8.0 * seconds;
    let after = DURATION.saturating_sub(STARTUP).as_secs_f64();
    let waits = packets.iter().filter(|one| one.at >= startup && one.departs < Time::NEVER);
    let waited = |one: &Passed| {
        one.departs.since(one.at).saturating_sub(setting.rate().time_for(one.size)).as_secs_f64()
    };
    let controls = setting.controls();
    let mut shares = vec![0.0; controls.len()];
    for one in packets.iter().filter(|one| one.departs >= startup && one.departs < end) {
        shares[one.transfer] += one.size.0 as f64;
    }
    let total: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    let first = shares.iter().zip(&controls).filter(|(_, cc)| **cc == setting.mix[0].0);
    Figures {
        utilization: bytes(startup, end) / capacity(after),
        queue: waits.map(waited).sum::<f64>() / after,
        drops: packets.iter().filter(|one| one.departs == Time::NEVER).count() as f64,
        startup: bytes(Time::ZERO, startup) / capacity(STARTUP.as_secs_f64()),
        to_90: to_90(packets, 0.9 * capacity(BUSY.as_secs_f64())),
        jain: total * total / (shares.len() as f64 * squares),
        share: first.map(|(share, _)| share).sum::<f64>() / total,
        retransmissions,
    }
}

/// The time at which `wanted` bytes had first been sent within a tenth of a second, in seconds.
fn to_90(packets: &[Passed], wanted: f64) -> f64 {
    let mut sent: Vec<&Passed> = packets.iter().filter(|one| one.departs < Time::NEVER).collect();
    sent.sort_by_key(|one| one.departs);
    let (mut oldest, mut bytes) = (0, 0.0);
    for one in &sent {
        bytes += one.size.0 as f64;
        while one.departs.since(sent[oldest].departs) >= BUSY {
            bytes -= sent[oldest].size.0 as f64;
            oldest += 1;
        }
        if bytes >= wanted {
            return one.departs.as_secs_f64();
        }
    }
    DURATION.as_secs_f64()
}

/// The means of several runs.
pub fn mean(runs: &[Figures]) -> Figures {
    let of = |field: fn(&Figures) -> f64| runs.iter().map(field).sum::<f64>() / runs.len() as f64;
    Figures {
        utilization: of(|one| one.utilization),
        queue: of(|one| one.queue),
        drops: of(|one| one.drops),
        startup: of(|one| one.startup),
        to_90: of(|one| one.to_90),
        jain: of(|one| one.jain),
        share: of(|one| one.share),
        retransmissions: of(|one| one.retransmissions),
    }
}

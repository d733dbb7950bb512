// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The parameters of the analysis, and the readings of the sentences that the paper leaves open.
//!
//! ```text
//! μ  = rate / (8 · packet)          packets/s of the link
//! BDP = μ Δ                         packets
//! W^r = BDP / (N + 1) + δ           (1), with the number of sessions one delay ago
//! ```
//!
//! A default follows the paper's own sentence where there is one. The numbers of the publication are illegible in our copy, apart from
//! the capacity of 100 kB/s: delay, buffer, mean session and limit of sessions are assumed.

use crate::settings::Settings;
use crate::units::{Bytes, Rate, Span};

crate::choice! {
    /// The transport protocol of the persistent session.
    pub enum Protocol {
        /// RATCP-OldTahoe: the window follows the fair rate of one delay ago.
        Ratcp = "ratcp",
        /// TCP-OldTahoe: slow start, avoidance and timeouts, without rate feedback.
        Tcp = "tcp",
    }
}

crate::choice! {
    /// The spacing of the acknowledgements of one interval.
    pub enum AckSpacing {
        /// At the rate at which their packets left the link, μ/(N_{k-1}+1), and at most D_k of them (§III-C).
        Link = "link",
        /// D_k over the whole interval, at the rate D_k/Δ.
        Even = "even",
    }
}

crate::choice! {
    /// The instant of an acknowledgement within its slot, whose length is the spacing.
    pub enum AckInstant {
        /// The beginning: the first one arrives at t_k.
        Start = "start",
        /// The middle.
        Middle = "middle",
        /// The end: one Δ after the last bit of its packet left the link.
        End = "end",
    }
}

crate::choice! {
    /// The packets that the link serves across the end of an interval.
    pub enum Service {
        /// None: a packet whose transmission would straddle an epoch starts after it (§III-C).
        Whole = "whole",
        /// The packet in service keeps its progress, in twelfths of a packet.
        Carried = "carried",
    }
}

crate::choice! {
    /// The whole number of packets that a fractional window permits.
    pub enum Rounding {
        /// The whole packets that it holds.
        Floor = "floor",
        /// One packet more with a probability equal to the fraction, drawn for each interval.
        Mean = "mean",
        /// The next whole number.
        Ceiling = "ceiling",
    }
}

crate::choice! {
    /// The course of slow start.
    pub enum SlowStart {
        /// Mini-cycles of length Δ in which each acknowledgement sends two packets (§VIII).
        MiniCycles = "mini-cycles",
        /// The same with mini-cycles of length Δ plus one packet's service, as in Lakshman and Madhow's analysis.
        LongMiniCycles = "long-mini-cycles",
        /// The intervals of congestion avoidance, with a larger window after every acknowledgement.
        Packets = "packets",
    }
}

crate::choice! {
    /// The packets ahead of a lost one that count as delivered.
    pub enum Ahead {
        /// The buffer, which the lost packet finds full.
        Buffer = "buffer",
        /// The buffer, and the packets that the link has served since t_k.
        Served = "served",
        /// None.
        None = "none",
    }
}

crate::choice! {
    /// The packets of slow start that count as delivered, V_ss.
    pub enum SlowStartReward {
        /// Packets transmitted in it (§III-D), although packets in flight at its end are acknowledged, and counted, later.
        Transmitted = "transmitted",
        /// Those acknowledged before its end.
        Acknowledged = "acknowledged",
    }
}

crate::choice! {
    /// The number of sessions from which the slow-start threshold follows after a loss between t_k and t_{k+1}.
    pub enum Threshold {
        /// N_{k+1}: the rate window at the epoch before the timeout.
        Timeout = "timeout",
        /// N_{k+2}: the rate window at t_{k+3}, where slow start begins.
        Recovery = "recovery",
    }
}

crate::choice! {
    /// The window that TCP halves after a loss.
    pub enum Halved {
        /// The window at the loss.
        Loss = "loss",
        /// The window at the epoch before it.
        Epoch = "epoch",
    }
}

crate::choice! {
    /// An arrival when `max_sessions` sessions are active.
    pub enum Blocking {
        /// It is admitted if a session departs at the same epoch.
        AfterDepartures = "after-departures",
        /// It is turned away.
        BeforeDepartures = "before-departures",
    }
}

crate::settings! {
    /// Readings of the paper.
    pub struct Readings {
        /// Spacing of acknowledgements. The paper has them at the rate μ/(N_{k-1}+1).
        ack_spacing: AckSpacing = AckSpacing::Link;
        /// The place in its slot at which an acknowledgement arrives. Open in the paper.
        ack_instant: AckInstant = AckInstant::End;
        /// Service across epochs. The paper's packet transmissions do not straddle epochs.
        service: Service = Service::Whole;
        /// Rounding of the window for sending. Open in the paper.
        rounding: Rounding = Rounding::Floor;
        /// Course of slow start. The paper considers mini-cycles; their length is lost in our text.
        slow_start: SlowStart = SlowStart::MiniCycles;
        /// Packets ahead of the lost one. The paper counts them; which ones is lost in our text.
        ahead: Ahead = Ahead::Buffer;
        /// V_ss. The paper counts the packets transmitted in slow start.
        slow_start_reward: SlowStartReward = SlowStartReward::Transmitted;
        /// Sessions that set RATCP's threshold. The index is lost in our text.
        threshold: Threshold = Threshold::Recovery;
        /// TCP's window before the reduction. Open in the paper.
        halved: Halved = Halved::Loss;
        /// Arrivals beyond the limit of sessions. Open in the paper.
        blocking: Blocking = Blocking::AfterDepartures;
    }
}

crate::settings! {
    /// The link, the sessions and the protocol: BDP 20 packets and a buffer of 25.
    pub struct Params {
        ..readings: Readings;
        /// The protocol of the persistent session.
        protocol: Protocol = Protocol::Ratcp;
        /// The rate of the link.
        rate: Rate = Rate(800_000), Rate(1)..=Rate(1_000_000_000_000);
        /// The size of a packet.
        packet: Bytes = Bytes(1000), Bytes(1)..=Bytes(65535);
        /// Δ, the round-trip propagation delay, which is also the length of an interval.
        delay: Span = Span::from_millis(200), Span::from_micros(10)..=Span::from_secs(100);
        /// B, the packets that the buffer holds with the one in service.
        buffer: u32 = 25, 1..=1000;
        /// λ, ephemeral sessions that arrive per second; at most one per delay.
        arrivals: f64 = 0.1, 0.000001..=1000000.0;
        /// The mean size of an ephemeral session.
        session: Bytes = Bytes(100_000), Bytes(1)..=Bytes(1_000_000_000_000);
        /// N_max, the most ephemeral sessions at a time.
        max_sessions: u32 = 10, 1..=100;
        /// δ, RATCP's target backlog in packets.
        backlog: f64 = 1.0, 0.0..=1000.0;
    }
    check |it| it.consistent()
}

/// A named combination of readings.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// A sentence.
    pub about: &'static str,
    /// The fields that differ from the defaults, and their values.
    pub set: &'static [(&'static str, &'static str)],
}

/// Every preset.
pub const PRESETS: &[Preset] = &[
    Preset { name: "paper", about: "The paper's sentences, and the defaults where it is silent.", set: &[] },
    Preset {
        name: "packet-by-packet",
        about: "Packets one by one: evenly spaced acknowledgements, service carried over epochs, slow start without mini-cycles.",
        set: &[
            ("ack_spacing", "even"),
            ("service", "carried"),
            ("slow_start", "packets"),
            ("slow_start_reward", "acknowledged"),
        ],
    },
];

impl Params {
    /// μ: packets per second.
    pub fn capacity(&self) -> f64 {
        self.rate.packets(self.packet)
    }

    /// μΔ: packets per delay.
    pub fn bdp(&self) -> f64 {
        self.capacity() * self.delay.as_secs_f64()
    }

    /// μΔ/(n+1): packets that the link can serve for the persistent session in an interval with `n` ephemeral sessions.
    pub fn share(&self, sessions: u32) -> f64 {
        self.bdp() / f64::from(sessions + 1)
    }

    /// W^r = μΔ/(n+1) + δ, and at least one packet, without which a source would stall.
    pub fn rate_window(&self, sessions: u32) -> f64 {
        (self.share(sessions) + self.backlog).max(1.0)
    }

    /// These parameters with the readings of `preset`.
    pub fn with(mut self, preset: &Preset) -> Params {
        self.readings = Readings::default();
        for (field, value) in preset.set {
            let set = self.set(field, &crate::settings::Raw::Text((*value).to_string()));
            debug_assert!(set.is_ok(), "{}: {field} = {value}: {set:?}", preset.name);
        }
        self
    }

    fn consistent(&self) -> Result<(), String> {
        let arrivals = self.arrivals * self.delay.as_secs_f64();
        if arrivals > 1.0 {
            return Err(format!(
                "arrivals = {} and delay = {} make {arrivals:.2} arrivals per delay; the model has at most one: lower one of them",
                self.arrivals, self.delay
            ));
        }
        let least = self.share(self.max_sessions);
        if self.readings.service == Service::Whole && least < 1.0 {
            return Err(format!(
                "with max_sessions = {} the link serves {least:.2} packets per delay, and no packet in whole intervals: \
                 lower max_sessions or set service = carried",
                self.max_sessions
            ));
        }
        if self.bdp() > 500.0 {
            return Err(format!(
                "a bandwidth-delay product of {:.0} packets is too large a chain; at most 500",
                self.bdp()
            ));
        }
        Ok(())
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Options of a TCP host.

use super::accecn::{self, Ecn};
use super::rtt::Estimator;
use super::{Encoding, Pacing, Reduction};
use crate::cc::{Crossing, SlowStart, Start, Version};
use crate::settings::names::same_name;
use crate::units::{Bytes, Span};

crate::choice! {
    /// The method by which a sender detects and repairs losses.
    pub enum Recovery {
        /// Every loss waits for the retransmission timer; slow start and avoidance only.
        OldTahoe = "old-tahoe",
        /// Three duplicates retransmit and start over from one packet (Jacobson 1988).
        Tahoe = "tahoe",
        /// Fast retransmit and fast recovery, which the first new acknowledgement ends (RFC 5681).
        Reno = "reno",
        /// Fast recovery that partial acknowledgements continue (RFC 6582).
        NewReno = "newreno",
        /// A scoreboard of selective acknowledgements (RFC 6675).
        Sack = "sack",
        /// Times of sending in addition to the scoreboard, and probes at the tail (RACK-TLP, RFC 8985).
        Rack = "rack",
    }
}

impl Recovery {
    /// Whether selective acknowledgements guide it.
    pub fn selective(self) -> bool {
        matches!(self, Recovery::Sack | Recovery::Rack)
    }
}

crate::choice! {
    /// The host whose options are the defaults.
    pub enum Host {
        /// The papers' host, of 2007: RFC 6675, an initial window of two.
        Paper = "paper",
        /// Linux 6: RACK-TLP, PRR, an initial window of ten, delayed acknowledgements, its own CUBIC and BBR.
        Linux = "linux",
    }
}

impl Host {
    /// The host of this name.
    pub fn named(name: &str) -> Option<Host> {
        Host::ALL.iter().copied().find(|host| same_name(host.name(), name))
    }
}

crate::choice! {
    /// The value from which a loss reduces the window.
    pub enum Reduced {
        /// The window, as far as the receiver has room for it (ns-2's `windowd`).
        Window = "window",
        /// The outstanding packets, where the window is not full (FlightSize, RFC 5681 equation 4).
        Outstanding = "outstanding",
    }
}

crate::choice! {
    /// The packet whose sending time is echoed by an acknowledgement that fills no gap, and whether it is a sample.
    pub enum Echo {
        /// The packet that caused it: every acknowledgement measures a round trip.
        Own = "own",
        /// The last packet in order, and the controller takes the sample (ns-2's sink).
        InOrder = "in-order",
        /// The last packet in order, and a duplicate measures nothing (RFC 7323 §4.3 and §4.1).
        Rfc7323 = "rfc7323",
    }
}

crate::choice! {
    /// The form in which a receiver reports congestion marks.
    pub enum EcnFeedback {
        /// One bit: until the sender answers (RFC 3168), or packet by packet for controllers that count marks (RFC 8257 §3.2).
        Echo = "echo",
        /// Counts of marked packets, modulo 8, and of their bytes (AccECN, RFC 9768); acknowledgements may be for marked and other packets together, and are 8 bytes longer.
        AccEcn = "accecn",
        /// The count of packets alone, as where the path strips the option of AccECN.
        Ace = "ace",
    }
}

crate::choice! {
    /// What a receiver knows of ECN.
    pub enum ReceiverEcn {
        /// As much as its sender, and the echo that the controller needs.
        Same = "same",
        /// Nothing: the connection has no ECN.
        None = "none",
        /// Echoes until the sender answers (RFC 3168). A controller that counts marks then takes an echo for a loss, and its packets carry ECT(0) (RFC 9331 §4.2).
        Classic = "classic",
        /// AccECN (RFC 9768): the sender decides.
        AccEcn = "accecn",
    }
}

crate::settings! {
    /// The options of a TCP sender and its receiver.
    pub struct Options {
        /// The host whose options are the defaults of all others.
        preset: Host = Host::Paper;
        /// The method by which losses are detected and repaired.
        recovery: Recovery = Recovery::Sack;
        /// The reduction of the window after a loss or a mark, with `sack` and `rack`.
        reduction: Reduction = Reduction::AtOnce;
        /// Probe for losses at the tail of a flight, with `rack` (RFC 8985 §7).
        probes: bool = true;
        /// The receiver reports segments received out of order (RFC 2018), with `rack`; without, duplicates are counted.
        sack: bool = true;
        /// The time that Linux adds to the timers of `rack`: to the window of reordering, and before a probe
        /// (TCP_TIMEOUT_MIN).
        timer_slack: Span = Span::ZERO, Span::ZERO..=Span::from_secs(1);
        /// With `rack`: the next acknowledgements may prove a timeout spurious (F-RTO, RFC 5682).
        frto: bool = true;
        /// With `rack`: the window shrinks while the connection is idle or does not use it (RFC 2861).
        slow_start_after_idle: bool = false;
        /// With `rack`: segments may wait for more to leave together, up to a third of the window (Linux `tcp_tso_should_defer`).
        tso: bool = false;
        /// The additional wait for a single packet before a probe (RFC 8985 §7.2, WCDelAckT).
        probe_ack_delay: Span = Span::from_millis(200), Span::ZERO..=Span::from_secs(10);
        /// Payload of a full packet.
        payload: Bytes = Bytes(1000), Bytes(1)..=Bytes(60_000);
        /// Headers on every packet and acknowledgement, with any options.
        header: Bytes = Bytes(40), Bytes(1)..=Bytes(1000);
        /// Window of a fresh connection in packets.
        initial_window: f64 = 2.0, 1.0..=1e6;
        /// Slow-start threshold of a fresh connection in packets; 0 for none.
        initial_ssthresh: f64 = 0.0, 0.0..=1e9;
        /// The growth of windows below the threshold; for bbr, bbr3 and others that define their own start, this has no effect.
        slow_start: SlowStart = SlowStart::Own;
        /// The use of the rest of an acknowledgement that takes a window past the threshold.
        crossing: Crossing = Crossing::Carried;
        /// The base of reductions by losses and timeouts; with `rack` it is always the window.
        reduced: Reduced = Reduced::Window;
        /// The version of a controller that runs where Linux's differs from its publication.
        controllers: Version = Version::Published;
        /// The receiver's window in packets.
        max_window: u32 = 1_000_000_000, 1..=1_000_000_000;
        /// The most memory of a receiver, half of which is room for payload; its window grows into it as Linux's does. 0 for no limit.
        receive_buffer: Bytes = Bytes(0), Bytes(0)..=Bytes(1 << 32);
        /// Every acknowledgement measures the round-trip time (RFC 7323); without, one a window does (Karn).
        timestamps: bool = true;
        /// The timestamp that duplicate acknowledgements echo, without `rack`.
        echo: Echo = Echo::Own;
        /// Least retransmission timeout; RFC 6298 recommends 1 s, Linux and ns-2 use 200 ms.
        rto_min: Span = Span::from_millis(200), Span::from_millis(1)..=Span::from_secs(60);
        /// Greatest retransmission timeout.
        rto_max: Span = Span::from_secs(60), Span::from_secs(1)..=Span::from_secs(3600);
        /// Retransmission timeout before the first sample (RFC 6298: 1 s; ns-2: 3 s).
        rto_initial: Span = Span::from_secs(1), Span::from_millis(1)..=Span::from_secs(60);
        /// Its computation from round-trip times, with `rack`.
        rto_estimator: Estimator = Estimator::Rfc6298;
        /// The clock tick G of RFC 6298.
        rto_granularity: Span = Span::from_millis(10), Span(1)..=Span::from_secs(1);
        /// Duplicate acknowledgements that mean a loss.
        dupthresh: u32 = 3, 1..=1000;
        /// The first duplicates each release a new packet (RFC 3042).
        limited_transmit: bool = true;
        /// The receiver acknowledges every second packet (RFC 5681 §4.2), or as `ack_every` says.
        delayed_ack: bool = false;
        /// With `delayed_ack`: the number of packets in order that share an acknowledgement, unless its timer expires first.
        ack_every: u32 = 2, 2..=1000;
        /// The time for which the receiver holds an acknowledgement back.
        delayed_ack_timeout: Span = Span::from_millis(100), Span::from_millis(1)..=Span::from_millis(500);
        /// Packets at the start of a transfer that a receiver acknowledges at once all the same (Linux: 16).
        quick_acks: u32 = 0, 0..=1_000_000;
        /// The time for which a receiver collects acknowledgements of segments out of order, after three that it
        /// sends immediately, with `rack` (Linux: 1 ms); 0 for none.
        sack_delay: Span = Span::ZERO, Span::ZERO..=Span::from_millis(500);
        /// The receiver adapts how long it holds an acknowledgement back to the gaps between segments, and sends it
        /// early at marks (Linux `icsk_ack.ato`).
        adaptive_ack: bool = false;
        /// Pacing of a controller without its own pace: none, or by the host as Linux does under `fq`.
        pacing: Pacing = Pacing::Own;
        /// The part of its rate that a paced sender sends in one burst, at least two packets; 0 for single packets.
        burst: Span = Span::ZERO, Span::ZERO..=Span::from_millis(100);
        /// Respond to congestion marks (RFC 3168); without marking queues this has no effect.
        ecn: bool = true;
        /// The form in which the receiver reports marks.
        ecn_feedback: EcnFeedback = EcnFeedback::Echo;
        /// What the receiver knows of ECN; the connection uses what both ends know (RFC 9768 §3.1, Table 2).
        ecn_receiver: ReceiverEcn = ReceiverEcn::Same;
        /// A retransmitted SYN asks for no ECN (RFC 3168 §6.1.1.1; Linux `tcp_ecn_fallback`), and with AccECN the second one (RFC 9768
        /// §3.1.4.1): marking queues drop a SYN, which carries no codepoint. With AccECN, a path that changes the codepoint of a SYN in a way
        /// that no queue does ends ECN, too (§3.2.2.3).
        ecn_fallback: bool = false;
        /// Open each connection with a SYN, which costs a round trip.
        handshake: bool = false;
        /// Round trips of small packets that opening takes: 1 for TCP, 2 with TLS 1.3, 3 for ns-2's web requests.
        handshake_rounds: u32 = 1, 1..=16;
        /// Packets by which one acknowledgement may grow the window at most (RFC 5681: 1; RFC 3465: 2).
        growth_per_ack: f64 = 1.0, 1.0..=1e9;
        /// Grow the window only while it limits the sender (RFC 7661); ns-2 grows it always.
        window_validation: bool = true;
        /// Instead of only while it limits the sender, the window grows to what the most outstanding since its last reduction
        /// would have given (draft-ietf-ccwg-ratelimited-increase §3).
        rate_limited_increase: bool = false;
        /// NewReno restarts the timer at the first partial acknowledgement only (RFC 6582 §4).
        impatient: bool = true;
        /// The precision with which packets announce the window to queues.
        hint: Encoding = Encoding::Exact;
        /// Packets leave up to this much later, at random: a host's own noise, which breaks phase effects.
        jitter: Span = Span::ZERO, Span::ZERO..=Span::from_secs(1);
        /// Mean error added to each measured round-trip time, uniform from zero to twice this mean.
        rtt_noise: Span = Span::ZERO, Span::ZERO..=Span::from_secs(10);
    } check |options| {
        if options.rto_min > options.rto_max {
            return Err(format!(
                "rto_min, {}, is above rto_max, {}: lower the one or raise the other",
                options.rto_min, options.rto_max
            ));
        }
        Ok(())
    }
}

impl Options {
    /// The initial conditions of a controller on this host.
    pub fn start(&self) -> Start {
        let threshold = self.initial_ssthresh;
        Start {
            initial_window: self.initial_window,
            initial_ssthresh: if threshold == 0.0 { f64::INFINITY } else { threshold },
            // Linux hosts cut all of their windows, which the receive window bounds anyway.
            room: if self.recovery == Recovery::Rack { f64::INFINITY } else { f64::from(self.max_window) },
            slow_start: self.slow_start,
            crossing: self.crossing,
            version: self.controllers,
            segment: u32::try_from(self.payload.0).unwrap_or(u32::MAX),
        }
    }

    /// Whether the handshake, if there is one, negotiates ECN. Other hosts agree in advance on the echo that the controller needs.
    pub fn negotiates(&self) -> bool {
        self.ecn_feedback != EcnFeedback::Echo || self.ecn_receiver != ReceiverEcn::Same
    }

    /// What the sender knows of ECN.
    pub fn ecn_of_sender(&self) -> Ecn {
        match self.ecn_feedback {
            _ if !self.ecn => Ecn::None,
            EcnFeedback::Echo => Ecn::Classic,
            EcnFeedback::AccEcn | EcnFeedback::Ace => Ecn::Accurate,
        }
    }

    /// What the receiver knows of ECN.
    pub fn ecn_of_receiver(&self) -> Ecn {
        match self.ecn_receiver {
            ReceiverEcn::Same => self.ecn_of_sender(),
            ReceiverEcn::None => Ecn::None,
            ReceiverEcn::Classic => Ecn::Classic,
            ReceiverEcn::AccEcn => Ecn::Accurate,
        }
    }

    /// What connections use of ECN, unless their SYN is lost.
    pub fn ecn_mode(&self) -> Ecn {
        accecn::agree(self.ecn_of_sender(), self.ecn_of_receiver())
    }

    /// Whether marks are counted (AccECN).
    pub fn counts_marks(&self) -> bool {
        self.ecn_mode() == Ecn::Accurate
    }

    /// Whether marks are echoed as RFC 3168 has it, whatever the controller needs.
    pub fn echoes_once(&self) -> bool {
        self.ecn_receiver != ReceiverEcn::Same && self.ecn_mode() == Ecn::Classic
    }

    /// Whether a receiver answers every packet on arrival.
    pub fn answers_at_once(&self) -> bool {
        !self.delayed_ack && self.sack_delay == Span::ZERO
    }

    /// The options of a host.
    pub fn of(host: Host) -> Options {
        match host {
            Host::Paper => Options::default(),
            Host::Linux => Options {
                preset: host,
                recovery: Recovery::Rack,
                reduction: Reduction::Rfc9937,
                controllers: Version::Linux,
                // An Ethernet frame of 1500 bytes with timestamps.
                payload: Bytes(1448),
                header: Bytes(52),
                handshake: true,
                initial_window: 10.0,
                growth_per_ack: 1e9,
                delayed_ack: true,
                delayed_ack_timeout: Span::from_millis(40),
                quick_acks: 16,
                // tcp_comp_sack_delay_ns
                sack_delay: Span::from_millis(1),
                adaptive_ack: true,
                burst: Span::from_millis(1),
                // Requested only by controllers that need it (tcp_ecn = 2).
                ecn: false,
                ecn_fallback: true,
                // TCP_RTO_MIN bounds four times the variance, not the whole timeout.
                rto_granularity: Span::from_millis(200),
                rto_estimator: Estimator::Linux,
                timer_slack: Span::from_millis(2),
                slow_start_after_idle: true,
                tso: true,
                rto_max: Span::from_secs(120),
                ..Options::default()
            },
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Whether the window limits the sender, and the decay of an unused window.
//!
//! RFC 7661, RFC 2861; as Linux's `tcp_cwnd_validate`, `tcp_is_cwnd_limited` and `tcp_cwnd_restart` have it.
//!
//! ```text
//! limited     it was full when something was sent in this round trip; in slow start also W < 2 (most outstanding in it)
//! not used    for a timeout: S = max(S, 3/4 W), W = (W + max(most outstanding, initial window)) / 2
//! idle        for n timeouts: S likewise, W = W / 2^n, at least min(W, initial window)
//! ```

/// The use of the window.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    limited: bool,
    /// The most outstanding in this round trip, and the segment that ends it.
    most: u32,
    end: u32,
    /// The most outstanding since the window limited, or was changed; and when that was.
    used: u32,
    since: Time,
    increase: Increase,
}

use super::Rack;
use super::lent::Lent;
use super::news::News;
use crate::cc::Cause;
use crate::tcp::Options;
use crate::tcp::increase::Increase;
use crate::units::{Span, Time};

impl Usage {
    /// That of a fresh connection.
    pub fn new(options: &Options) -> Usage {
        let increase = Increase::new(options.initial_window);
        Usage { limited: false, most: 0, end: 0, used: 0, since: Time::ZERO, increase }
    }

    /// The part of `credit` by which a window that need not limit the sender may grow.
    pub fn permits(&mut self, credit: f64, host: &mut Lent) -> f64 {
        let (window, threshold) = (host.control.window, host.threshold());
        self.stamp(host.now);
        self.increase.follow(window);
        self.increase.permits(credit, window, threshold)
    }

    /// Whether the window limits the sender, which matters for its growth.
    #[inline]
    pub fn limits(&self, host: &mut Lent) -> bool {
        if self.limited {
            return true;
        }
        let window = host.control.window;
        window < host.threshold() && window < f64::from(2 * self.most)
    }

    /// The window was changed.
    pub fn stamp(&mut self, now: Time) {
        self.since = now;
    }
}

impl Rack {
    /// Packets by which the window may grow.
    #[inline]
    pub(super) fn credit(&mut self, delivered: u32, news: &News, host: &mut Lent) -> f64 {
        // With much reordering, segments that arrive out of order count, too.
        let progress = news.advanced || news.sacked && self.detection.degree > host.options.dupthresh;
        if !progress || self.reduces() {
            return 0.0;
        }
        let credit = f64::from(delivered).min(host.options.growth_per_ack);
        if host.options.rate_limited_increase {
            return self.usage.permits(credit, host);
        }
        let limits = !host.options.window_validation || self.usage.limits(host);
        self.usage.stamp(host.now);
        if limits { credit } else { 0.0 }
    }

    /// Something was sent, or could not be because the window is full.
    pub(super) fn validate(&mut self, host: &mut Lent, full: bool) {
        let (una, high, len) = (self.out.una(), self.out.high(), self.out.len());
        let usage = &mut self.usage;
        if host.options.rate_limited_increase {
            usage.increase.follow(host.control.window);
            usage.increase.fly(len);
        }
        if una >= usage.end || full || !usage.limited && len > usage.most {
            (usage.limited, usage.most, usage.end) = (full, len, high);
        }
        if usage.limits(host) {
            usage.used = 0;
            usage.since = host.now;
            return;
        }
        usage.used = usage.used.max(len);
        let unused = host.now.since(usage.since) >= host.rtt.timeout();
        if unused && host.options.slow_start_after_idle && !host.steers() {
            self.shrink_unused(host);
        }
    }

    #[cold]
    fn shrink_unused(&mut self, host: &mut Lent) {
        let used = self.usage.used.max(host.options.initial_window as u32);
        let window = host.window();
        if self.state == super::CongestionState::Open {
            if used < window {
                let threshold = self.present_threshold(host);
                host.resize(f64::from(window.midpoint(used)), threshold, Cause::Idle);
            }
            self.usage.used = 0;
        }
        self.usage.since = host.now;
    }

    /// New data follows an idle period.
    pub fn on_write(&mut self, host: &mut Lent) {
        let idle = host.now.since(self.last_sent);
        let starts = self.last_sent > Time::ZERO && self.out.is_empty() && host.options.slow_start_after_idle;
        if starts && !host.steers() && idle > host.rtt.timeout() {
            self.restart_window(host, idle);
        }
        self.turn = self.turn.and_fresh();
    }

    #[cold]
    fn restart_window(&mut self, host: &mut Lent, idle: Span) {
        let threshold = self.present_threshold(host);
        let mut window = host.window();
        let least = window.min(host.options.initial_window as u32);
        let mut left = idle.saturating_sub(host.rtt.timeout());
        while left > Span::ZERO && window > least {
            window /= 2;
            left = left.saturating_sub(host.rtt.timeout());
        }
        // The window that a reduction leaves is the controller's, and stays.
        match self.reduction {
            Some(_) => host.control.window = f64::from(window.max(least)),
            None => host.resize(f64::from(window.max(least)), threshold, Cause::Idle),
        }
        self.usage.since = host.now;
        self.usage.used = 0;
    }
}

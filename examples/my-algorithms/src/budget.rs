// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Budget: a window that grows while queues delay its packets by less than a budget, and shrinks beyond it.
//!
//! An example, in the manner of L. Brakmo et al., "TCP Vegas", SIGCOMM 1994.
//!
//! ```text
//! D < budget:    W += acked / W     D smoothed round-trip time less the least
//! D >= budget:   W -= acked / W     slow start ends
//! loss:          W = (1 - decrease) · flight
//! ```

use kneepoint::cc::delay::Delay;
use kneepoint::cc::window::{InLinux, Window};
use kneepoint::cc::{Ack, Control, Controller, Loss, Start, Timeout};
use kneepoint::rng::Rng;
use kneepoint::settings;
use kneepoint::units::Span;

settings! {
    /// Budget's parameters.
    pub struct Params {
        /// The queueing delay that it tolerates.
        budget: Span = Span::from_millis(5), Span::from_micros(1)..=Span::from_secs(10);
        /// The fraction by which a loss reduces the window.
        decrease: f64 = 0.5, 0.01..=0.99;
    }
}

/// A controller with a budget of delay.
#[derive(Clone, Debug)]
pub struct Budget {
    params: Params,
    window: Window,
    delay: Delay,
}

impl Controller for Budget {
    type Params = Params;

    fn new(params: Params, start: Start) -> Budget {
        Budget { params, window: Window::new(start, InLinux::Fractions), delay: Delay::new(0.875) }
    }

    fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
        ack.rtt.into_iter().for_each(|rtt| self.delay.observe(rtt));
        if self.delay.queueing() < self.params.budget {
            self.window.grow(ack, 1.0);
            return;
        }
        let less = self.window.packets - ack.credit / self.window.packets;
        self.window.packets = less.max(1.0);
        self.window.ssthresh = self.window.packets;
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.window.reduce_to(loss.flight * (1.0 - self.params.decrease));
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.window.restart(timeout, timeout.flight * (1.0 - self.params.decrease));
    }

    fn control(&self) -> Control {
        self.window.control()
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        vec![("queueing_ms", self.delay.queueing().as_secs_f64() * 1e3)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kneepoint::units::Time;

    #[test]
    fn the_window_shrinks_when_the_delay_is_beyond_the_budget() {
        let mut budget = Budget::new(Params::default(), Start::avoiding(10.0));
        let mut rng = Rng::stream(1, "budget", 0);
        let mut ack = |millis, acked| {
            let una = u64::from(acked);
            let ack = Ack {
                now: Time::ZERO,
                rtt: Some(Span::from_millis(millis)),
                one_way: None,
                acked,
                delivered: una,
                resent: 0,
                marked: 0,
                credit: f64::from(acked),
                limited: false,
                una,
                next: 10,
                in_flight: 10,
                recovering: false,
            };
            budget.on_ack(&ack, &mut rng);
            budget.control().window
        };
        assert_eq!(ack(20, 1), 10.1);
        // The average moves an eighth of the way to a sample: 30 ms of queueing count as 3.75 ms, then as 7.03 ms.
        let grown = ack(50, 1);
        assert!(grown > 10.1);
        assert!(ack(50, 1) < grown);
    }
}

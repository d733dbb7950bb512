// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Oracle: each sender receives its exact max-min fair rate, out of band and one round trip late.
//!
//! A. Karnik, A. Kumar, "Performance of TCP Congestion Control With Explicit Rate Feedback", IEEE/ACM ToN 13(1) 2005,
//! §III eq. (1) and §IV. D. Bertsekas, R. Gallager, "Data Networks", 2nd ed. 1992, §6.5.2 (max-min fairness).
//!
//! ```text
//! r(t) = fair rate at t - delay          C / n at a single bottleneck that n open flows share
//! ```
//!
//! `C` capacity in bit/s, averaged over `window` where it varies; `n` the flows that are open, whether or not they have
//! anything to send. With several links of this feedback, rates are max-min fair among them; links without it impose no
//! limit.
//!
//! Readings: the paper gives its sender "the exact rate feedback with appropriate delay" by a system call and computes the
//! window at every acknowledgement; here the sender looks the rate up at every acknowledgement. A sender receives no
//! information while no acknowledgement arrives. Flows whose controllers use no rate count like all others.

use super::{Feedback, OutOfBand};
use crate::queue::Facts;
use crate::settings::{Or, Rtt};
use crate::units::Span;

crate::settings! {
    /// The oracle's parameters.
    pub struct Params {
        /// The age of a rate when a sender learns it; `rtt` for the propagation delay there and back of each flow's path.
        delay: Or<Span, Rtt> = Or::WORD, Or::is(Span::ZERO)..=Or::is(Span::from_secs(100));
        /// The interval over which a capacity that varies is averaged.
        window: Span = Span::from_millis(1), Span::from_micros(1)..=Span::from_secs(10);
    }
}

/// An oracle of fair rates.
#[derive(Clone, Debug)]
pub struct Oracle(OutOfBand);

impl Feedback for Oracle {
    type Params = Params;

    fn new(params: Params, _: Facts) -> Oracle {
        Oracle(OutOfBand { delay: params.delay.get().copied(), window: params.window })
    }
    fn passive(&self) -> bool {
        true
    }
    fn out_of_band(&self) -> Option<OutOfBand> {
        Some(self.0)
    }
}

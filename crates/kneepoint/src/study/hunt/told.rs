// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A network in words, on one line.

use std::fmt;

use super::genome::{Genome, Step};

impl fmt::Display for Genome {
    /// `0.5 Mbit/s, 29 ms for 1.9 s; 9.5 Mbit/s, 28 ms for 0.9 s; 100 packets, codel`
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let step = |step: &Step| {
            let Step { rate, delay, lasting } = *step;
            let (rate, lasting) = (f64::from(rate) / 1e3, f64::from(lasting) / 1e3);
            format!("{rate} Mbit/s, {delay} ms one way for {lasting} s")
        };
        let steps: Vec<String> = self.steps.iter().map(step).collect();
        write!(f, "{}; {} packets", steps.join(", then "), self.buffer)?;
        if self.queue != crate::queue::REGISTRY[0].name {
            write!(f, ", {}", self.queue)?;
        }
        let told = [
            (self.loss, f64::from(self.loss) / 1e4, "% lost"),
            (self.jitter, f64::from(self.jitter) / 1e3, "ms of jitter"),
            (self.aggregation, f64::from(self.aggregation) / 1e3, "ms between bunches of acknowledgements"),
            (self.burst, f64::from(self.burst) / 1e3, "Mbit/s of cross traffic"),
            (self.odd_delay, f64::from(self.odd_delay), "ms more for one"),
            (self.odd_jitter, f64::from(self.odd_jitter) / 1e3, "ms of jitter for one"),
            (self.rival_start, f64::from(self.rival_start) / 1e3, "s until the other starts"),
        ];
        for (number, shown, what) in told {
            if number > 0 {
                write!(f, ", {shown} {what}")?;
            }
        }
        if self.burst > 0 {
            let [from, lasting] = [self.burst_start, self.burst_lasting].map(|time| f64::from(time) / 1e3);
            write!(f, " from {from} s for {lasting} s")?;
        }
        Ok(())
    }
}

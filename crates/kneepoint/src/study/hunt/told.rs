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
            let [rate, from, lasting] =
                [self.burst, self.burst_start, self.burst_lasting].map(|number| f64::from(number) / 1e3);
            write!(f, ", {rate} Mbit/s of cross traffic from {from} s for {lasting} s")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_of_cross_traffic_stand_beside_it() {
        let burst = Genome {
            steps: vec![Step { rate: 1000, delay: 2, lasting: 2000 }],
            rival_start: 1000,
            burst: 1244,
            burst_start: 515,
            burst_lasting: 2000,
            ..Genome::plain(10)
        };
        assert_eq!(
            burst.to_string(),
            "1 Mbit/s, 2 ms one way for 2 s; 10 packets, 1 s until the other starts, 1.244 Mbit/s of cross traffic from 0.515 s for 2 s"
        );
    }
}

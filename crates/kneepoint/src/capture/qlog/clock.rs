// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The times of a trace: since an epoch, or each since the event before.
//!
//! Events should be in the order of time, and need not be (draft-ietf-quic-qlog-main-schema): several threads may
//! log. The epoch may be when the log was begun, shortly after its first packet arrived; later times below zero
//! are errors.

use super::fault::Place;
use crate::units::Time;

/// Larger numbers are not times: a century in milliseconds.
pub(super) const LATEST: f64 = 3.2e12;
/// Steps back up to this many milliseconds are those of threads that log.
const SETBACK: f64 = 1.0;

/// The clock of a trace.
pub(super) struct Clock {
    /// Whether each time is since the event before.
    relative: bool,
    /// The first time and the last one, in milliseconds.
    begin: Option<f64>,
    last: Option<f64>,
    setbacks: u64,
    /// The first of them: where it is, and by how many milliseconds.
    first: Option<(Place, f64)>,
}

impl Clock {
    /// By the name of the format, in all drafts.
    pub(super) fn new(format: Option<&str>) -> Clock {
        let relative = matches!(format, Some("relative_to_previous_event" | "delta"));
        Clock { relative, begin: None, last: None, setbacks: 0, first: None }
    }

    /// The time of the next event since the first one. An error says why it is none.
    pub(super) fn take(&mut self, place: Place, time: f64) -> Result<Time, String> {
        if !time.is_finite() || time.abs() > LATEST {
            return Err(format!(
                "{} is not a time in milliseconds, from 0 to {}",
                shown(time),
                shown(LATEST)
            ));
        }
        let before = self.last;
        let now = if self.relative { before.unwrap_or_default() + time } else { time };
        if let Some(before) = before.filter(|before| *before >= 0.0 && now < -SETBACK) {
            return Err(format!("a time of {} ms, below zero, follows {} ms", shown(now), shown(before)));
        }
        let back = before.map_or(0.0, |before| before - now);
        if back > SETBACK {
            self.setbacks += 1;
            self.first.get_or_insert((place, back));
        }
        self.last = Some(now);
        let since = (now - *self.begin.get_or_insert(now)).clamp(0.0, LATEST);
        Ok(Time(libm::round(since * 1e6) as u64))
    }

    /// A remark on times that are not in order.
    pub(super) fn doubt(&self) -> Option<String> {
        let (place, back) = self.first?;
        let more = match self.setbacks {
            1 => String::new(),
            all => format!(" This is the first of {all} such steps."),
        };
        Some(format!(
            "At {place} the time goes back by {back:.1} ms. Events were taken in the order of the file.{more}"
        ))
    }
}

/// A number of a few characters.
fn shown(number: f64) -> String {
    if number.abs() < 1e15 { number.to_string() } else { format!("{number:e}") }
}

#[cfg(test)]
mod tests {
    use super::{Clock, Place};
    use crate::units::Time;

    /// The clock after these times, or the error of the last one.
    fn led(format: Option<&str>, times: &[f64]) -> Result<(Clock, Time), String> {
        let (mut clock, mut last) = (Clock::new(format), Time::ZERO);
        for (line, time) in times.iter().enumerate() {
            last = clock.take(Place::Line(line + 2), *time)?;
        }
        Ok((clock, last))
    }

    #[test]
    fn times_are_since_the_first_event() {
        let last = |format, times: &[f64]| led(format, times).expect("times").1;
        assert_eq!(last(None, &[1500.0, 1505.0, 1522.5]), Time(22_500_000));
        assert_eq!(last(Some("delta"), &[1500.0, 5.0, 17.5]), Time(22_500_000));
        // The packet that opened the connection arrived before the log.
        assert_eq!(last(Some("relative_to_epoch"), &[-0.5, 0.0, 2.0]), Time(2_500_000));
        assert_eq!(last(Some("relative_to_previous_event"), &[0.0, 4.0, -1.5]), Time(2_500_000));
    }

    #[test]
    fn values_that_are_not_times_are_refused() {
        for (times, said) in [
            (&[1e300][..], "1e300 is not a time in milliseconds, from 0 to 3200000000000"),
            (&[3.0, -4e12], "-4000000000000 is not a time"),
            (&[324.4, -5.0], "a time of -5 ms, below zero, follows 324.4 ms"),
        ] {
            let refused = led(None, times).err().expect("no time");
            assert!(refused.contains(said), "{refused}");
        }
        assert!(led(Some("delta"), &[3.0, -5.0]).is_err());
    }

    #[test]
    fn steps_back_are_told() {
        let doubt = |times: &[f64]| led(None, times).expect("times").0.doubt();
        assert_eq!(doubt(&[1.0, 2.0, 1.5, 2.0]), None);
        let one = doubt(&[1.0, 40.0, 10.0, 41.0]).expect("a remark");
        assert!(
            one.contains("At line 4 the time goes back by 30.0 ms") && !one.contains("first of"),
            "{one}"
        );
        assert!(doubt(&[9.0, 1.0, 9.0, 1.0]).is_some_and(|two| two.contains("first of 2")));
    }
}

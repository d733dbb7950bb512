// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Recordings as the text of a trace file.

use std::borrow::Cow;
use std::fmt::Write;

use super::{Course, Recording, Times};
use crate::units::{Rate, Span, Time};

/// Intervals in which rates are averaged.
const MOST: u64 = 1_000_000;

impl Recording {
    /// The mean rate of each interval of a period, of which the last may be shorter; `None` where there would be more than a million.
    pub fn averages(&self, interval: Span) -> Option<Vec<(Span, Rate)>> {
        let period = self.period();
        if interval == Span::ZERO || period.0 / interval.0 >= MOST {
            return None;
        }
        let mut before = 0.0;
        let averages = (0..period.0.div_ceil(interval.0)).map(|place| {
            let (from, to) = (place * interval.0, ((place + 1) * interval.0).min(period.0));
            let until = self.carried(Time(to));
            let rate = (until - before) * 1e9 / (to - from) as f64;
            before = until;
            (Span(from), Rate(rate.round() as u64))
        });
        Some(averages.collect())
    }

    /// Delivery opportunities: the same, or derived from the rates, without other columns.
    pub fn to_mahimahi(&self) -> String {
        match self {
            Recording::Opportunities(times) => times.to_text(),
            Recording::Course(course) => {
                Times::of(|at| course.carried(at) as f64 / 1e9, course.period()).to_text()
            }
        }
    }

    /// Rows of a duration, its rate and other quantities, under a header. Opportunities become their mean rates in such
    /// an
    /// interval; `None` where there would be more than a million.
    pub fn to_csv(&self, interval: Span) -> Option<String> {
        let course = self.rated(interval)?;
        let mut text = "duration_s,rate_bps".to_string();
        course.besides().iter().for_each(|one| text += &format!(",{}", one.name));
        for (place, (point, end)) in course.held().enumerate() {
            let lasts = Span(end.0 - point.at.0).as_secs_f64();
            let _ = write!(text, "\n{lasts},{}", point.rate.0);
            course.besides().iter().for_each(|one| {
                let _ = write!(text, ",{}", one.values[place]);
            });
        }
        Some(text + "\n")
    }

    /// The same as a list of objects with Sabre's keys.
    pub fn to_json(&self, interval: Span) -> Option<String> {
        let course = self.rated(interval)?;
        let rows = course.held().enumerate().map(|(place, (point, end))| {
            let lasts = Span(end.0 - point.at.0).as_secs_f64() * 1e3;
            let kilobits = point.rate.0 as f64 / 1e3;
            let mut row = format!("{{\"duration_ms\": {lasts}, \"bandwidth_kbps\": {kilobits}");
            course.besides().iter().for_each(|one| {
                let _ = write!(row, ", \"{}\": {}", one.name, one.values[place]);
            });
            row + "}"
        });
        Some(format!("[\n  {}\n]\n", rows.collect::<Vec<_>>().join(",\n  ")))
    }

    fn rated(&self, interval: Span) -> Option<Cow<'_, Course>> {
        match self {
            Recording::Course(course) => Some(Cow::Borrowed(course)),
            Recording::Opportunities(times) => {
                Course::new(&self.averages(interval)?, times.period(), Vec::new()).map(Cow::Owned)
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The observers of a run, and the rows that they yield.

use super::work::Packets;
use crate::measure::{COLUMNS, Meter, Parts, Series, Subject};
use crate::predict::{Judge, Prediction, Score};
use crate::run::Joined;
use crate::table::{Row, Table};
use crate::trace::{Event, LinkId, Observer};
use crate::units::{Interval, Time};

/// The results of a run.
#[derive(Clone, Debug)]
pub struct Yield {
    /// Numbers under labels.
    pub rows: Vec<Row>,
    /// The sampled state, if the run was sampled.
    pub series: Option<Table>,
    /// The headline metrics over equal parts of the window, if a report shows the run.
    pub parts: Option<Table>,
}

impl Packets {
    /// The observers of its run with this seed.
    pub fn watch(&self, seed: u64) -> Watch {
        let series = self.valid.schedule().sample.map(|_| Series::new(&self.valid, seed, self.followed()));
        // The parser refuses flows that cannot be watched.
        let prediction = self.watched.as_ref().and_then(|watched| watched.prediction(&self.valid).ok());
        let window = |(name, window): &(String, Interval)| {
            (name.clone(), Meter::in_window(&self.valid, seed, *window))
        };
        let windows = self.windows.iter().map(window).collect();
        let (meter, subjects) = match self.shown {
            // A lone group got all of the bottleneck, which a report need not say.
            true => (Meter::new(&self.valid, seed), Subject::ALL),
            false => (Meter::with_shares(&self.valid, seed), &Subject::FEW[..]),
        };
        let parts = self.shown.then(|| Parts::new(&self.valid));
        let measured = Measured { meter, subjects, windows, parts };
        Watch { measured, others: (series, prediction) }
    }
}

/// The metrics of a predictor: how often each of six transitions occurred, and their rates.
pub(super) const SCORES: [&str; 10] =
    ["n1", "n2", "n3", "n4", "n5", "n6", "efficiency", "false_positives", "false_negatives", "density"];

/// Watches a run.
pub struct Watch {
    measured: Measured,
    /// Observers of some runs.
    others: (Option<Series>, Option<Prediction>),
}

/// What is measured of any run, and of each region of a divided one.
pub struct Measured {
    meter: Meter,
    subjects: &'static [Subject],
    windows: Vec<(String, Meter)>,
    parts: Option<Parts>,
}

impl Observer for Watch {
    #[inline(always)]
    fn on(&mut self, at: Time, event: &Event) {
        self.measured.on(at, event);
        self.others.on(at, event);
    }

    fn clock(&self) -> bool {
        self.others.clock()
    }

    fn advance(&mut self, now: Time) {
        self.others.advance(now);
    }
}

impl Observer for Measured {
    #[inline(always)]
    fn on(&mut self, at: Time, event: &Event) {
        self.meter.on(at, event);
        for (_, meter) in &mut self.windows {
            meter.on(at, event);
        }
        self.parts.on(at, event);
    }
}

impl Joined for Measured {
    fn join(&mut self, other: Measured, theirs: &dyn Fn(LinkId) -> bool) {
        self.meter.join(other.meter, theirs);
        for ((_, meter), (_, more)) in self.windows.iter_mut().zip(other.windows) {
            meter.join(more, theirs);
        }
        if let (Some(parts), Some(more)) = (&mut self.parts, other.parts) {
            parts.join(more, theirs);
        }
    }
}

impl Watch {
    /// The observations.
    pub fn finish(self) -> Yield {
        let (series, prediction) = self.others;
        let mut seen = self.measured.finish();
        seen.rows.extend(prediction.map(Prediction::finish).iter().flatten().flat_map(score));
        Yield { series: series.map(Series::table), ..seen }
    }

    /// The observations of a region, to be [joined](Joined): divided runs are not sampled, and no predictor watches them.
    pub fn of_region(self) -> Measured {
        self.measured
    }
}

impl Measured {
    /// The observations.
    pub fn finish(self) -> Yield {
        let mut rows = self.meter.rows(self.subjects);
        for (name, meter) in self.windows {
            let inside = meter.rows(&Subject::FEW).into_iter();
            rows.extend(inside.map(|row| row.under("window", &name)));
        }
        Yield { rows, series: None, parts: self.parts.map(Parts::table) }
    }
}

/// The label of a bin: its middle.
fn bin(middle: f64) -> String {
    format!("{middle:.4}")
}

/// The sampled state as rows: at each instant a row for each link, and one for each group.
pub fn over_time(table: &Table) -> Vec<Row> {
    let of_link = |name| COLUMNS.iter().any(|one| one.name == name && one.subject == Subject::Link);
    let axis_of = |column| if of_link(table.quantity(column)) { "link" } else { "group" };
    let mut subjects: Vec<(&'static str, &str, Vec<usize>)> = Vec::new();
    for column in 1..table.columns.len() {
        let (axis, name) = (axis_of(column), table.subject(column));
        match subjects.iter_mut().find(|(of, known, _)| (*of, *known) == (axis, name)) {
            Some((.., columns)) => columns.push(column),
            None => subjects.push((axis, name, vec![column])),
        }
    }
    let at = |row: &[f64], (axis, subject, columns): &(&'static str, &str, Vec<usize>)| {
        let time = row.first().copied().unwrap_or(f64::NAN).to_string();
        let labels = Row::new([("time", time), (*axis, subject.to_string())]);
        columns.iter().fold(labels, |labels, column| labels.with(table.quantity(*column), row[*column]))
    };
    table.rows.iter().flat_map(|row| subjects.iter().map(move |subject| at(row, subject))).collect()
}

/// The scores of a predictor, and the distribution of the queue at its false positives.
fn score(score: &Score) -> Vec<Row> {
    let judge = match score.judged_by {
        Judge::Flow => "flow",
        Judge::Queue => "queue",
    };
    let row = |bin: Option<String>| {
        let labels = [("predictor", score.predictor.clone()), ("judge", judge.to_string())];
        Row::new(labels.into_iter().chain(bin.map(|bin| ("bin", bin))))
    };
    let counted = (1..)
        .zip(score.counts)
        .fold(row(None), |row, (number, count)| row.with(format!("n{number}"), count as f64));
    let whole = counted
        .with("efficiency", score.efficiency)
        .with("false_positives", score.false_positives)
        .with("false_negatives", score.false_negatives);
    let lengths = &score.queue_at_false_positives;
    // Without a false positive there is no distribution, as opposed to one of zeros.
    let known = lengths.iter().any(|share| *share > 0.0);
    let bins = lengths.iter().enumerate().filter(|_| known).map(|(place, share)| {
        let middle = (place as f64 + 0.5) / lengths.len() as f64;
        row(Some(bin(middle))).with("density", *share)
    });
    std::iter::once(whole).chain(bins).collect()
}

/// The scores in these rows, whose queue lengths were counted in `bins` steps.
pub fn scores(rows: &[Row], bins: usize) -> Vec<Score> {
    let mut scores: Vec<Score> = Vec::new();
    let mut filled = 0;
    for row in rows {
        let label = |axis: &str| row.labels.get(axis).map(String::as_str);
        let (Some(predictor), Some(judge)) = (label("predictor"), label("judge")) else { continue };
        let value = |metric: &str| row.values.get(metric).copied().flatten().unwrap_or(f64::NAN);
        match scores.last_mut() {
            Some(last) if label("bin").is_some() => {
                if let Some(share) = last.queue_at_false_positives.get_mut(filled) {
                    *share = value("density");
                }
                filled += 1;
            }
            _ => {
                filled = 0;
                scores.push(Score {
                    predictor: predictor.to_string(),
                    judged_by: if judge == "flow" { Judge::Flow } else { Judge::Queue },
                    counts: [1, 2, 3, 4, 5, 6].map(|number| value(&format!("n{number}")) as u64),
                    efficiency: value("efficiency"),
                    false_positives: value("false_positives"),
                    false_negatives: value("false_negatives"),
                    queue_at_false_positives: vec![0.0; bins],
                });
            }
        }
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::run;
    use crate::scenario::parse;
    use crate::units::Span;

    #[test]
    fn a_run_gives_rows_for_the_whole_for_links_for_groups_and_over_time() {
        let text = "[run]\nduration = '4s'\nsample = '1s'\n[topology]\nkind = 'dumbbell'\nrate = '10mbit'\n\
                    [[flows]]\nname = 'long'\ncount = 2\ncc = 'pert'\n";
        let valid = parse(text).unwrap().cases.remove(0).valid;
        let packets = Packets::from(valid);
        let (watch, _) = run(&packets.valid, 1, packets.watch(1));
        let Yield { mut rows, series, .. } = watch.finish();
        rows.extend(series.iter().flat_map(over_time));
        let find = |axis: &[&str]| {
            rows.iter().find(|row| row.labels.keys().eq(axis.iter())).unwrap_or_else(|| panic!("{axis:?}"))
        };
        assert!(find(&[]).values["utilization"].is_some_and(|used| used > 0.1));
        assert_eq!(find(&["link"]).values["utilization"], find(&[]).values["utilization"]);
        assert!(find(&["group"]).values["jain_index"].is_some_and(|index| index > 0.4));
        let shared = rows.iter().filter(|row| row.labels.contains_key("group"));
        let shared: Vec<_> = shared.flat_map(|row| row.values.get("share").copied().flatten()).collect();
        assert_eq!(shared, [1.0], "of a group alone");
        assert!(find(&["bin", "group"]).values["queue_position_share"].is_some_and(|part| part > 0.0));
        let later = rows.iter().filter(|row| row.labels.get("time").is_some_and(|time| time == "3"));
        assert_eq!(later.count(), 2);
    }

    #[test]
    fn each_window_has_rows_of_its_own_and_controllers_tell_what_they_remember() {
        let text = "[run]\nduration = '9s'\nsample = '1s'\n[topology]\nkind = 'dumbbell'\nrate = '10mbit'\n\
                    [[flows]]\nname = 'long'\ncc = 'pert'\nstart = '4s'\nstop = '7s'\n";
        let valid = parse(text).unwrap().cases.remove(0).valid;
        let window = |name: &str, from, to| {
            let at = |seconds| Span::from_secs(seconds).after_start();
            (name.to_string(), Interval { from: at(from), to: at(to) })
        };
        let windows = vec![window("before", 0, 4), window("while", 4, 7)];
        let packets = Packets { windows, ..Packets::from(valid) };
        let (watch, _) = run(&packets.valid, 1, packets.watch(1));
        let Yield { mut rows, series, .. } = watch.finish();
        rows.extend(series.iter().flat_map(over_time));
        let used = |name: &str| {
            let inside = |row: &&Row| {
                row.labels.len() == 1 && row.labels.get("window").is_some_and(|label| label == name)
            };
            rows.iter().find(inside).and_then(|row| row.values["utilization"])
        };
        assert_eq!(used("before"), Some(0.0));
        assert!(used("while").is_some_and(|used| used > 0.2), "{:?}", used("while"));
        let remembered = |time: &str| {
            let then = |row: &&Row| {
                row.labels.get("time").is_some_and(|at| at == time) && row.labels.contains_key("group")
            };
            rows.iter().find(then).map(|row| (row.values["srtt_ms"], row.values["rtt_ms"]))
        };
        assert_eq!(remembered("3"), Some((None, None)));
        assert!(matches!(remembered("6"), Some((Some(srtt), Some(rtt))) if srtt >= 60.0 && rtt >= 60.0));
        assert_eq!(remembered("8"), Some((None, None)));
    }
}

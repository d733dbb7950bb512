// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The accuracy of congestion predictors: the document, and records for machines.

use super::Factor;
use super::document::{Block, Column, Document, Figure, Layout, Section, Shown, Table, TableLine};
use super::names;
use crate::chart::{Bar, Curve, Panel, bars, scheme_class};
use crate::predict::{Judge, Score};
use crate::table::{Bounds, Cell, Estimate, Records, number};

crate::keys! {
    /// Predictors that watched flows.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Predictions {
        /// The scenario or the captures.
        pub title: String,
        /// The factors of a sweep.
        pub factors: Vec<Factor>,
        /// One for each watched flow.
        pub cases: Vec<WatchedFlow>,
        /// Remarks for readers.
        pub notes: Vec<String>,
    }

    /// Predictors that watched one flow.
    #[derive(Clone, Debug, PartialEq)]
    pub struct WatchedFlow {
        /// The case of the sweep; empty without one.
        pub case: String,
        /// The place of its level in each factor.
        #[serde(skip)]
        pub levels: Vec<usize>,
        /// The flow.
        pub flow: String,
        /// The judge's losses: `flow`, `queue`.
        pub judges: Vec<Judge>,
        /// One for each time that it was watched.
        pub runs: Vec<WatchedRun>,
        /// The scores of a captured flow on its own losses at other times, one list for each shift.
        pub chance: Vec<Vec<Score>>,
        /// The captured packets of it.
        #[serde(skip)]
        pub course: Option<Course>,
    }
}

/// Round trips and losses of a captured flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    /// Times in seconds, and round trips in milliseconds.
    pub round_trips: Vec<(f64, f64)>,
    /// Times of losses in seconds.
    pub losses: Vec<f64>,
}

crate::keys! {
    /// One flow watched once.
    #[derive(Clone, Debug, PartialEq)]
    pub struct WatchedRun {
        /// The seed; null for a capture.
        pub seed: Option<u64>,
        /// One for each predictor and judge.
        pub scores: Vec<Score>,
    }
}

/// A measure of a predictor.
struct Measure {
    title: &'static str,
    of: fn(&Score) -> f64,
    /// The counts whose ratio it is: a part, and the whole.
    parts: fn(&Score) -> (u64, u64),
}

/// The three of Figure 3.
const MEASURES: [Measure; 3] = [
    Measure {
        title: "efficiency",
        of: |score| score.efficiency,
        parts: |score| (score.counts[1], score.counts[1] + score.counts[4]),
    },
    Measure {
        title: "false positives",
        of: |score| score.false_positives,
        parts: |score| (score.counts[4], score.counts[1] + score.counts[4]),
    },
    Measure {
        title: "false negatives",
        of: |score| score.false_negatives,
        parts: |score| (score.counts[3], score.counts[1] + score.counts[3]),
    },
];

/// Fewer episodes of loss than this cannot separate predictors: of ten, Wilson's interval of a half is 24 % to 76 %.
const FEW: u64 = 10;

/// Percent.
const SCALE: f64 = 100.0;

impl WatchedFlow {
    /// The predictors in order.
    fn predictors(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for score in self.runs.iter().flat_map(|run| &run.scores) {
            if !names.contains(&score.predictor.as_str()) {
                names.push(&score.predictor);
            }
        }
        names
    }

    /// A mean over the runs in which it is defined.
    fn estimate(&self, predictor: &str, judge: Judge, of: fn(&Score) -> f64) -> Estimate {
        let scores = self.runs.iter().flat_map(|run| &run.scores);
        let scores = scores.filter(|score| score.predictor == predictor && score.judged_by == judge);
        let values: Vec<f64> = scores.map(of).filter(|value| !value.is_nan()).collect();
        Estimate::of(&values)
    }

    /// A measure of a predictor: over the runs, or of a single capture with the interval of this many episodes.
    fn measured(&self, predictor: &str, judge: Judge, measure: &Measure) -> Estimate {
        let whole = self.estimate(predictor, judge, measure.of);
        let [run] = &self.runs[..] else { return whole };
        let own = |score: &&Score| score.predictor == predictor && score.judged_by == judge;
        let Some(score) = run.scores.iter().find(own).filter(|_| run.seed.is_none()) else { return whole };
        Estimate { half_width: wilson((measure.parts)(score)), ..whole }
    }

    /// The mean efficiency on losses at other times.
    fn by_chance(&self, predictor: &str, judge: Judge) -> f64 {
        let scores = self.chance.iter().flatten();
        let own = scores.filter(|score| score.predictor == predictor && score.judged_by == judge);
        let (hits, all) = own.map(MEASURES[0].parts).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        hits as f64 / all as f64
    }

    /// Episodes of loss, as counted by the predictor that predicted most of them.
    fn episodes(&self, judge: Judge) -> u64 {
        let scores = self.runs.iter().flat_map(|run| &run.scores);
        let met = scores.filter(|score| score.judged_by == judge).map(|score| (MEASURES[2].parts)(score).1);
        met.max().unwrap_or(0)
    }

    /// The predictors that best distinguish losses from their absence, with their scores; none if nothing was foreseen.
    /// A predictor that is always high foresees everything and is left out.
    pub fn best(&self, judge: Judge) -> (Vec<&str>, f64) {
        let mut best = (Vec::new(), 0.0);
        for name in self.predictors().into_iter().filter(|name| !self.always_high(name, judge)) {
            let balance = self.estimate(name, judge, Score::balance).mean;
            if balance > best.1 {
                best = (Vec::new(), balance);
            }
            if balance > 0.0 && balance >= best.1 {
                best.0.push(name);
            }
        }
        best
    }

    /// Whether a predictor foresaw losses and never returned to low, neither before a loss nor after it.
    fn always_high(&self, predictor: &str, judge: Judge) -> bool {
        let scores = self.runs.iter().flat_map(|run| &run.scores);
        let mut scores = scores.filter(|score| score.predictor == predictor && score.judged_by == judge);
        scores.all(|Score { counts: [_, predicted, to_low, _, vain, _], .. }| {
            *predicted > 0 && to_low + vain == 0
        })
    }

    /// The sentence about the best.
    fn verdict(&self, judge: Judge) -> String {
        let losses = spoken(judge);
        let episodes = self.episodes(judge);
        if self.course.is_some() && episodes < FEW {
            return format!(
                "{episodes} episodes of loss are too few to distinguish predictors; {FEW} or more are needed."
            );
        }
        let (names, balance) = self.best(judge);
        let which = if names.len() > 1 { "worked best, and equally well" } else { "worked best" };
        let mut verdict = match names.is_empty() {
            true => format!("Against {losses}, no predictor foresaw anything."),
            false => format!(
                "Against {losses}, {} would have {which}: balance {} of 1, the harmonic mean of efficiency and \
                 of the losses predicted.",
                names.join(", "),
                number::significant(balance, 3)
            ),
        };
        let high = self.predictors().into_iter().filter(|name| self.always_high(name, judge));
        let high = high.collect::<Vec<_>>().join(", ");
        if !high.is_empty() {
            verdict += &format!(" High all the time, which these measures do not punish: {high}.");
        }
        verdict
    }
}

/// The judge's losses, in words.
fn spoken(judge: Judge) -> &'static str {
    match judge {
        Judge::Flow => "the flow's own losses",
        Judge::Queue => "all drops at the queue",
    }
}

/// A section for each flow and judge: the table, the verdict, and the bars of Figure 3.
pub fn document(predictions: &Predictions) -> Document {
    let about = "The accuracy of congestion predictors. Efficiency: predictions that a loss followed. False positives: \
                 those that no loss followed. False negatives: losses without a prediction.";
    let answer = match &predictions.cases[..] {
        [only] => only.judges.first().map_or(String::new(), |judge| only.verdict(*judge) + " "),
        _ => String::new(),
    };
    let mut sections = Vec::new();
    let flows: Vec<String> =
        predictions.cases.iter().map(|watched| format!("{} {}", watched.case, watched.flow)).collect();
    let flows: Vec<&str> = flows.iter().map(String::as_str).collect();
    for (place, watched) in predictions.cases.iter().enumerate() {
        let file = |kind: &str| names::figure(kind, &flows, place);
        let case = if watched.case.is_empty() { String::new() } else { format!("{}: ", watched.case) };
        for judge in &watched.judges {
            let heading = format!("{case}{}, judged by {}", watched.flow, spoken(*judge));
            let figures = MEASURES.iter().map(|measure| figure(watched, &file, *judge, measure)).collect();
            let course =
                watched.course.iter().map(|course| round_trips(course, file("round-trips"))).collect();
            let mut blocks = vec![
                Block::Figures(Layout::Whole, course),
                Block::Table(table(watched, *judge)),
                Block::prose(watched.verdict(*judge)),
            ];
            blocks.extend(watched.course.is_some().then(|| Block::prose(INTERVALS)));
            blocks.push(Block::Figures(Layout::Grid, figures));
            sections.push(Section::new(heading, blocks));
        }
    }
    if !predictions.notes.is_empty() {
        sections.push(Section::new("Notes", predictions.notes.iter().map(Block::prose).collect()));
    }
    Document { title: predictions.title.clone(), about: (answer + about).into(), sections }
}

/// How to read the numbers of a capture.
const INTERVALS: &str = "Intervals are Wilson's for 95 % and this many episodes. By chance: the mean efficiency on the same losses, \
                         all of them shifted by a random time.";

/// Round trips against time, with the losses at the upper edge.
fn round_trips(course: &Course, name: String) -> Figure {
    let points = &course.round_trips;
    let greatest =
        points.iter().fold((0.0, 0.0), |(x, y): (f64, f64), point| (point.0.max(x), point.1.max(y)));
    let end = course.losses.iter().copied().fold(greatest.0, f64::max);
    let title = "Round trips and losses";
    let mut panel = Panel::new(title, (720.0, 280.0), (end, greatest.1), ("time, s", "round trip, ms"));
    let [low, mean, high] = Curve::summed_up(points, 600);
    panel.band(&scheme_class(0), &low, &high);
    panel.line(&scheme_class(0), &mean);
    panel.events(&scheme_class(1), &course.losses);
    Figure {
        name,
        title: title.into(),
        note: "The line is the mean of each interval, the band its range; a tick at the upper edge is a lost packet.",
        class: None,
        drawing: panel.finish(),
    }
}

fn table(watched: &WatchedFlow, judge: Judge) -> Table {
    let compared = !watched.chance.is_empty();
    let line = |(rank, name): (usize, &str)| {
        let own = MEASURES
            .iter()
            .map(|measure| Shown::within(&watched.measured(name, judge, measure), SCALE, Bounds::FRACTION));
        let chance = Estimate { mean: watched.by_chance(name, judge), half_width: None };
        let cells = own.chain(compared.then(|| Shown::of(&chance, SCALE)));
        TableLine { class: Some(scheme_class(rank)), ..TableLine::new(name, cells.collect()) }
    };
    let by_chance = compared.then(|| Column::number("by chance", "%"));
    Table {
        corner: "predictor".into(),
        columns: MEASURES.iter().map(|measure| Column::number(measure.title, "%")).chain(by_chance).collect(),
        lines: watched.predictors().into_iter().enumerate().map(line).collect(),
        linked: false,
    }
}

fn figure(watched: &WatchedFlow, file: &dyn Fn(&str) -> String, judge: Judge, measure: &Measure) -> Figure {
    let bar = |(rank, name): (usize, &str)| {
        let estimate = watched.measured(name, judge, measure);
        let (low, high) = estimate.interval();
        Bar {
            class: scheme_class(rank),
            name: name.to_string(),
            shown: Shown::within(&estimate, SCALE, Bounds::FRACTION).text(),
            mean: estimate.mean * SCALE,
            interval: (low * SCALE, high * SCALE),
        }
    };
    let all: Vec<Bar> = watched.predictors().into_iter().enumerate().map(bar).collect();
    let title = format!("{}, %", measure.title);
    Figure {
        name: file(&format!("{}-{}", measure.title.replace(' ', "-"), named(judge))),
        drawing: bars(&title, &all),
        title,
        note: "",
        class: None,
    }
}

/// Half of Wilson's 95 % interval of a ratio, on its longer side.
fn wilson((some, all): (u64, u64)) -> Option<f64> {
    const Z: f64 = 1.96;
    let (count, ratio) = (all as f64, some as f64 / all as f64);
    let scale = 1.0 + Z * Z / count;
    let centre = (ratio + Z * Z / (2.0 * count)) / scale;
    let half = Z * libm::sqrt(ratio * (1.0 - ratio) / count + Z * Z / (4.0 * count * count)) / scale;
    (all > 0).then(|| (centre + half - ratio).max(ratio - centre + half))
}

/// The judge in files.
fn named(judge: Judge) -> &'static str {
    match judge {
        Judge::Flow => "flow",
        Judge::Queue => "queue",
    }
}

/// A row for each flow, run, predictor and judge.
pub fn records(predictions: &Predictions) -> Records {
    let factors = &predictions.factors;
    let columns = ["flow", "seed", "predictor", "judged_by", "n1", "n2", "n3", "n4", "n5", "n6"];
    let columns = columns.into_iter().chain(["efficiency", "false_positives", "false_negatives", "balance"]);
    let mut rows = Vec::new();
    for watched in &predictions.cases {
        for run in &watched.runs {
            for score in run.scores.iter().filter(|score| watched.judges.contains(&score.judged_by)) {
                let seed = run.seed.map_or(String::new(), |seed| seed.to_string());
                let names = [&watched.flow, &seed, &score.predictor].map(String::as_str);
                let levels = factors.iter().zip(&watched.levels).map(|(factor, level)| factor.cell(*level));
                let counts = score.counts.iter().map(|count| *count as f64);
                let ratios = MEASURES.iter().map(|measure| (measure.of)(score)).chain([score.balance()]);
                let numbers = counts.chain(ratios).map(Cell::from);
                let names = names.into_iter().chain([named(score.judged_by)]).map(Cell::from);
                rows.push(levels.chain(names).chain(numbers).collect());
            }
        }
    }
    let factors = factors.iter().map(|factor| factor.column.clone());
    Records { columns: factors.chain(columns.map(String::from)).collect(), rows }
}

#[cfg(test)]
mod tests;

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The accuracy of congestion predictors: the document, and records for machines.

use serde::Serialize;

use super::document::{Block, Column, Document, Figure, Layout, Section, Shown, Table, TableLine};
use crate::chart::{Bar, bars, scheme_class};
use crate::predict::{Judge, Score};
use crate::table::{Cell, Estimate, Records, number};

/// Predictors that watched flows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Predictions {
    /// The scenario or the capture.
    pub title: String,
    /// One flow in each.
    pub cases: Vec<WatchedFlow>,
    /// Remarks for readers.
    pub notes: Vec<String>,
}

/// Predictors that watched one flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WatchedFlow {
    /// The case of a sweep; empty without one.
    pub case: String,
    /// The flow.
    pub flow: String,
    /// Whose losses were known.
    pub judges: Vec<Judge>,
    /// One for each time that it was watched.
    pub runs: Vec<WatchedRun>,
}

/// One flow watched once.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WatchedRun {
    /// The seed of a simulation.
    pub seed: Option<u64>,
    /// Of each predictor before each judge.
    pub scores: Vec<Score>,
}

/// A measure of a predictor.
struct Measure {
    title: &'static str,
    of: fn(&Score) -> f64,
}

/// The three of Figure 3.
const MEASURES: [Measure; 3] = [
    Measure { title: "efficiency", of: |score| score.efficiency },
    Measure { title: "false positives", of: |score| score.false_positives },
    Measure { title: "false negatives", of: |score| score.false_negatives },
];

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

    /// The predictors that tell losses from their absence best, and how well; none if nothing was foreseen. One that says
    /// high all the time foresees everything and is left out.
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

    /// Whether a predictor foresaw losses and never went back to low, neither before one nor after it.
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

/// Whose losses, in words.
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
    let mut sections = Vec::new();
    for (place, watched) in predictions.cases.iter().enumerate() {
        let case = if watched.case.is_empty() { String::new() } else { format!("{}: ", watched.case) };
        for judge in &watched.judges {
            let heading = format!("{case}{}, judged by {}", watched.flow, spoken(*judge));
            let figures = MEASURES.iter().map(|measure| figure(watched, place, *judge, measure)).collect();
            let blocks = vec![
                Block::Table(table(watched, *judge)),
                Block::prose(watched.verdict(*judge)),
                Block::Figures(Layout::Grid, figures),
            ];
            sections.push(Section::new(heading, blocks));
        }
    }
    if !predictions.notes.is_empty() {
        sections.push(Section::new("Notes", predictions.notes.iter().map(Block::prose).collect()));
    }
    Document { title: predictions.title.clone(), about: about.into(), sections }
}

fn table(watched: &WatchedFlow, judge: Judge) -> Table {
    let line = |(rank, name): (usize, &str)| {
        let cells =
            MEASURES.iter().map(|measure| Shown::of(&watched.estimate(name, judge, measure.of), SCALE));
        TableLine { class: Some(scheme_class(rank)), ..TableLine::new(name, cells.collect()) }
    };
    Table {
        corner: "predictor".into(),
        columns: MEASURES.iter().map(|measure| Column::number(measure.title, "%")).collect(),
        lines: watched.predictors().into_iter().enumerate().map(line).collect(),
        linked: false,
    }
}

fn figure(watched: &WatchedFlow, place: usize, judge: Judge, measure: &Measure) -> Figure {
    let bar = |(rank, name): (usize, &str)| {
        let estimate = watched.estimate(name, judge, measure.of);
        let (low, high) = estimate.interval();
        Bar {
            class: scheme_class(rank),
            name: name.to_string(),
            shown: Shown::of(&estimate, SCALE).text(),
            mean: estimate.mean * SCALE,
            interval: (low * SCALE, high * SCALE),
        }
    };
    let all: Vec<Bar> = watched.predictors().into_iter().enumerate().map(bar).collect();
    let title = format!("{}, %", measure.title);
    Figure {
        name: format!("{}-{}-{}", measure.title.replace(' ', "-"), named(judge), place + 1),
        drawing: bars(&title, &all),
        title,
        note: "",
        class: None,
    }
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
    let columns = ["case", "flow", "seed", "predictor", "judged_by", "n1", "n2", "n3", "n4", "n5", "n6"];
    let columns = columns.into_iter().chain(["efficiency", "false_positives", "false_negatives", "balance"]);
    let mut rows = Vec::new();
    for watched in &predictions.cases {
        for run in &watched.runs {
            for score in run.scores.iter().filter(|score| watched.judges.contains(&score.judged_by)) {
                let seed = run.seed.map_or(String::new(), |seed| seed.to_string());
                let names = [&watched.case, &watched.flow, &seed, &score.predictor].map(String::as_str);
                let counts = score.counts.iter().map(|count| *count as f64);
                let ratios = MEASURES.iter().map(|measure| (measure.of)(score)).chain([score.balance()]);
                let numbers = counts.chain(ratios).map(Cell::from);
                rows.push(
                    names
                        .into_iter()
                        .chain([named(score.judged_by)])
                        .map(Cell::from)
                        .chain(numbers)
                        .collect(),
                );
            }
        }
    }
    Records { columns: columns.map(String::from).collect(), rows }
}

#[cfg(test)]
mod tests {
    use super::super::SCHEMA_VERSION;
    use super::super::format::{html, text};
    use super::super::json;
    use super::*;
    use crate::predict::{Laboratory, Sample, parse};
    use crate::units::{Span, Time};

    fn predictions() -> Predictions {
        let configs = [parse("rtt").unwrap(), parse("dual").unwrap()];
        let mut laboratory = Laboratory::new(&configs, 1.0, 10.0, 2);
        for (now, rtt) in [(0, 60), (100, 80), (200, 80), (400, 60)] {
            let (now, rtt) = (Time(now * 1_000_000), Span::from_millis(rtt));
            laboratory.observe(&Sample { now, rtt, window: 1.0, one_way: None, acked: 1 });
            if now == Time(200_000_000) {
                laboratory.lose(Time(201_000_000), Judge::Flow);
            }
        }
        let scores = laboratory.finish();
        let watch = |seed| WatchedRun { seed: Some(seed), scores: scores.clone() };
        let watched = WatchedFlow {
            case: "rate=<1>".into(),
            flow: "long/0".into(),
            judges: vec![Judge::Flow, Judge::Queue],
            runs: vec![watch(1), watch(2)],
        };
        Predictions { title: "A path".into(), cases: vec![watched], notes: vec!["By hand.".into()] }
    }

    #[test]
    fn text_has_a_line_for_each_predictor_and_judge_and_says_which_was_best() {
        let text = text::render(&document(&predictions()));
        assert_eq!(text.lines().filter(|line| line.starts_with("rtt ")).count(), 2, "{text}");
        assert!(text.contains("balance 1.00"), "{text}");
        assert!(text.contains("all drops at the queue, no predictor foresaw"), "{text}");
        assert!(text.contains("100 ± 0") && text.ends_with("\nBy hand.\n"), "{text}");
    }

    #[test]
    fn a_predictor_that_is_always_high_is_not_the_best() {
        let mut predictions = predictions();
        let watched = &mut predictions.cases[0];
        assert!(watched.best(Judge::Flow).0.contains(&"rtt"));
        for score in watched.runs.iter_mut().flat_map(|run| &mut run.scores) {
            if score.predictor == "rtt" {
                score.counts = [1, 9, 0, 0, 0, 9];
            }
        }
        assert!(!watched.best(Judge::Flow).0.contains(&"rtt"));
        assert!(watched.verdict(Judge::Flow).ends_with("do not punish: rtt."));
    }

    #[test]
    fn csv_has_a_line_for_each_score_and_leaves_out_what_does_not_exist() {
        let text = super::super::csv::records(&records(&predictions()));
        assert_eq!(text.lines().count(), 1 + 2 * 2 * 2);
        assert!(text.contains("rate=<1>,long/0,2,rtt,flow,1,1,1,0,0,0,1,0,0,1\n"), "{text}");
        assert!(text.contains("rate=<1>,long/0,1,rtt,queue,1,0,0,0,1,0,0,1,,0\n"), "{text}");
    }

    #[test]
    fn the_page_has_a_chart_for_each_measure_and_judge_and_keeps_names_text() {
        let document = document(&predictions());
        let page = html::render(&document);
        html::tests::check(&page);
        assert_eq!(page.matches("<svg").count(), 3 * 2);
        assert!(page.contains("rate=&lt;1&gt;: long/0") && !page.contains("rate=<1>"));
        let mut names: Vec<&str> = document.figures().iter().map(|figure| figure.name.as_str()).collect();
        names.dedup();
        assert_eq!(names.len(), 3 * 2);
    }

    #[test]
    fn json_reads_back() {
        let document: serde_json::Value = serde_json::from_str(&json::render(&predictions())).unwrap();
        assert_eq!(document["schema_version"], SCHEMA_VERSION);
        let score = &document["cases"][0]["runs"][1]["scores"][0];
        assert_eq!((&score["predictor"], &score["judged_by"]), (&"rtt".into(), &"flow".into()));
        assert_eq!(score["efficiency"], 1.0);
        assert!(document["cases"][0]["runs"][0]["scores"][1]["false_negatives"].is_null());
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What congestion predictors were worth: text, JSON and CSV. The page is [`html::render_predictions`](super::html).

use serde::Serialize;

use super::{SCHEMA_VERSION, number, text};
use crate::predict::{Judge, Score};
use crate::table::Estimate;

/// Predictors that watched flows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Predictions {
    /// What was watched.
    pub title: String,
    /// One flow in each.
    pub cases: Vec<Watched>,
    /// What else a reader should know.
    pub notes: Vec<String>,
}

/// Predictors that watched one flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Watched {
    /// Which case of a sweep; empty if there is no sweep.
    pub case: String,
    /// The flow.
    pub flow: String,
    /// Whose losses were known.
    pub judges: Vec<Judge>,
    /// One for each time that it was watched.
    pub runs: Vec<Watch>,
}

/// One flow watched once.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Watch {
    /// The seed of a simulation.
    pub seed: Option<u64>,
    /// Of each predictor before each judge.
    pub scores: Vec<Score>,
}

/// What is told of a predictor.
pub(super) struct Measure {
    pub(super) title: &'static str,
    pub(super) of: fn(&Score) -> f64,
}

/// The three of Figure 3.
pub(super) const MEASURES: [Measure; 3] = [
    Measure { title: "efficiency", of: |score| score.efficiency },
    Measure { title: "false positives", of: |score| score.false_positives },
    Measure { title: "false negatives", of: |score| score.false_negatives },
];

/// Percent.
pub(super) const SCALE: f64 = 100.0;

impl Watched {
    /// The predictors in order.
    pub(super) fn predictors(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for score in self.runs.iter().flat_map(|run| &run.scores) {
            if !names.contains(&score.predictor.as_str()) {
                names.push(&score.predictor);
            }
        }
        names
    }

    /// A mean over the runs in which there is such a number.
    pub(super) fn estimate(&self, predictor: &str, judge: Judge, of: fn(&Score) -> f64) -> Estimate {
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
    pub(super) fn verdict(&self, judge: Judge) -> String {
        let losses = spoken(judge);
        let (names, balance) = self.best(judge);
        let which = if names.len() > 1 { "worked best, and equally well" } else { "worked best" };
        let mut verdict = match names.is_empty() {
            true => format!("Held against {losses}, no predictor foresaw anything."),
            false => format!(
                "Held against {losses}, {} would have {which}: balance {} of 1, the harmonic mean of efficiency and \
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
pub(super) fn spoken(judge: Judge) -> &'static str {
    match judge {
        Judge::Flow => "the flow's own losses",
        Judge::Queue => "all drops at the queue",
    }
}

pub(super) fn shown(estimate: &Estimate) -> String {
    match number::estimate(estimate, SCALE) {
        (mean, Some(half_width)) => format!("{mean} ± {half_width}"),
        (mean, None) => mean,
    }
}

/// A table for each flow and judge.
pub fn render_text(predictions: &Predictions) -> String {
    let mut out = format!("{}\n", predictions.title);
    for watched in &predictions.cases {
        let case = if watched.case.is_empty() { String::new() } else { format!("{}: ", watched.case) };
        out += &format!("\n{case}{}\n", watched.flow);
        for judge in &watched.judges {
            out += &format!("\n{}\n", text::aligned(&table(watched, *judge)));
            out += &format!("{}\n", watched.verdict(*judge));
        }
    }
    for note in &predictions.notes {
        out += &format!("\n{note}\n");
    }
    out
}

fn table(watched: &Watched, judge: Judge) -> Vec<Vec<String>> {
    let head = std::iter::once(spoken(judge)).chain(MEASURES.iter().map(|measure| measure.title));
    let mut lines = vec![head.map(String::from).collect::<Vec<_>>()];
    let mut units = vec![String::new()];
    units.extend(MEASURES.iter().map(|_| "%".to_string()));
    lines.push(units);
    for name in watched.predictors() {
        let cells = MEASURES.iter().map(|measure| shown(&watched.estimate(name, judge, measure.of)));
        lines.push(std::iter::once(name.to_string()).chain(cells).collect());
    }
    lines
}

/// One JSON object, indented. Numbers that do not exist are `null`.
pub fn render_json(predictions: &Predictions) -> String {
    #[derive(Serialize)]
    struct Document<'a> {
        schema_version: u32,
        #[serde(flatten)]
        predictions: &'a Predictions,
    }
    let document = Document { schema_version: SCHEMA_VERSION, predictions };
    // It fails for maps whose keys are no strings; there are none.
    let mut text = serde_json::to_string_pretty(&document).expect("predictions have string keys only");
    text.push('\n');
    text
}

/// One line for each flow, run, predictor and judge.
pub fn render_csv(predictions: &Predictions) -> String {
    let mut out = csv::Writer::from_writer(Vec::new());
    let head = ["case", "flow", "seed", "predictor", "judged_by", "n1", "n2", "n3", "n4", "n5", "n6"];
    let head = head.into_iter().chain(["efficiency", "false_positives", "false_negatives", "balance"]);
    // Writing to memory cannot fail.
    let _ = out.write_record(head);
    let number = |value: f64| if value.is_nan() { String::new() } else { value.to_string() };
    for watched in &predictions.cases {
        for run in &watched.runs {
            for score in run.scores.iter().filter(|score| watched.judges.contains(&score.judged_by)) {
                let judge = if score.judged_by == Judge::Flow { "flow" } else { "queue" };
                let seed = run.seed.map_or(String::new(), |seed| seed.to_string());
                let own = [&watched.case, &watched.flow, &seed, &score.predictor].map(Clone::clone);
                let ratios = MEASURES.iter().map(|measure| number((measure.of)(score)));
                let fields = own.into_iter().chain([judge.to_string()]);
                let fields = fields.chain(score.counts.iter().map(u64::to_string)).chain(ratios);
                let _ = out.write_record(fields.chain([number(score.balance())]));
            }
        }
    }
    String::from_utf8(out.into_inner().unwrap_or_default()).unwrap_or_default()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::predict::{Laboratory, Sample, parse};
    use crate::units::{Span, Time};

    pub(crate) fn predictions() -> Predictions {
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
        let watch = |seed| Watch { seed: Some(seed), scores: scores.clone() };
        let watched = Watched {
            case: "rate=<1>".into(),
            flow: "long/0".into(),
            judges: vec![Judge::Flow, Judge::Queue],
            runs: vec![watch(1), watch(2)],
        };
        Predictions { title: "A path".into(), cases: vec![watched], notes: vec!["By hand.".into()] }
    }

    #[test]
    fn text_has_a_line_for_each_predictor_and_judge_and_says_which_was_best() {
        let text = render_text(&predictions());
        assert_eq!(text.lines().filter(|line| line.starts_with("rtt ")).count(), 2, "{text}");
        assert!(text.contains("balance 1.00 of 1"), "{text}");
        assert!(text.contains("all drops at the queue, no predictor foresaw anything"), "{text}");
        assert!(text.contains("100.0 ± 0") && text.ends_with("\nBy hand.\n"), "{text}");
    }

    #[test]
    fn what_is_high_all_the_time_is_not_the_best() {
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
        let text = render_csv(&predictions());
        assert_eq!(text.lines().count(), 1 + 2 * 2 * 2);
        assert!(text.contains("rate=<1>,long/0,2,rtt,flow,1,1,1,0,0,0,1,0,0,1\n"), "{text}");
        assert!(text.contains("rate=<1>,long/0,1,rtt,queue,1,0,0,0,1,0,0,1,,0\n"), "{text}");
    }

    #[test]
    fn json_reads_back() {
        let document: serde_json::Value = serde_json::from_str(&render_json(&predictions())).unwrap();
        assert_eq!(document["schema_version"], SCHEMA_VERSION);
        let score = &document["cases"][0]["runs"][1]["scores"][0];
        assert_eq!((&score["predictor"], &score["judged_by"]), (&"rtt".into(), &"flow".into()));
        assert_eq!(score["efficiency"], 1.0);
        assert!(document["cases"][0]["runs"][0]["scores"][1]["false_negatives"].is_null());
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Films played over an emulated network: the document, and records for machines.

mod document;

use std::collections::BTreeMap;

use super::{Manifest, reproduction};
use crate::experiment::Claim;
use crate::measure::{Played, Subject};
use crate::metric::Metric;
use crate::study::live::{Beside, Machine, Measured};
use crate::table::{Cell, Estimate, Records, value};
pub use document::document;

/// Metrics of the film's group and of the bottleneck in addition to the playbacks'.
const BESIDE: [(Subject, &str); 3] = [
    (Subject::Group, "goodput_bps"),
    (Subject::Link, "queueing_delay_mean_ms"),
    (Subject::Group, "retransmissions"),
];

crate::keys! {
    /// Playbacks in all cases.
    #[derive(Clone, Debug)]
    pub struct Report {
        /// The title of the report.
        pub title: String,
        /// The film that was played.
        pub film: Film,
        /// Its buffering.
        pub buffering: String,
        /// Every claim, by the playbacks of the first player; empty without claims.
        pub claims: Vec<Judged>,
        /// One for each case and player.
        pub cases: Vec<Case>,
        /// Enough to repeat the runs.
        pub manifest: Manifest,
    }

    /// A film that was played.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Film {
        /// Its file.
        pub file: String,
        /// Its size in bytes.
        pub bytes: u64,
        /// Its length.
        pub length_s: f64,
        /// Its pictures.
        pub pictures: u64,
        /// Size over length.
        pub mean_bps: f64,
        /// The most of a second.
        pub peak_bps: f64,
    }

    /// The verdict on a claim.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Judged {
        /// The id of the claim.
        pub claim: String,
        /// The claim in words.
        pub text: String,
        /// Whether it holds.
        pub verdict: String,
        /// Whether the intervals of the runs confirm it.
        pub certain: bool,
        /// Our numbers.
        pub ours: String,
        /// The reason for a failure, if the experiment gives one; else null.
        pub reason: Option<String>,
    }

    /// The playbacks of a case.
    #[derive(Clone, Debug)]
    pub struct Case {
        /// Its name.
        pub case: String,
        /// The player.
        pub player: String,
        /// One for each metric.
        pub metrics: Vec<Known>,
        /// Every run, the spoiled ones too.
        pub runs: Vec<Run>,
        /// The congestion window of the first run that counts: seconds and packets.
        #[serde(skip)]
        pub windows: Vec<(f64, f64)>,
    }

    /// A metric.
    #[derive(Clone, Debug)]
    pub struct Known {
        /// The metric.
        pub metric: String,
        /// Over the runs that count, in the unit of the metric.
        pub estimate: Estimate,
        #[serde(skip)]
        about: Metric,
    }

    /// A run.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Run {
        /// The number of the repetition.
        pub repetition: u64,
        #[serde(flatten)]
        machine: Machine,
        /// The times since the request at which playback stalled, and for how long, in seconds.
        pub stalls: Vec<(f64, f64)>,
    }
}

/// A played case, to be reported.
#[derive(Clone, Debug)]
pub struct Screening {
    /// The player.
    pub player: String,
    /// The case with its runs.
    pub beside: Beside,
    /// The group that the film represents.
    pub group: String,
    /// The stalls of runs by their repetitions: seconds since the request, and how long.
    pub stalls: BTreeMap<u64, Vec<(f64, f64)>>,
    /// The congestion window of the first run that counts.
    pub windows: Vec<(f64, f64)>,
}

impl Report {
    /// The report of an outcome. Claims are judged by the runs with the first player.
    pub fn new(
        title: String,
        film: Film,
        buffering: String,
        screenings: Vec<Screening>,
        claims: &[Claim],
        manifest: Manifest,
    ) -> Report {
        let first = screenings.first().map(|one| one.player.clone());
        let own = screenings.iter().filter(|one| Some(&one.player) == first.as_ref());
        let [kernel, _] = Beside::frames(&own.map(|one| one.beside.clone()).collect::<Vec<_>>());
        let judged = |claim: &Claim| {
            let judgement = claim.judge(&kernel);
            Judged {
                claim: claim.id.clone(),
                text: claim.text.clone(),
                verdict: judgement.verdict.to_string(),
                certain: judgement.certain,
                ours: reproduction::ours(&judgement, None),
                reason: claim.reason.clone(),
            }
        };
        let claims = claims.iter().map(judged).collect();
        let cases = screenings.into_iter().map(case).collect();
        Report { title, film, buffering, claims, cases, manifest }
    }
}

fn case(screening: Screening) -> Case {
    let Screening { player, beside, group, mut stalls, windows } = screening;
    let measured = &beside.measured;
    let estimate = |of: &dyn Fn(&Measured) -> f64| Estimate::of(&measured.iter().map(of).collect::<Vec<_>>());
    let mut metrics: Vec<Known> = Played::metrics()
        .map(|about| {
            let estimate = estimate(&|one| {
                let own = one.processor.iter().filter(|row| row.label("group") == group);
                own.map(|row| row.value(&about.key)).find(|value| !value.is_nan()).unwrap_or(f64::NAN)
            });
            Known { metric: about.key.clone(), estimate, about }
        })
        .collect();
    let link = measured.iter().flat_map(|one| &one.record.rows).find(|row| Subject::Link.has(row));
    let link = link.map_or("", |row| row.label("link")).to_string();
    for (subject, key) in BESIDE {
        let labels = [(subject.axes()[0], if subject == Subject::Link { &link } else { &group }.as_str())];
        let estimate = estimate(&|one| value(&one.record.rows, key, &labels));
        let about = subject.metrics().iter().find(|metric| metric.key == key);
        metrics.extend(about.map(|about| Known { metric: key.into(), estimate, about: about.clone() }));
    }
    let run = |one: &Measured| Run {
        repetition: one.record.seed,
        machine: one.machine.clone(),
        stalls: stalls.remove(&one.record.seed).unwrap_or_default(),
    };
    let mut runs: Vec<Run> = measured.iter().chain(&beside.spoiled).map(run).collect();
    runs.sort_by_key(|one| one.repetition);
    Case { case: beside.name, player, metrics, runs, windows }
}

/// A line for each case and metric.
pub fn records(report: &Report) -> Records {
    let columns = ["case", "player", "metric", "mean", "half_width"].map(String::from);
    let line = |case: &Case, known: &Known| {
        let texts = [&case.case, &case.player, &known.metric].map(|text| Cell::from(text.as_str()));
        let numbers = [known.estimate.mean, known.estimate.half_width.unwrap_or(f64::NAN)];
        texts.into_iter().chain(numbers.map(Cell::from)).collect()
    };
    let rows = report.cases.iter().flat_map(|case| case.metrics.iter().map(move |known| line(case, known)));
    Records { columns: columns.into(), rows: rows.collect() }
}

#[cfg(test)]
mod tests {
    use super::super::format::{html, markdown, text};
    use super::super::json;
    use super::*;
    use crate::experiment::{Pace, parse};
    use crate::study::live::{self, Live};
    use crate::study::{Packets, Record, Records as Kept, Study, Work};
    use crate::units::Span;

    const SCENARIO: &str = "[experiment]\nid = 'a-b'\ntitle = 'c'\nsource = 'd'\n[run]\nduration = '3s'\n\
        [topology]\nkind = 'dumbbell'\nrate = '5mbit'\n[[flows]]\nname = 'video'\ncc = 'reno'\n\
        [[claim]]\nid = 'late'\ntext = 'Some are late.'\ncheck = 'late_pictures[group=video] > 0'\n";

    /// A case with two runs that count and one that is spoiled, by a player.
    fn screening(player: &str, late: u64) -> Screening {
        let experiment = parse(SCENARIO, Pace::Full).unwrap();
        let Work::Packets(packets) = &experiment.variants[0].points[0].work else { panic!() };
        let measured = |seed: u64, spoiled: Option<&str>| {
            let packets = Packets::from(packets.valid.clone());
            let (yielded, outcome) = packets.run(seed);
            let startup = Some(Span::from_millis(800));
            let seen = Played { late_pictures: late * seed, startup, ..Played::default() };
            Measured {
                record: Record::simulated(seed, 0.0, outcome, yielded),
                machine: Machine { attempts: 1, spoiled: spoiled.map(String::from), ..Machine::default() },
                processor: vec![seen.row("video")],
            }
        };
        let runs = vec![measured(1, None), measured(2, None), measured(3, Some("late"))];
        let case = live::Case {
            name: "a <case>".into(),
            labels: Vec::new(),
            valid: packets.valid.clone(),
            measured: runs,
        };
        let beside = Live::new([case], Vec::new()).outcome(&Kept::default()).remove(0);
        let stalls = BTreeMap::from([(1, vec![(2.0, 0.5)])]);
        let windows = (0..5000).map(|place| (0.02 * f64::from(place), 10.0)).collect();
        Screening { player: player.into(), beside, group: "video".into(), stalls, windows }
    }

    fn report() -> Report {
        let claims = parse(SCENARIO, Pace::Full).unwrap().claims;
        let screenings = vec![screening("skip", 2), screening("pause", 0)];
        Report::new(
            "Films".into(),
            Film::default(),
            "Nothing.".into(),
            screenings,
            &claims,
            Manifest::default(),
        )
    }

    #[test]
    fn claims_are_judged_by_the_first_player_and_spoiled_runs_are_in_no_mean() {
        let report = report();
        assert_eq!((report.claims[0].verdict.as_str(), report.cases.len()), ("holds", 2));
        let late = |case: &Case| {
            case.metrics.iter().find(|one| one.metric == "late_pictures").unwrap().estimate.mean
        };
        assert_eq!((late(&report.cases[0]), late(&report.cases[1])), (3.0, 0.0));
        assert_eq!(report.cases[0].runs.len(), 3);
        let read: serde_json::Value = serde_json::from_str(&json::render(&report)).unwrap();
        assert_eq!(read["cases"][0]["runs"][0]["stalls"][0][1], 0.5);
        assert_eq!(read["cases"][0]["runs"][2]["spoiled"], "late");
        assert!(records(&report).rows.len() >= 2 * 9);
    }

    #[test]
    fn the_terminal_has_at_most_80_columns_and_the_page_has_a_chart_for_each_case() {
        let document = document(&report());
        let text = text::render(&document);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains("3 ± ") && text.contains("6 playbacks, 2 of them spoiled"), "{text}");
        html::tests::check(&html::render(&document));
        assert_eq!(document.figures().len(), 2);
        assert!(markdown::render(&document).contains("| a"));
    }
}

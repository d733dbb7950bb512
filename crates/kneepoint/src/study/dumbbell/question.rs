// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Schemes compared on one bottleneck: the question of `knee compare`.

use super::title::title;
use super::{Dumbbell, Party, Sessions};
use crate::fault::Faults;
use crate::scenario::scheme::Scheme;
use crate::scenario::tree::Table;
use crate::scenario::{self, Case, Document, Extensions, FigureSpec, Files, Queues, Settings};
use crate::settings::Raw;
use crate::spec::Valid;
use crate::study::Invalid;
use crate::units::{Interval, Rate, Span, Time};

/// The group of long transfers.
pub(super) const FORWARD: &str = "forward";
/// The path of their number.
pub const FLOWS: &str = "flows.forward.count";
/// The path of the interval of start times.
pub const START: &str = "flows.forward.start";

/// The schemes, and the bottleneck that each has for itself.
#[derive(Clone, Debug)]
pub struct Question<'q> {
    /// Additions to rate, round trip, flows and buffer in the title, separated by commas, or nothing.
    pub also: String,
    /// The names of schemes in reports, and the schemes.
    pub schemes: Vec<(String, Scheme)>,
    /// External algorithms that the schemes may name.
    pub extensions: Extensions,
    /// Options of every TCP.
    pub tcp: Vec<(String, Raw)>,
    /// The source of the queues' default settings.
    pub queues: Queues,
    /// Rate of the bottleneck.
    pub rate: Rate,
    /// Base round-trip time.
    pub rtt: Span,
    /// Long transfers.
    pub flows: u32,
    /// Buffer of the bottleneck.
    pub buffer: String,
    /// Fields that take several values, by their paths in `[sweep]`: every scheme runs with every combination.
    pub varied: Vec<(String, Vec<Raw>)>,
    /// Long transfers in the other direction.
    pub reverse: u32,
    /// Whether every link is simulated, as captures require.
    pub full: bool,
    /// Short transfers.
    pub web: Sessions<'q>,
    /// Length of a run.
    pub duration: Span,
    /// The measurement window; by default the middle half.
    pub measure: Option<Interval>,
    /// The interval of start times; by default the first eighth.
    pub start: Option<Interval>,
    /// The number of seeds.
    pub seeds: u32,
    /// The first seed.
    pub seed: u64,
    /// The sampling interval, if any.
    pub sample: Option<Span>,
    /// Fields of every scenario that options set, which `also` describes.
    pub path: Vec<String>,
    /// Fields of every scenario that are set from outside, after those, as [`parse_set`](crate::scenario::parse_set) sets them.
    pub set: Vec<String>,
}

/// The runs to be made.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The common settings of all runs: the name of every scenario.
    pub title: String,
    /// The labels that distinguish rows, the scheme first: fields and values. And its spec.
    pub rows: Vec<(Settings, Valid)>,
    /// Names and texts of the scenarios.
    pub scenarios: Vec<(String, String)>,
    /// Each row runs once with each.
    pub seeds: Vec<u64>,
    /// The figure that fields set from outside request.
    pub figure: FigureSpec,
}

/// A question that has no runs.
#[derive(Clone, Debug)]
pub enum Refused {
    /// The scenario of a scheme is not valid; places of faults in fields set from outside are on lines of their own after the text.
    Invalid(Box<Invalid>),
    /// Fields set from outside replace an algorithm of a scheme.
    Replaced {
        /// The scheme.
        scheme: String,
        /// The other algorithm.
        by: &'static str,
    },
}

impl Question<'_> {
    /// The runs that answer it. `files` opens the files that the question names, and `others` the files of fields set
    /// from outside.
    pub fn plan(&self, files: Files, others: Files) -> Result<Asked, Refused> {
        let varied: Vec<&str> = self.varied.iter().map(|(path, _)| path.as_str()).collect();
        let plain = self.schemes.first().map(|(_, scheme)| self.tree("", scheme)).unwrap_or_default();
        let asked = self.planned(title(&plain, &varied, &self.also, &[]), files, others)?;
        let Some((_, text)) = asked.scenarios.first().filter(|_| !self.fields().is_empty()) else {
            return Ok(asked);
        };
        // Fields set from outside may be the ones in the title.
        let swept: Vec<&str> =
            asked.rows.iter().flat_map(|(settings, _)| settings).map(|(path, _)| path.as_str()).collect();
        let root = scenario::root(text, &mut Faults::default()).unwrap_or_default();
        self.planned(title(&root, &swept, &self.also, &self.set), files, others)
    }

    /// The runs under this title.
    fn planned(&self, title: String, files: Files, others: Files) -> Result<Asked, Refused> {
        let mut asked = Asked { title, ..Asked::default() };
        for (name, scheme) in &self.schemes {
            let document = Document::write(self.tree(&asked.title, scheme));
            let (plan, text) = self
                .extensions
                .plan_set(&document, &self.fields(), files, others)
                .map_err(|faults| Refused::Invalid(Invalid::of(scheme.name.clone(), document, faults)))?;
            for Case { valid, settings } in plan.cases {
                if let Some(by) = replaced(&valid, 0, scheme) {
                    return Err(Refused::Replaced { scheme: scheme.name.clone(), by });
                }
                let own = ("scheme".to_string(), name.clone());
                asked.rows.push(([own].into_iter().chain(settings).collect(), valid));
            }
            asked.scenarios.push((name.clone(), text));
            asked.seeds = plan.seeds;
            asked.figure = plan.figure;
        }
        Ok(asked)
    }

    /// All fields that are set.
    fn fields(&self) -> Vec<String> {
        [&self.path[..], &self.set].concat()
    }

    fn tree(&self, title: &str, scheme: &Scheme) -> Table {
        let parties = [Party { name: FORWARD, scheme, flows: self.flows }];
        self.dumbbell(title, &parties).tree().with_some("sweep", self.sweep())
    }

    fn sweep(&self) -> Option<Table> {
        let axis =
            |table: Table, (path, values): &(String, Vec<Raw>)| table.with(path, Raw::List(values.clone()));
        Some(self.varied.iter().fold(Table::default(), axis)).filter(|sweep| !sweep.entries.is_empty())
    }

    fn dumbbell<'d>(&'d self, title: &'d str, parties: &'d [Party<'d>]) -> Dumbbell<'d> {
        let part = |share: u64| Time(self.duration.0 / share);
        Dumbbell {
            title,
            parties,
            tcp: &self.tcp,
            queues: self.queues,
            rate: self.rate,
            rtt: self.rtt,
            buffer: &self.buffer,
            reverse: self.reverse,
            full: self.full,
            web: self.web,
            duration: self.duration,
            // 100s..300s and 0s..50s of 400s.
            measure: self.measure.unwrap_or(Interval { from: part(4), to: Time(self.duration.0 / 4 * 3) }),
            start: self.start.unwrap_or(Interval { from: Time::ZERO, to: part(8) }),
            seeds: self.seeds,
            seed: self.seed,
            sample: self.sample,
        }
    }
}

/// The algorithm that a group of long transfers or the bottleneck has instead of the scheme's.
pub(in super::super) fn replaced(valid: &Valid, group: usize, scheme: &Scheme) -> Option<&'static str> {
    let control = valid.groups().get(valid.origin(group)).and_then(|one| one.cc.as_ref()).map(|cc| cc.name());
    let queue = valid.network().links.iter().find(|link| link.measured).map(|link| link.queue.name());
    let control = control.filter(|name| *name != scheme.cc.name());
    control.or(queue.filter(|name| *name != scheme.queue.name()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{files, parse, scheme};

    fn question() -> Question<'static> {
        let schemes = ["pert:t1=3ms", "ratcp/droptail/erica:utilization=0.8", "tahoe/red:ecn=true"];
        Question {
            also: "two \"flows\"\\".into(),
            schemes: schemes.map(|name| (name.to_string(), scheme::parse(name).unwrap())).to_vec(),
            extensions: Extensions::NONE,
            tcp: vec![("delayed_ack".into(), Raw::Bool(true)), ("rto_min".into(), Raw::Text("1s".into()))],
            queues: Queues::Paper,
            rate: Rate::from_mbit(10),
            rtt: Span::from_millis(40),
            flows: 2,
            buffer: "1bdp".into(),
            varied: Vec::new(),
            reverse: 1,
            full: false,
            web: Sessions { section: "web", count: 3, fields: &[("shape", Raw::Float(2.0))] },
            duration: Span::from_secs(8),
            measure: None,
            start: None,
            seeds: 2,
            seed: 5,
            sample: None,
            path: Vec::new(),
            set: Vec::new(),
        }
    }

    fn asked(question: &Question) -> Result<Asked, Refused> {
        question.plan(&files::none, &files::none)
    }

    #[test]
    fn the_text_of_a_scenario_is_read_as_what_is_run_whatever_is_asked() {
        let plain = question();
        let bare = Question { reverse: 0, web: Sessions::NONE, tcp: Vec::new(), ..question() };
        let full = Question { full: true, sample: Some(Span::from_millis(100)), ..bare.clone() };
        let set = ["topology.rtt=20ms", "run.seeds=3", "flows.*.stop=7s"].map(String::from).to_vec();
        for question in [plain.clone(), bare, full, Question { set, ..plain }] {
            let Asked { rows, scenarios, seeds, .. } = asked(&question).unwrap();
            assert_eq!((rows.len(), scenarios.len()), (3, 3));
            for ((_, valid), (_, text)) in rows.iter().zip(&scenarios) {
                let plan = parse(text).unwrap();
                assert_eq!((&plan.cases[0].valid, &plan.seeds), (valid, &seeds), "{text}");
            }
        }
    }

    #[test]
    fn rows_of_a_swept_field_are_told_apart() {
        let set = vec!["sweep.topology.rtt=[\"20ms\", \"80ms\"]".to_string()];
        let rows = asked(&Question { set, ..question() }).unwrap().rows;
        let settings: std::collections::BTreeSet<&Settings> =
            rows.iter().map(|(settings, _)| settings).collect();
        assert_eq!((rows.len(), settings.len()), (6, 6), "{settings:?}");
        let pair = |field: &str, value: &str| (field.to_string(), value.to_string());
        assert_eq!(rows[0].0, [pair("scheme", "pert:t1=3ms"), pair("topology.rtt", "20ms")]);
    }

    #[test]
    fn every_scheme_runs_with_every_combination_of_values_and_its_text_says_so() {
        let text = |value: &str| Raw::Text(value.into());
        let varied = vec![
            ("topology.rate".to_string(), vec![text("10mbit"), text("20mbit")]),
            ("topology.buffer".to_string(), vec![text("0.5bdp"), text("1bdp"), text("100pkt")]),
            (FLOWS.to_string(), vec![Raw::Integer(2), Raw::Integer(4)]),
        ];
        let Asked { rows, scenarios, .. } = asked(&Question { varied, ..question() }).unwrap();
        assert_eq!((rows.len(), scenarios.len()), (3 * 2 * 3 * 2, 3));
        let (settings, valid) = &rows[11];
        let fields: Vec<(&str, &str)> =
            settings.iter().map(|(field, value)| (field.as_str(), value.as_str())).collect();
        let expected = [
            ("scheme", "pert:t1=3ms"),
            ("topology.rate", "20mbit"),
            ("topology.buffer", "100pkt"),
            ("flows.forward.count", "4"),
        ];
        assert_eq!(fields, expected);
        assert_eq!(valid.groups()[0].members.len(), 4);
        let limits: Vec<_> =
            valid.network().links.iter().filter(|link| link.measured).map(|link| link.limit).collect();
        assert_eq!(limits, [crate::queue::Limit::Packets(100); 2], "each way");
        let plan = parse(&scenarios[0].1).unwrap();
        assert_eq!((plan.cases.len(), &plan.cases[11].valid), (12, valid), "{}", scenarios[0].1);
    }

    #[test]
    fn a_fault_points_to_the_value_in_the_text_or_in_the_field_set_from_outside() {
        for (buffer, set, place) in [
            ("much", &[][..], "\"much\""),
            ("1bdp", &["topology.rtt=soon"][..], "soon"),
            ("1bdp", &["topology.rat=1mbit"][..], "topology.rat"),
        ] {
            let set: Vec<String> = set.iter().map(|field| field.to_string()).collect();
            let wrong = Question { buffer: buffer.into(), reverse: 0, set: set.clone(), ..question() };
            let Err(Refused::Invalid(invalid)) = asked(&wrong) else { panic!("{buffer} {set:?}") };
            let lines = format!("{}\n{}", invalid.text, set.join("\n"));
            assert_eq!(&lines[invalid.faults[0].span.clone()], place, "{:?}", invalid.faults);
        }
    }

    #[test]
    fn the_title_is_in_the_units_of_people_and_follows_what_is_run() {
        let titled = |question: Question| asked(&question).unwrap().title;
        let bare = Question { also: String::new(), ..question() };
        assert_eq!(titled(bare.clone()), "10 Mbit/s, 40 ms RTT, 2 flows, 1 BDP of buffer");
        let set = ["Topology.RTT=20ms", "flows.*.count=1", "tcp.rto_min=2s", "run.seeds=3"]
            .map(String::from)
            .to_vec();
        let changed = Question { set, also: "3 web sessions".into(), ..bare.clone() };
        assert_eq!(
            titled(changed),
            "10 Mbit/s, 20 ms RTT, 1 flow, 1 BDP of buffer, 3 web sessions, tcp.rto_min=2s"
        );
        let varied =
            vec![("topology.rtt".to_string(), vec![Raw::Text("20ms".into()), Raw::Text("80ms".into())])];
        assert_eq!(titled(Question { varied, ..bare.clone() }), "10 Mbit/s, 2 flows, 1 BDP of buffer");
        let buffers = vec!["sweep.topology.buffer=[\"1bdp\", \"750 packets\"]".to_string()];
        let swept = asked(&Question { set: buffers, ..bare }).unwrap();
        assert_eq!(swept.title, "10 Mbit/s, 40 ms RTT, 2 flows");
        assert!(
            swept.scenarios[0].1.contains("name = \"10 Mbit/s, 40 ms RTT, 2 flows\""),
            "{}",
            swept.scenarios[0].1
        );
    }

    #[test]
    fn a_field_set_from_outside_cannot_replace_a_part_of_a_scheme() {
        for (field, other) in [("flows.forward.cc=cubic", "cubic"), ("queue.kind=codel", "codel")] {
            let wrong = Question { set: vec![field.into()], ..question() };
            let refused = asked(&wrong).unwrap_err();
            assert!(matches!(refused, Refused::Replaced { by, .. } if by == other), "{refused:?}");
        }
    }
}

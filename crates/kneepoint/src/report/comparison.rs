// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The document about a comparison: headline metrics, charts, and the metrics of groups, transfers and links. As JSON:
//!
//! ```text
//! { "schema_version", "title", "verdict", "cautions",
//!   "factors": [ { "key", "name", "unit", "column", "levels": [ { "text", "number" } ] } ],
//!   "schemes": [ { "scheme", "levels": { COLUMN: LEVEL, … }, KEY: { "mean", "half_width" }, …,
//!                  PART: [ { "link", KEY: { "mean", "half_width" }, … } ],
//!                  "runs": [ { "seed", …, "rows": [ { "labels", "values" } ] } ] } ],
//!   "manifest" }
//! ```
//!
//! `KEY` of a scheme is each of [`headlines`]; `PART` is each of [`PARTS`], and its `KEY` each of its [metrics](Subject::metrics).
//! [`output`](super::output) defines all of them.

use std::collections::BTreeMap;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::document::{Block, Column, Document, Figure, Layout, Prose, Section, Shown, Table, TableLine};
use super::grid::{Breakdown, Grid, marks, measured};
use super::transfers::Group;
use super::verdict::{leading, of_transfers, verdict};
use super::{
    Comparison, Factor, PARTS, SchemeResult, figure, figures, loads, manifest, parts, pivot, remarks, shares,
    transfers,
};
use crate::measure::{Subject, headlines};
use crate::metric::Metric;
use crate::scenario::FigureSpec;
use crate::table::{Cell, number, value};

/// The whole document: the answer, the picture that shows it, the numbers, and then the rest.
pub fn document(comparison: &Comparison) -> Document {
    with_figure(comparison, &FigureSpec::default())
}

/// The whole document, with the requested figure of the factors.
pub fn with_figure(comparison: &Comparison, wish: &FigureSpec) -> Document {
    let several = comparison.schemes.len() > 1;
    let varied = figure::block(comparison, wish);
    let bare = varied.is_none();
    let leading = leading(comparison);
    let mut sections = vec![Section::new("", introduction(comparison, varied, leading.as_ref()))];
    sections.push(Section::new("Headline metrics", headline(comparison, wish)));
    sections.extend(pivot::aside(comparison, loads::sections(comparison)));
    let short = transfers::sections(comparison, leading.as_ref().filter(|_| bare), of_transfers);
    sections.extend(pivot::aside(comparison, short));
    if several || !bare {
        sections.extend(charts("Over time", over_time(comparison)));
    }
    if several {
        if bare && leading.is_some() {
            sections.extend(charts("Utilization, delay and queue", of_the_bottleneck(comparison)));
        }
        // Bars of many cases would repeat the figure.
        let bars = if bare { figures::metrics(comparison) } else { Vec::new() };
        sections.extend(charts("Metric by metric", vec![Block::Figures(Layout::Grid, bars)]));
    } else {
        let distribution = figures::distribution(comparison).into_iter().collect();
        let title = "Distribution of the queue";
        sections.extend(charts(title, vec![Block::Figures(Layout::Halves, distribution)]));
    }
    sections.extend(charts("Drops, marks and retransmissions", figures::counts(comparison)));
    let cut = shares::cut(comparison).into_iter().chain(shares::positions(comparison)).collect();
    sections.extend(charts("Throughput shares", vec![Block::Figures(Layout::Halves, cut)]));
    sections.extend(pivot::aside(comparison, subjects(comparison)));
    sections.push(manifest::section(&comparison.manifest));
    Document { title: comparison.title.clone(), about: verdict(comparison), sections }
}

/// The setting, and the picture that shows the verdict: the factors, the times of short transfers, the knee, or the
/// course of a single run.
fn introduction(comparison: &Comparison, varied: Option<Block>, leading: Option<&Group>) -> Vec<Block> {
    let picture = match (varied, comparison.schemes.len(), leading) {
        (Some(varied), ..) => vec![varied],
        (None, 0 | 1, _) => over_time(comparison),
        (None, _, Some(group)) => keyed(comparison, group.first_figures()),
        (None, _, None) => of_the_bottleneck(comparison),
    };
    let shown = has_figures(&picture).then(|| Block::pages(picture));
    std::iter::once(Block::prose(setting(comparison))).chain(shown).collect()
}

/// The knee, and the distribution of the queue.
fn of_the_bottleneck(comparison: &Comparison) -> Vec<Block> {
    keyed(
        comparison,
        figures::knee(comparison).into_iter().chain(figures::distribution(comparison)).collect(),
    )
}

/// Figures of all schemes below the key of their colours.
fn keyed(comparison: &Comparison, figures: Vec<Figure>) -> Vec<Block> {
    vec![key(comparison, 0..comparison.schemes.len()), Block::Figures(Layout::Halves, figures)]
}

/// The first run of each scheme over time, and how to read it.
fn over_time(comparison: &Comparison) -> Vec<Block> {
    let figures = figures::timelines(comparison);
    let (flows, all) = figures::followed(comparison);
    let seed = comparison.schemes.iter().find_map(|scheme| Some(scheme.runs.first()?.seed));
    let seed = seed.map_or(String::new(), |seed| format!("The run of seed {seed}"));
    let step =
        figures::step(comparison).map_or(String::new(), |step| format!(", sampled every {}", step.people()));
    let scale = if figures.len() > 1 { " One scale for all." } else { "" };
    let rest = match comparison.schemes.len() {
        cases if cases > figures.len() => format!(" {} of {cases} cases.", figures.len()),
        _ => String::new(),
    };
    let mut about = Prose::from(format!(
        "{seed}{step}. Curves but windows are the mean of each interval, with its range as a band; goodput is payload as it \
         arrives, in order or not.{scale}{rest}"
    ));
    if (flows.len() as f64) < all {
        about = about.then(format!(" Windows of {} of {all} flows; ", flows.len()));
        about = about.code("--show-flows N").then(" shows more.");
    }
    let layout = if figures.len() > 1 { Layout::Halves } else { Layout::Whole };
    vec![Block::Prose(about), Block::Figures(layout, figures)]
}

/// The link, the interval of measurement, and the runs.
fn setting(comparison: &Comparison) -> String {
    let first = comparison.schemes.first().and_then(|scheme| scheme.runs.first());
    let place = match first.and_then(|run| Some((figures::bottleneck(run)?, &run.rows))) {
        Some((link, rows)) => {
            let window = number::plain(value(rows, "window_s", &[]));
            let single = matches!(&comparison.schemes[..], [only] if only.runs.len() == 1);
            let runs = if single { "the run" } else { "each run" };
            format!("Measured at {} for {window} s of {runs}. ", link.label("link"))
        }
        None => String::new(),
    };
    let served = first.and_then(figures::bottleneck).map_or(f64::NAN, |link| link.value("served_packets"));
    let say = if served == 1.0 { " says" } else { "s say" };
    let short = (served < LEAST_SERVED).then(|| {
        format!(" The window is too short: its {served} packet{say} nothing of averages, fairness or losses.")
    });
    let design =
        if pivot::is_long(comparison) { format!("{}. ", comparison.design()) } else { String::new() };
    format!("{design}{place}{}{}", comparison.caption(), short.unwrap_or_default())
}

/// Said in place of a table that would have no column.
const ALIKE: &str = "The schemes do not differ in any measured quantity.";

/// The least number of packets in a window for meaningful averages.
const LEAST_SERVED: f64 = 100.0;

/// A column per metric and a line per scheme; of many, a terminal shows the most informative.
fn headline(comparison: &Comparison, wish: &FigureSpec) -> Vec<Block> {
    let grid = Grid::of(comparison);
    let table = pivot::table(comparison, &grid);
    let cells: Vec<Shown> = table.lines.iter().flat_map(|line| line.cells.iter().cloned()).collect();
    let seeds = comparison.schemes.iter().map(|scheme| scheme.runs.len()).min().unwrap_or(0);
    let [terminal, pages] = ["*", "Bold:"].map(|best| marks(&cells, best, seeds).map(Block::prose));
    let told = Block::Pages { blocks: pages.into_iter().collect(), terminal: terminal.into_iter().collect() };
    let notes = remarks::of(comparison).into_iter().map(Block::prose);
    let alike = grid.metrics.is_empty() && grid.lines.len() > 1;
    let shown = if alike { Block::prose(ALIKE) } else { Block::Table(table) };
    let blocks: Vec<Block> = std::iter::once(shown).chain(grid.constants().map(Block::prose)).collect();
    let rows = match pivot::blocks(comparison, &grid) {
        Some(brief) => vec![Block::Pages { blocks, terminal: brief }],
        None => blocks,
    };
    let paper = figure::paper(comparison, wish).map(|paper| Block::Paper(Box::new(paper)));
    rows.into_iter().chain([told]).chain(notes).chain(paper).collect()
}

/// The colours of some cases.
fn key(comparison: &Comparison, ranks: impl IntoIterator<Item = usize>) -> Block {
    let named = |rank: usize| (comparison.schemes[rank].scheme.clone(), comparison.class_of(rank));
    Block::Key(ranks.into_iter().map(named).collect())
}

/// A section of figures on pages; none without figures.
fn charts(title: &str, blocks: Vec<Block>) -> Option<Section> {
    has_figures(&blocks).then(|| Section::new(title, vec![Block::pages(blocks)]))
}

fn has_figures(blocks: &[Block]) -> bool {
    blocks.iter().any(|block| matches!(block, Block::Figures(_, figures) if !figures.is_empty()))
}

/// The metrics of groups, classes of transfers and links: all on pages, the most telling in a terminal.
fn subjects(comparison: &Comparison) -> Vec<Section> {
    let subjects =
        [("Groups", Subject::Group), ("Transfers by size", Subject::Class), ("Links", Subject::Link)];
    let table = |subject, wanted: fn(&Metric) -> bool| -> Vec<Block> {
        if pivot::is_long(comparison) {
            return parts::table(comparison, subject).map(Block::Table).into_iter().collect();
        }
        let breakdown = Breakdown::of(comparison, subject, wanted);
        let same = || Block::prose(format!("The same in every column: {}.", breakdown.same.join(", ")));
        let told = (!breakdown.same.is_empty()).then(same);
        table_of(comparison, &breakdown).map(Block::Table).into_iter().chain(told).collect()
    };
    let section = |(title, subject): (&str, Subject)| {
        let blocks = table(subject, |_| true);
        // Where there are several links, they have their own table above.
        let terminal = if subject == Subject::Link { vec![] } else { table(subject, |metric| metric.brief) };
        (!blocks.is_empty()).then(|| Section::new(title, vec![Block::Pages { blocks, terminal }]))
    };
    subjects.into_iter().filter_map(section).collect()
}

/// A line per metric, a column per group, class or link of each scheme.
fn table_of(comparison: &Comparison, breakdown: &Breakdown) -> Option<Table> {
    let column = |(rank, scheme, name): &(usize, String, String)| Column {
        class: comparison.class_of_row(*rank),
        ..Column::number(scheme, name)
    };
    let with_unit =
        |name: &str, unit: &str| if unit.is_empty() { name.into() } else { format!("{name}, {unit}") };
    (!breakdown.lines.is_empty()).then(|| Table {
        columns: breakdown.columns.iter().map(column).collect(),
        lines: breakdown
            .lines
            .iter()
            .map(|(metric, cells)| TableLine {
                about: metric.title.clone(),
                ..TableLine::new(with_unit(&metric.short, metric.unit), cells.clone())
            })
            .collect(),
        ..Table::default()
    })
}

impl Serialize for Comparison {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let schemes: Vec<Written> =
            self.schemes.iter().map(|scheme| Written { scheme, factors: &self.factors }).collect();
        let mut map = serializer.serialize_map(Some(6))?;
        map.serialize_entry("title", &self.title)?;
        map.serialize_entry("verdict", &verdict(self).plain())?;
        map.serialize_entry("factors", &self.factors)?;
        map.serialize_entry("schemes", &schemes)?;
        map.serialize_entry("cautions", &self.cautions)?;
        map.serialize_entry("manifest", &self.manifest)?;
        map.end()
    }
}

/// A scheme, with the factors to which its levels are indices.
struct Written<'c> {
    scheme: &'c SchemeResult,
    factors: &'c [Factor],
}

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Written { scheme, factors } = *self;
        let level = |(factor, level): (&Factor, &usize)| (factor.column.clone(), factor.cell(*level));
        let levels: BTreeMap<String, Cell> = factors.iter().zip(&scheme.levels).map(level).collect();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("scheme", &scheme.scheme)?;
        map.serialize_entry("levels", &levels)?;
        map.serialize_entry("controls", &scheme.controls)?;
        map.serialize_entry("measured_s", &scheme.measured)?;
        let estimates = headlines().map(|metric| (&metric.key, scheme.estimate(&metric.key)));
        for (key, estimate) in estimates.filter(|(_, estimate)| estimate.mean.is_finite()) {
            map.serialize_entry(key, &estimate)?;
        }
        map.serialize_entry("fluid", &scheme.theory.as_ref().and_then(|theory| theory.as_ref().ok()))?;
        for (key, subject) in PARTS {
            map.serialize_entry(key, &measured(scheme, subject))?;
        }
        map.serialize_entry("runs", &scheme.runs)?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::format::{html, markdown, text};
    use super::super::json::render;
    use super::super::{Manifest, RunResult, example};
    use super::*;

    /// In alphabetical order, like `expected`: an object has no order.
    fn assert_keys(value: &Value, expected: &str) {
        let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(keys.join(" "), expected);
    }

    #[test]
    fn the_keys_are_these_and_no_others() {
        let document: Value = serde_json::from_str(&render(&example::comparison())).unwrap();
        assert_keys(&document, "cautions factors manifest schema_version schemes title verdict");
        let scheme = &document["schemes"][0];
        assert_keys(
            scheme,
            "classes completions controls crossings drop_ratio drop_windows flow_goodput_bps fluid groups jain_index levels links \
             mark_ratio measured_s queue_mean_normalized queue_mean_packets queueing_delay_mean_ms queueing_delay_p99_ms runs scheme \
             startups utilization",
        );
        assert_keys(&scheme["utilization"], "half_width mean");
        assert_keys(&scheme["runs"][0], "bottleneck_packets cpu_seconds events rows seed");
        assert_keys(&scheme["runs"][0]["rows"][0], "labels values");
        assert_eq!(scheme["groups"][1]["group"], "noise");
        let noise = scheme["groups"][1].as_object().unwrap();
        assert!(!noise.contains_key("timeouts"), "undefined for datagrams");
        assert_keys(&document["manifest"]["scenario"][0], "name text");
    }

    #[test]
    fn numbers_read_back_as_they_were() {
        let comparison = example::comparison();
        let document: Value = serde_json::from_str(&render(&comparison)).unwrap();
        let written = &comparison.schemes[0].runs[1];
        let read: RunResult = serde_json::from_value(document["schemes"][0]["runs"][1].clone()).unwrap();
        assert_eq!(&read, written);
    }

    #[test]
    fn equal_comparisons_make_equal_bytes() {
        assert_eq!(render(&example::comparison()), render(&example::comparison()));
    }

    #[test]
    fn schemes_without_a_difference_are_said_to_have_none_and_have_no_table_without_columns() {
        let mut comparison = example::comparison();
        comparison.schemes[1].runs = comparison.schemes[0].runs.clone();
        let shown = text::render(&document(&comparison));
        assert!(shown.contains("The schemes do not differ in any measured quantity."), "{shown}");
        let blocks = headline(&comparison, &FigureSpec::default());
        assert!(!blocks.iter().any(|block| matches!(block, Block::Table(_))), "{shown}");
    }

    #[test]
    fn every_section_is_there_and_the_scenario_stays_text() {
        let page = html::render(&document(&example::comparison()));
        html::tests::check(&page);
        for title in ["Headline metrics", "Over time", "Throughput shares", "Groups", "Manifest"] {
            assert!(page.contains(&format!(">{title}</h2>")), "{title}");
        }
        assert!(page.contains("# &lt;a&gt; &amp; b, see https://example.org"));
        assert!(page.contains("<th scope=\"row\" class=\"s0\"><i></i>"));
        for metric in [&headlines().next().unwrap(), &&Subject::Group.metrics()[1]] {
            assert!(
                page.contains(&format!(" title=\"{}\">{}", metric.title, metric.short)),
                "{}",
                metric.key
            );
        }
    }

    #[test]
    fn every_chart_is_one_element_with_a_name_of_its_own() {
        let document = document(&example::comparison());
        let mut names: Vec<&String> = document.figures().iter().map(|figure| &figure.name).collect();
        // The knee, distribution, shares, drops and marks; headlines; of each scheme its course and positions.
        assert_eq!(names.len(), 5 + 9 + 2 * 2);
        // Nothing was retransmitted, so there is nothing to draw.
        assert!(!names.iter().any(|name| name.starts_with("retransmissions")));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), document.figures().len());
        for figure in document.figures() {
            let svg = figure.drawing.standalone();
            assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{}", figure.name);
            assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count(), "{}", figure.name);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}", figure.name);
        }
    }

    #[test]
    fn the_verdict_is_first_then_its_picture_then_the_numbers() {
        let whole = document(&example::comparison());
        assert_eq!(whole.about, verdict(&example::comparison()));
        let page = html::render(&whole);
        let places = [
            "class=\"lead\"",
            "Measured at",
            "mean queueing delay, ms",
            ">Headline metrics</h2>",
            ">Over time</h2>",
        ];
        let found = places.map(|part| page.find(part).unwrap_or_else(|| panic!("no {part}")));
        assert!(found.is_sorted(), "{found:?}");
    }

    #[test]
    fn a_scheme_alone_shows_its_course_first_and_has_no_bars() {
        let mut comparison = example::comparison();
        comparison.schemes.truncate(1);
        let whole = document(&comparison);
        let names: Vec<&str> = whole.figures().iter().map(|figure| figure.name.as_str()).collect();
        assert_eq!(names[0], "over_time");
        let bars = headlines().filter(|metric| names.contains(&metric.key.as_str())).count();
        assert_eq!(bars, 0, "{names:?}");
    }

    #[test]
    fn no_scheme_is_still_a_page() {
        let comparison = Comparison {
            factors: Vec::new(),
            schemes: Vec::new(),
            cautions: Vec::new(),
            manifest: Manifest::default(),
            title: "t".into(),
        };
        assert!(html::render(&document(&comparison)).ends_with("</html>\n"));
    }

    #[test]
    fn the_terminal_has_units_and_at_most_80_columns() {
        let text = text::render(&document(&example::comparison()));
        assert_eq!(text.lines().next(), Some("Two schemes on a dumbbell"));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let units = text.lines().skip_while(|line| !line.starts_with("scheme ")).nth(1).unwrap_or_default();
        assert!(units.trim_start().starts_with("packets"), "{text}");
    }

    #[test]
    fn the_caption_says_over_which_seeds() {
        let mut comparison = example::comparison();
        let caption = setting;
        assert!(caption(&comparison).contains("over 3 seeds (1, 2, 3)"));
        comparison.manifest.seeds = vec![4, 5, 6, 7];
        assert!(caption(&comparison).contains("over 3 of 4 planned seeds"));
        for scheme in &mut comparison.schemes {
            scheme.runs.push(scheme.runs[0].clone());
        }
        assert!(caption(&comparison).contains("over 4 seeds (4 to 7)"));
        comparison.manifest.seeds = vec![9];
        assert!(caption(&comparison).contains("One run, seed 9"));
    }

    #[test]
    fn the_caption_says_what_an_interrupted_study_finished() {
        let mut comparison = example::comparison();
        comparison.schemes[0].runs.truncate(2);
        comparison.schemes[1].runs.truncate(1);
        let planned = ["reno/droptail", "prert/pi", "late"];
        comparison.manifest.scenario = planned.map(|name| (name.to_string(), String::new())).to_vec();
        let said = markdown::render(&document(&comparison));
        for part in ["1 to 2 of 3 planned seeds", "One run: no confidence interval", "Without a run: late."] {
            assert!(said.contains(part), "{part}");
        }
        comparison.schemes[0].runs.truncate(1);
        let caption = setting(&comparison);
        assert!(caption.contains("One run of 3 planned seeds: no confidence interval."), "{caption}");
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The document about a comparison: headline metrics, charts, and the metrics of groups, transfers and links. As JSON:
//!
//! ```text
//! { "schema_version", "title",
//!   "schemes": [ { "scheme", KEY: { "mean", "half_width" }, …,
//!                  PART: [ { "link", KEY: { "mean", "half_width" }, … } ],
//!                  "runs": [ { "seed", …, "rows": [ { "labels", "values" } ] } ] } ],
//!   "manifest" }
//! ```
//!
//! `KEY` of a scheme is each of [`headlines`]; `PART` is each of [`PARTS`], and its `KEY` each of its [metrics](Subject::metrics).
//! [`output`](super::output) defines all of them.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::document::{Block, Column, Document, Figure, Layout, Section, Table, TableLine};
use super::grid::{Breakdown, Grid, measured};
use super::{Comparison, PARTS, SchemeResult, figures, loads, manifest, shares, transfers};
use crate::chart::scheme_class;
use crate::measure::{Subject, headlines};
use crate::metric::Metric;
use crate::table::value;

/// The whole document.
pub fn document(comparison: &Comparison) -> Document {
    let knee = figures::knee(comparison).filter(|_| comparison.schemes.len() > 1);
    let glance: Vec<Figure> = knee.into_iter().chain(figures::distribution(comparison)).collect();
    let queue = format!("The first run.{MEANS}");
    let flows = figures::followed_flows(comparison).join(", ");
    let windows = format!(
        "The first run. Flows {flows}; the first in full colour. One scale for all, which cuts off the rarest peaks."
    );
    let cut: Vec<Figure> = shares::cut(comparison).into_iter().chain(shares::positions(comparison)).collect();
    let mut sections = vec![Section::new("Headline metrics", headline(comparison))];
    sections.extend(charts(
        "Goodput over time",
        vec![
            Block::prose(format!(
                "The first run, the sum of each group{}. One scale for all.",
                steps(comparison)
            )),
            Block::Key(figures::goodput_key(comparison)),
        ],
        Layout::Grid,
        figures::goodputs(comparison),
    ));
    sections.extend(loads::sections(comparison));
    sections.extend(transfers::sections(comparison));
    sections.extend(charts("At a glance", vec![key(comparison)], Layout::Halves, glance));
    sections.extend(charts("Metric by metric", vec![], Layout::Grid, figures::metrics(comparison)));
    sections.extend(charts(
        "Queue over time",
        vec![Block::prose(queue)],
        Layout::Grid,
        figures::queues(comparison),
    ));
    sections.extend(charts(
        "Link throughput over time",
        vec![Block::prose(format!("The first run{}.{MEANS}", steps(comparison)))],
        Layout::Grid,
        figures::throughputs(comparison),
    ));
    sections.extend(charts(
        "Drops, marks and retransmissions",
        vec![key(comparison)],
        Layout::Halves,
        figures::counts(comparison),
    ));
    sections.extend(charts(
        "Congestion windows",
        vec![Block::prose(windows)],
        Layout::Grid,
        figures::windows(comparison),
    ));
    sections.extend(charts("Throughput shares", vec![], Layout::Halves, cut));
    sections.extend(subjects(comparison));
    sections.push(manifest::section(&comparison.manifest));
    Document { title: comparison.title.clone(), about: about(comparison).into(), sections }
}

/// How lines and bands are to be read.
const MEANS: &str = " The line is the mean of each interval, the band its range. One scale for all.";

/// The steps of the series.
fn steps(comparison: &Comparison) -> String {
    figures::step(comparison).map_or(String::new(), |step| format!(" in steps of {step}"))
}

/// The schemes, the link and the interval of measurement.
fn about(comparison: &Comparison) -> String {
    let schemes: Vec<&str> = comparison.schemes.iter().map(|scheme| scheme.scheme.as_str()).collect();
    let names = match schemes.as_slice() {
        [] => "Nothing".into(),
        [one] => format!("{one} alone"),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    };
    let first = comparison.schemes.first().and_then(|scheme| scheme.runs.first());
    let place = match first.and_then(|run| Some((figures::bottleneck(run)?, &run.rows))) {
        Some((link, rows)) => {
            format!(", measured at {} for {} s of each run", link.label("link"), value(rows, "window_s", &[]))
        }
        None => String::new(),
    };
    let served = first.and_then(figures::bottleneck).map_or(f64::NAN, |link| link.value("served_packets"));
    let short = if served < LEAST_SERVED {
        format!(" The window is too short: its {served} packets say nothing of averages, fairness or losses.")
    } else {
        String::new()
    };
    format!("{names}{place}. {}{short}", comparison.caption())
}

/// Packets that a window needs for averages over it to mean anything.
const LEAST_SERVED: f64 = 100.0;

/// A column per metric and a line per scheme.
fn headline(comparison: &Comparison) -> Vec<Block> {
    let grid = Grid::of(comparison);
    let line = |(rank, (name, cells)): (usize, (String, _))| TableLine {
        class: Some(scheme_class(rank)),
        ..TableLine::new(name, cells)
    };
    let column = |metric: &&Metric| Column {
        about: metric.title.clone(),
        ..Column::number(&metric.short, metric.unit)
    };
    let table = Table {
        corner: "scheme".into(),
        columns: grid.metrics.iter().map(column).collect(),
        lines: grid.lines.into_iter().enumerate().map(line).collect(),
        linked: false,
    };
    let starred = table.lines.iter().flat_map(|scheme| &scheme.cells).any(|cell| cell.best);
    let terminal =
        starred.then(|| Block::prose("* the best of its column, or not told apart from it by these seeds"));
    let pages = starred
        .then(|| Block::prose("Bold: the best of its column, or not told apart from it by these seeds."));
    let told = Block::Pages { blocks: pages.into_iter().collect(), terminal: terminal.into_iter().collect() };
    let notes = comparison.manifest.notes.iter().map(Block::prose);
    [Block::Table(table), told].into_iter().chain(notes).collect()
}

/// The colours of the schemes.
fn key(comparison: &Comparison) -> Block {
    let schemes = comparison.schemes.iter().enumerate();
    Block::Key(schemes.map(|(rank, scheme)| (scheme.scheme.clone(), scheme_class(rank))).collect())
}

/// A section of figures on pages; none without figures.
fn charts(title: &str, mut blocks: Vec<Block>, layout: Layout, figures: Vec<Figure>) -> Option<Section> {
    let any = !figures.is_empty();
    blocks.push(Block::Figures(layout, figures));
    any.then(|| Section::new(title, vec![Block::pages(blocks)]))
}

/// The metrics of groups, classes of transfers and links: all on pages, the most telling in a terminal.
fn subjects(comparison: &Comparison) -> Vec<Section> {
    let subjects =
        [("Groups", Subject::Group), ("Transfers by size", Subject::Class), ("Links", Subject::Link)];
    let table = |subject, wanted: fn(&Metric) -> bool| -> Vec<Block> {
        breakdown(&Breakdown::of(comparison, subject, wanted)).map(Block::Table).into_iter().collect()
    };
    let section = |(title, subject): (&str, Subject)| {
        let blocks = table(subject, |_| true);
        // Where there are several links, they have a table of their own above.
        let terminal = if subject == Subject::Link { vec![] } else { table(subject, |metric| metric.brief) };
        (!blocks.is_empty()).then(|| Section::new(title, vec![Block::Pages { blocks, terminal }]))
    };
    subjects.into_iter().filter_map(section).collect()
}

/// A line per metric, a column per group, class or link of each scheme.
fn breakdown(breakdown: &Breakdown) -> Option<Table> {
    let column = |(rank, scheme, name): &(usize, String, String)| Column {
        class: Some(scheme_class(*rank)),
        ..Column::number(scheme, name)
    };
    let with_unit =
        |name: &str, unit: &str| if unit.is_empty() { name.into() } else { format!("{name}, {unit}") };
    (!breakdown.columns.is_empty()).then(|| Table {
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

impl Serialize for SchemeResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("scheme", &self.scheme)?;
        for metric in headlines() {
            map.serialize_entry(&metric.key, &self.estimate(&metric.key))?;
        }
        map.serialize_entry("fluid", &self.theory.as_ref().and_then(|theory| theory.as_ref().ok()))?;
        for (key, subject) in PARTS {
            map.serialize_entry(key, &measured(self, subject))?;
        }
        map.serialize_entry("runs", &self.runs)?;
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

    /// In the order of the alphabet, like `expected`: an object has no order.
    fn assert_keys(value: &Value, expected: &str) {
        let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(keys.join(" "), expected);
    }

    #[test]
    fn the_keys_are_these_and_no_others() {
        let document: Value = serde_json::from_str(&render(&example::comparison())).unwrap();
        assert_keys(&document, "manifest schema_version schemes title");
        let scheme = &document["schemes"][0];
        assert_keys(
            scheme,
            "channel_loss_ratio classes completions crossings drop_ratio drop_windows fluid goodput_bps groups jain_index links mark_ratio \
             queue_mean_normalized queue_mean_packets queueing_delay_mean_ms queueing_delay_p99_ms runs scheme \
             startups utilization",
        );
        assert_keys(&scheme["utilization"], "half_width mean");
        assert_keys(&scheme["runs"][0], "bottleneck_packets cpu_seconds events rows seed");
        assert_keys(&scheme["runs"][0]["rows"][0], "labels values");
        assert_eq!(scheme["groups"][1]["group"], "noise");
        assert_eq!(scheme["groups"][1]["timeouts"]["mean"], Value::Null, "undefined for datagrams");
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
    fn every_section_is_there_and_the_scenario_stays_text() {
        let page = html::render(&document(&example::comparison()));
        html::tests::check(&page);
        for title in [
            "Headline metrics",
            "Queue over time",
            "Congestion windows",
            "Throughput shares",
            "Groups",
            "Manifest",
        ] {
            assert!(page.contains(&format!(">{title}</h2>")), "{title}");
        }
        assert!(page.contains("# &lt;a&gt; &amp; b, see https://example.org"));
        assert!(page.contains("<th class=\"s0\"><i></i>"));
        for metric in [&headlines().next().unwrap(), &&Subject::Group.metrics()[1]] {
            assert!(
                page.contains(&format!("<th title=\"{}\">{}", metric.title, metric.short)),
                "{}",
                metric.key
            );
        }
    }

    #[test]
    fn every_chart_is_one_element_with_a_name_of_its_own() {
        let document = document(&example::comparison());
        let mut names: Vec<&String> = document.figures().iter().map(|figure| &figure.name).collect();
        // The knee, distribution, shares, drops and marks; headlines; of each scheme goodput, queue, throughput, window and positions.
        assert_eq!(names.len(), 5 + 9 + 2 * 5);
        // Nothing was sent again, so there is nothing to draw.
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
    fn no_scheme_is_still_a_page() {
        let comparison = Comparison { schemes: Vec::new(), manifest: Manifest::default(), title: "t".into() };
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
        let caption = |one: &Comparison| document(one).about.plain();
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
        let caption = document(&comparison).about.plain();
        assert!(caption.contains("One run of 3 planned seeds: no confidence interval."), "{caption}");
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Short transfers next to long ones: which scheme gives them the best times, and at what cost to the long ones.

use super::document::{Block, Column, Figure, Layout, Prose, Section, Shown, Table, TableLine};
use super::figures::metric_bars;
use super::grid::measured;
use super::{Comparison, RunResult, SchemeResult};
use crate::chart::{Axis, Dot, Line, Lines, lines, scatter};
use crate::measure::{Subject, ends_at_proxy};
use crate::metric::Metric;
use crate::table::{Estimate, quantity, value};
use crate::units::Span;

/// A group of short transfers.
#[derive(Clone)]
pub(super) struct Group<'c> {
    comparison: &'c Comparison,
    name: String,
    /// The time that counts: of its pages, if it loads any of several objects, or else of its transfers.
    pub(super) time: &'static Metric,
}

/// The sections about groups of short transfers, each with its verdict; the leading group, which the report shows at
/// its beginning, is not repeated.
pub(super) fn sections<'c>(
    comparison: &'c Comparison,
    leading: Option<&Group>,
    verdict: impl Fn(&'c Comparison, Group<'c>) -> Prose,
) -> Vec<Section> {
    let section = |group: Group<'c>| match leading {
        Some(first) if first.name == group.name => group.section(Prose::default(), group.by_sizes()),
        _ => {
            let figures = group.first_figures().into_iter().chain(group.by_sizes()).collect();
            group.section(verdict(comparison, group.clone()), figures)
        }
    };
    groups(comparison).into_iter().map(section).collect()
}

/// A metric of groups.
fn metric(key: &str) -> Option<&'static Metric> {
    Subject::Group.metrics().iter().find(|metric| metric.key == key)
}

/// A metric of a group in a run.
fn of(run: &RunResult, group: &str, key: &str) -> f64 {
    value(&run.rows, key, &[("group", group)])
}

/// The groups whose connections are opened in the run, in the order of the first scheme.
pub(super) fn groups(comparison: &Comparison) -> Vec<Group<'_>> {
    let runs = || comparison.schemes.iter().flat_map(|scheme| &scheme.runs);
    let first = comparison.schemes.first().and_then(|scheme| scheme.runs.first());
    let names = first.iter().flat_map(|run| &run.rows).filter(|row| Subject::Group.has(row));
    let short = names.filter_map(|row| {
        let name = row.label("group");
        let has = |key: &str| runs().any(|run| of(run, name, key) > 0.0);
        let pages = runs().any(|run| of(run, name, "completions") > 1.5 * of(run, name, "pages_loaded"));
        let time = if pages { "page_load_time_p50_ms" } else { "completion_time_p50_ms" };
        let unlisted = row.value("flows").is_nan() && has("completions") && !ends_at_proxy(row);
        Some(Group { comparison, name: name.into(), time: metric(time).filter(|_| unlisted)? })
    });
    short.collect()
}

/// Goodput of the long transfers of a run, where they end: not of their connections to proxies.
pub(super) fn long_bps(run: &RunResult) -> f64 {
    let groups = run.rows.iter().filter(|row| Subject::Group.has(row) && !ends_at_proxy(row));
    let long = groups.filter(|row| row.value("flows") > 0.0);
    let goodputs: Vec<f64> = long.map(|row| row.value("goodput_bps")).collect();
    if goodputs.is_empty() { f64::NAN } else { goodputs.iter().sum() }
}

fn long_goodput(scheme: &SchemeResult) -> Estimate {
    Estimate::of(&scheme.runs.iter().map(long_bps).collect::<Vec<_>>())
}

impl Group<'_> {
    fn section(&self, verdict: Prose, figures: Vec<Figure>) -> Section {
        let answer = Some(verdict).filter(|told| *told != Prose::default()).map(Block::Prose);
        let mut blocks: Vec<Block> = answer.into_iter().chain([Block::Table(self.table())]).collect();
        if !figures.is_empty() {
            blocks.push(Block::pages(vec![Block::Figures(Layout::Halves, figures)]));
        }
        Section::new(format!("Transfers of {}", self.name), blocks)
    }

    /// The deciding time against its cost, or alone, and the distribution of all times.
    pub(super) fn first_figures(&self) -> Vec<Figure> {
        self.map()
            .or_else(|| metric_bars(self.comparison, self.time, &|run| self.of(run, &self.time.key)))
            .into_iter()
            .chain(self.distribution())
            .collect()
    }

    /// Slowdowns by the sizes of transfers.
    fn by_sizes(&self) -> Vec<Figure> {
        let slowdowns =
            [("slowdown_p50", "Median slowdown"), ("slowdown_p99", "99th percentile of slowdown")];
        slowdowns.into_iter().filter_map(|(key, title)| self.by_size(key, title)).collect()
    }

    fn estimate(&self, scheme: &SchemeResult, key: &str) -> Estimate {
        Estimate::of(&scheme.runs.iter().map(|run| of(run, &self.name, key)).collect::<Vec<_>>())
    }

    /// One of its metrics in a run.
    pub(super) fn of(&self, run: &RunResult, key: &str) -> f64 {
        of(run, &self.name, key)
    }

    /// The time of late transfers.
    pub(super) fn late(&self) -> Option<&'static Metric> {
        metric("completion_time_p95_ms")
    }

    /// The time that counts, by its name in figures.
    pub(super) fn expression(&self) -> String {
        format!("{}[group={}]", self.time.key, self.name)
    }

    /// Times, counts, and the goodput of the long transfers; a line per scheme.
    fn table(&self) -> Table {
        let schemes = &self.comparison.schemes;
        let keys =
            ["page_load_time_p50_ms", "completion_time_p50_ms", "completion_time_p95_ms", "completions"];
        let shown = |metric: &&Metric| {
            schemes.iter().any(|scheme| self.estimate(scheme, &metric.key).mean.is_finite())
                && (metric.key != keys[0] || self.time.key == keys[0])
        };
        let metrics: Vec<&Metric> = keys.iter().filter_map(|key| metric(key)).filter(shown).collect();
        let beside = schemes.iter().any(|scheme| long_goodput(scheme).mean.is_finite());
        let column = |metric: &&Metric| Column {
            about: metric.title.clone(),
            ..Column::number(&metric.short, metric.unit)
        };
        let goodput = Column {
            about: "Goodput of all long transfers".into(),
            ..Column::number("long goodput", "Mbit/s")
        };
        let line = |(rank, scheme): (usize, &SchemeResult)| {
            let own = metrics.iter().map(|metric| Shown::metric(&self.estimate(scheme, &metric.key), metric));
            let cells = own.chain(beside.then(|| Shown::of(&long_goodput(scheme), 1e-6))).collect();
            TableLine { class: self.comparison.class_of_row(rank), ..TableLine::new(&scheme.scheme, cells) }
        };
        Table {
            corner: "scheme".into(),
            columns: metrics.iter().map(column).chain(beside.then_some(goodput)).collect(),
            lines: schemes.iter().enumerate().map(line).collect(),
            linked: false,
        }
    }

    /// The distribution of completion times.
    fn distribution(&self) -> Option<Figure> {
        let schemes = &self.comparison.schemes;
        let all: Vec<Vec<(f64, f64)>> = schemes.iter().map(|scheme| self.cumulated(scheme)).collect();
        // From the last time at which nothing is complete anywhere to the first at which everything is.
        let shares =
            |place: usize| all.iter().filter_map(move |points| points.get(place)).map(|point| point.1);
        let length = all.iter().map(Vec::len).max()?;
        let first = (0..length).rposition(|place| shares(place).all(|share| share < 5e-4)).unwrap_or(0);
        let last =
            (0..length).position(|place| shares(place).all(|share| share > 0.9995)).unwrap_or(length - 1);
        let series = schemes.iter().zip(&all).map(|(scheme, points)| {
            let shown = points.iter().take(last + 1).skip(first);
            Line::exact(&scheme.scheme, shown.map(|(time, share)| (*time, 100.0 * share)))
        });
        let title = format!("Completion times of {}", self.name);
        let drawing = lines(&Lines {
            title: title.clone(),
            x: Axis::log("completion time, s"),
            y: Axis::linear("CDF, %").holding(0.0, 100.0),
            series: series.collect(),
            marks: Vec::new(),
            published: Vec::new(),
            measured: None,
        });
        Some(Figure {
            name: format!("completion_times_{}", Figure::stem(&self.name)),
            title,
            note: "CDF. A curve further to the left is better.",
            class: None,
            drawing,
        })
    }

    /// Times in seconds, each with the share of the transfers that took no longer.
    fn cumulated(&self, scheme: &SchemeResult) -> Vec<(f64, f64)> {
        let rows = measured(scheme, Subject::Completion).into_iter();
        let own = rows.filter(|row| row.labels.get("group") == Some(&self.name));
        let point = |row: super::grid::Measured| {
            let time: Span = row.labels.get("within")?.parse().ok()?;
            Some((time.as_secs_f64(), row.estimate("completed_within_share")?.mean))
        };
        own.filter_map(point).collect()
    }

    /// A metric of the classes of transfers against their sizes.
    fn by_size(&self, key: &str, title: &str) -> Option<Figure> {
        let series = |scheme: &SchemeResult| {
            let own = measured(scheme, Subject::Class).into_iter();
            let own = own.filter(|class| class.labels.get("group") == Some(&self.name));
            let point = |class: super::grid::Measured| {
                let estimate = class.estimate(key).filter(|estimate| estimate.mean.is_finite())?;
                Some((quantity(class.labels.get("class")?)?, estimate))
            };
            // A class that only later seeds contain follows all others.
            let mut points: Vec<(f64, Estimate)> = own.filter_map(point).collect();
            points.sort_by(|one, other| one.0.total_cmp(&other.0));
            Line { name: scheme.scheme.clone(), rank: None, broad: false, points }
        };
        let series: Vec<Line> = self.comparison.schemes.iter().map(series).collect();
        let title = format!("{title} of {} by size", self.name);
        series.iter().any(|line| !line.points.is_empty()).then(|| Figure {
            name: format!("{key}_{}", Figure::stem(&self.name)),
            drawing: lines(&Lines {
                title: title.clone(),
                x: Axis::log("smallest size of the class, bytes"),
                y: Axis::log("slowdown"),
                series,
                marks: Vec::new(),
                published: Vec::new(),
                measured: None,
            }),
            title,
            note: "How much longer than alone, by decades of size, with 95 % confidence intervals. Lower is better.",
            class: None,
        })
    }

    /// Goodput of the long transfers against the median time of the short ones.
    fn map(&self) -> Option<Figure> {
        let dot = |(rank, scheme): (usize, &SchemeResult)| {
            let x = self.estimate(scheme, &self.time.key).times(self.time.scale);
            let y = long_goodput(scheme).times(1e-6);
            Dot::of(self.comparison.class_of(rank), &scheme.scheme, &x, &y)
        };
        let dots: Vec<Dot> = self.comparison.schemes.iter().enumerate().filter_map(dot).collect();
        let title = format!("Long transfers against {}", self.name);
        let quantity = format!("{}, {}", self.time.title.to_lowercase(), self.time.unit);
        (!dots.is_empty()).then(|| Figure {
            name: format!("long_against_{}", Figure::stem(&self.name)),
            drawing: scatter(&title, (&quantity, "goodput of long transfers, Mbit/s"), &dots),
            title,
            note: "Up and to the left is better for both. Crosses are confidence intervals.",
            class: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::document::Block;
    use super::super::example;
    use super::super::verdict::of_transfers;
    use super::*;
    use crate::table::Row;

    /// Three seeds of two schemes: the second halves the times and costs a tenth of the goodput.
    fn comparison(pages: f64) -> Comparison {
        let mut comparison = example::comparison();
        for (place, scheme) in comparison.schemes.iter_mut().enumerate() {
            for run in &mut scheme.runs {
                let level = (100.0 + run.seed as f64) / (1.0 + place as f64);
                let web = Row::new([("group", "web".into())])
                    .with("completions", 100.0)
                    .with("pages_loaded", pages)
                    .with("completion_time_p50_ms", level)
                    .with("completion_time_p95_ms", 3.0 * level)
                    .with("page_load_time_p50_ms", 2.0 * level);
                let within = |(time, share): (&str, f64)| {
                    let labels = [("group", "web".into()), ("within", time.into())];
                    Row::new(labels).with("completed_within_share", share)
                };
                run.rows.push(web);
                run.rows.extend([("50ms", 0.0), ("100ms", 0.3), ("1s", 1.0), ("2s", 1.0)].map(within));
                let long = run.rows.iter_mut().find(|row| row.label("group") == "forward").unwrap();
                *long = Row::new([("group", "forward".into())])
                    .with("flows", 10.0)
                    .with("goodput_bps", 1e7 * (1.0 - 0.1 * place as f64) * (1.0 + 0.001 * run.seed as f64));
            }
        }
        comparison
    }

    fn answer(comparison: &Comparison) -> String {
        of_transfers(comparison, groups(comparison)[0].clone()).plain()
    }

    #[test]
    fn long_goodput_is_counted_where_it_ends() {
        let mut run = example::comparison().schemes[0].runs[0].clone();
        let all = long_bps(&run);
        let mut long = run.rows.iter_mut().filter(|row| Subject::Group.has(row) && row.value("flows") > 0.0);
        let first = long.next().expect("long transfers");
        let own = first.value("goodput_bps");
        first.values.insert("ends_at_proxy".into(), Some(1.0));
        assert!(all > 0.0 && (long_bps(&run) == all - own || all == own && long_bps(&run).is_nan()));
    }

    #[test]
    fn the_answer_names_the_best_its_gain_and_its_cost() {
        let mut comparison = comparison(f64::NAN);
        assert_eq!(
            answer(&comparison),
            "prert/pi has a 50 % shorter median completion time than reno/droptail (51 ms against 102 ms, 3 seeds, p < 0.001), at \
             10 % less goodput of long transfers."
        );
        // Schemes whose times do not differ in every seed are indistinguishable.
        comparison.schemes[1].runs = comparison.schemes[0].runs.clone();
        assert!(
            answer(&comparison).contains("is statistically indistinguishable"),
            "{}",
            answer(&comparison)
        );
    }

    #[test]
    fn pages_of_several_objects_count_as_pages() {
        assert!(answer(&comparison(100.0)).contains("median completion time"));
        assert!(answer(&comparison(10.0)).contains("median page load time"));
    }

    #[test]
    fn a_group_of_short_transfers_has_a_table_and_two_figures() {
        let comparison = comparison(10.0);
        let sections = sections(&comparison, None, of_transfers);
        let [section] = &sections[..] else { panic!("{} sections", sections.len()) };
        let [_, Block::Table(table), Block::Pages { blocks, .. }] = &section.blocks[..] else { panic!() };
        let titles: Vec<&str> = table.columns.iter().map(|column| column.title.as_str()).collect();
        assert_eq!(
            titles,
            ["median page load", "median completion", "p95 completion", "completed", "long goodput"]
        );
        assert_eq!(table.lines[0].cells[0].text(), "204.0 ± 5.0");
        let [Block::Figures(_, figures)] = &blocks[..] else { panic!() };
        assert_eq!(figures.len(), 2);
    }

    #[test]
    fn the_first_picture_shows_what_the_verdict_is_about_and_neither_is_repeated() {
        let mut comparison = comparison(10.0);
        for (place, scheme) in comparison.schemes.iter_mut().enumerate() {
            for run in &mut scheme.runs {
                let late = (20.0 + 0.1 * run.seed as f64) * (1.0 + place as f64);
                let whole = run.rows.iter_mut().find(|row| row.labels.is_empty()).unwrap();
                *whole = std::mem::replace(whole, Row::new([])).with("queueing_delay_p99_ms", late);
            }
        }
        let document = super::super::comparison::document(&comparison);
        let about = document.about.plain();
        assert!(about.contains("shorter median page load time"), "{about}");
        assert!(
            about.contains("at 10 % less goodput of long transfers and")
                && about.contains("more queueing delay at the 99th percentile."),
            "{about}"
        );
        let first = |block: &Block| block.figures().first().map(|figure| figure.name.clone());
        let lead = document.sections[0].blocks.iter().find_map(first);
        assert_eq!(lead.as_deref(), Some("long_against_web"));
        let names: Vec<String> = document.figures().iter().map(|figure| figure.name.clone()).collect();
        let distinct: std::collections::BTreeSet<&String> = names.iter().collect();
        assert_eq!(distinct.len(), names.len(), "{names:?}");
        let page = super::super::format::markdown::render(&document);
        assert_eq!(page.matches("shorter median page load time").count(), 1, "{page}");
    }

    #[test]
    fn a_comparison_of_long_transfers_alone_has_none() {
        assert!(sections(&example::comparison(), None, of_transfers).is_empty());
    }
}

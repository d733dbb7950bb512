// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The first run of each scheme over time: windows, queue, round trips and goodput above one another, with the events of the run.

mod happenings;
mod scales;

use super::super::document::Figure;
use super::super::{Comparison, SchemeResult, names};
use super::{bottleneck, curves, part};
use crate::chart::{Axis, Curve, Strip, Timeline, Trace, scheme_class, timeline};
use crate::measure::{Subject, courses, spread};
use crate::metric::Course;
use crate::study::FOLLOWED;
use crate::table::Table;
use scales::Scales;
pub(in super::super) use scales::peak;

/// Schemes that are shown over time; the rest is in files.
const MOST: usize = 8;
/// Intervals that a plot resolves.
const INTERVALS: usize = 400;

/// Points of a curve: time in seconds and a value.
type Points = Vec<(f64, f64)>;

/// A timeline of each of the first schemes that were sampled, all on the same scales.
pub(in super::super) fn timelines(comparison: &Comparison) -> Vec<Figure> {
    let runs: Vec<Run> = shown(comparison).into_iter().filter_map(|rank| Run::of(comparison, rank)).collect();
    let scales = Scales::of(&runs);
    let schemes: Vec<&str> = comparison.schemes.iter().map(|one| one.scheme.as_str()).collect();
    runs.iter().map(|run| run.figure(names::figure("over_time", &schemes, run.rank), &scales)).collect()
}

/// The cases that are shown: among too many, the ones that differ only in their algorithms.
pub(in super::super) fn shown(comparison: &Comparison) -> Vec<usize> {
    let all = 0..comparison.schemes.len();
    let rivals = comparison.contests().into_iter().next().filter(|_| all.len() > MOST);
    rivals.map_or(all.collect(), |contest| contest.rivals).into_iter().take(MOST).collect()
}

/// The condition of the cases that are shown, where others are left out: `RTT 20 ms, buffer 1 BDP`.
pub(in super::super) fn condition(comparison: &Comparison) -> Option<String> {
    let (cases, all) = (shown(comparison), comparison.schemes.len());
    let first = cases.first().filter(|_| cases.len() < all && !comparison.contests().is_empty())?;
    Some(comparison.shared_by(*first)).filter(|told| !told.is_empty())
}

/// The flows whose windows are shown, and how many there are in their groups: `long/0`, …
pub(in super::super) fn followed(comparison: &Comparison) -> (Vec<String>, f64) {
    let Some((scheme, series)) =
        comparison.schemes.iter().find_map(|scheme| Some((scheme, scheme.series.as_ref()?)))
    else {
        return (Vec::new(), 0.0);
    };
    let columns = drawn(series).into_iter();
    let rows = scheme.runs.first().map_or(&[][..], |run| &run.rows);
    let flows = rows.iter().filter(|row| Subject::Group.has(row)).map(|row| row.value("flows"));
    let all = flows.filter(|flows| flows.is_finite()).sum();
    (columns.map(|column| series.subject(column).to_string()).collect(), all)
}

/// The windows that are drawn: all sampled ones, or some of each group if every flow was sampled.
fn drawn(series: &Table) -> Vec<usize> {
    let all = series.columns_of("window_packets");
    if series.columns_of("flow_rtt_ms").is_empty() {
        return all;
    }
    let group = |column: usize| series.subject(column).rsplit_once('/').map_or("", |(group, _)| group);
    let groups = all.chunk_by(|one, next| group(*one) == group(*next));
    groups.flat_map(|own| spread(own.len(), FOLLOWED).into_iter().map(|place| own[place])).collect()
}

/// A run of a scheme, as its series has it.
struct Run<'c> {
    rank: usize,
    /// The class of its colour.
    class: String,
    scheme: &'c SchemeResult,
    series: &'c Table,
    /// Groups whose flows are known before the run.
    groups: Vec<&'c str>,
    /// The congestion windows of flows: group, flow, points.
    windows: Vec<(&'c str, &'c str, Points)>,
    queue: Points,
    /// Round-trip times in milliseconds, by the place of the group.
    rtts: Vec<(usize, Points)>,
    /// Goodput in Mbit/s, by the place of the group.
    goodputs: Vec<(usize, Points)>,
    /// Throughput and capacity of the bottleneck in Mbit/s.
    link: Points,
    capacity: Points,
    /// What sources report over time, in units for people: group, points.
    reported: Vec<(&'static Course, Vec<(&'c str, Points)>)>,
}

impl<'c> Run<'c> {
    fn of(comparison: &'c Comparison, rank: usize) -> Option<Run<'c>> {
        let scheme = &comparison.schemes[rank];
        let series = scheme.series.as_ref()?;
        let first = |quantity: &str| curves(scheme, quantity).into_iter().next().unwrap_or_default();
        let groups: Vec<&str> =
            series.columns_of("throughput_bps").into_iter().map(|column| series.subject(column)).collect();
        let by_group = |quantity: &str| -> Vec<(usize, Points)> {
            let of = |subject: &str| groups.iter().position(|group| *group == subject);
            let all = column_curves(series, quantity).into_iter();
            all.filter_map(|(subject, points)| Some((of(subject)?, points))).collect()
        };
        let active = column_curves(series, "active_flows");
        let windows = curves_of(series, drawn(series)).into_iter().map(|(subject, points)| {
            let (group, flow) = subject.rsplit_once('/').unwrap_or((subject, ""));
            let flows = active.iter().find(|(of, _)| *of == group).map(|(_, flows)| flows);
            (group, flow, while_active(points, flows))
        });
        let run = Run {
            windows: windows.collect(),
            queue: first("queue_packets"),
            rtts: by_group("rtt_ms"),
            goodputs: by_group("throughput_bps").into_iter().map(|(at, points)| (at, mbit(points))).collect(),
            link: mbit(first("link_throughput_bps")),
            capacity: mbit(first("capacity_bps")),
            reported: courses().filter_map(|course| Some((course, told(series, course)?))).collect(),
            rank,
            class: comparison.class_of(rank),
            scheme,
            series,
            groups,
        };
        let any = !run.windows.is_empty() || !run.queue.is_empty() || !run.link.is_empty();
        any.then_some(run)
    }

    fn figure(&self, name: String, scales: &Scales) -> Figure {
        let strips = [self.windows(scales), self.queue(scales), self.rtts(scales), self.goodputs(scales)];
        let reported = self.reported.iter().map(|(course, groups)| self.reports(course, groups, scales));
        let title = self.scheme.scheme.clone();
        let chart = Timeline {
            title: format!("{title} over time"),
            end: scales.end,
            measured: part(self.scheme, scales.end),
            strips: strips.into_iter().flatten().chain(reported).collect(),
            happenings: happenings::of(self.series, |group| self.class_of(group)),
        };
        Figure { name, title, note: "", class: Some(self.class.clone()), drawing: timeline(&chart) }
    }

    /// The class of a group's colour: the scheme's if it is alone.
    fn class_of(&self, group: &str) -> String {
        let place = self.groups.iter().position(|one| *one == group).unwrap_or(0);
        if self.groups.len() > 1 { scheme_class(place) } else { self.class.clone() }
    }

    /// The class of a flow: among flows of one group a colour, among those of several a dash in the colour of the group.
    fn class_of_flow(&self, group: &str, within: usize) -> String {
        let alone = self.windows.iter().filter(|(of, ..)| *of == group).count() == 1;
        match (self.groups.len() > 1, alone) {
            (false, false) => scheme_class(within),
            (false, true) | (true, true) => self.class_of(group),
            (true, false) if within == 0 => self.class_of(group),
            (true, false) => format!("{} d{}", self.class_of(group), within.min(3)),
        }
    }

    fn windows(&self, scales: &Scales) -> Option<Strip> {
        let trace = |(place, (group, flow, points)): (usize, &(&str, &str, Points))| {
            let within = self.windows[..place].iter().filter(|(of, ..)| of == group).count();
            let several = self.windows.iter().filter(|(of, ..)| of == group).count() > 1;
            let name = if several { format!("{group}/{flow}") } else { group.to_string() };
            Trace {
                name,
                class: self.class_of_flow(group, within),
                line: Curve::thinned(points, INTERVALS),
                band: None,
                peak: peak(points),
            }
        };
        let curves: Vec<Trace> = self.windows.iter().enumerate().map(trace).collect();
        let axis = Axis::linear("window, packets").holding(0.0, scales.window);
        (!curves.is_empty()).then_some(Strip { axis, curves, levels: Vec::new() })
    }

    fn queue(&self, scales: &Scales) -> Option<Strip> {
        let mut curves = vec![summed_up(String::new(), self.class.clone(), &self.queue)];
        let mut levels = Vec::new();
        levels.extend(self.of_bottleneck("buffer_packets").map(|buffer| (buffer, "buffer".to_string())));
        if let Some(Ok(beside)) = &self.scheme.theory {
            let course = &beside.theory.queue;
            curves[0].name = "packets".into();
            curves.push(Trace {
                name: "fluid model".into(),
                class: "fluid".into(),
                line: Curve::thinned(course, INTERVALS),
                band: None,
                peak: peak(course),
            });
            levels.push((beside.theory.rest_packets, "fluid equilibrium".into()));
        }
        let axis = Axis::linear("queue, packets").holding(0.0, scales.queue);
        (!self.queue.is_empty()).then_some(Strip { axis, curves, levels })
    }

    fn rtts(&self, scales: &Scales) -> Option<Strip> {
        let curves: Vec<Trace> =
            self.rtts.iter().map(|(place, points)| self.of_group(*place, points)).collect();
        let (least, most) = scales.rtt;
        let axis = Axis::spread("RTT, ms", [least, most]).holding(least, most);
        (!curves.is_empty()).then_some(Strip { axis, curves, levels: Vec::new() })
    }

    /// Goodput of groups, and throughput of the link where others share it or no group is known.
    fn goodputs(&self, scales: &Scales) -> Option<Strip> {
        let mut curves: Vec<Trace> =
            self.goodputs.iter().map(|(place, points)| self.of_group(*place, points)).collect();
        let label = if curves.is_empty() { "throughput, Mbit/s" } else { "goodput, Mbit/s" };
        if curves.is_empty() {
            curves.push(summed_up(String::new(), self.class.clone(), &self.link));
        } else if self.has_others() {
            let line = summed_up("all traffic on the link".into(), "link".into(), &self.link);
            curves.push(Trace { band: None, ..line });
        }
        if !self.capacity.is_empty() {
            let line = Curve::thinned(&self.capacity, INTERVALS);
            let peak = peak(&self.capacity);
            curves.push(Trace { name: "capacity".into(), class: "fluid".into(), line, band: None, peak });
        }
        let levels = self.constant_capacity().map(|at| (at, "capacity".to_string()));
        let axis = Axis::linear(label).holding(0.0, scales.goodput);
        let any = curves.iter().any(|curve| !curve.line.points().is_empty());
        any.then_some(Strip { axis, curves, levels: levels.into_iter().collect() })
    }

    /// What the sources of groups report.
    fn reports(&self, course: &Course, groups: &[(&str, Points)], scales: &Scales) -> Strip {
        let several = groups.len() > 1;
        let trace = |(place, (group, points)): (usize, &(&str, Points))| {
            let name = if several { group.to_string() } else { String::new() };
            let class = if several { scheme_class(self.groups.len() + place) } else { self.class.clone() };
            summed_up(name, class, points)
        };
        let axis = Axis::linear(course.title).holding(0.0, scales.reported(course));
        Strip { axis, curves: groups.iter().enumerate().map(trace).collect(), levels: Vec::new() }
    }

    /// The curve of a group; it is named among several.
    fn of_group(&self, place: usize, points: &Points) -> Trace {
        let group = self.groups[place];
        let name = if self.groups.len() > 1 { group.to_string() } else { String::new() };
        summed_up(name, self.class_of(group), points)
    }

    /// A metric of the bottleneck.
    fn of_bottleneck(&self, metric: &str) -> Option<f64> {
        let value = bottleneck(self.scheme.runs.first()?)?.value(metric);
        Some(value).filter(|known| known.is_finite())
    }

    /// The capacity in Mbit/s, unless it varies.
    fn constant_capacity(&self) -> Option<f64> {
        self.of_bottleneck("capacity_bps").filter(|_| self.capacity.is_empty()).map(|bits| 1e-6 * bits)
    }

    /// Whether there are groups without connections that are known before the run.
    fn has_others(&self) -> bool {
        let rows = self.scheme.runs.first().map_or(&[][..], |run| &run.rows);
        rows.iter().filter(|row| Subject::Group.has(row)).count() > self.groups.len()
    }
}

/// The mean of each interval, with its range where an interval has several points.
pub(in super::super) fn summed_up(name: String, class: String, points: &Points) -> Trace {
    let [low, line, high] = Curve::summed_up(points, INTERVALS);
    let peak = peak(line.points());
    let band = (points.len() > INTERVALS).then_some((low, high));
    Trace { name, class, line, band, peak }
}

/// The points at which some flow of the group is active: the windows of flows that have not begun, or have ended, stand still.
fn while_active(points: Points, flows: Option<&Points>) -> Points {
    let Some(flows) = flows else { return points };
    let known = |((at, value), (_, active)): ((f64, f64), &(f64, f64))| {
        (at, if *active > 0.0 { value } else { f64::NAN })
    };
    points.into_iter().zip(flows).map(known).collect()
}

/// The curves of a course by group, in units for people; none if no source reports it.
fn told<'t>(series: &'t Table, course: &Course) -> Option<Vec<(&'t str, Points)>> {
    let scaled = |points: Points| points.into_iter().map(|(at, value)| (at, course.scale * value)).collect();
    let groups = column_curves(series, course.name).into_iter();
    let groups: Vec<_> = groups.map(|(group, points)| (group, scaled(points))).collect();
    (!groups.is_empty()).then_some(groups)
}

fn mbit(points: Points) -> Points {
    points.into_iter().map(|(time, rate)| (time, 1e-6 * rate)).collect()
}

/// The curves of a quantity with their subjects. A value that is unknown leaves a gap.
fn column_curves<'t>(series: &'t Table, quantity: &str) -> Vec<(&'t str, Points)> {
    curves_of(series, series.columns_of(quantity))
}

fn curves_of(series: &Table, columns: Vec<usize>) -> Vec<(&str, Points)> {
    let Some(time) = series.columns_of("time_s").first().copied() else { return Vec::new() };
    let curve = |column: usize| {
        let points: Points = series.values(time).zip(series.values(column)).collect();
        (series.subject(column), points)
    };
    let all = columns.into_iter().map(curve);
    all.filter(|(_, points)| points.iter().any(|point| point.1.is_finite())).collect()
}

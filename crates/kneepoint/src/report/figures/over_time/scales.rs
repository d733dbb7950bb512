// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The axes that timelines share, so that they can be compared.

use super::{Points, Run};
use crate::measure::courses;
use crate::metric::Course;

/// The ranges that all timelines show.
pub(super) struct Scales {
    /// The last instant, in seconds.
    pub(super) end: f64,
    pub(super) window: f64,
    pub(super) queue: f64,
    pub(super) rtt: (f64, f64),
    pub(super) goodput: f64,
    reported: Vec<(&'static str, f64)>,
}

/// A curve that exceeds the usual by less than this is shown whole.
const FAR: f64 = 1.6;
/// Room above the usual height.
const ROOM: f64 = 1.15;

impl Scales {
    pub(super) fn of(runs: &[Run]) -> Scales {
        let begins = runs.iter().filter_map(|run| run.scheme.measured).map(|(from, _)| from);
        let settled = begins.fold(f64::INFINITY, f64::min);
        let settled = if settled.is_finite() { settled } else { 0.0 };
        let height = |curves: Vec<&Points>| usual_height(&curves, settled);
        let greatest = |curves: Vec<&Points>| curves.into_iter().map(|one| peak(one).1).fold(0.0, f64::max);
        let rtts = || runs.iter().flat_map(|run| run.rtts.iter().map(|(_, points)| points));
        let finite = rtts().flatten().map(|point| point.1).filter(|value| value.is_finite());
        let queue = greatest(runs.iter().map(|run| &run.queue).collect());
        let buffers = runs.iter().filter_map(|run| run.of_bottleneck("buffer_packets"));
        // A buffer that is never near full would leave the queue a line at the bottom.
        let buffer = buffers.filter(|buffer| *buffer <= FAR * queue).fold(0.0, f64::max);
        let constant = runs.iter().filter_map(Run::constant_capacity).fold(0.0, f64::max);
        let rates = runs.iter().flat_map(|run| {
            let goodputs = run.goodputs.iter().map(|(_, points)| points);
            goodputs.chain((run.goodputs.is_empty() || run.has_others()).then_some(&run.link))
        });
        let capacities = greatest(runs.iter().map(|run| &run.capacity).collect()).max(constant);
        let ends = runs.iter().flat_map(|run| run.series.rows.last().and_then(|row| row.first().copied()));
        Scales {
            end: ends.fold(0.0, f64::max),
            window: height(runs.iter().flat_map(|run| run.windows.iter().map(|one| &one.2)).collect()),
            queue: queue.max(buffer),
            rtt: (finite.fold(f64::INFINITY, f64::min), height(rtts().collect())),
            goodput: height(rates.collect()).max(capacities),
            reported: courses().map(|course| (course.name, height(reported(runs, course)))).collect(),
        }
    }

    /// The greatest height of a course.
    pub(super) fn reported(&self, course: &Course) -> f64 {
        self.reported.iter().find(|(name, _)| *name == course.name).map_or(0.0, |(_, height)| *height)
    }
}

/// Every curve of a course.
fn reported<'r>(runs: &'r [Run], course: &Course) -> Vec<&'r Points> {
    let all = runs.iter().flat_map(|run| &run.reported);
    all.filter(|(one, _)| one.name == course.name)
        .flat_map(|(_, groups)| groups)
        .map(|(_, points)| points)
        .collect()
}

/// The greatest value of a curve with its instant.
pub(in super::super::super) fn peak(points: &[(f64, f64)]) -> (f64, f64) {
    let finite = points.iter().copied().filter(|point| point.1.is_finite());
    finite.max_by(|one, other| one.1.total_cmp(&other.1)).unwrap_or_default()
}

/// The greatest height, unless that is a rare peak, as of slow start, which would flatten the rest: then the height
/// from
/// the instant on that measuring begins, without its rarest peaks.
fn usual_height(curves: &[&Points], settled: f64) -> f64 {
    let finite = || curves.iter().copied().flatten().filter(|point| point.1.is_finite());
    let greatest = finite().map(|point| point.1).fold(0.0, f64::max);
    let mut heights: Vec<f64> = finite().filter(|point| point.0 >= settled).map(|point| point.1).collect();
    heights.sort_by(f64::total_cmp);
    let usual = heights.get(heights.len() * 995 / 1000).map_or(greatest, |height| ROOM * height);
    if greatest > FAR * usual && usual > 0.0 { usual } else { greatest }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saw(peak: f64) -> Points {
        let point =
            |step: u32| (f64::from(step) * 0.1, if step == 3 { peak } else { 10.0 + f64::from(step % 10) });
        (0..1000).map(point).collect()
    }

    #[test]
    fn a_rare_peak_does_not_set_the_height_of_a_plot() {
        assert_eq!(usual_height(&[&saw(7000.0)], 0.0), ROOM * 19.0);
        assert_eq!(usual_height(&[&saw(25.0)], 0.0), 25.0, "it has room");
        assert_eq!(usual_height(&[], 0.0), 0.0);
    }

    #[test]
    fn a_slow_start_before_the_measured_part_does_not_either() {
        let long: Points =
            (0..100).map(|step| (f64::from(step), if step < 20 { 500.0 } else { 10.0 })).collect();
        assert_eq!(usual_height(&[&long], 25.0), ROOM * 10.0);
        assert_eq!(usual_height(&[&long], 0.0), 500.0, "where it is measured it is usual");
    }

    #[test]
    fn an_unknown_value_is_no_peak() {
        assert_eq!(peak(&[(0.0, f64::NAN), (1.0, 2.0), (2.0, 1.0)]), (1.0, 2.0));
        assert_eq!(peak(&[]), (0.0, 0.0));
    }
}

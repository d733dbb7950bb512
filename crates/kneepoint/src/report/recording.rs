// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Trace files: each described by numbers and by a line of blocks.

use super::document::{Block, Document, Section};
use crate::link::recording::{Besides, Recognised, Recording};
use crate::table::number::plain as round;
use crate::table::{Cell, Records};
use crate::units::Span;

/// Blocks of a line that shows the rate over time.
const BLOCKS: u64 = 60;
/// Heights of a block; the first means no traffic.
const HEIGHTS: [char; 9] = ['·', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

crate::keys! {
    /// Trace files.
    pub struct Traces {
        /// Each file, in the order given.
        pub traces: Vec<Trace>,
    }

    /// A trace file.
    pub struct Trace {
        /// The file, as given.
        pub file: String,
        /// Its form: `mahimahi`, `text`, `csv` or `json`.
        pub form: &'static str,
        /// Delivery opportunities, or rows with a rate.
        pub entries: usize,
        /// The period after which it repeats.
        pub duration_s: f64,
        /// The mean rate, which `rate = "auto"` takes.
        pub mean_bps: f64,
        /// The length of the intervals of the mean rates below.
        pub interval_ms: f64,
        /// The least rate of an interval.
        pub least_bps: f64,
        /// The 5th percentile of their rates.
        pub p5_bps: f64,
        /// The 25th percentile.
        pub p25_bps: f64,
        /// The median.
        pub p50_bps: f64,
        /// The 75th percentile.
        pub p75_bps: f64,
        /// The 95th percentile.
        pub p95_bps: f64,
        /// The greatest rate of an interval.
        pub greatest_bps: f64,
        /// The least length of a gap: a time without traffic.
        pub gap_from_ms: f64,
        /// The number of gaps.
        pub gaps: usize,
        /// The longest gap; 0 without one.
        pub longest_gap_ms: f64,
        /// The fraction of the time that gaps take.
        pub gap_fraction: f64,
        /// Columns of delay and loss.
        pub besides: Vec<Column>,
        /// Names of columns that are neither time, rate, delay nor loss.
        pub ignored: Vec<String>,
        /// The mean rates of sixty equal parts, as blocks.
        #[serde(skip)]
        pub line: String,
    }

    /// A column in addition to time and rate.
    pub struct Column {
        /// Its quantity with the unit: `delay_ms`, `latency_ms` or `loss`.
        pub name: &'static str,
        /// The mean of its values.
        pub mean: f64,
        /// The least of them.
        pub least: f64,
        /// The greatest of them.
        pub greatest: f64,
    }
}

/// The interval in which rates are averaged by default: a second, a tenth of a shorter trace, or a part of one that lasts for days.
pub fn usual_interval(recording: &Recording) -> Span {
    let period = recording.period().0;
    Span::from_secs(1).min(Span((period / 10).max(1_000_000))).max(Span(period / 50_000))
}

/// Describes a trace by its mean rates in such intervals and its gaps of a length or longer; `None` where there would be more than a
/// million intervals.
pub fn describe(file: &str, known: &Recognised, interval: Span, gap: Span) -> Option<Trace> {
    let recording = &known.recording;
    let averages = recording.averages(interval)?;
    let mut rates: Vec<f64> = averages.iter().map(|(_, rate)| rate.as_f64()).collect();
    rates.sort_by(f64::total_cmp);
    let percentile = |percent: usize| rates[(rates.len() * percent).div_ceil(100).max(1) - 1];
    let gaps = recording.gaps(gap);
    let millis = |span: Span| span.as_secs_f64() * 1e3;
    let all: u64 = gaps.iter().map(|one| one.0).sum();
    Some(Trace {
        file: file.into(),
        form: known.form.name(),
        entries: recording.len(),
        duration_s: recording.period().as_secs_f64(),
        mean_bps: recording.mean().as_f64(),
        interval_ms: millis(interval),
        least_bps: percentile(0),
        p5_bps: percentile(5),
        p25_bps: percentile(25),
        p50_bps: percentile(50),
        p75_bps: percentile(75),
        p95_bps: percentile(95),
        greatest_bps: percentile(100),
        gap_from_ms: millis(gap),
        gaps: gaps.len(),
        longest_gap_ms: gaps.iter().max().map_or(0.0, |one| millis(*one)),
        gap_fraction: all as f64 / recording.period().0 as f64,
        besides: recording.besides().iter().map(column).collect(),
        ignored: known.ignored.clone(),
        line: line(recording),
    })
}

fn column(Besides { name, values }: &Besides) -> Column {
    let fold = |choose: fn(f64, f64) -> f64| values.iter().copied().fold(f64::NAN, choose);
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    Column { name, mean, least: fold(f64::min), greatest: fold(f64::max) }
}

/// The rate over time as blocks, the highest for the greatest rate.
fn line(recording: &Recording) -> String {
    let part = Span(recording.period().0.div_ceil(BLOCKS).max(1));
    let averages = recording.averages(part).unwrap_or_default();
    let greatest = averages.iter().map(|(_, rate)| rate.0).max().unwrap_or(0).max(1);
    let height = |rate: u64| (u128::from(rate) * 8).div_ceil(u128::from(greatest)) as usize;
    averages.iter().map(|(_, rate)| HEIGHTS[height(rate.0)]).collect()
}

/// A section for each file.
pub fn document(traces: &Traces) -> Document {
    let rate = |bps: f64| format!("{} Mbit/s", round(bps / 1e6));
    let section = |trace: &Trace| {
        let entries = if trace.form == "mahimahi" { "delivery opportunities" } else { "rows" };
        let form = match trace.form {
            "text" => "text: seconds and Mbit/s".to_string(),
            form => form.to_string(),
        };
        let percentiles = [trace.p5_bps, trace.p25_bps, trace.p50_bps, trace.p75_bps, trace.p95_bps];
        let percentiles = percentiles.map(|bps| round(bps / 1e6)).join(", ");
        let gaps = match trace.gaps {
            0 => format!("none of {} ms or longer", trace.gap_from_ms),
            count => format!(
                "{count} of {} ms or longer, the longest {} ms, {} % of the time",
                trace.gap_from_ms,
                round(trace.longest_gap_ms),
                round(trace.gap_fraction * 100.0)
            ),
        };
        let mut facts = vec![
            ("form", format!("{form}, {} {entries}", trace.entries)),
            ("duration", format!("{} s, then it repeats", trace.duration_s)),
            ("mean rate", rate(trace.mean_bps)),
            ("least and greatest", format!("{} and {}", rate(trace.least_bps), rate(trace.greatest_bps))),
            (
                "5, 25, 50, 75, 95 %",
                format!("{percentiles} Mbit/s, in intervals of {} ms", trace.interval_ms),
            ),
            ("gaps", gaps),
        ];
        for Column { name, mean, least, greatest } in &trace.besides {
            let told =
                format!("{} to {}, mean {}; not played", round(*least), round(*greatest), round(*mean));
            facts.push((name, told));
        }
        if !trace.ignored.is_empty() {
            facts.push(("ignored columns", trace.ignored.join(", ")));
        }
        facts.push(("rate over time", trace.line.clone()));
        let facts = facts.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
        Section::new(trace.file.clone(), vec![Block::Facts(facts)])
    };
    let title = match &traces.traces[..] {
        [_] => "Trace".to_string(),
        several => format!("{} traces", several.len()),
    };
    Document { title, about: Default::default(), sections: traces.traces.iter().map(section).collect() }
}

/// A row for each file.
pub fn records(traces: &Traces) -> Records {
    const COLUMNS: [&str; 12] = [
        "file",
        "form",
        "entries",
        "duration_s",
        "mean_bps",
        "least_bps",
        "p5_bps",
        "p50_bps",
        "p95_bps",
        "greatest_bps",
        "gaps",
        "longest_gap_ms",
    ];
    let row = |trace: &Trace| -> Vec<Cell> {
        let numbers = [
            trace.entries as f64,
            trace.duration_s,
            trace.mean_bps,
            trace.least_bps,
            trace.p5_bps,
            trace.p50_bps,
            trace.p95_bps,
            trace.greatest_bps,
            trace.gaps as f64,
            trace.longest_gap_ms,
        ];
        [Cell::Text(trace.file.clone()), trace.form.into()]
            .into_iter()
            .chain(numbers.map(Cell::Number))
            .collect()
    };
    Records { columns: COLUMNS.map(String::from).to_vec(), rows: traces.traces.iter().map(row).collect() }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The document that compares hosts of a kernel with the simulator.

use super::{Case, Finding, Judged, KERNEL, Machine, Pair, Processor, Repetition, Report};
use crate::chart::scheme_class;
use crate::report::document::{Block, Column, Document, Layout, Prose, Section, Shown, Table, TableLine};
use crate::report::grid::NOTHING_RANDOM;
use crate::report::{figures, manifest};
use crate::table::{Estimate, number};

/// The whole document.
pub fn document(report: &Report) -> Document {
    let comparison = report.comparison();
    let claims = (!report.claims.is_empty()).then(|| Section::new("Claims", of_claims(report)));
    let mut sections: Vec<Section> =
        claims.into_iter().chain(report.cases.iter().enumerate().map(|one| section(report, one))).collect();
    let notes = &report.manifest.notes;
    if !notes.is_empty() {
        sections.push(Section::new("Notes", vec![Block::List(notes.iter().map(Into::into).collect())]));
    }
    let figures = figures::timelines(&comparison);
    if !figures.is_empty() {
        let blocks = vec![Block::prose(COURSE), Block::Figures(Layout::Whole, figures)];
        sections.push(Section::new("Over time", vec![Block::pages(blocks)]));
    }
    sections.push(manifest::section(&report.manifest));
    let setting = format!(
        "{} beside the simulator with hosts of Linux: the same network, the same transfers, the same meter. Errors are the \
         simulator's, relative to {}.",
        report.hosts,
        side(report)
    );
    Document { title: report.title.clone(), about: closeness(report).then(setting), sections }
}

/// Metrics whose errors come first, as they read in a sentence.
const CLOSE: [(&str, &str); 3] = [
    ("utilization", "utilization"),
    ("queueing_delay_mean_ms", "mean queueing delay"),
    ("goodput_bps", "goodput"),
];

/// The place of the hosts, for use in a sentence.
fn side(report: &Report) -> &str {
    if report.side == KERNEL { "the kernel" } else { &report.side }
}

/// The least difference that is stated, in percent.
const LEAST: f64 = 0.01;

/// The greatest difference between simulator and kernel, in the most informative metrics.
fn closeness(report: &Report) -> Prose {
    let pairs = || report.cases.iter().flat_map(|case| &case.metrics);
    let most = |(key, words): (&str, &str)| {
        let errors = pairs().filter(|pair| pair.about.key == key).filter_map(|pair| pair.error);
        let most = errors.map(f64::abs).reduce(f64::max)?;
        Some(format!("{} % in {words}", number::significant((100.0 * most).max(LEAST), 2)))
    };
    let told: Vec<String> = CLOSE.into_iter().filter_map(most).collect();
    match told.split_last() {
        None => Prose::default(),
        Some((last, [])) => Prose::from(format!("The simulator is within {last} of {}. ", side(report))),
        Some((last, first)) => Prose::from(format!(
            "The simulator is within {} and {last} of {}. ",
            first.join(", "),
            side(report)
        )),
    }
}

/// Every claim with its verdict on either side.
fn of_claims(report: &Report) -> Vec<Block> {
    let (claims, named) = (&report.claims, report.side.as_str());
    let cell = |finding: &Finding| {
        let noisy = if finding.certain { "" } else { " (within the noise)" };
        Shown::from(format!("{}{noisy}", finding.verdict))
    };
    let line = |one: &Judged| TableLine {
        about: one.text.clone(),
        ..TableLine::new(one.claim.clone(), vec![cell(&one.kernel), cell(&one.simulator)])
    };
    let table = Table {
        corner: "claim".into(),
        columns: [named, "simulator"].map(Column::text).into(),
        lines: claims.iter().map(line).collect(),
        linked: false,
    };
    let text = |one: &Judged| {
        let reason = one.reason.as_ref().map_or(String::new(), |reason| format!(" {reason}"));
        let numbers = format!("Measured: {}. Simulator: {}.", one.kernel.ours, one.simulator.ours);
        Prose::default().strong(format!("{}.", one.claim)).then(format!(" {} {numbers}{reason}", one.text))
    };
    vec![Block::List(claims.iter().map(text).collect()), Block::Table(table)]
}

const COURSE: &str = "The first run of either side. Queue, RTT and goodput: the mean of each interval, with its range as a band. \
                      The simulator's windows are congestion windows; those that were measured are packets outstanding, which is what \
                      can be seen of them on the wire. One scale for all.";

fn section(report: &Report, (rank, case): (usize, &Case)) -> Section {
    let class = || Some(scheme_class(2 * rank));
    let line = |pair: &Pair| {
        let Pair { of, about, measured, predicted, error, .. } = pair;
        let unit = if about.unit.is_empty() { String::new() } else { format!(", {}", about.unit) };
        let cell = |estimate: &Estimate| Shown::metric(estimate, about);
        let error = error.map_or(number::NONE.into(), |error| number::signed(100.0 * error, 1) + " %");
        TableLine {
            about: about.title.clone(),
            class: class(),
            ..TableLine::new(
                format!("{of}: {}{unit}", about.short),
                vec![cell(measured), cell(predicted), error.as_str().into()],
            )
        }
    };
    let columns = [report.side.as_str(), "simulator", "error"].map(|title| Column::number(title, ""));
    let metrics = Table {
        corner: "metric".into(),
        columns: columns.into(),
        lines: case.metrics.iter().map(line).collect(),
        linked: false,
    };
    let mut blocks = vec![Block::prose(runs(side(report), case)), Block::Table(metrics)];
    if !case.processor.is_empty() {
        blocks.push(Block::Table(of_processor(case)));
        blocks.push(Block::pages(vec![Block::prose(PROCESSOR)]));
    }
    blocks.push(Block::pages(vec![Block::Table(of_machine(case))]));
    Section::new(case.case.clone(), blocks)
}

const PROCESSOR: &str = "Sending: user and kernel mode of the threads that write into sockets. Receiving: elapsed time of the near \
                         host's kernel for the frames it is handed: TCP takes them in, congestion control processes \
                         acknowledgements, and newly permitted segments are sent. Both per packet of data.";

/// The number of runs, and their fates.
fn runs(side: &str, case: &Case) -> String {
    let (counted, predicted) = (case.measured.len(), case.predicted.len());
    let spoiled = case.repetitions.iter().filter(|one| one.machine.spoiled.is_some()).count();
    let again: u32 = case.repetitions.iter().map(|one| one.machine.attempts.saturating_sub(1)).sum();
    let mut text = format!("{counted} runs of {side}, {predicted} of the simulator.");
    if again > 0 {
        text += &format!(" Repeated because packets came late: {}.", number::counted(again, "run"));
    }
    if spoiled > 0 {
        text += &format!(" Spoiled to the end, and in no mean: {}.", number::counted(spoiled, "repetition"));
    }
    let superpackets: u64 = case.repetitions.iter().map(|one| one.machine.superpackets).sum();
    if superpackets > 0 {
        text += &format!(
            " {superpackets} packets exceeded the MTU: an offload is on, and the queue counts too few."
        );
    }
    if predicted > 1 && case.predicted.windows(2).all(|pair| pair[0].is_same(&pair[1])) {
        text += &format!(" The simulator's runs are all the same: {NOTHING_RANDOM}.");
    }
    text
}

fn of_processor(case: &Case) -> Table {
    let line = |one: &Processor| {
        let relative = one.relative.map_or(number::NONE.into(), |part| format!("{part:.2}"));
        let name = match (&one.group, one.control.as_str()) {
            (Some(group), control) => format!("{group}: sending, {control}"),
            (None, "") => "receiving".to_string(),
            (None, control) => format!("receiving, {control}"),
        };
        TableLine::new(name, vec![Shown::of(&one.ns_per_packet, 1.0), relative.as_str().into()])
    };
    Table {
        corner: "processor time".into(),
        columns: vec![Column::number("per packet", "ns"), Column::number("relative", "")],
        lines: case.processor.iter().map(line).collect(),
        linked: false,
    }
}

fn of_machine(case: &Case) -> Table {
    let line = |one: &Repetition| {
        let Machine { attempts, late_us, spoiled, refused, .. } = &one.machine;
        let mut cells: Vec<Shown> = vec![attempts.to_string().into()];
        cells.extend(late_us.map(|late| Shown::from(format!("{late:.0}"))));
        cells.push(refused.to_string().into());
        cells.push(spoiled.clone().unwrap_or_default().into());
        TableLine::new(one.repetition.to_string(), cells)
    };
    let lateness = ["late, median", "late, p99", "late, most"].map(|title| Column::number(title, "µs"));
    let columns = [Column::number("attempts", "")].into_iter().chain(lateness);
    Table {
        corner: "run".into(),
        columns: columns.chain([Column::number("refused", ""), Column::text("spoiled")]).collect(),
        lines: case.repetitions.iter().map(line).collect(),
        linked: false,
    }
}

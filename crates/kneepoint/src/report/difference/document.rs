// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The document about two results: first a sentence to quote, then the numbers, then the differences of their
//! scenarios.

use super::super::document::{Block, Column, Document, Prose, Section, Shown, Standing, Table, TableLine};
use super::{Change, Compared, Difference, Matched};
use crate::metric::Metric;
use crate::report::factor;
use crate::table::Estimate;
use crate::table::number::{NONE, counted, significant};

/// The most cases of which a terminal shows each metric.
const FEW: usize = 3;
/// Lines of a table in a terminal.
const SHOWN: usize = 24;
/// Settings that a terminal shows.
const SETTINGS: usize = 12;

/// The whole document.
pub fn document(difference: &Difference) -> Document {
    let Difference { a, b, cases, .. } = difference;
    let sides = format!(
        "A is {}, B is {}. Differences are B − A, seed by seed, with half widths of their 95 % confidence intervals.",
        a.name, b.name
    );
    let mut sections = vec![Section::new("", vec![Block::prose(sides)])];
    match cases.len() {
        // The sentence suffices.
        _ if difference.same => {}
        0..=FEW => sections.extend(cases.iter().filter_map(|case| whole(case, cases.len() > 1))),
        _ => sections.extend(matrix(cases)),
    }
    sections.extend(settings(&difference.changed));
    sections.extend(alone("Cases of A alone", &difference.gone));
    sections.extend(alone("Cases of B alone", &difference.new));
    if !difference.notes.is_empty() {
        let notes = difference.notes.iter().map(|note| Block::prose(format!("{note}.")));
        sections.push(Section::new("Notes", notes.collect()));
    }
    let title = if a.title == b.title { a.title.clone() } else { format!("{} → {}", a.title, b.title) };
    Document { title, about: verdict(difference), sections }
}

/// A sentence to quote: whether anything differs, and the largest difference.
fn verdict(difference: &Difference) -> Prose {
    let Difference { cases, same, .. } = difference;
    if cases.is_empty() {
        let why = " A factor of one is neither varied nor written in the scenario of the other, or has other levels there.";
        return Prose::default().strong("No case of A is a case of B.").then(why);
    }
    let runs: usize = cases.iter().map(|case| case.seeds.len()).sum();
    if *same {
        let text = format!("A and B have the same numbers in all {}.", counted(runs, "run"));
        return Prose::default().strong(text);
    }
    if cases.iter().all(|case| case.seeds.len() < 2) {
        let most = cases.iter().map(|case| case.seeds.len()).max().unwrap_or(0);
        let why = format!("No difference has an interval: A and B have {} in common.", counted(most, "seed"));
        return Prose::default().strong(why).then(" Run both with the same seeds, at least two.");
    }
    let all = || cases.iter().flat_map(|case| case.metrics.iter().map(move |one| (case, one)));
    let (total, apart) = (all().count(), all().filter(|(_, one)| one.apart).count());
    let known = format!("{} of {}", apart, counted(total, "difference"));
    let said = match apart {
        0 => format!("None of {} is distinguishable from chance", counted(total, "difference")),
        1 => format!("{known} is distinguishable from chance"),
        _ => format!("{known} are distinguishable from chance"),
    };
    let largest =
        all().filter(|(_, one)| one.apart).max_by(|(_, one), (_, other)| far(one).total_cmp(&far(other)));
    let tail = largest.map_or(String::new(), |(case, one)| {
        format!("; the largest in proportion: {} of {}, {}", name(one), case.case, course(one))
    });
    Prose::default().strong(format!("{said}{tail}.")).then(format!(
        " {} paired by seed; 95 % after Holm's correction for {}.",
        counted(runs, "run"),
        counted(total, "comparison")
    ))
}

/// The change in proportion to the first number.
fn far(one: &Compared) -> f64 {
    (one.difference.mean / one.a.mean).abs()
}

/// `45.2 → 30.1 packets (−33 %)`
fn course(one: &Compared) -> String {
    let unit = one.told.unit;
    let text = |estimate: &Estimate| Shown::metric(estimate, one.told).mean;
    let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
    format!("{} → {}{unit} ({})", text(&one.a), text(&one.b), change(one))
}

/// The change in percent.
fn change(one: &Compared) -> String {
    let percent = 100.0 * one.difference.mean / one.a.mean;
    match percent.is_finite() {
        true => format!("{} %", signed(significant(percent, 2), percent)),
        false => NONE.to_string(),
    }
}

/// A number with its sign.
fn signed(text: String, value: f64) -> String {
    let is_zero = !text.contains(|digit| ('1'..='9').contains(&digit));
    if value > 0.0 && !is_zero { format!("+{text}") } else { text.replacen('-', "−", 1) }
}

/// The metric, and the part that it describes.
fn name(one: &Compared) -> String {
    let part = one.part();
    if part.is_empty() { one.told.short.clone() } else { format!("{}, {part}", one.told.short) }
}

/// The difference as a cell; a significant one is highlighted.
fn cell(one: &Compared) -> Shown {
    let shown = Shown::of(&one.difference, one.told.scale);
    let standing = if one.apart { Standing::Best } else { Standing::Unmarked };
    Shown { mean: signed(shown.mean, one.difference.mean), standing, ..shown }
}

/// Every metric of a case.
fn whole(case: &Matched, several: bool) -> Option<Section> {
    let line = |one: &Compared| {
        let Metric { unit, title, .. } = one.told;
        let unit = if unit.is_empty() { String::new() } else { format!(", {unit}") };
        let cells = vec![
            Shown::metric(&one.a, one.told),
            Shown::metric(&one.b, one.told),
            cell(one),
            change(one).into(),
        ];
        TableLine { about: title.clone(), ..TableLine::new(name(one) + &unit, cells) }
    };
    // Metrics that are zero on both sides are left out.
    let told = |one: &&Compared| one.a.mean != 0.0 || one.b.mean != 0.0;
    let table = Table {
        corner: "metric".into(),
        columns: ["A", "B", "B − A", "change"].map(|title| Column::number(title, "")).into(),
        lines: case.metrics.iter().filter(told).map(line).collect(),
        linked: false,
    };
    let heading = if several { case.case.clone() } else { "Differences".to_string() };
    (!table.lines.is_empty()).then(|| {
        let marks = marks(&table);
        Section::new(heading, vec![Block::Table(table)].into_iter().chain(marks).collect())
    })
}

/// A line for each case and a column for each metric that differs in some of them.
fn matrix(cases: &[Matched]) -> Option<Section> {
    let mut columns: Vec<&Compared> = Vec::new();
    for one in cases.iter().flat_map(|case| &case.metrics).filter(|one| one.difference.mean != 0.0) {
        if !columns.iter().any(|known| is_alike(known, one)) {
            columns.push(one);
        }
    }
    let find = |case: &'_ Matched, column: &Compared| {
        case.metrics.iter().find(|one| is_alike(one, column)).map(cell)
    };
    let line = |case: &Matched| {
        let cells =
            columns.iter().map(|column| find(case, column).unwrap_or_else(|| NONE.to_string().into()));
        TableLine::new(&case.case, cells.collect())
    };
    let table = Table {
        corner: "case".into(),
        columns: columns
            .iter()
            .map(|one| Column { about: one.told.title.clone(), ..Column::number(name(one), one.told.unit) })
            .collect(),
        lines: cases.iter().map(line).collect(),
        linked: false,
    };
    let mark = marks(&table);
    let pages = [Block::Table(table)].into_iter().chain(mark);
    (!columns.is_empty()).then(|| {
        Section::new("Differences", vec![Block::Pages { blocks: pages.collect(), terminal: ranked(cases) }])
    })
}

/// The significant differences, a line each, the largest in proportion first, and the part that a terminal omits.
fn ranked(cases: &[Matched]) -> Vec<Block> {
    let all = || cases.iter().flat_map(|case| case.metrics.iter().map(move |one| (case, one)));
    let mut apart: Vec<(&Matched, &Compared)> = all().filter(|(_, one)| one.apart).collect();
    apart.sort_by(|(_, one), (_, other)| far(other).total_cmp(&far(one)));
    let line = |(case, one): &(&Matched, &Compared)| {
        let unit = if one.told.unit.is_empty() { String::new() } else { format!(", {}", one.told.unit) };
        let difference = cell(one).standing(Standing::Unmarked);
        TableLine::new(&case.case, vec![Shown::from(name(one) + &unit), difference, change(one).into()])
    };
    let table = Table {
        corner: "case".into(),
        columns: vec![Column::text("metric"), Column::number("B − A", ""), Column::number("change", "")],
        lines: apart.iter().take(SHOWN).map(line).collect(),
        linked: false,
    };
    let left = apart.len() - table.lines.len();
    let more = if apart.is_empty() {
        "No difference is distinguishable from chance, and all".into()
    } else if left > 0 {
        format!("{left} more that are distinguishable, and the")
    } else {
        "The".into()
    };
    let rest = format!("{more} others are left out: --out DIR writes all of them, --json prints them.");
    let shown = (!table.lines.is_empty()).then_some(Block::Table(table));
    shown.into_iter().chain([Block::prose(rest)]).collect()
}

/// Whether two metrics are the same, of the same part.
fn is_alike(one: &Compared, other: &Compared) -> bool {
    one.metric == other.metric && one.of == other.of
}

/// The meaning of the marked values, where there are any.
fn marks(table: &Table) -> Option<Block> {
    let any = table.lines.iter().flat_map(|line| &line.cells).any(|cell| cell.standing == Standing::Best);
    any.then(|| Block::Pages {
        blocks: vec![Block::prose("Bold: distinguishable from chance.")],
        terminal: vec![Block::prose("* distinguishable from chance")],
    })
}

/// The differences of the scenarios and of their circumstances.
fn settings(changed: &[Change]) -> Option<Section> {
    let line = |change: &Change| {
        let value = |side: &Option<String>| {
            Shown::from(side.as_ref().map_or_else(|| NONE.to_string(), |written| factor::people(written)))
        };
        TableLine::new(
            &change.what,
            vec![value(&change.a), value(&change.b), change.scenarios.join(", ").into()],
        )
    };
    let table = |shown: &[Change]| {
        let columns = ["A", "B", "in the scenario"].map(Column::text).into();
        Block::Table(Table {
            corner: "setting".into(),
            columns,
            lines: shown.iter().map(line).collect(),
            linked: false,
        })
    };
    let left = changed.len().saturating_sub(SETTINGS);
    let mut terminal = vec![table(&changed[..changed.len() - left])];
    terminal.extend(
        (left > 0).then(|| Block::prose(format!("{}: see --json.", counted(left, "further setting")))),
    );
    (!changed.is_empty()).then(|| {
        Section::new("Settings that differ", vec![Block::Pages { blocks: vec![table(changed)], terminal }])
    })
}

/// Cases that one side has alone.
fn alone(heading: &str, names: &[String]) -> Option<Section> {
    let left = names.len().saturating_sub(SETTINGS);
    let list = |shown: &[String]| Block::List(shown.iter().map(|name| name.as_str().into()).collect());
    let mut terminal = vec![list(&names[..names.len() - left])];
    terminal.extend((left > 0).then(|| Block::prose(format!("and {left} more"))));
    (!names.is_empty())
        .then(|| Section::new(heading, vec![Block::Pages { blocks: vec![list(names)], terminal }]))
}

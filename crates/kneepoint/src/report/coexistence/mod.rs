// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Coexistence of controllers that share a queue: the document, its figures, and records for machines.

mod data;
mod figure;
mod reading;

pub use data::{json, records};
pub use reading::read;

use super::document::{
    Block, Column, Document, Figure, Finding, Layout, Prose, Section, Shown, Table, TableLine,
};
use super::{Manifest, manifest, number};
use crate::chart::Drawing;
use crate::study::coexist::{Coexistence, Conduct, Encounter, Square, shown};

/// The matrices, the verdicts with their grounds, and the manifest.
pub fn document(all: &Coexistence, origin: &Manifest) -> Document {
    let matrices = all.few().into_iter().flat_map(|setting| matrices(all, setting)).collect();
    let glance = "The setting in the middle: the share of the row over its fair share, with its 95 % confidence interval, and \
                  its drop ratio as a multiple of the column's. On the diagonal a controller shares the queue with itself: \
                  differences from one are noise.";
    let tiles = "Each block is a pair, each tile a setting: buffers from left to right, numbers of flows from top to bottom. \
                 Blue: the column starves the row. Orange: the row exceeds its fair share.";
    let ratios =
        "The drop ratio of the row over the column's. Orange: the row loses more often. Grey: no losses.";
    let figures = |name, lead: &str, title, drawing| {
        let drawn = Block::Figures(Layout::Whole, vec![figure(name, title, drawing)]);
        vec![Block::prose(lead), drawn]
    };
    let overview = figures("overview", glance, "Shares and losses", figure::overview(all));
    let shares = figures("shares", tiles, "Share of the row over its fair share", figure::shares(all));
    let losses = figures("losses", ratios, "Drop ratio of the row over the column's", figure::losses(all));
    let conducts = (0..all.controllers.len()).map(|row| claim(all, row)).collect();
    let mut verdicts = vec![Block::Findings("controller", conducts)];
    verdicts.push(Block::prose(all.rule()));
    verdicts.extend(all.control().into_iter().map(Block::prose));
    verdicts.extend(origin.notes.iter().map(Block::prose));
    let mut shared = format!("{}; {}", all.about, all.extent());
    if let Some(first) = shared.get(..1).map(str::to_uppercase) {
        shared.replace_range(..1, &first);
    }
    Document {
        title: all.title.clone(),
        about: answer(all).then(format!("{shared}.")),
        sections: vec![
            Section::new("At a glance", vec![Block::Pages { blocks: overview, terminal: matrices }]),
            Section::new("Verdicts over all settings", verdicts),
            Section::new("Throughput shares", vec![Block::pages(shares)]),
            Section::new("Loss ratios", vec![Block::pages(losses)]),
            manifest::section(origin),
        ],
    }
}

/// Sentences about schemes that yield or crowd out, over all settings.
fn answer(all: &Coexistence) -> Prose {
    const WORDS: [(Conduct, [&str; 2]); 4] = [
        (Conduct::Coexists, ["coexists with all others", "coexist with all others"]),
        (Conduct::Yields, ["yields", "yield"]),
        (Conduct::CrowdsOut, ["crowds others out", "crowd others out"]),
        (
            Conduct::Depends,
            ["yields in some settings and crowds others out", "yield in some settings and crowd others out"],
        ),
    ];
    let of = |conduct: Conduct| -> Vec<&str> {
        let rows = (0..all.controllers.len()).filter(|row| all.verdict(*row) == conduct);
        rows.map(|row| all.controllers[row].as_str()).collect()
    };
    WORDS.into_iter().fold(Prose::default(), |said, (conduct, [one, several])| match of(conduct)[..] {
        [] => said,
        [only] => said.strong(only).then(format!(" {one}. ")),
        [ref first @ .., last] => {
            said.strong(format!("{} and {last}", first.join(", "))).then(format!(" {several}. "))
        }
    })
}

fn figure(name: &str, title: &str, drawing: Drawing) -> Figure {
    Figure { name: name.into(), title: title.into(), note: "", class: None, drawing }
}

fn claim(all: &Coexistence, row: usize) -> Finding {
    let verdict = all.verdict(row);
    Finding {
        name: all.controllers[row].clone(),
        verdict: verdict.to_string(),
        stands_out: matches!(verdict, Conduct::Yields | Conduct::CrowdsOut | Conduct::Depends),
        why: all.grounds(row),
        ..Finding::default()
    }
}

/// Shares and losses of every pair in a setting.
fn matrices(all: &Coexistence, setting: (usize, usize)) -> [Block; 4] {
    let name = all.setting(setting.0, setting.1);
    let share = format!("Share of the row / its fair share, against the column, at {name}");
    let loss = format!("Drop ratio of the row / of the column, at {name}");
    [
        Block::prose(share),
        Block::Table(matrix(all, setting, &|cell| shown(&cell.taken(), cell.most()))),
        Block::prose(loss),
        Block::Table(matrix(all, setting, &|cell| match ratio(cell) {
            (mean, Some(interval)) => format!("{mean} ({interval})"),
            (mean, None) => mean,
        })),
    ]
}

/// A number of every pair in a setting.
fn matrix(
    all: &Coexistence,
    (flows, buffer): (usize, usize),
    number: &dyn Fn(&Encounter) -> String,
) -> Table {
    let places = 0..all.controllers.len();
    let cell = |row, column| number(all.cell(Square { row, column, flows, buffer })).into();
    let cells = |row: usize| -> Vec<Shown> { places.clone().map(|column| cell(row, column)).collect() };
    Table {
        columns: all.controllers.iter().map(|name| Column::number(name, "")).collect(),
        lines: places.clone().map(|row| TableLine::new(&all.controllers[row], cells(row))).collect(),
        ..Table::default()
    }
}

/// `2.1` and the ends of its interval, `1.7–2.6`; `∞` if only the row loses.
pub(super) fn ratio(cell: &Encounter) -> (String, Option<String>) {
    let [mean, low, high] = cell.loss_ratio();
    // An interval narrower than its digits is left out.
    let ends = [low, high].map(one_ratio);
    let interval = (mean.is_finite() && ends[0] != ends[1]).then(|| ends.join("–"));
    (one_ratio(mean), interval)
}

fn one_ratio(ratio: f64) -> String {
    match ratio {
        f64::INFINITY => "∞".into(),
        0.0 => "0".into(),
        ratio if ratio < 0.01 => "<0.01".into(),
        ratio if ratio >= 99.5 => ">99".into(),
        ratio if ratio >= 9.95 => format!("{ratio:.0}"),
        ratio => number::significant(ratio, 2),
    }
}

#[cfg(test)]
mod tests {
    use super::super::format::{html, text};
    use super::*;
    use crate::study::coexist::coexistence::tests::example;

    #[test]
    fn the_matrix_in_the_middle_the_verdicts_and_the_rule_are_there() {
        let said = text::render(&document(&example(), &Manifest::default()));
        for part in [
            "at 1 BDP, 10 flows",
            "meek<1>  1.00 ± 0.05  0.50 ± 0.05",
            "bold     1.50 ± 0.05  1.00 ± 0.05",
            "bold: crowds out\n    gets at least 1.50 ± 0.05",
            "at least 0.8 of",
            "3 seeds each",
        ] {
            assert!(said.contains(part), "`{part}` is missing from:\n{said}");
        }
        let losses = said.lines().filter(|line| line.starts_with("meek<1>  ")).nth(1).unwrap();
        assert_eq!(losses.split_whitespace().collect::<Vec<_>>(), ["meek<1>", "–", "2.0"]);
        assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
    }

    #[test]
    fn the_answer_is_first() {
        let lead = document(&example(), &Manifest::default()).about.plain();
        assert!(lead.starts_with("meek<1> yields. bold crowds others out. "), "{lead}");
        let mild = Coexistence { enough: 0.47, ..example() };
        let milder = document(&mild, &Manifest::default()).about.plain();
        assert!(milder.starts_with("meek<1> and bold coexist with all others. "), "{milder}");
    }

    #[test]
    fn the_page_has_its_verdicts_and_matrices_and_keeps_names_text() {
        let page = html::render(&document(&example(), &Manifest::default()));
        html::tests::check(&page);
        // Two of the three figures are wider than a phone and have a second layout.
        assert_eq!(page.matches("<svg class=\"chart\"").count(), 5);
        assert!(page.contains("<th scope=\"col\">controller</th>") && !page.contains(">claim</th>"));
        for conduct in ["yields", "crowds out"] {
            assert!(page.contains(&format!("<td class=\"fails\">{conduct}</td>")), "{conduct}");
        }
        assert!(page.contains(">crowds out</td>") && page.contains("<th scope=\"row\">meek&lt;1&gt; "));
        assert!(!page.contains("meek<1>"));
    }

    #[test]
    fn a_row_that_alone_loses_has_an_infinite_ratio() {
        let mut cell = example().cells[3].clone();
        cell.meetings.iter_mut().for_each(|meeting| meeting.drop_ratio = [0.1, 0.0]);
        assert_eq!(ratio(&cell), ("∞".into(), None));
        cell.meetings[0].drop_ratio = [0.1, 0.1];
        let (mean, interval) = ratio(&cell);
        assert_eq!((mean.as_str(), interval.as_deref()), ("5.0", Some("0.13–∞")));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Coexistence for terminals: the matrix at the setting in the middle, the verdicts, and what they rest on.

use super::super::{number, text};
use crate::study::coexist::{Coexistence, Encounter, Square, shown};

/// `2.1` and the ends of its interval, `1.7–2.6`; what one loses and the other does not is `∞`.
pub(super) fn ratio(cell: &Encounter) -> (String, Option<String>) {
    let [mean, low, high] = cell.loss_ratio();
    // An interval that nobody can see is none.
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

/// The whole text, and notes on how it came about.
pub fn render(all: &Coexistence, notes: &[String]) -> String {
    let (flows, buffer) = all.middle();
    let matrix = |shown: &dyn Fn(&Encounter) -> String| {
        let mut lines = vec![heading(all)];
        for row in 0..all.controllers.len() {
            let cells = (0..all.controllers.len())
                .map(|column| shown(all.cell(Square { row, column, flows, buffer })));
            lines.push([all.controllers[row].clone()].into_iter().chain(cells).collect());
        }
        text::aligned(&lines)
    };
    let loss = |cell: &Encounter| match ratio(cell) {
        (mean, Some(interval)) => format!("{mean} ({interval})"),
        (mean, None) => mean,
    };
    let setting = all.setting(flows, buffer);
    let mut out = format!("{}\n{}; {}\n\n", all.title, all.about, all.extent());
    out += &format!("Share of the row / its fair share, beside the column, at {setting}\n");
    out += &matrix(&|cell| shown(&cell.taken()));
    out += &format!("\nDrop ratio of the row / of the column, at {setting}\n");
    out += &matrix(&loss);
    out += "\nOver all settings\n";
    for (row, name) in all.controllers.iter().enumerate() {
        out += &format!("{name} {}\n", all.verdict(row));
        for ground in all.grounds(row) {
            out += &format!("    {ground}\n");
        }
    }
    out += &format!("\n{}\n", all.rule());
    out.extend(all.control().map(|control| format!("{control}\n")));
    for note in notes {
        out += &format!("{note}\n");
    }
    out
}

fn heading(all: &Coexistence) -> Vec<String> {
    [String::new()].into_iter().chain(all.controllers.iter().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::coexist::coexistence::tests::example;

    #[test]
    fn the_matrix_in_the_middle_the_verdicts_and_the_rule_are_there() {
        let said = render(&example(), &[]);
        for part in [
            "at 1bdp, 10 flows",
            "meek<1>  1.00 ± 0.05  0.50 ± 0.05",
            "bold     1.50 ± 0.05  1.00 ± 0.05",
            "bold crowds out\n    gets as little as 1.50 ± 0.05",
            "at least 0.8 of",
            "3 seeds each",
        ] {
            assert!(said.contains(part), "`{part}` is missing from:\n{said}");
        }
        let losses = said.lines().filter(|line| line.starts_with("meek<1>  ")).nth(1).unwrap();
        assert_eq!(losses.split_whitespace().collect::<Vec<_>>(), ["meek<1>", "–", "2.0"]);
    }

    #[test]
    fn who_alone_loses_loses_infinitely_more() {
        let mut cell = example().cells[3].clone();
        cell.meetings.iter_mut().for_each(|meeting| meeting.drop_ratio = [0.1, 0.0]);
        assert_eq!(ratio(&cell), ("∞".into(), None));
        cell.meetings[0].drop_ratio = [0.1, 0.1];
        let (mean, interval) = ratio(&cell);
        assert_eq!((mean.as_str(), interval.as_deref()), ("5.0", Some("0.13–∞")));
    }
}

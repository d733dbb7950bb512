// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Numbers that an explanation quotes from the runs, so that they agree with the table next to it.
//!
//! ```text
//! {kernel drops of 1 cubic, 10 Mbit/s, 60 ms, 2 BDP}                      the mean of the kernel's runs, as the table has it
//! {here drops of 1 cubic, 10 Mbit/s, 60 ms, 2 BDP}                        that of the simulator's
//! {here drops of 1 cubic, 10 Mbit/s, 60 ms, 2 BDP with quick_acks = 60}   with a line of `[tcp]` beside the preset
//! {each kernel drops of 1 cubic, 10 Mbit/s, 60 ms, 2 BDP}                 those of every run: `16, 16 and 17`
//! ```

use rayon::prelude::*;

use super::figures::{Figures, mean};
use super::page::PRESET;
use super::{COMPARED, Compared, Pair, SEEDS, number, simulated};

/// A quotation.
struct Quote<'t> {
    each: bool,
    kernel: bool,
    figure: &'static Compared,
    setting: &'t str,
    option: Option<&'t str>,
}

/// The text with the numbers of these pairs instead of its quotations.
pub fn fill(text: &str, pairs: &[Pair]) -> Result<String, String> {
    let mut filled = String::new();
    for (before, quote) in pieces(text) {
        filled += before;
        if let Some(written) = quote {
            let known = Quote::parse(&written).ok_or_else(|| format!("`{{{written}}}` quotes no figure"))?;
            filled += &known.numbers(pairs).ok_or_else(|| format!("`{{{written}}}` is of no run"))??;
        }
    }
    Ok(filled)
}

/// The text before each quotation with the quotation, in one line; the last has none.
fn pieces(text: &str) -> impl Iterator<Item = (&str, Option<String>)> {
    text.split('}').map(|piece| match piece.split_once('{') {
        Some((before, quote)) => (before, Some(quote.split_whitespace().collect::<Vec<_>>().join(" "))),
        None => (piece, None),
    })
}

impl Quote<'_> {
    fn parse(written: &str) -> Option<Quote<'_>> {
        let (each, rest) = written.strip_prefix("each ").map_or((false, written), |rest| (true, rest));
        let (kernel, rest) = match rest.split_once(' ')? {
            ("kernel", rest) => (true, rest),
            ("here", rest) => (false, rest),
            _ => return None,
        };
        let (key, rest) = rest.split_once(" of ")?;
        let figure = COMPARED.iter().find(|one| one.key == key)?;
        let (setting, option) =
            rest.split_once(" with ").map_or((rest, None), |(setting, option)| (setting, Some(option)));
        Some(Quote { each, kernel, figure, setting, option })
    }

    /// None where there is no such pair, or no run of it.
    fn numbers(&self, pairs: &[Pair]) -> Option<Result<String, String>> {
        let pair = pairs.iter().find(|pair| pair.setting.name() == self.setting)?;
        let runs = match (self.kernel, self.option) {
            (true, None) => pair.kernel.clone(),
            (false, None) => pair.simulated.clone(),
            (true, Some(_)) => return None,
            (false, Some(option)) => match changed(pair, option) {
                Ok(runs) => runs,
                Err(fault) => return Some(Err(fault)),
            },
        };
        let shown: Vec<String> = runs.iter().map(|run| number((self.figure.of)(run))).collect();
        let (last, others) = shown.split_last()?;
        Some(Ok(match self.each {
            true if others.is_empty() => last.clone(),
            true => format!("{} and {last}", others.join(", ")),
            false => number((self.figure.of)(&mean(&runs))),
        }))
    }
}

/// The simulator's runs with this line in addition to the preset.
fn changed(pair: &Pair, option: &str) -> Result<Vec<Figures>, String> {
    let tcp = format!("{PRESET}\n{option}");
    let run = |seed| Ok(simulated::run(pair.setting, &tcp, seed)?.0);
    (1..=SEEDS).into_par_iter().map(run).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::explanations::Explanations;
    use crate::linux::setting;

    const PAGE: &str = include_str!("../../../../docs/linux.md");
    const EXPLANATIONS: &str = include_str!("../../../../validation/linux/explanations.toml");

    #[test]
    fn a_quotation_is_the_number_of_its_runs() {
        let settings = setting::all();
        let run = |drops| Figures { drops, jain: 0.5, ..Figures::default() };
        let (kernel, simulated) = (vec![run(10.0), run(12.0), run(29.0)], vec![run(31.0)]);
        let pairs = [Pair { setting: &settings[0], kernel, simulated }];
        let fill = |quote: &str| fill(&format!("It is {{{quote} of {}}}.", settings[0].name()), &pairs);
        assert_eq!(fill("kernel drops").unwrap(), "It is 17.");
        assert_eq!(fill("each kernel drops").unwrap(), "It is 10, 12 and 29.");
        assert_eq!(fill("here\n  drops").unwrap(), "It is 31.");
        assert_eq!(fill("each here jain").unwrap(), "It is 0.500.");
        for wrong in ["here", "there drops", "here drips", "kernel drops of 9 reno, ha"] {
            assert!(fill(wrong).is_err(), "{wrong}");
        }
        // Half of the packets acknowledged at most, or all of them, is another run.
        let name = settings[0].name();
        let changed =
            |option| super::fill(&format!("{{here queue of {name} with {option}}}"), &pairs).unwrap();
        assert_ne!(changed("initial_window = 2"), changed("reduction = \"at-once\""));
    }

    /// The cells of the page's table: setting and figure, the kernel's number and the simulator's.
    fn cells() -> BTreeMap<(String, &'static str), [String; 2]> {
        let (_, table) = PAGE.split_once("<!-- beside the kernel -->").unwrap();
        let (table, _) = table.split_once("<!-- end of beside the kernel -->").unwrap();
        let mut cells = BTreeMap::new();
        for row in table.lines().filter(|line| line.starts_with("| ") && line.contains("BDP")) {
            let columns: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
            for (cell, figure) in columns[1..].iter().zip(&COMPARED) {
                if let Some((theirs, ours)) = cell.replace('*', "").split_once(" / ") {
                    let ours = ours.split(' ').next().unwrap_or_default();
                    cells.insert((columns[0].into(), figure.key), [theirs.into(), ours.into()]);
                }
            }
        }
        cells
    }

    #[test]
    fn the_numbers_of_the_explanations_on_the_page_are_those_of_its_table() {
        let explanations = Explanations::read("it", EXPLANATIONS).unwrap();
        let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (page, cells, mut quoted) = (line(PAGE), cells(), 0);
        for place in 0..explanations.len() {
            let text = line(explanations.text(place));
            // A word without a number in the table is kept as it is, and ends the part that is searched.
            let mut parts = vec![String::new()];
            for (before, quote) in pieces(&text) {
                *parts.last_mut().unwrap() += before;
                let Some(written) = quote else { continue };
                let known = Quote::parse(&written).unwrap_or_else(|| panic!("{written}"));
                let cell = cells.get(&(known.setting.to_string(), known.figure.key));
                let [theirs, ours] = cell.unwrap_or_else(|| panic!("{written} is of no row"));
                if known.each || known.option.is_some() {
                    parts.push(String::new());
                } else {
                    *parts.last_mut().unwrap() += if known.kernel { theirs } else { ours };
                    quoted += 1;
                }
            }
            let told = page.contains(parts[0].trim());
            // The run reports an explanation that no row needs, and leaves it out of the page.
            let used = told || page.contains(parts[0].split_once(".**").unwrap().0);
            assert!(!used || parts.iter().all(|part| page.contains(part.trim())), "{parts:#?}");
        }
        assert!(quoted > 5, "{quoted}");
    }
}

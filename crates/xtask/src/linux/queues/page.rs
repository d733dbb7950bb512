// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The table of queues in docs/linux.md.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::{COMPARED, Compared, Pair, SEEDS, pairs, read, summary};
use crate::explanations::Explanations;

const EXPLANATIONS: &str = "validation/linux-queues/explanations.toml";

/// The section, and the differences without an explanation.
pub fn section() -> Result<(String, Vec<String>), String> {
    let explanations = Explanations::read(EXPLANATIONS, &read(EXPLANATIONS)?)?;
    let (pairs, kernel) = pairs(None)?;
    let runs: usize = pairs.iter().map(|pair| pair.kernel.len()).sum();
    let mut text = format!(
        "Linux {kernel} in virtual time (User-Mode Linux), {runs} runs; means, kernel / simulator ({SEEDS} seeds). **Bold**: \
         beyond the limits below; the number is that of the explanation.\n\n"
    );
    // Writing to a string cannot fail.
    let names: Vec<&str> = COMPARED.iter().map(|one| one.key).collect();
    let _ = writeln!(text, "| setting | {} |\n| --- |{}", names.join(" | "), " ---: |".repeat(names.len()));
    let (mut used, mut unexplained) = (BTreeSet::new(), Vec::new());
    for pair in &pairs {
        let mut cell = |one: &Compared| render(pair, one, &explanations, &mut used, &mut unexplained);
        let cells: Vec<String> = COMPARED.iter().map(&mut cell).collect();
        let _ = writeln!(text, "| {} | {} |", pair.setting.name, cells.join(" | "));
    }
    text.push('\n');
    COMPARED.iter().for_each(|one| text += &format!("* {}\n", summary(&pairs, one)));
    text.push('\n');
    for place in 0..explanations.len() {
        if used.contains(&place) {
            let lines: Vec<&str> = explanations.text(place).trim().lines().collect();
            let _ = writeln!(text, "{}. {}", place + 1, lines.join("\n   "));
        } else {
            let patterns = explanations.patterns(place);
            unexplained.push(format!("{EXPLANATIONS}: {patterns} explains no difference"));
        }
    }
    Ok((text, unexplained))
}

/// A cell with its mark.
fn render(
    pair: &Pair,
    one: &Compared,
    explanations: &Explanations,
    used: &mut BTreeSet<usize>,
    unexplained: &mut Vec<String>,
) -> String {
    let numbers = pair.numbers(one);
    if pair.agrees(one) != Some(false) {
        return numbers;
    }
    let name = &pair.setting.name;
    if let Some((place, _)) = explanations.find(name, one.key) {
        used.insert(place);
        return format!("**{numbers}** ({})", place + 1);
    }
    unexplained.push(format!("{name}: {} is {numbers}", one.key));
    format!("**{numbers}** (unexplained)")
}

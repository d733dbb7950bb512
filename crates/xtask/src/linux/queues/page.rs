// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The table of queues in docs/linux.md.

use std::fmt::Write;

use super::{COMPARED, Compared, Pair, SEEDS, pairs, read, summary};
use crate::explanations::{Explanations, Marker};

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
    let mut marker = Marker::new(EXPLANATIONS, &explanations);
    for pair in &pairs {
        let cells: Vec<String> = COMPARED.iter().map(|one| render(pair, one, &mut marker)).collect();
        let _ = writeln!(text, "| {} | {} |", pair.setting.name, cells.join(" | "));
    }
    text.push('\n');
    COMPARED.iter().for_each(|one| text += &format!("* {}\n", summary(&pairs, one)));
    text.push('\n');
    let (explained, unexplained) = marker.finish(|explanation| Ok(explanation.into()))?;
    Ok((text + &explained, unexplained))
}

/// A cell with its mark.
fn render(pair: &Pair, one: &Compared, marker: &mut Marker) -> String {
    let numbers = pair.numbers(one);
    match pair.agrees(one) {
        Some(false) => marker.bold(&pair.setting.name, one.key, &numbers),
        _ => numbers,
    }
}

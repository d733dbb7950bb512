// SPDX-License-Identifier: Apache-2.0 OR MIT
//! docs/linux-queues.md: every cell compared with the kernel in virtual time, and the explanations of differences.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{COMPARED, Pair, all, tally, total};
use crate::explanations::{Explanations, Marker};

const PAGE: &str = "docs/linux-queues.md";
const EXPLANATIONS: &str = "validation/uml/explanations.toml";

const HEAD: &str = "\
# Linux's controllers and queues in virtual time

The same networks in Linux 6.12 and in the simulator (`[tcp] preset = \"linux\"`, `queues = \"linux\"`). The kernel is User-Mode Linux in virtual time
([live.md](live.md)): its own TCP and its own queue disciplines, without lateness. `make validate-linux-virtual` compares again, in seconds, and
writes this page; `make validate-uml` records the kernel again. The grids are in `validation/uml`; the cells `20M50` and `100M20` are older recordings,
means of three runs ([validation/README.md](../validation/README.md)). The simulator has one run beside each of the kernel's,
and flows start at the same instants in both.

";

/// Writes the page; returns whether each difference has an explanation.
pub fn write(tcp: &str, seeds: u64) -> Result<bool, String> {
    let read = |file: &str| std::fs::read_to_string(path(file)).map_err(|error| format!("{file}: {error}"));
    let explanations = Explanations::read(EXPLANATIONS, &read(EXPLANATIONS)?)?;
    let pairs = all(tcp, seeds)?;
    let (close, count) = total(&pairs);
    let mut text = HEAD.to_string();
    // Writing to a string cannot fail.
    let share = 100.0 * close as f64 / count as f64;
    let _ = writeln!(
        text,
        "**{close} of {count} figures of {} cells are within the limits: {share:.1} %.**\n",
        pairs.len()
    );
    text += &by_grid(&pairs);
    text += "\n## Cells with a figure beyond its limit\n\nKernel / simulator. **Bold**: beyond the limit; the number is that of the explanation.\n\n";
    let mut marker = Marker::new(EXPLANATIONS, &explanations);
    let beyond = pairs.iter().filter(|pair| pair.is_beyond());
    text += &table(beyond, |pair, one| marker.bold(&pair.name, one.key, &pair.numbers(one)));
    text += "\n## Explanations\n\n";
    let (explained, unexplained) = marker.finish(|explanation| Ok(explanation.into()))?;
    text += &explained;
    text += "\n## All cells\n\n";
    text += &table(pairs.iter(), |pair, one| format!("**{}**", pair.numbers(one)));
    std::fs::write(path(PAGE), text).map_err(|error| format!("{PAGE}: {error}"))?;
    unexplained.iter().for_each(|one| println!("unexplained: {one}"));
    Ok(unexplained.is_empty())
}

/// The number of figures of each grid within the limits.
fn by_grid(pairs: &[Pair]) -> String {
    let mut grids: BTreeMap<&str, Vec<&Pair>> = BTreeMap::new();
    for pair in pairs {
        let grid = pair.name.split([':', ' ']).next().unwrap_or_default();
        grids.entry(grid).or_default().push(pair);
    }
    let names: Vec<String> = COMPARED.iter().map(|one| format!("{} ({})", one.key, one.about)).collect();
    let mut text =
        format!("| cells | | {} |\n| --- | ---: |{}\n", names.join(" | "), " ---: |".repeat(names.len()));
    for (grid, members) in grids {
        let counts = COMPARED.iter().map(|one| match tally(members.iter().copied(), one) {
            (_, 0) => String::new(),
            (agreed, measured) => format!("{agreed} of {measured}"),
        });
        let _ = writeln!(text, "| {grid} | {} | {} |", members.len(), counts.collect::<Vec<_>>().join(" | "));
    }
    text
}

/// Cells, with figures beyond their limits as `beyond` writes them.
fn table<'p>(
    pairs: impl Iterator<Item = &'p Pair>,
    mut beyond: impl FnMut(&Pair, &super::Compared) -> String,
) -> String {
    let names: Vec<&str> = COMPARED.iter().map(|one| one.key).collect();
    let mut text = format!("| cell | {} |\n| --- |{}\n", names.join(" | "), " ---: |".repeat(names.len()));
    for pair in pairs {
        let cells = COMPARED.iter().map(|one| match pair.agrees(one) {
            None => String::new(),
            Some(true) => pair.numbers(one),
            Some(false) => beyond(pair, one),
        });
        let _ = writeln!(text, "| {} | {} |", pair.name, cells.collect::<Vec<_>>().join(" | "));
    }
    text
}

fn path(file: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file)
}

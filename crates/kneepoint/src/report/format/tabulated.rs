// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The tables of a document, each with its section's heading and the paragraphs around it, for formats that write tables alone.

use std::borrow::Cow;

use super::super::document::{Block, Column, Document, Finding, Prose, Table, TableLine};
use crate::table::number::NONE;

/// A table with the notes that it needs.
pub(super) struct Tabulated<'a> {
    /// The heading of its section.
    pub(super) heading: &'a str,
    /// The paragraphs of the section about it: those before the first table, and those after each.
    pub(super) notes: Vec<&'a Prose>,
    /// The table.
    pub(super) table: Cow<'a, Table>,
}

/// Every table of a document, in order; statements with their verdicts are one as well.
pub(super) fn tables(document: &Document) -> Vec<Tabulated<'_>> {
    document.sections.iter().flat_map(|section| of(&section.heading, &section.blocks)).collect()
}

fn of<'a>(heading: &'a str, blocks: &'a [Block]) -> Vec<Tabulated<'a>> {
    let (mut found, mut before): (Vec<Tabulated>, Vec<&Prose>) = (Vec::new(), Vec::new());
    for block in flat(blocks) {
        let table = match block {
            Block::Prose(prose) => {
                found.last_mut().map_or(&mut before, |last| &mut last.notes).push(prose);
                continue;
            }
            Block::Table(table) => Cow::Borrowed(table),
            Block::Findings(what, claims) => Cow::Owned(statements(what, claims)),
            _ => continue,
        };
        found.push(Tabulated { heading, notes: std::mem::take(&mut before), table });
    }
    found
}

fn flat(blocks: &[Block]) -> Vec<&Block> {
    blocks.iter().flat_map(inner).collect()
}

/// The blocks of pages, or of a terminal where it alone has a table.
fn inner(block: &Block) -> Vec<&Block> {
    let Block::Pages { blocks, terminal } = block else { return vec![block] };
    let (paged, shown) = (flat(blocks), flat(terminal));
    let has_table = |of: &[&Block]| of.iter().any(|one| matches!(one, Block::Table(_)));
    if !has_table(&paged) && has_table(&shown) { shown } else { paged }
}

/// A line per statement; the columns of numbers only if some statement has any.
fn statements(what: &str, claims: &[Finding]) -> Table {
    let numbers = claims.iter().any(|claim| claim.ours.is_some() || claim.published.is_some());
    let known = |number: &Option<String>| number.clone().unwrap_or_else(|| NONE.to_string()).into();
    let line = |claim: &Finding| {
        let mut cells = vec![claim.text.clone().into(), claim.verdict.clone().into()];
        if numbers {
            cells.extend([known(&claim.ours), known(&claim.published)]);
        }
        TableLine::new(&claim.name, cells)
    };
    let titles =
        ["statement", "verdict"].into_iter().chain(["ours", "published"].into_iter().filter(|_| numbers));
    Table {
        corner: what.into(),
        columns: titles.map(Column::text).collect(),
        lines: claims.iter().map(line).collect(),
        linked: false,
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Formats of documents, one file each.

pub mod html;
pub mod latex;
pub mod markdown;
mod tabulated;
pub mod text;

use super::document::Document;

/// A format of documents.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Its name.
    pub name: &'static str,
    /// The end of its files' names, without the dot.
    pub extension: &'static str,
    /// Writes a document. Equal documents produce identical bytes.
    pub render: fn(&Document) -> String,
}

/// Every format.
pub const REGISTRY: &[Format] = &[
    // The terminal's comes first.
    text::FORMAT,
    html::FORMAT,
    markdown::FORMAT,
];

/// Formats of the tables of a document alone, for papers and repositories.
pub const TABLES: &[Format] = &[markdown::TABLES, latex::TABLES];

#[cfg(test)]
pub(super) mod tests {
    use super::super::document::*;
    use super::*;
    use crate::table::Estimate;

    /// A document with a block of each kind.
    pub(crate) fn example() -> Document {
        let estimate = Estimate { mean: 0.5, half_width: Some(0.02) };
        let table = Table {
            corner: "scheme".into(),
            columns: vec![Column::number("share", "%"), Column::text("remark")],
            lines: vec![TableLine::new("a|<b>", vec![Shown::of(&estimate, 100.0), "fine".into()])],
            linked: false,
        };
        let figure = Figure {
            name: "share".into(),
            title: "Share, %".into(),
            note: "",
            class: None,
            drawing: crate::chart::sheet("nothing", &[], 1),
        };
        let claim = Finding {
            name: "c1".into(),
            text: "It is <used>.".into(),
            verdict: "fails".into(),
            stands_out: true,
            ours: Some("0.5".into()),
            published: Some("0.9".into()),
            why: vec!["short by 0.4".into()],
            ..Finding::default()
        };
        let prose = Prose::from("Plain, ").strong("strong").then(", ").emphasis("stressed").then(" and ");
        let blocks = vec![
            Block::Prose(prose.code("knee")),
            Block::List(vec!["one".into(), "two".into()]),
            Block::Table(table),
            Block::Figures(Layout::Grid, vec![figure]),
            Block::Findings("claim", vec![claim]),
            Block::Facts(vec![("seeds".into(), "1, 2".into())]),
            Block::pages(vec![Block::Listing("a.toml".into(), "# a < b".into())]),
        ];
        Document {
            title: "A title".into(),
            about: "About <it>.".into(),
            sections: vec![Section { heading: "A section".into(), blocks }],
        }
    }

    #[test]
    fn names_and_extensions_are_distinct_and_every_format_has_every_number() {
        for (place, format) in REGISTRY.iter().enumerate() {
            assert!(REGISTRY[..place].iter().all(|other| other.extension != format.extension));
            let text = (format.render)(&example());
            for part in ["A title", "A section", "50.0", "2.0", "hort by 0.4", "0.9", "1, 2", "knee", "two"] {
                assert!(text.contains(part), "{}: `{part}` is missing from\n{text}", format.name);
            }
            assert_eq!(text, (format.render)(&example()), "{}", format.name);
        }
    }

    #[test]
    fn every_format_of_tables_has_every_table_and_no_figure() {
        for (place, format) in TABLES.iter().enumerate() {
            assert!(TABLES[..place].iter().all(|other| other.extension != format.extension));
            let text = (format.render)(&example());
            for part in ["A section", "scheme", "50.0", "2.0", "fine", "c1", "fails", "0.9"] {
                assert!(text.contains(part), "{}: `{part}` is missing from\n{text}", format.name);
            }
            assert!(!text.contains("svg") && !text.contains("seeds"), "{}: {text}", format.name);
        }
    }
}

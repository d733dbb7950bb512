// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The figures of a document as files, each complete alone.

use super::document::{Block, Document, Figure};
use crate::chart::Drawing;

/// A figure as a file.
pub struct Picture {
    /// The stem of its name.
    pub name: String,
    /// The chart, with parts that a page shares between charts: the legend, and the subject of the document.
    pub drawing: Drawing,
}

impl Document {
    /// Every figure, in order, each complete alone.
    pub fn pictures(&self) -> Vec<Picture> {
        let keys = self.sections.iter().map(|section| section.blocks.iter().find_map(key));
        let keys: Vec<Option<&[(String, String)]>> = keys.collect();
        let shared = keys.iter().flatten().next().copied().unwrap_or_default();
        let sections = self.sections.iter().zip(&keys);
        let section = |(section, own): (&super::document::Section, &Option<&[(String, String)]>)| {
            let own = *own;
            let picture = move |figure: &Figure| {
                // A chart about one scheme has its name in the title.
                let legend = own.unwrap_or(if figure.class.is_some() { &[] } else { shared });
                let drawing = figure.drawing.clone().with_page_key(legend).with_about(&self.title);
                Picture { name: figure.name.clone(), drawing }
            };
            section.blocks.iter().flat_map(Block::figures).map(picture).collect::<Vec<_>>()
        };
        sections.flat_map(section).collect()
    }
}

/// The colours that a block explains.
fn key(block: &Block) -> Option<&[(String, String)]> {
    match block {
        Block::Key(entries) => Some(entries),
        Block::Pages { blocks, .. } => blocks.iter().find_map(key),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{comparison, example};

    #[test]
    fn a_picture_of_several_schemes_names_them_and_the_study() {
        let comparison = example::comparison();
        let document = comparison::document(&comparison);
        let pictures = document.pictures();
        assert_eq!(pictures.len(), document.figures().len());
        let svg = |name: &str| {
            let found = pictures.iter().find(|picture| picture.name == name).expect(name);
            found.drawing.standalone()
        };
        for name in ["queue_distribution", "utilization_against_delay"] {
            for scheme in &comparison.schemes {
                let shown = format!(">{}</text>", scheme.scheme);
                assert_eq!(svg(name).matches(&shown).count(), 1, "{name}: {shown}");
            }
            assert!(svg(name).contains(&format!(">{}</text>", comparison.title)), "{name}");
        }
    }
}

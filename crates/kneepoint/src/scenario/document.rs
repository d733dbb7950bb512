// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A scenario as a text and as a tree: a person writes the one, a study the other, and each follows from the other.

use super::text;
use super::tree::Table;
use crate::fault::{Fault, Faults};

/// A scenario before it is checked. Faults that are found in it have their places in its text.
#[derive(Clone, Debug)]
pub struct Document {
    text: String,
    pub(super) root: Table,
}

/// A longer text is not a hand-written scenario.
const LONGEST_TEXT: usize = 1 << 20;

impl Document {
    /// Reads a text; the error holds every fault of its syntax.
    pub fn read(text: &str) -> Result<Document, Vec<Fault>> {
        let mut faults = Faults::default();
        match root(text, &mut faults) {
            Some(root) => Ok(Document { text: text.to_string(), root }),
            None => Err(faults.finish(text)),
        }
    }

    /// Writes a tree.
    pub(crate) fn write(mut root: Table) -> Document {
        let text = text::write(&mut root);
        Document { text, root }
    }

    /// The scenario as a file has it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The same, without the tree.
    pub fn into_text(self) -> String {
        self.text
    }
}

/// The text as a tree.
pub(crate) fn root(text: &str, faults: &mut Faults) -> Option<Table> {
    if text.len() > LONGEST_TEXT {
        faults.add_with_help(&(0..0), "the text is longer than a megabyte", "split it");
        return None;
    }
    Some(text::read(text, faults)).filter(|_| faults.is_empty())
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A declared parameter, as all readers of declarations see it.

use alloc::string::{String, ToString};

/// One declared parameter.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name in scenarios and in code.
    pub name: &'static str,
    /// The kind of value: [`Setting::KIND`].
    pub kind: &'static str,
    /// The names allowed, with a sentence each, where the value is a choice.
    pub choices: &'static [(&'static str, &'static str)],
    /// The JSON Schema types of its written form.
    pub json: &'static [&'static str],
    /// The default and the allowed range.
    pub values: Values,
    /// A sentence on its effect.
    pub doc: &'static str,
}

/// The default and the allowed range of a parameter.
#[derive(Clone, Copy, Debug)]
pub enum Values {
    /// A field of a struct that a program declares.
    Typed {
        /// The default, in its written form.
        default: fn() -> String,
        /// The allowed range in the words of a message.
        range: fn() -> Option<String>,
    },
    /// A parameter that is declared while a program runs.
    Written {
        /// The default.
        default: &'static str,
        /// The allowed range in the words of a message.
        range: Option<&'static str>,
    },
}

impl Field {
    const NONE: Field = Field {
        name: "",
        kind: "",
        choices: &[],
        json: &[],
        values: Values::Written { default: "", range: None },
        doc: "",
    };

    /// The default, in its written form.
    pub fn default(&self) -> String {
        match self.values {
            Values::Typed { default, .. } => default(),
            Values::Written { default, .. } => default.to_string(),
        }
    }

    /// The allowed range in the words of a message.
    pub fn range(&self) -> Option<String> {
        match self.values {
            Values::Typed { range, .. } => range(),
            Values::Written { range, .. } => range.map(str::to_string),
        }
    }
}

/// Fields of several structs in one list. Its room is fixed: a generic struct cannot have its own array length.
#[derive(Clone, Copy, Debug)]
pub struct Joined {
    fields: [Field; 64],
    count: usize,
}

impl Joined {
    /// All fields of all `parts`, in order.
    pub const fn new(parts: &[&[Field]]) -> Joined {
        let mut joined = Joined { fields: [Field::NONE; 64], count: 0 };
        let mut part = 0;
        while part < parts.len() {
            let mut place = 0;
            while place < parts[part].len() {
                joined.fields[joined.count] = parts[part][place];
                joined.count += 1;
                place += 1;
            }
            part += 1;
        }
        joined
    }

    /// The list.
    pub const fn as_slice(&self) -> &[Field] {
        self.fields.split_at(self.count).0
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Written values.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::num::IntErrorKind;

/// A written value before its type is known.
#[derive(Clone, Debug, PartialEq)]
pub enum Raw {
    /// `true`, `false`.
    Bool(bool),
    /// `50`.
    Integer(i64),
    /// `0.35`.
    Float(f64),
    /// A whole number beyond 64 bits, or a number beyond every float, as written: `1e999`.
    Huge(String),
    /// `"60ms"`.
    Text(String),
    /// `["60ms", "120ms"]`.
    List(Vec<Raw>),
}

impl Raw {
    /// Reads a value from a command line: a bool or a number if it looks like one, else text.
    pub fn guess(text: &str) -> Raw {
        let bool = || text.parse().map(Raw::Bool).ok();
        bool()
            .or_else(|| Raw::whole(text))
            .or_else(|| Raw::float(text))
            .unwrap_or_else(|| Raw::Text(text.to_string()))
    }

    /// Reads a number without a fraction or an exponent; nothing for other text.
    fn whole(text: &str) -> Option<Raw> {
        let huge =
            |kind: &IntErrorKind| matches!(kind, IntErrorKind::PosOverflow | IntErrorKind::NegOverflow);
        match text.parse::<i64>() {
            Ok(value) => Some(Raw::Integer(value)),
            Err(why) => huge(why.kind()).then(|| Raw::Huge(text.to_string())),
        }
    }

    /// Reads a number with a fraction or an exponent; nothing for other text.
    pub fn float(text: &str) -> Option<Raw> {
        let value: f64 = text.parse().ok()?;
        // The word for infinity has no digits.
        let huge = value.is_infinite() && text.contains(|c: char| c.is_ascii_digit());
        Some(if huge { Raw::Huge(text.to_string()) } else { Raw::Float(value) })
    }
}

impl fmt::Display for Raw {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Raw::Bool(value) => value.fmt(f),
            Raw::Integer(value) => value.fmt(f),
            Raw::Float(value) => value.fmt(f),
            Raw::Huge(number) => f.write_str(number),
            Raw::Text(value) => write!(f, "\"{value}\""),
            Raw::List(values) => {
                let values: Vec<String> = values.iter().map(Raw::to_string).collect();
                write!(f, "[{}]", values.join(", "))
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The language of claims: arithmetic over what an experiment observed.
//!
//! ```text
//! check   = sum ( "<=" | "<" | ">=" | ">" ) sum
//! sum     = product { ( "+" | "-" ) product }
//! product = factor { ( "*" | "/" ) factor }
//! factor  = "-" factor | number | "(" sum ")" | call | metric
//! metric  = name [ "[" axis "=" label { "," axis "=" label } "]" ]
//! call    = ( "abs" | "min" | "max" ) "(" sum { "," sum } ")"
//!         | ( "mean" | "sum" | "min" | "max" | "rise" | "fall" ) "(" sum "over" axis [ range ] ")"
//! range   = "from" number "to" number | "in" "(" label { "," label } ")"
//! ```
//!
//! `utilization[scheme=pert, bandwidth=1mbit]` is one number; an axis that the claim is held against each value of
//! need not be written. `rise(x over a)` is the smallest step from one value of `a` to the next, so that
//! `rise(x over a) >= 0` says that x does not decrease; `fall` is the same downwards.

mod evaluate;
mod parse;

pub use evaluate::Scope;
pub use parse::Wrong;

use crate::table::Labels;

/// A comparison that holds or does not.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// As it was written.
    pub text: String,
    /// What stands before the sign.
    pub left: Expression,
    /// The sign.
    pub sign: Sign,
    /// What stands after it.
    pub right: Expression,
}

/// How the sides of a comparison are to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Left below right.
    Less,
    /// Left below right or equal.
    AtMost,
    /// Left above right.
    Greater,
    /// Left above right or equal.
    AtLeast,
}

impl Sign {
    /// Whether `left` and `right` are as they are to be.
    pub fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Sign::Less => left < right,
            Sign::AtMost => left <= right,
            Sign::Greater => left > right,
            Sign::AtLeast => left >= right,
        }
    }

    /// By how much they are: negative where they are not.
    pub fn margin(self, left: f64, right: f64) -> f64 {
        match self {
            Sign::Less | Sign::AtMost => right - left,
            Sign::Greater | Sign::AtLeast => left - right,
        }
    }
}

/// Something that has a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A number.
    Number(f64),
    /// What was observed.
    Observed(Reference),
    /// The negative.
    Negative(Box<Expression>),
    /// Two numbers to one.
    Pair(Box<Expression>, Operator, Box<Expression>),
    /// The distance from zero.
    Absolute(Box<Expression>),
    /// One of several.
    Extreme(Fold, Vec<Expression>),
    /// What becomes of the values along an axis.
    Along(Fold, Box<Expression>, Axis),
}

/// A metric under labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// Which metric.
    pub metric: String,
    /// The labels written with it.
    pub labels: Labels,
}

impl std::fmt::Display for Reference {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(&self.metric)?;
        if self.labels.is_empty() {
            return Ok(());
        }
        let labels = self.labels.iter().map(|(axis, label)| format!("{axis}={label}"));
        write!(f, "[{}]", labels.collect::<Vec<_>>().join(", "))
    }
}

/// Arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Times,
    /// `/`
    Over,
}

/// How many numbers become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// Their mean.
    Mean,
    /// Their sum.
    Sum,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// The least step up from one to the next.
    Rise,
    /// The least step down from one to the next.
    Fall,
}

impl Fold {
    /// Every fold with its name.
    pub const ALL: [(&'static str, Fold); 6] = [
        ("mean", Fold::Mean),
        ("sum", Fold::Sum),
        ("min", Fold::Min),
        ("max", Fold::Max),
        ("rise", Fold::Rise),
        ("fall", Fold::Fall),
    ];

    /// What becomes of `numbers`; nothing of too few.
    pub fn of(self, numbers: &[f64]) -> Option<f64> {
        let sum = || numbers.iter().sum::<f64>();
        let steps = || numbers.windows(2).map(|pair| pair[1] - pair[0]);
        match self {
            Fold::Mean => (!numbers.is_empty()).then(|| sum() / numbers.len() as f64),
            Fold::Sum => (!numbers.is_empty()).then(sum),
            Fold::Min => numbers.iter().copied().reduce(f64::min),
            Fold::Max => numbers.iter().copied().reduce(f64::max),
            Fold::Rise => steps().reduce(f64::min),
            Fold::Fall => steps().map(|step| -step).reduce(f64::min),
        }
    }
}

/// An axis to go along, or a part of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Its name.
    pub name: String,
    /// Which part.
    pub part: Part,
}

/// A part of an axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// All that was observed.
    All,
    /// Labels that stand for numbers from the first to the second.
    Between(f64, f64),
    /// These.
    Only(Vec<String>),
}

impl Check {
    /// Reads a comparison.
    pub fn parse(text: &str) -> Result<Check, Wrong> {
        parse::check(text)
    }

    /// Every metric named, once.
    pub fn references(&self) -> Vec<&Reference> {
        let mut found = self.left.references();
        found.extend(self.right.references());
        let mut once: Vec<&Reference> = Vec::new();
        for reference in found {
            if !once.contains(&reference) {
                once.push(reference);
            }
        }
        once
    }
}

impl Expression {
    /// Reads something that has a value.
    pub fn parse(text: &str) -> Result<Expression, Wrong> {
        parse::expression(text)
    }

    /// Every metric named, in order.
    pub fn references(&self) -> Vec<&Reference> {
        match self {
            Expression::Number(_) => Vec::new(),
            Expression::Observed(reference) => vec![reference],
            Expression::Negative(inner) | Expression::Absolute(inner) | Expression::Along(_, inner, _) => {
                inner.references()
            }
            Expression::Pair(left, _, right) => {
                let mut found = left.references();
                found.extend(right.references());
                found
            }
            Expression::Extreme(_, several) => several.iter().flat_map(Expression::references).collect(),
        }
    }
}

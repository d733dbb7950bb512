// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The language of claims: arithmetic over the observations of an experiment.
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
//! `utilization[scheme=pert, bandwidth=1mbit]` is one number; axes listed in the claim's `each` may be omitted.
//! `rise(x over a)` is the smallest step from one value of `a` to the next, so `rise(x over a) >= 0` states that x does
//! not decrease; `fall` is the same for decreases.

mod evaluate;
mod parse;

pub use evaluate::Scope;
pub use parse::Wrong;

use crate::table::Labels;

/// A comparison of two expressions.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Source text.
    pub text: String,
    /// Left-hand side.
    pub left: Expression,
    /// Relation.
    pub sign: Sign,
    /// Right-hand side.
    pub right: Expression,
}

/// Relations of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Less.
    Less,
    /// Less or equal.
    AtMost,
    /// Greater.
    Greater,
    /// Greater or equal.
    AtLeast,
}

impl Sign {
    /// Whether the relation holds.
    pub fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Sign::Less => left < right,
            Sign::AtMost => left <= right,
            Sign::Greater => left > right,
            Sign::AtLeast => left >= right,
        }
    }

    /// The margin by which it holds; negative if it fails.
    pub fn margin(self, left: f64, right: f64) -> f64 {
        match self {
            Sign::Less | Sign::AtMost => right - left,
            Sign::Greater | Sign::AtLeast => left - right,
        }
    }
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A number.
    Number(f64),
    /// An observation.
    Observed(Reference),
    /// Negation.
    Negative(Box<Expression>),
    /// A binary operation.
    Pair(Box<Expression>, Operator, Box<Expression>),
    /// Absolute value.
    Absolute(Box<Expression>),
    /// Minimum or maximum of several.
    Extreme(Fold, Vec<Expression>),
    /// A fold of the values along an axis.
    Along(Fold, Box<Expression>, Axis),
}

/// A metric under labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// Metric key.
    pub metric: String,
    /// Explicit labels.
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

/// Binary operators.
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

/// Folds of several numbers into one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// Their mean.
    Mean,
    /// Their sum.
    Sum,
    /// Minimum.
    Min,
    /// Maximum.
    Max,
    /// Smallest step up between successive values.
    Rise,
    /// Smallest step down between successive values.
    Fall,
}

impl Fold {
    /// All folds by name.
    pub const ALL: [(&'static str, Fold); 6] = [
        ("mean", Fold::Mean),
        ("sum", Fold::Sum),
        ("min", Fold::Min),
        ("max", Fold::Max),
        ("rise", Fold::Rise),
        ("fall", Fold::Fall),
    ];

    /// Folds `numbers`; none if there are too few.
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

/// An axis or a part of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Name.
    pub name: String,
    /// Part.
    pub part: Part,
}

/// A part of an axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// All labels observed.
    All,
    /// Numeric labels from the first to the second.
    Between(f64, f64),
    /// Listed labels.
    Only(Vec<String>),
}

impl Check {
    /// Parses a comparison.
    pub fn parse(text: &str) -> Result<Check, Wrong> {
        parse::check(text)
    }

    /// All metrics referenced, without duplicates.
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
    /// Parses an expression.
    pub fn parse(text: &str) -> Result<Expression, Wrong> {
        parse::expression(text)
    }

    /// All metrics referenced, in order.
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

    /// All axes along which it folds.
    pub fn folded(&self) -> Vec<&Axis> {
        match self {
            Expression::Number(_) | Expression::Observed(_) => Vec::new(),
            Expression::Negative(inner) | Expression::Absolute(inner) => inner.folded(),
            Expression::Pair(left, _, right) => [left.folded(), right.folded()].concat(),
            Expression::Extreme(_, several) => several.iter().flat_map(Expression::folded).collect(),
            Expression::Along(_, inner, axis) => [vec![axis], inner.folded()].concat(),
        }
    }
}

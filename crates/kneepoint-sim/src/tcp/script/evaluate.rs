// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The values of assertions.

use std::collections::BTreeMap;

use super::expression::{Expression, Operator, Sign};
use super::fields::FIELDS;
use crate::tcp::Info;

/// The variables of expressions.
pub(super) struct State<'a> {
    pub info: &'a Info,
    pub mss: u32,
    pub variables: &'a BTreeMap<String, i64>,
}

impl State<'_> {
    /// The value; none where it has none, as after a division by zero.
    pub fn value(&self, expression: &Expression) -> Option<i64> {
        Some(match expression {
            Expression::Number(number) => *number,
            Expression::Field(place) => FIELDS[*place].1(self.info, self.mss),
            Expression::Variable(name) => *self.variables.get(name)?,
            Expression::Negative(inner) => self.value(inner)?.checked_neg()?,
            Expression::Not(inner) => i64::from(self.value(inner)? == 0),
            Expression::Pair(left, operator, right) => {
                apply(self.value(left)?, *operator, self.value(right)?)?
            }
            Expression::Chain(first, chain) => i64::from(self.chain(first, chain)?),
            Expression::Both(left, right) => match self.value(left)? {
                0 => 0,
                _ => self.value(right)?,
            },
            Expression::Either(left, right) => match self.value(left)? {
                0 => self.value(right)?,
                value => value,
            },
        })
    }

    fn chain(&self, first: &Expression, chain: &[(Sign, Expression)]) -> Option<bool> {
        let mut left = self.value(first)?;
        for (sign, expression) in chain {
            let right = self.value(expression)?;
            if !holds(left, *sign, right) {
                return Some(false);
            }
            left = right;
        }
        Some(true)
    }

    /// Every name in an expression with its value, once each: `tcpi_snd_cwnd = 8`.
    pub fn named(&self, expression: &Expression, found: &mut Vec<String>) {
        let mut note = |name: &str, value: Option<i64>| {
            let value = value.map_or("nothing".to_string(), |value| value.to_string());
            let text = format!("{name} = {value}");
            if !found.contains(&text) {
                found.push(text);
            }
        };
        match expression {
            Expression::Number(_) => {}
            Expression::Field(place) => note(FIELDS[*place].0, self.value(expression)),
            Expression::Variable(name) => note(name, self.value(expression)),
            Expression::Negative(inner) | Expression::Not(inner) => self.named(inner, found),
            Expression::Pair(left, _, right)
            | Expression::Both(left, right)
            | Expression::Either(left, right) => {
                self.named(left, found);
                self.named(right, found);
            }
            Expression::Chain(first, chain) => {
                self.named(first, found);
                chain.iter().for_each(|(_, right)| self.named(right, found));
            }
        }
    }
}

/// Python's arithmetic: division rounds down, and a remainder has the sign of the divisor.
fn apply(left: i64, operator: Operator, right: i64) -> Option<i64> {
    match operator {
        Operator::Plus => left.checked_add(right),
        Operator::Minus => left.checked_sub(right),
        Operator::Times => left.checked_mul(right),
        Operator::Over => {
            let quotient = left.checked_div(right)?;
            Some(quotient - i64::from(left % right != 0 && (left < 0) != (right < 0)))
        }
        Operator::Modulo => {
            let rest = left.checked_rem(right)?;
            Some(if rest != 0 && (rest < 0) != (right < 0) { rest + right } else { rest })
        }
    }
}

fn holds(left: i64, sign: Sign, right: i64) -> bool {
    match sign {
        Sign::Equal => left == right,
        Sign::Unequal => left != right,
        Sign::AtMost => left <= right,
        Sign::AtLeast => left >= right,
        Sign::Less => left < right,
        Sign::Greater => left > right,
    }
}

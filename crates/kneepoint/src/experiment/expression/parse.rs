// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Recursive-descent parser of claims: one function per rule of the grammar.

use std::ops::Range;

use super::{Axis, Check, Expression, Fold, Operator, Part, Reference, Sign};
use crate::suggest::did_you_mean;
use crate::table::Labels;

/// A syntax error and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Byte range of the text.
    pub span: Range<usize>,
    /// The problem.
    pub message: String,
}

/// A longer text is not a hand-written claim, and a sum of this many terms would exhaust the stack.
const LONGEST: usize = 4000;

/// Deeper nesting is not a hand-written claim, and would exhaust the stack.
const DEEPEST: usize = 64;

const SIGNS: [(&str, Sign); 4] =
    [("<=", Sign::AtMost), (">=", Sign::AtLeast), ("<", Sign::Less), (">", Sign::Greater)];

pub(super) fn check(text: &str) -> Result<Check, Wrong> {
    let mut reader = Reader::new(text)?;
    let left = reader.sum()?;
    let sign = SIGNS.iter().find(|(sign, _)| reader.take(sign));
    let (_, sign) = sign.ok_or_else(|| reader.wrong("a comparison: `<=`, `<`, `>=` or `>`"))?;
    let right = reader.sum()?;
    reader.end()?;
    Ok(Check { text: text.to_string(), left, sign: *sign, right })
}

pub(super) fn expression(text: &str) -> Result<Expression, Wrong> {
    let mut reader = Reader::new(text)?;
    let sum = reader.sum()?;
    reader.end()?;
    Ok(sum)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Result<Reader<'t>, Wrong> {
        if text.len() > LONGEST {
            return Err(Wrong { span: 0..1, message: format!("the claim is longer than {LONGEST} bytes") });
        }
        Ok(Reader { text, at: 0, depth: 0 })
    }

    fn rest(&mut self) -> &'t str {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        rest
    }

    fn take(&mut self, token: &str) -> bool {
        let taken = self.rest().starts_with(token);
        self.at += if taken { token.len() } else { 0 };
        taken
    }

    fn expect(&mut self, token: &str) -> Result<(), Wrong> {
        if self.take(token) { Ok(()) } else { Err(self.wrong(&format!("`{token}`"))) }
    }

    fn end(&mut self) -> Result<(), Wrong> {
        if self.rest().is_empty() { Ok(()) } else { Err(self.wrong("the end, or an operator before this")) }
    }

    /// The error for something unexpected at the current position.
    fn wrong(&mut self, expected: &str) -> Wrong {
        let rest = self.rest();
        let next = rest.chars().next().map_or(0, char::len_utf8);
        let found = if rest.is_empty() { "the end".to_string() } else { format!("`{}`", &rest[..next]) };
        Wrong { span: self.at..self.at + next, message: format!("expected {expected}, found {found}") }
    }

    fn sum(&mut self) -> Result<Expression, Wrong> {
        self.left_to_right(&[("+", Operator::Plus), ("-", Operator::Minus)], Reader::product)
    }

    fn product(&mut self) -> Result<Expression, Wrong> {
        self.left_to_right(&[("*", Operator::Times), ("/", Operator::Over)], Reader::factor)
    }

    fn left_to_right(
        &mut self,
        operators: &[(&str, Operator)],
        operand: fn(&mut Self) -> Result<Expression, Wrong>,
    ) -> Result<Expression, Wrong> {
        let mut left = operand(self)?;
        while let Some((_, operator)) = operators.iter().find(|(token, _)| self.take(token)) {
            left = Expression::Pair(Box::new(left), *operator, Box::new(operand(self)?));
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Expression, Wrong> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let message = format!("the claim is nested deeper than {DEEPEST} levels");
            return Err(Wrong { span: self.at..self.at, message });
        }
        let factor = match self.rest().chars().next() {
            Some('-') => {
                self.at += 1;
                Expression::Negative(Box::new(self.factor()?))
            }
            Some('(') => {
                self.at += 1;
                let inner = self.sum()?;
                self.expect(")")?;
                inner
            }
            Some(c) if c.is_ascii_digit() || c == '.' => Expression::Number(self.number()?),
            Some(c) if c.is_ascii_alphabetic() => self.named()?,
            _ => return Err(self.wrong("a number, a metric or `(`")),
        };
        self.depth -= 1;
        Ok(factor)
    }

    fn number(&mut self) -> Result<f64, Wrong> {
        let rest = self.rest();
        let mut end = 0;
        for (place, c) in rest.char_indices() {
            let exponent = rest[..place].ends_with(['e', 'E']);
            let part = c.is_ascii_digit() || c == '.' || (place > 0 && "eE".contains(c));
            if !(part || (exponent && "+-".contains(c))) {
                break;
            }
            end = place + c.len_utf8();
        }
        let number = rest[..end].parse().ok().filter(|number: &f64| number.is_finite());
        let number = number.ok_or_else(|| self.wrong("a number"))?;
        self.at += end;
        Ok(number)
    }

    fn name(&mut self, what: &str) -> Result<&'t str, Wrong> {
        let rest = self.rest();
        let inside = |c: char| c.is_ascii_alphanumeric() || "_.".contains(c);
        let end = rest.find(|c: char| !inside(c)).unwrap_or(rest.len());
        let name = &rest[..end];
        if name.is_empty() {
            return Err(self.wrong(what));
        }
        self.at += name.len();
        Ok(name)
    }

    fn named(&mut self) -> Result<Expression, Wrong> {
        let began = self.at;
        let name = self.name("a metric")?;
        if !self.take("(") {
            return Ok(Expression::Observed(Reference { metric: name.to_string(), labels: self.labels()? }));
        }
        let fold = Fold::ALL.iter().find(|(known, _)| *known == name).map(|(_, fold)| *fold);
        if fold.is_none() && name != "abs" {
            let known = std::iter::once("abs").chain(Fold::ALL.iter().map(|(known, _)| *known));
            let help = did_you_mean(name, &known.collect::<Vec<_>>());
            let message = format!("unknown function `{name}`: {help}");
            return Err(Wrong { span: began..began + name.len(), message });
        }
        let first = self.sum()?;
        let call = match fold {
            None => Expression::Absolute(Box::new(first)),
            Some(fold) if self.take("over ") => Expression::Along(fold, Box::new(first), self.axis()?),
            Some(fold @ (Fold::Min | Fold::Max)) => {
                let mut several = vec![first];
                while self.take(",") {
                    several.push(self.sum()?);
                }
                Expression::Extreme(fold, several)
            }
            Some(_) => return Err(self.wrong("`over` and an axis")),
        };
        self.expect(")")?;
        Ok(call)
    }

    fn axis(&mut self) -> Result<Axis, Wrong> {
        let name = self.name("an axis")?.to_string();
        let part = if self.take("from ") {
            let from = self.number()?;
            self.expect("to ")?;
            Part::Between(from, self.number()?)
        } else if self.take("in ") {
            self.expect("(")?;
            let mut only = vec![self.label(")")?];
            while self.take(",") {
                only.push(self.label(")")?);
            }
            self.expect(")")?;
            Part::Only(only)
        } else {
            Part::All
        };
        Ok(Axis { name, part })
    }

    fn labels(&mut self) -> Result<Labels, Wrong> {
        let mut labels = Labels::new();
        if !self.take("[") {
            return Ok(labels);
        }
        loop {
            let axis = self.name("an axis")?.to_string();
            self.expect("=")?;
            let label = self.label("]")?;
            labels.insert(axis, label);
            if !self.take(",") {
                break;
            }
        }
        self.expect("]")?;
        Ok(labels)
    }

    /// The text up to a comma or `closing`.
    fn label(&mut self, closing: &str) -> Result<String, Wrong> {
        let rest = self.rest();
        let end = rest.find(|c: char| c == ',' || closing.contains(c)).unwrap_or(rest.len());
        let label = rest[..end].trim_end();
        if label.is_empty() {
            return Err(self.wrong("a label"));
        }
        self.at += label.len();
        Ok(label.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str) -> String {
        fn one(expression: &Expression) -> String {
            match expression {
                Expression::Number(number) => number.to_string(),
                Expression::Observed(reference) => reference.to_string(),
                Expression::Negative(inner) => format!("-{}", one(inner)),
                Expression::Pair(left, operator, right) => {
                    format!("({} {operator:?} {})", one(left), one(right))
                }
                Expression::Absolute(inner) => format!("|{}|", one(inner)),
                Expression::Extreme(fold, several) => {
                    format!("{fold:?}{:?}", several.iter().map(one).collect::<Vec<_>>())
                }
                Expression::Along(fold, inner, axis) => {
                    format!("{fold:?} {} over {} {:?}", one(inner), axis.name, axis.part)
                }
            }
        }
        one(&expression(text).unwrap())
    }

    #[test]
    fn products_bind_tighter_than_sums_and_both_associate_to_the_left() {
        assert_eq!(show("1 - 2 - 3 * 4 / 2"), "((1 Minus 2) Minus ((3 Times 4) Over 2))");
        assert_eq!(show("-(1.5e-3 + 2)"), "-(0.0015 Plus 2)");
    }

    #[test]
    fn labels_may_have_slashes_and_spaces() {
        assert_eq!(
            show("u[scheme=sack/red-ecn, group=first hop]"),
            "u[group=first hop, scheme=sack/red-ecn]"
        );
        assert_eq!(
            show("max(abs(a - b) over group in (set 1, set 2))"),
            "Max |(a Minus b)| over group Only([\"set 1\", \"set 2\"])"
        );
        assert_eq!(show("mean(q over time from 100 to 300)"), "Mean q over time Between(100.0, 300.0)");
        assert_eq!(show("min(a, 1)"), "Min[\"a\", \"1\"]");
    }

    #[test]
    fn a_syntax_error_has_its_place() {
        for (text, start, part) in [
            ("a <= ", 5, "found the end"),
            ("a = 3", 2, "a comparison"),
            ("a <= b c", 7, "the end, or an operator"),
            ("q[scheme=] < 1", 9, "a label"),
            ("median(a over b) < 1", 0, "unknown function `median`"),
            ("mean(a) < 1", 6, "`over`"),
            ("a < 1e999", 4, "a number"),
        ] {
            let wrong = check(text).unwrap_err();
            assert_eq!(wrong.span.start, start, "{text}: {wrong:?}");
            assert!(wrong.message.contains(part), "{text}: {wrong:?}");
        }
        assert!(check(&format!("{}1 < 2", "(".repeat(1000))).is_err());
        assert!(check(&format!("{}1 < 2", "1+".repeat(100_000))).is_err());
        assert!(check(&format!("{}1 < 2", "1+".repeat(1_900))).is_ok());
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Assertions about the state of the sender: `%{ assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd }%`.
//!
//! In packetdrill this is Python; here it is the part of Python that such assertions use.
//!
//! ```text
//! code      = statement { ( newline | ";" ) statement }
//! statement = "assert" either [ "," … ]  |  name ( "=" | "+=" | "-=" ) either  |  "print" "(" … ")"
//! either    = both { "or" both }
//! both      = negated { "and" negated }
//! negated   = "not" negated  |  sum { ( "==" | "!=" | "<=" | ">=" | "<" | ">" ) sum }
//! sum       = product { ( "+" | "-" ) product }
//! product   = factor { ( "*" | "//" | "%" ) factor }
//! factor    = integer | name | "-" factor | "(" either ")"
//! ```

use std::ops::Range;

use super::cursor::Cursor;
use super::fields::{CONSTANTS, FIELDS};
use crate::fault::Fault;
use crate::suggest::did_you_mean;

/// A step of a piece of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Statement {
    /// Must hold; its place.
    Assert(Expression, Range<usize>),
    /// Sets a variable.
    Set(String, Expression),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Plus,
    Minus,
    Times,
    Over,
    Modulo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    Equal,
    Unequal,
    AtMost,
    AtLeast,
    Less,
    Greater,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expression {
    Number(i64),
    /// A field of the state, by its place in the table.
    Field(usize),
    Variable(String),
    Negative(Box<Expression>),
    Not(Box<Expression>),
    Pair(Box<Expression>, Operator, Box<Expression>),
    /// Each relation holds between its neighbours.
    Chain(Box<Expression>, Vec<(Sign, Expression)>),
    Both(Box<Expression>, Box<Expression>),
    Either(Box<Expression>, Box<Expression>),
}

/// Deeper nesting and longer sums are not hand-written, and would exhaust the stack.
const DEEPEST: usize = 64;
const LONGEST: usize = 256;

const SIGNS: [(&str, Sign); 6] = [
    ("==", Sign::Equal),
    ("!=", Sign::Unequal),
    ("<=", Sign::AtMost),
    (">=", Sign::AtLeast),
    ("<", Sign::Less),
    (">", Sign::Greater),
];
const SUMS: [(&str, Operator); 2] = [("+", Operator::Plus), ("-", Operator::Minus)];
const PRODUCTS: [(&str, Operator); 3] =
    [("*", Operator::Times), ("//", Operator::Over), ("%", Operator::Modulo)];

/// The code between `%{` and `}%`, which is all the text of the cursor. `known` are the variables that earlier code has set.
pub(super) fn read(cursor: Cursor, known: &mut Vec<String>) -> Result<Vec<Statement>, Fault> {
    let mut reader = Reader { cursor, known, depth: 0, terms: 0 };
    let mut statements = Vec::new();
    loop {
        reader.between();
        reader.terms = 0;
        if reader.cursor.is_at_end() {
            return Ok(statements);
        }
        statements.extend(reader.statement()?);
        reader.blank();
        if !(reader.cursor.is_at_end() || ["\n", ";", "#"].iter().any(|end| reader.cursor.next_is(end))) {
            return Err(reader.cursor.expected("the end of the statement, or an operator"));
        }
    }
}

struct Reader<'t, 'k> {
    cursor: Cursor<'t>,
    known: &'k mut Vec<String>,
    depth: usize,
    /// Terms of this statement.
    terms: usize,
}

impl Reader<'_, '_> {
    /// Past blanks; a backslash continues the line.
    fn blank(&mut self) {
        loop {
            self.cursor.run(|c| c != '\n' && c.is_whitespace());
            if !(self.cursor.take("\\\n") || self.cursor.take("\\\r\n")) {
                return;
            }
        }
    }

    /// Skips separators of statements.
    fn between(&mut self) {
        loop {
            self.blank();
            self.cursor.run(|c| c == ';' || c.is_whitespace());
            if self.cursor.next_is("#") {
                self.cursor.skip_line();
            } else if !self.cursor.next_is("\\\n") {
                return;
            }
        }
    }

    fn take(&mut self, token: &str) -> bool {
        self.blank();
        self.cursor.take(token)
    }

    /// Takes a word that does not continue.
    fn word(&mut self, word: &str) -> bool {
        self.blank();
        let before = self.cursor;
        let taken = self.cursor.name() == word;
        if !taken {
            self.cursor = before;
        }
        taken
    }

    fn statement(&mut self) -> Result<Option<Statement>, Fault> {
        let began = self.cursor.at;
        if self.word("assert") {
            let condition = self.either()?;
            let place = began..self.cursor.at;
            if self.take(",") {
                self.skip_statement();
            }
            return Ok(Some(Statement::Assert(condition, place)));
        }
        let name = self.cursor.name();
        let named = began..self.cursor.at;
        if name == "print" {
            self.skip_statement();
            return Ok(None);
        }
        if name.is_empty() {
            return Err(self.cursor.expected("`assert`, `print` or a variable"));
        }
        self.assignment(name.to_string(), &named).map(Some)
    }

    fn assignment(&mut self, name: String, named: &Range<usize>) -> Result<Statement, Fault> {
        if name.starts_with("tcpi_") || ["and", "or", "not", "if", "for", "import"].contains(&name.as_str()) {
            let help = "write `assert …`, `print(…)` or `variable = …`";
            return Err(Fault::at(
                named.clone(),
                format!("`{name}` begins no statement of the subset"),
                help,
            ));
        }
        let steps = [("+=", Some(Operator::Plus)), ("-=", Some(Operator::Minus)), ("=", None)];
        let step = steps.iter().find(|(token, _)| self.take(token));
        let Some((_, step)) = step else {
            return Err(self.cursor.expected("`=`, `+=` or `-=`"));
        };
        let before =
            step.map(|operator| Ok::<_, Fault>((self.named(&name, named)?, operator))).transpose()?;
        let value = self.either()?;
        if !self.known.contains(&name) {
            self.known.push(name.clone());
        }
        let value = match before {
            Some((left, operator)) => Expression::Pair(Box::new(left), operator, Box::new(value)),
            None => value,
        };
        Ok(Statement::Set(name, value))
    }

    /// To the end of the statement, past texts and brackets.
    fn skip_statement(&mut self) {
        let mut quote = None;
        loop {
            self.blank();
            let Some(next) = self.cursor.rest().chars().next() else { return };
            match (quote, next) {
                (Some(open), _) if open == next => quote = None,
                (None, '"' | '\'') => quote = Some(next),
                (None, ';' | '#') | (_, '\n') => return,
                _ => {}
            }
            self.cursor.at += next.len_utf8();
        }
    }

    fn either(&mut self) -> Result<Expression, Fault> {
        let mut left = self.both()?;
        while self.word("or") {
            left = Expression::Either(Box::new(left), Box::new(self.both()?));
        }
        Ok(left)
    }

    fn both(&mut self) -> Result<Expression, Fault> {
        let mut left = self.negated()?;
        while self.word("and") {
            left = Expression::Both(Box::new(left), Box::new(self.negated()?));
        }
        Ok(left)
    }

    fn negated(&mut self) -> Result<Expression, Fault> {
        self.deeper(|reader| {
            if reader.word("not") {
                return Ok(Expression::Not(Box::new(reader.negated()?)));
            }
            let first = reader.sum()?;
            let mut chain = Vec::new();
            while let Some((_, sign)) = SIGNS.iter().find(|(sign, _)| reader.take(sign)) {
                chain.push((*sign, reader.sum()?));
            }
            Ok(if chain.is_empty() { first } else { Expression::Chain(Box::new(first), chain) })
        })
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let place = self.cursor.at..self.cursor.at;
            let message = format!("the expression is nested deeper than {DEEPEST} levels");
            return Err(Fault::at(place, message, "split it with a variable"));
        }
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn sum(&mut self) -> Result<Expression, Fault> {
        self.left_to_right(&SUMS, Reader::product)
    }

    fn product(&mut self) -> Result<Expression, Fault> {
        self.left_to_right(&PRODUCTS, Reader::factor)
    }

    fn left_to_right(
        &mut self,
        operators: &[(&str, Operator)],
        operand: fn(&mut Self) -> Result<Expression, Fault>,
    ) -> Result<Expression, Fault> {
        let mut left = operand(self)?;
        while let Some((_, operator)) = operators.iter().find(|(token, _)| self.take(token)) {
            left = Expression::Pair(Box::new(left), *operator, Box::new(operand(self)?));
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Expression, Fault> {
        self.deeper(|reader| {
            reader.blank();
            let began = reader.cursor.at;
            reader.terms += 1;
            if reader.terms > LONGEST {
                let message = format!("the statement has more than {LONGEST} terms");
                return Err(Fault::at(began..began, message, "split it with a variable"));
            }
            if reader.take("-") {
                return Ok(Expression::Negative(Box::new(reader.factor()?)));
            }
            if reader.take("(") {
                let inner = reader.either()?;
                reader.blank();
                reader.cursor.expect(")")?;
                return Ok(inner);
            }
            let name = reader.cursor.name();
            if !name.is_empty() {
                return reader.named(name, &(began..reader.cursor.at));
            }
            reader.number()
        })
    }

    fn number(&mut self) -> Result<Expression, Fault> {
        let began = self.cursor.at;
        let word = self.cursor.run(|c| c.is_ascii_alphanumeric() || c == '.');
        let number = match word.strip_prefix("0x") {
            Some(digits) => i64::from_str_radix(digits, 16),
            None => word.parse(),
        };
        number.map(Expression::Number).map_err(|_| {
            self.cursor.at = began;
            self.cursor.expected("an integer, a `tcpi_` field, a variable or `(`")
        })
    }

    /// The value of a name.
    fn named(&self, name: &str, place: &Range<usize>) -> Result<Expression, Fault> {
        if self.known.iter().any(|known| known == name) {
            return Ok(Expression::Variable(name.to_string()));
        }
        if let Some(field) = FIELDS.iter().position(|(field, _)| *field == name) {
            return Ok(Expression::Field(field));
        }
        if let Some((_, value)) = CONSTANTS.iter().find(|(known, _)| *known == name) {
            return Ok(Expression::Number(*value));
        }
        let fields = FIELDS.iter().map(|(known, _)| *known);
        let variables = self.known.iter().map(String::as_str);
        let known: Vec<&str> =
            fields.chain(CONSTANTS.iter().map(|(known, _)| *known)).chain(variables).collect();
        let what = if name.starts_with("tcpi_") { "the simulated host keeps no" } else { "nothing is named" };
        Err(Fault::at(place.clone(), format!("{what} `{name}`"), did_you_mean(name, &known)))
    }
}

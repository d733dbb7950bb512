// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A place in the text of a script, and the tokens that begin there.

use std::ops::Range;

use crate::fault::Fault;

/// A place in a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'t> {
    pub text: &'t str,
    pub at: usize,
}

impl<'t> Cursor<'t> {
    pub fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub fn is_at_end(&self) -> bool {
        self.at == self.text.len()
    }

    pub fn next_is(&self, token: &str) -> bool {
        self.rest().starts_with(token)
    }

    /// Takes a token if it is next.
    pub fn take(&mut self, token: &str) -> bool {
        let taken = self.next_is(token);
        self.at += if taken { token.len() } else { 0 };
        taken
    }

    /// Takes the characters that `belongs` accepts.
    pub fn run(&mut self, belongs: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Takes a name: letters, digits and underscores, no digit first.
    pub fn name(&mut self) -> &'t str {
        if self.rest().starts_with(|c: char| c.is_ascii_digit()) {
            return "";
        }
        self.run(|c| c.is_ascii_alphanumeric() || c == '_')
    }

    /// Takes everything before `token`, and the token; nothing if it does not follow.
    pub fn through(&mut self, token: &str) -> Option<Range<usize>> {
        let begin = self.at;
        let length = self.rest().find(token)?;
        self.at += length + token.len();
        Some(begin..begin + length)
    }

    /// Goes to the end of the line.
    pub fn skip_line(&mut self) {
        self.run(|c| c != '\n');
    }

    /// Goes past blanks and comments that end on this line.
    pub fn blank(&mut self) {
        loop {
            self.run(|c| c != '\n' && c.is_whitespace());
            if self.next_is("//") || self.next_is("#") {
                self.skip_line();
            }
            if !self.next_is("/*") || self.through("*/").is_none() {
                return;
            }
        }
    }

    /// Goes past blanks, comments and ends of lines.
    pub fn gap(&mut self) {
        loop {
            self.blank();
            if !self.take("\n") {
                return;
            }
        }
    }

    /// A number of a header field.
    pub fn number(&mut self, what: &str) -> Result<u32, Fault> {
        let begin = self.at;
        let digits = self.run(|c| c.is_ascii_digit());
        if digits.is_empty() {
            return Err(self.expected(what));
        }
        digits.parse().map_err(|_| {
            let message = format!("{what} is `{digits}`, which header fields cannot hold");
            Fault::at(begin..self.at, message, format!("write a number up to {}", u32::MAX))
        })
    }

    /// Takes a token that must be next.
    pub fn expect(&mut self, token: &str) -> Result<(), Fault> {
        if self.take(token) { Ok(()) } else { Err(self.expected(&format!("`{token}`"))) }
    }

    /// The fault that something else was expected here.
    pub fn expected(&self, what: &str) -> Fault {
        let rest = self.rest();
        let length = rest.find(|c: char| c.is_whitespace() || ",;()<>".contains(c)).unwrap_or(rest.len());
        let length = if length == 0 { rest.chars().next().map_or(0, char::len_utf8) } else { length };
        let shown: String = rest[..length].chars().take(40).collect();
        let found = match shown.as_str() {
            "" => "the end of the script".to_string(),
            "\n" => "the end of the line".to_string(),
            other => format!("`{}`", other.escape_default()),
        };
        Fault::at(
            self.at..self.at + length,
            format!("expected {what}, found {found}"),
            "docs/drill.md shows the syntax",
        )
    }
}

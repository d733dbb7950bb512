// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Written forms that only scenarios use: an instant or an interval, a buffer, a name, words, names in a list.

use std::fmt;
use std::str::FromStr;

use crate::settings::{Or, Raw, Setting, Unlimited};
use crate::units::{Bytes, Interval, Rate, Span, Time, number_and_unit};

/// An instant, or an interval from which each member draws its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Start(pub Interval);

impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if self.0.from == self.0.to { self.0.from.fmt(f) } else { self.0.fmt(f) }
    }
}
impl FromStr for Start {
    type Err = String;
    fn from_str(text: &str) -> Result<Start, String> {
        if text.contains("..") {
            return text.parse().map(Start);
        }
        let at: Time = text.parse().map_err(|error| format!("{error}, or `0s..50s`"))?;
        Ok(Start(Interval { from: at, to: at }))
    }
}
impl Setting for Start {
    const KIND: &'static str = "time or interval";
    const JSON: &'static [&'static str] = &["string"];
    fn read(raw: &Raw) -> Result<Start, String> {
        written(raw)
    }
}

/// The capacity of a queue.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub enum Buffer {
    /// Multiples of the bandwidth-delay product, counted in payloads.
    Bdp(f64),
    /// Packets.
    Packets(u32),
    /// Bytes.
    Data(Bytes),
    /// The bytes transmitted by the link in this time.
    Time(Span),
}

/// Larger buffers would exhaust memory.
pub const GREATEST_BUFFER: u32 = 1 << 24;

impl fmt::Display for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Buffer::Bdp(times) => write!(f, "{times}bdp"),
            Buffer::Packets(packets) => write!(f, "{packets}pkt"),
            Buffer::Data(bytes) => bytes.fmt(f),
            Buffer::Time(span) => span.fmt(f),
        }
    }
}
impl Buffer {
    /// For people: `1 BDP`, `750 packets`.
    pub fn people(&self) -> String {
        match self {
            Buffer::Bdp(times) => format!("{times} BDP"),
            Buffer::Packets(1) => "1 packet".into(),
            Buffer::Packets(packets) => format!("{packets} packets"),
            Buffer::Data(bytes) => bytes.people(),
            Buffer::Time(span) => span.people(),
        }
    }
}
impl FromStr for Buffer {
    type Err = String;
    fn from_str(text: &str) -> Result<Buffer, String> {
        let wrong = || format!("`{text}` is not a buffer: write `1bdp`, `750pkt`, `500kb` or `100ms`");
        let (number, unit) = number_and_unit(text).ok_or_else(wrong)?;
        let whole = number.fract() == 0.0 && (1.0..=f64::from(GREATEST_BUFFER)).contains(&number);
        match unit.to_ascii_lowercase().as_str() {
            "bdp" if (0.001..=10_000.0).contains(&number) => Ok(Buffer::Bdp(number)),
            "bdp" => Err(format!("`{text}` is outside the allowed range, 0.001bdp to 10000bdp")),
            "pkt" | "packet" | "packets" if whole => Ok(Buffer::Packets(number as u32)),
            "pkt" | "packet" | "packets" => {
                Err(format!("`{text}` is not a whole number of packets from 1pkt to {GREATEST_BUFFER}pkt"))
            }
            _ => text
                .parse()
                .map(Buffer::Time)
                .or_else(|_| text.parse().map(Buffer::Data))
                .map_err(|_| wrong()),
        }
    }
}
impl Setting for Buffer {
    const KIND: &'static str = "buffer";
    const JSON: &'static [&'static str] = &["string"];
    fn read(raw: &Raw) -> Result<Buffer, String> {
        written(raw)
    }
}

/// A name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name(pub String);

/// Bytes of a name.
const LONGEST_NAME: usize = 100;

/// A text as a valid name of a scenario: of limited length, cut with an ellipsis, and with a space for each control character.
pub fn fitting_name(text: &str) -> String {
    shortened(&text.replace(char::is_control, " "), LONGEST_NAME)
}

/// A text of at most this many bytes, cut between characters, with an ellipsis for a cut end.
fn shortened(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_string();
    }
    format!("{}…", &text[..text.floor_char_boundary(most - '…'.len_utf8())])
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}
impl Setting for Name {
    const KIND: &'static str = "name";
    const JSON: &'static [&'static str] = &["string"];
    fn read(raw: &Raw) -> Result<Name, String> {
        match raw {
            Raw::Text(text) if text.trim().is_empty() => Err("the name is empty".into()),
            Raw::Text(text) if text.len() > LONGEST_NAME => {
                Err(format!("the name is longer than {LONGEST_NAME} bytes"))
            }
            Raw::Text(text) if text.chars().any(char::is_control) => {
                Err("the name contains a control character".into())
            }
            Raw::Text(text) => Ok(Name(text.clone())),
            _ => Err(format!("{raw} is not a name: put it in quotes")),
        }
    }
}

/// Words for people: a sentence, a title.
#[derive(Clone, Debug, Default, PartialEq, PartialOrd)]
pub struct Words(pub String);

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Setting for Words {
    const KIND: &'static str = "text";
    const JSON: &'static [&'static str] = &["string"];
    fn read(raw: &Raw) -> Result<Words, String> {
        match raw {
            Raw::Text(text) if text.len() > 4000 => Err("the text is longer than 4000 bytes".into()),
            // A text over several lines of the file is one line for its reader.
            Raw::Text(text) => Ok(Words(text.split_whitespace().collect::<Vec<_>>().join(" "))),
            _ => Err(format!("{raw} is not text: put it in quotes")),
        }
    }
}

/// Names in a list, or one alone; `none` is not a name.
#[derive(Clone, Debug, Default, PartialEq, PartialOrd)]
pub struct Names(pub Vec<String>);

/// The word for no name.
const NO_NAME: &str = "none";

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if self.0.is_empty() { f.write_str(NO_NAME) } else { f.write_str(&self.0.join(", ")) }
    }
}

impl Setting for Names {
    const KIND: &'static str = "list of names";
    const JSON: &'static [&'static str] = &["string", "array"];
    fn read(raw: &Raw) -> Result<Names, String> {
        let one = |name: &Raw| match name {
            Raw::Text(text) if !text.trim().is_empty() => Ok(text.clone()),
            _ => Err(format!("{name} is not a name: put it in quotes")),
        };
        match raw {
            Raw::Text(word) if word == NO_NAME => Ok(Names::default()),
            Raw::List(several) if several.is_empty() => Err(format!("the list is empty: write `{NO_NAME}`")),
            Raw::List(several) => several.iter().map(one).collect::<Result<_, _>>().map(Names),
            alone => one(alone).map(|name| Names(vec![name])),
        }
    }
}

/// A rate, or unlimited.
pub type Pace = Or<Rate, Unlimited>;

fn written<T: FromStr<Err = String>>(raw: &Raw) -> Result<T, String> {
    match raw {
        Raw::Text(text) => text.parse(),
        // A bare number fails in the parser, whose message shows a unit.
        _ => raw.to_string().parse(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Raw {
        Raw::Text(text.into())
    }

    #[test]
    fn every_form_reads_what_it_prints() {
        for buffer in ["1bdp", "0.5bdp", "750pkt", "500kb", "100ms"] {
            let read = Buffer::read(&text(buffer)).unwrap();
            assert_eq!(read.to_string(), buffer);
            assert_eq!(Buffer::read(&text(&read.people())), Ok(read), "{}", read.people());
        }
        for start in ["10s", "0s..50s"] {
            assert_eq!(Start::read(&text(start)).unwrap().to_string(), start);
        }
    }

    #[test]
    fn names_are_a_list_or_one_and_none_is_a_word() {
        let read = |raw: &Raw| Names::read(raw).map(|names| names.0.join("|"));
        assert_eq!(read(&text("a")).unwrap(), "a");
        assert_eq!(read(&Raw::List(vec![text("a"), text("b")])).unwrap(), "a|b");
        assert_eq!(
            (read(&text("none")).unwrap(), Names::default().to_string()),
            (String::new(), "none".into())
        );
        assert!(read(&text(" ")).is_err() && read(&Raw::List(Vec::new())).unwrap_err().contains("`none`"));
    }

    #[test]
    fn a_wrong_form_shows_the_right_ones() {
        assert!(Buffer::read(&Raw::Integer(750)).unwrap_err().contains("750pkt"));
        assert!(Buffer::read(&text("0pkt")).unwrap_err().contains("1pkt"));
        assert!(Start::read(&text("soon")).unwrap_err().contains("0s..50s"));
        assert!(Pace::read(&Raw::Integer(1)).unwrap_err().contains("unlimited"));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Written forms that several settings share: a word instead of a value, a list, a value that applies from an instant.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt;
use core::marker::PhantomData;
use core::ops::RangeInclusive;

use super::{Raw, Setting};
use crate::units::Span;

/// A word that is given instead of a value.
pub trait Word: Clone + fmt::Debug + PartialEq {
    /// The word.
    const WORD: &'static str;
}

macro_rules! words {
    ($( $(#[doc = $doc:literal])* $name:ident = $word:literal, )*) => { $(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name;
        impl Word for $name { const WORD: &'static str = $word; }
    )* };
}
words! {
    /// The value follows from the rest of the scenario, as the field's sentence says.
    Auto = "auto",
    /// It does not happen.
    Never = "never",
    /// The round-trip time of each flow without queues.
    Rtt = "rtt",
    /// There is no bound.
    Unlimited = "unlimited",
    /// There is none.
    Without = "none",
    /// The data is in the scenario itself, not in a file.
    Inline = "inline",
}

/// A value, or a word instead.
#[derive(Clone, Debug, PartialEq)]
pub struct Or<T, W> {
    value: Option<T>,
    word: PhantomData<W>,
}

impl<T, W> Or<T, W> {
    /// The word.
    pub const WORD: Or<T, W> = Or { value: None, word: PhantomData };

    /// The value.
    pub const fn is(value: T) -> Or<T, W> {
        Or { value: Some(value), word: PhantomData }
    }
    /// The value, unless it is the word.
    pub fn get(&self) -> Option<&T> {
        self.value.as_ref()
    }
}

impl<T: PartialOrd, W: Word> PartialOrd for Or<T, W> {
    fn partial_cmp(&self, other: &Or<T, W>) -> Option<Ordering> {
        self.value.partial_cmp(&other.value)
    }
}
impl<T: fmt::Display, W: Word> fmt::Display for Or<T, W> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match &self.value {
            Some(value) => value.fmt(f),
            None => f.write_str(W::WORD),
        }
    }
}
impl<T: Setting, W: Word> Setting for Or<T, W> {
    const KIND: &'static str = T::KIND;
    const JSON: &'static [&'static str] = T::JSON;

    fn read(raw: &Raw) -> Result<Or<T, W>, String> {
        match raw {
            Raw::Text(text) if text == W::WORD => Ok(Or::WORD),
            _ => T::read(raw).map(Or::is).map_err(|error| format!("{error}, or `{}`", W::WORD)),
        }
    }
    fn within(&self, range: &RangeInclusive<Or<T, W>>) -> bool {
        match (&self.value, &range.start().value, &range.end().value) {
            (Some(value), Some(least), Some(greatest)) => value.within(&(least.clone()..=greatest.clone())),
            _ => true,
        }
    }
    fn describe(range: &RangeInclusive<Or<T, W>>) -> String {
        format!("{} to {}, or `{}`", range.start(), range.end(), W::WORD)
    }
}

/// One value, or several: used in turn by the members of a group, or effective one after another. Clones share the values.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub struct List<T>(Arc<[T]>);

impl<T> List<T> {
    /// One value for all.
    pub fn one(value: T) -> List<T> {
        List(Arc::from([value]))
    }
    /// The values, as written.
    pub fn values(&self) -> &[T] {
        &self.0
    }
}
impl<T> From<Vec<T>> for List<T> {
    fn from(values: Vec<T>) -> List<T> {
        List(values.into())
    }
}
impl<T: fmt::Display> fmt::Display for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match &*self.0 {
            [one] => one.fmt(f),
            many => write!(f, "[{}]", many.iter().map(T::to_string).collect::<Vec<_>>().join(", ")),
        }
    }
}
impl<T: Setting> Setting for List<T> {
    const KIND: &'static str = T::KIND;
    const JSON: &'static [&'static str] = T::LISTED;

    fn read(raw: &Raw) -> Result<List<T>, String> {
        match raw {
            Raw::List(values) if values.is_empty() => Err("the list is empty: give one value or more".into()),
            Raw::List(values) => values.iter().map(T::read).collect::<Result<Vec<_>, _>>().map(List::from),
            one => T::read(one).map(List::one),
        }
    }
    fn within(&self, range: &RangeInclusive<List<T>>) -> bool {
        match (range.start().0.first(), range.end().0.first()) {
            (Some(least), Some(greatest)) => {
                let each = least.clone()..=greatest.clone();
                self.0.iter().all(|value| value.within(&each))
            }
            _ => true,
        }
    }
}

/// A value that holds from an instant on, written `5s: 2mbit`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Timed<T> {
    /// The instant, from the start of the run.
    pub at: Span,
    /// The value.
    pub value: T,
}

impl<T: fmt::Display> fmt::Display for Timed<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.value)
    }
}
impl<T: Setting> Setting for Timed<T> {
    const KIND: &'static str = "time and value";
    const JSON: &'static [&'static str] = &["string"];

    fn read(raw: &Raw) -> Result<Timed<T>, String> {
        let wrong = || format!("{raw} is not a time and a {}: write them as in `5s: VALUE`", T::KIND);
        let Raw::Text(text) = raw else { return Err(wrong()) };
        let (at, value) = text.split_once(':').ok_or_else(wrong)?;
        Ok(Timed { at: at.trim().parse()?, value: T::read(&Raw::guess(value.trim()))? })
    }
    fn within(&self, range: &RangeInclusive<Timed<T>>) -> bool {
        (range.start().at..=range.end().at).contains(&self.at)
            && self.value.within(&(range.start().value.clone()..=range.end().value.clone()))
    }
}

/// The path of a file, which the library itself does not open: its text replaces the field declared before.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub struct FilePath(pub String);

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}
impl Setting for FilePath {
    const KIND: &'static str = "path";
    const JSON: &'static [&'static str] = &["string"];
    fn read(raw: &Raw) -> Result<FilePath, String> {
        match raw {
            Raw::Text(text) if !text.is_empty() => Ok(FilePath(text.clone())),
            _ => Err(format!("{raw} is not a path: put it in quotes")),
        }
    }
}

/// Whether the instants of `steps` increase; the sentence names the first that does not.
pub fn increasing<T>(name: &str, steps: &[Timed<T>]) -> Result<(), String> {
    match steps.windows(2).find(|two| two[0].at >= two[1].at) {
        Some(two) => {
            Err(format!("{name}: {} is followed by {}: let the times increase", two[0].at, two[1].at))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Rate;

    fn text(text: &str) -> Raw {
        Raw::Text(text.into())
    }

    #[test]
    fn every_form_reads_what_it_prints() {
        for stop in ["never", "300s"] {
            assert_eq!(Or::<Span, Never>::read(&text(stop)).unwrap().to_string(), stop);
        }
        assert_eq!(Timed::<Rate>::read(&text("5s: 2mbit")).unwrap().to_string(), "5s: 2mbit");
        assert_eq!(Timed::<u64>::read(&text("5s:2")), Ok(Timed { at: Span::from_secs(5), value: 2 }));
    }

    #[test]
    fn a_wrong_form_shows_the_right_one() {
        assert!(List::<Span>::read(&Raw::List(vec![])).unwrap_err().contains("empty"));
        assert!(Timed::<Rate>::read(&text("2mbit")).unwrap_err().contains("5s: VALUE"));
        assert!(Timed::<Rate>::read(&text("5s: fast")).unwrap_err().contains("mbit"));
        let step = |at, value| Timed { at: Span::from_secs(at), value };
        assert!(
            increasing("rates", &[step(1, 5), step(1, 6)])
                .unwrap_err()
                .contains("rates: 1s is followed by 1s")
        );
    }
}

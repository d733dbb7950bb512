// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Rolls: transfers one by one, each with its start, its stop and its size, as a list or from a CSV file.
//!
//! ```text
//! group,start_s,stop_s,size_bytes     the header: the start is required, an empty cell is left to the group
//! long,0,60,
//! short,2.5,,100000
//! ```
//!
//! A file may list the transfers of several groups, each of which takes the rows with its name.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::csv::{GROUP, SIZE, START, STOP, is_csv, rows};
use crate::settings::{Raw, Setting};
use crate::units::{Bytes, Span};

/// A transfer of a roll.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub struct Entry {
    /// Its group, if the roll names it.
    pub group: Option<String>,
    /// The time at which it starts.
    pub start: Span,
    /// The time at which it stops sending new data, if the roll gives it.
    pub stop: Option<Span>,
    /// Its size, if the roll gives it.
    pub size: Option<Bytes>,
}

/// Transfers in the given order.
#[derive(Clone, Debug, Default, PartialEq, PartialOrd)]
pub struct Roll(Arc<[Entry]>);

const TIMES: RangeInclusive<Span> = Span::ZERO..=Span::from_secs(1_000_000);
const SIZES: RangeInclusive<Bytes> = Bytes(1)..=Bytes(1_000_000_000_000_000);

impl Roll {
    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The transfers of a group.
    pub fn of<'r>(&'r self, group: &'r str) -> impl Iterator<Item = &'r Entry> {
        self.0.iter().filter(move |entry| entry.group.as_deref().is_none_or(|own| own == group))
    }

    /// A transfer as written: `2s`, `2s..10s`, `2s 100kb`, `2s..10s 100kb`.
    fn entry(raw: &Raw) -> Result<Entry, String> {
        let wrong = || {
            format!(
                "{raw} is not a transfer: write its start, its stop and its size, as in `2s..10s`, `2s 100kb`"
            )
        };
        let Raw::Text(text) = raw else { return Err(wrong()) };
        let (times, size) =
            text.trim().split_once(' ').map_or((text.trim(), None), |(times, size)| (times, Some(size)));
        let (start, stop) = times.split_once("..").map_or((times, None), |(start, stop)| (start, Some(stop)));
        let entry = Entry {
            group: None,
            start: start.parse().map_err(|_| wrong())?,
            stop: stop.map(|stop| stop.trim().parse()).transpose().map_err(|_| wrong())?,
            size: size.map(|size| size.trim().parse()).transpose().map_err(|_| wrong())?,
        };
        let told = [Some(entry.start), entry.stop];
        let allowed = told.into_iter().flatten().all(|time| TIMES.contains(&time))
            && entry.size.is_none_or(|bytes| SIZES.contains(&bytes));
        if allowed {
            return entry.checked();
        }
        let (range, sizes) = (Span::describe(&TIMES), Bytes::describe(&SIZES));
        Err(format!("{raw} is outside the allowed range: times {range}, sizes {sizes}"))
    }
}

impl Entry {
    fn checked(self) -> Result<Entry, String> {
        match self.stop.filter(|stop| *stop <= self.start) {
            Some(stop) => Err(format!("a stop at {stop} is not after the start, {}", self.start)),
            None => Ok(self),
        }
    }
}

impl fmt::Display for Roll {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let entry = |Entry { start, stop, size, .. }: &Entry| {
            let stop = stop.map_or(String::new(), |stop| format!("..{stop}"));
            let size = size.map_or(String::new(), |size| format!(" {size}"));
            format!("{start}{stop}{size}")
        };
        let entries: Vec<String> = self.0.iter().map(entry).collect();
        match &entries[..] {
            [] => f.write_str("none"),
            [one] => f.write_str(one),
            many => write!(f, "[{}]", many.join(", ")),
        }
    }
}

impl Setting for Roll {
    const KIND: &'static str = "list of transfers";
    const JSON: &'static [&'static str] = &["string", "array"];

    fn read(raw: &Raw) -> Result<Roll, String> {
        let entries = match raw {
            Raw::Text(text) if text == "none" => Vec::new(),
            Raw::Text(text) if is_csv(text) => rows(text, &[START, STOP, SIZE, GROUP], |cells| {
                let (start, stop) = (cells.first(TIMES)?, cells.get(1, TIMES)?);
                let (size, group) = (cells.get(2, SIZES)?, cells.text(3).map(String::from));
                let entry = Entry { group, start, stop, size };
                entry.checked().map_err(|wrong| cells.wrong(&wrong))
            })?,
            Raw::List(entries) => entries.iter().map(Roll::entry).collect::<Result<_, _>>()?,
            one => vec![Roll::entry(one)?],
        };
        Ok(Roll(entries.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Roll, String> {
        Roll::read(&Raw::Text(text.into()))
    }

    #[test]
    fn a_file_lists_transfers_of_several_groups_and_leaves_open_what_it_does_not_say() {
        let roll = read("group,start_s,stop_s,size_kb\nlong,0,60,\nshort,2.5,,100\nlong,1,,\n").unwrap();
        let long: Vec<(Span, Option<Span>)> = roll.of("long").map(|one| (one.start, one.stop)).collect();
        assert_eq!(long, [(Span::ZERO, Some(Span::from_secs(60))), (Span::from_secs(1), None)]);
        let short: Vec<Option<Bytes>> = roll.of("short").map(|one| one.size).collect();
        assert_eq!((short, roll.of("other").count()), (vec![Some(Bytes(100_000))], 0));
        let for_all = read("start_ms\n0\n500\n").unwrap();
        assert_eq!(for_all.of("whichever").count(), 2);
    }

    #[test]
    fn a_roll_is_read_as_it_is_printed() {
        let list = ["2s", "2s..10s", "2s 100kb", "2s..10s 100kb"].map(|text| Raw::Text(text.into()));
        let roll = Roll::read(&Raw::List(list.to_vec())).unwrap();
        assert_eq!(roll.to_string(), "[2s, 2s..10s, 2s 100kb, 2s..10s 100kb]");
        assert_eq!(read("2s..10s").unwrap().to_string(), "2s..10s");
        assert_eq!(read("none"), Ok(Roll::default()));
    }

    #[test]
    fn a_transfer_that_stops_before_it_starts_is_refused_with_its_line() {
        assert_eq!(read("3s..2s"), Err("a stop at 2s is not after the start, 3s".into()));
        let wrong = read("start_s,stop_s\n0,1\n3,2\n").unwrap_err();
        assert_eq!(wrong, "line 3: a stop at 2s is not after the start, 3s");
        assert!(read("soon").unwrap_err().contains("not a transfer"));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Rows of numbers under named columns, and the course of rates that they make.

use super::columns::{KNOWN, LONGEST, Meaning, Quantity, examples, meaning};
use super::{Besides, Course, Form, Recognised, Recording, lines, shown};
use crate::suggest::did_you_mean;
use crate::units::{Rate, Span};

/// Rows of a file: a thousand a second for more than a quarter of an hour.
const MOST: usize = 1_000_000;

/// The cells of a line, as its first line separates them.
#[derive(Clone, Copy)]
pub(super) struct Separator(Option<char>);

impl Separator {
    pub fn of(line: &str) -> Separator {
        Separator([',', ';', '\t'].into_iter().find(|mark| line.contains(*mark)))
    }

    pub fn cells(self, line: &str) -> Vec<&str> {
        match self.0 {
            Some(mark) => line.trim().split(mark).map(|cell| cell.trim().trim_matches('"')).collect(),
            None => line.split_whitespace().map(|cell| cell.trim_matches('"')).collect(),
        }
    }
}

/// Whether a first line is a row of several numbers, or a header.
pub(super) fn are(line: &str) -> bool {
    let cells = Separator::of(line).cells(line);
    cells.len() > 1 || cells.iter().any(|cell| !matches!(meaning(cell), Ok(None)))
}

/// A column: its place in the rows, and its name where it has one.
pub(super) struct Column<'t> {
    pub place: usize,
    pub name: &'t str,
    pub meaning: Meaning,
}

impl Column<'_> {
    /// A number of this column, multiplied. The error is what follows the place.
    pub fn value(&self, number: f64) -> Result<f64, String> {
        let Meaning { quantity, factor } = self.meaning;
        let (range, told) = quantity.range();
        let value = number * factor;
        match range.contains(&value) {
            true => Ok(value),
            false => Err(format!("{number} is outside the allowed range, {told}")),
        }
    }
}

/// The columns of a trace: time, rate and others.
pub(super) struct Columns<'t> {
    pub time: Column<'t>,
    pub rate: Column<'t>,
    pub besides: Vec<Column<'t>>,
}

impl<'t> Columns<'t> {
    /// The known columns among these names, and the other names. The error begins with the column, if it is about one.
    pub fn of(names: &[&'t str]) -> Result<(Columns<'t>, Vec<String>), String> {
        let (mut known, mut ignored): (Vec<Column>, _) = (Vec::new(), Vec::new());
        for (place, &name) in names.iter().enumerate() {
            let wrong = |why: &str| format!(", column {}: {why}", place + 1);
            match meaning(name).map_err(|why| wrong(&why))? {
                Some(meaning) => {
                    if let Some(other) = known.iter().find(|one| one.meaning.quantity == meaning.quantity) {
                        let both = format!(
                            "`{}` means the same as `{}`: leave one out",
                            shown(name),
                            shown(other.name)
                        );
                        return Err(wrong(&both));
                    }
                    known.push(Column { place, name, meaning });
                }
                None => ignored.push(shown(name)),
            }
        }
        let mut take = |quantity: Quantity| {
            let place = known.iter().position(|column| column.meaning.quantity == quantity)?;
            Some(known.remove(place))
        };
        let rate = take(Quantity::Rate).ok_or_else(|| lacking("rate", Quantity::Rate, &ignored))?;
        let time = match (take(Quantity::Time), take(Quantity::Duration)) {
            (Some(_), Some(duration)) => {
                let why = format!("`{}` besides a time: leave one out", shown(duration.name));
                return Err(format!(", column {}: {why}", duration.place + 1));
            }
            (time, duration) => time.or(duration).ok_or_else(|| lacking("time", Quantity::Time, &ignored))?,
        };
        // The keys of an object are unordered.
        known.sort_by_key(|column| column.meaning.quantity);
        Ok((Columns { time, rate, besides: known }, ignored))
    }

    /// Seconds and Mbit/s.
    fn bare() -> Columns<'static> {
        let column =
            |place, name, quantity, factor| Column { place, name, meaning: Meaning { quantity, factor } };
        let time = column(0, "seconds", Quantity::Time, 1e9);
        let rate = column(1, "Mbit/s", Quantity::Rate, 1e6);
        Columns { time, rate, besides: Vec::new() }
    }
}

fn lacking(what: &str, quantity: Quantity, ignored: &[String]) -> String {
    let remedy = match ignored {
        [one] => did_you_mean(one, KNOWN),
        _ => format!("name it as in {}", examples(quantity)),
    };
    format!(": no column is a {what}: {remedy}")
}

/// Rows so far.
pub(super) struct Rows {
    /// Nanoseconds of each row: its time, or how long it lasts.
    times: Vec<f64>,
    rates: Vec<Rate>,
    besides: Vec<Vec<f64>>,
}

impl Rows {
    pub fn new(columns: &Columns) -> Rows {
        Rows { times: Vec::new(), rates: Vec::new(), besides: vec![Vec::new(); columns.besides.len()] }
    }

    /// Adds a row whose numbers `number` returns; `wrong` gives the place of an error.
    pub fn add(
        &mut self,
        columns: &Columns,
        number: impl Fn(&Column) -> Result<f64, String>,
        wrong: impl Fn(&Column, &str) -> String,
    ) -> Result<(), String> {
        let value = |column: &Column| {
            number(column).and_then(|found| column.value(found)).map_err(|why| wrong(column, &why))
        };
        let time = value(&columns.time)?;
        if columns.time.meaning.quantity == Quantity::Time {
            let shown = |nanos: f64| nanos / columns.time.meaning.factor;
            if let Some(last) = self.times.last().filter(|last| time - **last < 1.0) {
                let why = format!("{} comes after {}: let the times increase", shown(time), shown(*last));
                return Err(wrong(&columns.time, &why));
            }
            if let Some(first) = self.times.first().filter(|first| time - **first > LONGEST) {
                let why = format!("{} is more than 10000000 s after {}", shown(time), shown(*first));
                return Err(wrong(&columns.time, &format!("{why}: leave the rest out")));
            }
        }
        if self.times.len() == MOST {
            return Err(wrong(&columns.time, &format!("more than {MOST} rows: leave the rest out")));
        }
        self.times.push(time);
        self.rates.push(Rate(value(&columns.rate)?.round() as u64));
        for (column, values) in columns.besides.iter().zip(&mut self.besides) {
            values.push(value(column)?);
        }
        Ok(())
    }

    /// The course of these rows.
    pub fn course(self, columns: &Columns) -> Result<Course, String> {
        let (instants, period) = match columns.time.meaning.quantity {
            Quantity::Duration => following(&self.times)?,
            _ => recorded(&self.times),
        };
        let rates: Vec<(Span, Rate)> = instants.into_iter().zip(self.rates).collect();
        let besides = columns.besides.iter().zip(self.besides).map(|(column, values)| Besides {
            name: match column.meaning.quantity {
                Quantity::Delay => "delay_ms",
                Quantity::Loss => "loss",
                _ => "latency_ms",
            },
            values: values.into(),
        });
        if rates.is_empty() {
            return Err("the trace is empty: give at least one row of a time and a rate".into());
        }
        Course::new(&rates, period, besides.collect())
            .ok_or_else(|| "the trace carries less than 1 bit/s in the mean: raise a rate".into())
    }
}

/// Instants from the first time on; the last row lasts as long as the one before it, and a single one for a second.
fn recorded(times: &[f64]) -> (Vec<Span>, Span) {
    let first = times.first().copied().unwrap_or_default();
    let instants: Vec<Span> = times.iter().map(|time| Span((time - first).round() as u64)).collect();
    let period = match instants[..] {
        [.., before, last] => Span(last.0 + (last.0 - before.0)),
        _ => Span::from_secs(1),
    };
    (instants, period)
}

/// The instants of successive rows.
fn following(durations: &[f64]) -> Result<(Vec<Span>, Span), String> {
    let mut end = Span::ZERO;
    let instants = durations.iter().map(|duration| {
        let begin = end;
        end = Span(begin.0 + duration.round() as u64);
        begin
    });
    let instants = instants.collect();
    // With times instead, the last row may last as long as all others.
    match end.0 as f64 > 2.1 * LONGEST {
        true => {
            Err(format!("the trace lasts {end}, above the 21000000 s that are allowed: leave the rest out"))
        }
        false => Ok((instants, end)),
    }
}

/// Reads columns of text, with a header or without.
pub(super) fn read(content: &str) -> Result<Recognised, String> {
    let mut lines = lines(content).filter(|(_, line)| !line.trim().is_empty()).peekable();
    let Some((number, first)) = lines.peek().copied() else { return Err("the trace is empty".into()) };
    let separator = Separator::of(first);
    let head = separator.cells(first);
    let width = head.len();
    let bare = head[0].parse::<f64>().is_ok();
    let (columns, ignored) = match bare {
        true if width == 2 => (Columns::bare(), Vec::new()),
        true => {
            let remedy = "begin with a header that names them, as in `time_s,rate_mbps,delay_ms`";
            return Err(format!("line {number}: {width} columns without names: {remedy}"));
        }
        false => {
            lines.next();
            Columns::of(&head).map_err(|why| format!("line {number}{why}"))?
        }
    };
    let mut rows = Rows::new(&columns);
    for (line, row) in lines {
        let cells = separator.cells(row);
        if cells.len() != width {
            return Err(format!(
                "line {line}: expected {width} cells as in line {number}, found {}",
                cells.len()
            ));
        }
        let parsed = |column: &Column| {
            let found = cells[column.place].parse::<f64>().ok().filter(|found| found.is_finite());
            found.ok_or_else(|| format!("`{}` is not a number", shown(cells[column.place])))
        };
        rows.add(&columns, parsed, |column, why| {
            format!("line {line}, column {} ({}): {why}", column.place + 1, shown(column.name))
        })?;
    }
    let form = if bare { Form::Text } else { Form::Csv };
    Ok(Recognised { form, recording: Recording::Course(rows.course(&columns)?), ignored })
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Coexistence read back from the JSON that was written of it.

use serde::Deserialize;

use super::super::reading::Unreadable;
use super::super::{Manifest, SCHEMA_VERSION};
use crate::study::coexist::{Coexistence, Encounter, Meeting, Square, places};

/// Reads a document that [`json`](super::json) wrote.
pub fn read(text: &str) -> Result<(Coexistence, Manifest), Unreadable> {
    let damaged = |error: serde_json::Error| Unreadable::Damaged(error.to_string());
    let Head { schema_version } = serde_json::from_str(text).map_err(damaged)?;
    match schema_version {
        Some(version) if version == u64::from(SCHEMA_VERSION) => {
            let written: Written = serde_json::from_str(text).map_err(damaged)?;
            written.coexistence().map_err(Unreadable::Damaged)
        }
        Some(version) => Err(Unreadable::Version(version)),
        None => Err(Unreadable::Damaged("it has no version".into())),
    }
}

#[derive(Deserialize)]
struct Head {
    schema_version: Option<u64>,
}

#[derive(Deserialize)]
struct Written {
    title: String,
    about: String,
    mix: f64,
    enough: f64,
    verdicts: Vec<Judged>,
    cells: Vec<Cell>,
    manifest: Manifest,
}

#[derive(Deserialize)]
struct Judged {
    controller: String,
}

#[derive(Deserialize)]
struct Cell {
    row: String,
    column: String,
    buffer: String,
    // Every number of a record is written as one that may have a fraction.
    flows: f64,
    row_flows: f64,
    column_flows: f64,
    meetings: Vec<Met>,
}

/// A number that does not exist is null.
#[derive(Deserialize)]
struct Met {
    share: Option<f64>,
    drop_ratio_row: Option<f64>,
    drop_ratio_column: Option<f64>,
    utilization: Option<f64>,
    queue_mean_normalized: Option<f64>,
}

impl Written {
    fn coexistence(self) -> Result<(Coexistence, Manifest), String> {
        let Written { title, about, mix, enough, verdicts, cells, manifest } = self;
        let controllers: Vec<String> = verdicts.into_iter().map(|judged| judged.controller).collect();
        let buffers = distinct(cells.iter().map(|cell| cell.buffer.clone()));
        let flows = distinct(cells.iter().map(|cell| cell.flows as u32));
        let expected: Vec<Square> = places(controllers.len(), flows.len(), buffers.len()).collect();
        let stands = |(cell, place): (&Cell, &Square)| {
            cell.row == controllers[place.row]
                && cell.column == controllers[place.column]
                && cell.buffer == buffers[place.buffer]
                && cell.flows == f64::from(flows[place.flows])
        };
        if cells.len() != expected.len() || !cells.iter().zip(&expected).all(stands) {
            return Err("its cells are not every pair in every setting, in order".into());
        }
        let cells = cells.into_iter().map(Cell::encounter).collect();
        Ok((Coexistence { title, about, controllers, buffers, flows, mix, enough, cells }, manifest))
    }
}

impl Cell {
    fn encounter(self) -> Encounter {
        let meetings = self.meetings.into_iter().map(Met::meeting).collect();
        Encounter { flows: [self.row_flows, self.column_flows].map(|flows| flows as u32), meetings }
    }
}

impl Met {
    fn meeting(self) -> Meeting {
        let known = |number: Option<f64>| number.unwrap_or(f64::NAN);
        Meeting {
            share: known(self.share),
            drop_ratio: [known(self.drop_ratio_row), known(self.drop_ratio_column)],
            utilization: known(self.utilization),
            queue: known(self.queue_mean_normalized),
        }
    }
}

/// Distinct values, in order of appearance.
fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut found: Vec<T> = Vec::new();
    for one in all {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::super::json::render;
    use super::super::json;
    use super::*;
    use crate::study::coexist::coexistence::tests::example;

    #[test]
    fn coexistence_reads_back_as_it_was_and_damage_is_named() {
        let all = example();
        let text = render(&json(&all, &Manifest::default()));
        assert_eq!(read(&text), Ok((all, Manifest::default())));
        let other =
            text.replacen(&format!("\"schema_version\": {SCHEMA_VERSION}"), "\"schema_version\": 3", 1);
        assert_eq!(read(&other), Err(Unreadable::Version(3)));
        for (damaged, named) in [
            (text[..text.len() / 2].to_string(), "EOF"),
            (text.replacen("\"meetings\"", "\"met\"", 1), "meetings"),
            (text.replacen("\"row\": \"meek<1>\"", "\"row\": \"other\"", 1), "every pair"),
            ("{}".to_string(), "no version"),
        ] {
            let said = read(&damaged).unwrap_err().to_string();
            assert!(said.contains("damaged") && said.contains(named), "{named}: {said}");
        }
    }
}

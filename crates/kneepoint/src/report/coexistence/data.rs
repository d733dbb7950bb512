// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Coexistence for machines: a record for each row, column and setting.

use serde_json::{Value, json};

use super::super::Manifest;
use crate::study::coexist::{Coexistence, Encounter, Extreme, Meeting, Square};
use crate::table::{Cell as Field, Estimate, Records};

const COLUMNS: [&str; 22] = [
    "row",
    "column",
    "buffer",
    "flows",
    "row_flows",
    "column_flows",
    "runs",
    "fair_share",
    "share_of_fair",
    "share_of_fair_half_width",
    "left_of_fair",
    "left_of_fair_half_width",
    "drop_ratio_row",
    "drop_ratio_row_half_width",
    "drop_ratio_column",
    "drop_ratio_column_half_width",
    "loss_ratio",
    "loss_ratio_low",
    "loss_ratio_high",
    "utilization",
    "queue_mean_normalized",
    "share",
];

/// A table with a row for each pair in each setting, for CSV and Parquet.
pub fn records(all: &Coexistence) -> Records {
    let row = |place: Square| -> Vec<Field> {
        let cell = all.cell(place);
        let both = |estimate: Estimate| [estimate.mean, estimate.half_width.unwrap_or(f64::NAN)];
        let mean = |of: fn(&Meeting) -> f64| cell.estimate(of).mean;
        let texts = [&all.controllers[place.row], &all.controllers[place.column], &all.buffers[place.buffer]];
        let texts = texts.map(|text| Field::Text(text.clone()));
        let [row, column] = cell.flows.map(f64::from);
        let mut numbers = vec![f64::from(all.flows[place.flows]), row, column, cell.meetings.len() as f64];
        numbers.push(cell.fair_share());
        numbers.extend(both(cell.taken()));
        numbers.extend(both(cell.left()));
        numbers.extend(both(cell.estimate(|meeting| meeting.drop_ratio[0])));
        numbers.extend(both(cell.estimate(|meeting| meeting.drop_ratio[1])));
        numbers.extend(cell.loss_ratio());
        numbers.extend([mean(|meeting| meeting.utilization), mean(|meeting| meeting.queue)]);
        numbers.push(mean(|meeting| meeting.share));
        texts.into_iter().chain(numbers.into_iter().map(Field::Number)).collect()
    };
    Records { columns: COLUMNS.map(String::from).to_vec(), rows: all.places().map(row).collect() }
}

/// One object with the settings, the verdicts, each record by name, and the manifest.
pub fn json(all: &Coexistence, manifest: &Manifest) -> Value {
    let records = records(all);
    let meeting = |one: &Meeting| {
        json!({
            "share": one.share,
            "drop_ratio_row": one.drop_ratio[0],
            "drop_ratio_column": one.drop_ratio[1],
            "utilization": one.utilization,
            "queue_mean_normalized": one.queue,
        })
    };
    let object = |(row, cell): (&Vec<Field>, &Encounter)| -> Value {
        let value = |field: &Field| match field {
            Field::Text(text) => Value::from(text.as_str()),
            Field::Number(number) => Value::from(*number),
        };
        let meetings = cell.meetings.iter().map(meeting).collect();
        let columns = records.columns.iter().cloned().zip(row.iter().map(value));
        columns.chain([("meetings".to_string(), meetings)]).collect::<serde_json::Map<_, _>>().into()
    };
    let extreme = |extreme: Option<Extreme>| {
        extreme.map(|Extreme { place, estimate }| {
            json!({
                "beside": all.controllers[place.column],
                "buffer": all.buffers[place.buffer],
                "flows": all.flows[place.flows],
                "mean": estimate.mean,
                "half_width": estimate.half_width,
            })
        })
    };
    let verdict = |row: usize| {
        json!({
            "controller": all.controllers[row],
            "verdict": all.verdict(row).to_string(),
            "takes_least": extreme(all.takes_least(row)),
            "leaves_least": extreme(all.leaves_least(row)),
            "grounds": all.grounds(row),
        })
    };
    json!({
        "title": all.title,
        "about": all.about,
        "mix": all.mix,
        "enough": all.enough,
        "rule": all.rule(),
        "control": all.control(),
        "verdicts": (0..all.controllers.len()).map(verdict).collect::<Vec<_>>(),
        "cells": records.rows.iter().zip(&all.cells).map(object).collect::<Vec<_>>(),
        "manifest": manifest,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::coexist::coexistence::tests::example;

    #[test]
    fn every_pair_and_setting_has_a_record_with_all_columns() {
        let records = records(&example());
        assert_eq!(records.rows.len(), 2 * 2 * 3);
        assert!(records.rows.iter().all(|row| row.len() == COLUMNS.len()));
        let column = |name: &str| COLUMNS.iter().position(|column| *column == name).unwrap();
        let row = &records.rows[4];
        assert_eq!(
            (row[0].text(), row[1].text(), row[2].text()),
            ("meek<1>".into(), "bold".into(), "1bdp".into())
        );
        for (name, value) in [("flows", 10.0), ("fair_share", 0.5), ("share", 0.25), ("drop_ratio_row", 0.02)]
        {
            assert!((row[column(name)].number().unwrap() - value).abs() < 1e-12, "{name}");
        }
    }

    #[test]
    fn what_does_not_exist_is_null() {
        let json = json(&example(), &Manifest { seeds: vec![1, 2, 3], ..Manifest::default() });
        assert_eq!(json["cells"][0]["loss_ratio"], Value::Null);
        assert_eq!(json["verdicts"][0]["verdict"], "yields");
        assert_eq!(json["verdicts"][0]["takes_least"]["beside"], "bold");
        assert_eq!(json["manifest"]["seeds"], json!([1, 2, 3]));
    }
}

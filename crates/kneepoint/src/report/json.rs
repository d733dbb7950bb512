// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Everything but the series, for machines. Numbers read back as they were; an undefined one is `null`.
//!
//! ```text
//! { "schema_version", "title",
//!   "schemes": [ { "scheme", KEY: { "mean", "half_width" }, …,
//!                  "links": [ { "link", KEY: { "mean", "half_width" }, … } ], "groups": [ … ], "classes": [ … ],
//!                  "runs": [ { "seed", …, "rows": [ { "labels", "values" } ] } ] } ],
//!   "manifest" }
//! ```
//!
//! `KEY` of a scheme is each of [`headlines`]; `KEY` of a link, group or class is each of its defined [metrics](Subject::metrics).
//! A scheme has `classes` where transfers completed, and `fluid` where a fluid model was requested and describes it. The
//! series go to CSV or Parquet.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::grid::{Measured, measured};
use super::{Comparison, Manifest, SchemeResult};
use crate::measure::{Subject, headlines};

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    title: &'a str,
    schemes: &'a [SchemeResult],
    manifest: &'a Manifest,
}

impl Serialize for SchemeResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("scheme", &self.scheme)?;
        for metric in headlines() {
            map.serialize_entry(&metric.key, &self.estimate(&metric.key))?;
        }
        if let Some(Ok(beside)) = &self.theory {
            map.serialize_entry("fluid", beside)?;
        }
        for (key, subject) in
            [("links", Subject::Link), ("groups", Subject::Group), ("classes", Subject::Class)]
        {
            let all: Vec<Measured> = measured(self, subject);
            if !all.is_empty() {
                map.serialize_entry(key, &all)?;
            }
        }
        map.serialize_entry("runs", &self.runs)?;
        map.end()
    }
}

/// The comparison as one JSON object, indented.
pub fn render(comparison: &Comparison) -> String {
    let document = Document {
        schema_version: comparison.manifest.schema_version,
        title: &comparison.title,
        schemes: &comparison.schemes,
        manifest: &comparison.manifest,
    };
    // It fails for maps whose keys are no strings; there are none.
    let mut text = serde_json::to_string_pretty(&document).expect("a comparison has string keys only");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::{RunResult, example};

    /// In the order of the alphabet, like `expected`: an object has no order.
    fn assert_keys(value: &Value, expected: &str) {
        let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(keys.join(" "), expected);
    }

    #[test]
    fn the_keys_are_these_and_no_others() {
        let document: Value = serde_json::from_str(&super::render(&example::comparison())).unwrap();
        assert_keys(&document, "manifest schema_version schemes title");
        let scheme = &document["schemes"][0];
        assert_keys(
            scheme,
            "drop_ratio goodput_bps groups jain_index links mark_ratio queue_mean_normalized queue_mean_packets \
             queueing_delay_mean_ms queueing_delay_p99_ms runs scheme utilization",
        );
        assert_keys(&scheme["utilization"], "half_width mean");
        assert_keys(&scheme["runs"][0], "bottleneck_packets cpu_seconds events rows seed");
        assert_keys(&scheme["runs"][0]["rows"][0], "labels values");
        assert_eq!(scheme["groups"][1]["group"], "noise");
        assert!(scheme["groups"][1].get("timeouts").is_none(), "undefined for datagrams");
        assert_keys(&document["manifest"]["scenario"][0], "name text");
    }

    #[test]
    fn numbers_read_back_as_they_were() {
        let comparison = example::comparison();
        let document: Value = serde_json::from_str(&super::render(&comparison)).unwrap();
        let written = &comparison.schemes[0].runs[1];
        let read: RunResult = serde_json::from_value(document["schemes"][0]["runs"][1].clone()).unwrap();
        assert_eq!(&read, written);
    }

    #[test]
    fn equal_comparisons_make_equal_bytes() {
        assert_eq!(super::render(&example::comparison()), super::render(&example::comparison()));
    }
}

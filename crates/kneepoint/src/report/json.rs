// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Everything but the series, for machines. Numbers read back as they were; one that does not exist is `null`.
//!
//! ```text
//! { "schema_version", "title",
//!   "schemes": [ { "scheme", KEY: { "mean", "half_width" }, …, "runs": [ { "seed", …, "summary" } ] } ],
//!   "manifest" }
//! ```
//!
//! `KEY` is each of [`METRICS`](crate::measure::METRICS). The series go to CSV or Parquet.

use serde::Serialize;

use super::{Comparison, Manifest, RunResult};
use crate::measure::Estimates;

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    title: &'a str,
    schemes: Vec<Scheme<'a>>,
    manifest: &'a Manifest,
}

#[derive(Serialize)]
struct Scheme<'a> {
    scheme: &'a str,
    #[serde(flatten)]
    estimates: Estimates,
    runs: &'a [RunResult],
}

/// The comparison as one JSON object, indented.
pub fn render(comparison: &Comparison) -> String {
    let schemes = comparison.schemes.iter().map(|scheme| Scheme {
        scheme: &scheme.scheme,
        estimates: scheme.estimates(),
        runs: &scheme.runs,
    });
    let document = Document {
        schema_version: comparison.manifest.schema_version,
        title: &comparison.title,
        schemes: schemes.collect(),
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

    use super::super::example;

    fn keys(value: &Value) -> Vec<&str> {
        value.as_object().unwrap().keys().map(String::as_str).collect()
    }

    #[test]
    fn the_keys_are_these_and_no_others() {
        let document: Value = serde_json::from_str(&super::render(&example::comparison())).unwrap();
        assert_eq!(keys(&document), ["schema_version", "title", "schemes", "manifest"]);
        let scheme = &document["schemes"][0];
        assert_eq!(
            keys(scheme),
            [
                "scheme",
                "queue_mean_packets",
                "queue_mean_normalized",
                "queueing_delay_mean_ms",
                "queueing_delay_p99_ms",
                "drop_ratio",
                "mark_ratio",
                "utilization",
                "jain_index",
                "goodput_bps",
                "runs"
            ]
        );
        assert_eq!(keys(&scheme["utilization"]), ["mean", "half_width"]);
        assert_eq!(
            keys(&scheme["runs"][0]),
            ["seed", "cpu_seconds", "bottleneck_packets", "events", "summary"]
        );
        assert_eq!(
            keys(&scheme["runs"][0]["summary"]["links"][0]["drops"]),
            ["overflow", "early", "late", "channel"]
        );
        assert_eq!(keys(&document["manifest"]["scenario"][0]), ["name", "text"]);
    }

    #[test]
    fn numbers_read_back_as_they_were() {
        let comparison = example::comparison();
        let document: Value = serde_json::from_str(&super::render(&comparison)).unwrap();
        let written = comparison.schemes[0].runs[1].summary.links[0].queue_mean_packets;
        let read = &document["schemes"][0]["runs"][1]["summary"]["links"][0]["queue_mean_packets"];
        assert_eq!(read.as_f64(), Some(written));
    }

    #[test]
    fn equal_comparisons_make_equal_bytes() {
        assert_eq!(super::render(&example::comparison()), super::render(&example::comparison()));
    }
}

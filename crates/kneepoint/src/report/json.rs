// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Everything but the series, for machines. Numbers read back as they were; one that does not exist is `null`.
//!
//! ```text
//! { "schema_version", "title",
//!   "schemes": [ { "scheme", KEY: { "mean", "half_width" }, …, "runs": [ { "seed", …, "summary" } ] } ],
//!   "manifest" }
//! ```
//!
//! A scheme has `fluid`, too, where a fluid model was asked for and describes it, and `shares` where several groups
//! of traffic share the bottleneck. `KEY` is each of [`METRICS`](crate::measure::METRICS). The series go to CSV or Parquet.

use serde::Serialize;

use super::shares::{self, Got};
use super::{Beside, Comparison, Manifest, RunResult};
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
    #[serde(skip_serializing_if = "Option::is_none")]
    fluid: Option<&'a Beside>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    shares: Vec<Got>,
    runs: &'a [RunResult],
}

/// The comparison as one JSON object, indented.
pub fn render(comparison: &Comparison) -> String {
    let schemes = comparison.schemes.iter().map(|scheme| Scheme {
        scheme: &scheme.scheme,
        estimates: scheme.estimates(),
        fluid: scheme.theory.as_ref().and_then(|theory| theory.as_ref().ok()),
        shares: shares::of(scheme),
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
            "drop_ratio goodput_bps jain_index mark_ratio queue_mean_normalized queue_mean_packets \
             queueing_delay_mean_ms queueing_delay_p99_ms runs scheme shares utilization",
        );
        assert_keys(&scheme["utilization"], "half_width mean");
        assert_keys(&scheme["runs"][0], "bottleneck_packets cpu_seconds events seed summary");
        let link = &scheme["runs"][0]["summary"]["links"][0];
        assert_keys(&link["drops"], "channel early late overflow pushed_out");
        assert_keys(&link["queueing_delay_s"], "count max mean p50 p90 p95 p99");
        assert_keys(&document["manifest"]["scenario"][0], "name text");
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

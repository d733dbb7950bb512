// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A gate as SARIF 2.1.0, as code scanning reads it: a rule for each claim that failed, and a result at the gate's file.

use serde_json::{Value, json};

use super::failures;
use crate::experiment::gate::Outcome;

/// The address of the schema.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The file. `place` is the path of `gate.toml` in its repository.
pub fn render(outcome: &Outcome, version: &str, place: &str) -> String {
    let failures = failures(outcome);
    let id = |title: &str| title.split(':').next().unwrap_or_default().replace(' ', ".");
    let rules = failures.iter().map(|(origin, title, _)| {
        json!({"id": id(title), "shortDescription": {"text": title}, "properties": {"case": origin}})
    });
    let results = failures.iter().map(|(_, title, why)| {
        json!({
            "ruleId": id(title),
            "level": "error",
            "message": {"text": format!("{title}. {why}")},
            "locations": [{
                "physicalLocation": {"artifactLocation": {"uri": place}, "region": {"startLine": 1}},
            }],
            "partialFingerprints": {"claim/v1": format!("{} {}", outcome.subject, id(title))},
        })
    });
    let driver = json!({
        "name": "knee gate",
        "semanticVersion": version,
        "rules": rules.collect::<Vec<Value>>(),
    });
    let run = json!({"tool": {"driver": driver}, "results": results.collect::<Vec<Value>>()});
    let log = json!({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]});
    serde_json::to_string_pretty(&log).unwrap_or_default() + "\n"
}

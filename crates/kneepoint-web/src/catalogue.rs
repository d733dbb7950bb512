// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The offers and explanations of a page: algorithms with their parameters, and metrics, from the registries.

use kneepoint::link::loss;
use kneepoint::measure::Subject;
use kneepoint::metric::{Better, Metric};
use kneepoint::scenario::scheme::{Of, PRESETS};
use kneepoint::settings::{Entry, Field};
use kneepoint::{cc, queue};
use serde_json::{Value, json};

/// Everything.
pub fn all() -> Value {
    json!({
        "controllers": algorithms(cc::REGISTRY, Of::Control),
        "queues": algorithms(queue::REGISTRY, Of::Queue),
        "channels": loss::REGISTRY.iter().map(algorithm).collect::<Vec<_>>(),
        "metrics": {
            "run": Subject::Run.metrics().iter().map(metric).collect::<Vec<_>>(),
            "group": Subject::Group.metrics().iter().map(metric).collect::<Vec<_>>(),
        },
    })
}

/// The algorithms of a registry, preceded by the names of preset settings.
fn algorithms(registry: &[Entry], family: Of) -> Vec<Value> {
    let named = PRESETS.iter().filter(|preset| preset.family == family).map(|preset| {
        let entry = registry.iter().find(|entry| entry.name == preset.of);
        let header = entry.map(Entry::header).unwrap_or_default();
        json!({
            "name": preset.name,
            "summary": preset.about,
            "header": format!("{}\n\nStands for {}.\n\n{header}", preset.about, preset.meaning()),
            "fields": entry.map_or_else(Vec::new, |entry| fields(entry.fields)),
        })
    });
    let known =
        |entry: &&Entry| !PRESETS.iter().any(|preset| preset.family == family && preset.name == entry.name);
    named.chain(registry.iter().filter(known).map(algorithm)).collect()
}

fn algorithm(entry: &Entry) -> Value {
    json!({
        "name": entry.name,
        "summary": entry.summary(),
        "header": entry.header(),
        "fields": fields(entry.fields),
    })
}

fn fields(fields: &[Field]) -> Vec<Value> {
    let field = |field: &Field| {
        let choices: Vec<Value> =
            field.choices.iter().map(|(name, about)| json!({ "name": name, "about": about })).collect();
        json!({
            "name": field.name,
            "kind": field.kind,
            "default": field.default(),
            "range": field.range(),
            "choices": choices,
            "about": field.doc.replace('\n', " "),
        })
    };
    fields.iter().map(field).collect()
}

fn metric(metric: &Metric) -> Value {
    json!({
        "key": metric.key,
        "title": metric.title,
        "unit": metric.unit,
        "scale": metric.scale,
        "brief": metric.headline || metric.brief,
        "better": metric.better.map(|better| match better {
            Better::Less => "less",
            Better::More => "more",
        }),
    })
}

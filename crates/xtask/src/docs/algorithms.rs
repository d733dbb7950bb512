// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `docs/algorithms.md`: every name that a scenario can use.

use std::fmt::Write;

use kneepoint::link::{capacity, loss};
use kneepoint::scenario::TOPOLOGIES;
use kneepoint::scenario::scheme::{Of, PRESETS};
use kneepoint::settings::{Entry, Field, Setting, Settings};
use kneepoint::tcp::{Options, Recovery};
use kneepoint::traffic::{self, abr, rtp};
use kneepoint::{cc, feedback, fluid, law, predict, queue};

const PREFACE: &str = "\
# Algorithms

*Generated from the sources by `cargo run -p xtask -- docs`; do not edit.*

Everything that a scenario can name: each with its source, its equations and its parameters. A name in `code` is what
one writes; `knee explain NAME` says the same in a terminal.

";

/// The page.
pub fn page() -> String {
    let mut page = PREFACE.to_string();
    page.push_str("* [Congestion controls](#congestion-controls): ");
    names(&mut page, cc::REGISTRY.iter().map(|entry| entry.name));
    page.push_str("* [Queue disciplines](#queue-disciplines): ");
    names(&mut page, queue::REGISTRY.iter().map(|entry| entry.name));
    page.push_str("* [Explicit feedback](#explicit-feedback): ");
    names(&mut page, feedback::REGISTRY.iter().map(|entry| entry.name));
    page.push_str("* [Laws](#laws): ");
    names(&mut page, law::REGISTRY.iter().map(|entry| entry.name));
    page.push_str("* [Congestion predictors](#congestion-predictors): ");
    names(&mut page, predict::REGISTRY.iter().map(|entry| entry.name));
    page.push_str("* [Fluid models](#fluid-models): ");
    names(&mut page, fluid::REGISTRY.iter().map(|entry| entry.name));
    page.push_str("* [Names from papers](#names-from-papers): ");
    let predictors = predict::PRESETS.iter().map(|preset| preset.name);
    names(&mut page, PRESETS.iter().map(|preset| preset.name).chain(predictors));
    page.push_str("* [Loss recovery](#loss-recovery): ");
    names(&mut page, Recovery::CHOICES.iter().map(|(name, _)| *name));
    page.push_str("* [Topologies](#topologies): ");
    names(&mut page, TOPOLOGIES.iter().map(|topology| topology.name));
    page.push_str("* [Channels](#channels): ");
    names(&mut page, loss::REGISTRY.iter().map(|channel| channel.name));
    page.push_str("* [Capacities](#capacities): ");
    names(&mut page, capacity::REGISTRY.iter().map(|capacity| capacity.name));
    page.push_str("* [TCP options](#tcp-options), [traffic](#traffic)\n");
    page.push_str("* [Rules of adaptive bit rate](#rules-of-adaptive-bit-rate): ");
    names(&mut page, abr::REGISTRY.iter().map(|rule| rule.name));
    page.push_str("* [Rate controls of media](#rate-controls-of-media): ");
    names(&mut page, rtp::REGISTRY.iter().map(|control| control.name));
    family(&mut page, "Congestion controls", cc::REGISTRY);
    family(&mut page, "Queue disciplines", queue::REGISTRY);
    family(&mut page, "Explicit feedback", feedback::REGISTRY);
    family(&mut page, "Laws", law::REGISTRY);
    family(&mut page, "Congestion predictors", predict::REGISTRY);
    family(&mut page, "Fluid models", fluid::REGISTRY);
    presets(&mut page);
    page.push_str(
        "\n## Loss recovery\n\nValues of `recovery` in `[tcp]`.\n\n| name | description |\n|---|---|\n",
    );
    for (name, about) in Recovery::CHOICES {
        let _ = writeln!(page, "| `{name}` | {} |", cell(about));
    }
    for (title, registry) in
        [("Topologies", TOPOLOGIES), ("Channels", loss::REGISTRY), ("Capacities", capacity::REGISTRY)]
    {
        let _ = write!(page, "\n## {title}\n");
        for entry in registry {
            section(&mut page, entry.name, entry.header().trim_end(), entry.fields);
        }
    }
    page.push_str("\n## TCP options\n\nFields of `[tcp]`, and of `tcp` in a group.\n\n");
    table(&mut page, Options::fields());
    family(&mut page, "Traffic", traffic::REGISTRY);
    family(&mut page, "Rules of adaptive bit rate", abr::REGISTRY);
    family(&mut page, "Rate controls of media", rtp::REGISTRY);
    page
}

fn names<'a>(page: &mut String, names: impl Iterator<Item = &'a str>) {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    // Writing to a string cannot fail.
    let _ = writeln!(page, "{}", names.join(", "));
}

fn family(page: &mut String, title: &str, registry: &[Entry]) {
    let _ = write!(page, "\n## {title}\n");
    for entry in registry {
        let _ = write!(page, "\n### `{}`\n\n{}\n\n*{}*\n\n", entry.name, entry.summary(), entry.citation());
        let header = entry.header();
        let rest: Vec<&str> = header.splitn(3, "\n\n").skip(2).collect();
        if let [rest] = rest[..] {
            let _ = write!(page, "{}\n\n", rest.trim_end());
        }
        table(page, entry.fields);
    }
}

fn presets(page: &mut String) {
    page.push_str(
        "\n## Names from papers\n\nNames that stand for an algorithm with particular settings.\n\n",
    );
    page.push_str(
        "| name | description | family | algorithm | recovery | feedback | settings |\n|---|---|---|---|---|---|---|\n",
    );
    for preset in PRESETS {
        let family = match preset.family {
            Of::Control => "congestion control",
            Of::Queue => "queue discipline",
        };
        let recovery = preset.recovery.map(|recovery| format!("`{recovery}`")).unwrap_or_default();
        let feedback = preset.feedback.map(|feedback| format!("`{feedback}`")).unwrap_or_default();
        preset_row(page, [preset.name, preset.about, family, preset.of, &recovery, &feedback], preset.set);
    }
    for preset in predict::PRESETS {
        preset_row(page, [preset.name, preset.about, "congestion predictor", preset.of, "", ""], preset.set);
    }
}

fn preset_row(
    page: &mut String,
    [name, about, family, of, recovery, feedback]: [&str; 6],
    set: &[(&str, &str)],
) {
    let settings: Vec<String> = set.iter().map(|(key, value)| format!("`{key} = {value}`")).collect();
    let _ = writeln!(
        page,
        "| `{name}` | {} | {family} | `{of}` | {recovery} | {feedback} | {} |",
        cell(about),
        settings.join(", ")
    );
}

fn section(page: &mut String, name: &str, about: &str, fields: &[Field]) {
    let _ = write!(page, "\n### `{name}`\n\n{about}\n\n");
    table(page, fields);
}

fn table(page: &mut String, fields: &[Field]) {
    if fields.is_empty() {
        page.push_str("No parameters.\n");
        return;
    }
    page.push_str("| parameter | type | default | range | description |\n|---|---|---|---|---|\n");
    for field in fields {
        let allowed = match field.range() {
            Some(range) => range,
            None => field.choices.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", "),
        };
        let _ = writeln!(
            page,
            "| `{}` | {} | `{}` | {} | {} |",
            field.name,
            field.kind,
            field.default(),
            cell(&allowed),
            cell(field.doc)
        );
    }
}

/// Text escaped for a table cell.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

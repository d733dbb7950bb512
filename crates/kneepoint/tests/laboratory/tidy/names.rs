// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Nothing names an algorithm, a metric or a study but its own file, its registry, and files with a reason.

use std::collections::BTreeSet;

use kneepoint::link::{capacity, loss};
use kneepoint::measure::Subject;
use kneepoint::scenario::TOPOLOGIES;
use kneepoint::traffic::{self, abr, rtp};
use kneepoint::{cc, feedback, fluid, law, predict, queue};

use super::{Source, named_after, registered, report, sources, sources_of};

/// Files and folders that may name members of other families than their own: which families, and the reason.
const NAMES_ALLOWED: [(&str, &[&str], &str); 35] = [
    (
        "scenario/presets.rs",
        &["cc", "queue", "feedback"],
        "the table of names that stand for an algorithm with other defaults",
    ),
    ("scenario/example.rs", &["cc"], "a scenario to start from"),
    ("scenario/build.rs", &["scenario/topology"], "only a graph has sections for its nodes and links"),
    (
        "study/markov/",
        &["cc", "feedback", "link/capacity", "scenario/topology", "measure"],
        "writes the scenario that the analysis describes, and reads its throughput",
    ),
    ("study/dumbbell.rs", &["scenario/topology"], "writes the scenario of a dumbbell"),
    (
        "study/hunt/",
        &["scenario/topology", "measure", "link/loss", "link/capacity", "traffic", "law", "queue"],
        "builds networks number by number, and writes their scenarios",
    ),
    ("study/caution.rs", &["measure"], "the events that a window has enough of, or too few"),
    ("study/identify/usual.rs", &["cc"], "what mainline Linux and QUIC stacks call their own"),
    (
        "study/identify/witness.rs",
        &["scenario/topology"],
        "writes the scenario of the path that a capture shows",
    ),
    ("study/coexist.rs", &["measure"], "the quantities of a pair"),
    ("traffic/", &["measure"], "a source declares the metrics of its reports"),
    ("report/", &["measure"], "default figures and columns"),
    ("report/example.rs", &["cc"], "a report to look at"),
    ("tcp/options.rs", &["cc"], "`reno` is a recovery, too"),
    ("tcp/script/settings.rs", &["cc"], "the controller of a fresh Linux"),
    ("markov/", &["cc"], "the analysis names the protocol that it describes"),
    ("fluid/", &["cc", "queue"], "a model names the controller and the queue that it describes"),
    ("link/network/link.rs", &["link/capacity"], "a link without a model has a constant rate, at no cost"),
    ("link/handover.rs", &["link/capacity"], "handovers are steps of the capacity"),
    ("kneepoint-cli/verbs/coexist.rs", &["cc", "queue"], "default arguments"),
    ("kneepoint-cli/verbs/hunt.rs", &["cc"], "default arguments"),
    ("kneepoint-cli/verbs/gate/", &["cc"], "default arguments, and the gate.toml that is written"),
    ("kneepoint-cli/verbs/quic/", &["cc", "measure"], "default arguments, and the goodput of a connection"),
    ("capture/qlog/", &["link/capacity"], "qlog has traces, too"),
    ("kneepoint-cli/verbs/emulate/outcome.rs", &["measure"], "the lines of a link"),
    (
        "kneepoint-cli/verbs/emulate/path.rs",
        &["cc", "queue", "scenario/topology"],
        "the scenario of a path, with its default arguments",
    ),
    ("kneepoint-cli/hosts/quic.rs", &["measure"], "metrics that QUIC stacks do not tell"),
    ("kneepoint-cli/path/", &["queue", "link/loss", "link/capacity"], "options that stand for a model"),
    ("kneepoint-cli/verbs/live/queue.rs", &["queue"], "the laboratory's names of Linux's disciplines"),
    ("kneepoint-cli/verbs/kernel/records.rs", &["measure"], "columns of what kernel programs report"),
    ("kneepoint-cli/verbs/live/client.rs", &["measure"], "the metrics that clients report, too"),
    ("kneepoint-cli/verbs/live/lacking.rs", &["cc"], "what mainline Linux calls its own"),
    ("kneepoint-cli/verbs/live/video.rs", &["traffic"], "the verb, and the group that the film stands for"),
    ("kneepoint-cli/workload.rs", &["cc", "traffic"], "default arguments, and the source of web objects"),
    (
        "kneepoint-cli/verbs/predict/simulation.rs",
        &["cc", "queue", "scenario/topology"],
        "the scenario of the paper that introduced the comparison",
    ),
];

/// Names of algorithms and metrics that are words of other tables, too.
const HOMONYMS: [(&str, &str); 12] = [
    ("arrivals", "a source, and the metric of a link"),
    ("at", "a loss model, and the place of a point"),
    ("chain", "a topology, and the parameters of a Markov chain"),
    ("constant", "a capacity model, and a distribution of sizes"),
    ("flows", "a metric, and a section of scenarios"),
    ("none", "a loss model, feedback, and whatever is absent"),
    ("rtt", "a predictor, a metric, and a parameter"),
    ("share", "a metric, and a column"),
    ("step", "a discipline that marks, and a line of a trace"),
    ("steps", "a capacity model, and the lines of a trace"),
    ("throughput", "a rule of adaptive bit rate, and the title of metrics"),
    ("web", "a source, and a workload to compare queues with"),
];

/// A family: its folder, and the names that only its registry knows.
fn families() -> Vec<(&'static str, Vec<String>)> {
    let registries = [
        ("cc", cc::REGISTRY),
        ("law", law::REGISTRY),
        ("queue", queue::REGISTRY),
        ("feedback", feedback::REGISTRY),
        ("link/loss", loss::REGISTRY),
        ("link/capacity", capacity::REGISTRY),
        ("traffic", traffic::REGISTRY),
        ("traffic/abr", abr::REGISTRY),
        ("traffic/rtp", rtp::REGISTRY),
        ("scenario/topology", TOPOLOGIES),
        ("predict", predict::REGISTRY),
        ("fluid", fluid::REGISTRY),
    ];
    let named = registries
        .into_iter()
        .map(|(family, registry)| (family, registry.iter().map(|entry| entry.name.to_string()).collect()));
    let metrics = Subject::ALL.iter().flat_map(|subject| subject.metrics());
    named.chain([("measure", metrics.map(|metric| metric.key.clone()).collect())]).collect()
}

/// What a line of code knows of a family: names in strings, variants of its enums, modules of its registry.
fn known(line: &str, family: &str, names: &[String], modules: &BTreeSet<String>) -> Vec<String> {
    let is_homonym = |name: &&String| HOMONYMS.iter().any(|(homonym, _)| homonym == name);
    let written = |name: &&String| {
        line.contains(name.as_str())
            && ['"', '/', ':'].iter().any(|end| line.contains(&format!("\"{name}{end}")))
    };
    let mut known: Vec<String> =
        names.iter().filter(|name| !is_homonym(name) && written(name)).cloned().collect();
    let room = family.rsplit('/').next().unwrap_or_default();
    for kind in ["Config", "Any"] {
        let variants = named_after(line, &format!("{room}::{kind}::")).into_iter();
        known.extend(variants.filter(|name| name.starts_with(char::is_uppercase)).map(String::from));
    }
    // A law is a value that queues, responses and models are made of.
    if family != "law" {
        let named = named_after(line, &format!("{room}::")).into_iter();
        known.extend(named.filter(|module| modules.contains(*module)).map(String::from));
    }
    known
}

#[test]
fn nothing_but_the_registry_knows_an_algorithm_or_a_metric() {
    let library = sources();
    let binary = sources_of("../kneepoint-cli/src")
        .into_iter()
        .map(|source| Source { path: format!("kneepoint-cli/{}", source.path), ..source });
    let families = families().into_iter().map(|(family, names)| {
        let modules = if family == "measure" { BTreeSet::new() } else { registered(&library, family) };
        (family, names, modules)
    });
    let families: Vec<_> = families.collect();
    let mut faults = Vec::new();
    let mut used = BTreeSet::new();
    for source in library.iter().chain(&binary.collect::<Vec<_>>()) {
        let is_home =
            |family: &str| source.path.strip_prefix(family).is_some_and(|rest| rest.starts_with('/'));
        let permission = |family: &&str| {
            NAMES_ALLOWED
                .iter()
                .position(|(path, of, _)| source.path.starts_with(path) && of.contains(family))
        };
        // A controller and a predictor may share a name: either family must permit it.
        let excused = |name: &String| {
            let of = families.iter().filter(|(_, names, _)| names.contains(name));
            of.map(|(family, ..)| family).any(|family| is_home(family) || permission(family).is_some())
        };
        for (family, names, modules) in families.iter().filter(|(family, ..)| !is_home(family)) {
            for (number, line) in source.code() {
                for name in known(&line.replace("\\\"", "\""), family, names, modules) {
                    match permission(family) {
                        Some(place) => drop(used.insert((place, *family))),
                        None if excused(&name) => {}
                        None => faults.push(format!("{}:{number}: it names {name} of {family}", source.path)),
                    }
                }
            }
        }
    }
    for (place, (path, of, why)) in NAMES_ALLOWED.iter().enumerate() {
        for family in of.iter().filter(|family| !used.contains(&(place, **family))) {
            faults.push(format!(
                "{path} names nothing of {family} any more: take away the permission for {why}"
            ));
        }
    }
    for (homonym, why) in HOMONYMS {
        if !families.iter().any(|(_, names, _)| names.iter().any(|name| name == homonym)) {
            faults.push(format!("`{homonym}`: {why} is not registered any more"));
        }
    }
    report(faults);
}

#[test]
fn a_study_is_known_to_its_documents_and_to_one_module_of_the_binary() {
    let studies: Vec<String> = sources()
        .iter()
        .filter(|source| source.code().any(|(_, line)| line.starts_with("impl Study for ")))
        .filter_map(|source| Some(source.path.strip_prefix("study/")?.split(['/', '.']).next()?.to_string()))
        .collect();
    assert!(studies.len() >= 4, "{studies:?}");
    let naming = |sources: Vec<Source>, study: &str| -> Vec<String> {
        let names =
            |source: &Source| source.code().any(|(_, line)| named_after(line, "study::").contains(&study));
        sources.into_iter().filter(names).map(|source| source.path).collect()
    };
    for study in &studies {
        let mut library = naming(sources(), study);
        library.retain(|path| !["study/", "report/"].iter().any(|room| path.starts_with(room)));
        assert_eq!(library, [""; 0], "{study}");
        let mut modules = naming(sources_of("../kneepoint-cli/src"), study);
        let files = modules.clone();
        modules.retain(|path| !files.iter().any(|file| is_submodule(path, file)));
        assert_eq!(modules.len(), 1, "{study}: {modules:?}");
    }
}

/// Whether the file at `path` is a part of the module that `file` opens: `a/b.rs` of `a.rs`.
fn is_submodule(path: &str, file: &str) -> bool {
    path.strip_prefix(file.trim_end_matches(".rs")).is_some_and(|rest| rest.starts_with('/'))
}

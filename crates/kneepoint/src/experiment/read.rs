// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads an experiment: its own sections here, the rest as a scenario.

use serde_json::Value as Json;

use super::bins::{BinParams, Bins};
use super::claim::Claim;
use super::expression::{Check, Expression, Wrong};
use super::publication::{Choice, Publication, Under};
use super::sections::{Alternative, FigureSpec, Head, Names, Predict, Silence, Statement, Words};
use super::subject::{self, Around};
use super::vet::vet;
use super::{Experiment, Pace, Point, Reading, Scope, Variant};
use crate::fault::Faults;
use crate::scenario::choose::{Precedence, choose};
use crate::scenario::reader::{Shape, section, settings};
use crate::scenario::scheme::Scheme;
use crate::scenario::sweep::{self, write_all};
use crate::scenario::tree::{Key, Node, Table, Value};
use crate::scenario::{self, Extensions, Fault, Files, Opened};
use crate::settings::{Raw, Setting};
use crate::study::{Computation, Packets, Work, compute};
use crate::units::{Interval, Span};
use crate::{fluid, predict};

/// The sections that a scenario does not have.
const OWN: [&str; 6] = ["experiment", "figure", "bins", "claim", "reading", "quick"];

/// Reads an experiment that names no files. The error holds every fault found, in order of place.
pub fn parse(text: &str, pace: Pace) -> Result<Experiment, Vec<Fault>> {
    parse_with(text, pace, &scenario::files::none)
}

/// Reads an experiment with the files that it names.
pub fn parse_with(text: &str, pace: Pace, files: Files) -> Result<Experiment, Vec<Fault>> {
    parse_in(&Publication::default(), text, pace, Scope::Single, files)
}

/// Reads an experiment of a publication, with the variants of a scope.
pub fn parse_in(
    publication: &Publication,
    text: &str,
    pace: Pace,
    scope: Scope,
    files: Files,
) -> Result<Experiment, Vec<Fault>> {
    let around = Around { files, extensions: &Extensions::NONE, subject: None, vet };
    parse_around(publication, text, (pace, scope), around)
}

/// Reads an experiment that was read before, as tests read the experiments of this repository, with the readings taken. Its claims are not checked
/// against the metrics of its runs, for which fluid models would be solved: a page need not carry these.
pub fn parse_known(publication: &Publication, text: &str, pace: Pace) -> Result<Experiment, Vec<Fault>> {
    let files: Files = &scenario::files::none;
    let around = Around { files, extensions: &Extensions::NONE, subject: None, vet: |_, _, _, _| () };
    parse_around(publication, text, (pace, Scope::Taken), around)
}

/// Reads an experiment in which a scheme replaces `subject`. Claims about numbers that this scheme does not
/// report cannot be tested.
pub fn parse_for(
    subject: &Scheme,
    extensions: &Extensions,
    text: &str,
    pace: Pace,
    files: Files,
) -> Result<Experiment, Vec<Fault>> {
    let around = Around { files, extensions, subject: Some(subject), vet };
    parse_around(&Publication::default(), text, (pace, Scope::Taken), around)
}

fn parse_around(
    publication: &Publication,
    text: &str,
    how: (Pace, Scope),
    around: Around,
) -> Result<Experiment, Vec<Fault>> {
    let mut faults = Faults::default();
    let mut root = scenario::root(text, &mut faults);
    if let Some((root, subject)) = root.as_mut().zip(around.subject) {
        subject::seat(root, subject);
    }
    let experiment = root.and_then(|root| experiment(&root, publication, how, around, &mut faults));
    match experiment {
        Some(experiment) if faults.is_empty() => Ok(experiment),
        _ => Err(faults.finish(text)),
    }
}

fn experiment(
    root: &Table,
    publication: &Publication,
    (pace, scope): (Pace, Scope),
    around: Around,
    faults: &mut Faults,
) -> Option<Experiment> {
    let shape = Shape { place: "[experiment]", besides: &[], required: &["id", "title", "source"] };
    let head: Head = settings(&section(root, "experiment", faults), shape, faults);
    if !is_name(&head.id.0) {
        let table = section(root, "experiment", faults);
        let message = format!("id: `{}` cannot be part of a file's name", head.id);
        faults.add_with_help(
            table.place("id"),
            message,
            "write lower-case letters, digits and `-`, as in `pert-fig6`",
        );
    }
    let figure = root.get("figure").map(|_| figure(root, faults));
    let bins = root.get("bins").and_then(|_| bins(root, faults));
    let tables = root.tables("claim", faults);
    let mut claims: Vec<Claim> = tables.iter().filter_map(|table| claim(table, faults)).collect();
    claims.iter_mut().flat_map(|claim| &mut claim.checks).for_each(|check| publication.settle(check));
    let silences = root.tables("reading", faults);
    let mut readings: Vec<Reading> = silences.iter().map(|table| reading(table, faults)).collect();

    let mut body = root.clone();
    body.entries.retain(|(key, _)| !OWN.contains(&key.text.as_str()));
    let quick = section(root, "quick", faults);
    if pace == Pace::Quick {
        shorten(&mut body, quick, around.extensions, faults);
    }
    let (Words(id), Words(title), Words(source), Words(quote)) =
        (head.id, head.title, head.source, head.quote);
    let shared = Under { publication, id: &id, body: &body, around }.read(scope, faults)?;
    let mut variants = vec![shared.taken];
    for silence in silences {
        for table in silence.tables("alternative", faults) {
            variants.extend(alternative(table, &shared.body, around, faults));
        }
    }
    variants.extend(shared.others);
    readings.splice(0..0, shared.readings);
    let seeds = shared.seeds;
    let paper = id.split('-').next().unwrap_or_default().to_string();
    let mut experiment =
        Experiment { id, paper, title, source, quote, figure, bins, claims, readings, seeds, variants };
    if let Some(scheme) = around.subject {
        subject::mute(&mut experiment, scheme);
    }
    if shared.body.entries.is_empty() {
        for (claim, table) in
            experiment.claims.iter().zip(&tables).filter(|(claim, _)| !claim.checks.is_empty())
        {
            let message = format!("claim `{}` has a check, but there is nothing to run", claim.id);
            faults.add_with_help(
                table.place("check"),
                message,
                "add a network or [compute], or say as its `reason` why it cannot be tested",
            );
        }
    }
    if faults.is_empty() {
        let drawn = root.get("figure").filter(|_| !shared.body.entries.is_empty());
        let drawn = drawn.map(|_| section(root, "figure", faults));
        let binned = experiment.bins.as_ref().map(|_| section(root, "bins", faults));
        (around.vet)(&experiment, &tables, [drawn.as_ref(), binned.as_ref()], faults);
    }
    Some(experiment)
}

/// Files are named after the id.
fn is_name(id: &str) -> bool {
    let inside = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=100).contains(&id.len()) && id.chars().all(inside) && id.starts_with(|c| c != '-')
}

fn alternative(table: &Table, body: &Table, around: Around, faults: &mut Faults) -> Option<Variant> {
    let shape = Shape { place: "[[reading.alternative]]", besides: &["set"], required: &["name"] };
    let Alternative { name: Words(name) } = settings(table, shape, faults);
    let mut changed = body.clone();
    write_all(&mut changed, &section(table, "set", faults), around.extensions, faults);
    let (points, _) = points(&changed, around, faults)?;
    Some(Variant { name: Some(name), choice: Choice::new(), points })
}

/// Writes the values of `[quick]` into the fields, except for seeds, which cannot be set in a scenario from outside.
fn shorten(body: &mut Table, mut quick: Table, extensions: &Extensions, faults: &mut Faults) {
    let seeds = quick.get("seeds").cloned();
    quick.entries.retain(|(key, _)| key.text != "seeds");
    write_all(body, &quick, extensions, faults);
    if let Some(seeds) = seeds {
        replace(body, "run", "seeds", seeds);
    }
}

fn figure(root: &Table, faults: &mut Faults) -> FigureSpec {
    let shape = Shape { place: "[figure]", besides: &[], required: &["x", "panels"] };
    settings(&section(root, "figure", faults), shape, faults)
}

fn bins(root: &Table, faults: &mut Faults) -> Option<Bins> {
    let table = section(root, "bins", faults);
    let shape = Shape { place: "[bins]", besides: &[], required: &["name", "of", "edges"] };
    let BinParams { name, of, edges, pool } = settings(&table, shape, faults);
    match Expression::parse(&of.0) {
        Ok(of) => Some(Bins { name: name.0, of, edges: edges.0, pool: pool.0 }),
        Err(wrong) => {
            point_at(table.get("of"), 0, &wrong, faults);
            None
        }
    }
}

fn replace(root: &mut Table, section: &str, key: &str, value: Node) {
    let Some(Node { value: Value::Table(table), .. }) = root.get_mut(section) else { return };
    match table.get_mut(key) {
        Some(node) => *node = value,
        None => {
            let key = Key { text: key.into(), span: value.span.clone() };
            table.entries.push((key, value));
        }
    }
}

/// The points of one variant, and its seeds.
pub(super) fn points(body: &Table, around: Around, faults: &mut Faults) -> Option<(Vec<Point>, Vec<u64>)> {
    match (body.get("compute"), body.get("topology")) {
        // Claims for which no run is possible, each with its reason.
        _ if body.entries.is_empty() => Some((Vec::new(), vec![1])),
        (None, _) => simulations(body, around, faults),
        (Some(_), None) => Some((computations(body, faults), vec![1])),
        (Some(_), Some(_)) => computed_and_simulated(body, around, faults),
    }
}

/// A computation and a simulation for each point of the sweep, under the same labels.
fn computed_and_simulated(
    body: &Table,
    around: Around,
    faults: &mut Faults,
) -> Option<(Vec<Point>, Vec<u64>)> {
    let mut points = computations(body, faults);
    let axes = sweep::axes(body, faults);
    let mut seeds = Vec::new();
    for index in 0..sweep::combinations(&axes) {
        // The computations report the faults of the sweep.
        let (labels, mut tree) = sweep::point(body, &axes, index, &Extensions::NONE, &mut Faults::default());
        tree.entries.retain(|(key, _)| key.text != "compute" && key.text != "sweep");
        let mut found = Faults::default();
        let simulated = simulations(&tree, around, &mut found);
        faults.join(found);
        let (simulated, every) = simulated?;
        points.extend(simulated.into_iter().map(|point| Point { labels: labels.clone(), ..point }));
        seeds = every;
    }
    Some((points, seeds))
}

/// A simulation for each point of the sweep, and the seeds of each.
fn simulations(body: &Table, around: Around, faults: &mut Faults) -> Option<(Vec<Point>, Vec<u64>)> {
    let watched = body.get("predict").map(|_| predict(body, faults));
    let windows = windows(body, faults);
    let mut network = body.clone();
    network.entries.retain(|(key, _)| key.text != "predict" && key.text != "windows");
    let plan = scenario::plan(&network, around.extensions, Opened::by(around.files), faults)?;
    let mut points = Vec::new();
    for case in plan.cases {
        let late = |(.., window): &&(String, Node, Interval)| window.to > case.valid.schedule().duration;
        for (key, node, window) in windows.iter().filter(late) {
            let message = format!("windows: {key}, {window}, reaches beyond the end of the run");
            faults.add_with_help(&node.span, message, "end it earlier, or raise `duration` in [run]");
        }
        let windows = windows.iter().map(|(key, _, window)| (key.clone(), *window)).collect();
        let work = match &watched {
            None => Packets { windows, ..Packets::from(case.valid) },
            Some((predict, predictors)) => match predict.watched(&case.valid, predictors) {
                Ok(flow) => Packets { watched: Some(flow), windows, ..Packets::from(case.valid) },
                Err(message) => {
                    let table = section(body, "predict", faults);
                    faults.add_with_help(
                        table.place("flow"),
                        message,
                        "name a group and a place in it: `tagged/0`",
                    );
                    continue;
                }
            },
        };
        points.push(Point { labels: case.settings, work: Work::Packets(Box::new(work)), more: 0 });
    }
    Some((points, plan.seeds))
}

/// The intervals of the run that are measured in addition to the measurement window.
fn windows(body: &Table, faults: &mut Faults) -> Vec<(String, Node, Interval)> {
    let mut windows = Vec::new();
    for (key, node) in section(body, "windows", faults).entries {
        let read = node
            .raw()
            .map_or_else(|| Err(format!("`{}` is not an interval", node.show())), |raw| Interval::read(&raw));
        match read {
            Ok(window) if window.span() > Span::ZERO => windows.push((key.text, node, window)),
            Ok(_) => faults.add_with_help(
                &node.span,
                format!("windows: {} is empty", key.text),
                "let it end after it begins",
            ),
            Err(message) => {
                faults.add_with_help(
                    &node.span,
                    format!("windows: {message}"),
                    "write it as in `\"early\" = \"0s..100s\"`",
                );
            }
        }
    }
    windows
}

/// A computation for each point of the sweep.
fn computations(body: &Table, faults: &mut Faults) -> Vec<Point> {
    let axes = sweep::axes(body, faults);
    let points = (0..sweep::combinations(&axes)).map(|index| {
        let mut found = Faults::default();
        let (labels, tree) = sweep::point(body, &axes, index, &Extensions::NONE, &mut found);
        let work = Work::Computation(Box::new(computation(&tree, &mut found)));
        faults.join(found);
        Point { labels, work, more: 0 }
    });
    points.collect()
}

fn computation(tree: &Table, faults: &mut Faults) -> Computation {
    let means_nothing = |(key, _): &&(Key, Node)| !["compute", "sweep", "name"].contains(&key.text.as_str());
    for (key, _) in tree.entries.iter().filter(|_| tree.get("topology").is_none()).filter(means_nothing) {
        let help =
            "leave it out, or add the [topology] of a network to be simulated in addition to the computation";
        faults.add_with_help(&key.span, format!("`{}` has no effect with [compute]", key.text), help);
    }
    let table = section(tree, "compute", faults);
    let shape = Shape { place: "[compute]", besides: &["model", "controller", "chain"], required: &["what"] };
    let settings: compute::ComputeParams = settings(&table, shape, faults);
    if let Err(message) = settings.along.0.parse::<fluid::axis::ParameterAxis>() {
        faults.add(table.place("along"), message);
    }
    let model = table
        .get("model")
        .and_then(|node| choose(node, "model", Precedence::Members, &Extensions::NONE, faults));
    let controller = table
        .get("controller")
        .and_then(|node| choose(node, "controller", Precedence::Members, &Extensions::NONE, faults));
    let chain = Shape { place: "`chain` in [compute]", ..Shape::default() };
    Computation {
        chain: self::settings(&section(&table, "chain", faults), chain, faults),
        settings,
        model: model.map(|chosen| chosen.config).unwrap_or_default(),
        controller: controller.map(|chosen| chosen.config).unwrap_or_default(),
    }
}

/// The predictors, with their descriptions.
fn predict(body: &Table, faults: &mut Faults) -> (Predict, Vec<(String, predict::Config)>) {
    let table = section(body, "predict", faults);
    let shape = Shape { place: "[predict]", besides: &[], required: &["flow", "predictors"] };
    let settings: Predict = settings(&table, shape, faults);
    let mut predictors = Vec::new();
    for text in &settings.predictors.0 {
        match predict::parse(text) {
            Ok(predictor) => predictors.push(predictor),
            Err(message) => faults.add(table.place("predictors"), message),
        }
    }
    (settings, named_alone(predictors))
}

/// Predictors under their names without settings, where no two share one: a reading that sets something else is then
/// under the same name, and a claim about it can be held against both.
fn named_alone(predictors: Vec<(String, predict::Config)>) -> Vec<(String, predict::Config)> {
    let alone = |text: &str| text.split(':').next().unwrap_or_default().trim().to_string();
    let names: Vec<String> = predictors.iter().map(|(text, _)| alone(text)).collect();
    let shared = |name: &String| names.iter().filter(|other| *other == name).count() > 1;
    let both = names.iter().zip(predictors);
    both.map(|(name, (text, config))| (if shared(name) { text } else { name.clone() }, config)).collect()
}

fn reading(table: &Table, faults: &mut Faults) -> Reading {
    let shape = Shape { place: "[[reading]]", besides: &["alternative"], required: &["about", "taken"] };
    let Silence { about: Words(about), taken: Words(taken) } = settings(table, shape, faults);
    Reading { shared: None, about, taken, because: String::new() }
}

fn claim(table: &Table, faults: &mut Faults) -> Option<Claim> {
    let before = faults.len();
    let shape = Shape { place: "[[claim]]", besides: &["ours", "published"], required: &["id", "text"] };
    let statement: Statement = settings(table, shape, faults);
    let Names(texts) = &statement.check;
    let checks = texts.iter().enumerate().filter_map(|(place, text)| {
        Check::parse(text).map_err(|wrong| point_at(table.get("check"), place, &wrong, faults)).ok()
    });
    let checks = checks.collect::<Vec<_>>();
    let mut ours = Vec::new();
    for (key, node) in &section(table, "ours", faults).entries {
        match Expression::parse(node.as_text().unwrap_or_default()) {
            Ok(expression) => ours.push((key.text.clone(), expression)),
            Err(wrong) => point_at(Some(node), 0, &wrong, faults),
        }
    }
    if checks.is_empty() && statement.reason.0.is_empty() && faults.len() == before {
        let help = "add a `check`, or say as its `reason` why it cannot be tested";
        faults.add_with_help(&table.span, "the claim has no check", help);
    }
    (faults.len() == before).then(|| Claim {
        id: statement.id.0,
        text: statement.text.0,
        checks,
        each: statement.each.0,
        need: statement.need,
        tolerance: statement.tolerance.0,
        ours,
        published: table.get("published").map(|node| json(&node.value)),
        reason: Some(statement.reason.0).filter(|reason| !reason.is_empty()),
        cause: statement.cause,
    })
}

/// Adds the fault of an expression at its place: the `place`-th of a list, or the only one.
fn point_at(node: Option<&Node>, place: usize, wrong: &Wrong, faults: &mut Faults) {
    let node = match node.map(|node| (&node.value, node)) {
        Some((Value::List(nodes), whole)) => nodes.get(place).unwrap_or(whole),
        Some((_, alone)) => alone,
        None => return,
    };
    // The text begins after its quotation mark, and a comparison needs no escapes.
    let start = node.span.start + 1 + wrong.span.start;
    let span = start.min(node.span.end)..(start + wrong.span.len()).min(node.span.end);
    faults.add_with_help(&span, &wrong.message, "write it as in `utilization[scheme=pert] >= 0.9`");
}

/// A published number, text, list or table as it is.
fn json(value: &Value) -> Json {
    match value {
        Value::Scalar(raw) => scalar(raw),
        Value::List(nodes) => nodes.iter().map(|node| json(&node.value)).collect(),
        Value::Table(table) => {
            table.entries.iter().map(|(key, node)| (key.text.clone(), json(&node.value))).collect()
        }
        Value::Foreign(text) => text.clone().into(),
    }
}

fn scalar(raw: &Raw) -> Json {
    match raw {
        Raw::Bool(value) => (*value).into(),
        Raw::Integer(value) => (*value).into(),
        Raw::Float(value) => (*value).into(),
        Raw::Text(text) | Raw::Huge(text) => text.clone().into(),
        Raw::List(several) => several.iter().map(scalar).collect(),
    }
}

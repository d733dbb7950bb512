// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `docs/output.md` defines every key and column that is printed or written, and no others.

use std::collections::BTreeSet;

use kneepoint::measure::Subject;
use kneepoint::report::SCHEMA_VERSION;
use kneepoint::report::output::{self, Definition, Output as Defined};

use super::*;

/// Two measured links, transfers of all kinds, a file that the scenario names.
const ALL_KINDS: &str = "[run]\nduration = '30s'\nmeasure = '2s..30s'\nseeds = 2\n\
    [topology]\nkind = 'parking-lot'\nrouters = 3\nrate = '10mbit'\nhop_delay = '5ms'\naccess_delay = '5ms'\nbuffer = '20pkt'\n\
    [[flows]]\nname = 'long'\ncount = 4\ncc = 'sack'\n\
    [[web]]\nname = 'pages'\nsessions = 20\ncc = 'sack'\n\
    [[video]]\nname = 'stream'\ncount = 2\ncc = 'sack'\n\
    [[arrivals]]\nname = 'short'\ncc = 'reno'\nfile = 'flows.csv'\n";

/// One bottleneck at which the windows of dropped packets are of interest.
const SHARED: &str = "[run]\nduration = '12s'\nmeasure = '2s..12s'\n[topology]\nkind = 'dumbbell'\nrate = '5mbit'\nrtt = '40ms'\n\
    buffer = '15pkt'\n[[flows]]\nname = 'long'\ncount = 4\ncc = 'sack'\n[[web]]\nname = 'pages'\nsessions = 20\ncc = 'sack'\n\
    [[video]]\nname = 'stream'\ncount = 2\ncc = 'sack'\n";

/// A bottleneck whose capacity and delay change.
const MOVING: &str = "[run]\nduration = '4s'\n[topology]\nkind = 'dumbbell'\nrate = '5mbit'\nrtt = '20ms'\n\
    delay_steps = ['2s: 50ms']\n[capacity]\nkind = 'steps'\nrates = ['0s: 5mbit', '2s: 2mbit']\n[[flows]]\ncc = 'cubic'\n[[media]]\nname = 'call'\n";

/// A factor, which is a column of every table.
const SWEPT: &str = "[sweep]\n'topology.buffer' = ['20pkt']\n";

const TOY: &str = "[experiment]\nid = 'toy-small'\ntitle = 'A small link'\nsource = 'Nobody, nowhere'\n\
    [run]\nduration = '8s'\nmeasure = '2s..8s'\nseeds = 2\n[topology]\nkind = 'dumbbell'\nrate = '5mbit'\nrtt = '20ms'\n\
    [[flows]]\nname = 'long'\ncount = 2\ncc = 'reno'\n[sweep]\nscheme = ['pert', 'sack/droptail']\n\
    [figure]\nx = 'scheme'\nlabel = 'scheme'\nseries = ''\npanels = 'utilization'\n\
    [[reading]]\nabout = 'How long the round trip is.'\ntaken = '20 ms.'\n\
    [[reading.alternative]]\nname = '40 ms'\nset = { 'topology.rtt' = '40ms' }\n\
    [[claim]]\nid = 'two'\ntext = 'Two numbers.'\ncheck = 'utilization[scheme=pert] > 0.1 * utilization[scheme=sack/droptail]'\n\
    [[claim]]\nid = 'each'\ntext = 'Each.'\ncheck = 'utilization > 0.1'\neach = 'scheme'\n";

/// Runs it; its standard output must be JSON, with any exit status.
fn answer(here: &Path, arguments: &str) -> Value {
    let arguments: Vec<&str> = arguments.split_whitespace().chain(["--json"]).collect();
    let output = knee(here, &arguments);
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}{}", stdout(&output), stderr(&output)))
}

/// Every path in a document.
fn paths(value: &Value, above: &[String], found: &mut BTreeSet<Vec<String>>) {
    let Value::Object(object) = value else { return };
    for (key, below) in object {
        let mut name = key.clone();
        let mut inner = vec![below];
        while inner.iter().any(|one| one.is_array()) {
            name += "[]";
            inner = inner.into_iter().filter_map(Value::as_array).flatten().collect();
        }
        let path = [above, &[name]].concat();
        inner.into_iter().for_each(|one| paths(one, &path, found));
        found.insert(path);
    }
}

/// The definition of a path, from the definitions of a document.
fn defines(definitions: &[Definition], path: &[String]) -> Option<usize> {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    definitions.iter().position(|one| one.fits(&path))
}

/// Asserts that these documents have the keys that are defined for their kind.
pub(super) fn assert_defined(defined: &Defined, documents: &[Value]) {
    let mut found = BTreeSet::new();
    for document in documents {
        assert_eq!(document["schema_version"], SCHEMA_VERSION, "{}", defined.name);
        paths(document, &[], &mut found);
    }
    found.remove(&vec!["schema_version".to_string()]);
    let mut definitions = defined.definitions();
    definitions.retain(|one| one.path != "schema_version");
    assert_same(defined.name, &definitions, found);
}

fn assert_same(name: &str, definitions: &[Definition], found: BTreeSet<Vec<String>>) {
    let mut printed = vec![false; definitions.len()];
    let mut undefined = Vec::new();
    for path in found {
        match defines(definitions, &path) {
            Some(place) => printed[place] = true,
            None => undefined.push(path.join(".")),
        }
    }
    // Every manifest may name files; the scenarios of comparisons do.
    let seldom = |path: &str| {
        ["files.<name>", "presets.<name>"].iter().any(|end| path.ends_with(end)) && name != "Comparison"
    };
    // Metrics come from their registry; a run has those that apply to it.
    let metrics: BTreeSet<&str> =
        Subject::ALL.iter().flat_map(|subject| subject.metrics()).map(|metric| metric.key.as_str()).collect();
    let may_lack = |path: &str| name == "Comparison" && path.split('.').any(|key| metrics.contains(key));
    let lacks = |one: &Definition| !seldom(&one.path) && !may_lack(&one.path);
    let never = definitions.iter().zip(printed).filter(|(one, printed)| !printed && lacks(one));
    let never = never.map(|(one, _)| &one.path);
    let never: Vec<&String> = never.collect();
    assert!(
        undefined.is_empty() && never.is_empty(),
        "{name}: without a definition: {undefined:#?}; defined, but never there: {never:#?}"
    );
}

/// Asserts that these files have the columns that are defined for their kind.
fn assert_columns(name: &str, texts: &[String]) {
    let defined = output::table(name).unwrap_or_else(|| panic!("no table is called {name}"));
    let heads = texts.iter().filter_map(|text| text.lines().next());
    let found =
        heads.flat_map(|head| head.split(',').map(|column| vec![column.trim_matches('"').to_string()]));
    assert_same(name, &defined.definitions(), found.collect());
}

fn write(here: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        std::fs::write(here.join(name), text).unwrap();
    }
}

#[test]
fn comparisons_and_their_tables_have_the_keys_that_are_defined() {
    let here = tempfile::tempdir().unwrap();
    write(
        here.path(),
        &[
            ("all.toml", &[ALL_KINDS, SWEPT].concat()),
            ("shared.toml", &[SHARED, SWEPT].concat()),
            ("moving.toml", MOVING),
            ("flows.csv", "time_s,size_bytes\n1,50000\n2,20000\n"),
        ],
    );
    let all = answer(here.path(), "run all.toml --objects --out all");
    let shared = answer(here.path(), "run shared.toml --out shared");
    let overlay = answer(
        here.path(),
        "compare pert cubic --rate 20mbit --flows 4 --duration 20s --seeds 1 --overlay fluid --out overlay",
    );
    answer(here.path(), "run moving.toml --sample all --out moving");
    let differences = ["diff overlay overlay --metric goodput_bps --out d", "diff all shared"]
        .map(|asked| answer(here.path(), asked));
    assert_defined(output::document("Difference").unwrap(), &differences);
    let read = |file: &str| std::fs::read_to_string(here.path().join(file)).unwrap();
    assert_columns("differences", &[read("d/differences.csv")]);
    let written: Value = serde_json::from_str(&read("all/summary.json")).unwrap();
    assert_eq!(written, all);
    assert_defined(output::document("Comparison").unwrap(), &[all, shared, overlay]);
    for (table, file) in [
        ("summary", "all/summary.csv"),
        ("runs", "all/runs.csv"),
        ("links", "all/links.csv"),
        ("groups", "all/groups.csv"),
        ("crossings", "all/crossings.csv"),
        ("classes", "all/classes.csv"),
        ("completions", "all/completions.csv"),
        ("startups", "all/startups.csv"),
        ("drop_windows", "shared/drop_windows.csv"),
        ("objects", "all/objects/buffer-20-packets-seed1.csv"),
    ] {
        assert_columns(table, &[read(file)]);
    }
    assert_columns(
        "series",
        &[
            read("all/series/buffer-20-packets-seed1.csv"),
            read("overlay/series/pert-seed1.csv"),
            read("moving/series/moving-seed1.csv"),
        ],
    );
}

#[test]
fn parquet_files_say_what_their_columns_are() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let here = tempfile::tempdir().unwrap();
    write(here.path(), &[("shared.toml", SHARED)]);
    answer(here.path(), "run shared.toml --out o");
    let file = std::fs::File::open(here.path().join("o/series/shared-seed1.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let metadata = reader.metadata().file_metadata();
    let entry = |key: &str| {
        let found = metadata.key_value_metadata().unwrap().iter().find(|one| one.key == key);
        found.and_then(|one| one.value.clone()).unwrap_or_else(|| panic!("no {key}"))
    };
    assert_eq!(entry("schema_version"), SCHEMA_VERSION.to_string());
    let manifest: Value = serde_json::from_str(&entry("manifest")).unwrap();
    assert_eq!(manifest["scenario"][0]["text"], SHARED);
    let columns: Value = serde_json::from_str(&entry("columns")).unwrap();
    for field in metadata.schema().get_fields() {
        let defined = output::SERIES.column(field.name()).unwrap();
        assert_eq!(
            (&columns[field.name()]["unit"], &columns[field.name()]["definition"]),
            (&defined.unit.into(), &defined.about.into())
        );
    }
}

#[test]
fn coexistence_reproduction_and_prediction_have_the_keys_that_are_defined() {
    let here = tempfile::tempdir().unwrap();
    write(
        here.path(),
        &[("toy.toml", TOY), ("shared.toml", SHARED), ("swept.toml", &[SHARED, SWEPT].concat())],
    );
    let small = "coexist reno cubic --rate 5mbit --rtt 20ms --buffers 1bdp --flows 2 --duration 8s --seeds 2 --out coexist";
    let document = |name: &str| output::document(name).unwrap();
    assert_defined(document("Coexistence"), &[answer(here.path(), small)]);
    let read = |file: &str| std::fs::read_to_string(here.path().join(file)).unwrap();
    assert_columns("coexistence", &[read("coexist/coexistence.csv")]);
    let claims = answer(here.path(), "reproduce toy.toml --alternatives true --out toy");
    assert_defined(document("Claims"), &[claims]);
    assert_columns("estimates", &[read("toy/data/toy-small.csv")]);
    assert_defined(document("Experiments"), &[answer(here.path(), "reproduce pert.fig6 --list")]);
    let manifest = serde_json::from_str(&read("toy/manifest.json")).unwrap();
    let defined = document("Manifest");
    let mut found = BTreeSet::new();
    paths(&manifest, &[], &mut found);
    assert_same("Manifest", &defined.definitions(), found);
    let capture = "run shared.toml --pcap s1-r1 --pcap r1-s1 --out run";
    answer(here.path(), capture);
    let files = names(&here.path().join("run/captures")).join(" run/captures/");
    let simulated = answer(here.path(), "predict swept.toml --predictors rtt --out simulated");
    let captured =
        answer(here.path(), &format!("predict run/captures/{files} --predictors rtt --out captured"));
    assert_defined(document("Predictions"), &[simulated, captured]);
    let connection = concat!(env!("CARGO_MANIFEST_DIR"), "/../kneepoint/tests/laboratory/qlog/aioquic.qlog");
    let plotted = answer(here.path(), &format!("plot {connection} --out plotted"));
    assert_defined(document("Connections"), &[plotted]);
    let series = names(&here.path().join("plotted/series"));
    assert_columns("connection", &[read(&format!("plotted/series/{}", series[0]))]);
    assert_columns("scores", &[read("simulated/scores.csv")]);
    let identify = format!("identify run/captures/{files} --against reno,cubic,vegas --out identified");
    assert_defined(document("Identification"), &[answer(here.path(), &identify)]);
    assert_columns("candidates", &[read("identified/candidates.csv")]);
    assert_defined(
        document("Captured flows"),
        &[answer(here.path(), &format!("predict run/captures/{files} --flows"))],
    );
}

#[test]
fn models_have_the_keys_that_are_defined() {
    let here = tempfile::tempdir().unwrap();
    let document = |name: &str| output::document(name).unwrap();
    let run = |arguments: &str| answer(here.path(), arguments);
    assert_defined(document("Trajectory"), &[run("fluid run pert --rtt 171ms --out run")]);
    assert_defined(
        document("Stability map"),
        &[run("fluid stability pert --capacity 100pps --x rtt=150ms..180ms:4 --y flows=4..6:2 --out map")],
    );
    assert_defined(document("Stability boundary"), &[run("fluid boundary pert --capacity 100pps")]);
    assert_defined(document("Designs"), &[run("fluid design tcp-pi --flows 60 --phase-margin 45")]);
    let markov = "markov --arrivals 0.01 --backlogs 1 --monte-carlo 20000 --packets --duration 400s --seeds 2 --out markov";
    assert_defined(document("Markov model"), &[run(markov)]);
    let read = |file: &str| std::fs::read_to_string(here.path().join(file)).unwrap();
    assert_columns("trajectory", &[read("run/trajectory.csv")]);
    assert_columns("stability", &[read("map/stability.csv")]);
    assert_columns("markov", &[read("markov/markov.csv")]);
}

#[test]
fn names_scenarios_and_this_machine_have_the_keys_that_are_defined() {
    let here = tempfile::tempdir().unwrap();
    let document = |name: &str| output::document(name).unwrap();
    let run = |arguments: &str| answer(here.path(), arguments);
    assert_defined(document("Names"), &[run("list queues")]);
    assert_defined(document("Explanations"), &[run("explain tcp"), run("explain red")]);
    assert_defined(document("Example"), &[run("init -"), run("init my.toml")]);
    write(here.path(), &[("page.html", "<body><!-- own --></body>")]);
    assert_defined(document("Studio"), &[run("studio my.toml --page page.html --out my.html")]);
    assert_defined(document("Manual pages"), &[run("man"), run("man --out man")]);
    assert_defined(document("This machine"), &[run("doctor")]);
    write(here.path(), &[("bad.toml", "[run]\nduration = 3\n")]);
    let opening = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 < S 0:0(0) win 9 <mss 1000>\n+0 > S. 0:0(0) ack 1 <...>\n\
                   +.1 < . 1:1(0) ack 1 win 9\n+0 accept(3, ..., ...) = 4\n";
    let differs =
        format!("{opening}+0 write(4, ..., 1000) = 1000\n+9 > P. 1:1001(1000) ack 1\n+0 close(4) = 0\n");
    write(here.path(), &[("differs.pkt", &differs), ("refused.pkt", "+0 poll(4) = 1\n")]);
    write(here.path(), &[("5g.csv", "time_s,cell,Mbps,rtt_ms\n0,7,0,30\n1,7,5,40\n")]);
    assert_defined(document("Traces"), &[run("trace 5g.csv")]);
    assert_defined(document("Drill"), &[run("drill differs.pkt refused.pkt")]);
    assert_defined(document("Checked files"), &[run("check my.toml"), run("check bad.toml my.toml")]);
    #[cfg(target_os = "linux")]
    {
        let open = "at_us,kind,packets,rtt_us,acked,una,next,in_flight,draw\n0,open,10,,,,,,\n";
        let parting = format!(
            "{open}1000,ack,,60000,1,1,2,1,\n2000,ack,,60000,4294967295,1,2,1,\n3000,ack,,60000,1,1,2,1,\n"
        );
        write(here.path(), &[("trace.csv", &parting)]);
        assert_defined(document("Replay"), &[run("replay trace.csv --cc pert")]);
    }
}

#[test]
fn a_failure_is_one_json_object_on_standard_error_with_the_status_that_it_has_without() {
    let here = tempfile::tempdir().unwrap();
    write(
        here.path(),
        &[
            ("bad.toml", "nmae = 1\n[run]\nduration = 3\n"),
            ("toml", "name = [\n"),
            ("trace.csv", "at_us\nx\n"),
        ],
    );
    let mut errors = Vec::new();
    for (arguments, place) in [
        (&["run", "missing.toml"][..], None),
        (&["run", "bad.toml"], Some(("bad.toml", 1, 1))),
        (&["reproduce", "bad.toml"], Some(("bad.toml", 1, 1))),
        (&["run", "toml"], None),
        (&["compare", "prt"], None),
        (&["compare", "--rate", "150mbps"], None),
        (&["compare", "--nonsense"], None),
        (&["cmpare"], None),
        (&["explain", "drptail"], None),
        (&["list", "controler"], None),
        (&["check", "missing.toml"], None),
        (&["fluid", "run", "pert", "--flows", "x"], None),
        (&["init", "."], None),
        (&[], None),
    ] {
        let plain = knee(here.path(), arguments);
        let output = knee(here.path(), &[arguments, &["--json"]].concat());
        assert_eq!(output.status.code(), plain.status.code(), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}: {}", stdout(&output));
        let text = stderr(&output);
        assert_eq!(text.lines().count(), 1, "{arguments:?}: {text}");
        let error: Value =
            serde_json::from_str(&text).unwrap_or_else(|why| panic!("{arguments:?}: {why}: {text}"));
        assert_eq!(error["status"], output.status.code().unwrap(), "{arguments:?}");
        assert!(
            error["message"].as_str().is_some_and(|message| message.len() > 5 && !message.contains('\u{1b}')),
            "{error}"
        );
        assert!(error["remedy"].is_string() || !error["faults"].as_array().unwrap().is_empty(), "{error}");
        if let Some((file, line, column)) = place {
            let fault = &error["faults"][0];
            assert_eq!(
                (&fault["file"], &fault["line"], &fault["column"]),
                (&file.into(), &line.into(), &column.into()),
                "{error}"
            );
        }
        errors.push(error);
    }
    assert_eq!(errors[1]["faults"].as_array().unwrap().len(), 4, "{:#}", errors[1]);
    assert_defined(output::document("Errors").unwrap(), &errors);
    // A program's own argument is not one of ours.
    let output = knee(here.path(), &["compare", "--nonsense", "--", "--json"]);
    assert!(stderr(&output).starts_with("error: "), "{}", stderr(&output));
}

#[test]
fn check_has_one_shape_for_one_file_and_for_several() {
    let here = tempfile::tempdir().unwrap();
    knee(here.path(), &["init", "my.toml"]);
    let (one, two) = (answer(here.path(), "check my.toml"), answer(here.path(), "check my.toml my.toml"));
    assert_eq!(one["files"][0], two["files"][1]);
    assert_eq!((one["files"].as_array().unwrap().len(), two["files"].as_array().unwrap().len()), (1, 2));
}

/// The runs of kernels that are kept in the repository. The output of `knee kernel` is not compared, because the verb
/// changes the machine.
#[test]
fn kept_reports_of_kernels_have_no_key_without_a_definition() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../validation/live");
    for (name, file) in [("Kernel and simulator", "controllers.json"), ("Film", "video.json")] {
        let text = std::fs::read_to_string(kept.join(file)).unwrap();
        let definitions = output::document(name).unwrap().definitions();
        let mut found = BTreeSet::new();
        paths(&serde_json::from_str(&text).unwrap(), &[], &mut found);
        found.remove(&vec!["schema_version".to_string()]);
        found.retain(|path| defines(&definitions, path).is_none());
        assert!(found.is_empty(), "{name}: without a definition: {found:?}");
    }
}

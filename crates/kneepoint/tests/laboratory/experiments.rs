// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The published experiments: each can be read, has claims, and differs from the others.

use std::collections::BTreeSet;
use std::path::Path;

use kneepoint::experiment::{
    Choice, Experiment, Pace, Publication, Scope, Variant, parse, parse_in, parse_with,
};
use kneepoint::study::Work;

fn experiments(pace: Pace) -> Vec<(String, Experiment)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let mut found = Vec::new();
    for paper in std::fs::read_dir(&root).expect("a folder of experiments") {
        let folder = paper.expect("a paper").path();
        // Cases of gates have an open place; `gate::suites` reads them.
        if folder.ends_with("gate") {
            continue;
        }
        let shared = std::fs::read_to_string(folder.join("publication.toml")).unwrap_or_default();
        let shared =
            Publication::parse(&shared).unwrap_or_else(|faults| panic!("{}: {faults:#?}", folder.display()));
        for file in std::fs::read_dir(folder).expect("a folder for each paper") {
            let path = file.expect("a file").path();
            let stem = path.file_stem().expect("a name").to_string_lossy().into_owned();
            if stem == "publication" {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("text");
            let experiment = read_in(&shared, &text, pace, Scope::Joint);
            found.push((stem, experiment.unwrap_or_else(|faults| panic!("{}: {faults}", path.display()))));
        }
    }
    found
}

fn read_in(shared: &Publication, text: &str, pace: Pace, scope: Scope) -> Result<Experiment, String> {
    let parsed = parse_in(shared, text, pace, scope, &|named| Err(format!("no file {named}")));
    parsed.map_err(|faults| format!("{faults:#?}"))
}

#[test]
fn every_experiment_can_be_read_at_both_paces_and_is_named_as_its_file() {
    for pace in [Pace::Full, Pace::Quick] {
        for (stem, experiment) in experiments(pace) {
            assert!(experiment.id.ends_with(&format!("-{stem}")), "{}: {stem}", experiment.id);
            let tabled = experiment.figure.as_ref().is_some_and(|figure| !figure.tables.0.is_empty());
            assert!(!experiment.claims.is_empty() || tabled, "{}: nothing to read", experiment.id);
            let first = experiment.variants[0].points.first();
            let simulated = first.is_some_and(|point| matches!(point.work, Work::Packets(_)));
            let least = if pace == Pace::Quick { 5 } else { 3 };
            assert!(!simulated || experiment.seeds.len() >= least, "{}: too few seeds", experiment.id);
            let ids: BTreeSet<&str> = experiment.claims.iter().map(|claim| claim.id.as_str()).collect();
            assert_eq!(ids.len(), experiment.claims.len(), "{}: two claims share a name", experiment.id);
        }
    }
}

/// A tagged flow that predictors watch.
fn predicted(predictors: &str) -> String {
    format!(
        "[experiment]\nid = \"a-b\"\ntitle = \"c\"\nsource = \"d\"\n\
         [run]\nduration = \"2s\"\n[topology]\nkind = \"dumbbell\"\nrate = \"1mbit\"\n\
         [[flows]]\nname = \"tagged\"\ncc = \"reno\"\n\
         [predict]\nflow = \"tagged/0\"\npredictors = [{predictors}]\n\
         [[claim]]\nid = \"a\"\ntext = \"b\"\ncheck = \"1 < 2\"\n"
    )
}

fn faults(text: &str) -> String {
    parse(text, Pace::Full).unwrap_err().iter().map(|fault| format!("{fault:?}\n")).collect()
}

#[test]
fn windows_are_held_against_the_run_and_claims_against_windows() {
    let text = predicted("\"rtt:absolute=65ms\"").replace("1 < 2", "utilization[window=early] >= 0");
    let with = |windows: &str| format!("{text}[windows]\n{windows}\n");
    assert!(parse(&with("early = \"0s..1s\""), Pace::Full).is_ok());
    assert!(faults(&text).contains("nothing is observed along `window`"));
    assert!(faults(&with("erly = \"0s..1s\"")).contains("did you mean `erly`"));
    assert!(faults(&with("early = \"0s..3s\"")).contains("reaches beyond the end of the run"));
    assert!(faults(&with("early = \"1s..1s\"")).contains("is empty"));
    assert!(faults(&with("early = 7")).contains("0s..100s"));
}

#[test]
fn bins_have_a_name_of_their_own() {
    let of = |name: &str| {
        let bins = format!("[bins]\nname = \"{name}\"\nof = \"utilization\"\nedges = [0.0, 1.0]\n");
        let experiment = "[experiment]\nid = \"own\"\ntitle = \"Own\"\nsource = \"nobody\"\n";
        faults(&format!(
            "{experiment}{bins}[run]\nduration = \"10s\"\n[topology]\nkind = \"dumbbell\"\nrate = \"1mbit\"\nrtt = \"10ms\"\n\
             [[flows]]\ncount = 1\ncc = \"reno\"\n[sweep]\nscheme = [\"reno\", \"cubic\"]\n"
        ))
    };
    assert!(of(" ").contains("the bins have no name"));
    assert!(of("scheme").contains("`scheme` is an axis of the sweep"));
}

#[test]
fn what_cannot_be_run_has_reasons_and_no_checks() {
    let head =
        "[experiment]\nid = \"a-b\"\ntitle = \"c\"\nsource = \"d\"\n[[claim]]\nid = \"a\"\ntext = \"b\"\n";
    let experiment = parse(&format!("{head}reason = \"because\"\n"), Pace::Full).unwrap();
    assert!(experiment.variants[0].points.is_empty());
    assert!(faults(&format!("{head}check = \"1 < 2\"\n")).contains("nothing to run"));
}

#[test]
fn files_of_an_experiment_are_read_through_the_caller() {
    let text = predicted("\"rtt:absolute=65ms\"") + "[[arrivals]]\ncc = \"reno\"\nfile = \"a.csv\"\n";
    let read = |file: &'static str| parse_with(&text, Pace::Full, &move |_| Ok(file.to_string()));
    assert!(read("time_s,size_bytes\n0.5,1000\n").is_ok());
    assert!(read("time_s\nsoon\n").unwrap_err()[0].message.contains("`a.csv`, line 2"));
    assert!(faults(&text).contains("files cannot be opened here"));
}

#[test]
fn predictors_go_by_their_names_alone_where_no_two_share_one() {
    let called = |predictors: &str| {
        let experiment = parse(&predicted(predictors), Pace::Full).unwrap();
        let Work::Packets(packets) = &experiment.variants[0].points[0].work else { panic!() };
        let (seen, _) = packets.run(1);
        let mut names: Vec<String> =
            seen.rows.into_iter().filter_map(|mut row| row.labels.remove("predictor")).collect();
        names.dedup();
        names
    };
    assert_eq!(called("\"rtt:absolute=65ms\", \"ewma:history=0.9\""), ["rtt", "ewma"]);
    let two = "\"ewma:history=0.9\", \"ewma:history=0.5\"";
    assert_eq!(called(two), ["ewma:history=0.9", "ewma:history=0.5"]);
}

#[test]
fn a_misspelt_metric_of_a_claim_is_found_before_anything_is_run() {
    let text = predicted("\"rtt:absolute=65ms\"");
    let checked = |check: &str| text.replace("1 < 2", check);
    let wrong = faults(&checked("completion_time_p95[group=tagged] < 1"));
    assert!(wrong.contains("no run measures `completion_time_p95`"), "{wrong}");
    assert!(faults(&checked("utilisation > 0.5")).contains("did you mean `utilization`"));
    for check in
        ["efficiency[predictor=rtt, judge=flow] >= 0", "completion_time_p95_ms[group=tagged, class=10kB] < 1"]
    {
        assert!(parse(&checked(check), Pace::Full).is_ok(), "{check}");
    }
    let drawn = |figure: &str| format!("{text}[figure]\n{figure}\n");
    assert!(parse(&drawn("x = \"predictor\"\npanels = \"efficiency\""), Pace::Full).is_ok());
    assert!(
        faults(&drawn("x = \"predicter\"\npanels = \"efficiency\"")).contains("did you mean `predictor`")
    );
    assert!(
        faults(&drawn("x = \"predictor\"\npanels = \"eficiency\"")).contains("did you mean `efficiency`")
    );
    let full = "x = \"group\"\npanels = \"goodput_bps / 1e6\"\n";
    assert!(parse(&drawn(&format!("{full}tables = \"share[group=tagged]\"")), Pace::Full).is_ok());
    assert!(
        faults(&drawn(&format!("{full}tables = \"shar[group=tagged]\""))).contains("did you mean `share`")
    );
    assert!(
        faults(&drawn(&format!("{full}tables = \"share[gruop=tagged]\""))).contains("did you mean `group`")
    );
    assert!(faults(&drawn(&format!("{full}tables = \"share +\""))).contains("drop_ratio[group=web]"));
    assert!(faults(&drawn(&format!("{full}plane = \"share\""))).contains("name two metrics"));
    // A controller's state is sampled with the series.
    let state = checked("cwnd_gain[group=tagged, time=1] > 0").replace("cc = \"reno\"", "cc = \"bbr\"");
    assert!(faults(&state).contains("no run measures `cwnd_gain`"));
    let named = state
        .replace("cwnd_gain", "pacing_gain")
        .replace("duration = \"2s\"", "duration = \"2s\"\nsample = \"1s\"");
    assert!(parse(&named, Pace::Full).is_ok());
}

const SHARED: &str = r#"
[[reading]]
id = "step"
about = "The step."
taken = "Half a packet."
because = "The text."
set = { "controllers.pert-adaptive.compete_step" = 0.5 }
[[reading.alternative]]
name = "small steps"
set = { "controllers.pert-adaptive.compete_step" = 0.1 }

[[reading]]
id = "noise"
about = "Noise."
taken = "None."
because = "The text."
[[reading.alternative]]
name = "some"
set = { "tcp.jitter" = "1ms" }

[[reading]]
id = "FAST"
about = "Its target."
taken = "100."
because = "The text."
[[reading.alternative]]
name = "8"
set = { "controllers.fast.alpha" = 8 }

[[word]]
name = "busy"
value = 0.25
about = "a busy link"
"#;

/// An experiment with a lone flow of adaptive PERT.
fn lone() -> String {
    predicted("\"rtt\"")
        .replace("cc = \"reno\"", "cc = \"pert-adaptive\"")
        .replace("1 < 2", "utilization > busy")
}

fn choices(experiment: &Experiment) -> Vec<&Choice> {
    experiment.variants.iter().map(|variant| &variant.choice).collect()
}

#[test]
fn readings_of_a_publication_belong_to_the_experiments_that_they_change() {
    let shared = Publication::parse(SHARED).expect("a publication");
    let experiment = read_in(&shared, &lone(), Pace::Full, Scope::Joint).expect("an experiment");
    let names: Vec<_> = experiment.readings.iter().filter_map(|reading| reading.shared.as_deref()).collect();
    assert_eq!(names, ["step", "noise"], "nobody here is FAST");
    assert_eq!(choices(&experiment).iter().map(|choice| choice.len()).collect::<Vec<_>>(), [0, 1, 1, 2]);
    let within = |scope| experiment.variants.iter().filter(|variant| variant.within(scope)).count();
    assert_eq!((within(Scope::Taken), within(Scope::Single), within(Scope::Joint)), (1, 3, 4));
    let own = parse(
        &lone()
            .replace("busy", "0.25")
            .replace("cc = \"pert-adaptive\"", "cc = \"pert-adaptive:compete_step=0.5\""),
        Pace::Full,
    );
    let of = |variant: &Variant| variant.points[0].work.identity();
    assert_eq!(of(&own.expect("an experiment").variants[0]), of(&experiment.variants[0]));
    let single = read_in(&shared, &lone(), Pace::Full, Scope::Single).expect("an experiment");
    assert_eq!(choices(&single).len(), 3);
}

#[test]
fn a_word_is_a_number_in_the_checks_of_its_publication_alone() {
    let shared = Publication::parse(SHARED).expect("a publication");
    assert!(read_in(&shared, &lone(), Pace::Full, Scope::Taken).is_ok());
    assert!(faults(&lone()).contains("no run measures `busy`"));
}

#[test]
fn what_a_group_sets_goes_before_the_parameters_of_its_controller() {
    let with = |cc: &str, rest: &str| {
        let text = predicted("\"rtt\"").replace("cc = \"reno\"", &format!("cc = \"{cc}\"")) + rest;
        parse(&text, Pace::Full).map(|experiment| experiment.variants[0].points[0].work.identity())
    };
    let same = |one: (&str, &str), other: (&str, &str)| {
        with(one.0, one.1).unwrap() == with(other.0, other.1).unwrap()
    };
    assert!(same(("pert:t1=4ms", ""), ("pert", "[controllers.pert]\nt1 = \"4ms\"\n")));
    assert!(same(("pert:t1=3ms", ""), ("pert:t1=3ms", "[controllers.pert]\nt1 = \"4ms\"\n")));
    assert!(same(("reno", ""), ("reno", "[controllers.pert]\nt1 = \"4ms\"\n")));
    for (wrong, told) in [
        ("[controllers.pertt]\nt1 = \"4ms\"\n", "did you mean `pert`"),
        ("[controllers.pert]\nt7 = \"4ms\"\n", "has no field `t7`"),
        ("[controllers.pert]\nt1 = \"4\"\n", "t1"),
        ("[controllers]\npert = 4\n", "not a table of parameters"),
    ] {
        let message = format!("{:?}", with("reno", wrong).unwrap_err());
        assert!(message.contains(told), "{wrong}: {message}");
    }
}

#[test]
fn faults_of_a_publication_have_a_place_and_a_remedy() {
    let told = |text: &str| format!("{:?}", Publication::parse(text).unwrap_err());
    assert!(
        told(&SHARED.replace("id = \"noise\"", "id = \"step\"")).contains("two readings are called `step`")
    );
    assert!(told(&SHARED.replace("[[word]]", "[[wort]]")).contains("did you mean `word`"));
    assert!(told(&SHARED.replace("because = \"The text.\"\n", "")).contains("needs `because`"));
    let wrong =
        Publication::parse(&SHARED.replace("compete_step\" = 0.1", "competestep\" = 0.1")).expect("readable");
    let message = read_in(&wrong, &lone(), Pace::Full, Scope::Single).unwrap_err();
    assert!(message.contains("competestep"), "{message}");
}

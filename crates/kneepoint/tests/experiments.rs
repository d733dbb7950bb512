// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The published experiments: each can be read, has claims, and can be told from the others.

use std::collections::BTreeSet;
use std::path::Path;

use kneepoint::experiment::{Experiment, Pace, Work, parse, parse_with};
use kneepoint::run::run;

fn experiments(pace: Pace) -> Vec<(String, Experiment)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let mut found = Vec::new();
    for paper in std::fs::read_dir(&root).expect("a folder of experiments") {
        for file in std::fs::read_dir(paper.expect("a paper").path()).expect("a folder for each paper") {
            let path = file.expect("a file").path();
            let text = std::fs::read_to_string(&path).expect("text");
            let experiment =
                parse(&text, pace).unwrap_or_else(|faults| panic!("{}: {faults:#?}", path.display()));
            found.push((path.file_stem().expect("a name").to_string_lossy().into_owned(), experiment));
        }
    }
    found
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
        let (watch, _) = run(&packets.valid, 1, packets.watch(1));
        let mut names: Vec<String> =
            watch.finish().rows.into_iter().filter_map(|mut row| row.labels.remove("predictor")).collect();
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Names in any spelling, help for every verb, suggestions for shells, settings from outside, and the cost of a
//! study.

use super::*;

/// Arguments of a comparison that takes a moment.
const SMALL: [&str; 8] = ["--rate", "2mbit", "--flows", "2", "--duration", "4s", "--seeds", "1"];

fn compare(here: &Path, arguments: &[&str]) -> Output {
    knee(here, &[&["compare"], arguments, &SMALL].concat())
}

#[test]
fn help_followed_by_a_verb_is_the_help_of_that_verb() {
    let here = tempfile::tempdir().unwrap();
    for verb in [&["compare"][..], &["fluid", "run"], &["kernel", "load"], &["man"]] {
        let after = knee(here.path(), &[&["help"], verb].concat());
        assert!(after.status.success(), "{verb:?}: {}", stderr(&after));
        assert_eq!(stdout(&after), stdout(&knee(here.path(), &[verb, &["--help"]].concat())), "{verb:?}");
    }
}

/// Suggestions to a shell for the last of these words.
fn suggested(words: &[&str]) -> Vec<String> {
    let output = command(&[])
        .args(["--", "knee"])
        .args(words)
        .envs([("COMPLETE", "bash"), ("_CLAP_IFS", "\n")])
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string())
        .output()
        .expect("knee starts");
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output).lines().map(str::to_string).collect()
}

#[test]
fn a_shell_is_told_the_names_of_the_registries() {
    let here = tempfile::tempdir().unwrap();
    for (words, expected) in [
        (&["comp"][..], "compare"),
        (&["compare", "per"], "pert-adaptive"),
        (&["compare", "cubic/fq"], "cubic/fq-codel"),
        (&["compare", "cubic/red"], "cubic/red-ecn"),
        (&["compare", "pert:t"], "pert:t1="),
        (&["compare", "--tcp", "initial"], "initial_window="),
        (&["explain", "goodput"], "goodput_bps"),
        (&["coexist", "--queue", "co"], "codel"),
        (&["drill", "x.pkt", "--cc", "cub"], "cubic"),
        (&["drill", "x.pkt", "--tcp", "recov"], "recovery="),
        (&["predict", "--predictors", "rtt,srtt"], "rtt,srtt-0.99"),
        (&["list", "cont"], "controllers"),
        (&["run", "--set", "topology.r"], "topology.rtt="),
        (&["run", "--set", "flows."], "flows.*.count="),
    ] {
        let told = suggested(words);
        assert!(told.iter().any(|one| one == expected), "{words:?}: {told:?}");
    }
    let listed = json(&knee(here.path(), &["reproduce", "--list", "--json"]));
    let told = suggested(&["reproduce", ""]);
    for experiment in listed["experiments"].as_array().unwrap() {
        let name = experiment["name"].as_str().unwrap();
        assert!(told.iter().any(|one| one == name), "{name}: {told:?}");
    }
    for shell in ["bash", "zsh", "fish"] {
        assert!(stdout(&knee(here.path(), &["completions", shell])).contains("COMPLETE"), "{shell}");
    }
}

#[test]
fn a_name_is_read_in_any_case_with_hyphens_or_underscores_and_written_as_it_is_declared() {
    let here = tempfile::tempdir().unwrap();
    let compared = json(&compare(here.path(), &["PERT/FQ_CoDel", "NewReno:decrease=0.4/DropTail", "--json"]));
    let schemes = [0, 1].map(|place| compared["schemes"][place]["scheme"].as_str().unwrap());
    assert_eq!(schemes, ["pert/fq-codel", "newreno:decrease=0.4/droptail"]);
    assert_refuses(&compare(here.path(), &["pert", "PERT"]), 2, &["`pert` is given twice"]);
    let explained = |name| stdout(&knee(here.path(), &["explain", name]));
    assert_eq!(explained("FQ_CODEL"), explained("fq-codel"));
    let scenario = "[run]\nduration = '2s'\n[topology]\nkind = 'Dumbbell'\n".to_string()
        + "rate = '2mbit'\n[queue]\nkind = 'FqCodel'\n[tcp]\nrecovery = 'NewReno'\n"
        + "[controllers.Cubic]\nera = '2006'\n[[flows]]\ncount = 2\ncc = 'CUBIC'\n";
    let ran = json(&knee_reading(here.path(), &["run", "-", "--json"], scenario.as_bytes()));
    assert_eq!(ran["schemes"][0]["groups"][0]["group"], "cubic");
    let output = knee(here.path(), &["reproduce", "PERT.Fig6", "--list"]);
    assert!(stdout(&output).starts_with("pert.fig6 "), "{}", stderr(&output));
    let run = |arguments: &[&str]| stdout(&knee(here.path(), arguments));
    assert_eq!(run(&["fluid", "run", "PERT_PI", "--json"]), run(&["fluid", "run", "pert-pi", "--json"]));
    assert_eq!(
        run(&["fluid", "boundary", "Pert", "--along", "RTT=100ms..200ms", "--json"]),
        run(&["fluid", "boundary", "pert", "--along", "rtt=100ms..200ms", "--json"])
    );
}

#[test]
fn a_field_is_set_from_outside_and_the_copy_of_the_scenario_says_so() {
    let here = tempfile::tempdir().unwrap();
    assert!(knee(here.path(), &["init", "my.toml"]).status.success());
    let set = [
        "--set",
        "run.duration=4s",
        "--set",
        "topology.rate=2mbit",
        "--set",
        "flows.*.cc=PERT",
        "--set",
        "flows.*.start=0s..1s",
    ];
    let first = json(&knee(here.path(), &[&["run", "my.toml", "--json", "--out", "one"], &set[..]].concat()));
    assert_eq!(first["manifest"]["seeds"], serde_json::json!([1, 2, 3]));
    let again = json(&knee(here.path(), &["run", "one/scenarios/my.toml", "--json", "--out", "two"]));
    let goodput = |of: &Value| of["schemes"][0]["flow_goodput_bps"].clone();
    assert_eq!(goodput(&again), goodput(&first));
    assert!(goodput(&first)["mean"].as_f64().unwrap() < 2e6);
    assert!(goodput(&first)["half_width"].as_f64().unwrap() > 0.0, "flows of the example start at random");
}

#[test]
fn a_wrong_setting_is_refused_as_in_a_file_and_nothing_is_written() {
    let here = tempfile::tempdir().unwrap();
    assert!(knee(here.path(), &["init", "my.toml"]).status.success());
    for (set, sayings) in [
        ("topology.rate=fast", &["--set:1:15", "`fast`", "150mbit"][..]),
        ("topology.rtt=0s", &["--set:1:14", "1us to 1000s"]),
        ("topolgy.rtt=10ms", &["--set:1:1", "did you mean `topology`"]),
        ("flows.count=3", &["flows.*.count"]),
        ("flows.short.count=3", &["no group of [[flows]] is named `short`", "`long`"]),
        ("run.seeds=0", &["1 to 10000"]),
        ("nothing", &["sets nothing", "topology.rate=10mbit"]),
    ] {
        assert_refuses(&knee(here.path(), &["run", "my.toml", "--set", set]), 2, sayings);
    }
    assert_refuses(&compare(here.path(), &["reno/red", "--set", "queue=pie"]), 2, &["`pie`", "`reno/red`"]);
    assert_eq!(names(here.path()), ["my.toml"]);
}

#[test]
fn names_of_fields_are_read_in_any_spelling_on_the_command_line() {
    let here = tempfile::tempdir().unwrap();
    let written = ["pert:T1=3ms/RED:ECN=true", "--tcp", "RTO-Min=1s", "--set", "Topology.RTT=70ms"];
    let output = compare(here.path(), &[&written[..], &["--out", "out"]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let folder = here.path().join("out/scenarios");
    let scenario = std::fs::read_to_string(folder.join(&names(&folder)[0])).unwrap();
    for field in ["t1 = \"3ms\"", "ecn = true", "rto_min = \"1s\"", "rtt = \"70ms\""] {
        assert!(scenario.contains(field), "`{field}` is missing from:\n{scenario}");
    }
}

#[test]
fn what_is_given_twice_is_refused_with_both() {
    let here = tempfile::tempdir().unwrap();
    for (twice, sayings) in [
        (
            &["pert", "--set", "run.seed=1", "--set", "Run.Seed=2"][..],
            &["set twice", "`run.seed=1` and `Run.Seed=2`"][..],
        ),
        (&["pert", "--tcp", "rto_min=1s,RTO_Min=2s"], &["--tcp rto_min is given twice, as `1s` and as `2s`"]),
        (
            &["pert", "--tcp", "linux", "--tcp", "paper"],
            &["--tcp preset is given twice, as `linux` and as `paper`"],
        ),
        (&["pert:t1=3ms,t1=4ms"], &["`t1` is given twice, as `3ms` and as `4ms`"]),
    ] {
        assert_refuses(&compare(here.path(), twice), 2, sayings);
    }
    assert!(names(here.path()).is_empty());
}

#[test]
fn a_dry_run_counts_runs_and_leaves_nothing() {
    let here = tempfile::tempdir().unwrap();
    let dry = |more: &[&str]| {
        json(&compare(here.path(), &[&["reno", "pert", "--dry-run", "--json"], more].concat()))
    };
    let forecast = dry(&[]);
    assert_eq!([&forecast["runs"], &forecast["kept"], &forecast["new"]], [2, 0, 2]);
    assert!(forecast["cpu_seconds"].as_f64().unwrap() > 0.0);
    assert!(names(here.path()).is_empty(), "{:?}", names(here.path()));
    assert!(compare(here.path(), &["reno"]).status.success());
    let later = dry(&[]);
    assert_eq!([&later["kept"], &later["new"]], [1, 1]);
    assert_eq!(dry(&["--fresh"])["new"], 2);
    let text = stdout(&compare(here.path(), &["reno", "pert", "--dry-run"]));
    assert!(text.starts_with("2 runs: 1 kept, 1 new\nabout "), "{text}");
    for arguments in [
        &["coexist", "cubic", "vegas", "--quick", "--duration", "2s"][..],
        &["reproduce", "pert.fig6", "--quick"],
    ] {
        let all = json(&knee(here.path(), &[arguments, &["--dry-run", "--json"]].concat()));
        assert!(all["new"].as_u64().unwrap() > 0, "{arguments:?}");
    }
}

#[test]
fn seeds_have_one_range_and_one_message_wherever_they_are_given() {
    let here = tempfile::tempdir().unwrap();
    assert!(knee(here.path(), &["init", "my.toml"]).status.success());
    let beyond = (1u64 << 53) + 1;
    for verb in [&["run", "my.toml"][..], &["compare"], &["coexist"], &["predict"], &["markov"]] {
        for (option, range) in
            [(format!("--seed={beyond}"), "0 to 9007199254740992"), ("--seeds=10001".into(), "1 to 10000")]
        {
            let output = knee(here.path(), &[verb, &[&option]].concat());
            assert_refuses(&output, 2, &["outside the allowed range", range]);
        }
    }
    let in_file = knee(here.path(), &["run", "my.toml", "--set", "run.seeds=10001"]);
    assert_refuses(&in_file, 2, &["10001 is outside the allowed range, 1 to 10000"]);
}

#[test]
fn long_settings_leave_a_short_name_and_are_kept_in_the_manifest() {
    let here = tempfile::tempdir().unwrap();
    let long = "pert:t1=3ms,decrease=0.25,t2=11ms,history=0.98/red-ecn";
    let other = "pert:t1=4ms,decrease=0.25,t2=11ms,history=0.98/red-ecn";
    let output = compare(here.path(), &[long, other, "--out", "out"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let summary = std::fs::read_to_string(here.path().join("out/summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["schemes"][0]["scheme"], "pert/red-ecn (4 set) 1");
    assert_eq!(summary["schemes"][1]["scheme"], "pert/red-ecn (4 set) 2");
    assert_eq!(summary["manifest"]["presets"]["red-ecn"], "the queue adaptive-red with ecn = true");
    let scenario = summary["manifest"]["scenario"][1]["text"].as_str().unwrap();
    assert!(scenario.contains("t1 = \"4ms\"") && scenario.contains("history = 0.98"), "{scenario}");
}

#[test]
fn losses_of_the_channel_have_a_column_where_there_is_a_model_of_them() {
    let here = tempfile::tempdir().unwrap();
    assert!(!stdout(&compare(here.path(), &["reno"])).contains("channel loss"));
    let lossy = compare(here.path(), &["reno", "--set", "loss.kind=uniform", "--set", "loss.p=0.05"]);
    assert!(stdout(&lossy).contains("channel loss"), "{}", stdout(&lossy));
}

#[test]
fn a_name_with_several_meanings_says_which_is_written_where() {
    let here = tempfile::tempdir().unwrap();
    let explained = stdout(&knee(here.path(), &["explain", "Reno"]));
    assert!(explained.starts_with("`reno` is the name of 3 things"), "{explained}");
    for part in ["controller", "preset", "recovery", "Stands for the controller reno with recovery = reno"] {
        assert!(explained.contains(part), "`{part}` is missing from:\n{explained}");
    }
    let listed = stdout(&knee(here.path(), &["list", "Recoveries"]));
    assert!(
        listed
            .lines()
            .any(|line| line.starts_with("reno ") && line.contains("[also a controller, a preset]")),
        "{listed}"
    );
}

#[test]
fn init_is_short_and_has_everything_on_demand() {
    let here = tempfile::tempdir().unwrap();
    let [brief, all] =
        [&["init", "-"][..], &["init", "--all", "-"]].map(|arguments| stdout(&knee(here.path(), arguments)));
    assert!(brief.lines().count() < 50 && all.lines().count() > 500, "{brief}");
    for text in [brief, all] {
        let checked = knee_reading(here.path(), &["check", "-"], text.as_bytes());
        assert!(checked.status.success(), "{}", stderr(&checked));
    }
}

#[test]
fn examples_of_manual_pages_keep_their_lines() {
    let here = tempfile::tempdir().unwrap();
    let written = json(&knee(here.path(), &["man", "--out", "man", "--json"]));
    assert!(written["pages"].as_array().unwrap().contains(&"knee-fluid-run.1".into()), "{written}");
    let page = std::fs::read_to_string(here.path().join("man/knee-compare.1")).unwrap();
    let (_, examples) = page.split_once("\n.nf\nExamples:\n").expect("examples between .nf and .fi");
    assert!(examples.starts_with("  knee compare\n") && examples.contains("\n.fi\n"), "{examples}");
}

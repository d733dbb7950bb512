// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Errors name the problem, the place and the remedy, and leave nothing half done.

use super::*;

#[test]
fn a_bad_scenario_shows_line_column_value_and_range() {
    let here = tempfile::tempdir().unwrap();
    let text = stdout(&knee(here.path(), &["init", "-"]));
    let line =
        text.lines().position(|line| line.starts_with("duration")).expect("the example has a duration");
    let broken =
        text.lines().enumerate().map(|(place, text)| if place == line { "duration = \"60\"" } else { text });
    std::fs::write(here.path().join("bad.toml"), broken.collect::<Vec<_>>().join("\n")).unwrap();
    for verb in ["check", "run"] {
        let output = knee(here.path(), &[verb, "bad.toml"]);
        let place = format!("bad.toml:{}:12", line + 1);
        assert_refuses(&output, 2, &["error: ", "`60`", "60ms", &place, "duration = \"60\""]);
        assert!(output.stdout.is_empty());
    }
    let faults = knee(here.path(), &["check", "bad.toml", "--json"]);
    assert_eq!(faults.status.code(), Some(2));
    let faults: Value = serde_json::from_slice(&faults.stdout).unwrap();
    let faults = &faults["files"][0];
    assert_eq!(faults["valid"], false);
    assert_eq!(
        (&faults["faults"][0]["line"], &faults["faults"][0]["column"]),
        (&(line + 1).into(), &12.into())
    );
    assert_eq!(names(here.path()), ["bad.toml"]);
}

#[test]
fn toml_that_is_no_toml_is_refused_with_its_place() {
    let here = tempfile::tempdir().unwrap();
    let output = knee_reading(here.path(), &["check", "-"], b"name = \"a\"\nname = [\n");
    assert_refuses(&output, 2, &["error: ", "-:2:"]);
}

#[test]
fn a_file_that_is_no_toml_has_ten_errors_and_the_number_of_the_others() {
    let here = tempfile::tempdir().unwrap();
    let output = knee_reading(here.path(), &["check", "-"], "no toml\n".repeat(1000).as_bytes());
    assert_refuses(&output, 2, &["error: ", "-:1:", "… and 990 more errors of `-`"]);
    assert_eq!(stderr(&output).matches("error: ").count(), 10, "{}", stderr(&output));
}

#[test]
fn arguments_name_the_value_and_the_allowed_form() {
    let here = tempfile::tempdir().unwrap();
    for (arguments, sayings) in [
        (&["compare", "--rate", "150"][..], &["--rate", "150", "mbit"][..]),
        (&["compare", "--rate", "150mbps"], &["bits or bytes", "150mbit"]),
        (&["compare", "--flows", "0"], &["--flows", "0 is outside the allowed range, 1 to 100000"]),
        (&["compare", "--jobs", "0"], &["--jobs", "0 is outside the allowed range, 1 to 1024"]),
        (&["compare", "--seeds", "99999999999"], &["99999999999 is out of range", "1 to 10000"]),
        (
            &["compare", "--seed", "99999999999999999999"],
            &[": 99999999999999999999 is out of range", "0 to 90"],
        ),
        (
            &["hunt", "bbr", "--evaluations", "-1"],
            &["-1 is not a whole number from 0 up; allowed is 1 to 10"],
        ),
        (&["hunt", "bbr", "--evaluations", "many"], &["\"many\" is not a whole number", "1 to 1000000000"]),
        (&["compare", "--measure", "9s..3s"], &["--measure", "ends before it begins"]),
        (&["compare", "--rtt", "99999999999999999999s"], &["--rtt", "out of range", "from 0s to 9007199s"]),
        (
            &["compare", "--budget", "0s"],
            &["--budget", "\"0s\" is outside the allowed range, 1ms to 1000000s"],
        ),
        (&["compare", "--duration", "-5s"], &["--duration", "`-5s` is out of range", "from 0s"]),
        (&["compare", "reno", "--rate", "-5mbit"], &["--rate", "`-5mbit` is out of range", "from 0mbit"]),
        (&["compare", "reno,cubic"], &["`reno,cubic` is a list of schemes", "`reno cubic`"]),
        (&["coexist", "reno, cubic"], &["`reno, cubic` is a list of schemes", "`reno cubic`"]),
        (&["compare", "reno,cubik"], &["no congestion control called `reno,cubik`"]),
        (&["compare", ","], &["no congestion control called `,`"]),
        (
            &["compare", "reno", "--metric", "utilisation"],
            &["did you mean `utilization`? `knee list metrics` shows all"],
        ),
        (
            &["compare", "reno", "--policer", "10mbit:burst=1kb"],
            &["burst 1kb is below one packet, 1040b", "burst=64kb"],
        ),
        (&["compare", "reno", "--up", "rate=9mbit,bufer=9pkt"], &["`bufer=9pkt`", "did you mean `buffer`?"]),
        (
            &["compare", "reno", "--precision", "complete=5%"],
            &["no headline metric", "`completion_time_p50_ms`"],
        ),
        (&["compare", "--duration=-5s"], &["out of range", "from 0s"]),
        (&["compare", "--set", "topology.rtt=1e999"], &["1e999 is out of range", "1us to 1000s"]),
        (&["compare", "--tcp", "rto_min=1e999"], &["1e999 is out of range", "1ms to 60s"]),
        (&["fluid", "run", "pert", "--rtt", "1e999"], &["1e999 is out of range", "10us to 100s"]),
        (&["fluid", "run", "prt"], &["prt", "tcp-red"]),
        (&["fluid", "run", "pert", "--start", "a,1,1"], &["'a'", "expected a finite number"]),
        (&["fluid", "run", "pert", "--end", "0s"], &["--end 0s: it must be above 0s"]),
        (&["coexist", "--mix", "half"], &["'half'", "expected a finite number"]),
        (&["predict", "--hold-off", "1e999"], &["--hold-off", "a number from 0 to 1000"]),
        (&["compare", "--buffer", "lots"], &["lots", "750pkt"]),
        (&["compare", "--tcp", "payload"], &["payload", "--tcp rto_min=1s"]),
        (&["compare", "--tcp", "payloud=1kb"], &["payloud", "did you mean `payload`"]),
        (&["compare", "--tcp", "dupthresh=0"], &["dupthresh", "1 to 1000"]),
        (&["compare", "prt"], &["prt", "did you mean `pert`?"]),
        (&["compare", "foo"], &["expected one of `reno`, ", " more", "`knee list controllers"]),
        (&["hunt", "foo"], &["expected one of `reno`, ", " more", "`knee list controllers`"]),
        (&["compare", "pert", "pert"], &["given twice"]),
        (&["compare", "--duratoin", "1s"], &["--duratoin", "--duration"]),
        (&["compare", "--pcap", "nowhere", "reno"], &["nowhere", "expected one of "]),
        (&["compare", "tahoe", "--tcp", "recovery=sack"], &["--tcp recovery", "`tahoe`"]),
        (&["cmpare"], &["cmpare", "compare"]),
        (&["list", "controler"], &["controler", "controllers"]),
    ] {
        let output = knee(here.path(), arguments);
        assert_refuses(&output, 2, sayings);
        assert!(names(here.path()).is_empty(), "{arguments:?} left {:?}", names(here.path()));
    }
}

#[test]
fn check_looks_at_all_files_it_is_given() {
    let here = tempfile::tempdir().unwrap();
    assert!(knee(here.path(), &["init", "good.toml"]).status.success());
    std::fs::write(here.path().join("bad.toml"), "name = [").unwrap();
    let output = knee(here.path(), &["check", "bad.toml", "good.toml", "missing.toml"]);
    assert_refuses(&output, 2, &["bad.toml:1", "missing.toml"]);
    assert!(stdout(&output).contains("good.toml: valid"));
    assert!(knee(here.path(), &["check", "good.toml", "good.toml"]).status.success());
}

#[test]
fn check_refuses_more_samples_than_run_would_make() {
    let here = tempfile::tempdir().unwrap();
    let text = "[run]\nduration = \"1000s\"\nsample = \"200us\"\n[topology]\nkind = \"dumbbell\"\n\
                rate = \"1mbit\"\n[[flows]]\ncount = 1\ncc = \"reno\"\n";
    std::fs::write(here.path().join("often.toml"), text).unwrap();
    for verb in ["check", "run"] {
        assert_refuses(&knee(here.path(), &[verb, "often.toml"]), 2, &["samples", "less often"]);
    }
}

#[test]
fn files_that_cannot_be_read_get_a_remedy() {
    let here = tempfile::tempdir().unwrap();
    std::fs::write(here.path().join("latin1.toml"), b"name = \"caf\xe9\"").unwrap();
    for verb in ["run", "check"] {
        assert_refuses(
            &knee(here.path(), &[verb, "missing.toml"]),
            1,
            &["missing.toml", "help: ", "knee init"],
        );
        assert_refuses(&knee(here.path(), &[verb, "."]), 1, &["cannot read `.`", "name a file"]);
        assert_refuses(&knee(here.path(), &[verb, "latin1.toml"]), 1, &["not UTF-8", "byte 12"]);
        assert_refuses(&knee(here.path(), &[verb, "/dev/zero"]), 1, &["larger than"]);
    }
    for (verb, expected) in [
        (&["run"][..], "expected a scenario in TOML"),
        (&["drill"], "expected a script of packetdrill"),
        (&["replay", "--cc", "reno"], "expected a trace of acknowledgements"),
    ] {
        for file in ["latin1.toml", "/dev/zero"] {
            assert_refuses(&knee(here.path(), &[verb, &[file]].concat()), 1, &[expected]);
        }
    }
}

#[test]
fn an_experiment_is_not_taken_for_a_scenario() {
    let here = tempfile::tempdir().unwrap();
    std::fs::write(here.path().join("figure.toml"), "[ experiment ] # of mine\nid = \"a\"\n").unwrap();
    for verb in ["run", "predict"] {
        assert_refuses(
            &knee(here.path(), &[verb, "figure.toml"]),
            2,
            &["`figure.toml` is an experiment", "knee reproduce FILE"],
        );
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_at_standard_output_is_an_error_of_every_verb() {
    for arguments in
        [&["--help"][..], &["compare", "--help"], &["--version"], &["list"], &["fluid", "run", "pert"]]
    {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = command(arguments).stdout(full).output().unwrap();
        assert_refuses(&output, 1, &["cannot write to standard output", "help: "]);
    }
}

#[test]
#[cfg(unix)]
fn a_device_is_never_replaced_by_a_file() {
    let here = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/null", here.path().join("link")).unwrap();
    let output = knee(here.path(), &["init", "link", "--force"]);
    assert_refuses(&output, 1, &["cannot write `link`: it is a device or a pipe", "help: "]);
    assert!(here.path().join("link").is_symlink());
}

#[test]
fn places_that_cannot_be_written_get_a_remedy() {
    let here = tempfile::tempdir().unwrap();
    std::fs::write(here.path().join("file"), "").unwrap();
    let quick =
        ["compare", "reno", "--duration", "2s", "--flows", "1", "--rate", "1mbit", "--out", "file/out"];
    assert_refuses(&knee(here.path(), &quick), 1, &["file/out", "help: "]);
    assert_refuses(&knee(here.path(), &["init", "none/my.toml"]), 1, &["none/my.toml"]);
    assert_refuses(&knee(here.path(), &["init", "."]), 1, &["is a directory"]);
    assert_refuses(&knee(here.path(), &["man", "--out", "file"]), 1, &["file"]);
}

#[test]
fn init_replaces_nothing_unless_forced() {
    let here = tempfile::tempdir().unwrap();
    std::fs::write(here.path().join("mine.toml"), "precious").unwrap();
    assert_refuses(&knee(here.path(), &["init", "mine.toml"]), 1, &["exists already", "--force"]);
    assert_eq!(std::fs::read_to_string(here.path().join("mine.toml")).unwrap(), "precious");
    assert!(knee(here.path(), &["init", "mine.toml", "--force"]).status.success());
    assert_ne!(std::fs::read_to_string(here.path().join("mine.toml")).unwrap(), "precious");
    assert_eq!(names(here.path()), ["mine.toml"]);
}

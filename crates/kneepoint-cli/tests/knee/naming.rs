// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Files that a scenario or `--set` names: where they are searched, and which parts are kept.

use super::browsing::WEB;
use super::*;

#[test]
fn a_report_repeats_with_the_files_that_its_scenario_names() {
    let here = tempfile::tempdir().unwrap();
    let scenario = "[run]\nduration = '5s'\n[topology]\nkind = 'dumbbell'\nrate = '10mbit'\n\
                    [[arrivals]]\nname = 'short'\ncc = 'reno'\nfile = 'some/flows.csv'\n";
    std::fs::write(here.path().join("listed.toml"), scenario).unwrap();
    std::fs::create_dir(here.path().join("some")).unwrap();
    let report = |flows: &str, from: &str, out: &str| {
        if !flows.is_empty() {
            std::fs::write(here.path().join("some/flows.csv"), flows).unwrap();
        }
        json(&knee(here.path(), &["run", from, "--out", out, "--json"]))
    };
    let first = report("time_s,size_bytes\n1,50000\n2,20000\n", "listed.toml", "a");
    let other = report("time_s,size_bytes\n1,50000\n2,90000\n", "listed.toml", "b");
    let again = report("", "a/scenarios/listed.toml", "c");
    let digest = |result: &Value| result["manifest"]["files"]["some/flows.csv"].to_string();
    assert_eq!(digest(&first).len(), 66, "{first}");
    assert_ne!(digest(&first), digest(&other));
    assert_eq!((digest(&first), &first["schemes"]), (digest(&again), &again["schemes"]));
}

#[test]
fn a_file_that_set_names_is_that_of_the_working_directory_and_one_of_a_scenario_that_of_its_folder() {
    let here = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| {
        std::fs::create_dir_all(here.path().join(name).parent().unwrap()).unwrap();
        std::fs::write(here.path().join(name), text).unwrap();
    };
    // 12 and 1.2 Mbit/s.
    let (fast, slow) = ("1\n", "10\n");
    put("traces/link.trace", slow);
    put("scenario/link.trace", fast);
    put("scenario/only.trace", fast);
    let scenario = "[run]\nduration = '4s'\n[topology]\nkind = 'dumbbell'\nrate = '12mbit'\nrtt = '40ms'\n\
                    [capacity]\nkind = 'trace'\nfile = 'link.trace'\n[[flows]]\ncc = 'reno'\n";
    put("scenario/my.toml", scenario);
    let goodput = |arguments: &[&str]| {
        let told = json(&knee(here.path(), &[arguments, &["--json"]].concat()));
        told["schemes"][0]["flow_goodput_bps"]["mean"].as_f64().unwrap()
    };
    let trace = ["--set", "capacity.kind=trace", "--set", "capacity.file=traces/link.trace"];
    let small =
        ["compare", "reno", "--flows", "1", "--duration", "4s", "--rate", "1200kbit", "--out", "compared"];
    let compared = goodput(&[&small[..], &trace].concat());
    assert!((0.8e6..1.2e6).contains(&compared), "{compared}");
    // The copy of its scenario finds the copy of the file.
    assert_eq!(goodput(&["run", "compared/scenarios/reno.toml"]), compared);
    let short = ["--set", "capacity=trace:file=traces/link.trace"];
    assert_eq!(goodput(&[&small[..8], &short].concat()), compared);
    assert_eq!(goodput(&[&small[..6], &trace].concat()), compared, "at the mean rate of the trace");
    let other = knee(here.path(), &[&small[..6], &["--rate", "150mbit"], &trace].concat());
    assert_refuses(&other, 2, &["150mbit, is not the mean", "let it be 1200kbit", "`--rate` of a command"]);
    let run = ["run", "scenario/my.toml"];
    assert!(goodput(&run) > 4e6, "beside the scenario");
    let slower = ["--set", "capacity.file=traces/link.trace", "--set", "topology.rate=1200kbit"];
    let set = goodput(&[&run[..], &slower].concat());
    assert!(set < 1.2e6, "of the working directory: {set}");
    assert!(
        goodput(&[&run[..], &["--set", "capacity.file=only.trace"]].concat()) > 4e6,
        "where there is no other"
    );
    let lacking = knee(here.path(), &[&small[..], &["--set", "capacity=trace:file=none.trace"]].concat());
    assert_refuses(&lacking, 2, &["--set", "file: `none.trace`: cannot read `none.trace`"]);
    // The source of traffic of a comparison, too: its file replaces the distribution.
    put("sizes/objects.csv", "size_kb\n3\n9\n");
    let browser = [&WEB[..], &["--set", "browser.web.sizes_file=sizes/objects.csv"]].concat();
    let objects = knee(here.path(), &[&["compare", "reno", "--json"], &browser[..]].concat());
    let drawn = knee(here.path(), &[&["compare", "reno", "--json"], &WEB[..]].concat());
    assert_ne!(json(&objects)["schemes"][0]["groups"], json(&drawn)["schemes"][0]["groups"]);
    // A flow that predictors watch.
    let watched = knee(here.path(), &["predict", "scenario/my.toml", "--predictors", "rtt"]);
    assert!(watched.status.success(), "{}", stderr(&watched));
}

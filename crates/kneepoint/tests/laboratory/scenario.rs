// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Scenarios: the meaning of valid texts, and the faults of invalid ones.

use kneepoint::cc;
use kneepoint::queue;
use kneepoint::scenario::{Fault, Plan, example, parse, scheme};
use kneepoint::spec::Valid;
use kneepoint::tcp::{Host, Options, Recovery};
use kneepoint::units::{Bytes, Rate, Span, Time};

const DUMBBELL: &str = "[topology]\nkind = \"dumbbell\"\nrate = \"150mbit\"\nrtt = \"60ms\"\n";
const FLOWS: &str = "[[flows]]\ncc = \"reno\"\n";

fn plan(text: &str) -> Plan {
    parse(text).unwrap_or_else(|faults| panic!("{faults:#?}"))
}

fn valid(text: &str) -> Valid {
    let mut plan = plan(text);
    assert_eq!(plan.cases.len(), 1);
    plan.cases.remove(0).valid
}

/// The only fault, and the text at its place.
fn fault(text: &str) -> (Fault, &str) {
    let faults = parse(text).unwrap_err();
    let [fault] = faults.as_slice() else { panic!("{faults:#?}") };
    (fault.clone(), &text[fault.span.clone()])
}

/// Asserts that the only fault points at `at` and that its message and help contain `words`.
#[track_caller]
fn refuses(text: &str, at: &str, words: &[&str]) {
    let (fault, place) = fault(text);
    assert_eq!(place, at, "{fault:#?}");
    let said = format!("{} | {}", fault.message, fault.help.unwrap_or_default());
    for word in words {
        assert!(said.contains(word), "`{word}` is missing in: {said}");
    }
}

fn registered(name: &str) -> bool {
    cc::Config::named(name).is_some() || queue::Config::named(name).is_some()
}

#[test]
fn the_example_is_a_scenario() {
    let valid = valid(&example());
    assert_eq!(valid.groups()[0].name, "long");
    assert_eq!(valid.groups()[0].members.len(), 5);
}

#[test]
fn every_alternative_of_the_example_is_a_scenario_when_uncommented() {
    let example = example();
    for header in ["#[[web]]", "#[[cbr]]", "#[reverse_queue]", "#[sweep]"] {
        let start = example.find(header).unwrap_or_else(|| panic!("{header} is not in the example"));
        let end = example[start..].find("\n\n").map_or(example.len(), |length| start + length);
        // Only the first of each field: fields after a second `kind` belong to another member of the family.
        let section = &example[start..end];
        let section =
            section.match_indices("\n#kind").nth(1).map_or(section, |(second, _)| &section[..second]);
        let lines = section.lines().map(|line| match line.strip_prefix('#') {
            Some(rest) if !rest.starts_with(' ') && !rest.starts_with("tcp =") => rest,
            _ => line,
        });
        let text = format!("{}\n{}", example, lines.collect::<Vec<_>>().join("\n"));
        plan(&text);
    }
}

#[test]
fn a_scenario_says_little_where_defaults_serve() {
    let valid = valid(&format!("{DUMBBELL}{FLOWS}"));
    assert_eq!(valid.schedule().duration, Time::ZERO + Span::from_secs(60));
    assert_eq!(valid.schedule().measure.from, Time::ZERO + Span::from_secs(15));
    assert_eq!(valid.groups()[0].name, "reno");
    assert_eq!(valid.groups()[0].tcp.as_ref().unwrap().recovery, Recovery::Sack);
}

#[test]
fn seeds_count_up_from_the_first() {
    assert_eq!(plan(&format!("[run]\nseed = 7\nseeds = 3\n{DUMBBELL}{FLOWS}")).seeds, [7, 8, 9]);
}

#[test]
fn a_group_overrides_the_options_of_all() {
    let text =
        format!("[tcp]\necn = false\ninitial_window = 10\n{DUMBBELL}{FLOWS}tcp = {{ initial_window = 4 }}\n");
    let tcp = valid(&text).groups()[0].tcp.clone().unwrap();
    assert_eq!((tcp.ecn, tcp.initial_window), (false, 4.0));
}

#[test]
fn a_control_may_be_a_name_or_a_table_or_a_name_with_settings() {
    for cc in ["\"reno:decrease=0.3\"", "{ kind = \"reno\", decrease = 0.3 }"] {
        let valid = valid(&format!("{DUMBBELL}[[flows]]\ncc = {cc}\n"));
        let Some(cc::Config::Reno(params)) = &valid.groups()[0].cc else {
            panic!("{:?}", valid.groups()[0].cc)
        };
        assert_eq!(params.decrease, 0.3);
    }
}

#[test]
fn a_preset_brings_its_recovery_and_reno_alone_does_not() {
    let recovery = |cc: &str, tcp: &str| {
        let valid = valid(&format!("{DUMBBELL}[tcp]\n{tcp}\n[[flows]]\ncc = \"{cc}\"\n"));
        valid.groups()[0].tcp.as_ref().unwrap().recovery
    };
    assert_eq!(recovery("tahoe", ""), Recovery::Tahoe);
    assert_eq!(recovery("sack", "recovery = \"reno\""), Recovery::Sack);
    assert_eq!(recovery("reno", ""), Recovery::Sack);
    assert_eq!(recovery("reno", "recovery = \"newreno\""), Recovery::NewReno);
}

#[test]
fn a_host_brings_its_options_and_others_are_set_beside_it_in_any_order() {
    let options = |text: &str, group: &str| {
        let valid = valid(&format!("{DUMBBELL}[tcp]\n{text}\n[[flows]]\n{group}\n"));
        valid.groups()[0].tcp.clone().unwrap()
    };
    let reno = "cc = \"reno\"";
    assert_eq!(options("preset = \"linux\"", reno), Options::of(Host::Linux));
    for text in ["preset = \"linux\"\ninitial_window = 4", "initial_window = 4\npreset = \"linux\""] {
        assert_eq!(options(text, reno), Options { initial_window: 4.0, ..Options::of(Host::Linux) });
    }
    // A group's own host replaces the scenario's.
    let own = options("dupthresh = 5", "cc = \"reno\"\ntcp = { preset = \"linux\", payload = \"1000b\" }");
    assert_eq!(own, Options { payload: Bytes(1000), ..Options::of(Host::Linux) });
    assert_eq!(options("preset = \"paper\"", reno), Options::default());
    // Linux requests ECN where the controller needs it.
    assert!(options("preset = \"linux\"", "cc = \"dctcp\"").ecn);
    refuses(&format!("{DUMBBELL}[tcp]\npreset = \"linus\"\n{FLOWS}"), "\"linus\"", &["linux"]);
}

#[test]
fn on_linux_a_bare_reno_has_the_recovery_of_the_host_and_a_named_recovery_stays() {
    let on = |name: &str| scheme::parse(name).unwrap().on(Host::Linux).recovery;
    assert_eq!(
        [on("reno"), on("newreno"), on("sack")],
        [None, Some(Recovery::NewReno), Some(Recovery::Sack)]
    );
    let swept = format!(
        "{DUMBBELL}[tcp]\npreset = \"linux\"\n[[flows]]\ncc = \"cubic\"\n[sweep]\nscheme = [\"reno/droptail\"]\n"
    );
    assert_eq!(valid(&swept).groups()[0].tcp.as_ref().unwrap().recovery, Recovery::Rack);
}

#[test]
fn a_misspelt_field_is_told_its_name() {
    refuses(
        &format!("{DUMBBELL}bufer = \"1bdp\"\n{FLOWS}"),
        "bufer",
        &["[topology]", "did you mean `buffer`"],
    );
    refuses(&format!("nmae = \"x\"\n{DUMBBELL}{FLOWS}"), "nmae", &["did you mean `name`"]);
    refuses(
        &format!("{DUMBBELL}[[flows]]\ncc = \"rno\"\n"),
        "\"rno\"",
        &["did you mean `reno`?", "knee list"],
    );
    refuses(&format!("{DUMBBELL}[queue]\nkind = \"tail\"\n{FLOWS}"), "\"tail\"", &["`droptail`"]);
    refuses(&format!("[tcp]\nrecovery = \"sakc\"\n{DUMBBELL}{FLOWS}"), "\"sakc\"", &["did you mean `sack`"]);
    refuses(&format!("[topology]\nkind = \"dumbell\"\n{FLOWS}"), "\"dumbell\"", &["did you mean `dumbbell`"]);
}

#[test]
fn a_wrong_value_is_told_the_range_and_the_form() {
    refuses(&format!("[run]\nseeds = 0\n{DUMBBELL}{FLOWS}"), "0", &["1 to 10000"]);
    refuses(&format!("[run]\nduration = 60\n{DUMBBELL}{FLOWS}"), "60", &["60ms", "by default"]);
    refuses(&format!("[topology]\nrate = \"150mbps\"\n{FLOWS}"), "\"150mbps\"", &["`150mbit`"]);
    refuses(&format!("{DUMBBELL}buffer = 750\n{FLOWS}"), "750", &["`750pkt`", "`1bdp`"]);
    refuses(&format!("{DUMBBELL}{FLOWS}count = 1000000\n"), "1000000", &["0 to 100000"]);
    refuses(&format!("{DUMBBELL}{FLOWS}rtt = [\"60ms\", 7]\n"), "7", &["60ms"]);
    refuses(&format!("{DUMBBELL}{FLOWS}start = 1979-05-27\n"), "1979-05-27", &["time"]);
    refuses(
        &format!("{DUMBBELL}{FLOWS}tcp = {{ dupthresh = 99999999999999999999 }}\n"),
        "99999999999999999999",
        &["whole number"],
    );
}

#[test]
fn fields_that_disagree_are_told_so() {
    let measure = format!("[run]\nduration = \"100s\"\nmeasure = \"50s..200s\"\n{DUMBBELL}{FLOWS}");
    refuses(&measure, "\"50s..200s\"", &["beyond", "100s"]);
    let empty = format!("[run]\nmeasure = \"5s..5s\"\n{DUMBBELL}{FLOWS}");
    refuses(&empty, "\"5s..5s\"", &["empty"]);
    let rto = format!("{DUMBBELL}{FLOWS}tcp = {{ rto_min = \"50s\", rto_max = \"2s\" }}\n");
    refuses(&rto, "\"50s\"", &["rto_max", "lower"]);
    refuses(&format!("{DUMBBELL}{FLOWS}start = \"99s\"\n"), "\"99s\"", &["end of the run", "60s"]);
    refuses(&format!("{DUMBBELL}{FLOWS}start = \"9s\"\nstop = \"5s\"\n"), "\"5s\"", &["not after the start"]);
    let long = format!("[run]\nduration = \"1000000s\"\n{DUMBBELL}{FLOWS}tcp = {{ payload = \"1b\" }}\n");
    refuses(&long, "\"1000000s\"", &["packets", "shorten"]);
}

#[test]
fn what_is_missing_is_named_with_its_section() {
    refuses(&format!("[topology]\n{FLOWS}"), "[topology]", &["needs `rate`", "rate = \"10mbit\""]);
    refuses(&format!("{DUMBBELL}[[flows]]\ncount = 2\n"), "[[flows]]", &["needs `cc`", "`reno`"]);
    refuses(DUMBBELL, "", &["nobody sends", "[[flows]]"]);
    refuses(FLOWS, "", &["no network", "`dumbbell`"]);
    refuses(&format!("{DUMBBELL}{FLOWS}{FLOWS}"), "[[flows]]", &["two groups", "`reno`"]);
}

#[test]
fn all_faults_are_found_in_order_of_place() {
    let text = format!("nmae = 1\n[run]\nseeds = 0\n{DUMBBELL}bufer = 1\n[[flows]]\ncc = \"x\"\nrtt = 3\n");
    let faults = parse(&text).unwrap_err();
    let places: Vec<&str> = faults.iter().map(|fault| &text[fault.span.clone()]).collect();
    assert_eq!(places, ["nmae", "0", "bufer", "\"x\"", "3"]);
}

#[test]
fn invalid_toml_is_refused_at_the_place_of_the_error() {
    let text = "name = \"x\"\n[topology\nrate = 1\n";
    let faults = parse(text).unwrap_err();
    assert!(faults[0].message.contains("invalid TOML"), "{faults:#?}");
    assert_eq!(text[..faults[0].span.start].lines().count(), 2);
}

#[test]
fn a_sweep_makes_every_combination_with_the_last_axis_fastest() {
    let text = format!(
        "{DUMBBELL}{FLOWS}name = \"long\"\n[sweep]\n\"topology.rate\" = [\"1mbit\", \"10mbit\"]\nflows.long.count = [1, 2, 3]\n"
    );
    let plan = plan(&text);
    assert_eq!(plan.cases.len(), 6);
    let pair = |path: &str, value: &str| (path.to_string(), value.to_string());
    assert_eq!(plan.cases[1].settings, [pair("topology.rate", "1mbit"), pair("flows.long.count", "2")]);
    assert_eq!(plan.cases[5].valid.groups()[0].members.len(), 3);
    assert_eq!(plan.cases[5].valid.network().links[0].rate, Some(Rate::from_mbit(10)));
}

#[test]
fn a_sweep_reaches_what_is_not_written_and_what_is_written_short() {
    let sweep = |line: &str| plan(&format!("{DUMBBELL}{FLOWS}name = \"long\"\n[sweep]\n{line}\n")).cases;
    let cases = sweep("\"flows.long.cc.decrease\" = [0.2, 0.4]");
    let Some(cc::Config::Reno(params)) = &cases[1].valid.groups()[0].cc else { panic!() };
    assert_eq!(params.decrease, 0.4);
    assert_eq!(
        sweep("\"flows.*.tcp.recovery\" = [\"tahoe\"]")[0].valid.groups()[0].tcp.as_ref().unwrap().recovery,
        Recovery::Tahoe
    );
    assert_eq!(sweep("\"run.duration\" = [\"9s\"]")[0].valid.schedule().duration, Time(9_000_000_000));
}

#[test]
fn a_sweep_over_schemes_sets_control_and_recovery_and_queue() {
    let text = format!("{DUMBBELL}{FLOWS}[sweep]\nscheme = [\"reno\", \"tahoe:decrease=0.4/droptail\"]\n");
    let plan = plan(&text);
    let group = |case: usize| &plan.cases[case].valid.groups()[0];
    assert_eq!(group(0).tcp.as_ref().unwrap().recovery, Recovery::Reno);
    assert_eq!(group(1).tcp.as_ref().unwrap().recovery, Recovery::Tahoe);
    let Some(cc::Config::Reno(params)) = &group(1).cc else { panic!() };
    assert_eq!(params.decrease, 0.4);
}

#[test]
fn a_scheme_of_a_sweep_may_be_called_by_another_name() {
    let schemes = "[{ name = \"tahoe\", scheme = \"tahoe:decrease=0.4\" }, \"reno\"]";
    let plan = plan(&format!("{DUMBBELL}{FLOWS}[sweep]\nscheme = {schemes}\n"));
    let called: Vec<_> = plan.cases.iter().map(|case| case.settings[0].1.as_str()).collect();
    assert_eq!(called, ["tahoe", "reno"]);
    let Some(cc::Config::Reno(params)) = &plan.cases[0].valid.groups()[0].cc else { panic!() };
    assert_eq!(params.decrease, 0.4);
}

#[test]
fn a_fault_in_a_swept_value_points_into_the_sweep() {
    let sweep = |line: &str| format!("{DUMBBELL}{FLOWS}name = \"long\"\n[sweep]\n{line}\n");
    refuses(&sweep("\"topology.rate\" = [\"1mbit\", \"0bit\"]"), "\"0bit\"", &["rate", "1bit to"]);
    refuses(&sweep("\"flows.lng.count\" = [1]"), "\"flows.lng.count\"", &["did you mean `long`"]);
    refuses(&sweep("\"topology.rat\" = [\"1mbit\"]"), "\"topology.rat\"", &["no field `rat`", "`rate`"]);
    refuses(&sweep("\"run.duration\" = []"), "[]", &["not a list of values"]);
    refuses(&sweep("\"run.seeds\" = [1, 2]"), "\"run.seeds\"", &["cannot be swept"]);
    let numbers = (0..200).map(|number| number.to_string()).collect::<Vec<_>>().join(", ");
    let large = sweep(&format!("\"run.duration\" = [{numbers}]\n\"topology.rtt\" = [{numbers}]"));
    refuses(&large, "sweep", &["10000"]);
}

#[test]
fn a_swept_value_that_disagrees_is_the_one_pointed_at() {
    let text = format!(
        "[run]\nmeasure = \"5s..50s\"\n{DUMBBELL}{FLOWS}[sweep]\n\"run.duration\" = [\"60s\", \"20s\"]\n"
    );
    refuses(&text, "\"20s\"", &["measure", "beyond"]);
}

#[test]
fn what_would_not_fit_in_memory_is_refused() {
    let many = |count: u32, groups: u32| {
        let group = |number| format!("[[flows]]\nname = \"g{number}\"\ncc = \"reno\"\ncount = {count}\n");
        format!("{DUMBBELL}{}", (0..groups).map(group).collect::<String>())
    };
    refuses(&many(60_000, 2), "60000", &["120000", "100000"]);
    let counts = vec!["100000"; 20].join(", ");
    let swept = format!("{}[sweep]\n\"flows.g0.count\" = [{counts}]\n", many(1, 1));
    refuses(&swept, "", &["too many"]);
    refuses(&format!("{DUMBBELL}buffer = \"1000s\"\n{FLOWS}"), "\"1000s\"", &["16777216"]);
    refuses(&format!("{DUMBBELL}buffer = \"100b\"\n{FLOWS}"), "\"100b\"", &["one packet", "1pkt"]);
    assert!(parse(&"# long\n".repeat(200_000)).unwrap_err()[0].message.contains("megabyte"));
}

#[test]
fn deep_nesting_is_refused_without_harm() {
    for text in [format!("{}=1", vec!["a"; 200_000].join(".")), format!("a={}", "[".repeat(200_000))] {
        assert!(!parse(&text).unwrap_err().is_empty());
    }
}

#[test]
fn a_scheme_is_a_control_with_recovery_and_queue() {
    let scheme = scheme::parse("newreno:decrease=0.3").unwrap();
    assert_eq!(scheme.recovery, Some(Recovery::NewReno));
    assert_eq!(scheme.queue.name(), "droptail");
    let cc::Config::Reno(params) = scheme.cc else { panic!("{:?}", scheme.cc) };
    assert_eq!(params.decrease, 0.3);
    assert_eq!(scheme::parse("reno").unwrap().recovery, Some(Recovery::Reno));
}

#[test]
fn a_wrong_scheme_is_told_what_there_is() {
    assert!(scheme::parse("rno").unwrap_err().contains("did you mean `reno`"));
    assert!(scheme::parse("reno/").unwrap_err().contains("`droptail`"));
    assert!(scheme::parse("reno:decrease").unwrap_err().contains("sets nothing"));
    assert!(scheme::parse("reno:decrease=7").unwrap_err().contains("0.01 to 0.99"));
    assert!(scheme::parse("reno:drease=0.3").unwrap_err().contains("did you mean `decrease`"));
    assert!(scheme::parse("").is_err());
    assert!(scheme::parse("ratcp/red/orcle").unwrap_err().contains("did you mean `oracle`"));
}

#[test]
fn every_preset_whose_algorithm_exists_is_a_scheme() {
    for preset in scheme::PRESETS.iter().filter(|preset| registered(preset.of)) {
        let text = match preset.family {
            scheme::Of::Control => preset.name.to_string(),
            scheme::Of::Queue => format!("sack/{}", preset.name),
        };
        let scheme = scheme::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(scheme.cc.name() == preset.of || scheme.queue.name() == preset.of);
    }
}

#[test]
fn members_of_a_group_start_and_stop_one_after_another() {
    let turns = "count = 3\nstart = \"1s..2s\"\nstart_every = \"5s\"\nstop = \"20s\"\nstop_every = \"10s\"\n";
    let valid = valid(&format!("{DUMBBELL}{FLOWS}{turns}"));
    let seconds = |at: Time| at.as_secs_f64();
    let flows = valid.groups()[0].members.iter();
    let times: Vec<(f64, f64, Option<f64>)> = flows
        .map(|flow| (seconds(flow.start.from), seconds(flow.start.to), flow.stop.map(seconds)))
        .collect();
    assert_eq!(times, [(1.0, 2.0, Some(20.0)), (6.0, 7.0, Some(30.0)), (11.0, 12.0, Some(40.0))]);
}

#[test]
fn the_last_member_has_to_fit_into_the_run() {
    let late = "count = 7\nstart_every = \"12s\"\n";
    refuses(&format!("{DUMBBELL}{FLOWS}{late}"), "\"12s\"", &["the last of 7", "duration"]);
    let backwards = "count = 7\nstart_every = \"5s\"\nstop = \"20s\"\n";
    refuses(&format!("{DUMBBELL}{FLOWS}{backwards}"), "\"5s\"", &["stops before it starts", "stop_every"]);
}

#[test]
fn a_group_may_be_without_members_while_another_sends() {
    let other = "[[flows]]\nname = \"other\"\ncc = \"pert\"\n";
    let nobody = format!("{DUMBBELL}{FLOWS}count = 0\n");
    refuses(&nobody, "", &["nobody sends", "`count` above 0"]);
    let valid = valid(&format!("{nobody}{other}"));
    assert_eq!((valid.groups()[0].members.len(), valid.groups()[1].members.len()), (0, 1));
}

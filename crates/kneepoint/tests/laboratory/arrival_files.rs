// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Files from which flows take their arrivals and their sizes, and the faults in them.

use kneepoint::rng::Rng;
use kneepoint::run;
use kneepoint::scenario::{Fault, Plan, parse, parse_with};

use crate::common::ledger::Ledger;

/// A scenario whose flows arrive as the files named `a.csv` and `s.csv` say.
fn from_files(fields: &str, file: &str) -> (String, Result<Plan, Vec<Fault>>) {
    let text = format!("[topology]\nrate = \"6mbit\"\n[[arrivals]]\ncc = \"reno\"\n{fields}");
    let read = |path: &str| match path {
        "a.csv" | "s.csv" => Ok(file.to_string()),
        _ => Err("cannot read it".to_string()),
    };
    let plan = parse_with(&text, &read);
    (text, plan)
}

#[test]
fn arrivals_and_sizes_come_from_files_as_from_the_scenario_itself() {
    for (named, file, inline) in [
        ("file = \"a.csv\"", "time_s,size_kb\n2,100\n0.5,\n", "list = [\"2s 100kb\", \"500ms\"]"),
        ("sizes_file = \"s.csv\"", "size_bytes\n1000\n9000", "sizes = [\"1kb\", \"9kb\"]"),
    ] {
        let (_, read) = from_files(named, file);
        let written = format!("[topology]\nrate = \"6mbit\"\n[[arrivals]]\ncc = \"reno\"\n{inline}");
        let completed = |plan: Plan| run::run(&plan.cases[0].valid, 1, Ledger::default()).0.completed;
        assert_eq!(completed(read.unwrap()), completed(parse(&written).unwrap()));
    }
}

#[test]
fn a_fault_in_a_file_is_shown_at_its_name_with_its_line() {
    for (fields, file, wrong) in [
        (
            "file = \"a.csv\"",
            "time_s\n1\nx\n",
            "file: `a.csv`, line 3, column 1 (time_s): expected a number of s, ",
        ),
        ("file = \"a.csv\"", "none", "file: `a.csv`, line 1, column 1: unknown column `none`"),
        ("file = \"a.csv\"", "", "file: `a.csv`, line 1: the file is empty"),
        ("file = \"b.csv\"", "", "file: `b.csv`: cannot read it"),
        ("file = \"a.csv\"\nlist = \"1s\"", "", "both `file` and `list` are given"),
        (
            "sizes_file = \"s.csv\"",
            "size_bytes\n0\n",
            "sizes_file: `s.csv`, line 2, column 1 (size_bytes): \"0b\"",
        ),
    ] {
        let (text, plan) = from_files(fields, file);
        let faults = plan.unwrap_err();
        assert!(faults[0].message.starts_with(wrong), "{faults:?}");
        assert!(text[faults[0].span.clone()].ends_with(".csv\""), "{faults:?}");
    }
}

#[test]
fn any_file_is_a_list_of_arrivals_or_a_fault_that_names_a_line() {
    let parts = "time_s time_ms size_bytes size_kb , , , \n \n \n 0 1 17.5 1e3 -1 NaN 1e300 ä \u{feff} \r\n \" 18446744073709551616";
    let parts: Vec<&str> = parts.split(' ').chain([" "]).collect();
    let mut rng = Rng::stream(1, "arrivals file", 0);
    let mut accepted = 0;
    for _ in 0..20_000 {
        let header = ["time_s,size_kb\n", "time_ms\n", ""][rng.below(3) as usize];
        let body = (0..rng.below(8)).map(|_| parts[rng.below(parts.len() as u64) as usize]);
        let file = header.to_string() + &body.collect::<String>();
        match from_files("file = \"a.csv\"", &file).1 {
            Ok(_) => accepted += 1,
            Err(faults) => assert!(faults[0].message.contains("`a.csv`, line "), "{file:?}: {faults:?}"),
        }
    }
    assert!((100..19_900).contains(&accepted), "{accepted}");
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Files that list transfers one by one, for any number of groups, and distribution functions of sizes.

use kneepoint::scenario::{Fault, Plan, parse, parse_with};
use kneepoint::units::{Bytes, Span, Time};

const GROUPS: &str = "[run]\nduration = '20s'\n[topology]\nrate = '6mbit'\n";
const ROLL: &str = "group,start_s,stop_s,size_kb\nlong,0,15,\nshort,2.5,,100\nlong,1,,\nshort,4,,\n";

fn from_roll(fields: &str, file: &str) -> Result<Plan, Vec<Fault>> {
    parse_with(&format!("{GROUPS}{fields}"), &|_| Ok(file.to_string()))
}

#[test]
fn a_file_gives_every_group_its_transfers() {
    let plan = from_roll(
        "[[flows]]\nname = 'long'\ncc = 'reno'\nfile = 'flows.csv'\n\
         [[flows]]\nname = 'short'\ncc = 'cubic'\nsize = '7kb'\nfile = 'flows.csv'\n",
        ROLL,
    );
    let valid = plan.unwrap().cases.remove(0).valid;
    let told = |group: usize| -> Vec<(Time, Option<Time>, Option<Bytes>)> {
        let members = valid.groups()[group].members.iter();
        members.map(|member| (member.start.from, member.stop, member.size)).collect()
    };
    let at = |millis: u64| Time::ZERO + Span::from_millis(millis);
    assert_eq!(told(0), [(at(0), Some(at(15_000)), None), (at(1000), None, None)]);
    assert_eq!(told(1), [(at(2500), None, Some(Bytes(100_000))), (at(4000), None, Some(Bytes(7000)))]);
    assert!(valid.groups().iter().all(|group| group.pairs.len() == 2), "hosts for each transfer");
}

#[test]
fn a_list_in_the_scenario_is_the_same_as_a_file() {
    let inline = "[[flows]]\ncc = 'reno'\nlist = ['0s..15s', '1s', '2s 50kb']\n";
    let written = parse(&format!("{GROUPS}{inline}")).unwrap();
    let file = "start_s,stop_s,size_bytes\n0,15,\n1,,\n2,,50000\n";
    let read = from_roll("[[flows]]\ncc = 'reno'\nfile = 'flows.csv'\n", file).unwrap();
    assert_eq!(read.cases[0].valid.groups(), written.cases[0].valid.groups());
}

#[test]
fn what_a_list_leaves_no_room_for_is_refused() {
    let group = |fields: &str| format!("[[flows]]\nname = 'long'\ncc = 'reno'\n{fields}\n");
    for (fields, file, wrong) in [
        ("count = 3\nfile = 'f.csv'", "start_s\n1\n", "`count` has no effect with a list"),
        ("start = '1s'\nlist = ['2s']", "", "`start` has no effect with a list"),
        ("file = 'f.csv'", "group,start_s\nother,1\n", "no row of the list belongs to the group `long`"),
        ("file = 'f.csv'", "start_s\n30\n", "a start at 30s is not before the end of the run, 20s"),
        ("file = 'f.csv'", "start_s,stop_s\n3,2\n", "line 2: a stop at 2s is not after the start, 3s"),
        ("file = 'f.csv'", "begin_s\n3\n", "unknown column `begin_s`"),
    ] {
        let faults = from_roll(&group(fields), file).unwrap_err();
        assert!(faults[0].message.contains(wrong), "{fields}: {faults:?}");
    }
}

#[test]
fn sizes_come_from_a_distribution_function() {
    let group = "[[arrivals]]\ncc = 'reno'\nload = 0.5\ncapacity = '6mbit'\nsizes_file = 'sizes.txt'\n";
    let plan = from_roll(group, "0 0\n8000 20\n25000 35\n60000 50\n300000 70\n2000000 90\n20000000 100\n");
    assert!(plan.is_ok(), "{plan:?}");
    let wrong = from_roll(group, "0 0\n8000 20\n25000 35\n").unwrap_err();
    assert!(wrong[0].message.contains("ends at 100 %"), "{wrong:?}");
}

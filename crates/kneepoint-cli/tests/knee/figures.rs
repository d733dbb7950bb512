// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The page on figures: its commands work on its scenario, and its pictures are there and small.

use super::*;

const PAGE: &str = include_str!("../../../../docs/figures.md");

/// The largest picture of the page, in bytes.
const LARGEST: u64 = 40_000;

/// The commands of the table, in order.
fn commands() -> Vec<&'static str> {
    let rows = PAGE.lines().filter(|line| line.starts_with("| ") && line.contains("`knee "));
    rows.filter_map(|row| row.rsplit("`knee ").next()?.split('`').next()).collect()
}

#[test]
fn the_commands_of_the_page_run_in_their_order() {
    let here = tempfile::tempdir().unwrap();
    let scenario =
        PAGE.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a scenario");
    std::fs::write(here.path().join("grid.toml"), scenario).unwrap();
    let all = commands();
    let table =
        PAGE.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    assert_eq!(all.len(), table.count() - 2, "one in each row");
    for line in all {
        let words: Vec<&str> = line.split(' ').collect();
        let output = knee(here.path(), &words);
        assert!(output.status.success(), "knee {line}\n{}", stderr(&output));
    }
    for drawn in [
        "paper/figures/utilization-over-rtt.pdf",
        "column/table.tex",
        "column/tables.tex",
        "heat/report.html",
    ] {
        assert!(here.path().join("out").join(drawn).exists(), "{drawn}");
    }
}

#[test]
fn the_pictures_of_the_page_are_there_and_small() {
    let pictures: Vec<&str> =
        PAGE.split("](img/").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert!(pictures.iter().any(|name| name.starts_with("before-")), "{pictures:?}");
    assert!(pictures.iter().any(|name| name.starts_with("after-")), "{pictures:?}");
    for name in pictures {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/img").join(name);
        let bytes = std::fs::metadata(&file).unwrap_or_else(|error| panic!("{name}: {error}")).len();
        assert!(bytes < LARGEST, "{name}: {bytes} bytes");
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What follows from the definitions of outputs: the columns that are taken, and the verb whose file lies in a directory.

use std::collections::BTreeSet;

use super::Part::{self, Key};
use super::{Output, SERIES, TABLES, documents};

/// The columns that a factor may not have: columns of tables with a column for each factor, and of series.
pub fn beside_factors() -> BTreeSet<String> {
    let stands = |part: &Part| matches!(part, Key(path, _) if FACTORS.contains(path));
    let with = TABLES.iter().filter(|output| output.parts.iter().any(stands)).chain([&SERIES]);
    with.flat_map(Output::definitions).map(|one| one.path).filter(|path| !path.starts_with('<')).collect()
}

/// Paths that stand for the columns of factors.
const FACTORS: [&str; 3] = ["<factor>", "<column>", "<axis>"];

/// The verb whose characteristic file is in a directory, among the files that `has` finds there.
pub fn writer(has: impl Fn(&str) -> bool) -> Option<&'static str> {
    let found = |output: &'static Output| {
        let verbs = || output.from.iter().filter_map(|text| verb(text));
        let own = |text: &'static str| {
            let file = text.strip_prefix("OUT/")?.split_whitespace().next()?;
            let known = !file.contains('/') && has(file);
            known.then(|| verb(text).or_else(|| verbs().next())).flatten()
        };
        output.from.iter().find_map(|text| own(text))
    };
    documents().chain(TABLES).find_map(found)
}

/// The verb in the origin of an output: `fluid run` of `OUT/trajectory.csv of knee fluid run, and its --csv`.
fn verb(text: &'static str) -> Option<&'static str> {
    let behind = text.split_once("knee ")?.1;
    let end = behind.find([',', '-']).unwrap_or(behind.len());
    Some(behind[..end].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_tells_by_its_files_which_verb_wrote_it() {
        let of = |files: &[&str]| writer(|file| files.contains(&file));
        for (file, verb) in [
            ("coexistence.json", "coexist"),
            ("claims.json", "reproduce"),
            ("scores.json", "predict"),
            ("connections.json", "plot"),
            ("markov.csv", "markov"),
            ("trajectory.csv", "fluid run"),
            ("difference.json", "diff"),
            ("live.json", "live"),
            ("video.json", "live video"),
        ] {
            assert_eq!(of(&["report.html", file]), Some(verb), "{file}");
        }
        assert_eq!(of(&["report.html", "notes.txt"]), None);
    }
}

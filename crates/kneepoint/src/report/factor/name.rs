// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Names of factors for people, and their columns in files, from the paths of fields.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::super::output;
use super::quantity::ending;
use crate::measure::Subject;

/// Factors whose levels explain themselves, as `cubic` does.
pub(super) const SPEAKING: [&str; 4] = ["scheme", "congestion control", "queue", "feedback"];

/// The last words of paths that read otherwise: the name for people, and the column without its unit.
const WORDS: [(&str, &str, &str); 7] = [
    ("rtt", "RTT", "rtt"),
    ("cc", "congestion control", "cc"),
    ("mss", "MSS", "mss"),
    ("ecn", "ECN", "ecn"),
    ("count", "flows", "flow_count"),
    ("to_bad", "P(to bad state)", "to_bad"),
    ("to_good", "P(to good state)", "to_good"),
];

/// A path as its name is made of it.
struct Path<'p> {
    /// The owner of the field: a group, or a section.
    owner: Option<&'p str>,
    word: &'p str,
    /// Whether it is a group's own value of a property that the path has, too.
    own: bool,
}

/// Fields of groups that the whole path has, too.
const OF_PATHS: [&str; 3] = ["rtt", "delay", "rate"];

impl Path<'_> {
    fn of(key: &str) -> Path<'_> {
        // `queue.kind` is the queue, and `loss.p` how much is lost.
        let short = [".kind", ".p"].iter().find_map(|end| key.strip_suffix(end));
        let mut steps = short.unwrap_or(key).rsplit('.');
        let word = steps.next().unwrap_or(key);
        let own = OF_PATHS.contains(&word) && steps.clone().count() == 2 && steps.clone().next() != Some("*");
        Path { owner: steps.find(|step| *step != "*"), word, own }
    }

    /// The name for people and the column, distinct from the names of other paths if `apart`.
    fn named(&self, apart: bool) -> (String, String) {
        let known = WORDS.iter().find(|(word, ..)| *word == self.word);
        let plain = || self.word.replace('_', " ");
        let name = known.map_or_else(plain, |(_, name, _)| name.to_string());
        let column = known.map_or(self.word, |(.., column)| column);
        let prefix = self.owner.filter(|_| apart).map_or(String::new(), |owner| format!("{owner}_"));
        let owner =
            self.owner.filter(|_| apart || self.own).map_or(String::new(), |owner| format!(" of {owner}"));
        (name + &owner, prefix + column)
    }
}

/// The name and the column of each field, whose numbers have these units.
pub(super) fn names(keys: &[&str], units: &[&str]) -> Vec<(String, String)> {
    let paths: Vec<Path> = keys.iter().map(|key| Path::of(key)).collect();
    let short: Vec<String> = paths.iter().map(|path| path.named(false).0).collect();
    let mut named: Vec<(String, String)> = Vec::new();
    for (place, path) in paths.iter().enumerate() {
        let apart = short.iter().filter(|other| **other == short[place]).count() > 1;
        let (mut name, stem) = path.named(apart);
        if named.iter().any(|(other, _)| *other == name) {
            name = keys[place].to_string();
        }
        let column = column(&stem, units[place], &named);
        named.push((name, column));
    }
    named
}

/// A column with its unit that no table has yet.
fn column(stem: &str, unit: &str, others: &[(String, String)]) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let stem: String = stem.chars().map(plain).collect();
    let stem = Some(stem.trim_matches('_')).filter(|stem| !stem.is_empty()).unwrap_or("factor");
    let with = |mark: &str| {
        let stem = format!("{stem}{mark}");
        if stem.ends_with(ending(unit)) { stem } else { stem + ending(unit) }
    };
    let free = |column: &String| !is_taken(column) && !others.iter().any(|(_, other)| other == column);
    let marks =
        ["".to_string(), "_set".to_string()].into_iter().chain((2..).map(|place| format!("_set_{place}")));
    marks.map(|mark| with(&mark)).find(free).unwrap_or_default()
}

/// Whether a table has a column of this name in addition to its factors.
fn is_taken(column: &str) -> bool {
    let stem = column.strip_suffix("_half_width").unwrap_or(column);
    let of = |subject: &Subject| {
        subject.axes().contains(&column) || subject.metrics().iter().any(|metric| metric.key == stem)
    };
    static BESIDE: LazyLock<BTreeSet<String>> = LazyLock::new(output::beside_factors);
    BESIDE.contains(column) || Subject::ALL.iter().any(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(keys: &[(&str, &str)]) -> Vec<(String, String)> {
        let (keys, units): (Vec<&str>, Vec<&str>) = keys.iter().copied().unzip();
        names(&keys, &units)
    }

    fn pair(name: &str, column: &str) -> (String, String) {
        (name.into(), column.into())
    }

    #[test]
    fn fields_have_short_names_and_columns_with_their_units() {
        let keys = [
            ("flows.long.cc", ""),
            ("topology.buffer", "BDP"),
            ("topology.rtt", "ms"),
            ("topology.rate", "Mbit/s"),
            ("queue.kind", ""),
            ("tcp.rto_min", "s"),
            ("loss.to_bad", ""),
            ("loss.p", ""),
        ];
        let expected = [
            pair("congestion control", "cc"),
            pair("buffer", "buffer_bdp"),
            pair("RTT", "rtt_ms"),
            pair("rate", "rate_mbps"),
            pair("queue", "queue"),
            pair("rto min", "rto_min_s"),
            pair("P(to bad state)", "to_bad"),
            pair("loss", "loss"),
        ];
        assert_eq!(named(&keys), expected);
    }

    #[test]
    fn a_round_trip_of_one_group_is_not_taken_for_that_of_the_path() {
        let keys = [("flows.far.rtt", "ms"), ("flows.*.rtt", "ms"), ("flows.far.count", "")];
        let [one, all, count] = keys.map(|key| named(&[key]).remove(0));
        assert_eq!((one, all), (pair("RTT of far", "rtt_ms"), pair("RTT", "rtt_ms")));
        assert_eq!(count, pair("flows", "flow_count"));
    }

    #[test]
    fn the_same_field_of_two_groups_is_told_apart() {
        let keys = [("flows.a.cc", ""), ("flows.*.cc", ""), ("scheme", "")];
        let expected = [
            pair("congestion control of a", "a_cc"),
            pair("congestion control of flows", "flows_cc"),
            pair("scheme", "scheme"),
        ];
        assert_eq!(named(&keys), expected);
    }

    #[test]
    fn no_column_is_that_of_a_metric_or_a_label() {
        let keys = [("flows", ""), ("link", ""), ("seed", ""), ("goodput_bps", ""), ("Größe", ""), ("", "")];
        let columns: Vec<String> = named(&keys).into_iter().map(|(_, column)| column).collect();
        assert_eq!(columns, ["flows_set", "link_set", "seed_set", "goodput_bps_set", "gr__e", "factor"]);
        assert_eq!(named(&[("flows.long.count", "")]), [pair("flows", "flow_count")]);
    }

    #[test]
    fn every_column_of_a_table_that_has_factors_is_taken() {
        let known =
            ["seed", "seeds", "runs", "cpu_seconds", "bottleneck_packets", "events", "time_s", "metric"];
        let others = ["mean", "half_width", "variant", "bin", "apart", "p", "case", "predictor"];
        for column in known.into_iter().chain(others) {
            assert!(is_taken(column), "{column}");
        }
        assert!(!is_taken("rtt_ms") && !is_taken("scheme"));
    }
}

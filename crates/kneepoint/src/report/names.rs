// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Names of files by their contents.

/// The slug of a name, with its place if another has the same.
pub fn numbered(names: &[&str], place: usize) -> String {
    let name = slug(names[place]);
    match names.iter().filter(|other| slug(other) == name).count() {
        0 | 1 => name,
        _ => format!("{name}-{}", place + 1),
    }
}

/// A name as a file may have it: `sack/red-ecn` becomes `sack-red-ecn`.
pub fn slug(name: &str) -> String {
    let safe = name.chars().map(|c| if c.is_ascii_alphanumeric() || "._=".contains(c) { c } else { '-' });
    let safe = safe.take(100).collect::<String>();
    let trimmed = safe.trim_matches(['-', '.']);
    if trimmed.is_empty() { "unnamed".to_string() } else { trimmed.to_string() }
}

/// The name of a figure of one kind about one of several cases: `goodput-cubic-pie`; for a lone case, the kind's.
pub(super) fn figure(kind: &str, cases: &[&str], place: usize) -> String {
    match cases {
        [_] => kind.into(),
        _ => {
            let words = numbered(cases, place);
            let words = words.split('-').filter(|word| !word.is_empty()).collect::<Vec<_>>();
            format!("{kind}-{}", words.join("-"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_share_a_file_get_their_places() {
        let names = ["a/b", "c", "a:b"];
        assert_eq!([0, 1, 2].map(|place| numbered(&names, place)), ["a-b-1", "c", "a-b-3"]);
    }

    #[test]
    fn a_figure_is_named_after_its_case_where_there_are_several() {
        let cases = ["cubic/pie", "cubic, 20 ms, 1 BDP", "<&>", "cubic:pie"];
        let names = [0, 1, 2, 3].map(|place| figure("goodput", &cases, place));
        assert_eq!(
            names,
            ["goodput-cubic-pie-1", "goodput-cubic-20-ms-1-BDP", "goodput-unnamed", "goodput-cubic-pie-4"]
        );
        assert_eq!(figure("goodput", &["cubic"], 0), "goodput");
    }
}

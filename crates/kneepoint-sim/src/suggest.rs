// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Suggestions for misspelt names.

/// The longest list of names that is told in full.
pub const MANY: usize = 24;
/// The names of a longer list that are told.
const SHOWN: usize = 8;

/// The remedy for an unknown name: the known name closest to `word`, if one is close, and the list of all. Of more than [`MANY`] names it is
/// the closest alone, or the first few.
pub fn did_you_mean(word: &str, known: &[&str]) -> String {
    let suggestion = guess(word, known);
    let shown = if known.len() > MANY { SHOWN } else { known.len() };
    let list: Vec<String> = known.iter().take(shown).map(|name| format!("`{name}`")).collect();
    match (list.as_slice(), known.len() - shown) {
        ([], _) => "none is defined".into(),
        ([one], _) => format!("{suggestion}expected {one}"),
        (_, 0) => format!("{suggestion}expected one of {}", list.join(", ")),
        (_, more) if suggestion.is_empty() => {
            format!("expected one of {}, and {more} more", list.join(", "))
        }
        _ => suggestion.trim_end().into(),
    }
}

/// The first words of a remedy for an unknown name, with a blank behind them; empty if no known name is close to `word`.
pub fn guess(word: &str, known: &[&str]) -> String {
    closest(word, known).map_or(String::new(), |name| format!("did you mean `{name}`? "))
}

/// The known name that `word` most likely misspells: at most a third of its letters differ (Damerau-Levenshtein).
pub fn closest<'n>(word: &str, known: &[&'n str]) -> Option<&'n str> {
    // The distance costs the product of both lengths.
    if word.len() > 64 {
        return None;
    }
    let word = word.to_ascii_lowercase();
    let distance = |name: &str| strsim::damerau_levenshtein(&word, name);
    let near = known.iter().map(|name| (distance(name), *name)).min_by_key(|(far, _)| *far);
    near.filter(|(far, name)| *far <= name.len().max(word.len()).div_ceil(3)).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_gets_a_suggestion_and_an_unknown_one_the_list_alone() {
        let known = ["rate", "rtt", "buffer"];
        assert_eq!(
            did_you_mean("bufer", &known),
            "did you mean `buffer`? expected one of `rate`, `rtt`, `buffer`"
        );
        assert_eq!(did_you_mean("xylophone", &known), "expected one of `rate`, `rtt`, `buffer`");
        assert_eq!(did_you_mean("rat", &["rate"]), "did you mean `rate`? expected `rate`");
    }

    #[test]
    fn of_many_names_the_closest_or_the_first_few_are_told() {
        let names: Vec<String> = (0..30).map(|place| format!("name-of-{place:02}")).collect();
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(did_you_mean("name-off-17", &known), "did you mean `name-of-17`?");
        let few = did_you_mean("xylophone", &known);
        assert!(
            few.starts_with("expected one of `name-of-00`, ") && few.ends_with("`name-of-07`, and 22 more"),
            "{few}"
        );
    }
}

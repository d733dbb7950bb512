// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Suggestions for misspelt names.

/// The remedy for an unknown name: the known name closest to `word`, if one is close, and the list of all.
pub fn did_you_mean(word: &str, known: &[&str]) -> String {
    let suggestion = guess(word, known);
    let list: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    match list.as_slice() {
        [] => "none is defined".into(),
        [one] => format!("{suggestion}expected {one}"),
        _ => format!("{suggestion}expected one of {}", list.join(", ")),
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
}

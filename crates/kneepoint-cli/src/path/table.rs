// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Values of properties in TOML: numbers, texts, and a value with fields after a colon as a table.

use kneepoint::settings::{Field, Raw};
use kneepoint::suggest::did_you_mean;

use crate::failure::Failure;

/// `10mbit:burst=64kb` as a table. A word without a key is one more value of the key before.
pub(super) fn table(
    property: &str,
    before: &[(&str, String)],
    (main, known): (&str, &[Field]),
    written: &str,
) -> Result<String, Failure> {
    let refuse =
        |message: String, remedy: String| Err(Failure::usage(format!("--{property}: {message}"), remedy));
    let others: Vec<&str> = known.iter().map(|field| field.name).filter(|name| *name != main).collect();
    let (first, rest) = written.split_once(':').map_or((written, None), |(first, rest)| (first, Some(rest)));
    if first.contains('=') {
        let form = format!("{}:{written}", main.to_ascii_uppercase());
        return refuse(
            format!("`{first}` is given instead of `{main}`"),
            format!("write `{main}` first and without its name, as in `--{property} {form}`"),
        );
    }
    let mut given: Vec<(&str, Vec<&str>)> = vec![(main, first.split(',').map(str::trim).collect())];
    for word in rest.into_iter().flat_map(|rest| rest.split(',')) {
        let (lone, last) = (given.len() == 1, given.last_mut());
        match (word.split_once('='), last) {
            (Some((key, value)), _) => given.push((key.trim(), vec![value.trim()])),
            (None, Some((_, values))) if !lone => values.push(word.trim()),
            _ if others.is_empty() => {
                return refuse(
                    format!("nothing can follow `{first}` in `{written}`"),
                    format!("write `{first}` alone"),
                );
            }
            _ => {
                return refuse(
                    format!("`{word}` in `{written}` has no name"),
                    format!("after the colon write NAME=VALUE with one of {}", others.join(", ")),
                );
            }
        }
    }
    for (place, (key, values)) in given.iter().enumerate() {
        if given[..place].iter().any(|one| one.0 == *key) {
            return refuse(format!("`{key}` is given twice in `{written}`"), "leave one of them out".into());
        }
        if place > 0 && !others.contains(key) {
            return refuse(format!("there is no `{key}`, in `{written}`"), did_you_mean(key, &others));
        }
        if values.contains(&"") {
            return refuse(
                format!("`{key}` has no value in `{written}`"),
                "write a value, or leave it out".into(),
            );
        }
    }
    let own = given.into_iter().map(|(key, values)| {
        let values: Vec<String> = values.into_iter().map(scalar).collect();
        (key, if let [one] = &values[..] { one.clone() } else { format!("[{}]", values.join(", ")) })
    });
    let all = before.iter().cloned().chain(own).map(|(key, value)| format!("{key} = {value}"));
    Ok(format!("{{ {} }}", all.collect::<Vec<_>>().join(", ")))
}

/// A value in TOML: a number or a bool as such, anything else as text.
pub(super) fn scalar(written: &str) -> String {
    match Raw::guess(written) {
        Raw::Bool(value) => value.to_string(),
        Raw::Integer(value) => value.to_string(),
        Raw::Float(value) if value.is_finite() => format!("{value:?}"),
        _ => quoted(written),
    }
}

/// A text in TOML, where it looks as in JSON.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

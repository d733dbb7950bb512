// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A comparison read back from the JSON that was written of it. The series are in files of their own, and fluid models are not kept.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Deserialize;
use serde_json::Value;

use super::{Comparison, Factor, Level, Manifest, RunResult, SCHEMA_VERSION, SchemeResult};
use crate::study::caution::Caution;
use crate::table::Labels;

/// The reason why a text is not a comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum Unreadable {
    /// It has the keys of another version.
    Version(u64),
    /// It is a document of another kind, or not from this program.
    Other,
    /// It is damaged: where, and how.
    Damaged(String),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Unreadable::Version(version) => {
                write!(
                    f,
                    "it has the keys of version {version}, and this knee reads version {SCHEMA_VERSION}"
                )
            }
            Unreadable::Other => f.write_str("it is no result of `knee run` or `knee compare`"),
            Unreadable::Damaged(how) => write!(f, "it is damaged: {how}"),
        }
    }
}

/// The comparison that [`json::render`](super::json::render) wrote.
pub fn comparison(text: &str) -> Result<Comparison, Unreadable> {
    let damaged = |error: serde_json::Error| Unreadable::Damaged(error.to_string());
    match serde_json::from_str::<Head>(text).map_err(damaged)? {
        Head { schema_version: None, .. } | Head { schemes: None, .. } => Err(Unreadable::Other),
        Head { schema_version: Some(version), .. } if version != u64::from(SCHEMA_VERSION) => {
            Err(Unreadable::Version(version))
        }
        Head { .. } => {
            let written: Written = serde_json::from_str(text).map_err(damaged)?;
            written.comparison().map_err(Unreadable::Damaged)
        }
    }
}

/// The key with the kind and the version of a document.
#[derive(Deserialize)]
struct Head {
    schema_version: Option<u64>,
    #[serde(default)]
    schemes: Option<Vec<serde::de::IgnoredAny>>,
}

#[derive(Deserialize)]
struct Written {
    title: String,
    factors: Vec<WrittenFactor>,
    schemes: Vec<WrittenScheme>,
    #[serde(default)]
    cautions: Vec<Caution>,
    manifest: Manifest,
}

#[derive(Deserialize)]
struct WrittenFactor {
    key: String,
    name: String,
    unit: String,
    column: String,
    levels: Vec<Level>,
}

#[derive(Deserialize)]
struct WrittenScheme {
    scheme: String,
    levels: BTreeMap<String, Value>,
    controls: Labels,
    measured_s: Option<(f64, f64)>,
    runs: Vec<RunResult>,
}

impl Written {
    fn comparison(self) -> Result<Comparison, String> {
        let Written { title, factors, schemes, cautions, manifest } = self;
        let factors: Vec<Factor> =
            factors.into_iter().map(WrittenFactor::factor).collect::<Result<_, String>>()?;
        let schemes = schemes.into_iter().map(|scheme| scheme.result(&factors));
        let schemes: Vec<SchemeResult> = schemes.collect::<Result<_, String>>()?;
        let names: BTreeSet<&str> = schemes.iter().map(|scheme| scheme.scheme.as_str()).collect();
        match names.len() == schemes.len() {
            true => Ok(Comparison { title, factors, schemes, cautions, manifest }),
            false => Err("two schemes have the same name".into()),
        }
    }
}

impl WrittenFactor {
    fn factor(self) -> Result<Factor, String> {
        let WrittenFactor { key, name, unit, column, levels } = self;
        let unit =
            Factor::unit_named(&unit).ok_or_else(|| format!("`{unit}` is no unit of the factor `{key}`"))?;
        Ok(Factor { key, name, unit, column, levels })
    }
}

impl WrittenScheme {
    fn result(self, factors: &[Factor]) -> Result<SchemeResult, String> {
        let WrittenScheme { scheme, levels, controls, measured_s, runs } = self;
        if runs.is_empty() {
            return Err(format!("the scheme `{scheme}` has no run"));
        }
        let seeds: BTreeSet<u64> = runs.iter().map(|run| run.seed).collect();
        if seeds.len() < runs.len() {
            return Err(format!("the scheme `{scheme}` has two runs of one seed"));
        }
        let place = |factor: &Factor| {
            let written = levels.get(&factor.column).unwrap_or(&Value::Null);
            let is_it = |level: &Level| match (level.number, written) {
                (Some(number), Value::Number(other)) => other.as_f64() == Some(number),
                (None, Value::String(text)) => level.text == *text,
                _ => false,
            };
            let found = factor.levels.iter().position(is_it);
            found.ok_or_else(|| {
                format!("`{written}` of the scheme `{scheme}` is no level of `{}`", factor.key)
            })
        };
        let places = factors.iter().map(place).collect::<Result<_, String>>()?;
        Ok(SchemeResult {
            scheme,
            levels: places,
            controls,
            runs,
            measured: measured_s,
            series: None,
            theory: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{example, json};
    use super::*;

    #[test]
    fn a_comparison_reads_back_as_it_was_but_for_its_series() {
        let mut written = example::comparison();
        let read = comparison(&json::render(&written)).unwrap();
        written.schemes.iter_mut().for_each(|scheme| scheme.series = None);
        assert_eq!(read, written);
        assert_eq!(json::render(&read), json::render(&written));
    }

    #[test]
    fn another_version_another_document_and_each_damage_are_named() {
        let text = json::render(&example::comparison());
        let version = format!("\"schema_version\": {SCHEMA_VERSION}");
        assert_eq!(comparison(&text.replace(&version, "\"schema_version\": 1")), Err(Unreadable::Version(1)));
        for other in ["{}", "{\"schema_version\": 3}", "{\"schema_version\": 3, \"claims\": []}"] {
            assert_eq!(comparison(other), Err(Unreadable::Other), "{other}");
        }
        let damage = [
            (text[..text.len() / 2].to_string(), "EOF"),
            ("[1".to_string(), ""),
            (text.replacen("\"seed\": 2", "\"seed\": 1", 1), "two runs of one seed"),
            (text.replacen("\"rows\"", "\"rose\"", 1), "rows"),
            (text.replacen("\"column\": \"scheme\"", "\"column\": \"skeme\"", 1), "no level of `scheme`"),
        ];
        for (damaged, named) in damage {
            let said = comparison(&damaged).unwrap_err().to_string();
            assert!(said.contains("damaged") && said.contains(named), "{named}: {said}");
        }
    }
}

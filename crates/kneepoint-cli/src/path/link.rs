// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The fields of an emulated link, each set once by options that are equally general.

use super::Way;
use super::fields::{both_set, of_preset};
use super::table::quoted;
use crate::failure::Failure;

/// Keys of a `[[link]]` with values in TOML.
pub(super) struct LinkFields(Vec<LinkField>);

/// A key with its value.
struct LinkField {
    key: &'static str,
    value: String,
    /// The option that sets it, and the direction of the option; none for settings of every link.
    by: Option<(String, Option<Way>)>,
}

impl LinkFields {
    /// Settings of every link: keys and values as written.
    pub(super) fn of(general: &[(&'static str, String)]) -> LinkFields {
        let field = |(key, value): &(&'static str, String)| LinkField { key, value: quoted(value), by: None };
        LinkFields(general.iter().map(field).collect())
    }

    /// A key that overrides a more general option.
    pub(super) fn put(
        &mut self,
        key: &'static str,
        value: String,
        (option, way): (&str, Option<Way>),
    ) -> Result<(), Failure> {
        let field = LinkField { key, value, by: Some((option.to_string(), way)) };
        let Some(place) = self.0.iter().position(|known| known.key == key) else {
            self.0.push(field);
            return Ok(());
        };
        if let Some((other, of)) = &self.0[place].by
            && *of == way
            && !of_preset(other)
        {
            return Err(both_set(other, option, key));
        }
        self.0[place] = field;
        Ok(())
    }

    /// The keys with their values.
    pub(super) fn pairs(self) -> Vec<(&'static str, String)> {
        self.0.into_iter().map(|field| (field.key, field.value)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_of_one_way_overrides_a_general_one_and_another_of_its_way_does_not() {
        let mut link = LinkFields::of(&[("rate", "9mbit".to_string())]);
        let mut put = |option: &str, way| link.put("rate", option.to_string(), (option, way)).is_ok();
        assert!(put("--path leo", Some(Way::Up)) && put("--reverse-rate 2mbit", Some(Way::Up)));
        assert!(!put("--up rate=1mbit", Some(Way::Up)));
        assert_eq!(link.pairs(), [("rate", "--reverse-rate 2mbit".to_string())]);
        let mut other = LinkFields::of(&[]);
        assert!(other.put("loss", "1%".into(), ("--loss 1%", None)).is_ok());
        assert!(other.put("loss", "2%".into(), ("--down loss=2%", Some(Way::Down))).is_ok());
        assert!(other.put("loss", "3%".into(), ("--down loss=3%", Some(Way::Down))).is_err());
    }
}

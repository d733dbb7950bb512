// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The properties of a path, in one table: the word for each on the command line, and the fields of a scenario that it sets.

use kneepoint::settings::Raw;

use crate::failure::Failure;

/// A property of one way of a path.
pub struct Property {
    /// Its name as an option and as a key of `--up` and `--down`.
    pub word: &'static str,
    /// The field of a scenario for the way of most data.
    pub forward: Option<&'static str>,
    /// The field for the other way.
    pub reverse: Option<&'static str>,
    /// The field of a `[[link]]`.
    pub link: &'static str,
    /// How a value is written.
    form: Form,
}

/// How the value of a property is written.
#[derive(Clone, Copy)]
enum Form {
    /// As the field has it.
    Plain,
    /// A share of packets, or a model.
    Loss,
    /// Fields of a section: the value of this one, and after a colon those of others, as in `10mbit:burst=64kb`.
    Fields(&'static str),
    /// The same for a member of a family.
    Member(&'static str, &'static str),
    /// The name of a file with a trace.
    Trace,
}

const fn property(
    word: &'static str,
    forward: Option<&'static str>,
    reverse: Option<&'static str>,
    link: &'static str,
    form: Form,
) -> Property {
    Property { word, forward, reverse, link, form }
}

/// Both ways of a dumbbell have the fields without a reverse one in common; only links have those without any.
pub const PROPERTIES: &[Property] = &[
    property("rate", Some("topology.rate"), Some("topology.reverse_rate"), "rate", Form::Plain),
    property("rtt", Some("topology.rtt"), None, "", Form::Plain),
    property("delay", None, None, "delay", Form::Plain),
    property("jitter", Some("topology.jitter"), None, "jitter", Form::Plain),
    property("buffer", Some("topology.buffer"), Some("topology.reverse_buffer"), "buffer", Form::Plain),
    property("queue", Some("queue"), Some("reverse_queue"), "queue", Form::Plain),
    property("loss", Some("loss"), Some("reverse.loss"), "loss", Form::Loss),
    property("trace", Some("capacity"), Some("reverse.capacity"), "capacity", Form::Trace),
    property("delays", Some("topology.delay_file"), None, "delay_file", Form::Plain),
    property(
        "shaper",
        Some("capacity"),
        Some("reverse.capacity"),
        "capacity",
        Form::Member("token-bucket", "burst"),
    ),
    property(
        "grants",
        Some("capacity"),
        Some("reverse.capacity"),
        "capacity",
        Form::Member("grants", "period"),
    ),
    property("policer", Some("policer"), Some("reverse.policer"), "policer", Form::Fields("rate")),
    property("reorder", Some("reordering"), Some("reverse.reordering"), "reordering", Form::Fields("p")),
    property("duplicate", Some("duplication"), Some("reverse.duplication"), "duplication", Form::Fields("p")),
    property("corrupt", Some("corruption"), Some("reverse.corruption"), "corruption", Form::Fields("p")),
    property("handover", Some("handover"), None, "handover", Form::Fields("every")),
    property("ack-filter", Some("queue"), Some("reverse_queue"), "queue", Form::Member("cake", "ack_filter")),
];

/// A property by its word.
pub fn named(word: &str) -> Option<&'static Property> {
    PROPERTIES.iter().find(|property| property.word == word)
}

impl Property {
    /// Whether it names a file with a trace.
    pub fn is_trace(&self) -> bool {
        matches!(self.form, Form::Trace)
    }

    /// The value as a scenario has it, in TOML.
    pub fn toml(&self, written: &str) -> Result<String, Failure> {
        match self.form {
            Form::Plain => Ok(quoted(written)),
            Form::Loss => loss(written).map(|model| quoted(&model)),
            Form::Fields(main) => self.fields(&[], main, written),
            Form::Member(kind, main) => self.fields(&[("kind", quoted(kind))], main, written),
            Form::Trace => {
                Ok(format!("{{ kind = \"trace\", file = {}, besides = \"ignored\" }}", quoted(written)))
            }
        }
    }

    /// `10mbit:burst=64kb` as a table. A word without a key is one more value of the key before.
    fn fields(&self, before: &[(&str, String)], main: &str, written: &str) -> Result<String, Failure> {
        let (first, rest) =
            written.split_once(':').map_or((written, None), |(first, rest)| (first, Some(rest)));
        let mut given: Vec<(&str, Vec<&str>)> = vec![(main, vec![first.trim()])];
        for word in rest.into_iter().flat_map(|rest| rest.split(',')) {
            match (word.split_once('='), given.last_mut()) {
                (Some((key, value)), _) => given.push((key.trim(), vec![value.trim()])),
                (None, Some((_, values))) => values.push(word.trim()),
                (None, None) => {}
            }
        }
        if let Some(place) =
            (1..given.len()).find(|place| given[..*place].iter().any(|one| one.0 == given[*place].0))
        {
            let (word, key) = (self.word, given[place].0);
            return Err(Failure::usage(
                format!("--{word}: `{key}` is given twice in `{written}`"),
                "leave one of them out",
            ));
        }
        let own = given.into_iter().map(|(key, values)| {
            let values: Vec<String> = values.into_iter().map(scalar).collect();
            (key, if let [one] = &values[..] { one.clone() } else { format!("[{}]", values.join(", ")) })
        });
        let all = before.iter().cloned().chain(own).map(|(key, value)| format!("{key} = {value}"));
        Ok(format!("{{ {} }}", all.collect::<Vec<_>>().join(", ")))
    }
}

/// A value in TOML: a number or a bool as such, anything else as text.
fn scalar(written: &str) -> String {
    match Raw::guess(written) {
        Raw::Bool(value) => value.to_string(),
        Raw::Integer(value) => value.to_string(),
        Raw::Float(value) if value.is_finite() => format!("{value:?}"),
        _ => quoted(written),
    }
}

/// A text as TOML has it, which JSON has alike.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A share is a model, too.
fn loss(written: &str) -> Result<String, Failure> {
    let share = match written.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => written.parse::<f64>(),
    };
    match share {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(format!("uniform:p={share}")),
        Ok(share) => Err(Failure::usage(
            format!("--loss: {share} is not a share of packets"),
            "write a number from 0 to 1, or 0% to 100%",
        )),
        Err(_) => Ok(written.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_and_fields_after_a_colon_are_a_table() {
        let table = |written: &str| named("policer").and_then(|policer| policer.toml(written).ok());
        assert_eq!(table("10mbit").as_deref(), Some("{ rate = \"10mbit\" }"));
        assert_eq!(
            table("10mbit: burst=64kb,packets=3,p=1e-3,delays=20ms,35ms").as_deref(),
            Some(
                "{ rate = \"10mbit\", burst = \"64kb\", packets = 3, p = 0.001, delays = [\"20ms\", \"35ms\"] }"
            )
        );
        assert!(table("10mbit:burst=64kb,burst=1kb").is_none());
        let grants = named("grants").and_then(|grants| grants.toml("2ms").ok());
        assert_eq!(grants.as_deref(), Some("{ kind = \"grants\", period = \"2ms\" }"));
    }

    #[test]
    fn a_loss_is_a_share_or_a_model() {
        let loss = named("loss").unwrap();
        for (written, model) in [
            ("1%", "uniform:p=0.01"),
            ("0.5", "uniform:p=0.5"),
            ("none", "none"),
            ("at:times=5s", "at:times=5s"),
        ] {
            assert_eq!(loss.toml(written).ok(), Some(quoted(model)));
        }
        assert!(loss.toml("150%").is_err());
    }
}

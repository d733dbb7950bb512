// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The properties of a path, in one table: the word for each on the command line, and the fields of a scenario that it sets.

use std::path::Path;

use kneepoint::link::capacity::{grants, token_bucket};
use kneepoint::link::effects::corruption::Corruption;
use kneepoint::link::effects::duplication::Duplication;
use kneepoint::link::effects::policer::Policer;
use kneepoint::link::effects::reordering::Reordering;
use kneepoint::link::handover::Handover;
use kneepoint::queue::cake;
use kneepoint::scenario::Proxy;
use kneepoint::settings::{Field, Settings};

use super::Way;
use super::several::{Several, ambiguous, share};
use super::table::{quoted, table};
use crate::failure::Failure;
use crate::values::distinct;

/// A property of one direction of a path.
pub struct Property {
    /// Its name as an option and as a key of `--up` and `--down`.
    pub word: &'static str,
    /// The field of a scenario for the direction of most data.
    pub forward: Option<&'static str>,
    /// The field for the other direction.
    pub reverse: Option<&'static str>,
    /// The field of a `[[link]]`.
    pub link: &'static str,
    /// The form of a value.
    form: Form,
}

/// The form of a property's value.
#[derive(Clone, Copy)]
enum Form {
    /// As in the field.
    Plain,
    /// The same, a quantity that may have several values with commas between.
    Quantity,
    /// A share of packets, or a model.
    Loss,
    /// Fields of a section: the value of this one, and others after a colon, as in `10mbit:burst=64kb`.
    Fields(&'static str, &'static [Field]),
    /// The same, where the first field takes several values at once.
    Listed(&'static str, &'static [Field]),
    /// The same for a member of a family.
    Member(&'static str, &'static str, &'static [Field]),
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

/// Both directions of a dumbbell share the fields without a reverse; only links have the others.
pub const PROPERTIES: &[Property] = &[
    property("rate", Some("topology.rate"), Some("topology.reverse_rate"), "rate", Form::Quantity),
    property("rtt", Some("topology.rtt"), None, "", Form::Quantity),
    property("delay", None, None, "delay", Form::Quantity),
    property("jitter", Some("topology.jitter"), None, "jitter", Form::Quantity),
    property("buffer", Some("topology.buffer"), Some("topology.reverse_buffer"), "buffer", Form::Quantity),
    property("queue", Some("queue"), Some("reverse_queue"), "queue", Form::Plain),
    property("loss", Some("loss"), Some("reverse.loss"), "loss", Form::Loss),
    property("trace", Some("capacity"), Some("reverse.capacity"), "capacity", Form::Trace),
    property("delays", Some("topology.delay_file"), None, "delay_file", Form::Plain),
    property(
        "shaper",
        Some("capacity"),
        Some("reverse.capacity"),
        "capacity",
        Form::Member("token-bucket", "burst", token_bucket::Params::FIELDS),
    ),
    property(
        "grants",
        Some("capacity"),
        Some("reverse.capacity"),
        "capacity",
        Form::Member("grants", "period", grants::Params::FIELDS),
    ),
    property(
        "policer",
        Some("policer"),
        Some("reverse.policer"),
        "policer",
        Form::Fields("rate", Policer::FIELDS),
    ),
    property(
        "reorder",
        Some("reordering"),
        Some("reverse.reordering"),
        "reordering",
        Form::Fields("p", Reordering::FIELDS),
    ),
    property(
        "duplicate",
        Some("duplication"),
        Some("reverse.duplication"),
        "duplication",
        Form::Fields("p", Duplication::FIELDS),
    ),
    property(
        "corrupt",
        Some("corruption"),
        Some("reverse.corruption"),
        "corruption",
        Form::Fields("p", Corruption::FIELDS),
    ),
    property("handover", Some("handover"), None, "handover", Form::Fields("every", Handover::FIELDS)),
    property("proxy", Some("proxy"), None, "", Form::Listed("at", Proxy::FIELDS)),
    property(
        "ack-filter",
        Some("queue"),
        Some("reverse_queue"),
        "queue",
        Form::Member("cake", "ack_filter", cake::Params::FIELDS),
    ),
];

/// A property by its word.
pub fn named(word: &str) -> Option<&'static Property> {
    PROPERTIES.iter().find(|property| property.word == word)
}

impl Property {
    /// The field of a simulation for a direction, or for the path as a whole.
    pub fn of(&self, way: Option<Way>) -> Option<&'static str> {
        match way {
            Some(Way::Up) => self.reverse,
            Some(Way::Down) => self.reverse.and(self.forward),
            None => self.forward,
        }
    }

    /// Whether it names a file with a trace.
    pub fn is_trace(&self) -> bool {
        matches!(self.form, Form::Trace)
    }

    /// The value in a scenario, in TOML.
    pub fn toml(&self, written: &str) -> Result<String, Failure> {
        match self.form {
            Form::Plain | Form::Quantity => Ok(quoted(written)),
            Form::Loss => loss(written).map(|model| quoted(&model)),
            Form::Fields(main, known) | Form::Listed(main, known) => {
                table(self.word, &[], (main, known), written)
            }
            Form::Member(kind, main, known) => {
                table(self.word, &[("kind", quoted(kind))], (main, known), written)
            }
            Form::Trace => {
                Ok(format!("{{ kind = \"trace\", file = {}, besides = \"ignored\" }}", quoted(written)))
            }
        }
    }

    /// Several values with commas between, each for a run; none where there is only one.
    pub fn several<'w>(&self, option: &str, written: &'w str) -> Result<Option<Several<'w>>, Failure> {
        let (part, whole) = match self.form {
            Form::Quantity => (None, None),
            Form::Loss => (Some("p"), Some(quoted("uniform"))),
            Form::Fields(main, _) => (Some(main), None),
            Form::Member(kind, main, _) => (Some(main), Some(quoted(kind))),
            // A file's name may have a comma.
            Form::Trace if !Path::new(written).exists() => {
                (Some("file"), Some("{ kind = \"trace\", besides = \"ignored\" }".to_string()))
            }
            Form::Plain | Form::Listed(..) | Form::Trace => return Ok(None),
        };
        let (list, rest) = written.split_once(':').unwrap_or((written, ""));
        if !rest.is_empty() && list.contains(',') {
            let set = rest.split('=').next().unwrap_or_default();
            return Err(Failure::usage(
                format!("{option}: `:{rest}` follows a list of values"),
                match self.form {
                    Form::Loss => "write shares with commas between, or one model alone".to_string(),
                    _ => format!(
                        "give the list alone, and `{set}` with --set {}.{set}=VALUE",
                        self.forward.unwrap_or_default()
                    ),
                },
            ));
        }
        let values: Vec<&str> = written.split(',').map(str::trim).collect();
        if part == Some("p")
            && let Some(value) = values.iter().find(|value| ambiguous(value))
        {
            return Err(all_packets(option, value));
        }
        if values.len() == 1 || written.contains([':', '=']) {
            return Ok(None);
        }
        distinct(&format!("{option}:"), &values, |value| value.to_string())?;
        if let (Form::Loss, Some(model)) = (self.form, values.iter().find(|value| share(value).is_none())) {
            return Err(Failure::usage(
                format!("{option}: `{model}` in a list of losses is not a share"),
                "write shares from 0% to 100%, or one model alone",
            ));
        }
        Ok(Some(Several { part, whole, values }))
    }
}

/// Refuses a share that is written as a whole number.
fn all_packets(option: &str, value: &str) -> Failure {
    Failure::usage(
        format!("{option}: `{value}` is a share of all packets or more"),
        format!("write {value}% for percent, and 100% for all"),
    )
}

/// A share is a model, too.
fn loss(written: &str) -> Result<String, Failure> {
    match share(written) {
        Some(share) if (0.0..=1.0).contains(&share) => Ok(format!("uniform:p={share}")),
        Some(share) => Err(Failure::usage(
            format!("--loss: {share} is not a share of packets"),
            "write a number from 0 to 1, or 0% to 100%",
        )),
        None => Ok(written.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_and_fields_after_a_colon_are_a_table() {
        let table = |written: &str| named("policer").and_then(|policer| policer.toml(written).ok());
        assert_eq!(table("10mbit").as_deref(), Some("{ rate = \"10mbit\" }"));
        assert_eq!(table("10mbit: burst=64kb").as_deref(), Some("{ rate = \"10mbit\", burst = \"64kb\" }"));
        assert!(table("10mbit:burst=64kb,burst=1kb").is_none());
        let handover =
            named("handover").and_then(|handover| handover.toml("15s:delays=20ms,35ms,outage=1ms").ok());
        let expected = "{ every = \"15s\", delays = [\"20ms\", \"35ms\"], outage = \"1ms\" }";
        assert_eq!(handover.as_deref(), Some(expected));
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

    #[test]
    fn what_is_no_field_of_a_property_is_named_with_those_that_are() {
        for (word, written, message) in [
            ("corrupt", "1:2", "--corrupt: nothing can follow `1` in `1:2`"),
            ("policer", "1mbit:2", "--policer: `2` in `1mbit:2` has no name"),
            ("handover", "rates=5mbit", "--handover: `rates=5mbit` is given instead of `every`"),
            ("handover", "15s:rates=", "--handover: `rates` has no value in `15s:rates=`"),
            ("handover", "15s:rate=5mbit", "--handover: there is no `rate`, in `15s:rate=5mbit`"),
        ] {
            let refused = named(word).unwrap().toml(written).unwrap_err();
            let Failure::Usage(complaint) = refused else { panic!("{word} {written}") };
            assert_eq!(complaint.message(), message);
        }
    }

    #[test]
    fn values_with_commas_between_are_an_axis() {
        let axis = |word: &str, field: &str, written: &str| {
            let several = named(word).unwrap().several(word, written).ok().flatten();
            several.map(|several| (several.axis(field), several.whole))
        };
        let losses = ("sweep.loss.p=[0.01, 0.02]".to_string(), Some("\"uniform\"".to_string()));
        assert_eq!(axis("loss", "loss", "1%,0.02"), Some(losses));
        let jitters = ("sweep.topology.jitter=[\"1ms\", \"5ms\"]".to_string(), None);
        assert_eq!(axis("jitter", "topology.jitter", "1ms,5ms"), Some(jitters));
        let rates = ("sweep.policer.rate=[\"1mbit\", \"2mbit\"]".to_string(), None);
        assert_eq!(axis("policer", "policer", "1mbit,2mbit"), Some(rates));
        for (word, written) in
            [("loss", "1%"), ("loss", "at:times=5s,6s"), ("queue", "a,b"), ("handover", "9s:delays=1ms,2ms")]
        {
            assert_eq!(axis(word, word, written), None, "{written}");
        }
        assert!(named("loss").unwrap().several("--loss 1%,none", "1%,none").is_err());
    }
}

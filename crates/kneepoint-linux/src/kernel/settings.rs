// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Parameters of the laboratory to the read-only data of a program, and back.
//!
//! A program declares `const volatile TYPE NAME` for each parameter that it has. `TYPE`, a typedef, is the unit: see
//! [`UNITS`]. Name, range, default and messages are the laboratory's, so a value is read once, in one way.

use kneepoint::settings::{Assign, Field, Raw, Refusal, Settings};
use kneepoint::suggest::did_you_mean;
use kneepoint::units::Span;
use kneepoint::{cc, queue};
use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{DataSec, Typedef, Var};
use libbpf_rs::{AsRawLibbpf, OpenObject};

use super::errors::{Error, While};
use crate::fixed::{FINE, FIXED, Format};

kneepoint::settings! {
    /// Parameters that a program has in addition to its algorithm's.
    pub struct Reporting {
        /// The time between two records of a socket; `0s` reports nothing.
        report_every: Span = Span::from_millis(10), Span::ZERO..=Span::from_secs(3600);
        /// RATCP: space packets at the advised rate.
        pace: bool = false;
    }
}

/// A parameter of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Its name.
    pub name: String,
    /// Its value in its written form.
    pub value: String,
}

/// The representation of a parameter by a typedef of a program.
struct Unit {
    typedef: &'static str,
    encode: fn(&str, &Field) -> Option<u64>,
    decode: fn(u64, &Field) -> String,
}

const UNITS: &[Unit] = &[
    Unit {
        typedef: "span_ns",
        encode: |text, _| text.parse::<Span>().ok().map(|span| span.0),
        decode: |bits, _| Span(bits).to_string(),
    },
    Unit {
        typedef: "fixed",
        encode: |text, _| fraction(text, FIXED),
        decode: |bits, _| decimal(bits, FIXED, 9),
    },
    Unit {
        typedef: "fine",
        encode: |text, _| fraction(text, FINE),
        decode: |bits, _| decimal(bits, FINE, 12),
    },
    Unit {
        typedef: "flag",
        encode: |text, _| text.parse::<bool>().ok().map(u64::from),
        decode: |bits, _| (bits != 0).to_string(),
    },
    Unit {
        typedef: "whole",
        encode: |text, _| text.parse::<u32>().ok().map(u64::from),
        decode: |bits, _| bits.to_string(),
    },
    // The place of the choice in the laboratory's list.
    Unit {
        typedef: "choice",
        encode: |text, field| Some(field.choices.iter().position(|(name, _)| *name == text)? as u64),
        decode: |bits, field| {
            let choice = field.choices.get(bits as usize);
            choice.map_or_else(|| bits.to_string(), |(name, _)| (*name).to_string())
        },
    },
];

fn fraction(text: &str, form: Format) -> Option<u64> {
    form.encode(text.parse().ok()?)
}

fn decimal(bits: u64, form: Format, places: usize) -> String {
    let text = format!("{:.places$}", form.decode(bits));
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// A variable of a program's read-only data.
struct Variable {
    name: String,
    unit: &'static Unit,
    place: std::ops::Range<usize>,
}

/// The variables that are parameters, in the order of their names.
fn variables(btf: &Btf) -> Vec<Variable> {
    let Some(section) = btf.type_by_name::<DataSec>(".rodata") else { return Vec::new() };
    let variable = |entry: &libbpf_rs::btf::types::VarSecInfo| {
        let var = btf.type_by_id::<Var>(entry.ty)?;
        let mut kind = var.next_type()?;
        while kind.is_mod() {
            kind = kind.next_type()?;
        }
        let typedef = Typedef::try_from(kind).ok()?;
        let unit = UNITS.iter().find(|unit| typedef.name().is_some_and(|name| name == unit.typedef))?;
        let start = entry.offset as usize;
        Some(Variable {
            name: var.name()?.to_str()?.to_string(),
            unit,
            place: start..start + entry.size.min(8),
        })
    };
    let mut found = section.iter().filter_map(|entry| variable(&entry)).collect::<Vec<_>>();
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

/// An algorithm of the laboratory whose parameters a program has.
pub trait Algorithm: Assign {
    /// Its name.
    fn name(&self) -> &'static str;
    /// One parameter, in its written form.
    fn value(&self, name: &str) -> Option<String>;
}
impl Algorithm for cc::Config {
    fn name(&self) -> &'static str {
        cc::Config::name(self)
    }
    fn value(&self, name: &str) -> Option<String> {
        self.get(name)
    }
}
impl Algorithm for queue::Config {
    fn name(&self) -> &'static str {
        queue::Config::name(self)
    }
    fn value(&self, name: &str) -> Option<String> {
        self.get(name)
    }
}

/// Sets the parameters of `object` to `algorithm`'s with `given` applied; returns the values.
pub fn apply(
    object: &mut OpenObject,
    algorithm: &mut impl Algorithm,
    given: &[(String, String)],
) -> Result<Vec<Value>, Error> {
    // SAFETY: the object is open as long as it is borrowed, and the pointer is not kept.
    let opened = unsafe { object.as_libbpf_object().as_ref() };
    let btf = Btf::from_bpf_object(opened).during("read the type information of a program")?;
    let variables = btf.as_ref().map_or(Vec::new(), variables);
    let mut own = Reporting::default();
    for (name, text) in given {
        if !variables.iter().any(|variable| variable.name == *name) {
            return Err(unknown(algorithm, name, &variables));
        }
        let raw = Raw::guess(text);
        let result = match algorithm.assign(name, &raw) {
            Err(Refusal::Unknown) => own.set(name, &raw),
            known => known,
        };
        result.map_err(|refusal| match refusal {
            Refusal::Value(why) => Error::usage(format!("{name}: {why}"), explain(algorithm)),
            Refusal::Unknown => unknown(algorithm, name, &variables),
        })?;
    }
    algorithm.agree().map_err(|why| Error::usage(why, explain(algorithm)))?;

    let mut maps = object.maps_mut();
    let map = maps.find(|map| map.name().to_string_lossy().ends_with(".rodata"));
    let Some(mut map) = map.filter(|_| !variables.is_empty()) else { return Ok(Vec::new()) };
    let data =
        map.initial_value_mut().ok_or_else(|| Error::new("a program has no data", "build knee again"))?;
    let mut values = Vec::new();
    for Variable { name, unit, place } in variables {
        // A variable without a parameter keeps the program's value.
        let Some((value, field)) = find(algorithm, &own, &name) else { continue };
        let bits = (unit.encode)(&value, field).filter(|bits| fits(*bits, place.len()));
        let bits = bits.ok_or_else(|| {
            let message =
                format!("{name} = {value} cannot be represented as `{}` in the kernel", unit.typedef);
            Error::usage(message, "choose another value")
        })?;
        data[place.clone()].copy_from_slice(&bits.to_le_bytes()[..place.len()]);
        values.push(Value { name, value });
    }
    Ok(values)
}

/// Sets a variable that is not a parameter.
pub fn set(object: &mut OpenObject, name: &str, bits: u64) -> Result<(), Error> {
    // SAFETY: as in `apply`.
    let opened = unsafe { object.as_libbpf_object().as_ref() };
    let btf = Btf::from_bpf_object(opened).during("read the type information of a program")?;
    let variable = btf.as_ref().and_then(|btf| variables(btf).into_iter().find(|one| one.name == name));
    let mut maps = object.maps_mut();
    let map = maps.find(|map| map.name().to_string_lossy().ends_with(".rodata"));
    let (Some(Variable { place, .. }), Some(mut map)) = (variable, map) else {
        return Err(Error::new(format!("a program has no variable `{name}`"), "build knee again"));
    };
    let data =
        map.initial_value_mut().ok_or_else(|| Error::new("a program has no data", "build knee again"))?;
    data[place.clone()].copy_from_slice(&bits.to_le_bytes()[..place.len()]);
    Ok(())
}

fn fits(bits: u64, bytes: usize) -> bool {
    bytes >= 8 || bits >> (8 * bytes) == 0
}

fn find(algorithm: &impl Algorithm, own: &Reporting, name: &str) -> Option<(String, &'static Field)> {
    let declared = |fields: &'static [Field]| fields.iter().find(|field| field.name == name);
    let core = || algorithm.value(name).zip(declared(algorithm.declared()));
    core().or_else(|| own.get(name).zip(declared(Reporting::fields())))
}

fn explain(algorithm: &impl Algorithm) -> String {
    format!("`knee explain {}` shows every parameter with its range", algorithm.name())
}

fn unknown(algorithm: &impl Algorithm, name: &str, variables: &[Variable]) -> Error {
    let names = variables.iter().map(|one| one.name.as_str()).collect::<Vec<_>>();
    let core = algorithm.declared().iter().any(|field| field.name == name);
    let message = if core {
        format!("the kernel program `{}` has no `{name}`: it keeps the default", algorithm.name())
    } else {
        format!("`{}` has no parameter `{name}`", algorithm.name())
    };
    Error::usage(message, did_you_mean(name, &names))
}

/// The parameters in `data`, the read-only data of a loaded program with this type information.
pub fn read(btf: &Btf, data: &[u8], algorithm: &impl Algorithm) -> Vec<Value> {
    let own = Reporting::default();
    let value = |variable: Variable| {
        let (_, field) = find(algorithm, &own, &variable.name)?;
        let bytes = data.get(variable.place)?;
        let bits = bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
        Some(Value { name: variable.name, value: (variable.unit.decode)(bits, field) })
    };
    variables(btf).into_iter().filter_map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::super::programs::{AQM, CONTROLLERS};
    use super::*;

    fn unit(typedef: &str) -> &'static Unit {
        UNITS.iter().find(|unit| unit.typedef == typedef).expect("a unit")
    }

    #[test]
    fn every_unit_reads_back_what_it_wrote() {
        let config = queue::Config::named("pi").expect("a queue");
        let field = |name: &str| config.declared().iter().find(|field| field.name == name).expect("a field");
        let any = field("reference");
        for (typedef, texts) in [
            ("span_ns", &["0s", "5ms", "1us"][..]),
            ("fixed", &["0", "0.35", "100", "0.000001", "-0.5"]),
            ("fine", &["0.00001822", "0.00001816", "1"]),
            ("flag", &["true", "false"]),
            ("whole", &["0", "170"]),
        ] {
            for text in texts {
                let bits = (unit(typedef).encode)(text, any).expect("representable");
                assert_eq!((unit(typedef).decode)(bits, any), *text, "{typedef}");
            }
        }
        let spare = field("spare");
        for (place, (name, _)) in spare.choices.iter().enumerate() {
            assert_eq!((unit("choice").encode)(name, spare), Some(place as u64));
            assert_eq!((unit("choice").decode)(place as u64, spare), *name);
        }
    }

    /// The defaults in the object of a program, next to the laboratory's.
    fn defaults(bytes: &[u8], mut algorithm: impl Algorithm) -> Vec<(String, Vec<u8>, Vec<u8>)> {
        let mut opened = super::super::objects::open("defaults", bytes).expect("an object");
        let data = |object: &mut OpenObject| {
            let mut maps = object.maps_mut();
            let mut map = maps.find(|map| map.name().to_string_lossy().ends_with(".rodata")).expect("data");
            map.initial_value_mut().expect("data").to_vec()
        };
        let before = data(&mut opened);
        let values = apply(&mut opened, &mut algorithm, &[]).expect("the defaults are allowed");
        let after = data(&mut opened);
        // SAFETY: as in `apply`.
        let btf = Btf::from_bpf_object(unsafe { opened.as_libbpf_object().as_ref() })
            .expect("types")
            .expect("types");
        let places = variables(&btf).into_iter();
        let set = places.filter(|variable| values.iter().any(|value| value.name == variable.name));
        set.map(|one| (one.name, before[one.place.clone()].to_vec(), after[one.place].to_vec())).collect()
    }

    #[test]
    fn programs_have_the_defaults_of_the_laboratory() {
        for controller in CONTROLLERS {
            let core = cc::Config::named(controller.core).expect("a controller");
            let found = defaults(controller.object, core);
            assert!(!found.is_empty(), "{}", controller.name);
            for (name, program, laboratory) in found {
                assert_eq!(program, laboratory, "{} {name}", controller.name);
            }
        }
        let found = defaults(AQM.object, queue::Config::named(AQM.core).expect("a queue"));
        assert_eq!(found.len(), 11);
        for (name, program, laboratory) in found {
            assert_eq!(program, laboratory, "{name}");
        }
    }

    #[test]
    fn what_does_not_fit_is_not_cut() {
        assert!(fits(255, 1) && !fits(256, 1) && fits(u64::MAX, 8));
        assert_eq!(fraction("1e12", FIXED), None);
    }
}

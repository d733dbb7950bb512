// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Declared parameters: one list gives the struct, its defaults, its checks, its documentation and its schema.
//!
//! [`settings!`] declares a struct whose every field has a type, a default, an allowed range and a sentence.
//! The scenario reader, `knee explain`, the JSON Schema and the docs table all read the same list, so a
//! parameter that exists is documented and one that is documented is checked.
//! A struct may include others, whose fields then appear as its own.
//! [`choice!`] declares an enum whose variants have names on the outside, [`registry!`] a family of algorithms; [`names`] says how
//! a name may be written.

mod choice;
mod external;
mod field;
mod forms;
pub mod names;
mod raw;
mod registry;

pub use external::{External, NoParameters};
pub use field::{Field, Joined, Values};
pub use forms::{Auto, FilePath, Inline, List, Never, Or, Rtt, Timed, Unlimited, Without, Word, increasing};
pub use raw::Raw;
pub use registry::{Entry, beginning, kept, text};

use alloc::string::{String, ToString};
use core::fmt;
use core::ops::RangeInclusive;

use crate::units::{Bytes, Interval, Rate, Span, show_range};

/// A type that a parameter can have.
pub trait Setting: Sized + Clone + PartialOrd + fmt::Display {
    /// The name of this type in messages: `number`, `time`.
    const KIND: &'static str;
    /// The names allowed, where the type is a choice.
    const CHOICES: &'static [(&'static str, &'static str)] = &[];
    /// The types of this value in JSON Schema.
    const JSON: &'static [&'static str];
    /// The JSON Schema types of a list of these: its elements' and the list's.
    const LISTED: &'static [&'static str] = &["string", "array"];

    /// Reads a written value; the error says how to write one.
    fn read(raw: &Raw) -> Result<Self, String>;
    /// Whether the value lies in `range`.
    fn within(&self, range: &RangeInclusive<Self>) -> bool {
        range.contains(self)
    }
    /// `range` in the words of a message.
    fn describe(range: &RangeInclusive<Self>) -> String {
        show_range(range)
    }
}

impl Setting for bool {
    const KIND: &'static str = "true or false";
    const JSON: &'static [&'static str] = &["boolean"];
    fn read(raw: &Raw) -> Result<bool, String> {
        match raw {
            Raw::Bool(value) => Ok(*value),
            _ => Err(format!("{raw} is not true or false")),
        }
    }
}

impl Setting for f64 {
    const KIND: &'static str = "number";
    const JSON: &'static [&'static str] = &["number"];
    const LISTED: &'static [&'static str] = &["number", "array"];
    fn read(raw: &Raw) -> Result<f64, String> {
        match raw {
            Raw::Integer(value) => Ok(*value as f64),
            Raw::Float(value) if value.is_finite() => Ok(*value),
            Raw::Huge(number) => finite(number).ok_or_else(|| format!("{raw} is out of range")),
            Raw::Text(text) => {
                percent(text).ok_or_else(|| format!("expected a number, or one in percent, found {raw}"))
            }
            _ => Err(format!("expected a number, found {raw}")),
        }
    }
}

fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// The number that is written in percent: `1%` is 0.01 to the last digit.
fn percent(text: &str) -> Option<f64> {
    let digits = text.trim().strip_suffix('%')?.trim_end();
    let plain = digits.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
    finite(&format!("{digits}e-2")).filter(|_| plain)
}

macro_rules! whole_settings {
    ($($type:ty),*) => { $(
        impl Setting for $type {
            const KIND: &'static str = "whole number";
            const JSON: &'static [&'static str] = &["integer"];
            const LISTED: &'static [&'static str] = &["integer", "array"];
            fn read(raw: &Raw) -> Result<$type, String> {
                let value = match raw {
                    Raw::Integer(value) => (*value).try_into().ok(),
                    // 2.0, which JSON does not distinguish from 2.
                    Raw::Float(value) if libm::trunc(*value) == *value && value.abs() < 9e15 => {
                        (*value as i64).try_into().ok()
                    }
                    _ => None,
                };
                value.ok_or_else(|| match raw {
                    Raw::Integer(1..) => format!("{raw} is out of range"),
                    _ => format!("{raw} is not a whole number from 0 up"),
                })
            }
        }
    )* };
}
whole_settings! { u16, u32, u64 }

macro_rules! text_settings {
    ($($type:ty: $kind:literal,)*) => { $(
        impl Setting for $type {
            const KIND: &'static str = $kind;
            const JSON: &'static [&'static str] = &["string"];
            fn read(raw: &Raw) -> Result<$type, String> {
                match raw {
                    Raw::Text(text) => text.parse(),
                    // A bare number fails in the parser, whose message shows a unit.
                    _ => raw.to_string().parse(),
                }
            }
        }
    )* };
}
text_settings! { Span: "time", Rate: "rate", Bytes: "data", Interval: "interval", }

/// The reason why a value was refused.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// There is no such parameter.
    Unknown,
    /// The value is not allowed; the message says why and names the allowed range.
    Value(String),
}

/// Fields by their names, with values as scenarios write them.
pub type Written = &'static [(&'static str, &'static str)];

/// A struct declared with [`settings!`].
pub trait Settings: Default + Clone + fmt::Debug {
    /// Its fields in order, after the fields of included structs.
    const FIELDS: &'static [Field];
    /// Fields with other defaults in Linux.
    const LINUX: Written = &[];

    /// Its fields in order.
    fn fields() -> &'static [Field] {
        Self::FIELDS
    }
    /// Sets one field by name.
    fn set(&mut self, name: &str, raw: &Raw) -> Result<(), Refusal>;
    /// One field by name, in its written form.
    fn get(&self, name: &str) -> Option<String>;
    /// Whether the fields agree with one another; the message names those that do not, and a remedy.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// Declared fields set by name: of a struct of parameters, or of an algorithm chosen from a registry.
pub trait Assign {
    /// The fields.
    fn declared(&self) -> &'static [Field];
    /// Sets one.
    fn assign(&mut self, name: &str, raw: &Raw) -> Result<(), Refusal>;
    /// One field, in its written form.
    fn written(&self, name: &str) -> Option<String>;
    /// Whether they agree with one another; the message names those that do not.
    fn agree(&self) -> Result<(), String>;
}

impl<S: Settings> Assign for S {
    fn declared(&self) -> &'static [Field] {
        S::fields()
    }
    fn assign(&mut self, name: &str, raw: &Raw) -> Result<(), Refusal> {
        self.set(name, raw)
    }
    fn written(&self, name: &str) -> Option<String> {
        self.get(name)
    }
    fn agree(&self) -> Result<(), String> {
        self.check()
    }
}

/// Reads `raw` and checks it against `range`: the one place that decides whether a value is allowed.
pub fn read_within<T: Setting>(raw: &Raw, range: Option<RangeInclusive<T>>) -> Result<T, Refusal> {
    let allowed =
        range.as_ref().map_or(String::new(), |range| format!("; allowed is {}", T::describe(range)));
    let value = T::read(raw).map_err(|wrong| {
        let huge = matches!(raw, Raw::Huge(_)) && range.is_some();
        Refusal::Value(if huge { format!("{raw} is out of range{allowed}") } else { wrong + &allowed })
    })?;
    match range {
        Some(range) if !value.within(&range) => {
            Err(Refusal::Value(format!("{raw} is outside the allowed range, {}", T::describe(&range))))
        }
        _ => Ok(value),
    }
}

/// A range in the words of the documentation.
pub fn describe_range<T: Setting>(range: Option<RangeInclusive<T>>) -> Option<String> {
    range.map(|range| T::describe(&range))
}

/// Declares a struct of parameters.
///
/// ```
/// kneepoint_cc::settings! {
///     /// Parameters of a toy.
///     pub struct Toy {
///         /// The fraction by which an early response reduces the window.
///         decrease: f64 = 0.35, 0.0..=1.0;
///         /// Respond in slow start too.
///         early: bool = false;
///     }
/// }
///
/// kneepoint_cc::settings! {
///     /// A toy with a string: `length` is set along with `decrease` and `early`.
///     pub struct Kite {
///         ..toy: Toy;
///         /// The string's length in metres.
///         length: f64 = 30.0, 1.0..=100.0;
///     }
/// }
/// ```
#[macro_export]
macro_rules! settings {
    ($(#[doc = $about:literal])* pub struct $name:ident $(<$generic:ident: $bound:path>)? {
        $( ..$part:ident: $included:ty; )*
        $( $(#[doc = $doc:literal])* $field:ident: $type:ty = $default:expr $(, $range:expr)?; )*
    } $(linux { $( $set:ident = $own:literal ),* })? $(check $check:expr)?) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name $(<$generic: $bound>)? {
            $( #[doc = "Parameters that appear along with its own."] pub $part: $included, )*
            $( $(#[doc = $doc])* pub $field: $type, )*
        }

        impl $(<$generic: $bound>)? Default for $name $(<$generic>)? {
            fn default() -> Self { $name { $( $part: Default::default(), )* $( $field: $default, )* } }
        }

        impl $(<$generic: $bound>)? $crate::settings::Settings for $name $(<$generic>)? {
            const FIELDS: &'static [$crate::settings::Field] = $crate::settings::Joined::new(&[
                $( <$included as $crate::settings::Settings>::FIELDS, )*
                &[$( $crate::settings::Field {
                    name: stringify!($field),
                    kind: <$type as $crate::settings::Setting>::KIND,
                    choices: <$type as $crate::settings::Setting>::CHOICES,
                    json: <$type as $crate::settings::Setting>::JSON,
                    values: $crate::settings::Values::Typed {
                        default: || { let default: $type = $default; $crate::__private::ToString::to_string(&default) },
                        range: || $crate::settings::describe_range::<$type>($crate::settings!(@range $($range)?)),
                    },
                    doc: concat!($($doc, "\n",)*).trim_ascii(),
                }, )*],
            ]).as_slice();
            $( const LINUX: $crate::settings::Written = &[$( (stringify!($set), $own), )*]; )?
            #[allow(unused_variables)]
            fn set(&mut self, name: &str, raw: &$crate::settings::Raw) -> Result<(), $crate::settings::Refusal> {
                match name {
                    $( stringify!($field) => {
                        self.$field = $crate::settings::read_within::<$type>(raw, $crate::settings!(@range $($range)?))?;
                        return Ok(());
                    } )*
                    _ => {}
                }
                $( match $crate::settings::Settings::set(&mut self.$part, name, raw) {
                    Err($crate::settings::Refusal::Unknown) => {}
                    known => return known,
                } )*
                Err($crate::settings::Refusal::Unknown)
            }
            fn check(&self) -> Result<(), $crate::__private::String> {
                $( $crate::settings::Settings::check(&self.$part)?; )*
                $( let check: fn(&Self) -> Result<(), $crate::__private::String> = $check;
                check(self)?; )?
                Ok(())
            }
            #[allow(unused_variables)]
            fn get(&self, name: &str) -> Option<$crate::__private::String> {
                match name {
                    $( stringify!($field) => return Some($crate::__private::ToString::to_string(&self.$field)), )*
                    _ => {}
                }
                $( if let known @ Some(_) = $crate::settings::Settings::get(&self.$part, name) {
                    return known;
                } )*
                None
            }
        }
    };
    (@range) => { None };
    (@range $range:expr) => { Some($range) };
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    crate::settings! {
        /// A toy.
        pub struct Toy {
            /// A share.
            share: f64 = 0.5, 0.0..=1.0;
            /// A wait.
            wait: Span = Span::from_millis(5), Span::ZERO..=Span::from_secs(1);
            /// A switch.
            on: bool = false;
        }
    }

    #[test]
    fn a_field_is_set_by_name_and_held_to_its_range() {
        let mut toy = Toy::default();
        assert_eq!(toy.set("share", &Raw::Float(0.25)), Ok(()));
        assert_eq!(toy.set("wait", &Raw::Text("20ms".into())), Ok(()));
        assert_eq!(toy, Toy { share: 0.25, wait: Span::from_millis(20), on: false });
        assert_eq!(toy.set("share", &Raw::guess("0.7%")).map(|()| toy.share), Ok(0.007));
        assert_eq!(toy.set("share", &Raw::guess(" 25 % ")).map(|()| toy.share), Ok(0.25));
        for wrong in ["%", "-1%", "1e1%", "1%%", "much", "101%", "NaN%"] {
            assert!(toy.set("share", &Raw::guess(wrong)).is_err(), "{wrong}");
        }
        let Err(Refusal::Value(message)) = toy.set("share", &Raw::Float(1.5)) else { panic!() };
        assert!(message.contains("1.5") && message.contains("0 to 1"), "{message}");
        let Err(Refusal::Value(remedy)) = toy.set("wait", &Raw::Integer(20)) else { panic!() };
        assert!(remedy.contains("60ms"), "{remedy}");
        assert_eq!(
            (toy.get("share"), toy.get("wait"), toy.get("shore")),
            (Some("0.25".into()), Some("20ms".into()), None)
        );
        assert_eq!(toy.set("shore", &Raw::Float(0.1)), Err(Refusal::Unknown));
    }

    #[test]
    fn a_number_that_no_setting_can_hold_is_out_of_range() {
        for (field, range) in [("share", "0 to 1"), ("wait", "0s to 1s")] {
            let Err(Refusal::Value(message)) = Toy::default().set(field, &Raw::guess("-1e999")) else {
                panic!()
            };
            assert_eq!(message, format!("-1e999 is out of range; allowed is {range}"));
        }
        assert_eq!(Raw::guess("inf"), Raw::Float(f64::INFINITY));
    }

    #[test]
    fn a_whole_number_beyond_its_type_is_named_as_written_with_the_range() {
        for number in ["99999999999", "99999999999999999999"] {
            let Err(Refusal::Value(message)) = read_within(&Raw::guess(number), Some(1u32..=10_000)) else {
                panic!()
            };
            assert_eq!(message, format!("{number} is out of range; allowed is 1 to 10000"));
        }
        let negative = read_within(&Raw::guess("-1"), Some(1u32..=10_000));
        let message = "-1 is not a whole number from 0 up; allowed is 1 to 10000";
        assert_eq!(negative, Err(Refusal::Value(message.into())));
        assert_eq!(read_within(&Raw::guess("100000000000000000000"), Some(0.0..=1e30)), Ok(1e20));
    }

    crate::settings! {
        /// A toy with something around it.
        pub struct Box<T: Settings> {
            ..inside: T;
            ..second: Second;
            /// Its width.
            width: f64 = 1.0, 0.0..=2.0;
        }
        check |it| if it.width > 0.0 { Ok(()) } else { Err("width = 0".to_string()) }
    }

    crate::settings! {
        /// Another toy.
        pub struct Second {
            /// The number of its strings.
            strings: u32 = 2, 0..=8;
        }
        check |it| if it.strings != 7 { Ok(()) } else { Err("strings = 7".to_string()) }
    }

    #[test]
    fn the_fields_of_what_a_struct_includes_stand_beside_its_own() {
        let names = Box::<Toy>::fields().iter().map(|field| field.name).collect::<Vec<_>>();
        assert_eq!(names, ["share", "wait", "on", "strings", "width"]);
        let mut it = Box::<Toy>::default();
        assert_eq!((it.inside.share, it.second.strings, it.width), (0.5, 2, 1.0));
        assert_eq!(
            [it.set("share", &Raw::Integer(1)), it.set("strings", &Raw::Integer(7))],
            [Ok(()), Ok(())]
        );
        assert_eq!((it.inside.share, it.second.strings), (1.0, 7));
        let Err(Refusal::Value(message)) = it.set("share", &Raw::Integer(2)) else { panic!() };
        assert!(message.contains("0 to 1"), "{message}");
        assert_eq!(it.set("shore", &Raw::Integer(0)), Err(Refusal::Unknown));
        assert_eq!(it.check(), Err("strings = 7".to_string()));
        it.second.strings = 0;
        it.width = 0.0;
        assert_eq!(it.check(), Err("width = 0".to_string()));
    }

    #[test]
    fn a_field_documents_itself() {
        let fields = Toy::fields();
        assert_eq!(fields.iter().map(|field| field.name).collect::<Vec<_>>(), ["share", "wait", "on"]);
        assert_eq!(fields[1].default(), "5ms");
        assert_eq!(fields[1].range().as_deref(), Some("0s to 1s"));
        assert_eq!(fields[1].doc, "A wait.");
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Keys of machine-readable output: the fields of serialised structs, with their doc comments as definitions.
//!
//! ```
//! use kneepoint_sim::keys::{Field, Keyed, Shape};
//!
//! kneepoint_sim::keys! {
//!     /// A run.
//!     pub struct Run {
//!         /// The seed.
//!         pub seed: u64,
//!     }
//! }
//!
//! let Shape::Object([Field::Key { name, about, .. }]) = Run::SHAPE else { panic!("one field") };
//! assert_eq!((*name, *about), ("seed", "The seed."));
//! ```

use crate::units::Time;

/// The form of a value.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// A number, a text or a truth value.
    Value,
    /// A mean with its precision.
    Estimate,
    /// A list of values of one form.
    List(&'static Shape),
    /// An object with the fields of a struct.
    Object(&'static [Field]),
    /// An object with a key for each of several things: a placeholder for these keys, and the definition.
    Each(&'static str, &'static str),
}

/// A field of a serialised struct.
#[derive(Clone, Copy, Debug)]
pub enum Field {
    /// A key of its object.
    Key {
        /// The key, with its unit.
        name: &'static str,
        /// Its definition.
        about: &'static str,
        /// The form of its value.
        shape: Shape,
    },
    /// An object whose keys are among the keys of the outer one.
    Flattened(Shape),
    /// A field that is not written.
    Skipped,
}

/// A type with a known serialised form.
pub trait Keyed {
    /// The form.
    const SHAPE: Shape;
}

macro_rules! values {
    ($($type:ty)*) => { $( impl Keyed for $type { const SHAPE: Shape = Shape::Value; } )* };
}

values!(bool u32 u64 usize f64 String &str Time);

impl<T: Keyed> Keyed for Option<T> {
    const SHAPE: Shape = T::SHAPE;
}

impl<T: Keyed> Keyed for Vec<T> {
    const SHAPE: Shape = Shape::List(&T::SHAPE);
}

impl<T: Keyed, const N: usize> Keyed for [T; N] {
    const SHAPE: Shape = Shape::List(&T::SHAPE);
}

/// A list of two.
impl<T: Keyed> Keyed for (T, T) {
    const SHAPE: Shape = Shape::List(&T::SHAPE);
}

/// Declares structs that are serialised, with the key and the definition of each field. A form that its type does not have follows
/// the type: `files: BTreeMap<String, String> => Shape::Each("<name>", "The file's hash.")`.
#[macro_export]
macro_rules! keys {
    ($($(#[$($meta:tt)*])* $public:vis struct $name:ident $(<$life:lifetime>)? {
        $( $(#[$($attribute:tt)*])* $seen:vis $field:ident: $type:ty $(=> $shape:expr)?, )*
    })*) => { $(
        $(#[$($meta)*])*
        #[derive(serde::Serialize)]
        $public struct $name $(<$life>)? {
            $( $(#[$($attribute)*])* $seen $field: $type, )*
        }

        impl $(<$life>)? $crate::keys::Keyed for $name $(<$life>)? {
            const SHAPE: $crate::keys::Shape = $crate::keys::Shape::Object(&[
                $( $crate::keys!(@field [stringify!($field)] [$type] [$($shape)?] [] $(#[$($attribute)*])*), )*
            ]);
        }
    )* };
    (@field $key:tt $type:tt $shape:tt [$($about:tt)*] #[doc = $line:literal] $($rest:tt)*) => {
        $crate::keys!(@field $key $type $shape [$($about)* $line,] $($rest)*)
    };
    (@field $key:tt [$type:ty] $shape:tt $about:tt #[serde(flatten)] $($rest:tt)*) => {
        $crate::keys::Field::Flattened(<$type as $crate::keys::Keyed>::SHAPE)
    };
    (@field $key:tt $type:tt $shape:tt $about:tt #[serde(skip)] $($rest:tt)*) => {
        $crate::keys::Field::Skipped
    };
    (@field $key:tt $type:tt $shape:tt $about:tt #[serde(rename = $name:literal $($more:tt)*)] $($rest:tt)*) => {
        $crate::keys!(@field [$name] $type $shape $about $($rest)*)
    };
    (@field $key:tt $type:tt $shape:tt $about:tt #[$($other:tt)*] $($rest:tt)*) => {
        $crate::keys!(@field $key $type $shape $about $($rest)*)
    };
    (@field [$key:expr] [$type:ty] [$($shape:expr)?] [$($about:tt)*]) => {
        $crate::keys::Field::Key {
            name: $key,
            about: concat!($($about)*).trim_ascii(),
            shape: $crate::keys!(@shape [$type] $($shape)?),
        }
    };
    (@shape [$type:ty]) => { <$type as $crate::keys::Keyed>::SHAPE };
    (@shape [$type:ty] $shape:expr) => { $shape };
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    crate::keys! {
        /// A part.
        struct Part {
            /// Its length,
            /// in a unit.
            #[serde(rename = "length_s")]
            length: Option<f64>,
            /// Not written.
            #[serde(skip)]
            #[allow(dead_code)]
            hidden: Time,
        }

        /// A whole.
        struct Whole<'w> {
            /// The parts.
            parts: Vec<Part>,
            #[serde(flatten)]
            first: Part,
            /// Names.
            names: BTreeMap<&'w str, u64> => Shape::Each("<name>", "A number."),
        }
    }

    /// The keys of an object by their paths, with a mark for placeholders.
    fn paths(inside: &str, shape: &Shape) -> Vec<(String, &'static str)> {
        let of_field = |field: &Field| match field {
            Field::Key { name, about, shape: inner } => {
                let path = format!("{inside}{name}");
                let mut all = vec![(path.clone(), *about)];
                all.extend(paths(&format!("{path}."), inner));
                all
            }
            Field::Flattened(inner) => paths(inside, inner),
            Field::Skipped => Vec::new(),
        };
        match shape {
            Shape::Value | Shape::Estimate => Vec::new(),
            Shape::List(inner) => paths(inside, inner),
            Shape::Object(fields) => fields.iter().flat_map(of_field).collect(),
            Shape::Each(name, about) => vec![(format!("{inside}{name}"), *about)],
        }
    }

    #[test]
    fn the_keys_are_those_that_are_serialised() {
        let part = || Part { length: Some(2.0), hidden: Time::ZERO };
        let whole = Whole { parts: vec![part()], first: part(), names: BTreeMap::from([("a", 1)]) };
        let written = r#"{"parts":[{"length_s":2.0}],"length_s":2.0,"names":{"a":1}}"#;
        assert_eq!(serde_json::to_string(&whole).unwrap(), written);
        let expected = [
            ("parts", "The parts."),
            ("parts.length_s", "Its length, in a unit."),
            ("length_s", "Its length, in a unit."),
            ("names", "Names."),
            ("names.<name>", "A number."),
        ];
        assert_eq!(paths("", &Whole::SHAPE), expected.map(|(path, about)| (path.to_string(), about)));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Choices: enums whose variants have names on the outside.

/// Declares an enum whose variants are chosen by name.
#[macro_export]
macro_rules! choice {
    ($(#[doc = $about:literal])* pub enum $name:ident {
        $( #[doc = $doc:literal] $variant:ident = $text:literal, )*
    }) => {
        $(#[doc = $about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $( #[doc = $doc] $variant, )* }

        impl $name {
            /// Every choice, in the order of declaration.
            #[allow(dead_code, reason = "not every choice is also walked through")]
            pub const ALL: &'static [$name] = &[$( $name::$variant, )*];

            /// The name on the outside.
            pub fn name(self) -> &'static str {
                match self { $( $name::$variant => $text, )* }
            }
        }
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result { f.write_str(self.name()) }
        }
        impl $crate::settings::Setting for $name {
            const KIND: &'static str = "choice";
            const CHOICES: &'static [(&'static str, &'static str)] = &[$( ($text, $doc.trim_ascii()), )*];
            const JSON: &'static [&'static str] = &["string"];
            fn read(raw: &$crate::settings::Raw) -> Result<$name, String> {
                // A name may look like a number, as `2006` does.
                let written = match raw {
                    $crate::settings::Raw::Text(text) => text.clone(),
                    other => other.to_string(),
                };
                match written.as_str() {
                    $( $text => Ok($name::$variant), )*
                    _ => Err(format!("{raw} is not one of {}", [$($text),*].join(", "))),
                }
            }
        }
    };
}

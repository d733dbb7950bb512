// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Choices: enums whose variants have external names.

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
        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter) -> ::core::fmt::Result { f.write_str(self.name()) }
        }
        impl $crate::settings::Setting for $name {
            const KIND: &'static str = "choice";
            const CHOICES: &'static [(&'static str, &'static str)] = &[$( ($text, $doc.trim_ascii()), )*];
            const JSON: &'static [&'static str] = &["string"];
            fn read(raw: &$crate::settings::Raw) -> Result<$name, $crate::__private::String> {
                // A name may look like a number, such as `2006`.
                let written = match raw {
                    $crate::settings::Raw::Text(text) => $crate::__private::String::clone(text),
                    other => $crate::__private::ToString::to_string(other),
                };
                let named = |one: &&$name| $crate::settings::names::same_name(one.name(), &written);
                $name::ALL.iter().find(named).copied().ok_or_else(|| {
                    $crate::__private::format!("{raw} is not one of {}", [$($text),*].join(", "))
                })
            }
        }
    };
}

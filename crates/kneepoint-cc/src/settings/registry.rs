// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Families of algorithms: one line registers an algorithm, whose file supplies its documentation.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Field, Written};

/// A registered algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name in scenarios and on the command line.
    pub name: &'static str,
    /// The source file, whose header documents it; in WebAssembly the header alone.
    pub source: &'static str,
    /// Its parameters.
    pub fields: &'static [Field],
    /// Fields with other defaults in Linux.
    pub linux: Written,
}

impl Entry {
    /// The header of the source file, without its comment marks: title, source, equations, departures.
    pub fn header(&self) -> String {
        let lines = self.source.lines().skip_while(|line| !line.starts_with("//!"));
        let header = lines.map_while(|line| line.strip_prefix("//!"));
        header.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
    }

    /// The first sentence of the header, shown in lists.
    pub fn summary(&self) -> String {
        self.header().split("\n\n").next().unwrap_or_default().replace('\n', " ")
    }

    /// The second paragraph of the header: the source of the algorithm.
    pub fn citation(&self) -> String {
        self.header().split("\n\n").nth(1).unwrap_or_default().replace('\n', " ")
    }
}

/// The bytes of a source file that an entry keeps: a page would carry half a megabyte of code that it only runs compiled.
pub const fn kept(source: &str) -> usize {
    let text = source.as_bytes();
    let mut at = 0;
    if !cfg!(target_family = "wasm") {
        return text.len();
    }
    // Lines of comments at its top.
    while at + 1 < text.len() && text[at] == b'/' && text[at + 1] == b'/' {
        while at < text.len() && text[at] != b'\n' {
            at += 1;
        }
        at += 1;
    }
    if at < text.len() { at } else { text.len() }
}

/// The beginning of a source file, as separate data, so that a program does not contain the rest.
pub const fn beginning<const COUNT: usize>(source: &str) -> [u8; COUNT] {
    let mut bytes = [0; COUNT];
    let mut at = 0;
    while at < COUNT {
        bytes[at] = source.as_bytes()[at];
        at += 1;
    }
    bytes
}

/// Bytes of whole lines as text.
pub const fn text(bytes: &'static [u8]) -> &'static str {
    match core::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => panic!("a line does not end within a character"),
    }
}

/// Declares a family of algorithms: modules, names, a `Config` to choose one and an `Any` that is one.
///
/// Each line `module::Type,` is all that registers an algorithm; a dash in the name is written
/// `module::Type as "na-me",`. An algorithm in a folder that has a `mod.rs` of its own is `folder/module::Type`. The
/// enum keeps an algorithm inside its host, without a heap hop. `external External;` adds a variant for algorithms of other
/// crates, which are boxed; the family then has a module `external` (see [`external!`](crate::external)). The macro named
/// after `each` is defined for the family's own use: `each!(any, one => expression)` evaluates the expression with the
/// algorithm in `any`.
#[macro_export]
macro_rules! registry {
    (
        trait $trait:ident $(($context:ty))?;
        each $each:ident;
        $(external $external:ident;)?
        algorithms { $( $module:ident $(/ $file:ident)? ::$type:ident $(as $alias:literal)?, )* }
    ) => {
        $( $crate::registry!(@module $module $($file)?); )*

        /// A chosen algorithm with its parameters.
        #[allow(missing_docs)]
        #[derive(Clone, Debug, PartialEq)]
        pub enum Config {
            $( $type(<$module$(::$file)?::$type as $trait>::Params), )*
            $( $external(external::$external), )?
        }

        /// Every algorithm of the family, in the order of the registry.
        pub const REGISTRY: &[$crate::settings::Entry] = &[$( $crate::settings::Entry {
            name: $crate::registry!(@name $module $($alias)?),
            source: $crate::registry!(@source include_str!(concat!(stringify!($module), $("/", stringify!($file),)? ".rs"))),
            fields: <<$module$(::$file)?::$type as $trait>::Params as $crate::settings::Settings>::FIELDS,
            linux: <<$module$(::$file)?::$type as $trait>::Params as $crate::settings::Settings>::LINUX,
        }, )*];

        /// The first of the registry, with its defaults.
        impl Default for Config {
            fn default() -> Config {
                Config::named(REGISTRY[0].name).expect("the first of a registry has its name")
            }
        }

        impl Config {
            /// The algorithm of this name, however it is written, with its defaults.
            pub fn named(name: &str) -> Option<Config> {
                $( if $crate::settings::names::same_name(name, $crate::registry!(@name $module $($alias)?)) {
                    return Some(Config::$type(Default::default()));
                } )*
                None
            }
            /// The algorithm's name.
            pub fn name(&self) -> &'static str {
                match self {
                    $( Config::$type(_) => $crate::registry!(@name $module $($alias)?), )*
                    $( Config::$external(one) => one.name(), )?
                }
            }
            /// Sets one parameter by name.
            pub fn set(&mut self, name: &str, raw: &$crate::settings::Raw) -> Result<(), $crate::settings::Refusal> {
                match self {
                    $( Config::$type(params) => $crate::settings::Settings::set(params, name, raw), )*
                    $( Config::$external(one) => one.set(name, raw), )?
                }
            }
            /// One parameter by name, in its written form.
            pub fn get(&self, name: &str) -> Option<$crate::__private::String> {
                match self {
                    $( Config::$type(params) => $crate::settings::Settings::get(params, name), )*
                    $( Config::$external(one) => one.get(name), )?
                }
            }
            /// Whether the parameters agree with one another.
            pub fn check(&self) -> Result<(), $crate::__private::String> {
                match self {
                    $( Config::$type(params) => $crate::settings::Settings::check(params), )*
                    $( Config::$external(one) => one.check(), )?
                }
            }
            /// The algorithm itself.
            pub fn build(&self $(, context: $context)?) -> Any {
                // Some families give every algorithm a context in addition to its parameters.
                macro_rules! make {
                    ($kind:ty, $params:expr) => {
                        <$kind as $trait>::new($params.clone() $(, $crate::registry!(@context context $context))?)
                    };
                }
                match self {
                    $( Config::$type(params) => Any::$type(make!($module$(::$file)?::$type, params)), )*
                    $( Config::$external(one) => Any::$external(one.build(context)), )?
                }
            }
        }

        impl $crate::settings::Assign for Config {
            fn declared(&self) -> &'static [$crate::settings::Field] {
                $( if let Config::$external(one) = self {
                    return one.fields();
                } )?
                let entry = REGISTRY.iter().find(|entry| entry.name == self.name());
                entry.map_or(&[], |entry| entry.fields)
            }
            fn assign(
                &mut self,
                name: &str,
                raw: &$crate::settings::Raw,
            ) -> Result<(), $crate::settings::Refusal> {
                self.set(name, raw)
            }
            fn written(&self, name: &str) -> Option<$crate::__private::String> {
                self.get(name)
            }
            fn agree(&self) -> Result<(), $crate::__private::String> {
                self.check()
            }
        }

        $( impl From<external::$external> for Config {
            fn from(one: external::$external) -> Config { Config::$external(one) }
        }
        impl Config {
            /// The algorithm, if it is from outside the registry.
            pub fn external(&self) -> Option<&external::$external> {
                match self {
                    Config::$external(one) => Some(one),
                    _ => None,
                }
            }
        } )?

        /// Any algorithm of the family. Its tag is a separate number, which is faster to dispatch on than spare
        /// values of a field.
        #[allow(missing_docs, clippy::large_enum_variant)]
        #[derive(Clone, Debug)]
        #[repr(u32)]
        pub enum Any {
            $( $type($module$(::$file)?::$type), )*
            $( $external($crate::__private::Box<dyn external::Object>), )?
        }

        macro_rules! $each {
            ($any:expr, $one:ident => $body:expr) => {
                match $any { $( Any::$type($one) => $body, )* $( Any::$external($one) => $body, )? }
            };
        }
    };
    (@context $context:ident $type:ty) => { $context };
    (@module $module:ident) => { pub mod $module; };
    (@module $folder:ident $file:ident) => {};
    (@source $file:expr) => {{
        const BEGINNING: [u8; $crate::settings::kept($file)] = $crate::settings::beginning($file);
        $crate::settings::text(&BEGINNING)
    }};
    (@name $module:ident) => { stringify!($module) };
    (@name $module:ident $alias:literal) => { $alias };
}

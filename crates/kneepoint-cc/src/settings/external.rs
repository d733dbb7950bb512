// SPDX-License-Identifier: Apache-2.0 OR MIT
//! External algorithms: chosen, configured and built like the registry's own, by their authors' code.
//!
//! A registry is an enum, so that its algorithms lie in their hosts and are dispatched without a pointer. [`external!`](crate::external) gives a
//! family one variant more, a box, and with it room for an algorithm of any other crate.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;

use super::{Assign, Entry, Field, Raw, Refusal, Settings};

crate::settings! {
    /// Hash of an algorithm without parameters.
    pub struct NoParameters {}
}

/// Parameters, and the code that makes an algorithm `A` of them where the context is a `C`.
trait Maker<C, A>: Send + Sync {
    fn params(&self) -> &dyn Assign;
    fn params_mut(&mut self) -> &mut dyn Assign;
    fn make(&self, context: C) -> A;
    fn duplicate(&self) -> Box<dyn Maker<C, A>>;
}

#[derive(Clone)]
struct Make<P, F> {
    params: P,
    make: F,
}

impl<C, A, P, F> Maker<C, A> for Make<P, F>
where
    P: Assign + Clone + Send + Sync + 'static,
    F: Fn(P, C) -> A + Clone + Send + Sync + 'static,
{
    fn params(&self) -> &dyn Assign {
        &self.params
    }
    fn params_mut(&mut self) -> &mut dyn Assign {
        &mut self.params
    }
    fn make(&self, context: C) -> A {
        (self.make)(self.params.clone(), context)
    }
    fn duplicate(&self) -> Box<dyn Maker<C, A>> {
        Box::new(self.clone())
    }
}

/// A chosen algorithm that no registry lists, with its parameters. Clones share the definition; each has parameters of its own.
pub struct External<C, A> {
    definition: Arc<Definition>,
    maker: Box<dyn Maker<C, A>>,
}

/// The reason why an algorithm's runs do not count, once there is one.
type Fault = Arc<dyn Fn() -> Option<String> + Send + Sync>;

#[derive(Clone)]
struct Definition {
    entry: Entry,
    version: Option<&'static str>,
    fault: Option<Fault>,
}

impl<C, A> External<C, A> {
    /// An algorithm of this name. The header of its `source` documents it, as the file of a registered one does; `make` builds it
    /// from its parameters and a context.
    pub fn new<P, F>(name: &'static str, source: &'static str, make: F) -> External<C, A>
    where
        P: Settings + Send + Sync + 'static,
        F: Fn(P, C) -> A + Clone + Send + Sync + 'static,
    {
        External::with(name, source, P::default(), make)
    }

    /// The same where the parameters are declared while the program runs: these, with their defaults.
    pub fn with<P, F>(name: &'static str, source: &'static str, params: P, make: F) -> External<C, A>
    where
        P: Assign + Clone + Send + Sync + 'static,
        F: Fn(P, C) -> A + Clone + Send + Sync + 'static,
    {
        let entry = Entry { name, source, fields: params.declared(), linux: &[] };
        External {
            definition: Arc::new(Definition { entry, version: None, fault: None }),
            maker: Box::new(Make { params, make }),
        }
    }

    /// The same with a version, which its author changes with its behaviour. Runs are kept for later only if all of their algorithms
    /// have one.
    #[must_use]
    pub fn versioned(self, version: &'static str) -> External<C, A> {
        let definition = Definition { version: Some(version), ..(*self.definition).clone() };
        External { definition: Arc::new(definition), ..self }
    }

    /// The same with a fault of its code, which `fault` returns from its first failure on. Runs with a faulty algorithm end in an error.
    #[must_use]
    pub fn watched(self, fault: impl Fn() -> Option<String> + Send + Sync + 'static) -> External<C, A> {
        let definition = Definition { fault: Some(Arc::new(fault)), ..(*self.definition).clone() };
        External { definition: Arc::new(definition), ..self }
    }

    /// Its name and its documentation.
    pub fn entry(&self) -> &Entry {
        &self.definition.entry
    }
    /// Its name.
    pub fn name(&self) -> &'static str {
        self.definition.entry.name
    }
    /// The version that its author gave it.
    pub fn version(&self) -> Option<&'static str> {
        self.definition.version
    }
    /// The fault of its code, if it has failed.
    pub fn fault(&self) -> Option<String> {
        self.definition.fault.as_ref().and_then(|fault| fault())
    }
    /// A text that is unique among the definitions in use in this process; with a [`version`](External::version), the same in every process.
    pub fn print(&self) -> String {
        let Definition { entry: Entry { name, source, .. }, version, .. } = &*self.definition;
        match version {
            Some(version) => format!("{name} {version} {source}"),
            None => format!("{name} {:p}", Arc::as_ptr(&self.definition)),
        }
    }
    /// Its parameters.
    pub fn fields(&self) -> &'static [Field] {
        self.definition.entry.fields
    }
    /// Sets one parameter by name.
    pub fn set(&mut self, name: &str, raw: &Raw) -> Result<(), Refusal> {
        self.maker.params_mut().assign(name, raw)
    }
    /// One parameter by name, in its written form.
    pub fn get(&self, name: &str) -> Option<String> {
        self.maker.params().written(name)
    }
    /// Whether the parameters agree with one another.
    pub fn check(&self) -> Result<(), String> {
        self.maker.params().agree()
    }
    /// The algorithm itself.
    pub fn build(&self, context: C) -> A {
        self.maker.make(context)
    }
}

impl<C, A> Clone for External<C, A> {
    fn clone(&self) -> External<C, A> {
        External { definition: Arc::clone(&self.definition), maker: self.maker.duplicate() }
    }
}

/// One definition with the same parameters.
impl<C, A> PartialEq for External<C, A> {
    fn eq(&self, other: &External<C, A>) -> bool {
        let same = |field: &Field| self.get(field.name) == other.get(field.name);
        Arc::ptr_eq(&self.definition, &other.definition) && self.fields().iter().all(same)
    }
}

impl<C, A> fmt::Debug for External<C, A> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut shown = f.debug_struct(self.name());
        for field in self.fields() {
            shown.field(field.name, &self.get(field.name).unwrap_or_default());
        }
        shown.finish()
    }
}

/// Opens a family to algorithms of other crates: its contract as a trait that may be behind a pointer, `Object`; the configuration of
/// one, `External`; and `of`, which makes one of a type that implements the contract. The questions and the signals of the contract
/// are listed once more, because a trait with constants cannot be behind such a pointer.
#[macro_export]
macro_rules! external {
    (
        trait $contract:ident($context:ty);
        asked { $( $(#[doc = $asked:literal])* fn $ask:ident($($put:ident: $puts:ty),*) -> $answer:ty; )* }
        told { $( $(#[doc = $told:literal])* fn $tell:ident($($given:ident: $gives:ty),*) $(-> $reply:ty)?; )* }
    ) => {
        #[doc = concat!("The contract [`", stringify!($contract), "`](super::", stringify!($contract), ") behind a pointer, without its types and constants.")]
        ///
        /// Every type with the contract has it. A type whose constants are known only when it is made implements it itself.
        pub trait Object: ::core::fmt::Debug + Send + Sync {
            $( $(#[doc = $asked])* fn $ask(&self $(, $put: $puts)*) -> $answer; )*
            $( $(#[doc = $told])* fn $tell(&mut self $(, $given: $gives)*) $(-> $reply)?; )*
            /// A copy with the same future.
            fn duplicate(&self) -> $crate::__private::Box<dyn Object>;
        }

        impl<T: $contract + Send + Sync + 'static> Object for T {
            $( #[inline] fn $ask(&self $(, $put: $puts)*) -> $answer { <T as $contract>::$ask(self $(, $put)*) } )*
            $( #[inline] fn $tell(&mut self $(, $given: $gives)*) $(-> $reply)? { <T as $contract>::$tell(self $(, $given)*) } )*
            fn duplicate(&self) -> $crate::__private::Box<dyn Object> { $crate::__private::Box::new(self.clone()) }
        }

        impl Object for $crate::__private::Box<dyn Object> {
            $( #[inline] fn $ask(&self $(, $put: $puts)*) -> $answer { (**self).$ask($($put),*) } )*
            $( #[inline] fn $tell(&mut self $(, $given: $gives)*) $(-> $reply)? { (**self).$tell($($given),*) } )*
            fn duplicate(&self) -> $crate::__private::Box<dyn Object> { (**self).duplicate() }
        }

        impl Clone for $crate::__private::Box<dyn Object> {
            fn clone(&self) -> Self { (**self).duplicate() }
        }

        /// An algorithm from outside the registry, chosen, with its parameters.
        pub type External = $crate::settings::External<$context, $crate::__private::Box<dyn Object>>;

        /// An algorithm of another crate: its name, and the source of its file, whose header documents it.
        pub fn of<T>(name: &'static str, source: &'static str) -> External
        where
            T: $contract + Send + Sync + 'static,
            T::Params: Send + Sync + 'static,
        {
            External::new(name, source, |params: T::Params, context: $context| -> $crate::__private::Box<dyn Object> {
                $crate::__private::Box::new(T::new(params, context))
            })
        }
    };
}

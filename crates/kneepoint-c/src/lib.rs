// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Congestion controls in C as algorithms of the laboratory: `include/knee_controller.h`, and eight functions.
//!
//! ```text
//! knee_controller.h ─ NAME.c ─ build.rs (cc) ─┐
//!                controller!(NAME) → cc::External → Extensions → every verb of `knee`, gates among them
//! ```
//!
//! The C is compiled and linked by its author's own build; nothing is loaded while a program runs.
//! `examples/c-controller` is such a build. [`of`] tries the functions before anything else does: answers that no host
//! can use are an error there, not a strange result.

mod flow;
mod table;
mod trial;

pub use table::{Refused, Table, of};

/// The controller that C defines under this name, a `struct knee_controller`, as
/// `Result<kneepoint::cc::External, kneepoint_c::Refused>`.
#[macro_export]
macro_rules! controller {
    ($name:ident) => {{
        #[allow(unsafe_code, reason = "a constant that C defines")]
        // SAFETY: the header demands a constant of this type under the name, whose functions keep its rules.
        unsafe {
            unsafe extern "C" {
                static $name: $crate::Table;
            }
            $crate::of(&raw const $name)
        }
    }};
}

/// The folder of the header, for build scripts.
#[must_use]
pub const fn include() -> &'static str {
    concat!(env!("CARGO_MANIFEST_DIR"), "/include")
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Scenarios: TOML text to [`Valid`](crate::spec::Valid), or to faults with place and remedy.
//!
//! ```text
//! text ─text→ keys and values with positions ─sweep→ one tree per combination
//!      ─reader→ declared fields ─topology→ nodes and links ─→ Valid
//! ```
//!
//! Every field is declared once, with type, default, range and documentation; the reader, [`schema`] and [`example`]
//! all derive from that declaration. A study builds the tree instead of a text, and a [`Document`] has both.
//! The files import one another in one direction.

mod admit;
mod build;
pub(crate) mod choose;
mod document;
mod effects;
mod example;
mod extensions;
mod families;
mod family;
mod figure;
pub(crate) mod files;
mod forms;
mod host;
mod outline;
mod presets;
mod proxy;
mod queues;
mod read;
pub(crate) mod reader;
mod schema;
pub mod scheme;
mod sections;
mod set;
pub(crate) mod sweep;
mod text;
mod topology;
mod traffic;
pub(crate) mod tree;
mod written;

pub use crate::fault::Fault;
pub use document::Document;
pub(crate) use document::root;
pub use example::{brief_example, example};
pub use extensions::Extensions;
pub use figure::{FigureSpec, MOST_FACETS, NO_FACET, Scale};
pub use files::{Files, Opened};
pub(crate) use forms::Buffer;
pub use forms::{Names, Words, fitting_name};
pub use outline::paths;
pub use proxy::Proxy;
pub(crate) use read::plan;
pub use read::{Case, Plan, Settings, parse, parse_set, parse_with, presets};
pub use schema::schema;
pub use sections::Queues;
pub use sections::{seed, seeds};
pub use topology::REGISTRY as TOPOLOGIES;

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Options of a host: its preset's, overridden by the text.

use super::reader::{Shape, fill};
use super::tree::Table;
use crate::cc::{self, Marks};
use crate::fault::Faults;
use crate::settings::Assign;
use crate::tcp::{Host, Options};

/// The options of `table`, on top of its preset's, or else of `base`.
pub(super) fn options(table: &Table, place: &str, base: Options, faults: &mut Faults) -> Options {
    let mut options = host(table).map_or(base, Options::of);
    let target: &mut dyn Assign = &mut options;
    fill(table, Shape { place, ..Shape::default() }, &mut [target], faults);
    options
}

/// The preset that a table names. A wrong name is a fault when the table is read.
pub(super) fn host(table: &Table) -> Option<Host> {
    Host::named(table.get("preset")?.as_text()?)
}

/// The options of a connection of this controller. Linux requests ECN where the controller needs it
/// (TCP_CONG_NEEDS_ECN), regardless of others.
pub(super) fn negotiated(options: Options, controller: &cc::Config) -> Options {
    let marks = controller.build(cc::Start::new(options.initial_window)).marks();
    let needed = options.preset == Host::Linux && marks != Marks::Classic;
    Options { ecn: options.ecn || needed, ..options }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee list`: one line per named item.

use clap::Args;
use kneepoint::scenario::Extensions;
use kneepoint_bench::session::Session;
use serde_json::json;

use super::Verb;
use crate::catalogue::{self, Item, Kind};
use crate::failure::Failure;
use crate::terminal;

/// List controllers, queues, predictors, models, topologies, recoveries
#[derive(Args)]
#[command(after_help = "Example:\n  knee list controllers queues")]
pub struct Arguments {
    /// Kinds to list; all by default
    #[arg(value_enum, ignore_case = true)]
    kinds: Vec<Kind>,
}

pub const VERB: Verb<Arguments> = Verb { act, answer: None };

/// Prints the list.
fn act(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let known = session.extensions();
    let kinds = if arguments.kinds.is_empty() { &Kind::ALL[..] } else { &arguments.kinds };
    if as_json {
        let items: Vec<_> = catalogue::known(known, kinds).iter().map(Item::json).collect();
        return session.print_json(&json!({ "items": items }));
    }
    // One kind: no heading, for `cut` and `while read`.
    let blocks = kinds.iter().map(|kind| match kinds {
        [_] => lines(known, *kind, ""),
        _ => format!("{}\n{}", kind.plural(), lines(known, *kind, "  ")),
    });
    session.print(blocks.collect::<Vec<_>>().join("\n"))
}

fn lines(known: &Extensions, kind: Kind, indent: &str) -> String {
    let items = catalogue::known(known, &[kind]);
    let all = catalogue::known(known, &Kind::ALL);
    let width = items.iter().map(|item| item.name.len()).fold(16, usize::max);
    let columns = terminal::columns();
    let line = |item: &Item| {
        let others = all.iter().filter(|other| other.name == item.name && other.kind != kind);
        let others = others.map(|other| other.kind.singular()).collect::<Vec<_>>();
        let also =
            if others.is_empty() { String::new() } else { format!(" [also a {}]", others.join(", a ")) };
        terminal::hanging(
            &format!("{indent}{:<width$} ", item.name),
            &format!("{}{also}", item.summary),
            columns,
        )
    };
    items.iter().map(line).collect()
}

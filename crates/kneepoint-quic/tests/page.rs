// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The table of docs/quic.md agrees with the code; `KNEE_WRITE=1` writes it.

use kneepoint_cc::cc::{Config, REGISTRY};
use kneepoint_quic::carried::STACKS;
use kneepoint_quic::carries;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/quic.md");
const MARKS: [&str; 2] = ["<!-- carried -->\n", "<!-- end of carried -->"];

fn table() -> String {
    let row = |name: &str| {
        let config = Config::named(name).expect("registered");
        let cell = |stack| match carries(stack, &config) {
            Ok(()) => "yes".to_string(),
            Err(why) => why,
        };
        let cells: Vec<String> = STACKS.iter().map(cell).collect();
        format!("| `{name}` | {} |\n", cells.join(" | "))
    };
    let head = "| controller | quinn 0.11 | noq 1.4 | s2n-quic 1.91 |\n|---|---|---|---|\n".to_string();
    std::iter::once(head).chain(REGISTRY.iter().map(|entry| row(entry.name))).collect()
}

#[test]
fn the_page_says_which_controller_runs_where() {
    let page = std::fs::read_to_string(PAGE).expect("the page");
    let (head, rest) = page.split_once(MARKS[0]).expect("a mark");
    let (found, tail) = rest.split_once(MARKS[1]).expect("its end");
    let table = table();
    if std::env::var_os("KNEE_WRITE").is_some() {
        std::fs::write(PAGE, [head, MARKS[0], &table, MARKS[1], tail].concat()).expect("written");
        return;
    }
    assert_eq!(found, table, "KNEE_WRITE=1 cargo test -p kneepoint-quic --test page");
}

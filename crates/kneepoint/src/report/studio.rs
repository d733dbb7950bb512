// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Links from a report to the studio with its scenario, while `knee studio` serves it on the reader's machine.

use std::fmt::Write;

use super::document::{Block, Prose};
use crate::scenario;

/// The default port of `knee studio`.
pub const PORT: u16 = 5633;

/// The address of the studio with a state behind its `#`.
pub fn address(fragment: &str) -> String {
    format!("http://127.0.0.1:{PORT}/#{fragment}")
}

/// A link that opens a state of the studio.
pub fn link(fragment: &str) -> Prose {
    Prose::default()
        .link("Open it in the studio", address(fragment))
        .then(", while ")
        .code("knee studio")
        .then(" runs on this machine.")
}

/// A link that opens a scenario; none if it needs files or algorithms that a page does not have.
pub(super) fn of_scenario(text: &str) -> Option<Block> {
    scenario::parse(text).is_ok().then(|| Block::Prose(link(&format!("toml={}", encoded(text)))))
}

/// A text as a part of an address: what RFC 3986, §3.5, does not allow behind the `#`, and parentheses, stand as `%` and two digits.
fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut written, byte| {
        match byte {
            byte if byte.is_ascii_alphanumeric() || b"-._~!$*+,;=:@/?".contains(&byte) => {
                written.push(byte.into())
            }
            // Writing to a string does not fail.
            byte => _ = write!(written, "%{byte:02X}"),
        }
        written
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_is_a_part_of_an_address() {
        assert_eq!(encoded("a = \"1s..2s\" # ü\n"), "a%20=%20%221s..2s%22%20%23%20%C3%BC%0A");
    }

    #[test]
    fn only_a_scenario_that_a_page_can_run_has_a_link() {
        let text = "[topology]\nkind = 'dumbbell'\nrate = '1mbit'\n[[flows]]\ncc = 'reno'\n";
        assert!(of_scenario(text).is_some());
        assert!(of_scenario(&text.replace("reno", "mine")).is_none());
    }
}

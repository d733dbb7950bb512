// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `docs/response-functions.md`: mean windows by published response functions compared with measured ones.

use std::fmt::Write;

use kneepoint::cc::steady::{Losses, ResponseFunction, mean_window};
use kneepoint::cc::{Config, REGISTRY};
use kneepoint::units::Span;

/// Round-trip time of all measurements.
const RTT: Span = Span::from_millis(100);

const PREFACE: &str = "\
# Response functions

*Generated from the sources by `cargo run -p xtask -- docs`; do not edit.*

The mean window in packets of one flow that loses packets at the rate p: what a law says of an algorithm, as its file
in `crates/kneepoint-cc/src/cc/` states it, and what the algorithm there does. Where no publication prints a law it is
*derived* from the equations in the file. The round-trip time is 100 ms.

Laws assume that the window alone limits the flow, that no queue stands, and that a loss is noticed at once and
repaired without a pause; so does the measurement, which drives the controller without a network. *Periodic* losses
come when the window is back where the loss before came, after 1/p packets; *random* ones hit each packet with
probability p, 10 000 of them. A measurement may be off by what the column *within* says, for the reason below.

| algorithm | losses | source of the law | p | law | measured | off, % | within, % |
|---|---|---|---|---|---|---|---|
";

const LAWS: &str = "
CUBIC and BIC are measured without their fast convergence, which their laws leave out: in a periodic state every loss
comes at the window of the loss before, and one packet too early would count as below it. Losing strictly every
1/p-th packet leads to the same state, but slowly: where the window lingers at that of the last loss, a loss a little
late is hardly answered with a larger window.

## The laws, and why a measurement is no nearer

";

/// The page.
pub fn page() -> String {
    let mut page = PREFACE.to_string();
    let mut reasons = String::new();
    for entry in REGISTRY {
        let Some(config) = Config::named(entry.name) else { continue };
        for law in config.steady_state() {
            rows(&mut page, entry.name, &config, law);
            // Writing to a string cannot fail.
            let _ = writeln!(
                reasons,
                "* `{}`, {}: {}. {}.",
                entry.name,
                law.source,
                law.formula,
                capital(law.because)
            );
        }
    }
    page + LAWS + &reasons
}

fn rows(page: &mut String, name: &str, config: &Config, law: &ResponseFunction) {
    let settings: String =
        law.settings.iter().map(|(parameter, value)| format!(":{parameter}={value}")).collect();
    let losses = match law.losses {
        Losses::Periodic => "periodic",
        Losses::Random => "random",
    };
    for &p in law.rates {
        let lawful = (law.window)(p, RTT.as_secs_f64());
        let measured = mean_window(&law.assume(config), law.losses, p, RTT);
        // Adding zero turns -0 into 0.
        let off = (1000.0 * (measured / lawful - 1.0)).round() / 10.0 + 0.0;
        let _ = writeln!(
            page,
            "| `{name}{settings}` | {losses} | {} | {p:e} | {lawful:.1} | {measured:.1} | {off:+.1} | {:.1} |",
            law.source,
            100.0 * law.within,
        );
    }
}

/// Capitalises the first letter.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

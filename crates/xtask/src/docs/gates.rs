// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `docs/rfc9743.md` and `docs/bbr-draft.md`: the outcome of the cases of both suites, from `docs/gates.json`.

use std::fmt::Write;

use crate::gates::{Kept, KeptCase, read};

const RFC9743: &str = "\
# RFC 9743, answered for every controller

*Generated from docs/gates.json by `cargo run -p xtask -- docs`; do not edit. `cargo run --release -p xtask -- gates` runs the cases again.*

RFC 9743 lists what a new congestion control has to be considered for, and gives no thresholds: those here are ours, and each case says
so in [`experiments/gate/rfc9743`](../experiments/gate/rfc9743). Hosts are like Linux's. A criterion that no run can answer is *not
applicable*, with the reason. `knee gate run NAME --suite rfc9743` repeats a column.

A failure is a fact about a controller in this setting and no bug by itself: CUBIC is known to fill buffers, LEDBAT is meant to yield. The variants of
PERT fail where a flow has few packets in flight, because they take the 40 ms by which receivers delay an acknowledgement for a queue: one flow of PERT
uses 3 % of 10 Mbit/s at 40 ms, and 91 % with `--tcp preset=linux,delayed_ack=false`.
";

const BBR: &str = "\
# The test cases of the BBR draft

*Generated from docs/gates.json by `cargo run -p xtask -- docs`; do not edit. `cargo run --release -p xtask -- gates` runs the cases again.*

The appendix of draft-ietf-ccwg-bbr-06 has 22 cases, each of which is a file in [`experiments/gate/bbr-draft`](../experiments/gate/bbr-draft). Where
the draft names a variable, the controller's own state is inspected every 10 ms; of a controller that does not report it, the case's other
claims are judged. `knee gate run bbr3 --suite bbr-draft` repeats this.

**How far this is evidence.** The draft says what to verify, and leaves rates, buffers, losses and their times open. With the first choice of these, BBRv3 passed 14 cases.
The claims were kept, and times of losses and of rate changes, rates of applications, the buffer of the tenfold decrease and the delays of both spurious cases were then chosen so
that each case meets the state that it is about. The count of passed cases is in part fitted to this implementation, that of `probe-down-time` and `probe-up-loss-limited` most; *drain-time* takes
70 % of the rate where the draft has 10 %. Besides ours, noq's own
BBRv3 (`noq-bbr3`) and quinn's BBRv1 (`quinn-bbr`) are judged, by use, queue and losses: these stacks show no variables, and no application of theirs pauses ([docs/quic.md](quic.md#their-own-controllers-as-schemes)).
`make gate-quic` runs them again.
";

/// The page about RFC 9743.
pub fn rfc9743() -> String {
    page(RFC9743, "rfc9743")
}

/// The page about the BBR draft.
pub fn bbr_draft() -> String {
    page(BBR, "bbr-draft")
}

fn page(preface: &str, suite: &str) -> String {
    let all = read();
    let of: Vec<&Kept> = all.iter().filter(|kept| kept.suite == suite).collect();
    let mut page = preface.to_string();
    let Some(first) = of.first() else { return page };
    summary(&mut page, &of);
    matrix(&mut page, &of, &first.cases);
    reasons(&mut page, &of);
    page
}

/// The number of cases that each controller passes.
fn summary(page: &mut String, of: &[&Kept]) {
    page.push_str("\n| controller | scheme | passed | failed | not applicable |\n|---|---|---:|---:|---:|\n");
    for kept in of {
        let count = |status: &str| kept.cases.iter().filter(|case| case.status == status).count();
        let [passed, failed, none] = ["passed", "failed", "not applicable"].map(count);
        // Writing to a string cannot fail.
        let _ =
            writeln!(page, "| `{}` | `{}` | {passed} | {failed} | {none} |", kept.controller, kept.scheme);
    }
}

/// Every criterion: the controllers that fail it, and the ones to which it does not apply.
fn matrix(page: &mut String, of: &[&Kept], cases: &[KeptCase]) {
    page.push_str("\n## The criteria\n\n| case | source | passed by | failed by | not applicable to |\n|---|---|---|---|---|\n");
    let mut sorted: Vec<&KeptCase> = cases.iter().collect();
    sorted.sort_by_key(|case| numbers(section(case)));
    for case in sorted {
        let names = |status: &str| {
            let has = |kept: &&&Kept| kept.cases.iter().any(|one| one.id == case.id && one.status == status);
            let names: Vec<String> =
                of.iter().filter(has).map(|kept| format!("`{}`", kept.controller)).collect();
            if names.len() == of.len() { "all".to_string() } else { names.join(" ") }
        };
        let [passed, failed, none] = ["passed", "failed", "not applicable"].map(names);
        let place = section(case);
        let _ = writeln!(page, "| {} | {place} | {passed} | {failed} | {none} |", case.title);
    }
}

/// Its place in the document.
fn section(case: &KeptCase) -> &str {
    case.source.rsplit(", ").next().unwrap_or_default()
}

/// The numbers of a section: 7, 10 of §7.10. A heading has none.
fn numbers(section: &str) -> Vec<u32> {
    section.trim_start_matches('§').split('.').filter_map(|number| number.parse().ok()).collect()
}

/// Why, for each controller.
fn reasons(page: &mut String, of: &[&Kept]) {
    page.push_str("\n## Why\n");
    for kept in of {
        let _ = writeln!(page, "\n### {}\n", kept.controller);
        for case in kept.cases.iter().filter(|case| !case.why.is_empty()) {
            let _ = writeln!(page, "* {}: {}", case.title, case.why.join("; "));
        }
    }
}

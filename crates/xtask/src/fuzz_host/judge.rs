// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Our sender against a recorded script: the same, or the kind of the first difference.

use kneepoint::tcp::script::{self, Difference, Kind, Ticks};

/// The result of a script.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Our sender sends what the kernel sent, when it did.
    Identical,
    /// It does not.
    Different(First),
    /// The script is not credible, or cannot be read.
    Spoiled(String),
}

/// The first difference.
#[derive(Clone, Debug, PartialEq)]
pub struct First {
    /// The difference, without numbers: differences of one kind are counted together.
    pub kind: String,
    /// The difference as printed.
    pub text: String,
}

/// Plays a script to our sender.
pub fn judge(text: &str) -> Verdict {
    let text = &without_answers(text);
    let script = match script::parse(text) {
        Ok(script) => script,
        Err(faults) => return Verdict::Spoiled(format!("unreadable: {}", faults[0])),
    };
    let script = match Ticks::of(text) {
        Some(ticks) => script.ticking(ticks),
        None => script,
    };
    match script.recorded().run().difference {
        None => Verdict::Identical,
        Some(difference) => {
            Verdict::Different(First { kind: kind(text, &difference), text: difference.to_string() })
        }
    }
}

/// A script without the kernel's bare acknowledgements, by which it answers what it refuses, such as an old timestamp: the sender under test
/// has no receiver. They become comments, so that lines keep their numbers.
fn without_answers(text: &str) -> String {
    let mut high = 1;
    let mut rest = String::with_capacity(text.len());
    for line in text.lines() {
        let sent = if line.contains(" > ") { range(line) } else { None };
        if sent == Some((high, high)) {
            rest.push_str("// ");
        }
        high = high.max(sent.map_or(0, |(_, end)| end));
        rest.push_str(line);
        rest.push('\n');
    }
    rest
}

/// The kind of a difference, in words.
fn kind(text: &str, difference: &Difference) -> String {
    let high = sent_before(text, difference.line);
    let line = text.lines().nth(difference.line.saturating_sub(1)).unwrap_or_default();
    let timer = if line.trim_start().split(' ').next().is_some_and(|when| when.contains('~')) {
        " by a timer"
    } else {
        ""
    };
    let kernel = nature(&difference.expected, high);
    match difference.kind {
        Kind::Missing => format!("kernel: {kernel}{timer}; ours: nothing"),
        Kind::Other => format!("kernel: {kernel}{timer}; ours: {}", nature(&difference.seen, high)),
        Kind::Time => format!("kernel: {kernel}{timer}; ours: {}", timing(line, &difference.seen)),
        Kind::State | Kind::Endless => format!("kernel: {kernel}{timer}; ours: without end"),
    }
}

/// One above the greatest byte that the kernel had sent before a line.
fn sent_before(text: &str, line: usize) -> u32 {
    let sent = text.lines().take(line.saturating_sub(1)).filter(|line| line.contains(" > "));
    sent.filter_map(range).map(|(_, end)| end).max().unwrap_or(1)
}

/// The first and the next byte of a packet in the notation of scripts.
fn range(packet: &str) -> Option<(u32, u32)> {
    let (first, end) = packet.split_whitespace().find_map(|word| word.split_once('(')?.0.split_once(':'))?;
    Some((first.parse().ok()?, end.parse().ok()?))
}

/// The kind of a packet, where `high` is one above the greatest byte sent before.
fn nature(packet: &str, high: u32) -> &'static str {
    match range(packet) {
        None => "nothing",
        Some((first, end)) if first == end => "a probe of a closed window",
        Some((first, _)) if first >= high => "new data",
        Some((_, end)) if end == high => "the last segment again",
        Some(_) => "a retransmission",
    }
}

/// The time by which a packet is early or late, in steps.
fn timing(line: &str, seen: &str) -> String {
    let number = |text: &str| text.parse::<f64>().ok();
    let when = line.split_whitespace().next().unwrap_or_default();
    let (from, to) = when.split_once('~').unwrap_or((when, when));
    let at = seen.rsplit_once(" at ").and_then(|(_, rest)| number(rest.trim_end_matches(" s")));
    let (Some(from), Some(to), Some(at)) = (number(from), number(to), at) else {
        return "at another time".into();
    };
    let (away, way) = if at < from { (from - at, "early") } else { (at - to, "late") };
    let step = [0.01, 0.05, 0.2, 1.0].into_iter().find(|step| away < *step);
    step.map_or(format!("a second and more {way}"), |step| format!("less than {} ms {way}", step * 1e3))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "// a script\n 0.1 > P. 1:2001(2000) ack 1\n 0.2 > P. 2001:4001(2000) ack 1\n\
                        0.400000~0.440000 > . 1:1001(1000) ack 1\n";

    #[test]
    fn packets_are_new_or_sent_again_by_what_was_sent_before() {
        assert_eq!([2, 3, 4].map(|line| sent_before(TEXT, line)), [1, 2001, 4001]);
        let natures =
            ["> . 4001:5001(1000) at 0.1 s", "> . 3001:4001(1000)", "> . 1:1001(1000)", "nothing until 3 s"];
        assert_eq!(
            natures.map(|packet| nature(packet, 4001)),
            ["new data", "the last segment again", "a retransmission", "nothing"]
        );
        assert_eq!(nature("> . 4000:4000(0) ack 1", 4001), "a probe of a closed window");
    }

    #[test]
    fn bare_acknowledgements_are_left_out_and_probes_are_not() {
        let text = "0.1 > S. 0:0(0) ack 1\n0.1 > P. 1:2001(2000) ack 1\n0.2 > . 2001:2001(0) ack 1\n0.4 > . 2000:2000(0) ack 1\n";
        let left = without_answers(text);
        assert_eq!(left, text.replace("0.2 >", "// 0.2 >"));
    }

    #[test]
    fn times_differ_from_the_nearer_end_of_a_range() {
        let line = TEXT.lines().nth(3).unwrap();
        assert_eq!(timing(line, "> . 1:1001(1000) at 0.395000 s"), "less than 10 ms early");
        assert_eq!(timing(line, "> . 1:1001(1000) at 0.700000 s"), "less than 1000 ms late");
    }
}

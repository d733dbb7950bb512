// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Scenarios that are read, and random changes of them.

use std::sync::LazyLock;

use kneepoint::rng::Rng;
use kneepoint::scenario::example;

/// Scenarios that are read.
const SCENARIOS: &[&str] = &[
    include_str!("../../../../../scenarios/comparison.toml"),
    include_str!("../../../../../scenarios/mixed-rtt.toml"),
    include_str!("../../../../../scenarios/parking-lot.toml"),
    include_str!("../../../../../scenarios/web.toml"),
    include_str!("../../../../../scenarios/satellite.toml"),
    include_str!("../../../../../scenarios/coexistence.toml"),
    "[topology]\nkind = \"graph\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[link]]\nfrom = \"a\"\nto = \"b\"\n\
     rate = \"1mbit\"\ndelay = \"5ms\"\nloss = \"uniform:p=0.1\"\n[[flows]]\ncc = \"tahoe\"\nfrom = \"a\"\nto = \"b\"\n\
     [[cbr]]\nfrom = \"b\"\nto = \"a\"\n\
     [[onoff]]\ncc = \"reno\"\nmodel = \"turns\"\n\
     [[arrivals]]\ncc = \"reno\"\nlist = [\"1s 10kb\", \"2s\"]\n",
];

/// Values at the edges of ranges.
const EXTREMES: &[&str] = &[
    "0",
    "-1",
    "1",
    "2",
    "1e300",
    "-0.0",
    "nan",
    "inf",
    "9223372036854775807",
    "99999999999999999999",
    "4294967296",
    "100000",
    "0x10",
    "true",
    "\"\"",
    "\"0s\"",
    "\"1ns\"",
    "\"1000000s\"",
    "\"9007199254740992ns\"",
    "\"1bit\"",
    "\"1000gbit\"",
    "\"10000bdp\"",
    "\"0.001bdp\"",
    "\"16777216pkt\"",
    "\"1b\"",
    "\"0s..0s\"",
    "\"5s..1s\"",
    "\"auto\"",
    "\"never\"",
    "\"unlimited\"",
    "\"*\"",
    "[]",
    "[1, \"x\"]",
    "{}",
    "{ kind = \"reno\" }",
    "\"ä\\u0000\"",
    "1979-05-27",
    "\"reno:increase=1,\"",
    "\"/\"",
    "[[[]]]",
    "\"r0\"",
    "\"r18446744073709551616\"",
];

/// A random change.
pub fn mutate(text: &str, rng: &mut Rng) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let line = rng.below(lines.len().max(1) as u64) as usize;
    let other = rng.below(lines.len().max(1) as u64) as usize;
    let extreme = EXTREMES[rng.below(EXTREMES.len() as u64) as usize];
    match rng.below(8) {
        0 => return flip(text, rng),
        1 if !lines.is_empty() => {
            lines.remove(line);
        }
        2 if !lines.is_empty() => lines.insert(other, lines[line]),
        3 if !lines.is_empty() => lines.swap(line, other),
        4 => return swap_tokens(text, rng),
        5 | 6 if !lines.is_empty() => {
            let value = match lines[line].split_once('=') {
                Some((key, _)) => format!("{key}= {extreme}"),
                None => extreme.to_string(),
            };
            lines[line] = &value;
            return lines.join("\n");
        }
        _ => return cut(text, rng),
    }
    lines.join("\n")
}

fn flip(text: &str, rng: &mut Rng) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=rng.below(3) {
        if !bytes.is_empty() {
            let place = rng.below(bytes.len() as u64) as usize;
            bytes[place] = rng.below(256) as u8;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn swap_tokens(text: &str, rng: &mut Rng) -> String {
    let mut tokens: Vec<&str> = text.split_inclusive([' ', '\n', '=', ',', '"', '.', '[', ']']).collect();
    if !tokens.is_empty() {
        let mut pick = || rng.below(tokens.len() as u64) as usize;
        let (one, other) = (pick(), pick());
        tokens.swap(one, other);
    }
    tokens.concat()
}

/// Removes or repeats a part of the text.
fn cut(text: &str, rng: &mut Rng) -> String {
    let mut ends = [rng.below(text.len() as u64 + 1) as usize, rng.below(text.len() as u64 + 1) as usize];
    ends.sort_unstable();
    let [from, to] = ends.map(|end| text.floor_char_boundary(end));
    let to = text.floor_char_boundary(to.min(from + 80));
    let repeated = if rng.chance(0.5) { &text[from..to] } else { "" };
    format!("{}{repeated}{repeated}{}", &text[..from], &text[to..])
}

/// A scenario with a few random changes.
pub fn mutated(case: u64) -> String {
    /// Writing it takes longer than all else here.
    static EXAMPLE: LazyLock<String> = LazyLock::new(example);
    let seeds: Vec<&str> = SCENARIOS.iter().copied().chain([EXAMPLE.as_str()]).collect();
    let mut rng = Rng::stream(1, "scenario fuzz", case);
    let mut text = seeds[rng.below(seeds.len() as u64) as usize].to_string();
    for _ in 0..=rng.below(4) {
        text = mutate(&text, &mut rng);
    }
    text
}

/// The number of texts.
pub fn cases() -> u64 {
    std::env::var("KNEE_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(20_000)
}

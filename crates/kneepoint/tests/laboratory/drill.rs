// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Scripts of packetdrill: the scripts of `scripts/`, all of which pass on Linux 6.18 under packetdrill itself, and any text.
//!
//! `KNEE_FUZZ_CASES` sets the number of texts.

use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::path::Path;

use kneepoint::rng::Rng;
use kneepoint::tcp::script::{self, Kind, Outcome, Ticks};

use crate::common::mutations::{cases, mutate};

/// Every script of a folder by its name.
fn texts(folder: &str) -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let paths = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let script = |path: std::path::PathBuf| {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        (name, std::fs::read_to_string(&path).expect("text"))
    };
    paths.map(script).collect()
}

fn scripts() -> BTreeMap<String, String> {
    texts("scripts")
}

fn run(text: &str) -> Outcome {
    let script = script::parse(text).unwrap_or_else(|faults| panic!("{faults:?}"));
    script.run()
}

#[test]
fn the_host_passes_every_script() {
    let scripts = scripts();
    assert!(scripts.len() >= 20, "{} scripts", scripts.len());
    let found = scripts.iter().filter_map(|(name, text)| Some((name, run(text).difference?)));
    let wrong: Vec<String> = found.map(|(name, difference)| format!("{name}, {difference}")).collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Fourteen kinds of trouble, for Reno and for CUBIC: actions of a kernel's sender, which ours repeats within 4 ms.
/// `xtask fuzz-host` records
/// them.
#[test]
fn the_host_sends_what_linux_sent() {
    let records = texts("records");
    assert!(records.len() >= 24, "{} records", records.len());
    for (name, text) in &records {
        let ticks = Ticks::of(text).unwrap_or_else(|| panic!("{name} has no ticks"));
        let script = script::parse(text).unwrap_or_else(|faults| panic!("{name}: {faults:?}"));
        let outcome = script.ticking(ticks).recorded().run();
        assert!(outcome.passed, "{name}: {}", outcome.difference.expect("a difference"));
    }
}

/// A handshake with a host whose segments have 1000 bytes.
const OPENING: &str = include_str!("../opening.pkt");

/// Differences where these events follow a handshake.
fn difference(events: &str) -> script::Difference {
    let outcome = run(&format!("{OPENING}{events}"));
    assert!(!outcome.passed);
    outcome.difference.expect("a difference")
}

#[test]
fn a_packet_that_is_missing_other_or_late_is_shown_beside_what_the_script_expects() {
    let missing = difference("+0 write(4, ..., 2000) = 2000\n+0 > P. 1:3001(3000) ack 1\n");
    assert_eq!((missing.kind, missing.line), (Kind::Missing, 9));
    assert_eq!(missing.seen, "nothing from byte 2001 on until 0.104000 s");
    let other = difference("+0 write(4, ..., 2000) = 2000\n+0 > P. 1001:2001(1000) ack 1\n");
    assert_eq!((other.kind, other.seen.as_str()), (Kind::Other, "> . 1:2001(2000) at 0.100000 s"));
    let late = difference("+0 write(4, ..., 2000) = 2000\n+.05 > P. 1:2001(2000) ack 1\n");
    assert_eq!(late.kind, Kind::Time);
    assert_eq!(late.expected, "> . 1:2001(2000) at 0.150000 s, give or take 6.25 ms");
    let shown = late.to_string();
    let marked: Vec<&str> = shown.lines().filter(|line| line.starts_with('>')).collect();
    assert_eq!(marked.len(), 1, "{shown}");
    assert!(marked[0].contains("> P. 1:2001(2000) ack 1") && marked[0].contains("at 0.100000 s"), "{shown}");
}

#[test]
fn an_assertion_that_does_not_hold_is_shown_with_the_values_in_it() {
    let state = difference("+0 %{ cwnd = 11; assert tcpi_snd_cwnd == cwnd, tcpi_snd_cwnd }%\n");
    assert_eq!((state.kind, state.line), (Kind::State, 8));
    assert_eq!(state.expected, "tcpi_snd_cwnd == cwnd");
    assert_eq!(state.seen, "tcpi_snd_cwnd = 10, cwnd = 11");
}

#[test]
fn a_block_counts_for_its_whole_segments_and_a_line_may_end_behind_a_comma() {
    let blocks = "+0 write(4, ...,\n 4000) = 4000\n+0 > P. 1:4001 (4000) ack 1\n\
                  +.1 < . 1:1(0) ack 1 win 320 <sack 4000:4001,nop,nop>\n+0 %{ assert tcpi_sacked == 0 }%\n\
                  +0 < . 1:1(0) ack 1 win 320 <sack 1500:4000,nop,nop>\n+0 %{ assert tcpi_sacked == 1 }%\n";
    let outcome = run(&format!("{OPENING}{blocks}"));
    assert!(outcome.passed, "{}", outcome.difference.unwrap());
}

#[test]
fn assertions_are_those_of_python() {
    let hold = "+0 %{\nassert 9 < tcpi_snd_cwnd <= 10 and not tcpi_lost, 'cwnd=%d; # %s' % tcpi_snd_cwnd  # a remark\n\
                print(tcpi_snd_cwnd); x = -7 // 2\nx += 1; assert x == -3 and -7 % 3 == 2 or x / 0\n}%\n";
    let refused = script::parse(&format!("{OPENING}{hold}")).err().expect("a division that is not whole");
    assert!(refused[0].message.contains("found `/`"), "{refused:?}");
    let outcome = run(&format!("{OPENING}{}", hold.replace(" or x / 0", "")));
    assert!(outcome.passed, "{}", outcome.difference.unwrap());
}

#[test]
fn a_script_outside_the_subset_is_refused_at_its_place_with_a_remedy() {
    for (event, place, message, help) in [
        ("+0 write(4, ..., 2000) = 1000", "write(4", "does not take all its data", "= 2000"),
        ("+0 write(3, ..., 1000) = 1000", "write(3", "no connection", "`accept` returned"),
        ("+0 < . 1:1(0) ack 1501 win 9", "1501", "inside a segment", "write 1001 or 2001"),
        (
            "+0 < . 1:1(0) ack 3001 win 9 <sack 1500:2001,nop,nop>",
            "1500:2001",
            "the block is at byte 1500",
            "1001 or 2001",
        ),
        ("+0 < . 1:501(500) ack 1 win 9", "1:501(500)", "data to the host", "the script receives"),
        ("+0 < R. 1:1(0) ack 1 win 9\n+0 > . 1:1(0) ack 1", "+0 > .", "was reset", "end the script"),
        ("+0 > R. 1:1(0) ack 1", "+0 > R.", "a reset by the host", "resets nothing"),
        ("+0 < . 1:1(0) ack 1 <ECN e0b 1 cep 4,nop>", "cep", "expected `e0b`", "docs/drill.md"),
        ("--tcp_ts_tick_usecs=1", "--tcp_ts", "`1`", "1000"),
        ("+0 < . 1:2(0) ack 1 win 9", "1:2(0)", "not 0 bytes", "1:2(1)"),
        ("+0 > . 1:1501(1500) ack 1", "1:1501(1500)", "inside a segment", "whole segments"),
        (
            "+0 < . 1:1(0) ack 1 <sack 1:1001 2001:3001 4001:5001 6001:7001,nop,nop>",
            "6001:7001",
            "fourth block",
            "first three",
        ),
        ("+0 < icmp unreachable", "icmp", "packets of `icmp`", "TCP alone"),
        ("+0 read(4, ..., 1000) = 1000", "read", "`read` is outside", "only sends"),
        ("+0 setsockopt(4, SOL_TCP, TCP_CORK, [1], 4) = 0", "setsockopt", "`TCP_CORK`", "leave it out"),
        (
            "+0 %{ assert tcpi_cwnd == 1 }%",
            "tcpi_cwnd",
            "keeps no `tcpi_cwnd`",
            "did you mean `tcpi_snd_cwnd`",
        ),
        ("+0 %{ assert 1", "%{", "does not end", "`}%`"),
        ("`sysctl -q net.ipv4.tcp_reordring=3`", "sysctl", "`net.ipv4.tcp_reordring`", "`reordering`"),
        ("`reboot`", "reboot", "`reboot` is outside", "nothing is executed"),
        ("--toleranse_usecs=5", "--toleranse_usecs", "`--toleranse_usecs`", "`tolerance_usecs`"),
        ("--tolerance_usecs=-5", "--tolerance_usecs", "`-5`", "above zero"),
        ("+0 accept(3, ..., ...) = 5", "accept", "opens nothing", "once"),
        ("+0 < S 0:0(0) win 9 <mss 1000>", "+0 < S", "opens nothing", "one connection"),
        ("+x write(4, ..., 1000) = 1000", "x", "a time in seconds", "docs/drill.md"),
        ("+2~+1 > . 1:1001(1000) ack 1", "+2~+1", "ends before it begins", "earlier time first"),
    ] {
        let text = format!("{OPENING}{event}\n");
        let faults = script::parse(&text).err().unwrap_or_else(|| panic!("{event} is read"));
        let fault = &faults[0];
        let at = &text[fault.span.start..];
        assert!(at.starts_with(place), "{event}: {fault:?}");
        assert!(fault.message.contains(message), "{event}: {fault:?}");
        assert!(fault.help.as_deref().unwrap_or("").contains(help), "{event}: {fault:?}");
    }
}

/// A host with `tcp_ecn` = 3 that answers a SYN whose AE, CWR and ECE are set: its answer, and the acknowledgement of that.
fn accurate(syn: &str, answer: &str, last: &str) -> String {
    format!(
        "`sysctl -q net.ipv4.tcp_ecn=3`\n0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 bind(3, ..., ...) = 0\n\
         +0 listen(3, 1) = 0\n+0 < {syn} 0:0(0) win 9999 <mss 1000,sackOK,nop,nop>\n+0 > {answer} 0:0(0) ack 1 <...>\n\
         +.1 < {last} 1:1(0) ack 1 win 9999\n+0 accept(3, ..., ...) = 4\n"
    )
}

#[test]
fn a_host_with_accecn_negotiates_counts_and_gives_ecn_up_as_rfc_9768_has_it() {
    let counted = "+0 write(4, ..., 1600) = 1600\n+0 > [ect0] .5 1:1001(1000) ack 1\n+0 > [ect0] P.5 1001:1601(600) ack 1\n\
                   +.1 < .6 1:1(0) ack 1601 win 9999 <ECN e0b 1 ceb 1000,nop,nop,nop,nop>\n\
                   +0 %{ assert tcpi_delivered_ce == 1 and tcpi_delivered_ce_bytes == 1000 }%\n\
                   +0 write(4, ..., 1000) = 1000\n+0 > [ect0] EAP. 1601:2601(1000) ack 1\n";
    let marked = "+0 write(4, ..., 1000) = 1000\n+0 > [ect0] P.6 1:1001(1000) ack 1\n";
    let plain = "+0 write(4, ..., 1000) = 1000\n+0 > [noecn] P.5 1:1001(1000) ack 1\n";
    let classic = "+0 write(4, ..., 1000) = 1000\n+0 > [ect0] P. 1:1001(1000) ack 1\n";
    for (syn, answer, last, then) in [
        ("SEWA", "SW.", "[ect0] W.", counted),
        ("[ect0] SEWA", "SA.", "W.", counted),
        ("[ect1] SEWA", "SEW.", "W.", counted),
        ("[ce] SEWA", "SWA.", "W.", counted),
        // Reserved.
        ("SW", "SW.", "W.", counted),
        // The last acknowledgement was marked.
        ("SEWA", "SW.", "[ce] W.", marked),
        // It has no count, or the codepoint of the answer changed.
        ("SEWA", "SW.", ".", plain),
        ("SEWA", "SW.", "A.", plain),
        ("SEW", "SE.", ".", classic),
        ("S", "S.", ".", "+0 write(4, ..., 1000) = 1000\n+0 > [noecn] P. 1:1001(1000) ack 1\n"),
    ] {
        let outcome = run(&format!("{}{then}", accurate(syn, answer, last)));
        assert!(outcome.passed, "{syn}, {last}: {}", outcome.difference.unwrap());
    }
    // Another answer would be noticed.
    assert!(!run(&accurate("[ce] SEWA", "SW.", "W.")).passed);
    let wrong = counted.replace("EAP.", "WAP.");
    assert!(!run(&format!("{}{wrong}", accurate("SEWA", "SW.", "W."))).passed);
}

#[test]
fn every_fault_of_a_script_is_found_in_one_pass() {
    let text = format!("{OPENING}+0 recv(4, ..., 9, 0) = 9\n+0 < udp (100)\n+0 wirte(4, ..., 1000) = 1000\n");
    assert_eq!(script::parse(&text).err().expect("faults").len(), 3);
    let (before, after) = text.split_at(OPENING.len());
    assert_eq!(script::parse(after).err().expect("faults").len(), 3, "{before}");
    assert!(script::parse("").err().expect("a fault")[0].message.contains("no handshake"));
}

#[test]
fn the_tolerance_of_times_is_the_scripts() {
    let late = "+0 write(4, ..., 2000) = 2000\n+.05 > P. 1:2001(2000) ack 1\n";
    assert!(run(&format!("--tolerance_usecs=50000\n{OPENING}{late}")).passed);
    assert!(run(&format!("--tolerance_percent=100\n{OPENING}{late}")).passed);
    assert!(!run(&format!("{OPENING}{late}")).passed);
}

/// A script with a few random changes.
fn mutated(all: &[String], case: u64) -> String {
    let mut rng = Rng::stream(1, "script fuzz", case);
    let mut text = all[rng.below(all.len() as u64) as usize].clone();
    for _ in 0..=rng.below(3) {
        text = match rng.below(2) {
            0 => mutate(&text, &mut rng),
            _ => exchange(&text, &mut rng),
        };
    }
    text
}

/// The text with one number for another, or one line at another place.
fn exchange(text: &str, rng: &mut Rng) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    let [from, to] = [(); 2].map(|()| rng.below(lines.len().max(1) as u64) as usize);
    if lines.is_empty() {
        return String::new();
    }
    if rng.chance(0.5) {
        let line = lines.remove(from);
        lines.insert(to.min(lines.len()), line);
    } else {
        let numbers = ["0", "1", "1001", "4294967295", "99999999999", "2001:3001", "-1", "+.5", "*", "10000"];
        let mut words: Vec<&str> = lines[from].split(' ').collect();
        let at = rng.below(words.len() as u64) as usize;
        words[at] = numbers[rng.below(numbers.len() as u64) as usize];
        lines[from] = words.join(" ");
    }
    lines.join("\n")
}

#[test]
fn any_text_is_answered_with_an_outcome_or_with_faults_that_point_into_it() {
    let all: Vec<String> = scripts().into_values().collect();
    let (mut ran, mut refused) = (0u64, 0u64);
    let cases = cases();
    for case in 0..cases {
        let text = mutated(&all, case);
        let answer = catch_unwind(|| script::parse(&text).map(|script| script.run()));
        match answer.unwrap_or_else(|_| panic!("case {case} panics:\n{text}")) {
            Ok(outcome) => {
                assert_eq!(outcome.passed, outcome.difference.is_none());
                ran += 1;
            }
            Err(faults) => {
                assert!(!faults.is_empty());
                for fault in &faults {
                    assert!(text.get(fault.span.clone()).is_some(), "{fault:?}");
                    assert!(!fault.message.is_empty() && fault.help.as_deref() != Some(""), "{fault:?}");
                }
                refused += 1;
            }
        }
    }
    assert!(cases < 1000 || (ran > cases / 20 && refused > cases / 20), "{ran} ran, {refused} refused");
}

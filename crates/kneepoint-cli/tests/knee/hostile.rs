// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Malicious names: they have no effect in any format.

use super::*;

/// Names that a scenario accepts; some would act in one format, some in another.
const NAMES: [&str; 15] = [
    "=cmd|'/C calc'!A0",
    "+1+1",
    "-2+3",
    "@SUM(1+9)*cmd",
    "'=1+1",
    "[link](https://evil.example/)",
    "![image](http://evil.example/x.png)",
    "https://evil.example/ www.evil.example",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "*bold* `code` ~~gone~~ _em_ a|b \\",
    "\u{202e}gnp.exe \u{2066}x\u{2069}",
    "pay\u{ad}pal\u{200b}.com\u{2060}",
    "\u{fffe}\u{ffff}\u{1fffe}",
    "\"><svg onload='x'>&amp;",
];

/// A group's name has no dots, which separate the parts of a path.
fn of_group(name: &str) -> String {
    name.replace('.', "_")
}

fn scenario(name: &str) -> String {
    let [text, group] = [name.to_string(), of_group(name)].map(|one| Value::from(one).to_string());
    format!(
        "name = {text}\n[run]\nduration = \"2s\"\nsample = \"100ms\"\n[topology]\nkind = \"graph\"\n\
         [[link]]\nfrom = {text}\nto = \"b\"\nrate = \"1mbit\"\ndelay = \"5ms\"\n\
         [[flows]]\nname = {group}\ncc = \"reno\"\nfrom = {text}\nto = \"b\"\n"
    )
}

/// Every file below a directory, as text.
fn files(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let below = entries.flat_map(|entry| match entry.path() {
        path if path.is_dir() => files(&path),
        path => vec![(path.display().to_string(), std::fs::read(&path).unwrap())],
    });
    below.collect()
}

/// Characters that control a terminal, that change the direction of others, that are invisible, or that XML forbids.
fn acts(text: &str) -> bool {
    text.contains(|c: char| {
        (c.is_control() && !"\t\n".contains(c))
            || "\u{202e}\u{2066}\u{2069}\u{ad}\u{200b}\u{2060}\u{fffe}\u{ffff}".contains(c)
    })
}

/// Active syntax in Markdown, pages and pictures.
const MARKDOWN: [&str; 10] =
    ["(https:", "(http:", " https://", " http://", "www.evil", "<script", "<img", "<svg", "*bold*", "~~gone"];
const MARKUP: [&str; 3] = ["<script", "<img", "<svg onload"];

/// A text without the addresses of its links to the studio, which encode a scenario.
fn without_studio(text: &str) -> String {
    const BEGIN: &str = "(http://127.0.0.1:5633/#toml=";
    let mut parts = text.split(BEGIN);
    let mut rest = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let (address, behind) = part.split_once(')').expect("an end of the address");
        let inert = |sign: char| sign.is_ascii_alphanumeric() || "%-._~!$*+,;=:@/?".contains(sign);
        assert!(address.chars().all(inert), "{address}");
        rest += behind;
    }
    rest
}

/// The fault of a file of this kind; nothing if its names have no effect.
fn wrong_with(file: &str, text: &str) -> Option<String> {
    let first =
        |marks: &[&str], part: &str| marks.iter().find(|mark| part.contains(**mark)).map(ToString::to_string);
    match file.rsplit('.').next()? {
        "csv" => {
            let formula = |cell: &&str| cell.trim_start_matches('"').starts_with(['=', '+', '-', '@']);
            let cells = text.lines().flat_map(|line| line.split(','));
            cells.filter(formula).find(|cell| cell.parse::<f64>().is_err()).map(str::to_string)
        }
        // The scenario is between fences, unchanged.
        "md" => {
            let parts = text.split("\n```").step_by(2).map(without_studio);
            parts.filter_map(|part| first(&MARKDOWN, &part)).next()
        }
        "html" | "svg" => first(&MARKUP, text),
        _ => None,
    }
}

#[test]
fn a_name_is_a_name_in_every_format() {
    for name in NAMES {
        let here = tempfile::tempdir().unwrap();
        std::fs::write(here.path().join("s.toml"), scenario(name)).unwrap();
        let output = knee(here.path(), &["run", "s.toml", "--out", "o"]);
        assert!(output.status.success(), "{name}: {}", stderr(&output));
        for printed in [stdout(&output), stderr(&output)] {
            assert!(!acts(&printed), "{name}: {printed:?}");
        }
        let written = files(&here.path().join("o"));
        let mut kinds: Vec<&str> = written.iter().filter_map(|(file, _)| file.rsplit('.').next()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        assert!(["csv", "html", "md", "svg", "txt"].iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
        for (file, bytes) in &written {
            let Ok(text) = std::str::from_utf8(bytes) else { continue };
            assert_eq!(wrong_with(file, text), None, "{name}: {file}");
            if [".csv", ".html", ".md", ".svg", ".txt"].iter().any(|end| file.ends_with(end)) {
                assert!(!acts(text), "{name}: {file}");
            }
        }
        let told = json(&knee(here.path(), &["run", "s.toml", "--out", "o", "--json"]));
        let groups = &told["schemes"][0]["groups"];
        assert!(
            groups.to_string().contains(&Value::from(of_group(name)).to_string()),
            "JSON has the name itself: {groups}"
        );
    }
}

#[cfg(unix)]
#[test]
fn no_name_of_a_file_and_no_value_reaches_a_terminal_as_it_is() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let here = tempfile::tempdir().unwrap();
    let hostile: [&[u8]; 4] =
        [b"\x1b]0;owned\x07\x1b[31m", b"\xc2\x9b2J", "\u{202e}lmot".as_bytes(), b"\r\x08\x7f\xff\xfe"];
    for bytes in hostile {
        let [good, bad, gone] = [&b"good"[..], b"bad", b"gone"]
            .map(|head| OsStr::from_bytes(&[head, bytes, b".toml"].concat()).to_owned());
        std::fs::write(here.path().join(&good), SMALL).unwrap();
        // A value that is refused, and a syntax error, with the bytes in the source.
        let shown =
            String::from_utf8_lossy(bytes).replace(['\r', '\u{8}', '\u{7f}', '\u{1b}', '\u{7}'], "\u{9b}");
        std::fs::write(
            here.path().join(&bad),
            format!("name = \"x\"\n[topology]\nkind = \"{shown}\" # {shown}\n= 1\n"),
        )
        .unwrap();
        let capture = OsStr::from_bytes(&[bytes, b".pcap"].concat()).to_owned();
        std::fs::write(here.path().join(&capture), b"").unwrap();
        let words = |verb: &str, name: &OsStr, more: &[&str]| {
            let mut words = vec![OsStr::new(verb).to_owned(), name.to_owned()];
            words.extend(more.iter().map(|word| OsStr::new(word).to_owned()));
            words
        };
        let calls = [
            words("check", &good, &[]),
            words("check", &bad, &[]),
            words("check", &bad, &["--json"]),
            words("run", &gone, &[]),
            words("run", &good, &["--out", "o"]),
            words("run", &gone, &["--json"]),
            words("predict", &capture, &[]),
            words("reproduce", &bad, &[]),
            words("explain", OsStr::from_bytes(bytes), &[]),
            words("compare", OsStr::from_bytes(bytes), &["--dry-run"]),
            words("drill", &gone, &[]),
            words("no-such-verb", OsStr::from_bytes(bytes), &[]),
        ];
        for call in calls {
            let output = command(&[]).args(&call).current_dir(here.path()).output().unwrap();
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8(said).expect("UTF-8");
            assert!(!said.is_empty() && !acts(&said), "{call:?}: {said:?}");
        }
    }
}

const SMALL: &str = "[run]\nduration = \"1s\"\n[topology]\nkind = \"dumbbell\"\nrate = \"1mbit\"\nrtt = \"20ms\"\n[[flows]]\ncc = \"reno\"\n";

#[cfg(unix)]
#[test]
fn a_path_need_not_be_utf_8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let here = tempfile::tempdir().unwrap();
    let name = |head: &str, end: &str| {
        OsStr::from_bytes(&[head.as_bytes(), b"caf\xe9", end.as_bytes()].concat()).to_owned()
    };
    std::fs::write(here.path().join(name("", ".toml")), SMALL).unwrap();
    let experiment = include_str!("../../../../experiments/pert/fig13a.toml");
    std::fs::write(here.path().join(name("figure", ".toml")), experiment).unwrap();
    std::fs::write(here.path().join(name("sizes", ".csv")), "size_kb\n10\n20\n").unwrap();
    let word = |word: &str| OsStr::new(word).to_owned();
    let calls = [
        vec![word("check"), name("", ".toml"), name("figure", ".toml")],
        vec![
            word("run"),
            name("", ".toml"),
            word("--out"),
            name("out", ""),
            word("--store"),
            name("kept", ""),
        ],
        vec![word("reproduce"), name("figure", ".toml"), word("--quick"), word("--out"), name("r", "")],
        vec![word("predict"), name("", ".toml"), word("--out"), name("p", "")],
        vec![
            word("compare"),
            word("reno"),
            word("--duration"),
            word("2s"),
            word("--seeds"),
            word("1"),
            word("--out"),
            name("c", ""),
        ],
        vec![word("fluid"), word("run"), word("tcp-red"), word("--out"), name("f", "")],
        vec![word("init"), name("new", ".toml")],
        vec![word("man"), word("--out"), name("man", "")],
    ];
    for call in calls {
        let output = command(&[]).args(&call).current_dir(here.path()).output().unwrap();
        assert!(output.status.success(), "{call:?}: {}", stderr(&output));
    }
    for there in [
        name("out", "/report.html"),
        name("kept", ""),
        name("r", "/report.html"),
        name("p", "/report.md"),
        name("c", "/report.md"),
    ] {
        assert!(here.path().join(&there).exists(), "{there:?}");
    }
}

#[test]
fn what_makes_no_sense_twice_is_refused_with_what_it_is() {
    let here = tempfile::tempdir().unwrap();
    std::fs::write(here.path().join("s.toml"), SMALL).unwrap();
    let mut calls: Vec<(&[&str], &[&str])> = vec![
        (&["markov", "--protocols", "tcp,tcp"], &["--protocols:", "given twice"]),
        (&["markov", "--backlogs", "1,1"], &["--backlogs:", "given twice"]),
        (&["compare", "reno", "reno", "--dry-run"], &["`reno` is given twice"]),
        (&["coexist", "reno", "reno", "--dry-run"], &["given twice"]),
        (&["run", "s.toml", "--seeds", "1", "--seeds", "2"], &["cannot be used multiple times"]),
    ];
    if cfg!(target_os = "linux") {
        calls.extend([
            (
                &["emulate", "--between", "x", "x", "--delay", "1ms"][..],
                &["--between: `x` is named twice", "name two network namespaces"][..],
            ),
            (
                &["emulate", "--bridge", "x", "x", "--delay", "1ms"],
                &["--bridge: `x` is named twice", "frames of a single one would circulate"],
            ),
            (&["emulate", "--bridge", "a", "b", "--bridge", "c", "d"], &["cannot be used multiple times"]),
            (&["emulate", "--between", "a", "b", "--between", "c", "d"], &["cannot be used multiple times"]),
            (
                &["emulate", "--rate", "1mbit", "--up", "rate=1mbit,rate=2mbit", "--", "true"],
                &["`rate` is given twice"],
            ),
            (&["live", "s.toml", "--cc-map", "reno=cubic,reno=bbr"], &["--cc-map: `reno` is given twice"]),
        ]);
    }
    for (call, sayings) in calls {
        assert_refuses(&knee(here.path(), call), 2, sayings);
    }
}

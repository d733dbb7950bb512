// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee gate`: files, exit statuses, machine-readable output, and the example repository.

use super::documented::assert_defined;
use super::*;
use kneepoint::report::output;

/// A case of one second, in which the subject has the link for itself.
const CASE: &str = "[experiment]\nid = 'own-alone'\ntitle = 'Alone'\nsource = 'Nobody, nowhere'\nquote = 'It sends.'\n\
    [run]\nduration = '3s'\nmeasure = '1s..3s'\nseeds = 2\n[topology]\nkind = 'dumbbell'\nrate = '5mbit'\nrtt = '20ms'\n\
    [[flows]]\nname = 'subject'\ncc = 'subject'\nstart = '0s..100ms'\n[quick]\nseeds = 1\n\
    [[claim]]\nid = 'used'\ntext = 'The link is used.'\ncheck = 'utilization >= 0.5'\n\
    [[claim]]\nid = 'each'\ntext = 'Its group, too.'\ncheck = 'goodput_bps > 1e6'\neach = 'group'\n\
    [[claim]]\nid = 'paths'\ntext = 'Several paths.'\nreason = 'There is one.'\n";

/// A repository with a gate of this case for this subject.
fn repository(subject: &str, more: &str) -> tempfile::TempDir {
    let here = tempfile::tempdir().unwrap();
    let gate = format!("subject = \"{subject}\"\nsuites = [\"case.toml\"]\n{more}");
    std::fs::write(here.path().join("gate.toml"), gate).unwrap();
    std::fs::write(here.path().join("case.toml"), CASE).unwrap();
    here
}

fn status(output: &Output) -> Option<i32> {
    output.status.code()
}

#[test]
fn init_writes_a_gate_and_a_workflow_once() {
    let here = tempfile::tempdir().unwrap();
    let first = knee(here.path(), &["gate", "init", "--subject", "pert"]);
    assert!(first.status.success(), "{}", stderr(&first));
    let gate = std::fs::read_to_string(here.path().join("gate.toml")).unwrap();
    assert!(gate.contains("subject = \"pert\"") && gate.contains("bbr-draft"), "{gate}");
    let workflow = std::fs::read_to_string(here.path().join(".github/workflows/gate.yml")).unwrap();
    assert!(workflow.contains("run: knee gate run") && !workflow.contains("--build-uml"), "{workflow}");
    assert_refuses(&knee(here.path(), &["gate", "init"]), 2, &["exists already and was not changed"]);
    assert_refuses(&knee(here.path(), &["gate", "init", "x", "--subject", "pret"]), 2, &["pret"]);
    assert!(!here.path().join("x").exists());
    #[cfg(target_os = "linux")]
    {
        assert!(knee(here.path(), &["gate", "init", "kernel", "--subject", "linux-cubic"]).status.success());
        let kernel = std::fs::read_to_string(here.path().join("kernel/.github/workflows/gate.yml")).unwrap();
        assert!(kernel.contains("knee doctor --build-uml"), "{kernel}");
    }
    let told = json(&knee(here.path(), &["gate", "init", "other", "--json"]));
    assert_defined(output::document("Gate files").unwrap(), &[told]);
}

#[test]
fn a_gate_that_would_lose_a_file_or_test_nothing_is_refused() {
    let here = repository("cubic", "");
    let refused = |more: &[&str], words: &[&str]| {
        assert_refuses(&knee(here.path(), &[&["gate", "run"], more].concat()), 2, words);
    };
    let before = std::fs::read_to_string(here.path().join("gate.toml")).unwrap();
    refused(&["--junit", "gate.toml"], &["--junit is `gate.toml`, which the gate reads"]);
    assert_eq!(std::fs::read_to_string(here.path().join("gate.toml")).unwrap(), before);
    refused(&["--junit", "x", "--sarif", "./x"], &["--junit and --sarif are the same file"]);
    std::fs::write(here.path().join("a.toml"), TWICE).unwrap();
    std::fs::write(here.path().join("b.toml"), TWICE).unwrap();
    refused(&["--suite", "a.toml,b.toml"], &["two cases of the suites are called `own-twice`"]);
    std::fs::write(here.path().join("gate.toml"), "subject = \"cubic\"\nsuites = \"none\"\n").unwrap();
    refused(&[], &["the gate has no case to test"]);
}

/// A case, which two files have.
const TWICE: &str = "[experiment]\nid = 'own-twice'\ntitle = 'One flow'\nsource = 'Ours, section 1'\nquote = 'The link is used.'\n\
     [run]\nduration = '6s'\nmeasure = '2s..6s'\nseeds = 1\n[topology]\nkind = 'dumbbell'\nrate = '10mbit'\nrtt = '40ms'\n\
     [[flows]]\nname = 'subject'\ncc = 'subject'\n\
     [[claim]]\nid = 'used'\ntext = 'The link is used.'\ncheck = 'utilization >= 0.5'\ntolerance = 'ours'\n";

#[test]
fn a_gate_passes_fails_when_a_number_moves_and_passes_again_when_it_is_accepted() {
    let here = repository("cubic", "");
    let run = |more: &[&str]| knee(here.path(), &[&["gate", "run"], more].concat());
    assert_eq!(status(&run(&[])), Some(0));
    let accepted = knee(here.path(), &["gate", "accept"]);
    assert!(
        accepted.status.success() && stderr(&accepted).contains("wrote gate.json"),
        "{}",
        stderr(&accepted)
    );
    assert_eq!(status(&run(&[])), Some(0));
    // As if a slower one had been accepted.
    let kept = here.path().join("gate.json");
    let before = std::fs::read_to_string(&kept).unwrap();
    let slower = before.replace("\"left\": 1.0", "\"left\": 0.7");
    assert_ne!(before, slower);
    std::fs::write(&kept, &slower).unwrap();
    let moved = run(&["--junit", "gate.xml", "--sarif", "gate.sarif", "--markdown", "report/gate.md"]);
    assert_eq!(status(&moved), Some(1), "{}", stderr(&moved));
    assert!(stdout(&moved).contains("own-alone used: moved"), "{}", stdout(&moved));
    let read = |name: &str| std::fs::read_to_string(here.path().join(name)).unwrap();
    assert!(read("gate.xml").contains("<failure type=\"moved\""));
    assert!(read("gate.sarif").contains("\"ruleId\": \"own-alone.used\""));
    assert!(read("report/gate.md").contains("](figures/moved-own-alone.svg)"));
    assert!(read("report/figures/moved-own-alone.svg").starts_with("<svg"));
    assert!(knee(here.path(), &["gate", "accept"]).status.success());
    assert_eq!(read("gate.json"), before);
}

#[test]
fn a_gate_tells_github_and_says_where_it_could_not_judge() {
    let here = repository(
        "cubic",
        "[[threshold]]\ncase = \"own-alone\"\nclaim = \"used\"\ncheck = \"utilization >= 1.5\"\n",
    );
    let github = |arguments: &[&str]| {
        let mut command = command(arguments);
        command.env("GITHUB_ACTIONS", "true").env("GITHUB_STEP_SUMMARY", here.path().join("summary.md"));
        command.current_dir(here.path()).output().unwrap()
    };
    let failed = github(&["gate", "run", "--quick"]);
    assert_eq!(status(&failed), Some(1), "{}", stderr(&failed));
    assert!(
        stdout(&failed).starts_with("::error file=gate.toml,title=own-alone used%3A failed::"),
        "{}",
        stdout(&failed)
    );
    assert!(std::fs::read_to_string(here.path().join("summary.md")).unwrap().starts_with("# Gate of cubic"));
    let nowhere = tempfile::tempdir().unwrap();
    assert_refuses(&knee(nowhere.path(), &["gate", "run"]), 2, &["gate.toml", "knee gate init"]);
    let wrong = knee(here.path(), &["gate", "run", "reno", "--suite", "rfc9734"]);
    assert_refuses(&wrong, 2, &["did you mean `rfc9743`?"]);
    std::fs::write(here.path().join("gate.json"), "{}").unwrap();
    assert_refuses(&github(&["gate", "run"]), 2, &["gate.json", "no baseline"]);
}

#[test]
fn what_is_nearly_the_name_of_something_is_not_taken_for_something_new() {
    let threshold = "[[threshold]]\ncase = \"own-alone\"\nclaim = \"usde\"\ncheck = \"utilization >= 0.1\"\n";
    let here = repository("cubic", threshold);
    assert_refuses(&knee(here.path(), &["gate", "run"]), 2, &["no claim `usde`", "did you mean `used`?"]);
    let twice = knee(here.path(), &["gate", "run", "reno", "--suite", "interop,interop"]);
    assert_refuses(&twice, 2, &["`interop` is among the suites twice"]);
    let nowhere = repository("cubic", "");
    let words = ["gate", "run", "--baseline", "gaet.json"];
    assert_refuses(&knee(nowhere.path(), &words), 2, &["no baseline `gaet.json`", "knee gate accept"]);
}

#[test]
fn a_scheme_is_held_against_another_by_the_same_seeds() {
    let here = repository("cubic", "against = \"cubic\"\nmargin = 0.0\n");
    let equal = knee(here.path(), &["gate", "run"]);
    assert_eq!(status(&equal), Some(0), "{}{}", stdout(&equal), stderr(&equal));
    // Reno fills the link a little later.
    let other = knee(here.path(), &["gate", "run", "reno", "--against", "cubic"]);
    let told = stdout(&other);
    assert_eq!(status(&other), Some(1), "{told}");
    assert!(told.contains("Subject: reno against cubic"), "{told}");
}

#[test]
fn the_answer_of_a_gate_has_the_keys_that_are_defined_and_the_same_bytes_each_time() {
    let here = repository("cubic", "against = \"reno\"\n");
    let run = || knee(here.path(), &["gate", "run", "--json", "--fresh"]);
    let told = |output: &Output| -> Value { serde_json::from_slice(&output.stdout).expect("JSON") };
    let (mut one, mut other) = (told(&run()), told(&run()));
    assert_defined(output::document("Gate").unwrap(), &[one.clone()]);
    for answer in [&mut one, &mut other] {
        answer["manifest"]["created"] = Value::Null;
    }
    assert_eq!(one, other);
}

/// The commands of the example's workflow, in a copy of the example.
#[test]
fn the_example_repository_passes_its_own_gate() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/gate");
    let here = tempfile::tempdir().unwrap();
    for name in ["gate.toml", "gate.json", "cases/upload.toml"] {
        let to = here.path().join(name);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(root.join(name), to).unwrap();
    }
    let workflow = std::fs::read_to_string(root.join(".github/workflows/gate.yml")).unwrap();
    assert!(knee(here.path(), &["gate", "init", "new"]).status.success());
    let written = std::fs::read_to_string(here.path().join("new/.github/workflows/gate.yml")).unwrap();
    assert_eq!(workflow, written);
    let line =
        workflow.lines().find_map(|line| line.trim().strip_prefix("run: knee gate run")).expect("a gate");
    for pace in ["", "--quick"] {
        let words: Vec<&str> = ["gate", "run"]
            .into_iter()
            .chain(line.split_whitespace())
            .chain(pace.split_whitespace())
            .collect();
        let gate = knee(here.path(), &words);
        assert_eq!(status(&gate), Some(0), "{}{}", stdout(&gate), stderr(&gate));
        assert!(!stdout(&gate).contains("no accepted outcome"), "{}", stdout(&gate));
    }
    for name in ["gate.xml", "gate.sarif", "gate/gate.md"] {
        assert!(here.path().join(name).is_file(), "{name}");
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The commands of the book work as written, from the first to the last of a page.
//!
//! A block of commands that no test runs says why after `sh`, by one of [`REASONS`]; `commands.rs` checks its words nevertheless.

use std::path::PathBuf;

use super::*;

const RECIPES: &str = include_str!("../../../../docs/recipes.md");

/// The reason why a block of commands is not run.
const REASONS: [(&str, &str); 8] = [
    ("long", "takes minutes"),
    ("root", "needs root, and is run by the recipes where there is root"),
    ("programs", "needs programs, files or machines that may not be there"),
    ("build", "compiles the sources"),
    ("release", "needs the files of a release"),
    ("repository", "needs a checkout as its working directory"),
    ("status", "ends with its own status, and is run by its own test"),
    ("results", "reads what earlier commands of the reader have written"),
];

/// A block of commands.
pub struct Block {
    /// The words after `sh`.
    pub reason: String,
    /// The lines.
    pub text: String,
}

/// The blocks of commands of a page.
pub fn blocks(page: &str) -> Vec<Block> {
    let block = |part: &str| {
        let (info, rest) = part.split_once('\n')?;
        let text = rest.split("\n```").next()?;
        Some(Block { reason: info.trim().to_string(), text: format!("{text}\n") })
    };
    format!("\n{page}").split("\n```sh").skip(1).filter_map(block).collect()
}

/// The files that commands of a page write by `cat > NAME <<'END'`.
pub fn documents(page: &str) -> Vec<(String, String)> {
    let document = |part: &str| {
        let (name, rest) = part.split_once(" <<'END'\n")?;
        let text = rest.split("\nEND\n").next()?;
        Some((name.to_string(), format!("{text}\n")))
    };
    let texts = blocks(page).into_iter().map(|block| block.text).collect::<String>();
    texts.split("cat > ").skip(1).filter_map(document).collect()
}

/// Runs lines of a shell, in which `knee` is the program under test. `sudo` is left out: the test has the rights
/// already or is skipped.
fn shell(here: &Path, lines: &str) -> Output {
    let binary = Path::new(env!("CARGO_BIN_EXE_knee")).parent().expect("a folder").display().to_string();
    let path = format!("{binary}:{}", std::env::var("PATH").unwrap_or_default());
    let lines = lines.replace("sudo knee", "knee");
    let mut command = Command::new("sh");
    command.args(["-ec", &lines]).env("PATH", path).current_dir(here).stdin(Stdio::null());
    command.output().expect("a shell")
}

/// The pages of the book with their names.
pub fn pages() -> Vec<(String, String)> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for path in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path())
        {
            match path.is_dir() {
                true => walk(&path, found),
                false if path.extension().is_some_and(|end| end == "md") => found.push(path),
                false => {}
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = vec![root.join("README.md")];
    walk(&root.join("docs"), &mut found);
    found.sort();
    let name = |path: &Path| path.strip_prefix(&root).expect("within").display().to_string();
    found.iter().map(|path| (name(path), std::fs::read_to_string(path).expect("a page"))).collect()
}

#[test]
fn every_block_of_commands_is_run_or_says_why_not() {
    let mut faults = Vec::new();
    for (name, page) in pages() {
        for block in blocks(&page) {
            let known = REASONS.iter().any(|(reason, _)| *reason == block.reason);
            if !block.reason.is_empty() && !known {
                faults.push(format!("{name}: `{}` is not a reason; those are {REASONS:?}", block.reason));
            }
        }
        // A block without a language is for output, equations and files.
        let plain = format!("\n{page}");
        let plain = plain.split("\n```").skip(1).step_by(2).filter_map(|part| part.strip_prefix('\n'));
        for text in plain.filter(|text| ["knee ", "sudo knee "].iter().any(|verb| text.starts_with(verb))) {
            faults.push(format!("{name}: a block of commands without `sh`: {text}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_commands_of_each_page_run_in_their_order() {
    // The recipes have their own test, which reads their output, too.
    let run = |name: &str| name != "docs/recipes.md";
    let mut pages_run = 0;
    for (name, page) in pages().iter().filter(|(name, _)| run(name)) {
        let lines: String = blocks(page)
            .into_iter()
            .filter(|block| block.reason.is_empty())
            .map(|block| block.text)
            .collect();
        if lines.is_empty() {
            continue;
        }
        pages_run += 1;
        let here = super::commands::workplace();
        let output = shell(here.path(), &lines);
        assert!(output.status.success(), "{name}:\n{lines}\n{}{}", stdout(&output), stderr(&output));
    }
    assert!(pages_run >= 12, "{pages_run} pages have commands that run");
}

/// A section of the recipes: its heading, its commands, and the words to look for.
struct Recipe {
    question: &'static str,
    block: Block,
    words: Vec<&'static str>,
}

fn recipes() -> Vec<Recipe> {
    let recipe = |section: &'static str| {
        let (question, rest) = section.split_once('\n').expect("a heading");
        let block = blocks(rest).into_iter().next().expect("commands");
        let look = rest.split("Look for").nth(1).expect("what to look for");
        let sentence = look.split([':', '.']).next().expect("a sentence");
        Recipe { question, block, words: sentence.split('`').skip(1).step_by(2).collect() }
    };
    RECIPES.split("\n## ").skip(1).map(recipe).collect()
}

/// Whether the commands of a recipe can run here; a message says if not.
fn can_run(recipe: &Recipe) -> bool {
    if recipe.block.reason != "root" {
        return true;
    }
    let found = json(&command(&["doctor", "--json"]).output().expect("knee starts"));
    let has = |name: &str| {
        found["findings"]
            .as_array()
            .is_some_and(|all| all.iter().any(|one| one["name"] == name && one["available"] == true))
    };
    let able = ["root", "network namespaces", "TUN devices"].into_iter().all(has);
    if !able {
        say(&format!("SKIPPED, no root or no TUN device: {}", recipe.question));
    }
    able
}

#[test]
fn every_recipe_runs_and_names_words_of_its_output() {
    let recipes = recipes();
    assert_eq!(recipes.len(), 16);
    for recipe in recipes.iter().filter(|recipe| can_run(recipe)) {
        let here = tempfile::tempdir().unwrap();
        let output = shell(here.path(), &recipe.block.text);
        assert!(carried(&output), "{}\n{}{}", recipe.question, recipe.block.text, stderr(&output));
        assert!(!recipe.words.is_empty(), "{}", recipe.question);
        for word in &recipe.words {
            let said = stdout(&output);
            assert!(said.contains(word), "{}: `{word}` is missing from:\n{said}", recipe.question);
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_page_of_the_command_line_is_that_of_the_verbs() {
    let here = tempfile::tempdir().unwrap();
    let page = stdout(&knee(here.path(), &["man", "--markdown"]));
    let pages = pages();
    let (_, committed) =
        pages.iter().find(|(name, _)| name == "docs/reference/command-line.md").expect("the page");
    assert!(page == *committed, "docs/reference/command-line.md is out of date: `make docs` renews it");
}

#[test]
fn the_version_has_revision_features_and_target() {
    let said = stdout(&command(&["--version"]).output().expect("knee starts"));
    let lines: Vec<&str> = said.lines().collect();
    let begin = format!("knee {} (", env!("CARGO_PKG_VERSION"));
    assert!(lines[0].starts_with(&begin) && lines[0].ends_with(')'), "{said}");
    assert!(lines[1].starts_with("features: ") && lines[2].starts_with("target: "), "{said}");
    assert_eq!(lines[1].contains("bpf"), cfg!(feature = "bpf"), "{said}");
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The recipes of the book work as they are written.

use super::*;

const PAGE: &str = include_str!("../../../../docs/recipes.md");

/// A section of the page: its heading, its commands, and the words to look for.
struct Recipe<'p> {
    question: &'p str,
    commands: Vec<&'p str>,
    words: Vec<&'p str>,
}

fn recipes() -> Vec<Recipe<'static>> {
    let recipe = |section: &'static str| {
        let (question, rest) = section.split_once('\n').expect("a heading");
        let (commands, told) =
            rest.split_once("```sh\n").and_then(|(_, rest)| rest.split_once("```")).expect("commands");
        let look = told.split("Look for").nth(1).expect("what to look for");
        let sentence = look.split([':', '.']).next().expect("a sentence");
        Recipe {
            question,
            commands: commands.lines().collect(),
            words: sentence.split('`').skip(1).step_by(2).collect(),
        }
    };
    PAGE.split("\n## ").skip(1).map(recipe).collect()
}

/// Whether the commands of a recipe can run here; if not, says so.
fn can_run(recipe: &Recipe) -> bool {
    let needs_root = recipe.commands.iter().any(|command| command.starts_with("sudo "));
    let found = json(&command(&["doctor", "--json"]).output().expect("knee starts"));
    let has = |name: &str| {
        found["findings"]
            .as_array()
            .is_some_and(|all| all.iter().any(|one| one["name"] == name && one["available"] == true))
    };
    let able = ["root", "network namespaces", "TUN devices"].into_iter().all(has);
    if needs_root && !able {
        eprintln!("SKIPPED, no root or no TUN device: {}", recipe.question);
    }
    !needs_root || able
}

#[test]
fn every_recipe_runs_and_says_what_to_look_for() {
    let recipes = recipes();
    assert_eq!(recipes.len(), 10);
    let binary = Path::new(env!("CARGO_BIN_EXE_knee")).parent().expect("a folder").display().to_string();
    let path = format!("{binary}:{}", std::env::var("PATH").unwrap_or_default());
    for recipe in recipes.iter().filter(|recipe| can_run(recipe)) {
        let here = tempfile::tempdir().unwrap();
        let mut said = String::new();
        for line in &recipe.commands {
            let line = line.trim_start_matches("sudo ");
            let output = Command::new("sh")
                .args(["-c", line])
                .env("PATH", &path)
                .current_dir(here.path())
                .output()
                .unwrap();
            assert!(output.status.success(), "{}\n{line}\n{}", recipe.question, stderr(&output));
            said += &stdout(&output);
        }
        assert!(!recipe.words.is_empty(), "{}", recipe.question);
        for word in &recipe.words {
            assert!(said.contains(word), "{}: `{word}` is missing from:\n{said}", recipe.question);
        }
    }
}

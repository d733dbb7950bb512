// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The sources of the core as a build script sees them: code without comments and tests, and the references between
//! files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Code by its path below `src`. Both crates of the core share one tree, as they do in `crate::`.
pub type Sources = BTreeMap<String, String>;

/// Reads the sources of crates.
pub fn read(roots: &[PathBuf]) -> io::Result<Sources> {
    fn walk(folder: &Path, place: &str, found: &mut Sources) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                walk(&path, &format!("{place}{name}/"), found)?;
            } else if name.ends_with(".rs") {
                found.insert(format!("{place}{name}"), code(&fs::read_to_string(&path)?));
            }
        }
        Ok(())
    }
    let mut found = Sources::new();
    for root in roots {
        walk(&root.join("src"), "", &mut found)?;
    }
    // The roots of the crates only name their rooms.
    found.remove("lib.rs");
    Ok(found)
}

/// The code that the compiler turns into a program: no comments, no tests, no declarations of modules.
fn code(text: &str) -> String {
    let mut lines = text.lines().peekable();
    let mut kept = String::new();
    while let Some(line) = lines.next() {
        let is_test = |next: &&str| next.ends_with("mod tests {");
        if line == "#[cfg(test)]" && lines.peek().is_some_and(is_test) {
            lines.by_ref().find(|inside| *inside == "}");
            continue;
        }
        let trimmed = line.trim();
        if !trimmed.is_empty() && !trimmed.starts_with("//") && declared(trimmed).is_none() {
            kept += line;
            kept.push('\n');
        }
    }
    kept
}

/// The module that a line declares in its own file.
fn declared(line: &str) -> Option<&str> {
    let (visibility, name) = line.strip_suffix(';')?.split_once("mod ")?;
    (visibility.is_empty() || visibility.starts_with("pub")).then_some(name)
}

/// The path of a file as a module: `cc/response/mod.rs` is `cc`, `response`.
pub fn module(path: &str) -> Vec<&str> {
    let stem = path.trim_end_matches(".rs");
    stem.strip_suffix("/mod").unwrap_or(stem).split('/').collect()
}

/// The files to which the code of `path` refers.
pub fn referred(sources: &Sources, path: &str) -> BTreeSet<String> {
    let own = module(path);
    let mut files = BTreeSet::new();
    for written in sources.get(path).map(|code| paths(code)).unwrap_or_default() {
        let mut at: Vec<&str> = match written[0].as_str() {
            "crate" | "kneepoint_cc" => Vec::new(),
            "super" | "self" => own.clone(),
            _ => own.iter().copied().chain([written[0].as_str()]).collect(),
        };
        files.extend(file(sources, &at));
        if written[0] == "super" {
            at.pop();
            files.extend(file(sources, &at));
        }
        for name in &written[1..] {
            match name.as_str() {
                "super" => drop(at.pop()),
                name => at.push(name),
            }
            files.extend(file(sources, &at));
        }
    }
    files.remove(path);
    files
}

/// The file of a module, if there is one.
fn file(sources: &Sources, module: &[&str]) -> Option<String> {
    let stem = module.join("/");
    [format!("{stem}.rs"), format!("{stem}/mod.rs")].into_iter().find(|path| sources.contains_key(path))
}

/// Every path in the code, with the groups of `use` written out: `a::{b, c::d}` is `a::b` and `a::c::d`.
fn paths(code: &str) -> Vec<Vec<String>> {
    let tokens = tokens(code);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if is_name(&tokens[at]) && tokens.get(at + 1).is_some_and(|next| next == "::") {
            at = tree(&tokens, at, &[], &mut found);
        } else {
            at += 1;
        }
    }
    found
}

/// Reads the path that begins at `at` and follows `before`; returns the place after it.
fn tree(tokens: &[String], mut at: usize, before: &[String], found: &mut Vec<Vec<String>>) -> usize {
    let mut path = before.to_vec();
    while tokens.get(at).is_some_and(|token| is_name(token)) {
        path.push(tokens[at].clone());
        at += 1;
        if tokens.get(at).is_none_or(|next| next != "::") {
            break;
        }
        at += 1;
    }
    if at > 0 && tokens[at - 1] == "::" && tokens.get(at).is_some_and(|token| token == "{") {
        at += 1;
        while tokens.get(at).is_some_and(|token| token != "}") {
            at = if is_name(&tokens[at]) { tree(tokens, at, &path, found) } else { at + 1 };
        }
        at += 1;
    }
    if !path.is_empty() {
        found.push(path);
    }
    at
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Names, `::` and other characters.
fn tokens(code: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            _ if first.is_alphanumeric() || first == '_' => {
                rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len())
            }
            ':' if rest.starts_with("::") => 2,
            _ => first.len_utf8(),
        };
        if !first.is_whitespace() {
            tokens.push(rest[..length].to_string());
        }
        rest = &rest[length..];
    }
    tokens
}

/// The versions of everything that a package of a lock file depends on.
pub fn locked(lock: &str, package: &str) -> Vec<String> {
    let value = |block: &str, key: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
        line.unwrap_or_default().trim_matches('"').to_string()
    };
    let blocks: Vec<&str> = lock.split("[[package]]").collect();
    let mut wanted = vec![package.to_string()];
    let mut met = BTreeSet::new();
    while let Some(name) = wanted.pop() {
        for block in blocks.iter().filter(|block| value(block, "name") == name) {
            if met.insert(format!("{name} {}", value(block, "version"))) {
                let list = block.split("dependencies = [").nth(1).unwrap_or_default();
                let names = list.lines().filter_map(|line| line.trim().strip_prefix('"'));
                wanted.extend(names.filter_map(|line| Some(line.split([' ', '"']).next()?.to_string())));
            }
        }
    }
    met.into_iter().collect()
}

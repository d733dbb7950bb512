// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Fingerprints on copies of the sources: a newcomer makes no kept run stale, and a change of a helper does.

#[path = "../../build/fingerprint.rs"]
mod fingerprint;
#[path = "../../src/study/hash.rs"]
mod hash;
#[path = "../../build/sources.rs"]
mod sources;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use fingerprint::Prints;

/// The crates of the core, copied.
struct Copy(PathBuf);

impl Copy {
    fn new(name: &str) -> Copy {
        fn copy(from: &Path, to: &Path) {
            fs::create_dir_all(to).expect("a folder");
            for entry in fs::read_dir(from).expect("a readable folder") {
                let entry = entry.expect("a readable entry");
                let to = to.join(entry.file_name());
                if entry.path().is_dir() {
                    copy(&entry.path(), &to);
                } else {
                    fs::copy(entry.path(), to).expect("a copy");
                }
            }
        }
        let core = Path::new(env!("CARGO_MANIFEST_DIR"));
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fingerprint").join(name);
        let _ = fs::remove_dir_all(&home);
        for part in ["kneepoint-cc", "kneepoint-sim", "kneepoint"] {
            copy(&core.join("..").join(part).join("src"), &home.join(part).join("src"));
        }
        Copy(home)
    }

    fn prints(&self) -> Prints {
        let roots = ["kneepoint-cc", "kneepoint-sim", "kneepoint"].map(|part| self.0.join(part));
        fingerprint::of(&sources::read(&roots).expect("readable sources"), &["libm 0.2.16".to_string()])
    }

    fn file(&self, path: &str) -> PathBuf {
        self.0.join(path)
    }

    fn edit(&self, path: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.file(path)).expect("a file");
        assert!(text.contains(from), "{path} has no `{from}`");
        fs::write(self.file(path), text.replacen(from, to, 1)).expect("a file to write");
    }

    fn append(&self, path: &str, text: &str) {
        let before = fs::read_to_string(self.file(path)).expect("a file");
        fs::write(self.file(path), before + text).expect("a file to write");
    }
}

/// The algorithms, as `family/name`, whose fingerprints differ.
fn changed(before: &Prints, after: &Prints) -> BTreeSet<String> {
    let differs = |(key, print): &(&(String, String), &String)| after.algorithms.get(*key) != Some(*print);
    before.algorithms.iter().filter(differs).map(|((family, name), _)| format!("{family}/{name}")).collect()
}

#[test]
fn a_new_controller_with_a_helper_of_its_own_leaves_all_others_as_they_are() {
    let copy = Copy::new("newcomer");
    let before = copy.prints();
    fs::write(copy.file("kneepoint-cc/src/cc/toy.rs"), include_str!("stranger/toy.rs.txt")).expect("a file");
    copy.append("kneepoint-cc/src/cc/toy.rs", "use super::abacus::Abacus;\n");
    fs::write(copy.file("kneepoint-cc/src/cc/abacus.rs"), "pub struct Abacus;\n").expect("a file");
    copy.edit("kneepoint-cc/src/cc/mod.rs", "algorithms {", "algorithms {\n        toy::Toy as \"toy-one\",");
    copy.edit("kneepoint-cc/src/cc/mod.rs", "mod window;", "mod abacus;\nmod window;");
    let after = copy.prints();
    assert_eq!(before.engine, after.engine);
    assert_eq!(changed(&before, &after), BTreeSet::new());
    assert!(after.algorithms.contains_key(&("cc".into(), "toy-one".into())));
    assert_eq!(after.algorithms.len(), before.algorithms.len() + 1);
}

#[test]
fn a_change_of_a_helper_changes_those_that_use_it_and_no_others() {
    let copy = Copy::new("assistant");
    let before = copy.prints();
    copy.append("kneepoint-cc/src/cc/window.rs", "pub fn more() {}\n");
    let after = copy.prints();
    assert_eq!(before.engine, after.engine);
    let changed = changed(&before, &after);
    for user in ["cc/reno", "cc/pert", "cc/pert-pi"] {
        assert!(changed.contains(user), "{user} uses the window: {changed:?}");
    }
    for other in ["cc/copa", "cc/ledbat", "queue/red", "predict/vegas"] {
        assert!(!changed.contains(other), "{other} does not use the window: {changed:?}");
    }
}

#[test]
fn an_algorithm_answers_for_its_folder_and_for_the_algorithms_it_builds_on() {
    let copy = Copy::new("parts");
    let before = copy.prints();
    copy.append("kneepoint-cc/src/cc/bbr3/bounds.rs", "pub fn more() {}\n");
    copy.append("kneepoint-sim/src/queue/red.rs", "pub fn more() {}\n");
    let after = copy.prints();
    let on_red = ["adaptive-red", "red", "rio", "rio-ps", "self-configuring-red", "shred"];
    let expected = on_red.map(|name| format!("queue/{name}")).into_iter().chain(["cc/bbr3".into()]);
    assert_eq!(changed(&before, &after), expected.collect());
    assert_eq!(before.engine, after.engine);
}

#[test]
fn a_change_of_the_engine_is_seen_and_one_of_comments_tests_and_readers_is_not() {
    let copy = Copy::new("engine");
    let before = copy.prints();
    copy.append(
        "kneepoint-sim/src/run/mod.rs",
        "// A remark.\n\n#[cfg(test)]\nmod tests {\n    fn one() {}\n}\n",
    );
    copy.append("kneepoint/src/report/mod.rs", "pub fn more() {}\n");
    copy.append("kneepoint/src/experiment/mod.rs", "pub fn more() {}\n");
    assert_eq!(before, copy.prints());
    for path in [
        "kneepoint-sim/src/run/mod.rs",
        "kneepoint-sim/src/queue/mod.rs",
        "kneepoint-sim/src/queue/buffer.rs",
        "kneepoint-sim/src/measure/meter.rs",
        "kneepoint/src/study/work.rs",
        "kneepoint/src/study/watch.rs",
        "kneepoint/src/study/compute.rs",
    ] {
        let engine = copy.prints().engine;
        copy.append(path, "pub fn more() {}\n");
        assert_ne!(copy.prints().engine, engine, "{path}");
    }
}

#[test]
fn only_the_libraries_under_the_core_count() {
    let lock = "version = 4\n\n[[package]]\nname = \"kneepoint\"\nversion = \"0.1.0\"\ndependencies = [\n \"libm\",\n]\n\n\
                [[package]]\nname = \"libm\"\nversion = \"0.2.16\"\ndependencies = [\n \"deep 1.0.0\",\n]\n\n\
                [[package]]\nname = \"deep\"\nversion = \"1.0.0\"\n\n[[package]]\nname = \"clap\"\nversion = \"4.0.0\"\n";
    assert_eq!(sources::locked(lock, "kneepoint"), ["deep 1.0.0", "kneepoint 0.1.0", "libm 0.2.16"]);
}

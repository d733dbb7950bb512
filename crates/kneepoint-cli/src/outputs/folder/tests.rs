// SPDX-License-Identifier: Apache-2.0 OR MIT
use std::os::unix::fs::symlink;

use kneepoint_bench::program::session;

use super::*;

/// Writes a study whose files have its name in them.
fn study(directory: &Path, name: &str, files: &[&str]) -> Result<PathBuf, Failure> {
    let folder = Out::Given(directory.to_path_buf()).settle(&session())?;
    for file in files {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name).unwrap();
    }
    folder.publish(&session())
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn studies_at_the_same_time_get_different_directories_and_leave_none_that_is_empty() {
    let here = tempfile::tempdir().unwrap();
    let base = here.path().join("out/compare");
    let taken = [(); 3].map(|()| Out::or_free(None, base.clone()).settle(&session()).unwrap());
    assert_eq!(names(&here.path().join("out")), ["compare", "compare-2", "compare-3"]);
    let [first, second, third] = taken;
    fs::write(second.join("report.md"), "").unwrap();
    super::super::directory(&third, "captures").unwrap();
    assert_eq!(second.publish(&session()).unwrap(), here.path().join("out/compare-2"));
    drop((first, third));
    assert_eq!(names(&here.path().join("out")), ["compare-2"]);
}

#[test]
fn a_given_directory_has_one_writer_and_no_files_of_others() {
    let here = tempfile::tempdir().unwrap();
    let given = |name: &str| Out::Given(here.path().join(name)).settle(&session());
    let first = given("a").unwrap();
    fs::write(first.join("report.md"), "").unwrap();
    assert!(matches!(given("a"), Err(Failure::Run(_))), "it is locked");
    first.publish(&session()).unwrap();
    assert!(given("a").is_ok(), "an earlier report is renewed");
    fs::create_dir(here.path().join("b")).unwrap();
    fs::write(here.path().join("b/thesis.tex"), "").unwrap();
    assert!(matches!(given("b"), Err(Failure::Run(_))));
    assert_eq!(names(&here.path().join("b")), ["thesis.tex"]);
}

#[test]
fn a_study_takes_the_place_of_another_as_a_whole() {
    let here = tempfile::tempdir().unwrap();
    let out = here.path().join("o");
    study(&out, "first", &["report.md", "series/a.csv", "series/b.csv"]).unwrap();
    let before = fs::metadata(&out).unwrap();
    let second = Out::Given(out.clone()).settle(&session()).unwrap();
    fs::write(second.join("report.md"), "second").unwrap();
    assert_eq!(fs::read_to_string(out.join("report.md")).unwrap(), "first", "until the second is whole");
    second.publish(&session()).unwrap();
    assert_eq!(names(&out), [".kneepoint", "report.md"]);
    assert_eq!(fs::read_to_string(out.join("report.md")).unwrap(), "second");
    let after = fs::metadata(&out).unwrap();
    assert_ne!(after.ino(), before.ino(), "it was exchanged");
    assert_eq!((after.mode(), after.uid()), (before.mode(), before.uid()));
    assert_eq!(names(here.path()), ["o"]);
}

#[test]
fn a_study_without_a_report_leaves_the_earlier_one() {
    let here = tempfile::tempdir().unwrap();
    let out = here.path().join("o");
    study(&out, "first", &["report.md"]).unwrap();
    let second = Out::Given(out.clone()).settle(&session()).unwrap();
    fs::write(second.join("report.md"), "half").unwrap();
    drop(second);
    assert_eq!(names(&out), [".kneepoint", "report.md"]);
    assert_eq!(fs::read_to_string(out.join("report.md")).unwrap(), "first");
    fs::create_dir(here.path().join("empty")).unwrap();
    drop(Out::Given(here.path().join("empty")).settle(&session()).unwrap());
    assert_eq!(names(&here.path().join("empty")), [""; 0], "it was there before");
}

#[test]
fn files_of_others_stay_where_they_are_and_as_they_are() {
    let here = tempfile::tempdir().unwrap();
    let out = here.path().join("o");
    study(&out, "first", &["report.md", "series/a.csv", "figures/a.svg"]).unwrap();
    for mine in ["notes.md", "figures/mine.svg", "runs/1.json"] {
        fs::create_dir_all(out.join(mine).parent().unwrap()).unwrap();
        fs::write(out.join(mine), "mine").unwrap();
    }
    symlink("/nonexistent", out.join("link")).unwrap();
    let before = fs::metadata(&out).unwrap().ino();
    study(&out, "second", &["report.md", "figures/b.svg"]).unwrap();
    assert_eq!(fs::metadata(&out).unwrap().ino(), before, "nobody's directory goes away under its files");
    assert_eq!(names(&out), [".kneepoint", "figures", "link", "notes.md", "report.md", "runs"]);
    assert_eq!(names(&out.join("figures")), ["b.svg", "mine.svg"]);
    assert_eq!(fs::read_to_string(out.join("figures/mine.svg")).unwrap(), "mine");
    assert_eq!(fs::read_to_string(out.join("report.md")).unwrap(), "second");
}

#[test]
fn a_file_of_somebody_elses_is_not_overwritten_and_the_report_goes_beside() {
    let here = tempfile::tempdir().unwrap();
    let out = here.path().join("o");
    study(&out, "first", &["report.md"]).unwrap();
    fs::write(out.join("summary.json"), "mine").unwrap();
    let place = study(&out, "second", &["report.md", "summary.json"]).unwrap();
    assert_eq!(place, here.path().join("o-2"));
    assert_eq!(fs::read_to_string(place.join("summary.json")).unwrap(), "second");
    assert_eq!(fs::read_to_string(out.join("summary.json")).unwrap(), "mine");
    assert_eq!(fs::read_to_string(out.join("report.md")).unwrap(), "first");
}

#[test]
fn a_link_to_a_directory_is_a_name_of_it_and_links_within_are_refused() {
    let here = tempfile::tempdir().unwrap();
    let (disk, out) = (here.path().join("disk"), here.path().join("o"));
    fs::create_dir(&disk).unwrap();
    symlink(&disk, &out).unwrap();
    for name in ["first", "second"] {
        study(&out, name, &["report.md", "figures/a.svg"]).unwrap();
        assert_eq!(fs::read_to_string(disk.join("report.md")).unwrap(), name);
        assert!(out.symlink_metadata().unwrap().is_symlink());
    }
    let thesis = here.path().join("thesis");
    fs::create_dir(&thesis).unwrap();
    fs::write(thesis.join("a.svg"), "mine").unwrap();
    for inside in ["figures", "report.md"] {
        let path = disk.join(inside);
        let kept = here.path().join("kept");
        fs::rename(&path, &kept).unwrap();
        symlink(if inside == "figures" { thesis.clone() } else { thesis.join("a.svg") }, &path).unwrap();
        assert!(matches!(study(&out, "third", &["report.md", "figures/a.svg"]), Err(Failure::Run(_))));
        fs::remove_file(&path).unwrap();
        fs::rename(&kept, &path).unwrap();
    }
    assert_eq!(fs::read_to_string(thesis.join("a.svg")).unwrap(), "mine");
    assert_eq!(fs::read_to_string(disk.join("report.md")).unwrap(), "second");
    fs::write(thesis.join("b.svg"), "mine").unwrap();
    symlink(&thesis, here.path().join("t")).unwrap();
    assert!(matches!(study(&here.path().join("t"), "x", &["report.md"]), Err(Failure::Run(_))));
}

#[test]
fn what_killed_processes_left_goes() {
    let here = tempfile::tempdir().unwrap();
    let out = here.path().join("o");
    study(&out, "first", &["report.md"]).unwrap();
    // Directories of processes that were killed before an exchange, after it, and while they claimed a name.
    for left in ["o/.kneepoint-abcdef.new", ".o.kneepoint-aaaaaa.new", ".o.kneepoint-bbbbbb.new"] {
        study(&here.path().join("other"), "other", &["report.md", "series/a.csv"]).unwrap();
        fs::rename(here.path().join("other"), here.path().join(left)).unwrap();
    }
    fs::create_dir(here.path().join(".o.kneepoint-cccccc.new")).unwrap();
    fs::write(here.path().join(".o.kneepoint-bbbbbb.new/mine"), "mine").unwrap();
    study(&out, "second", &["report.md"]).unwrap();
    assert_eq!(names(here.path()), ["o"]);
    assert_eq!(names(&out), [".kneepoint", "mine", "report.md"]);
    let base = here.path().join("usual");
    fs::create_dir(&base).unwrap();
    fs::write(base.join(ours::MARK), "").unwrap();
    assert_eq!(
        Out::Free(base.clone()).settle(&session()).unwrap().publish(&session()).unwrap(),
        base,
        "it has nothing but its mark"
    );
}

#[test]
fn what_only_begins_like_ours_is_somebody_else_s() {
    let here = tempfile::tempdir().unwrap();
    let out = here.path().join("o");
    study(&out, "first", &["report.md"]).unwrap();
    let theirs = [".kneepoint-backup/thesis.tex", ".kneepoint.bak", ".kneepoint-copied"];
    for path in theirs {
        fs::create_dir_all(out.join(path).parent().unwrap()).unwrap();
        fs::write(out.join(path), "three years").unwrap();
    }
    study(&out, "second", &["report.md"]).unwrap();
    assert_eq!(fs::read_to_string(out.join("report.md")).unwrap(), "second");
    for path in theirs {
        assert_eq!(fs::read_to_string(out.join(path)).unwrap(), "three years", "{path}");
    }
}

#[test]
fn a_directory_whose_files_are_not_known_is_refused() {
    let here = tempfile::tempdir().unwrap();
    // As left by an earlier version, or by a person who knows the name of the mark.
    fs::write(here.path().join(ours::MARK), "").unwrap();
    fs::write(here.path().join("report.md"), "").unwrap();
    assert!(matches!(Out::Given(here.path().to_path_buf()).settle(&session()), Err(Failure::Run(_))));
    fs::remove_file(here.path().join("report.md")).unwrap();
    fs::create_dir(here.path().join("runs")).unwrap();
    assert!(Out::Given(here.path().to_path_buf()).settle(&session()).is_ok(), "kept runs may be there");
}

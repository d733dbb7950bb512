// SPDX-License-Identifier: Apache-2.0 OR MIT
use std::os::unix::net::UnixListener;

use kneepoint::table::Row;

use super::*;
use crate::program::session;

fn record(seed: u64) -> Record {
    let rows = vec![Row::new([("link", "r1-r2".into())]).with("queue", 0.1).with("none", f64::NAN)];
    Record::computed(seed, 0.5, rows)
}

fn store() -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(&session(), Some(&directory.path().join("runs"))).unwrap();
    (directory, store)
}

#[test]
fn a_run_comes_back_as_it_was_kept() {
    let (_directory, store) = store();
    assert!(store.get(&session(), "a", 1).unwrap().is_none());
    store.put(&session(), "a", &record(1)).unwrap();
    assert_eq!(store.get(&session(), "a", 1).unwrap(), Some(record(1)));
    assert_eq!(store.look(&session(), "a", 1).unwrap(), Some(record(1)));
}

#[test]
fn a_damaged_run_is_set_aside_and_no_more_than_three() {
    let (_directory, store) = store();
    for damage in ["", "{", "{\"seed\":1}", "four", "five"] {
        fs::write(store.path("a"), damage).unwrap();
        assert_eq!(store.look(&session(), "a", 1).unwrap(), None);
        assert!(store.path("a").exists(), "a look changes nothing");
        assert_eq!(store.get(&session(), "a", 1).unwrap(), None);
    }
    let aside = |ending| fs::read_to_string(store.folder().join(format!("a.json.bad{ending}"))).unwrap();
    assert_eq!([aside(""), aside("2"), aside("3")], ["", "{", "{\"seed\":1}"]);
    assert_eq!(fs::read_dir(store.folder()).unwrap().count(), 4, "the last one waits to be replaced");
    store.put(&session(), "a", &record(1)).unwrap();
    assert_eq!(store.get(&session(), "a", 1).unwrap(), Some(record(1)));
}

#[test]
fn a_run_of_another_version_is_made_again_and_not_set_aside() {
    let (_directory, store) = store();
    fs::write(store.path("a"), kneepoint::report::json::line(&record(1))).unwrap();
    assert_eq!(store.get(&session(), "a", 1).unwrap(), None);
    assert_eq!(fs::read_dir(store.folder()).unwrap().count(), 1);
}

#[test]
fn what_is_no_file_is_refused_at_once() {
    let (_directory, store) = store();
    let path = store.path("a");
    let refused = || {
        let read = [store.get(&session(), "a", 1).is_err(), store.look(&session(), "a", 1).is_err()];
        fs::remove_file(&path).or_else(|_| fs::remove_dir(&path)).unwrap();
        read == [true, true]
    };
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, 0o600.into()).unwrap();
    assert!(refused());
    let _socket = UnixListener::bind(&path).unwrap();
    assert!(refused());
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    assert!(refused());
    File::create(&path).unwrap().set_len(LARGEST + 1).unwrap();
    assert!(refused());
    fs::create_dir(&path).unwrap();
    assert!(store.put(&session(), "a", &record(1)).is_err());
    assert!(refused());
    assert_eq!(store.get(&session(), "a", 1).unwrap(), None);
}

#[test]
fn a_file_from_elsewhere_is_kept_if_it_is_that_run() {
    let (_directory, store) = store();
    let text = sealed::seal("a", &record(1));
    assert!(matches!(store.take("b", text.as_bytes()), Ok(Some(Fault::Damaged(_)))));
    assert!(matches!(store.take("a", &text.as_bytes()[1..]), Ok(Some(Fault::Damaged(_)))));
    assert_eq!(fs::read_dir(store.folder()).unwrap().count(), 0);
    assert!(matches!(store.take("a", text.as_bytes()), Ok(None)));
    assert_eq!(store.get(&session(), "a", 1).unwrap(), Some(record(1)));
}

#[test]
fn a_run_that_another_process_has_replaced_meanwhile_is_read() {
    let (_directory, store) = store();
    let path = store.path("a");
    fs::write(&path, "{").unwrap();
    let seen = fs::metadata(&path).unwrap();
    store.put(&session(), "a", &record(1)).unwrap();
    assert!(matches!(set_aside(&path, &seen), Aside::Gone));
    assert_eq!(store.get(&session(), "a", 1).unwrap(), Some(record(1)));
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Kernel programs on this machine's kernel: as root, else skipped.

use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use kneepoint::cc;
use kneepoint_linux::kernel::{self, CONTROLLERS, Device, Reader};

use crate::programs::{able, connect, sink};
use crate::{say, turn};

fn available() -> String {
    std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap()
}

/// Whether the kernel has a controller of this name before a test begins; a message says so.
fn loaded(name: &str) -> bool {
    let loaded = available().split_whitespace().any(|one| one == name);
    if loaded {
        say(&format!("SKIPPED: `{name}` is loaded already; `knee kernel unload {name}` removes it"));
    }
    loaded
}

fn pins(name: &str) -> bool {
    Path::new("/sys/fs/bpf/knee").join(name).exists()
}

#[test]
fn a_controller_carries_data_reports_and_goes_without_a_trace() {
    let _turn = turn();
    if !able() {
        return;
    }
    const SIZE: usize = 64 << 20;
    for controller in CONTROLLERS {
        let name = controller.name;
        if loaded(name) {
            continue;
        }
        kernel::load(name, &[("report_every".into(), "1ms".into())], false).unwrap();
        assert!(available().split_whitespace().any(|one| one == name));
        let twice = kernel::load(name, &[], false).unwrap_err();
        assert!(twice.message.contains("loaded already") && twice.remedy.contains("--replace"), "{twice}");

        let reader = Reader::open(name).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = listener.local_addr().unwrap();
        let received = thread::spawn(|| sink(listener));
        let mut stream = connect(to, name);
        stream.write_all(&vec![7; SIZE]).unwrap();
        let from = stream.local_addr().unwrap();
        assert_eq!(kernel::status(name).unwrap().sockets.map(|count| count > 0), Some(true));
        drop(stream);
        assert_eq!(received.join().unwrap(), SIZE, "{name}");
        let records = reader.take(Duration::from_secs(1)).unwrap();
        let ours = records.iter().filter(|one| one.source == from && one.destination == to);
        let ours = ours.collect::<Vec<_>>();
        assert!(!ours.is_empty(), "{name}: {} records, none of {from} to {to}", records.len());
        for record in &ours {
            assert!(record.window >= 1.0 && record.delivered > 0, "{name}: {record:?}");
        }

        kernel::unload(name).unwrap();
        assert!(!available().split_whitespace().any(|one| one == name) && !pins(name));
        assert!(kernel::unload(name).unwrap_err().message.contains("not loaded"));
    }
}

#[test]
fn parameters_arrive_in_the_kernel_as_the_laboratory_writes_them() {
    let _turn = turn();
    if !able() || loaded("pert") {
        return;
    }
    let given = [("t1", "4ms"), ("pmax", "0.1"), ("report_every", "0s")];
    let given = given.map(|(name, value)| (name.to_string(), value.to_string()));
    kernel::load("pert", &given, false).unwrap();
    let settings = kernel::status("pert").unwrap().settings;
    kernel::unload("pert").unwrap();
    let core = cc::Config::named("pert").unwrap();
    assert!(settings.len() >= 4, "{settings:?}");
    for one in settings {
        let set = given.iter().find(|(name, _)| *name == one.name).map(|(_, value)| value.clone());
        assert_eq!(Some(&one.value), set.or_else(|| core.get(&one.name)).as_ref(), "{}", one.name);
    }
}

#[test]
fn the_default_is_put_back_when_its_controller_goes() {
    let _turn = turn();
    if !able() || loaded("pert") {
        return;
    }
    let default = || std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").unwrap();
    let before = default();
    kernel::load("pert", &[], false).unwrap();
    assert_eq!(kernel::default("pert").unwrap(), before.trim());
    assert_eq!(default().trim(), "pert");
    assert_eq!(kernel::restore().unwrap().map(|restored| restored.to).as_deref(), Some(before.trim()));
    kernel::default("pert").unwrap();
    let unloaded = kernel::unload("pert").unwrap();
    assert_eq!((default(), unloaded.default.map(|restored| restored.from)), (before, Some("pert".into())));
    assert!(kernel::restore().unwrap().is_none());
}

#[test]
fn what_is_not_allowed_is_refused_before_anything_is_loaded() {
    let refused = |name: &str, set: &[(&str, &str)]| {
        let set = set.iter().map(|(one, value)| ((*one).to_string(), (*value).to_string()));
        let error = kernel::load(name, &set.collect::<Vec<_>>(), false).unwrap_err();
        assert!(error.usage, "{error}");
        error.to_string()
    };
    assert!(refused("prt", &[]).contains("did you mean `pert`"));
    assert!(refused("pert", &[("t1", "5")]).contains("60ms"));
    assert!(refused("pert", &[("t1", "50ms")]).contains("each must be less"));
    assert!(refused("pert", &[("tt1", "5ms")]).contains("did you mean `t1`"));
    // In the laboratory, not in the kernel.
    assert!(refused("pert", &[("signal", "one-way")]).contains("keeps the default"));
    let device = Device { name: "nowhere".into(), namespace: None };
    let error = kernel::attach_queue(&device, "red", &[], false).unwrap_err();
    assert!(error.to_string().contains("pisa"), "{error}");
}

/// The loader that the next test kills; alone it would not end.
#[test]
#[ignore = "runs until it is killed"]
fn load_and_unload_for_ever() {
    loop {
        kernel::load("pert", &[], true).unwrap();
        kernel::unload("pert").unwrap();
    }
}

#[test]
#[ignore = "takes a while: KNEE_CYCLES kills, 100 by default"]
fn killed_at_any_moment_a_loader_leaves_nothing_that_clean_does_not_remove() {
    let _turn = turn();
    if !able() {
        return;
    }
    let cycles = std::env::var("KNEE_CYCLES").map_or(100, |text| text.parse().unwrap());
    let mut left = 0;
    for cycle in 0..cycles {
        let mut loader = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "kernel::load_and_unload_for_ever"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Every moment of several loads and unloads occurs: multiples of the golden section never repeat.
        thread::sleep(Duration::from_micros(
            2_000 + (f64::from(cycle) * 0.618_034).fract().mul_add(60_000.0, 0.0) as u64,
        ));
        loader.kill().unwrap();
        loader.wait().unwrap();
        left += u32::from(!kernel::left().is_empty());
        kernel::clean().unwrap();
        assert!(kernel::left().is_empty() && !pins("pert"), "cycle {cycle}");
        assert!(!available().split_whitespace().any(|one| one == "pert"), "cycle {cycle}");
    }
    eprintln!("{cycles} loaders killed; {left} left something, all of it was removed");
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Kernel programs on this machine's kernel: as root, else skipped.
#![cfg(all(target_os = "linux", feature = "bpf"))]
#![allow(clippy::disallowed_methods, reason = "kernels run in real time")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use kneepoint::cc;
use kneepoint_linux::kernel::{self, CONTROLLERS, Device, Reader};
use nix::sched::{CloneFlags, setns};
use nix::sys::socket::{self, sockopt};

/// The kernel is one, so tests that change it take turns.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether this machine can load programs; says so if not.
fn able() -> bool {
    has(|need| need.required)
}

/// Whether it can also judge packets by the length of a queue.
fn able_to_judge() -> bool {
    has(|need| need.required || need.name == kernel::LENGTHS)
}

fn has(what: impl Fn(&kernel::Need) -> bool) -> bool {
    let missing = kernel::needs().into_iter().find(|need| what(need) && !need.met);
    if let Some(need) = &missing {
        say(&format!("SKIPPED: {} ({}): {}", need.name, need.found, need.remedy));
    }
    missing.is_none()
}

fn available() -> String {
    std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap()
}

/// Whether the kernel has a controller of this name before a test begins; says so.
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

fn sh(line: &str) -> String {
    let output = Command::new("sh").args(["-ec", line]).output().unwrap();
    assert!(output.status.success(), "{line}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Connects with this congestion control.
fn connect(to: SocketAddr, control: &str) -> TcpStream {
    let family = socket::AddressFamily::Inet;
    let socket = socket::socket(family, socket::SockType::Stream, socket::SockFlag::empty(), None).unwrap();
    socket::setsockopt(&socket, sockopt::TcpCongestion, &control.into()).unwrap();
    socket::connect(socket.as_raw_fd(), &socket::SockaddrStorage::from(to)).unwrap();
    TcpStream::from(socket)
}

/// Accepts one connection; the bytes that came.
fn sink(listener: TcpListener) -> usize {
    let (mut stream, _) = listener.accept().unwrap();
    let (mut room, mut count) = (vec![0; 1 << 18], 0);
    while let Ok(size @ 1..) = stream.read(&mut room) {
        count += size;
    }
    count
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

/// Three namespaces in a row, the middle one a router whose way out is 20 Mbit/s; removed when dropped.
struct Row(String);

impl Row {
    fn new() -> Row {
        let row = Row(format!("knee-t{}", std::process::id()));
        let name = &row.0;
        sh(&format!(
            "for n in s r d; do ip netns add {name}$n; ip -n {name}$n link set lo up; done
             ip link add s0 netns {name}s type veth peer name r0 netns {name}r
             ip link add r1 netns {name}r type veth peer name d0 netns {name}d
             ip -n {name}s addr add 10.78.1.1/24 dev s0; ip -n {name}r addr add 10.78.1.2/24 dev r0
             ip -n {name}r addr add 10.78.2.1/24 dev r1; ip -n {name}d addr add 10.78.2.2/24 dev d0
             for one in s:s0 r:r0 r:r1 d:d0; do
               ip -n {name}${{one%:*}} link set ${{one#*:}} up gso_max_segs 1
             done
             ip -n {name}s route add default via 10.78.1.2; ip -n {name}d route add default via 10.78.2.1
             nsenter --net=/run/netns/{name}r sysctl -qw net.ipv4.ip_forward=1
             nsenter --net=/run/netns/{name}r tc qdisc add dev r1 root tbf rate 20mbit burst 3kb limit 300kb"
        ));
        row
    }
    fn device(&self, host: &str, name: &str) -> Device {
        Device { name: name.into(), namespace: Some(format!("{}{host}", self.0)) }
    }
    fn queues(&self) -> String {
        sh(&format!("nsenter --net=/run/netns/{}r tc qdisc show dev r1", self.0))
    }
    fn spawn<T: Send + 'static>(
        &self,
        host: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> thread::JoinHandle<T> {
        let file = std::fs::File::open(format!("/run/netns/{}{host}", self.0)).unwrap();
        thread::spawn(move || {
            setns(file, CloneFlags::CLONE_NEWNET).unwrap();
            work()
        })
    }
}

impl Drop for Row {
    fn drop(&mut self) {
        sh(&format!("for n in s r d; do ip netns del {}$n || true; done", self.0));
    }
}

#[test]
fn pi_keeps_a_routers_queue_near_its_reference_and_leaves_no_trace() {
    let _turn = turn();
    if !able_to_judge() {
        return;
    }
    let row = Row::new();
    let (router, sender) = (row.device("r", "r1"), row.device("s", "s0"));
    let before = row.queues();
    let uncounted = kernel::attach_queue(&row.device("r", "r0"), "pi", &[], false).unwrap_err();
    assert!(uncounted.message.contains("noqueue"), "{uncounted}");
    kernel::attach_hint(&sender, false).unwrap();
    // Ten times the published gains, for a queue that settles within the test.
    let set = [("a", "0.0001822"), ("b", "0.0001816"), ("reference", "20")];
    let set = set.map(|(name, value)| (name.to_string(), value.to_string()));
    kernel::attach_queue(&router, "pisa", &set, false).unwrap();
    assert!(kernel::attach_queue(&router, "pi", &set, false).unwrap_err().message.contains("already"));

    const SECONDS: u64 = 4;
    let listeners = row.spawn("d", || {
        (0..4).map(|place| TcpListener::bind(("10.78.2.2", 5001 + place)).unwrap()).collect::<Vec<_>>()
    });
    let sinks = listeners.join().unwrap().into_iter().map(|listener| thread::spawn(|| sink(listener)));
    let sinks = sinks.collect::<Vec<_>>();
    let end = Instant::now() + Duration::from_secs(SECONDS);
    for place in 0..4 {
        row.spawn("s", move || {
            let mut stream = connect(SocketAddr::from(([10, 78, 2, 2], 5001 + place)), "reno");
            while Instant::now() < end && stream.write(&[0; 1 << 16]).is_ok() {}
        });
    }
    thread::sleep(Duration::from_secs(SECONDS / 2));
    let mut lengths = Vec::new();
    while Instant::now() < end {
        lengths.push(f64::from(kernel::queue_status(&router).unwrap().length));
        thread::sleep(Duration::from_millis(20));
    }
    let status = kernel::queue_status(&router).unwrap();
    let bytes: usize = sinks.into_iter().map(|sink| sink.join().unwrap()).sum();
    let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
    // Without the law the mean is about 150 packets.
    assert!((3.0..70.0).contains(&mean), "{mean}: {status:?}");
    assert!(status.dropped > 20 && status.hinted * 10 > status.packets * 9, "{status:?}");
    assert!((1.0..100.0).contains(&status.average_window) && status.probability < 0.5, "{status:?}");
    assert!(bytes as u64 * 8 > 10_000_000 * SECONDS, "{bytes}");
    assert!(kernel::hint_status(&sender).unwrap() > 1000);

    kernel::remove_queue(&router).unwrap();
    kernel::remove_hint(&sender).unwrap();
    assert_eq!(row.queues(), before);
    assert!(kernel::queue_status(&router).unwrap_err().message.contains("no queue of knee"));
}

#[test]
fn what_holds_filters_goes_with_the_last_one_unless_others_made_it() {
    let _turn = turn();
    if !able_to_judge() {
        return;
    }
    let row = Row::new();
    let router = row.device("r", "r1");
    let tc = |line: &str| sh(&format!("nsenter --net=/run/netns/{}r tc {line}", row.0));
    tc("qdisc add dev r1 clsact");
    kernel::attach_queue(&router, "pi", &[], false).unwrap();
    kernel::remove_queue(&router).unwrap();
    assert!(row.queues().contains("clsact"), "theirs");
    tc("qdisc del dev r1 clsact");
    let before = row.queues();
    kernel::attach_queue(&router, "pi", &[], false).unwrap();
    kernel::attach_hint(&router, false).unwrap();
    kernel::remove_queue(&router).unwrap();
    assert!(row.queues().contains("clsact"), "ours, in use");
    kernel::remove_hint(&router).unwrap();
    assert_eq!(row.queues(), before);
    kernel::attach_queue(&router, "pi", &[], false).unwrap();
    tc("filter add dev r1 ingress bpf bytecode '1,6 0 0 0,'");
    kernel::remove_queue(&router).unwrap();
    assert!(row.queues().contains("clsact"), "ours, in use by others");
    tc("filter del dev r1 ingress");
    // The next one finds what this one could not remove.
    kernel::attach_queue(&router, "pi", &[], false).unwrap();
    kernel::remove_queue(&router).unwrap();
    assert_eq!(row.queues(), before);
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
            .args(["--ignored", "--exact", "load_and_unload_for_ever"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Every moment of several loads and unloads comes up: a golden section never repeats.
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

/// Says it whether or not the test passes: what is printed by the macros is not shown of a test that does.
fn say(line: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{line}");
}

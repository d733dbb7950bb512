// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Queues at a Linux router and the hints that they read, on this machine's kernel: as root, else skipped.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use kneepoint_linux::behind::{self, Far, Host};
use kneepoint_linux::frame;
use kneepoint_linux::kernel::{self, Device, QueueStatus};
use nix::sched::{CloneFlags, setns};

use crate::programs::{able, able_to_judge, connect, sh, sink};
use crate::{say, turn};

/// Three namespaces in a row, the middle one a router whose output is 20 Mbit/s; removed when dropped.
struct Row(String);

/// The receiver's addresses.
const V4: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 78, 2, 2));
const V6: IpAddr = IpAddr::V6(Ipv6Addr::new(0xfd78, 2, 0, 0, 0, 0, 0, 2));
/// Queues with a bottleneck of 20 Mbit/s and room for 200 packets.
const TBF: &str = "tc qdisc add dev r1 root tbf rate 20mbit burst 3kb limit 300kb";
const HTB: &str = "tc qdisc add dev r1 root handle 1: htb default 1
    tc class add dev r1 parent 1: classid 1:1 htb rate 20mbit burst 3kb cburst 3kb
    tc qdisc add dev r1 parent 1:1 pfifo limit 200";

impl Row {
    fn new(queue: &str) -> Row {
        let row = Row(format!("knee-t{}", std::process::id()));
        let name = &row.0;
        sh(&format!(
            "for n in s r d; do
               ip netns add {name}$n; ip -n {name}$n link set lo up
               nsenter --net=/run/netns/{name}$n sysctl -qw net.ipv6.conf.default.accept_dad=0
             done
             ip link add s0 netns {name}s type veth peer name r0 netns {name}r
             ip link add r1 netns {name}r type veth peer name d0 netns {name}d
             ip -n {name}s addr add 10.78.1.1/24 dev s0; ip -n {name}r addr add 10.78.1.2/24 dev r0
             ip -n {name}r addr add 10.78.2.1/24 dev r1; ip -n {name}d addr add 10.78.2.2/24 dev d0
             ip -n {name}s addr add fd78:1::1/64 dev s0 nodad; ip -n {name}r addr add fd78:1::2/64 dev r0 nodad
             ip -n {name}r addr add fd78:2::1/64 dev r1 nodad; ip -n {name}d addr add fd78:2::2/64 dev d0 nodad
             for one in s:s0 r:r0 r:r1 d:d0; do
               ip -n {name}${{one%:*}} link set ${{one#*:}} up gso_max_segs 1
             done
             ip -n {name}s route add default via 10.78.1.2; ip -n {name}d route add default via 10.78.2.1
             ip -n {name}s route add default via fd78:1::2; ip -n {name}d route add default via fd78:2::1"
        ));
        row.run("r", "sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1");
        row.run("r", queue);
        row
    }
    fn device(&self, host: &str, name: &str) -> Device {
        Device { name: name.into(), namespace: Some(format!("{}{host}", self.0)) }
    }
    /// The output of commands on a host.
    fn run(&self, host: &str, commands: &str) -> String {
        sh(&format!("nsenter --net=/run/netns/{}{host} sh -ec '{commands}'", self.0))
    }
    fn queues(&self) -> String {
        self.run("r", "tc qdisc show dev r1")
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

fn set(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect()
}

/// Ten times the published gains, for a queue that settles within a test.
const STRONG: [(&str, &str); 3] = [("a", "0.0001822"), ("b", "0.0001816"), ("reference", "20")];

/// A router's effect on four transfers of Reno.
#[derive(Debug)]
struct Judged {
    /// The mean queue in the second half.
    mean: f64,
    status: QueueStatus,
}

const SECONDS: u64 = 4;

/// Four transfers to an address, after which the link must have been busy.
fn judged(row: &Row, to: IpAddr) -> Judged {
    let listeners = row.spawn("d", move || {
        (0..4).map(|place| TcpListener::bind((to, 5001 + place)).unwrap()).collect::<Vec<_>>()
    });
    let sinks = listeners.join().unwrap().into_iter().map(|listener| thread::spawn(|| sink(listener)));
    let sinks = sinks.collect::<Vec<_>>();
    // IPv6 neighbours find each other a second or more after devices came up: the path exists once a port without a listener refuses.
    let reached = row.spawn("s", move || {
        let refused = || {
            let tried = TcpStream::connect_timeout(&(to, 1).into(), Duration::from_millis(100));
            tried.is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
        };
        (0..100).any(|_| refused())
    });
    assert!(reached.join().unwrap(), "no way to {to}");
    let end = Instant::now() + Duration::from_secs(SECONDS);
    for place in 0..4 {
        row.spawn("s", move || {
            let mut stream = connect((to, 5001 + place).into(), "reno");
            while Instant::now() < end && stream.write(&[0; 1 << 16]).is_ok() {}
        });
    }
    thread::sleep(Duration::from_secs(SECONDS / 2));
    let router = row.device("r", "r1");
    let mut lengths = Vec::new();
    while Instant::now() < end {
        lengths.push(f64::from(kernel::queue_status(&router).unwrap().length));
        thread::sleep(Duration::from_millis(20));
    }
    let status = kernel::queue_status(&router).unwrap();
    let bytes: usize = sinks.into_iter().map(|sink| sink.join().unwrap()).sum();
    let seen = Judged { mean: lengths.iter().sum::<f64>() / lengths.len() as f64, status };
    say(&format!("{:.1} Mbit/s, {seen:?}", bytes as f64 * 8e-6 / SECONDS as f64));
    assert!(bytes as u64 * 8 > 10_000_000 * SECONDS, "{bytes}");
    // Without a law the mean is about 150 packets.
    assert!((3.0..70.0).contains(&seen.mean), "{seen:?}");
    seen
}

#[test]
fn pi_keeps_a_routers_queue_near_its_reference_and_leaves_no_trace() {
    let _turn = turn();
    if !able_to_judge() {
        return;
    }
    let row = Row::new(TBF);
    let (router, sender) = (row.device("r", "r1"), row.device("s", "s0"));
    let before = row.queues();
    let uncounted = kernel::attach_queue(&row.device("r", "r0"), "pi", &[], false).unwrap_err();
    assert!(uncounted.message.contains("noqueue"), "{uncounted}");
    kernel::attach_hint(&sender, false).unwrap();
    kernel::attach_queue(&router, "pisa", &set(&STRONG), false).unwrap();
    assert!(
        kernel::attach_queue(&router, "pi", &set(&STRONG), false).unwrap_err().message.contains("already")
    );

    let Judged { status, .. } = judged(&row, V4);
    assert!(status.dropped > 20 && status.hinted * 10 > status.packets * 9, "{status:?}");
    assert!((1.0..100.0).contains(&status.average_window) && status.probability < 0.5, "{status:?}");
    assert!(kernel::hint_status(&sender).unwrap() > 1000);

    kernel::remove_queue(&router).unwrap();
    kernel::remove_hint(&sender).unwrap();
    assert_eq!(row.queues(), before);
    assert!(kernel::queue_status(&router).unwrap_err().message.contains("no queue of knee"));
}

#[test]
fn a_queue_of_htb_is_kept_by_the_windows_of_senders_over_ipv6() {
    let _turn = turn();
    if !able_to_judge() {
        return;
    }
    let row = Row::new(HTB);
    let (router, sender) = (row.device("r", "r1"), row.device("s", "s0"));
    kernel::attach_hint(&sender, false).unwrap();
    kernel::attach_queue(&router, "pisa", &set(&STRONG), false).unwrap();
    let Judged { status, .. } = judged(&row, V6);
    assert!(status.dropped > 20 && status.hinted * 10 > status.packets * 9, "{status:?}");
    assert!((1.0..100.0).contains(&status.average_window), "{status:?}");
    kernel::remove_queue(&router).unwrap();
    kernel::remove_hint(&sender).unwrap();
}

#[test]
fn senders_that_understand_marks_are_marked_and_others_lose_packets() {
    let _turn = turn();
    if !able_to_judge() {
        return;
    }
    let row = Row::new(HTB);
    let router = row.device("r", "r1");
    for host in ["s", "d"] {
        row.run(host, "sysctl -qw net.ipv4.tcp_ecn=1");
    }
    let marking = [&STRONG[..], &[("ecn", "true")]].concat();
    kernel::attach_queue(&router, "pi", &set(&marking), false).unwrap();
    let Judged { status, .. } = judged(&row, V4);
    assert!(status.marked > 20, "{status:?}");
    // SYNs and retransmissions understand none.
    assert!(status.dropped == status.unmarkable && status.dropped * 10 < status.marked, "{status:?}");

    for host in ["s", "d"] {
        row.run(host, "sysctl -qw net.ipv4.tcp_ecn=0");
    }
    kernel::attach_queue(&router, "pi", &set(&marking), true).unwrap();
    let unmarked = judged(&row, V6).status;
    assert!(unmarked.marked == 0 && unmarked.dropped > 20, "{unmarked:?}");
    assert_eq!(unmarked.unmarkable, unmarked.dropped, "{unmarked:?}");
    kernel::remove_queue(&router).unwrap();
}

/// Carries frames between two devices until it is stopped: the codes in the DSCP bits of data, and packets without one.
fn carry(hosts: &[Host; 2], ends: &AtomicBool) -> (Vec<u8>, u32) {
    let (mut codes, mut without, mut room) = (Vec::new(), 0, vec![0; 1 << 16]);
    while !ends.load(Ordering::Relaxed) {
        let mut idle = true;
        for (from, to) in [(0, 1), (1, 0)] {
            let Ok(length) = (&hosts[from].device.file).read(&mut room) else { continue };
            idle = false;
            if let Some(headers) = frame::read(&room[..length])
                && headers.tcp.is_some()
                && headers.payload > 0
            {
                match headers.dscp {
                    0 => without += 1,
                    code => codes.push(code),
                }
            }
            // A host without room loses it.
            let _ = (&hosts[to].device.file).write(&room[..length]);
        }
        if idle {
            thread::sleep(Duration::from_millis(1));
        }
    }
    (codes, without)
}

#[test]
fn a_tun_device_carries_the_windows_of_its_senders_over_both_protocols() {
    const SIZE: usize = 2 << 20;
    let _turn = turn();
    if !able() {
        return;
    }
    let hosts = behind::hosts(Far::Apart).unwrap();
    let [near, far] = &hosts;
    let device = Device { name: near.device.name.clone(), namespace: None };
    let on_near = move |work: fn(&Device) -> Result<(), kernel::Error>| {
        let device = device.clone();
        near.run(move || work(&device).map_err(std::io::Error::other)).unwrap();
    };
    on_near(|one| kernel::attach_hint(one, false));
    for to in [IpAddr::V4(far.address.v4), IpAddr::V6(far.address.v6)] {
        let ends = Arc::new(AtomicBool::new(false));
        let listener = far.run(move || TcpListener::bind((to, 5001))).unwrap();
        let (codes, without) = thread::scope(|scope| {
            let carried = scope.spawn(|| carry(&hosts, &ends));
            let received = thread::spawn(|| sink(listener));
            let send = move || connect((to, 5001).into(), "reno").write_all(&vec![7; SIZE]);
            near.run(send).unwrap();
            assert_eq!(received.join().unwrap(), SIZE, "checksums are right");
            ends.store(true, Ordering::Relaxed);
            carried.join().unwrap()
        });
        let windows = codes.iter().filter_map(|code| frame::window_hint(*code)).collect::<Vec<_>>();
        let greatest = windows.iter().copied().fold(0.0, f64::max);
        say(&format!(
            "{to}: {} packets with a window, at most {greatest:.1}, {without} without",
            windows.len()
        ));
        // Ten packets is the initial window, whose code is the nearest of four an octave.
        assert!((windows[0] - 10.0).abs() < 1.0 && greatest > 20.0, "{windows:?}");
        assert_eq!(without, 0, "{to}");
    }
    on_near(kernel::remove_hint);
}

#[test]
fn what_holds_filters_goes_with_the_last_one_unless_others_made_it() {
    let _turn = turn();
    if !able_to_judge() {
        return;
    }
    let row = Row::new(TBF);
    let router = row.device("r", "r1");
    let tc = |line: &str| row.run("r", &format!("tc {line}"));
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
    tc("filter add dev r1 ingress bpf bytecode \"1,6 0 0 0,\"");
    kernel::remove_queue(&router).unwrap();
    assert!(row.queues().contains("clsact"), "ours, in use by others");
    tc("filter del dev r1 ingress");
    // The next one finds the leftovers of this one.
    kernel::attach_queue(&router, "pi", &[], false).unwrap();
    kernel::remove_queue(&router).unwrap();
    assert_eq!(row.queues(), before);
}

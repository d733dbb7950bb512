// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee emulate`: its arguments anywhere, its links where the machine allows them.
#![allow(clippy::disallowed_methods, reason = "links run in real time")]

use std::io::Write;
use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

use kneepoint::report::output;

use super::documented::assert_defined;
use super::{Value, assert_refuses, carried, knee, say, stderr, stdout};

/// Whether the machine permits links for this test; a message says if not, whether or not the test passes.
pub fn able() -> bool {
    let lacks = kneepoint_linux::live::missing(&[]);
    if let Some(lack) = &lacks {
        say(&format!("SKIPPED: {lack}"));
    }
    lacks.is_none()
}

/// Asserts that programs and packets had no problem, on a busy machine as well.
#[track_caller]
pub fn assert_carried(output: &Output) {
    assert!(carried(output), "{}", stderr(output));
}

/// The summary of an emulation, whose status says whether it was valid.
#[track_caller]
pub fn summary(output: &Output) -> Value {
    assert_carried(output);
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON and nothing else");
    assert_eq!(told["valid"], output.status.success(), "{told}");
    told
}

#[test]
fn wrong_properties_of_a_path_are_refused_before_anything_is_made() {
    let here = tempfile::tempdir().unwrap();
    std::fs::write(here.path().join("bad.trace"), "1\nx\n").unwrap();
    for (arguments, said) in [
        (["--loss", "1.5"], "`1.5` is a share of all packets or more"),
        (["--queue", "pizza"], "pizza"),
        (["--up", "speed=3"], "`speed=3` is not a property of a link"),
        (["--trace", "bad.trace"], "line 2: `x`"),
        (["--trace", "none.trace"], "cannot read `none.trace`"),
        (["--buffer", "full"], "full"),
        (["--from", "none.toml"], "none.toml"),
    ] {
        let output = knee(here.path(), &[&["emulate"], &arguments[..], &["--", "true"]].concat());
        assert!(
            !output.status.success() && stderr(&output).contains(said),
            "{arguments:?}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn the_program_gives_the_status_and_a_link_without_packets_is_noted() {
    if !able() {
        return;
    }
    let here = tempfile::tempdir().unwrap();
    let run = |line: &str| {
        knee(here.path(), &["emulate", "--rate", "10mbit", "--server", "sleep 9", "--", "sh", "-c", line])
    };
    let output = run("echo $KNEE_HOST $KNEE_PEER; exit 7");
    assert_eq!((output.status.code(), stdout(&output).split_whitespace().count()), (Some(7), 2));
    assert!(stderr(&output).contains("no packet crossed the link"), "{}", stderr(&output));
    for gone in ["no-such-server", "false", "true"] {
        let refused = knee(here.path(), &["emulate", "--server", gone, "--", "true"]);
        assert_refuses(&refused, 1, &["the server ended before it listened", gone, "iperf3 -s"]);
    }
    let missing = knee(here.path(), &["emulate", "--server", "sleep 9", "--", "no-such-program"]);
    assert!(stderr(&missing).contains("cannot start `no-such-program`"), "{}", stderr(&missing));
}

#[test]
fn packets_that_cross_the_link_are_measured_captured_and_reported() {
    if !able() {
        return;
    }
    let here = tempfile::tempdir().unwrap();
    // Bash alone sends datagrams, one of 100 bytes every 20 ms or so; only the kernel answers, that the port is closed.
    let send = "for i in $(seq 20); do printf '%0100d' 0 > /dev/udp/$KNEE_PEER/9; sleep 0.02; done; true";
    let options =
        ["--rate", "1mbit", "--delay", "5ms", "--queue", "codel", "--out", "out", "--pcap", "p.pcapng"];
    let program = ["--server", "sleep 9", "--json", "--", "bash", "-c", send];
    let told = summary(&knee(here.path(), &[&["emulate"], &options[..], &program].concat()));
    assert_defined(output::document("Emulation").unwrap(), std::slice::from_ref(&told));
    let link = |name: &str| {
        let rows = told["rows"].as_array().unwrap();
        rows.iter().find(|row| row["labels"] == serde_json::json!({ "link": name })).unwrap()["values"]
            .clone()
    };
    // 100 bytes with 28 bytes of headers, and the host's announcements; the kernel limits how often it reports a closed port.
    let bytes = link("near-far")["served_bytes"].as_f64().unwrap();
    assert!((2560.0..3560.0).contains(&bytes), "{bytes}");
    assert!(link("far-near")["served_packets"].as_f64().is_some_and(|answers| answers >= 1.0));
    for file in ["report.html", "summary.json", "runs.csv", "emulation.toml", "series/emulation.parquet"] {
        assert!(here.path().join("out").join(file).is_file(), "{file}");
    }
    assert!(checks(here.path(), "out/emulation.toml"), "the scenario of an emulation can be simulated");
    let capture = std::fs::read(here.path().join("p.pcapng")).unwrap();
    assert_eq!(capture[..4], 0x0a0d_0d0a_u32.to_le_bytes());
    // Each datagram at both devices.
    assert!(capture.len() > 40 * 128);
}

fn checks(directory: &Path, file: &str) -> bool {
    knee(directory, &["check", file]).status.success()
}

/// Named network namespaces with their contents; removed when dropped.
struct Named(Vec<String>);

impl Named {
    fn new(names: &[&str], setup: &str) -> Named {
        let names = names.iter().map(|name| format!("knee-{name}{}", std::process::id()));
        let named = Named(names.collect());
        let list = named.0.join(" ");
        named.sh(&format!("for n in {list}; do ip netns add $n; ip -n $n link set lo up; done\n{setup}"));
        named
    }
    /// `$1`, `$2` and so on are the names.
    fn sh(&self, line: &str) -> String {
        let output =
            std::process::Command::new("sh").args(["-ec", line, "sh"]).args(&self.0).output().unwrap();
        assert!(output.status.success(), "{line}\n{}", stderr(&output));
        stdout(&output)
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        for name in &self.0 {
            let _ = std::process::Command::new("ip").args(["netns", "del", name]).status();
        }
    }
}

/// Exchanges datagrams and then a transfer over TCP between two named namespaces: the round trips in milliseconds, and the bytes that came.
fn exchange(near: &str, far: &str, address: &'static str) -> (Vec<f64>, usize) {
    use kneepoint_linux::namespace::Namespace;
    use std::io::Read as _;
    use std::net::{TcpListener, TcpStream, UdpSocket};
    let patience = Some(Duration::from_secs(3));
    let echo = Namespace::named(far).unwrap().run(move || {
        let (socket, listener) = (UdpSocket::bind((address, 7))?, TcpListener::bind((address, 9))?);
        socket.set_read_timeout(patience)?;
        Ok((socket, listener))
    });
    let (socket, listener) = echo.unwrap();
    let server = std::thread::spawn(move || {
        let mut room = [0; 100];
        for _ in 0..5 {
            let (length, from) = socket.recv_from(&mut room).unwrap();
            socket.send_to(&room[..length], from).unwrap();
        }
        let mut all = Vec::new();
        listener.accept().unwrap().0.read_to_end(&mut all).unwrap();
        all.len()
    });
    let trips = Namespace::named(near).unwrap().run(move || {
        let asking = UdpSocket::bind("0.0.0.0:0")?;
        asking.set_read_timeout(patience)?;
        let mut trips = Vec::new();
        for _ in 0..5 {
            let began = Instant::now();
            asking.send_to(&[1; 100], (address, 7))?;
            asking.recv_from(&mut [0; 100])?;
            trips.push(began.elapsed().as_secs_f64() * 1e3);
        }
        TcpStream::connect((address, 9))?.write_all(&[2; 200_000])?;
        Ok(trips)
    });
    (trips.unwrap(), server.join().unwrap())
}

/// Starts it as root of the namespace, or of this one.
fn background(namespace: Option<&str>, arguments: &[&str]) -> std::process::Child {
    let program = env!("CARGO_BIN_EXE_knee");
    let mut command = match namespace {
        Some(name) => {
            let mut command = std::process::Command::new("nsenter");
            command.arg(format!("--net=/run/netns/{name}")).arg(program);
            command
        }
        None => std::process::Command::new(program),
    };
    let piped = std::process::Stdio::piped;
    let child = command.args(arguments).stdin(std::process::Stdio::null()).stdout(piped()).stderr(piped());
    let child = child.spawn().unwrap();
    std::thread::sleep(Duration::from_millis(700));
    child
}

/// Asserts that round trips took the 40 ms of the path, and that at least one took little more: a busy machine delays
/// some.
fn assert_forty(trips: &[f64]) {
    let least = trips.iter().copied().fold(f64::INFINITY, f64::min);
    assert!((40.0..90.0).contains(&least), "{trips:?}");
}

#[test]
fn a_link_between_named_namespaces_carries_what_they_send_and_goes() {
    if !able() {
        return;
    }
    let here = tempfile::tempdir().unwrap();
    let named = Named::new(&["a", "b"], "");
    let [near, far] = [named.0[0].as_str(), named.0[1].as_str()];
    let link = ["emulate", "--between", near, far, "--rate", "10mbit", "--delay", "20ms"];
    let emulation = background(None, &[&link[..], &["--duration", "4s", "--json"]].concat());
    let address = named.sh("ip -n $2 -o -4 addr show dev knee0 | sed 's/.*inet \\([0-9.]*\\).*/\\1/'");
    let (trips, bytes) = exchange(near, far, address.trim().to_string().leak());
    assert_forty(&trips);
    assert_eq!(bytes, 200_000);
    let output = emulation.wait_with_output().unwrap();
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(summary["rows"].to_string().contains("served_packets"), "{summary}");
    let program = knee(here.path(), &[&link[..], &["--", "sh", "-c", "echo to $KNEE_PEER"]].concat());
    assert_eq!(stdout(&program).trim(), format!("to {}", address.trim()));
    let left = named.sh("ip -n $1 -o link; ip -n $2 -o link");
    assert!(!left.contains("knee0"), "{left}");
    let missing = knee(here.path(), &["emulate", "--between", "knee-none", far]);
    assert!(stderr(&missing).contains("`knee-none`"), "{}", stderr(&missing));
}

#[test]
fn a_link_between_two_devices_carries_whole_frames() {
    if !able() {
        return;
    }
    // Two hosts with a machine between them, which has no addresses: addresses are resolved across the link. Senders leave their
    // checksums to the device.
    let named = Named::new(
        &["h", "m", "i"],
        "ip link add e0 netns $1 type veth peer name m0 netns $2
         ip link add e0 netns $3 type veth peer name m1 netns $2
         ip -n $2 link set m0 up; ip -n $2 link set m1 up
         for n in $1 $3; do ip -n $n link set e0 up gso_max_segs 1; done
         ip -n $1 addr add 10.78.3.1/24 dev e0; ip -n $3 addr add 10.78.3.2/24 dev e0",
    );
    let [near, middle, far] = [0, 1, 2].map(|place: usize| named.0[place].as_str());
    let link = ["emulate", "--bridge", "m0", "m1", "--rate", "10mbit", "--delay", "20ms", "--duration", "4s"];
    let emulation = background(Some(middle), &link);
    let (trips, bytes) = exchange(near, far, "10.78.3.2");
    assert!(trips[0] >= 80.0, "addresses are resolved across the link: {trips:?}");
    assert_forty(&trips[1..]);
    assert_eq!(bytes, 200_000);
    let output = emulation.wait_with_output().unwrap();
    let said = stderr(&output);
    assert!(said.contains("`m0` merges frames") && said.contains("ethtool -K m0"), "{said}");
    assert!(said.contains("near-far:") && !said.contains("not IP"), "{said}");
    named.sh("ip -n $2 link set m1 down");
    let down = background(Some(middle), &link).wait_with_output().unwrap();
    assert!(stderr(&down).contains("`m1` is down"), "{}", stderr(&down));
    let none = background(Some(middle), &["emulate", "--bridge", "m0", "m9"]).wait_with_output().unwrap();
    assert!(stderr(&none).contains("no device is called `m9`"), "{}", stderr(&none));
}

#[test]
fn the_probe_measures_the_link_that_was_asked_for() {
    if !able() {
        return;
    }
    let here = tempfile::tempdir().unwrap();
    let output = knee(here.path(), &["emulate", "--probe", "--rate", "20mbit", "--delay", "10ms", "--json"]);
    // On a busy machine the status says that the emulation was not valid; measurements are printed first.
    let table: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_defined(output::document("Probe of an emulated link").unwrap(), std::slice::from_ref(&table));
    let number = |place: &str| table.pointer(place).and_then(serde_json::Value::as_f64).unwrap();
    // A packet of 1500 bytes takes 0.6 ms at this rate.
    assert_eq!((number("/delay_promised_ms"), number("/packets"), number("/lost")), (10.6, 2000.0, 0.0));
    // The median is nearly independent of the machine's load; no packet is early.
    assert!((0.0..1000.0).contains(&number("/stream_error_us/p50")), "{table}");
    assert!((19.0..21.0).contains(&number("/rate_mbps/median")), "{table}");
    let unlimited = knee(here.path(), &["emulate", "--probe", "--delay", "10ms"]);
    assert!(stderr(&unlimited).contains("the link has no rate"), "{}", stderr(&unlimited));
}

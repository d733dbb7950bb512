// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Emulations at the same time, also during a clean-up: each has its own addresses and devices, and keeps them.
#![allow(clippy::disallowed_methods, reason = "links run in real time")]

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Child, Stdio};

use kneepoint_linux::namespace::Namespace;

use super::emulating::{able, assert_carried, summary};
use super::{Value, command, stderr, stdout};

/// The size of the object that a client fetches.
const SIZE: usize = 200_000;
const SERVER: &str = "0.0.0.0:8977";

/// In its own network namespace, whose devices no other process changes.
fn apart(work: impl FnOnce() + Send + 'static) {
    let worked = Namespace::new().unwrap().run(move || {
        work();
        Ok(())
    });
    worked.unwrap();
}

/// Sends [`SIZE`] bytes to every client, until the process ends.
fn serve(listener: TcpListener) {
    std::thread::spawn(move || {
        for client in listener.incoming() {
            std::thread::spawn(move || {
                let mut client = client.unwrap();
                // A client that was lost to another link may leave before it has everything.
                let _ = client.read(&mut [0]).and_then(|_| client.write_all(&[7; SIZE]));
            });
        }
    });
}

/// A program behind a link of 10 Mbit/s that fetches everything, and prints addresses, bytes and time.
fn fetch() -> Child {
    let program = "began=${EPOCHREALTIME/./}; exec 3<>/dev/tcp/$KNEE_PEER/8977; echo >&3; bytes=$(timeout 20 cat <&3 | wc -c)\n\
                   echo $KNEE_HOST $KNEE_PEER $bytes $((${EPOCHREALTIME/./} - began))";
    let link = ["emulate", "--rate", "10mbit", "--delay", "10ms", "--json", "--"];
    let mut command = command(&[&link[..], &["bash", "-c", program]].concat());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("knee starts")
}

#[test]
fn emulations_that_begin_together_share_nothing() {
    if !able() {
        return;
    }
    let pairs = std::env::var("KNEE_TORTURE_PAIRS").map_or(3, |text| text.parse().expect("a number"));
    apart(move || {
        serve(TcpListener::bind(SERVER).unwrap());
        let mut times = Vec::new();
        for pair in 0..pairs {
            let fetched = [fetch(), fetch()].map(|child| {
                let output = child.wait_with_output().unwrap();
                // A loaded machine may spoil an emulation; its packets still went where they belong.
                let said = stderr(&output);
                let told = summary(&output);
                let words = said.lines().next().unwrap_or_default().split(' ').map(str::to_string);
                (words.collect::<Vec<_>>(), told)
            });
            let [(one, _), (other, _)] = &fetched;
            assert_ne!(one[..2], other[..2], "pair {pair} has one pair of addresses");
            for (words, told) in &fetched {
                assert_eq!(words[2], SIZE.to_string(), "pair {pair}: {words:?}");
                let rows = told["rows"].as_array().unwrap();
                let link = rows.iter().find(|row| row["labels"]["link"] == "far-near").unwrap();
                let served = link["values"]["served_bytes"].as_f64().unwrap();
                // The data with its headers, by the own link and once.
                assert!((200_000.0..230_000.0).contains(&served), "pair {pair}: {served} bytes, {words:?}");
                times.push(words[3].parse::<u64>().unwrap() / 1000);
            }
        }
        times.sort_unstable();
        let [least, median, most] = [0, times.len() / 2, times.len() - 1].map(|place| times[place]);
        // The link cannot be faster: nothing took another path.
        assert!(least >= 160, "{least} ms");
        let _ = writeln!(
            std::io::stderr(),
            "{pairs} pairs, no collision; {SIZE} bytes in {least} to {most} ms, {median} ms in the middle"
        );
    });
}

/// A shell's lines that name only the files that they make: `$KNEE` is the program.
fn alone(lines: &str) -> std::process::Output {
    let lines = lines.to_string();
    let (send, receive) = std::sync::mpsc::channel();
    apart(move || {
        let all = format!("mount -t tmpfs none /run && mount -t bpf none /sys/fs/bpf\n{lines}");
        let mut command = std::process::Command::new("unshare");
        command.args(["--mount", "bash", "-euc", &all]).env("KNEE", env!("CARGO_BIN_EXE_knee"));
        send.send(command.stdin(Stdio::null()).output().unwrap()).unwrap();
    });
    receive.recv().unwrap()
}

/// Waits for a device: the words of `ip`, up to the name.
const UNTIL: &str = "until_there() { for i in $(seq 3000); do ip \"$@\" >/dev/null 2>&1 && return; sleep 0.02; done; exit 9; }\n";

#[test]
fn cleaning_leaves_a_running_emulation_its_device() {
    if !able() {
        return;
    }
    let output = alone(&format!(
        "{UNTIL}
         mkfifo /run/go
         \"$KNEE\" emulate --rate 10mbit --json -- bash -c 'read word < /run/go; echo data > /dev/udp/$KNEE_PEER/9' & emulation=$!
         until_there link show knee0
         \"$KNEE\" doctor --clean --json
         echo > /run/go
         wait $emulation"
    ));
    let said = stdout(&output);
    let answers: Vec<Value> =
        serde_json::Deserializer::from_str(&said).into_iter().collect::<Result<_, _>>().expect(&said);
    let kept = answers[0]["kept"].to_string();
    // The named process is arbitrary if other processes of knee run on the machine: each may have a device of this name.
    assert!(kept.contains("device knee0 stays: process ") && kept.contains(" uses it"), "{said}");
    assert_carried(&output);
    assert!(answers[1]["rows"].is_array(), "{said}");
}

#[test]
fn cleaning_leaves_every_named_namespace_whether_a_process_is_in_it_or_not() {
    if !able() {
        return;
    }
    let output = alone(&format!(
        "{UNTIL}
         ip netns add knee-a; ip netns add knee-b; ip netns add knee0; ip netns add mine
         \"$KNEE\" emulate --between knee-a knee-b --rate 10mbit 2>/dev/null & emulation=$!
         until_there -n knee-b link show knee0
         \"$KNEE\" doctor --clean
         kill -KILL $emulation; wait $emulation || true
         \"$KNEE\" doctor --clean
         ls -A /run/netns"
    ));
    let said = stdout(&output);
    let said: Vec<&str> = said.lines().collect();
    let nothing = "nothing of knee is left on this machine";
    assert!(output.status.success(), "{}", stderr(&output));
    let (cleaned, left) = said.split_at(said.len().saturating_sub(4));
    assert_eq!(left, ["knee-a", "knee-b", "knee0", "mine"]);
    // Programs of the kernel are the machine's: another test may have loaded one meanwhile.
    let of_kernel = |line: &&&str| line.starts_with("congestion control ");
    assert!(cleaned.iter().filter(|line| !of_kernel(line)).all(|line| *line == nothing), "{cleaned:?}");
}

#[test]
fn cleaning_removes_what_nobody_holds() {
    if !able() {
        return;
    }
    let output = alone(&format!(
        "{UNTIL}
         \"$KNEE\" emulate --rate 10mbit -- sleep 60 2>/dev/null & emulation=$!
         until_there link show knee0
         kill -KILL $emulation; wait $emulation || true
         ip tuntap add dev knee7 mode tun; ip tuntap add dev knee8 mode tap; ip link add knee9 type veth peer name other
         for name in knee07 knee+7 knee256 knee7a; do ip tuntap add dev $name mode tun; done
         \"$KNEE\" doctor --clean --json; ip -o link"
    ));
    let said = stdout(&output);
    assert!(output.status.success(), "{}", stderr(&output));
    for name in ["knee7", "knee8", "knee9"] {
        assert!(said.contains(&format!("device {name} removed")), "{said}");
    }
    let left = |line: &str| Some(line.split_once(": knee")?.1.split(':').next()?.to_string());
    let mut left: Vec<String> = said.lines().filter_map(left).collect();
    left.sort();
    assert_eq!(left, ["+7", "07", "256", "7a"], "{said}");
}

#[test]
fn a_name_that_is_taken_is_passed_over() {
    if !able() {
        return;
    }
    apart(|| {
        let ip = |line: &str| {
            let made = std::process::Command::new("ip").args(line.split(' ')).status().unwrap();
            assert!(made.success(), "{line}");
        };
        // A device in use, and a network that leads elsewhere.
        ip("tuntap add dev knee0 mode tun");
        ip("link add other type veth peer name another");
        ip("addr add 10.77.1.9/24 dev other");
        ip("link set other up");
        ip("link set another up");
        let words = ["emulate", "--rate", "10mbit", "--json", "--", "sh", "-c", "echo to $KNEE_PEER >&2"];
        let output = command(&words).output().unwrap();
        assert!(stderr(&output).contains("to 10.77.2.2"), "{}", stderr(&output));
        summary(&output);
    });
}

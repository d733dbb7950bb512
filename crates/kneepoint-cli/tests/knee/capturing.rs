// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Captures by tcpdump of a transfer by iperf3 through a Linux router: losses against the sender's own count. As root, else skipped.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use super::{json, knee, say};

/// Sender `s`, router `r` whose output is 20 Mbit/s with room for 60 packets, receiver `d`; every point is captured. `NAME` prefixes
/// the namespaces, and `OFFLOADS` is `on` or `off`.
const TRANSFER: &str = r#"
trap 'kill $(jobs -p) 2> /dev/null || true; for n in s r d; do ip netns del $NAME$n; done' EXIT
for n in s r d; do ip netns add $NAME$n; ip -n $NAME$n link set lo up; done
ip link add s0 netns ${NAME}s type veth peer name r0 netns ${NAME}r
ip link add r1 netns ${NAME}r type veth peer name d0 netns ${NAME}d
ip -n ${NAME}s addr add 10.79.1.1/24 dev s0; ip -n ${NAME}r addr add 10.79.1.2/24 dev r0
ip -n ${NAME}r addr add 10.79.2.1/24 dev r1; ip -n ${NAME}d addr add 10.79.2.2/24 dev d0
for one in s:s0 r:r0 r:r1 d:d0; do
  ip -n $NAME${one%:*} link set ${one#*:} up
  ip netns exec $NAME${one%:*} ethtool -K ${one#*:} tso $OFFLOADS gso $OFFLOADS gro $OFFLOADS > /dev/null
done
ip -n ${NAME}s route add default via 10.79.1.2; ip -n ${NAME}d route add default via 10.79.2.1
ip netns exec ${NAME}r sysctl -qw net.ipv4.ip_forward=1
tc -n ${NAME}r qdisc add dev r1 root tbf rate 20mbit burst 3kb limit 90kb
ip netns exec ${NAME}d iperf3 -s -1 > /dev/null &
for point in s:s0 r:r0 r:r1 r:any d:d0; do
  ip netns exec $NAME${point%:*} tcpdump -Z root -i ${point#*:} -s 120 -w ${point#*:}.pcap tcp 2> ${point#*:}.said &
done
# Listening, as tcpdump says, all five of them.
for try in $(seq 50); do [ $(grep -l listening *.said | wc -l) = 5 ] && break; sleep 0.1; done
ip netns exec ${NAME}s iperf3 -c 10.79.2.2 -t 8 -C reno --json > iperf.json
sleep 0.5
for said in *.said; do pkill -INT -f "tcpdump .*-w ${said%.said}.pcap" || true; done
sleep 0.5
"#;

/// Requirements of the transfer that the machine lacks.
fn missing() -> Option<String> {
    let has =
        |line: &str| Command::new("sh").args(["-c", line]).output().is_ok_and(|tried| tried.status.success());
    let programs = ["ip", "tc", "ethtool", "tcpdump", "iperf3", "pkill"];
    let absent = programs.into_iter().find(|program| !has(&format!("command -v {program}")));
    let probe = format!("knee-p{}", std::process::id());
    let router = format!(
        "ip netns add {probe} && tc -n {probe} qdisc add dev lo root tbf rate 1mbit burst 3kb limit 9kb; \
         status=$?; ip netns del {probe}; exit $status"
    );
    match absent {
        Some(program) => Some(format!("real captures were not read: `{program}` is not installed")),
        None if !has(&router) => {
            Some("real captures were not read: no namespaces with a TBF queue; run as root".into())
        }
        None => None,
    }
}

/// One file of two, in time order, like that of a mirror port.
fn mirrored(here: &Path) {
    let read = |name: &str| std::fs::read(here.join(name)).unwrap();
    let (one, two) = (read("r0.pcap"), read("r1.pcap"));
    let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let mut records: Vec<(u64, &[u8])> = Vec::new();
    for file in [&one, &two] {
        let mut rest = &file[24..];
        while !rest.is_empty() {
            let (record, after) = rest.split_at(16 + word(rest, 8) as usize);
            records.push(((u64::from(word(record, 0)) << 32) + u64::from(word(record, 4)), record));
            rest = after;
        }
    }
    records.sort_by_key(|(at, _)| *at);
    let mut mirror = std::fs::File::create(here.join("mirror.pcap")).unwrap();
    mirror.write_all(&one[..24]).unwrap();
    records.iter().for_each(|(_, record)| mirror.write_all(record).unwrap());
}

#[test]
fn losses_in_captures_of_tcpdump_are_those_that_the_sender_counted() {
    if let Some(lack) = missing() {
        say(&format!("SKIPPED: {lack}"));
        return;
    }
    for offloads in ["on", "off"] {
        let here = tempfile::tempdir().unwrap();
        let name = format!("knee-c{}", std::process::id());
        let mut transfer = Command::new("bash");
        transfer.args(["-ec", TRANSFER]).env("NAME", name).env("OFFLOADS", offloads).current_dir(here.path());
        let made = transfer.output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        mirrored(here.path());
        let told: serde_json::Value =
            serde_json::from_slice(&std::fs::read(here.path().join("iperf.json")).unwrap()).unwrap();
        let counted = told["end"]["streams"][0]["sender"]["retransmits"].as_u64().unwrap();
        assert!(counted > 20, "{counted} retransmissions are too few to compare");
        let mut report = format!("offloads {offloads}: the sender counted {counted};");
        for files in [
            &["s0.pcap"][..],
            &["any.pcap"],
            &["mirror.pcap"],
            &["s0.pcap", "d0.pcap"],
            &["r0.pcap", "r1.pcap"],
        ] {
            let listed = json(&knee(here.path(), &[&["predict"], files, &["--flows", "--json"]].concat()));
            let lost = listed["flows"][0]["losses"].as_u64().unwrap();
            report += &format!(" {} {lost}", files.join("+"));
            assert!(lost.abs_diff(counted) * 20 <= counted, "{report}");
        }
        say(&report);
    }
}

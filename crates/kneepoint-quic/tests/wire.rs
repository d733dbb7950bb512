// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Servers and clients over this machine's loopback.

#![cfg(feature = "wire")]

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use kneepoint_cc::cc::{Config, REGISTRY};
use kneepoint_quic::carried::{NOQ, carries};
use kneepoint_quic::wire::{Fetch, Hash, Limits, Serve, Server, Site, Stack, Summary, made};

const STACKS: [Stack; 2] = [Stack::Quinn, Stack::Noq];
const SIZE: u64 = 3_000_001;

/// A server in its own thread.
struct Running {
    address: SocketAddr,
    certificate: Hash,
    stop: &'static AtomicBool,
    thread: JoinHandle<Vec<Summary>>,
}

impl Running {
    fn new(stack: Stack, cc: &str, limits: Limits) -> Running {
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let cc = Config::named(cc).expect("registered");
        let server =
            Server::listen(Serve { listen, stack, cc, site: Site::Made(SIZE), limits, records: None })
                .expect("listens");
        let stop: &AtomicBool = Box::leak(Box::default());
        let (address, certificate) = (server.address(), server.certificate());
        let thread = thread::spawn(move || {
            let mut ended = Vec::new();
            let asked = || stop.load(Ordering::Relaxed);
            server.run(&asked, &mut |summary| ended.push(summary)).expect("serves");
            ended
        });
        Running { address, certificate, stop, thread }
    }

    fn fetch(&self, stack: Stack, path: &str) -> Fetch {
        Fetch {
            server: self.address,
            path: path.into(),
            stack,
            cc: Config::default(),
            certificate: Some(self.certificate),
            largest: 10_000_000,
            patience: Duration::from_secs(20),
            records: None,
        }
    }

    fn end(self) -> Vec<Summary> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("no panic")
    }
}

fn get(fetch: &Fetch) -> Result<Vec<u8>, String> {
    let mut object = Vec::new();
    fetch.run(&mut object, &|| false).map(|_| object)
}

#[test]
fn an_object_arrives_as_it_was_made_with_every_controller_and_either_stack() {
    for stack in STACKS {
        for entry in REGISTRY {
            if carries(&NOQ, &Config::named(entry.name).expect("registered")).is_err() {
                continue;
            }
            let server = Running::new(stack, entry.name, Limits::default());
            let object =
                get(&server.fetch(stack, "/100003")).unwrap_or_else(|why| panic!("{}: {why}", entry.name));
            assert!(object.iter().copied().eq(made(0).take(100_003)), "{}: {}", entry.name, object.len());
            let [summary] = &*server.end() else { panic!("{}: one connection", entry.name) };
            assert_eq!((summary.objects, summary.bytes, summary.refused), (1, 100_003, 0), "{}", entry.name);
            let path = summary.path;
            assert!(path.sent > 70 && path.lasted.0 > 0 && path.rtt.0 > 0 && path.window > 2000, "{path:?}");
        }
    }
}

#[test]
fn a_server_speaks_the_protocols_of_its_stack() {
    let server = Running::new(Stack::Quinn, "pert", Limits::default());
    assert_eq!(get(&server.fetch(Stack::Quinn, "/")).expect("HTTP/3").len() as u64, SIZE);
    assert_eq!(get(&server.fetch(Stack::Noq, "/")).expect("hq-interop").len() as u64, SIZE);
    let protocols: Vec<_> = server.end().into_iter().map(|summary| summary.protocol).collect();
    assert_eq!(protocols, ["h3", "hq-interop"]);
    let other = Running::new(Stack::Noq, "pert", Limits::default());
    let why = get(&other.fetch(Stack::Quinn, "/")).expect_err("no HTTP/3");
    assert!(why.contains("no connection to"), "{why}");
    assert_eq!(other.end(), []);
}

#[test]
fn a_server_with_another_certificate_is_not_believed() {
    for stack in STACKS {
        let server = Running::new(stack, "reno", Limits::default());
        let other = Fetch { certificate: Some(Hash([7; 32])), ..server.fetch(stack, "/10") };
        assert!(get(&other).expect_err("another").contains("no connection to"));
        let any = Fetch { certificate: None, ..server.fetch(stack, "/10") };
        assert_eq!(get(&any).expect("any").len(), 10);
        server.end();
    }
}

#[test]
fn what_is_larger_than_a_limit_is_not_served_and_not_taken() {
    for stack in STACKS {
        let limits = Limits { object: 1000, ..Limits::default() };
        let server = Running::new(stack, "cubic", limits);
        assert!(get(&server.fetch(stack, "/1001")).is_err());
        assert_eq!(get(&server.fetch(stack, "/1000")).expect("served").len(), 1000);
        let small = Fetch { largest: 999, ..server.fetch(stack, "/1000") };
        assert!(get(&small).expect_err("too large").contains("larger than 999 bytes"));
        let refused: u64 = server.end().iter().map(|summary| summary.refused).sum();
        assert_eq!(refused, 1);
    }
}

#[test]
fn a_connection_too_many_is_refused_and_one_too_long_is_closed() {
    let limits = Limits { connections: 1, connection: Duration::from_millis(1500), ..Limits::default() };
    let server = Running::new(Stack::Noq, "cubic", limits);
    let slow = server.fetch(Stack::Noq, "/10000000");
    let (begun, waits) = mpsc::channel();
    let first = thread::spawn(move || {
        let mut parts = Slow(begun);
        slow.run(&mut parts, &|| false)
    });
    waits.recv().expect("the first part");
    assert!(get(&server.fetch(Stack::Noq, "/10")).expect_err("full").contains("no connection to"));
    assert!(first.join().expect("no panic").is_err(), "its time was over");
    assert_eq!(get(&server.fetch(Stack::Noq, "/10")).expect("free again").len(), 10);
    server.end();
}

/// Reads a part, reports it, and is slow.
struct Slow(mpsc::Sender<()>);

impl std::io::Write for Slow {
    fn write(&mut self, part: &[u8]) -> std::io::Result<usize> {
        // The receiver may have been dropped.
        let _ = self.0.send(());
        thread::sleep(Duration::from_millis(50));
        Ok(part.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Datagrams of all sizes that are not QUIC, or only almost.
#[test]
fn hostile_datagrams_leave_a_server_as_it_was() {
    let count = std::env::var("KNEE_DATAGRAMS").ok().and_then(|count| count.parse().ok()).unwrap_or(300u64);
    for stack in STACKS {
        let server = Running::new(stack, "pert", Limits::default());
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
        let mut rng = kneepoint_cc::rng::Rng::stream(5, "datagrams", 0);
        for sequence in 0..count {
            for _ in 0..1 + rng.below(4) {
                let size = [0, 1, 20, 60, 1200, 1400, 1500][rng.below(7) as usize];
                let mut datagram: Vec<u8> = (0..size).map(|_| rng.below(256) as u8).collect();
                // Half of them look like the first packet of version 1.
                if rng.chance(0.5) && size > 20 {
                    datagram[0] = 0xc0 | (rng.below(4) as u8) << 4 | rng.below(16) as u8;
                    datagram[1..5].copy_from_slice(&1u32.to_be_bytes());
                    datagram[5] = [0, 8, 20, 21, 255][rng.below(5) as usize];
                }
                // A full buffer loses one, as a network would.
                let _ = socket.send_to(&datagram, server.address);
            }
            if sequence % 1000 == 999 {
                assert_eq!(get(&server.fetch(stack, "/10")).expect("still there").len(), 10);
            }
        }
        assert_eq!(get(&server.fetch(stack, "/100000")).expect("still there").len(), 100_000);
        server.end();
    }
}

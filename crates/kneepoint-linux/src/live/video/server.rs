// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A small HTTP server: it answers every request with one clip, as fast as TCP accepts it. It supports no ranges, so
//! that clients take the stream from its beginning, as it is sent live.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use kneepoint::units::{Bytes, Time};
use nix::poll::PollFlags;

use super::super::hosts::{self, Spent};
use super::since;

/// The time between two samples of the congestion window.
const SAMPLE: Duration = Duration::from_millis(10);
/// The longest request that is read.
const REQUEST: usize = 16 * 1024;

/// The fate of a connection.
#[derive(Clone, Debug, Default)]
pub struct Served {
    /// The time at which its request had arrived.
    pub requested: Time,
    /// Bytes of the answer that the kernel was given.
    pub sent: u64,
    /// The congestion window in packets, every 10 ms until everything was acknowledged.
    pub windows: Vec<(Time, f64)>,
    pub(in crate::live) spent: Spent,
}

/// A listener whose connections have this congestion control from their first packet on.
pub(in crate::live) fn listen(
    address: std::net::Ipv4Addr,
    port: u16,
    control: &str,
    payload: Option<Bytes>,
) -> io::Result<TcpListener> {
    let listener = TcpListener::bind((address, port))?;
    hosts::configure(&listener, control, payload)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Serves every client until `end`; returns the connection that received most.
pub(in crate::live) fn serve(
    listener: &TcpListener,
    clip: &Arc<Vec<u8>>,
    began: Instant,
    end: Instant,
) -> io::Result<Served> {
    hosts::hurry();
    let mut connections = Vec::new();
    while hosts::wait(listener, PollFlags::POLLIN, end)? {
        let Ok((stream, _)) = listener.accept() else { continue };
        stream.set_nonblocking(true)?;
        let clip = Arc::clone(clip);
        connections.push(Builder::new().spawn(move || answer(stream, &clip, began, end))?);
    }
    let served = connections.into_iter().map(|one| one.join().expect("no panic inside"));
    let served = served.collect::<io::Result<Vec<_>>>()?;
    Ok(served.into_iter().max_by_key(|one| one.sent).unwrap_or_default())
}

/// Reads a request and answers it.
fn answer(mut stream: TcpStream, clip: &[u8], began: Instant, end: Instant) -> io::Result<Served> {
    hosts::hurry();
    let mut request = Vec::new();
    let mut part = [0; 1024];
    while !request.windows(4).any(|four| four == b"\r\n\r\n") {
        if request.len() > REQUEST || !hosts::wait(&stream, PollFlags::POLLIN, end)? {
            return Ok(Served::default());
        }
        match stream.read(&mut part) {
            Ok(0) => return Ok(Served::default()),
            Ok(read) => request.extend_from_slice(&part[..read]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => return Ok(Served::default()),
        }
    }
    let mut served = Served { requested: since(began), ..Served::default() };
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: video/mp2t\r\nContent-Length: {}\r\nAccept-Ranges: none\r\nConnection: close\r\n\r\n",
        clip.len()
    );
    for bytes in [head.as_bytes(), if request.starts_with(b"HEAD ") { &[] } else { clip }] {
        if !send(&mut stream, bytes, began, end, &mut served)? {
            break;
        }
    }
    while Instant::now() < end && hosts::unacknowledged(&stream)? > 0 {
        thread::sleep(SAMPLE);
        served.look(&stream, began)?;
    }
    served.spent = Spent {
        retransmissions: hosts::info(&stream)?.tcpi_total_retrans,
        processor: hosts::processor_time(),
    };
    if Instant::now() >= end {
        hosts::abort(&stream)?;
    }
    Ok(served)
}

/// Sends all of it: whether the client took it before the end.
fn send(
    stream: &mut TcpStream,
    bytes: &[u8],
    began: Instant,
    end: Instant,
    served: &mut Served,
) -> io::Result<bool> {
    let mut left = bytes;
    let mut look = Instant::now() + SAMPLE;
    while !left.is_empty() && Instant::now() < end {
        if hosts::wait(stream, PollFlags::POLLOUT, look.min(end))? {
            match stream.write(&left[..left.len().min(hosts::CHUNK)]) {
                Ok(written) => {
                    left = &left[written..];
                    served.sent += written as u64;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                // The client went.
                Err(_) => return Ok(false),
            }
        }
        if Instant::now() >= look {
            served.look(stream, began)?;
            look = (look + SAMPLE).max(Instant::now());
        }
    }
    Ok(left.is_empty())
}

impl Served {
    fn look(&mut self, stream: &TcpStream, began: Instant) -> io::Result<()> {
        self.windows.push((since(began), f64::from(hosts::info(stream)?.tcpi_snd_cwnd)));
        Ok(())
    }
}

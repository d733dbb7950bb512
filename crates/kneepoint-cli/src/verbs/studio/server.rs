// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Serves one page to browsers on this machine.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use kneepoint_bench::session::Session;

use crate::failure::Failure;

/// The interval between checks for a request to stop.
const PAUSE: Duration = Duration::from_millis(50);
/// The server stops waiting for a browser that is silent for this long.
const PATIENCE: Duration = Duration::from_secs(2);
/// The longest request that is read: its first line is enough.
const REQUEST: usize = 8192;

/// Listens on the loopback address only.
pub struct Server {
    listener: TcpListener,
    port: u16,
}

impl Server {
    /// On a port, or any that is free.
    pub fn on(port: u16) -> Result<Server, Failure> {
        let listen = || {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
            listener.set_nonblocking(true)?;
            Ok(Server { port: listener.local_addr()?.port(), listener })
        };
        listen().map_err(|error: io::Error| {
            Failure::run(
                format!("cannot listen on port {port}: {error}"),
                "choose another with --port, or write a file with --out",
            )
        })
    }

    /// Its address for browsers.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Answers with the page until it receives a request to stop.
    pub fn serve(&self, session: &Session, page: &[u8]) -> Result<(), Failure> {
        session.listen_saying("stopping")?;
        while !session.asked() {
            match self.listener.accept() {
                // A browser that leaves is not a failure of ours.
                Ok((stream, _)) => drop(answer(stream, page)),
                Err(_) => thread::sleep(PAUSE),
            }
        }
        Ok(())
    }
}

fn answer(mut stream: TcpStream, page: &[u8]) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut request = Vec::new();
    let mut part = [0; 1024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") && request.len() < REQUEST {
        let read = stream.read(&mut part)?;
        if read == 0 {
            break;
        }
        request.extend_from_slice(&part[..read]);
    }
    let known = request.starts_with(b"GET / ");
    let (status, body) = if known { ("200 OK", page) } else { ("404 Not Found", &b"nothing is here\n"[..]) };
    let kind = if known { "text/html" } else { "text/plain" };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n",
        body.len()
    )?;
    stream.write_all(body)
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A film that is sent over HTTP by this machine's kernel and played at the other end of an emulated network.
//!
//! ```text
//! near or far: server, a listening socket with the group's congestion control ─ network ─ the other host: player
//! ```
//!
//! The player is the laboratory's own ([`Player`]) or mpv, whose word is taken by its control socket.

mod mpv;
mod player;
pub(super) mod server;
pub(super) mod stream;

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddrV4, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use kneepoint::units::{Bytes, Span, Time};
use nix::poll::PollFlags;

use super::hosts;
use crate::behind::Host;
pub use player::{Buffering, Empty, Playback, Player};
pub use server::Served;
pub use stream::{Kind, Stream, Unit};

/// The port of the first server.
pub(super) const PORT: u16 = 8080;
/// The size of a player's read: a hundredth of a second of a film.
const PART: usize = 16 * 1024;
/// The longest head of an answer.
const HEAD: usize = 16 * 1024;
/// The time that a pausing player waits before it checks again.
const LOOK: Duration = Duration::from_millis(5);

/// A film instead of a group's transfers.
#[derive(Clone, Debug)]
pub struct Show {
    /// The group, by its place among the groups of traffic.
    pub group: u32,
    /// The film: an MPEG transport stream.
    pub clip: Arc<Vec<u8>>,
    /// The number of its pictures.
    pub pictures: u64,
    /// Its buffering.
    pub buffering: Buffering,
    /// The program that plays it.
    pub viewer: Viewer,
}

/// A program that plays a film.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Viewer {
    /// The laboratory's own player.
    Own,
    /// mpv, with its control socket in this folder.
    Mpv(PathBuf),
}

/// A playback from both ends.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// The player's observations.
    pub playback: Playback,
    /// The server's observations.
    pub served: Served,
}

impl Shown {
    /// From the arrival of the request at the server to the first picture.
    pub fn startup(&self) -> Option<Span> {
        self.playback.started.map(|started| started.since(self.served.requested))
    }

    /// Standard deviation over mean of the congestion window, from the first picture until the server had sent everything.
    pub fn window_variation(&self) -> f64 {
        let Some(started) = self.playback.started else { return f64::NAN };
        let playing = self.served.windows.iter().filter(|(at, _)| *at >= started).map(|(_, window)| *window);
        let windows: Vec<f64> = playing.collect();
        let count = windows.len() as f64;
        let mean = windows.iter().sum::<f64>() / count;
        let square =
            windows.iter().map(|window| (window - mean) * (window - mean)).sum::<f64>() / (count - 1.0);
        square.sqrt() / mean
    }
}

/// The contents of a film.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Contents {
    /// Its length, from the first picture to the last.
    pub length: Span,
    /// Its pictures.
    pub pictures: u64,
    /// Whether it has sound.
    pub sound: bool,
    /// Most bytes between pictures a second apart.
    pub peak: Bytes,
}

/// Reads a film through; none if it has no pictures.
pub fn contents(clip: &[u8]) -> Option<Contents> {
    let mut stream = Stream::default();
    let mut found = Contents::default();
    // When each picture is shown, and where in the film it ends.
    let mut pictures: Vec<(Span, u64)> = Vec::new();
    let mut see = |unit: Unit| match unit.kind {
        Kind::Video => pictures.push((unit.presented, unit.arrived.0)),
        Kind::Audio => found.sound = true,
    };
    // The film arrives at a byte in each nanosecond.
    for (place, part) in clip.chunks(188).enumerate() {
        stream.take(part, Time(188 * place as u64), &mut see);
    }
    stream.end(&mut see);
    let (first, last) = (pictures.first()?.0, pictures.iter().map(|one| one.0).max()?);
    let mut from = 0;
    for (at, place) in &pictures {
        while pictures[from].0 + Span::from_secs(1) < *at {
            from += 1;
        }
        found.peak = found.peak.max(Bytes(place - pictures[from].1));
    }
    Some(Contents { length: last.saturating_sub(first), pictures: pictures.len() as u64, ..found })
}

/// Time since the beginning of a run.
pub(super) fn since(began: Instant) -> Time {
    Span(began.elapsed().as_nanos() as u64).after_start()
}

/// Plays from `start` until `end`.
pub(super) fn play(
    show: &Show,
    hosts: [&Host; 2],
    from: SocketAddrV4,
    [began, start, end]: [Instant; 3],
) -> io::Result<Playback> {
    let [own, server] = hosts;
    let mut playback = match &show.viewer {
        Viewer::Own => {
            let buffering = show.buffering;
            own.run(move || watch(buffering, from, [began, start, end]))?
        }
        Viewer::Mpv(folder) => {
            thread::sleep(start.saturating_duration_since(Instant::now()));
            mpv::watch(own, server, from, show.buffering, folder, [began, end])?
        }
    };
    if show.viewer == Viewer::Own {
        playback.settle(show.pictures, show.buffering.empty);
    }
    Ok(playback)
}

/// The laboratory's own player.
fn watch(
    buffering: Buffering,
    from: SocketAddrV4,
    [began, start, end]: [Instant; 3],
) -> io::Result<Playback> {
    hosts::hurry();
    thread::sleep(start.saturating_duration_since(Instant::now()));
    let mut stream = TcpStream::connect_timeout(&from.into(), end.saturating_duration_since(Instant::now()))?;
    stream.write_all(
        format!("GET /film.ts HTTP/1.1\r\nHost: {from}\r\nConnection: close\r\n\r\n").as_bytes(),
    )?;
    let mut player = Player::new(buffering, since(began));
    stream.set_nonblocking(true)?;
    let mut head = Vec::new();
    let mut part = vec![0; PART];
    while Instant::now() < end {
        let now = since(began);
        player.advance(now);
        if !player.reads(now) {
            thread::sleep(LOOK);
            continue;
        }
        let due = Duration::from_nanos(player.due(now).since(now).0);
        if !hosts::wait(&stream, PollFlags::POLLIN, end.min(Instant::now() + due))? {
            continue;
        }
        match stream.read(&mut part) {
            Ok(0) => {
                player.end(since(began));
                break;
            }
            Ok(read) => body(&mut head, &part[..read])?
                .into_iter()
                .for_each(|bytes| player.take(&bytes, since(began))),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(player.finish(since(began)))
}

/// The body of a response.
fn body(head: &mut Vec<u8>, part: &[u8]) -> io::Result<Option<Vec<u8>>> {
    const MARK: &[u8] = b"\r\n\r\n";
    if head.ends_with(MARK) {
        return Ok(Some(part.to_vec()));
    }
    head.extend_from_slice(part);
    let Some(place) = head.windows(MARK.len()).position(|four| four == MARK) else {
        return if head.len() > HEAD {
            Err(io::Error::other("the header of the server's response is incomplete"))
        } else {
            Ok(None)
        };
    };
    if !head.starts_with(b"HTTP/1.1 200") {
        let line = String::from_utf8_lossy(head.split(|byte| *byte == b'\r').next().unwrap_or_default())
            .into_owned();
        return Err(io::Error::other(format!("the server answered `{line}`")));
    }
    let rest = head.split_off(place + MARK.len());
    Ok(Some(rest))
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! mpv as a player without a screen, as an independent witness of start-up and stalls.
//!
//! ```text
//! core-idle false         pictures are shown: the first time is the start, later ones are the ends of stalls
//! core-idle true          a stall begins, unless the film has ended
//! frame-drop-count        pictures that came too late for their time, as mpv counts them
//! end-file                the film has ended
//! ```
//!
//! mpv reports changes of its properties by its control socket, a line of JSON each; they are timed when they are read.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::net::SocketAddrV4;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use kneepoint::units::Time;

use super::player::{Buffering, Playback};
use super::since;
use crate::behind::Host;
use crate::privilege::Rights;

/// The time that it must open its control socket.
const OPEN: Duration = Duration::from_secs(5);
/// The longest wait for a line.
const LOOK: Duration = Duration::from_millis(50);

/// Plays the film of a server until `end`.
pub(super) fn watch(
    host: &Host,
    server: &Host,
    from: SocketAddrV4,
    buffering: Buffering,
    folder: &Path,
    [began, end]: [Instant; 2],
) -> io::Result<Playback> {
    let socket = folder.join(format!("mpv-{}", host.device.name));
    let (caching, buffer) = (buffering.caching.as_secs_f64(), buffering.buffer.as_secs_f64());
    let options = format!(
        "mpv --no-config --really-quiet --vo=null --ao=null --untimed=no --cache=yes --cache-pause=yes --cache-pause-initial=yes \
         --cache-pause-wait={caching} --cache-secs={buffer} --demuxer-readahead-secs={buffer} --demuxer-max-bytes=1GiB \
         http://{from}/film.ts"
    );
    let mut words: Vec<OsString> = options.split_whitespace().map(OsString::from).collect();
    let mut place = OsString::from("--input-ipc-server=");
    place.push(&socket);
    words.insert(1, place);
    let requested = since(began);
    let mut program = host.start(&words, server, Stdio::null(), &Rights::of_caller())?;
    let mut control = connect(&socket, end)?;
    control.write_all(
        b"{\"command\":[\"observe_property\",1,\"core-idle\"]}\n{\"command\":[\"observe_property\",2,\"frame-drop-count\"]}\n",
    )?;
    control.set_read_timeout(Some(LOOK))?;
    let mut witness = Witness { seen: Playback { requested, ..Playback::default() }, idle: None };
    let mut lines = BufReader::new(control);
    let mut line = String::new();
    while Instant::now() < end && !witness.seen.complete {
        match lines.read_line(&mut line) {
            Ok(0) => break,
            Ok(_) => {
                witness.hear(&line, since(began));
                line.clear();
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(error) => return Err(error),
        }
    }
    program.end()?;
    let _ = std::fs::remove_file(&socket);
    Ok(witness.finish(since(began)))
}

fn connect(socket: &Path, end: Instant) -> io::Result<UnixStream> {
    let until = end.min(Instant::now() + OPEN);
    loop {
        match UnixStream::connect(socket) {
            Err(error) if Instant::now() >= until => {
                return Err(io::Error::other(format!("mpv opened no control socket: {error}")));
            }
            Err(_) => thread::sleep(Duration::from_millis(10)),
            connected => return connected,
        }
    }
}

/// Messages of mpv.
struct Witness {
    seen: Playback,
    /// The time since which playback has stalled, after its start.
    idle: Option<Time>,
}

impl Witness {
    fn hear(&mut self, line: &str, now: Time) {
        let about = |name: &str| line.contains(&format!("\"name\":\"{name}\""));
        let data = line.split_once("\"data\":").map_or("", |(_, data)| data.trim_end().trim_end_matches('}'));
        if line.contains("\"event\":\"end-file\"") {
            self.seen.complete = true;
            self.idle = None;
        } else if about("core-idle") && data.starts_with("false") {
            match self.idle.take() {
                Some(since) => self.seen.stalls.push((since, now.since(since))),
                None => self.seen.started = self.seen.started.or(Some(now)),
            }
        } else if about("core-idle") && self.seen.started.is_some() {
            self.idle = self.idle.or(Some(now));
        } else if about("frame-drop-count") {
            let digits: String = data.chars().take_while(char::is_ascii_digit).collect();
            self.seen.late_pictures = digits.parse().unwrap_or(self.seen.late_pictures);
        }
    }

    fn finish(mut self, now: Time) -> Playback {
        self.seen.stalls.extend(self.idle.map(|since| (since, now.since(since))));
        self.seen
    }
}

#[cfg(test)]
mod tests {
    use kneepoint::units::Span;

    use super::*;

    #[test]
    fn what_mpv_tells_becomes_a_start_and_stalls() {
        let mut witness = Witness { seen: Playback::default(), idle: None };
        let idle = |data: &str| {
            format!("{{\"event\":\"property-change\",\"id\":1,\"name\":\"core-idle\",\"data\":{data}}}\n")
        };
        let told = [(1, "true"), (3, "false"), (8, "true"), (10, "false"), (20, "true")];
        for (second, data) in told {
            witness.hear(&idle(data), Span::from_secs(second).after_start());
        }
        witness.hear(
            "{\"event\":\"property-change\",\"id\":2,\"name\":\"frame-drop-count\",\"data\":7}\n",
            Time::ZERO,
        );
        witness.hear("{\"event\":\"end-file\",\"reason\":\"eof\"}\n", Span::from_secs(21).after_start());
        let seen = witness.finish(Span::from_secs(30).after_start());
        let at = |second| Span::from_secs(second).after_start();
        assert_eq!((seen.started, seen.late_pictures, seen.complete), (Some(at(3)), 7, true));
        assert_eq!(seen.stalls, [(at(8), Span::from_secs(2))], "the end of the film is not a stall");
    }
}

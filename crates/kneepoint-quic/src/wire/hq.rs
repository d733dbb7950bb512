// SPDX-License-Identifier: Apache-2.0 OR MIT
//! HTTP/0.9 over QUIC: a line `GET PATH` on a stream, and the bare object back.

use std::io;
use std::string::{String, ToString};
use std::vec::Vec;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};

use super::object::Site;
use super::serve::{Limits, Output, Tally};

/// The longest request.
const REQUEST: usize = 1024;

/// Answers the request of a stream. A peer that requests an unknown object gets a reset stream.
pub(super) async fn answer(
    (mut output, mut input): (impl Output, impl AsyncRead + Unpin),
    site: &Site,
    limits: &Limits,
    tally: &Tally,
) {
    let path = tokio::time::timeout(limits.request, request(&mut input)).await.ok().flatten();
    let Some(mut object) = path.and_then(|path| site.open(&path, limits.object)) else {
        tally.refused();
        return output.refuse();
    };
    loop {
        match object.next() {
            Ok(Some(bytes)) => match output.write_all(&bytes).await {
                Ok(()) => tally.sent(bytes.len()),
                // The peer left.
                Err(_) => return,
            },
            Ok(None) => break,
            Err(_) => {
                tally.refused();
                return output.refuse();
            }
        }
    }
    if output.shutdown().await.is_ok() {
        tally.served();
    }
}

/// The path of a request; `None` if it is none. The end of the line or of the stream ends it.
async fn request(input: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut line = Vec::new();
    let mut part = [0; 256];
    while !line.contains(&b'\n') {
        let read = input.read(&mut part).await.ok()?;
        line.extend_from_slice(&part[..read]);
        if read == 0 {
            break;
        }
        if line.len() > REQUEST {
            return None;
        }
    }
    let line = std::str::from_utf8(&line).ok()?.lines().next()?;
    line.strip_prefix("GET ").map(|path| path.trim().to_string())
}

/// Asks for an object and hands its parts to `take`.
pub(super) async fn get(
    (mut output, mut input): (impl Output, impl AsyncRead + Unpin),
    path: &str,
    take: &mut dyn FnMut(&[u8]) -> Result<(), String>,
) -> Result<(), String> {
    let told = |error: io::Error| error.to_string();
    output.write_all(std::format!("GET {path}\r\n").as_bytes()).await.map_err(told)?;
    output.shutdown().await.map_err(told)?;
    let mut part = std::vec![0; 1 << 16];
    loop {
        match input.read(&mut part).await.map_err(told)? {
            0 => return Ok(()),
            read => take(&part[..read])?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_a_line_of_bounded_length() {
        let path =
            |text: &[u8]| super::super::alone(async { Ok(request(&mut &text[..]).await) }).expect("read");
        assert_eq!(path(b"GET /10\r\n"), Some("/10".into()));
        assert_eq!(path(b"GET /10"), Some("/10".into()));
        assert_eq!(path(b"PUT /10\r\n"), None);
        assert_eq!(path(&[b'x'; 5000]), None);
        assert_eq!(path(b"GET /\xff\r\n"), None);
        assert_eq!(path(b""), None);
    }
}

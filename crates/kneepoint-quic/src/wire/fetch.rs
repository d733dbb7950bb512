// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A client that fetches one object.

use std::io::Write;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::string::{String, ToString};
use std::time::{Duration, Instant};

use kneepoint_cc::cc::Config;
use sha2::{Digest, Sha256};
use tokio::time::timeout;

use super::serve::Connection;
use super::{Hash, Records, Stack, alone, hq, noq, quinn, tls};

/// The object that a client fetches.
#[derive(Clone, Debug)]
pub struct Fetch {
    /// The server.
    pub server: SocketAddr,
    /// The path of the object.
    pub path: String,
    /// The stack; quinn speaks HTTP/3, noq `hq-interop`.
    pub stack: Stack,
    /// The controller of the client's data.
    pub cc: Config,
    /// The SHA-256 of the server's certificate; without it any server is trusted.
    pub certificate: Option<Hash>,
    /// Bytes that are taken at most.
    pub largest: u64,
    /// The longest permitted time.
    pub patience: Duration,
    /// Where the connection is recorded.
    pub records: Option<Records>,
}

/// An object that was fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Its size.
    pub bytes: u64,
    /// Its checksum.
    pub sha256: Hash,
    /// From the first packet to the end of the handshake.
    pub handshake: Duration,
    /// From the first packet to the last byte.
    pub took: Duration,
    /// The file of the connection's record.
    pub record: Option<PathBuf>,
}

impl Fetched {
    /// Its bytes in bits per second.
    pub fn goodput(&self) -> f64 {
        self.bytes as f64 * 8.0 / self.took.as_secs_f64().max(1e-9)
    }
}

impl Fetch {
    /// Fetches the object into `into`, unless `stop`, which is called with every part of it, returns true.
    #[expect(clippy::disallowed_methods, reason = "a transfer over a network takes the time of clocks")]
    pub fn run(&self, into: &mut dyn Write, stop: &dyn Fn() -> bool) -> Result<Fetched, String> {
        let from: SocketAddr = match self.server {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let socket = UdpSocket::bind(from).map_err(|error| error.to_string())?;
        let tls = tls::client(self.certificate, self.stack.protocols()[0])?;
        let fetched = async {
            let began = Instant::now();
            let told = |error: String| std::format!("no connection to {}: {error}", self.server);
            let (cc, records) = (self.cc.clone(), self.records.as_ref());
            match self.stack {
                Stack::Quinn => {
                    let connected = quinn::connect(socket, tls, cc, self.server, records).await;
                    let (endpoint, connection, record) = connected.map_err(told)?;
                    let fetched = self.over(&connection, began, into, stop).await;
                    connection.close(0x100u32.into(), b"");
                    endpoint.wait_idle().await;
                    fetched.map(|fetched| Fetched { record, ..fetched })
                }
                Stack::Noq => {
                    let connected = noq::connect(socket, tls, cc, self.server, records).await;
                    let (endpoint, connection, record) = connected.map_err(told)?;
                    let fetched = self.over(&connection, began, into, stop).await;
                    connection.close(0u32.into(), b"");
                    endpoint.wait_idle().await;
                    fetched.map(|fetched| Fetched { record, ..fetched })
                }
            }
        };
        alone(async {
            let late = |_| std::format!("it took longer than {} s", self.patience.as_secs());
            timeout(self.patience, fetched).await.map_err(late)?
        })
    }

    async fn over(
        &self,
        connection: &impl Connection,
        began: Instant,
        into: &mut dyn Write,
        stop: &dyn Fn() -> bool,
    ) -> Result<Fetched, String> {
        let handshake = began.elapsed();
        let (mut bytes, mut digest) = (0u64, Sha256::new());
        let mut take = |part: &[u8]| {
            bytes += part.len() as u64;
            if bytes > self.largest {
                return Err(std::format!("the object is larger than {} bytes", self.largest));
            }
            if stop() {
                return Err("stopped".to_string());
            }
            digest.update(part);
            into.write_all(part).map_err(|error| error.to_string())
        };
        if self.stack.protocols()[0] == tls::HTTP3 {
            let address = std::format!("https://{}{}", self.server, self.path);
            connection.get_http3(&address, &mut take).await?;
        } else {
            hq::get(connection.open().await?, &self.path, &mut take).await?;
        }
        let sha256 = Hash(digest.finalize().into());
        Ok(Fetched { bytes, sha256, handshake, took: began.elapsed(), record: None })
    }
}

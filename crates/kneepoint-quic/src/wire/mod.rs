// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A server and a client on the wire, with any controller that their stack can carry.
//!
//! | stack | protocols |
//! |---|---|
//! | quinn | HTTP/3 by `h3`, and `hq-interop` (HTTP/0.9 over QUIC, which the QUIC interop runner uses) |
//! | noq | `hq-interop` |
//!
//! ```text
//! Server: socket, identity ─ endpoint ─ connection ─┬─ http3 ─┐
//!                                                   └─ hq ────┴─ Site: objects
//! ```
//!
//! Everything that a peer can make a server do is bounded by [`Limits`].

mod endpoint;
mod fetch;
mod hq;
mod http3;
mod noq;
mod object;
mod quinn;
mod serve;
mod tls;

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::string::{String, ToString};
use std::time::Duration;
use std::vec;

use kneepoint_cc::cc::Config;

use crate::carried::{self, carries};
use tls::Identity;

pub use crate::record::Records;
pub use fetch::{Fetch, Fetched};
pub use object::{Site, made};
pub use serve::{Limits, Path, Summary};
pub use tls::Hash;

/// A connection without arrivals for this long ends, during its handshake as later.
const IDLE: Duration = Duration::from_secs(30);

/// Bytes of the longest connection ID (RFC 9000 §17.2).
const LONGEST_ID: usize = 20;

/// The stacks that a server or a client can run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    /// quinn.
    Quinn,
    /// noq.
    Noq,
}

impl Stack {
    /// Its name.
    pub fn name(self) -> &'static str {
        self.told().name
    }

    fn told(self) -> carried::Stack {
        match self {
            Stack::Quinn => carried::QUINN,
            Stack::Noq => carried::NOQ,
        }
    }

    /// The protocols that it speaks here, the preferred one first.
    fn protocols(self) -> &'static [&'static [u8]] {
        match self {
            Stack::Quinn => &[tls::HTTP3, tls::HQ],
            Stack::Noq => &[tls::HQ],
        }
    }
}

/// The objects and the controller of a server.
#[derive(Clone, Debug)]
pub struct Serve {
    /// Its address.
    pub listen: SocketAddr,
    /// The stack.
    pub stack: Stack,
    /// The controller of every connection.
    pub cc: Config,
    /// The objects.
    pub site: Site,
    /// Bounds.
    pub limits: Limits,
    /// Where connections are recorded.
    pub records: Option<Records>,
}

/// A server that listens.
pub struct Server {
    socket: UdpSocket,
    address: SocketAddr,
    identity: Identity,
    what: Serve,
}

impl Server {
    /// Listens, with its own certificate that was made for this server. Fails where the address is taken, or the stack cannot carry the
    /// controller.
    pub fn listen(what: Serve) -> Result<Server, String> {
        carries(&what.stack.told(), &what.cc).map_err(|why| std::format!("`{}` {why}", what.cc.name()))?;
        let fails = |error: io::Error| std::format!("cannot listen at {}: {error}", what.listen);
        let socket = UdpSocket::bind(what.listen).map_err(fails)?;
        let address = socket.local_addr().map_err(fails)?;
        let identity = Identity::new(vec!["localhost".to_string(), address.ip().to_string()])?;
        Ok(Server { socket, address, identity, what })
    }

    /// Its address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The SHA-256 of its certificate.
    pub fn certificate(&self) -> Hash {
        self.identity.hash()
    }

    /// Serves until `stop`, which is called ten times a second, returns true. Every connection that ended is handed to `ended`.
    pub fn run(self, stop: &dyn Fn() -> bool, ended: &mut dyn FnMut(Summary)) -> Result<(), String> {
        let tls = self.identity.server(self.what.stack.protocols())?;
        let Serve { stack, cc, site, limits, records, .. } = self.what;
        alone(async {
            match stack {
                Stack::Quinn => {
                    let endpoint = quinn::server(self.socket, tls, cc, &limits, records)?;
                    serve::serve(&endpoint, &site, &limits, stop, ended).await;
                }
                Stack::Noq => {
                    let endpoint = noq::server(self.socket, tls, cc, &limits, records)?;
                    serve::serve(&endpoint, &site, &limits, stop, ended).await;
                }
            }
            Ok(())
        })
    }
}

/// Runs a future on this thread.
fn alone<T>(future: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
    runtime.map_err(|error| std::format!("no runtime: {error}"))?.block_on(future)
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A server's connections, on any stack.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::string::String;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use kneepoint_cc::units::Span;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::object::Site;
use super::{hq, tls};
use crate::host::Host;

/// The interval between a server's checks for a request to stop.
const TICK: Duration = Duration::from_millis(100);
/// The time that it waits for its last connections then.
const PATIENCE: Duration = Duration::from_secs(2);

/// Limits on the work that peers can cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at a time. Others are refused.
    pub connections: usize,
    /// Requests of a connection at a time. Others wait.
    pub requests: u32,
    /// Bytes of an object. Larger ones are not there.
    pub object: u64,
    /// Time until a request is complete.
    pub request: Duration,
    /// Time of a connection. It is closed afterwards.
    pub connection: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 16,
            requests: 16,
            object: 1 << 30,
            request: Duration::from_secs(10),
            connection: Duration::from_secs(600),
        }
    }
}

/// The objects served to a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Whose it was.
    pub peer: SocketAddr,
    /// The protocol that was negotiated.
    pub protocol: String,
    /// Objects that were passed on whole.
    pub objects: u64,
    /// Requests that were not answered with an object.
    pub refused: u64,
    /// Bytes of objects that were handed to the stack.
    pub bytes: u64,
    /// The state of the path.
    pub path: Path,
    /// The file of its record.
    pub record: Option<PathBuf>,
}

/// A sender's knowledge of its path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Path {
    /// From the connection's beginning to the last acknowledgement of data.
    pub lasted: Span,
    /// The round-trip time by the stack's estimate.
    pub rtt: Span,
    /// Bytes that may be in flight.
    pub window: u64,
    /// Packets that were sent.
    pub sent: u64,
    /// Packets that were lost.
    pub lost: u64,
    /// The number of congestion signals to the controller.
    pub episodes: u64,
}

impl Path {
    /// With the observations of the controller's host.
    pub(super) fn seen(self, host: Option<&Host>) -> Path {
        Path { lasted: host.map_or(Span::ZERO, Host::lasted), ..self }
    }
}

impl Summary {
    /// Bytes of objects in bits per second.
    pub fn goodput(&self) -> f64 {
        let seconds = self.path.lasted.as_secs_f64();
        if seconds > 0.0 { self.bytes as f64 * 8.0 / seconds } else { 0.0 }
    }
}

/// Counts the results of a connection's requests.
#[derive(Debug, Default)]
pub(super) struct Tally {
    objects: AtomicU64,
    refused: AtomicU64,
    bytes: AtomicU64,
}

impl Tally {
    pub(super) fn served(&self) {
        self.objects.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn sent(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// The sending half of a stream.
pub(super) trait Output: AsyncWrite + Unpin + Send {
    /// Ends it without an answer.
    fn refuse(&mut self);
}

/// A connection of a stack.
pub(super) trait Connection: Clone + Send + Sync + 'static {
    type Output: Output + 'static;
    type Input: AsyncRead + Unpin + Send + 'static;

    /// The protocol that was negotiated.
    fn protocol(&self) -> Option<std::vec::Vec<u8>>;
    /// The next stream that the peer opens; `None` once the connection is over.
    fn accept(&self) -> impl Future<Output = Option<(Self::Output, Self::Input)>> + Send;
    fn open(&self) -> impl Future<Output = Result<(Self::Output, Self::Input), String>> + Send;
    /// Its information on its path; `None` once that is gone.
    fn path(&self) -> Option<Path>;
    fn close(&self, reason: &str);
    /// Answers in HTTP/3 until the connection ends.
    fn http3(&self, site: &Arc<Site>, limits: &Limits, tally: &Arc<Tally>)
    -> impl Future<Output = ()> + Send;
    /// Asks for an object in HTTP/3.
    fn get_http3(
        &self,
        address: &str,
        take: &mut dyn FnMut(&[u8]) -> Result<(), String>,
    ) -> impl Future<Output = Result<(), String>>;
}

/// An endpoint of a stack.
pub(super) trait Endpoint {
    type Connection: Connection;
    type Incoming: Send + 'static;
    type Opening: Send + 'static;

    /// The next peer that opens a connection; `None` once the endpoint is closed.
    fn next(&self) -> impl Future<Output = Option<Self::Incoming>>;
    /// Whose it is.
    fn peer(incoming: &Self::Incoming) -> SocketAddr;
    /// Begins its connection, and the record of that.
    fn accept(&self, incoming: Self::Incoming) -> Option<(Self::Opening, Option<PathBuf>)>;
    /// Its handshake.
    fn open(opening: Self::Opening) -> impl Future<Output = Option<Self::Connection>> + Send;
    fn refuse(incoming: Self::Incoming);
    fn close(&self);
    /// Until all have been notified that it is closed.
    fn idle(&self) -> impl Future<Output = ()>;
}

/// Serves until it is to stop.
pub(super) async fn serve<E: Endpoint>(
    endpoint: &E,
    site: &Site,
    limits: &Limits,
    stop: &dyn Fn() -> bool,
    ended: &mut dyn FnMut(Summary),
) {
    let site = Arc::new(site.clone());
    let mut at_work = JoinSet::new();
    while !stop() {
        match timeout(TICK, endpoint.next()).await {
            Ok(Some(incoming)) if at_work.len() < limits.connections => {
                let (site, limits, peer) = (Arc::clone(&site), *limits, E::peer(&incoming));
                if let Some((opening, record)) = endpoint.accept(incoming) {
                    at_work.spawn(async move {
                        let connection = E::open(opening).await?;
                        Some(Summary { record, ..attend(peer, &connection, &site, &limits).await })
                    });
                }
            }
            Ok(Some(incoming)) => E::refuse(incoming),
            Ok(None) => break,
            Err(_) => {}
        }
        while let Some(done) = at_work.try_join_next() {
            done.ok().flatten().into_iter().for_each(&mut *ended);
        }
    }
    endpoint.close();
    while let Ok(Some(done)) = timeout(PATIENCE, at_work.join_next()).await {
        done.ok().flatten().into_iter().for_each(&mut *ended);
    }
    // A peer that is gone does not answer.
    drop(timeout(PATIENCE, endpoint.idle()).await);
}

/// Answers a connection until it is over.
async fn attend<C: Connection>(
    peer: SocketAddr,
    connection: &C,
    site: &Arc<Site>,
    limits: &Limits,
) -> Summary {
    let tally = Arc::new(Tally::default());
    let protocol = connection.protocol().unwrap_or_default();
    let answered = async {
        if protocol == tls::HTTP3 {
            connection.http3(site, limits, &tally).await;
        } else {
            streams(connection, site, limits, &tally).await;
        }
    };
    let mut path = Path::default();
    let mut answered = std::pin::pin!(timeout(limits.connection, answered));
    // The path is gone with the connection, so it is inspected before.
    let whole = loop {
        match timeout(TICK, &mut answered).await {
            Ok(whole) => break whole,
            Err(_) => path = connection.path().unwrap_or(path),
        }
    };
    path = connection.path().unwrap_or(path);
    if whole.is_err() {
        connection.close("the connection's time is over");
    }
    let count = |of: &AtomicU64| of.load(Ordering::Relaxed);
    Summary {
        peer,
        protocol: String::from_utf8_lossy(&protocol).into_owned(),
        objects: count(&tally.objects),
        refused: count(&tally.refused),
        bytes: count(&tally.bytes),
        path,
        record: None,
    }
}

/// Answers the streams of a connection. Unanswered ones are dropped at its end.
async fn streams<C: Connection>(connection: &C, site: &Arc<Site>, limits: &Limits, tally: &Arc<Tally>) {
    let mut requests = JoinSet::new();
    while let Some(stream) = connection.accept().await {
        let (site, limits, tally) = (Arc::clone(site), *limits, Arc::clone(tally));
        requests.spawn(async move { hq::answer(stream, &site, &limits, &tally).await });
        while requests.try_join_next().is_some() {}
    }
}

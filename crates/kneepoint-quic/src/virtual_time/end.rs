// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One end of a connection: noq's endpoint with its only connection, and the stream that it sends or receives.

use std::boxed::Box;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::string::{String, ToString};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::vec::Vec;

use bytes::{Bytes, BytesMut};
use kneepoint_cc::rng::Rng;
use noq_proto::congestion::ControllerFactory;
use noq_proto::{
    ClientConfig, Connection, ConnectionHandle, ConnectionId, ConnectionIdGenerator, DatagramEvent, Dir,
    EcnCodepoint, Endpoint, EndpointConfig, Event, FourTuple, NoneTokenStore, ServerConfig, StreamEvent,
    StreamId, TransportConfig, VarInt,
};

use super::plain;

/// Bytes that are handed to the stack at once.
const CHUNK: usize = 1 << 16;
static ZEROS: [u8; CHUNK] = [0; CHUNK];
/// The buffer of a stream's receiver and of its sender: more than any path holds.
const WINDOW: u64 = 1 << 30;
/// Bytes of IP's and UDP's headers.
pub(super) const HEADERS: u64 = 28;
const ADDRESSES: [SocketAddr; 2] = [
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 443),
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)), 443),
];

/// Numbers in order as connection ids: unlike random ones they are the same in every run.
#[derive(Debug)]
struct Numbered(u64);

impl ConnectionIdGenerator for Numbered {
    fn generate_cid(&mut self) -> ConnectionId {
        self.0 += 1;
        ConnectionId::new(&self.0.to_be_bytes())
    }
    fn cid_len(&self) -> usize {
        8
    }
    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

/// The settings of both ends of a connection.
pub(super) struct Settings {
    /// Makes the sender's controller, and the receiver's.
    pub(super) controllers: [Arc<dyn ControllerFactory + Send + Sync>; 2],
    /// Bytes of a full packet on the wire.
    pub(super) packet: u64,
    pub(super) seed: u64,
    /// The connection's number in its run.
    pub(super) number: u64,
}

impl Settings {
    fn transport(&self, side: usize) -> Arc<TransportConfig> {
        let mut config = TransportConfig::default();
        let payload = u16::try_from(self.packet - HEADERS).unwrap_or(u16::MAX).max(1200);
        let window = VarInt::from_u64(WINDOW).expect("below 2^62");
        config
            .congestion_controller_factory(Arc::clone(&self.controllers[side]) as Arc<_>)
            .initial_mtu(payload)
            .mtu_discovery_config(None)
            .max_idle_timeout(None)
            .stream_receive_window(window)
            .receive_window(window)
            .send_window(WINDOW)
            .allow_spin(false);
        Arc::new(config)
    }

    fn endpoint(&self, side: u64, server: Option<Arc<ServerConfig>>) -> Endpoint {
        let mut config = EndpointConfig::new(plain::shared());
        let mut rng = Rng::stream(self.seed, "noq", 2 * self.number + side);
        let seed = std::array::from_fn(|_| rng.below(256) as u8);
        let first = (2 * self.number + side) << 32;
        config
            .rng_seed(Some(seed))
            .grease_quic_bit(false)
            .cid_generator(Arc::new(move || Box::new(Numbered(first)) as Box<dyn ConnectionIdGenerator>));
        Endpoint::new(Arc::new(config), server, false)
    }

    /// The sender, which opens the connection at `now`.
    pub(super) fn sender(&self, size: Option<u64>, now: Instant) -> Result<End, String> {
        let mut endpoint = self.endpoint(0, None);
        let mut config = ClientConfig::new(plain::shared());
        let ids = AtomicU64::new(self.number << 32 | 1 << 31);
        config
            .transport_config(self.transport(0))
            .token_store(Arc::new(NoneTokenStore))
            .initial_dst_cid_provider(Arc::new(move || {
                ConnectionId::new(&ids.fetch_add(1, Ordering::Relaxed).to_be_bytes())
            }));
        let opened = endpoint.connect(now, config, ADDRESSES[1], "receiver");
        let (handle, connection) = opened.map_err(|error| error.to_string())?;
        let role = Role::Sends { left: size, stream: None, finished: false };
        Ok(End {
            endpoint,
            connection: Some((handle, connection)),
            peer: ADDRESSES[1],
            role,
            buffer: Vec::new(),
        })
    }

    /// The receiver, which waits for the connection.
    pub(super) fn receiver(&self) -> End {
        let mut config = ServerConfig::new(plain::shared(), plain::shared());
        config.transport_config(self.transport(1));
        let endpoint = self.endpoint(1, Some(Arc::new(config)));
        End { endpoint, connection: None, peer: ADDRESSES[0], role: Role::Receives, buffer: Vec::new() }
    }
}

/// The work of an end on its stream.
#[derive(Clone, Copy, Debug)]
enum Role {
    Sends {
        /// Bytes to hand over; without end if `None`.
        left: Option<u64>,
        stream: Option<StreamId>,
        /// Whether all of it is acknowledged.
        finished: bool,
    },
    Receives,
}

/// The result of an end's work.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct News {
    /// Payload that was not there before.
    pub(super) received: u64,
    /// All that was sent is acknowledged.
    pub(super) finished: bool,
}

/// A datagram to send.
#[derive(Clone, Debug)]
pub(super) struct Datagram {
    pub(super) bytes: Vec<u8>,
    pub(super) ecn: Option<EcnCodepoint>,
}

/// One end of a connection.
pub(super) struct End {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    peer: SocketAddr,
    role: Role,
    buffer: Vec<u8>,
}

impl End {
    /// A datagram arrived.
    pub(super) fn receive(
        &mut self,
        datagram: &Datagram,
        ecn: Option<EcnCodepoint>,
        now: Instant,
    ) -> Result<(), String> {
        let path = FourTuple::new(self.peer, None);
        let data = BytesMut::from(datagram.bytes.as_slice());
        self.buffer.clear();
        match self.endpoint.handle(now, path, ecn, data, &mut self.buffer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
                Ok(())
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                self.buffer.clear();
                let accepted = self.endpoint.accept(incoming, now, &mut self.buffer, None);
                self.connection = Some(accepted.map_err(|error| error.cause.to_string())?);
                Ok(())
            }
            Some(DatagramEvent::Response(_)) | None => Ok(()),
        }
    }

    /// The time of its next timer.
    pub(super) fn timeout(&self) -> Option<Instant> {
        self.connection.as_ref().and_then(|(_, connection)| connection.poll_timeout())
    }

    /// A timer may have expired.
    pub(super) fn wake(&mut self, now: Instant) {
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(now);
        }
    }

    /// No data follows.
    pub(super) fn stop(&mut self) {
        if let Role::Sends { left, .. } = &mut self.role {
            *left = Some(0);
        }
    }

    /// Does all pending work at `now`: receives, delivers, and sends by `emit`.
    pub(super) fn work(&mut self, now: Instant, mut emit: impl FnMut(Datagram)) -> Result<News, String> {
        let mut news = News::default();
        let Some((handle, connection)) = &mut self.connection else { return Ok(news) };
        loop {
            let mut idle = true;
            while let Some(event) = connection.poll_endpoint_events() {
                idle = false;
                if let Some(event) = self.endpoint.handle_event(*handle, event) {
                    connection.handle_event(event);
                }
            }
            while let Some(event) = connection.poll() {
                idle = false;
                self.role.hear(connection, &event, &mut news)?;
            }
            self.role.write(connection)?;
            self.buffer.clear();
            while let Some(transmit) = connection.poll_transmit(now, NonZeroUsize::MIN, &mut self.buffer) {
                idle = false;
                emit(Datagram { bytes: self.buffer[..transmit.size].to_vec(), ecn: transmit.ecn });
                self.buffer.clear();
            }
            if idle {
                return Ok(news);
            }
        }
    }
}

impl Role {
    fn hear(&mut self, connection: &mut Connection, event: &Event, news: &mut News) -> Result<(), String> {
        match (event, self) {
            (Event::Connected, Role::Sends { stream, .. }) => *stream = connection.streams().open(Dir::Uni),
            (Event::Stream(StreamEvent::Finished { .. }), Role::Sends { finished, .. }) => {
                *finished = true;
                news.finished = true;
            }
            (Event::Stream(StreamEvent::Opened { .. }), Role::Receives) => {
                while let Some(id) = connection.streams().accept(Dir::Uni) {
                    news.received += read(connection, id);
                }
            }
            (Event::Stream(StreamEvent::Readable { id }), Role::Receives) => {
                news.received += read(connection, *id)
            }
            (Event::ConnectionLost { reason }, _) => return Err(reason.to_string()),
            _ => {}
        }
        Ok(())
    }

    /// Hands data over until the stack has enough.
    fn write(&mut self, connection: &mut Connection) -> Result<(), String> {
        let Role::Sends { left, stream: Some(id), .. } = self else { return Ok(()) };
        let mut stream = connection.send_stream(*id);
        loop {
            let size = left.map_or(CHUNK, |left| CHUNK.min(usize::try_from(left).unwrap_or(CHUNK)));
            if size == 0 {
                // A stream that is finished already stays so.
                let _ = stream.finish();
                return Ok(());
            }
            let chunk = Bytes::from_static(&ZEROS[..size]);
            match stream.write_chunks(&mut [chunk].as_mut_slice()) {
                Ok(taken) => *left = left.map(|left| left - taken as u64),
                Err(noq_proto::WriteError::Blocked) => return Ok(()),
                Err(error) => return Err(error.to_string()),
            }
        }
    }
}

/// Reads a stream's data in any order; returns the number of bytes.
fn read(connection: &mut Connection, id: StreamId) -> u64 {
    let mut stream = connection.recv_stream(id);
    let Ok(mut chunks) = stream.read(false) else { return 0 };
    let mut bytes = 0;
    while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
        bytes += chunk.bytes.len() as u64;
    }
    // Data to send is polled anyway.
    let _ = chunks.finalize();
    bytes
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! quinn's hosts.

use std::any::Any;
use std::boxed::Box;
use std::net::SocketAddr;
use std::string::{String, ToString};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::vec::Vec;

use bytes::{Bytes, BytesMut};
use kneepoint_cc::cc::Config;
use quinn_proto::congestion::{
    BbrConfig, Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig,
};
use quinn_proto::crypto::{
    self, AeadKey, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey, HmacKey, KeyPair,
    Keys, PacketKey, Session, UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{
    ClientConfig, ConnectError, Connection, ConnectionHandle, ConnectionId, ConnectionIdGenerator,
    DatagramEvent, Dir, EcnCodepoint, Endpoint, EndpointConfig, Event, NoneTokenStore, RttEstimator,
    SendStream, ServerConfig, Side, StreamEvent, StreamId, Transmit, TransportConfig, TransportError, VarInt,
    WriteError,
};

use super::end::{ADDRESSES, CHUNK, Numbered, WINDOW, ZEROS, ends, seed};
use super::plain::{Handshake, Plain, TAG, by_messages, keys, without_limits};
use super::seen::{Heard, Seen, Watched, observable, passed_on};
use super::{Datagram, End, Ends, Factory, Hosts, News, Own, Settings};
use crate::quinn::Carried;
use crate::record::{Correct, by_quinn as recorded, of_quinn};
use crate::tape::Tape;

/// quinn.
pub(super) const HOSTS: Hosts = Hosts {
    name: "quinn",
    own: &[
        Own { name: "quinn:reno", make: || made(NewRenoConfig::default()), repeats: true },
        Own { name: "quinn:cubic", make: || made(CubicConfig::default()), repeats: true },
        // BBRv1; each connection's generator is seeded by the machine.
        Own { name: "quinn:bbr", make: || made(BbrConfig::default()), repeats: false },
    ],
    carrying,
};

const CORRECT: Correct = of_quinn;

ends!();
keys!();
observable!();

fn endpoint(
    mut config: EndpointConfig,
    server: Option<Arc<ServerConfig>>,
    ids: impl Fn() -> Box<dyn ConnectionIdGenerator> + Send + Sync + 'static,
) -> Endpoint {
    config.cid_generator(ids);
    // The seed is in the configuration.
    Endpoint::new(Arc::new(config), server, false, None)
}

fn handle(
    endpoint: &mut Endpoint,
    now: Instant,
    peer: SocketAddr,
    ecn: Option<EcnCodepoint>,
    data: BytesMut,
    buffer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, peer, None, ecn, data, buffer)
}

fn transmit(connection: &mut Connection, now: Instant, buffer: &mut Vec<u8>) -> Option<Transmit> {
    connection.poll_transmit(now, 1, buffer)
}

fn hand_over(stream: &mut SendStream<'_>, chunk: Bytes) -> Result<usize, WriteError> {
    stream.write_chunks(&mut [chunk]).map(|written| written.bytes)
}

impl PacketKey for Plain {
    fn encrypt(&self, _: u64, packet: &mut [u8], _: usize) {
        Plain::seal(packet);
    }
    fn decrypt(&self, _: u64, _: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        unseal(payload)
    }
    without_limits!();
}

impl HandshakeTokenKey for Plain {
    fn aead_from_hkdf(&self, _: &[u8]) -> Box<dyn AeadKey> {
        Box::new(Plain)
    }
}

impl AeadKey for Plain {
    fn seal(&self, _: &mut Vec<u8>, _: &[u8]) -> Result<(), CryptoError> {
        Ok(())
    }
    fn open<'a>(&self, data: &'a mut [u8], _: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        Ok(data)
    }
}

impl crypto::ClientConfig for Plain {
    fn start_session(
        self: Arc<Self>,
        _: u32,
        _: &str,
        parameters: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(session(true, parameters))
    }
}

impl crypto::ServerConfig for Plain {
    fn initial_keys(&self, _: u32, _: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }
    fn retry_tag(&self, _: u32, _: &ConnectionId, _: &[u8]) -> [u8; TAG] {
        [0; TAG]
    }
    fn start_session(self: Arc<Self>, _: u32, parameters: &TransportParameters) -> Box<dyn Session> {
        session(false, parameters)
    }
}

impl Session for Handshake {
    fn initial_keys(&self, _: &ConnectionId, _: Side) -> Keys {
        keys()
    }
    fn is_valid_retry(&self, _: &ConnectionId, _: &[u8], _: &[u8]) -> bool {
        true
    }
    by_messages!();
}

impl Controller for Watched<dyn Controller> {
    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, limited: bool, rtt: &RttEstimator) {
        self.inner.on_ack(now, sent, bytes, limited, rtt);
        self.note(|heard| heard.ack(now, sent, bytes));
    }
    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost: u64) {
        self.inner.on_congestion_event(now, sent, persistent, lost);
        self.note(|heard| heard.congestion(persistent));
    }
    passed_on!();
}

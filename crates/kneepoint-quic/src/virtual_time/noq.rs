// SPDX-License-Identifier: Apache-2.0 OR MIT
//! noq's hosts.

use std::any::Any;
use std::boxed::Box;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::string::{String, ToString};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::vec::Vec;

use bytes::{Bytes, BytesMut};
use kneepoint_cc::cc::Config;
use noq_proto::congestion::{
    Bbr3Config, Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig,
};
use noq_proto::crypto::{
    self, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey, HmacKey, KeyPair, Keys,
    PacketKey, Session, UnsupportedVersion,
};
use noq_proto::transport_parameters::TransportParameters;
use noq_proto::{
    ClientConfig, ConnectError, Connection, ConnectionHandle, ConnectionId, ConnectionIdGenerator,
    DatagramEvent, Dir, EcnCodepoint, Endpoint, EndpointConfig, Event, FourTuple, NoneTokenStore, PathId,
    RttEstimator, SendStream, ServerConfig, Side, StreamEvent, StreamId, Transmit, TransportConfig,
    TransportError, VarInt, WriteError,
};

use super::end::{ADDRESSES, CHUNK, Numbered, WINDOW, ZEROS, ends, seed};
use super::plain::{Handshake, Plain, TAG, by_messages, keys, without_limits};
use super::seen::{Heard, Seen, Watched, observable, passed_on};
use super::{Datagram, End, Ends, Factory, Hosts, News, Own, Settings};
use crate::noq::Carried;
use crate::record::{Correct, by_noq as recorded, of_noq};
use crate::tape::Tape;

/// noq.
pub(super) const HOSTS: Hosts = Hosts {
    name: "noq",
    own: &[
        Own { name: "noq:reno", make: || made(NewRenoConfig::default()), repeats: true },
        Own { name: "noq:cubic", make: || made(CubicConfig::default()), repeats: true },
        // Its configuration has a seed, and no way to set it.
        Own { name: "noq:bbr3", make: || made(Bbr3Config::default()), repeats: false },
    ],
    carrying,
};

const CORRECT: Correct = of_noq;

ends!();
keys!();
observable!();

fn endpoint(
    mut config: EndpointConfig,
    server: Option<Arc<ServerConfig>>,
    ids: impl Fn() -> Box<dyn ConnectionIdGenerator> + Send + Sync + 'static,
) -> Endpoint {
    config.cid_generator(Arc::new(ids));
    Endpoint::new(Arc::new(config), server, false)
}

fn handle(
    endpoint: &mut Endpoint,
    now: Instant,
    peer: SocketAddr,
    ecn: Option<EcnCodepoint>,
    data: BytesMut,
    buffer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, FourTuple::new(peer, None), ecn, data, buffer)
}

fn transmit(connection: &mut Connection, now: Instant, buffer: &mut Vec<u8>) -> Option<Transmit> {
    connection.poll_transmit(now, NonZeroUsize::MIN, buffer)
}

fn hand_over(stream: &mut SendStream<'_>, chunk: Bytes) -> Result<usize, WriteError> {
    stream.write_chunks(&mut [chunk].as_mut_slice())
}

impl PacketKey for Plain {
    fn encrypt(&self, _: PathId, _: u64, packet: &mut [u8], _: usize) {
        Plain::seal(packet);
    }
    fn decrypt(&self, _: PathId, _: u64, _: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        unseal(payload)
    }
    without_limits!();
}

impl HandshakeTokenKey for Plain {
    fn seal(&self, _: u128, _: &mut Vec<u8>) -> Result<(), CryptoError> {
        Ok(())
    }
    fn open<'a>(&self, _: u128, data: &'a mut [u8]) -> Result<&'a [u8], CryptoError> {
        Ok(data)
    }
}

impl crypto::ClientConfig for Plain {
    fn start_session(
        &self,
        _: u32,
        _: &str,
        parameters: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(session(true, parameters))
    }
}

impl crypto::ServerConfig for Plain {
    fn initial_keys(&self, _: u32, _: ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }
    fn retry_tag(&self, _: u32, _: ConnectionId, _: &[u8]) -> [u8; TAG] {
        [0; TAG]
    }
    fn start_session(&self, _: u32, parameters: &TransportParameters) -> Box<dyn Session> {
        session(false, parameters)
    }
}

impl Session for Handshake {
    fn initial_keys(&self, _: ConnectionId, _: Side) -> Keys {
        keys()
    }
    fn is_valid_retry(&self, _: ConnectionId, _: &[u8], _: &[u8]) -> bool {
        true
    }
    by_messages!();
}

impl Controller for Watched<dyn Controller> {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, number: u64) {
        self.inner.on_packet_sent(now, bytes, number);
    }
    fn on_cwnd_limited(&mut self) {
        self.inner.on_cwnd_limited();
    }
    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        number: u64,
        limited: bool,
        rtt: &RttEstimator,
    ) {
        self.inner.on_ack(now, sent, bytes, number, limited, rtt);
        self.note(|heard| heard.ack(now, sent, bytes));
    }
    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        persistent: bool,
        ecn: bool,
        lost: u64,
        largest: u64,
    ) {
        self.inner.on_congestion_event(now, sent, persistent, ecn, lost, largest);
        self.note(|heard| heard.congestion(persistent));
    }
    fn on_packet_lost(&mut self, bytes: u16, number: u64, now: Instant) {
        self.inner.on_packet_lost(bytes, number, now);
        self.note(|_| ());
    }
    fn on_spurious_congestion_event(&mut self) {
        self.inner.on_spurious_congestion_event();
    }
    fn on_ack_frequency_update(&mut self, threshold: u64, delay: Duration) {
        self.inner.on_ack_frequency_update(threshold, delay);
    }
    passed_on!();
}

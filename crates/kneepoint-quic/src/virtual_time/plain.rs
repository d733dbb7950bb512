// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Null cryptography, so that a run needs no entropy and its processing time is the transport's.
//!
//! Packets are as long as with AES-GCM: a tag of 16 bytes. The handshake takes TLS 1.3's round trips:
//!
//! ```text
//! client ── parameters ──────────────→ server      Initial
//! client ←─ hello ── parameters ────── server      Initial, Handshake
//! client ── finished ────────────────→ server      Handshake
//! ```

use std::any::Any;
use std::boxed::Box;
use std::sync::Arc;
use std::vec::Vec;

use bytes::BytesMut;
use noq_proto::crypto::{
    ClientConfig, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey, HmacKey, KeyPair,
    Keys, PacketKey, ServerConfig, Session, UnsupportedVersion,
};
use noq_proto::transport_parameters::TransportParameters;
use noq_proto::{ConnectError, ConnectionId, PathId, Side, TransportError};

const TAG: usize = 16;
/// A placeholder for a handshake message whose content is irrelevant here.
const MESSAGE: &[u8] = &[0];

/// Every key and configuration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plain;

impl HeaderKey for Plain {
    fn decrypt(&self, _: usize, _: &mut [u8]) {}
    fn encrypt(&self, _: usize, _: &mut [u8]) {}
    fn sample_size(&self) -> usize {
        TAG
    }
}

impl PacketKey for Plain {
    /// A tag unlike [`HmacKey::sign`]'s signatures: with the same end a packet would be a stateless reset (RFC 9000 §10.3).
    fn encrypt(&self, _: PathId, _: u64, packet: &mut [u8], _: usize) {
        let tag = packet.len().saturating_sub(TAG);
        packet[tag..].fill(u8::MAX);
    }
    fn decrypt(&self, _: PathId, _: u64, _: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        let length = payload.len().checked_sub(TAG).ok_or(CryptoError)?;
        payload.truncate(length);
        Ok(())
    }
    fn tag_len(&self) -> usize {
        TAG
    }
    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }
    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

impl HmacKey for Plain {
    fn sign(&self, _: &[u8], signature: &mut [u8]) {
        signature.fill(0);
    }
    fn signature_len(&self) -> usize {
        32
    }
    fn verify(&self, _: &[u8], _: &[u8]) -> Result<(), CryptoError> {
        Ok(())
    }
}

impl HandshakeTokenKey for Plain {
    fn seal(&self, _: u128, _: &mut Vec<u8>) -> Result<(), CryptoError> {
        Ok(())
    }
    fn open<'a>(&self, _: u128, data: &'a mut [u8]) -> Result<&'a [u8], CryptoError> {
        Ok(data)
    }
}

fn pair<T: ?Sized>(key: impl Fn() -> Box<T>) -> KeyPair<Box<T>> {
    KeyPair { local: key(), remote: key() }
}

fn packet_keys() -> KeyPair<Box<dyn PacketKey>> {
    pair(|| Box::new(Plain) as Box<dyn PacketKey>)
}

fn keys() -> Keys {
    Keys { header: pair(|| Box::new(Plain) as Box<dyn HeaderKey>), packet: packet_keys() }
}

impl ClientConfig for Plain {
    fn start_session(
        &self,
        _: u32,
        _: &str,
        parameters: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Box::new(Handshake::new(Side::Client, parameters)))
    }
}

impl ServerConfig for Plain {
    fn initial_keys(&self, _: u32, _: ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }
    fn retry_tag(&self, _: u32, _: ConnectionId, _: &[u8]) -> [u8; TAG] {
        [0; TAG]
    }
    fn start_session(&self, _: u32, parameters: &TransportParameters) -> Box<dyn Session> {
        Box::new(Handshake::new(Side::Server, parameters))
    }
}

/// The remaining steps of a side, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// Says hello: a client with its parameters, a server when it has received a client's.
    Hello,
    /// A client awaits the server's hello, and takes the keys of the handshake.
    HandshakeKeys,
    /// A server sends its parameters; a client awaits them and finishes. Both use the keys of data.
    DataKeys,
    /// A server awaits the client's last message.
    Finish,
    Done,
}

struct Handshake {
    side: Side,
    own: Vec<u8>,
    heard: Vec<u8>,
    /// The number of messages received.
    messages: u32,
    stage: Stage,
}

impl Handshake {
    fn new(side: Side, parameters: &TransportParameters) -> Handshake {
        let mut own = Vec::new();
        parameters.write(&mut own);
        Handshake { side, own, heard: Vec::new(), messages: 0, stage: Stage::Hello }
    }
}

impl Session for Handshake {
    fn initial_keys(&self, _: ConnectionId, _: Side) -> Keys {
        keys()
    }
    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        (!self.heard.is_empty()).then(|| Box::new(()) as Box<dyn Any>)
    }
    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }
    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }
    fn early_data_accepted(&self) -> Option<bool> {
        None
    }
    fn is_handshaking(&self) -> bool {
        self.stage != Stage::Done
    }

    /// Each message is within one frame. Parameters are a server's first and a client's second.
    fn read_handshake(&mut self, message: &[u8]) -> Result<bool, TransportError> {
        self.messages += 1;
        let parameters = match self.side {
            Side::Server => 1,
            Side::Client => 2,
        };
        if self.messages == parameters {
            self.heard = message.to_vec();
        }
        if self.side == Side::Server && self.stage == Stage::Finish && self.messages == 2 {
            self.stage = Stage::Done;
        }
        Ok(self.messages == parameters)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        if self.heard.is_empty() {
            return Ok(None);
        }
        let read = TransportParameters::read(self.side, &mut self.heard.as_slice());
        read.map(Some).map_err(TransportError::from)
    }

    fn write_handshake(&mut self, message: &mut Vec<u8>) -> Option<Keys> {
        match (self.side, self.stage, self.messages) {
            (Side::Client, Stage::Hello, _) => {
                message.extend_from_slice(&self.own);
                self.stage = Stage::HandshakeKeys;
                None
            }
            (Side::Client, Stage::HandshakeKeys, 1..) => {
                self.stage = Stage::DataKeys;
                Some(keys())
            }
            (Side::Client, Stage::DataKeys, 2..) => {
                message.extend_from_slice(MESSAGE);
                self.stage = Stage::Done;
                Some(keys())
            }
            (Side::Server, Stage::Hello, 1..) => {
                message.extend_from_slice(MESSAGE);
                self.stage = Stage::DataKeys;
                Some(keys())
            }
            (Side::Server, Stage::DataKeys, _) => {
                message.extend_from_slice(&self.own);
                self.stage = Stage::Finish;
                Some(keys())
            }
            _ => None,
        }
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(packet_keys())
    }
    fn is_valid_retry(&self, _: ConnectionId, _: &[u8], _: &[u8]) -> bool {
        true
    }
    fn export_keying_material(
        &self,
        output: &mut [u8],
        _: &[u8],
        _: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        output.fill(0);
        Ok(())
    }
}

/// The same behind a pointer.
pub(super) fn shared() -> Arc<Plain> {
    Arc::new(Plain)
}

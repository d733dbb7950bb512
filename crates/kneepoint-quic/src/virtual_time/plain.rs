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

use std::vec::Vec;

/// Bytes of a tag.
pub(super) const TAG: usize = 16;
/// A placeholder for a handshake message whose content is irrelevant here.
const MESSAGE: &[u8] = &[0];

/// Every key and configuration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plain;

impl Plain {
    /// Writes a tag unlike signatures, which are zeros: with the same end a packet would be a stateless reset (RFC 9000 §10.3).
    pub(super) fn seal(packet: &mut [u8]) {
        let tag = packet.len().saturating_sub(TAG);
        packet[tag..].fill(u8::MAX);
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

/// A side's handshake, by messages.
#[derive(Clone, Debug)]
pub(super) struct Handshake {
    pub(super) client: bool,
    /// The parameters of this side.
    own: Vec<u8>,
    /// The parameters of the other side, when they have come.
    pub(super) heard: Vec<u8>,
    /// The number of messages received.
    messages: u32,
    stage: Stage,
}

impl Handshake {
    /// A handshake that tells the peer these parameters.
    pub(super) fn new(client: bool, own: Vec<u8>) -> Handshake {
        Handshake { client, own, heard: Vec::new(), messages: 0, stage: Stage::Hello }
    }

    pub(super) fn is_done(&self) -> bool {
        self.stage == Stage::Done
    }

    /// Takes a message, which is within one frame; whether it had the peer's parameters, a server's first and a client's
    /// second.
    pub(super) fn take(&mut self, message: &[u8]) -> bool {
        self.messages += 1;
        let parameters = if self.client { 2 } else { 1 };
        if self.messages == parameters {
            self.heard = message.to_vec();
        }
        if !self.client && self.stage == Stage::Finish && self.messages == 2 {
            self.stage = Stage::Done;
        }
        self.messages == parameters
    }

    /// Writes the next message, if one is due; whether new keys follow.
    pub(super) fn say(&mut self, message: &mut Vec<u8>) -> bool {
        match (self.client, self.stage, self.messages) {
            (true, Stage::Hello, _) => {
                message.extend_from_slice(&self.own);
                self.stage = Stage::HandshakeKeys;
                false
            }
            (true, Stage::HandshakeKeys, 1..) => {
                self.stage = Stage::DataKeys;
                true
            }
            (true, Stage::DataKeys, 2..) => {
                message.extend_from_slice(MESSAGE);
                self.stage = Stage::Done;
                true
            }
            (false, Stage::Hello, 1..) => {
                message.extend_from_slice(MESSAGE);
                self.stage = Stage::DataKeys;
                true
            }
            (false, Stage::DataKeys, _) => {
                message.extend_from_slice(&self.own);
                self.stage = Stage::Finish;
                true
            }
            _ => false,
        }
    }
}

/// Keys, and sessions at their beginning.
macro_rules! keys {
    () => {
        impl HeaderKey for Plain {
            fn decrypt(&self, _: usize, _: &mut [u8]) {}
            fn encrypt(&self, _: usize, _: &mut [u8]) {}
            fn sample_size(&self) -> usize {
                TAG
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

        fn pair<T: ?Sized>(key: impl Fn() -> Box<T>) -> KeyPair<Box<T>> {
            KeyPair { local: key(), remote: key() }
        }

        fn packet_keys() -> KeyPair<Box<dyn PacketKey>> {
            pair(|| Box::new(Plain) as Box<dyn PacketKey>)
        }

        fn keys() -> Keys {
            Keys { header: pair(|| Box::new(Plain) as Box<dyn HeaderKey>), packet: packet_keys() }
        }

        fn session(client: bool, parameters: &TransportParameters) -> Box<dyn Session> {
            let mut own = Vec::new();
            parameters.write(&mut own);
            Box::new(Handshake::new(client, own))
        }

        fn unseal(payload: &mut BytesMut) -> Result<(), CryptoError> {
            let length = payload.len().checked_sub(TAG).ok_or(CryptoError)?;
            payload.truncate(length);
            Ok(())
        }
    };
}
pub(super) use keys;

/// The methods of a packet's key that have the same types in quinn and noq.
macro_rules! without_limits {
    () => {
        fn tag_len(&self) -> usize {
            TAG
        }
        fn confidentiality_limit(&self) -> u64 {
            u64::MAX
        }
        fn integrity_limit(&self) -> u64 {
            u64::MAX
        }
    };
}
pub(super) use without_limits;

/// The methods of a session that have the same types in quinn and noq.
macro_rules! by_messages {
    () => {
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
            !self.is_done()
        }
        fn read_handshake(&mut self, message: &[u8]) -> Result<bool, TransportError> {
            Ok(self.take(message))
        }
        fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
            if self.heard.is_empty() {
                return Ok(None);
            }
            let side = if self.client { Side::Client } else { Side::Server };
            let read = TransportParameters::read(side, &mut self.heard.as_slice());
            read.map(Some).map_err(TransportError::from)
        }
        fn write_handshake(&mut self, message: &mut Vec<u8>) -> Option<Keys> {
            self.say(message).then(keys)
        }
        fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
            Some(packet_keys())
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
    };
}
pub(super) use by_messages;

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Certificates: one for each server, which is identified by its hash.

use std::fmt;
use std::str::FromStr;
use std::string::{String, ToString};
use std::sync::Arc;
use std::vec;
use std::vec::Vec;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::version::TLS13;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, ServerConfig, SignatureScheme};
use sha2::{Digest, Sha256};

/// HTTP/3 (RFC 9114).
pub(super) const HTTP3: &[u8] = b"h3";
/// HTTP/0.9 over QUIC, as the QUIC interop runner has it.
pub(super) const HQ: &[u8] = b"hq-interop";

/// A SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    pub(super) fn of(bytes: &[u8]) -> Hash {
        Hash(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Hash {
    type Err = String;

    fn from_str(text: &str) -> Result<Hash, String> {
        let digits: Option<Vec<u8>> =
            text.chars().map(|digit| digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
        match digits.filter(|digits| digits.len() == 64) {
            Some(digits) => {
                Ok(Hash(std::array::from_fn(|place| digits[2 * place] << 4 | digits[2 * place + 1])))
            }
            None => Err("a SHA-256 has 64 hexadecimal digits".into()),
        }
    }
}

/// A certificate that signs itself, and its key.
pub(super) struct Identity {
    certificate: CertificateDer<'static>,
    key: PrivatePkcs8KeyDer<'static>,
}

impl Identity {
    /// A fresh one for these names and addresses.
    pub(super) fn new(names: Vec<String>) -> Result<Identity, String> {
        let made = rcgen::generate_simple_self_signed(names)
            .map_err(|error| std::format!("cannot make a certificate: {error}"))?;
        Ok(Identity {
            certificate: made.cert.der().clone(),
            key: PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()),
        })
    }

    pub(super) fn hash(&self) -> Hash {
        Hash::of(&self.certificate)
    }

    /// A server's configuration with these protocols.
    pub(super) fn server(&self, protocols: &[&[u8]]) -> Result<ServerConfig, String> {
        let made = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&TLS13])
            .and_then(|builder| {
                let chain = vec![self.certificate.clone()];
                builder.with_no_client_auth().with_single_cert(chain, self.key.clone_key().into())
            });
        let mut config = made.map_err(|error| error.to_string())?;
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        Ok(config)
    }
}

/// A client's configuration with this protocol, which takes a server by the hash of its certificate; any server without one.
pub(super) fn client(expected: Option<Hash>, protocol: &[u8]) -> Result<ClientConfig, String> {
    let provider = provider();
    let pinned = Pinned { expected, algorithms: provider.signature_verification_algorithms };
    let builder = ClientConfig::builder_with_provider(provider).with_protocol_versions(&[&TLS13]);
    let mut config = builder
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(pinned))
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.to_vec()];
    Ok(config)
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// Takes a certificate by its hash. Its server must still have the key: signatures are verified.
#[derive(Debug)]
struct Pinned {
    expected: Option<Hash>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer,
        _: &[CertificateDer],
        _: &ServerName,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match self.expected {
            Some(hash) if hash != Hash::of(certificate) => {
                Err(Error::InvalidCertificate(CertificateError::UnknownIssuer))
            }
            _ => Ok(ServerCertVerified::assertion()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_read_as_it_is_shown() {
        let hash = Hash::of(b"abc");
        assert!(hash.to_string().starts_with("ba7816bf8f01cfea"));
        assert_eq!(hash.to_string().parse(), Ok(hash));
        assert!("ba78".parse::<Hash>().is_err() && "é".repeat(32).parse::<Hash>().is_err());
    }
}

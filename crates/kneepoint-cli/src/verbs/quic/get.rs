// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee quic get`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use kneepoint::units::{Bytes, Span};

use super::Stack;
use crate::failure::Failure;

#[derive(Args)]
pub struct Arguments {
    /// The object, as https://127.0.0.1:4433/10485760
    #[arg(value_name = "ADDRESS")]
    object: String,
    /// The QUIC stack, and with it the protocol: HTTP/3 on quinn, hq-interop on noq
    #[arg(long, value_enum, default_value_t, ignore_case = true)]
    stack: Stack,
    /// The SHA-256 of the server's certificate, which the server prints; `any` believes every server, as on loopback is the default
    #[arg(long, value_name = "HASH")]
    certificate: Option<String>,
    /// Write the object to this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Bytes that are taken at most
    #[arg(long, value_name = "SIZE", default_value = "1gb")]
    largest: Bytes,
    /// The longest permitted time
    #[arg(long, value_name = "TIME", default_value = "10min")]
    patience: Span,
    /// Record the connection as qlog in a file of this folder, with its first 64 MB
    #[arg(long, value_name = "DIR")]
    qlog: Option<PathBuf>,
}

/// A server, and the path of an object.
struct Object {
    server: SocketAddr,
    path: String,
}

impl Arguments {
    fn object(&self) -> Result<Object, Failure> {
        let refused = |why: &str| {
            let message = format!("`{}`: {why}", self.object);
            Failure::usage(
                message,
                "write an address and a port in numbers, as https://127.0.0.1:4433/10485760",
            )
        };
        let rest =
            self.object.strip_prefix("https://").ok_or_else(|| refused("it does not begin with https://"))?;
        let (server, path) = rest.split_once('/').unwrap_or((rest, ""));
        let server = server.replace("localhost:", "127.0.0.1:");
        let server = server.parse().map_err(|_| refused("the server is not an address with a port"))?;
        let shown = |c: char| c.is_ascii_graphic();
        if !path.chars().all(shown) {
            return Err(refused("the path has characters that it must not have"));
        }
        Ok(Object { server, path: format!("/{path}") })
    }
}

#[cfg(not(feature = "quic"))]
impl Arguments {
    /// Whether the response is correct.
    pub fn check(&self) -> Result<(), Failure> {
        let Object { server, path } = self.object()?;
        let _ = (server, path);
        Ok(())
    }
}

#[cfg(feature = "quic")]
mod on_the_wire {
    use std::io::{Write, sink};
    use std::time::Duration;

    use kneepoint::cc::Config;
    use kneepoint::units::Rate;
    use kneepoint_bench::files::Pending;
    use kneepoint_bench::session::Session;
    use kneepoint_quic::wire::{Fetch, Hash};
    use serde_json::json;

    use super::*;
    use crate::verbs::quic::serve::records;

    impl Arguments {
        /// Fetches the object.
        pub fn get(&self, session: &Session, as_json: bool) -> Result<(), Failure> {
            let Object { server, path } = self.object()?;
            let fetch = Fetch {
                server,
                path,
                stack: self.stack.into(),
                cc: Config::default(),
                certificate: self.certificate(server)?,
                largest: self.largest.0,
                patience: Duration::from_nanos(self.patience.0),
                records: records(self.qlog.as_deref())?,
            };
            session.listen_saying("stopping")?;
            let mut file = self.out.as_deref().map(Pending::create).transpose()?;
            let mut nowhere = sink();
            let into: &mut dyn Write = match &mut file {
                Some(file) => file,
                None => &mut nowhere,
            };
            let fetched = fetch.run(into, &|| session.asked());
            if session.asked() {
                return Err(Failure::Interrupted("stopped before the object was there".into()));
            }
            let fetched = fetched.map_err(|why| {
                Failure::run(why, "does the server run there, with the same protocol and certificate?")
            })?;
            file.map_or(Ok(()), Pending::commit)?;
            if as_json {
                return session.print_json(&json!({
                    "bytes": fetched.bytes,
                    "sha256": fetched.sha256.to_string(),
                    "handshake_s": fetched.handshake.as_secs_f64(),
                    "duration_s": fetched.took.as_secs_f64(),
                    "goodput_bps": fetched.goodput(),
                    "qlog": fetched.record,
                }));
            }
            let record = fetched.record.as_ref().map(|kept| format!("; {}", kept.display()));
            session.print(format!(
                "{} bytes in {:.3} s, {}, after a handshake of {:.1} ms; SHA-256 {}{}",
                fetched.bytes,
                fetched.took.as_secs_f64(),
                Rate(fetched.goodput() as u64),
                fetched.handshake.as_secs_f64() * 1e3,
                fetched.sha256,
                record.unwrap_or_default(),
            ))
        }

        /// The certificate that is expected of a server.
        fn certificate(&self, server: SocketAddr) -> Result<Option<Hash>, Failure> {
            match self.certificate.as_deref() {
                None if server.ip().is_loopback() => Ok(None),
                None => Err(Failure::usage(
                    "--certificate is needed for a server that is not on loopback",
                    "give the hash that the server prints, or `any`",
                )),
                Some("any") => Ok(None),
                Some(hash) => hash.parse().map(Some).map_err(|why| {
                    Failure::usage(
                        format!("--certificate: {why}"),
                        "give the hash that the server prints, or `any`",
                    )
                }),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Get {
        #[command(flatten)]
        arguments: Arguments,
    }

    #[test]
    fn an_address_has_a_server_in_numbers_and_a_path() {
        let object = |text: &str| Get::parse_from(["get", text]).arguments.object().ok();
        let object = |text| object(text).map(|Object { server, path }| (server.to_string(), path));
        assert_eq!(object("https://localhost:4433"), Some(("127.0.0.1:4433".into(), "/".into())));
        assert_eq!(object("https://[::1]:1/a/b"), Some(("[::1]:1".into(), "/a/b".into())));
        for wrong in
            ["http://127.0.0.1:1/", "https://example.org/", "https://127.0.0.1/", "https://127.0.0.1:1/a\nb"]
        {
            assert_eq!(object(wrong), None, "{wrong}");
        }
    }
}

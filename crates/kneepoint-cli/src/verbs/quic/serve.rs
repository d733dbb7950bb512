// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee quic serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use kneepoint::cc::Config;
use kneepoint::units::{Bytes, Span};
use kneepoint_bench::session::Session;

use super::Stack;
use crate::completion;
use crate::controller::controller;
use crate::failure::Failure;
use crate::values::of_range;

#[derive(Args)]
pub struct Arguments {
    /// The controller of every connection, with settings after a colon
    #[arg(long, value_name = "NAME[:KEY=VALUE,…]", default_value = "cubic", add = completion::scheme())]
    cc: String,
    /// The QUIC stack
    #[arg(long, value_enum, default_value_t, ignore_case = true)]
    stack: Stack,
    /// Address to listen on; use other addresses than loopback only on trusted networks
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:4433")]
    listen: SocketAddr,
    /// Serve the files below a folder, instead of objects that are made: /N has N bytes
    #[arg(long, value_name = "DIR", conflicts_with = "bytes")]
    root: Option<PathBuf>,
    /// The size of the object at /
    #[arg(long, value_name = "SIZE", default_value = "10mb")]
    bytes: Bytes,
    /// The largest object
    #[arg(long, value_name = "SIZE", default_value = "1gb")]
    largest: Bytes,
    /// Concurrent connections; others are refused
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = of_range::<u32>(1..=4096))]
    connections: u32,
    /// Time of a connection, after which it is closed
    #[arg(long, value_name = "TIME", default_value = "10min")]
    lifetime: Span,
    /// Record the first 32 connections as qlog, each in a file of this folder, with its first 64 MB
    #[arg(long, value_name = "DIR")]
    qlog: Option<PathBuf>,
}

impl Arguments {
    /// The controller, if everything is correct.
    pub fn check(&self, session: &Session) -> Result<Config, Failure> {
        if self.lifetime == Span::ZERO {
            return Err(Failure::usage(
                "--lifetime 0s: no connection would be served",
                "give a time above 0s",
            ));
        }
        if let Some(root) = self.root.as_ref().filter(|root| !root.is_dir()) {
            return Err(Failure::usage(
                format!("--root: `{}` is no folder", root.display()),
                "name one, or leave it out for generated objects",
            ));
        }
        controller(session, &self.cc)
    }
}

#[cfg(feature = "quic")]
pub use on_the_wire::records;

#[cfg(feature = "quic")]
mod on_the_wire {
    use std::path::Path;
    use std::time::Duration;

    use kneepoint::report::json;
    use kneepoint::units::Rate;
    use kneepoint_quic::wire::{Limits, Records, Serve, Server, Site, Summary};
    use serde_json::{Value, json};

    use super::*;

    impl Arguments {
        /// Serves until it receives a request to stop.
        pub fn serve(&self, session: &Session, as_json: bool) -> Result<(), Failure> {
            let cc = self.check(session)?;
            let site = match &self.root {
                Some(root) => Site::Folder(root.clone()),
                None => Site::Made(self.bytes.0),
            };
            let limits = Limits {
                connections: self.connections as usize,
                object: self.largest.0,
                connection: Duration::from_nanos(self.lifetime.0),
                ..Limits::default()
            };
            let records = records(self.qlog.as_deref())?;
            let what = Serve { listen: self.listen, stack: self.stack.into(), cc, site, limits, records };
            let server = Server::listen(what).map_err(|why| {
                Failure::run(
                    why,
                    "choose another with --listen, --cc or --stack; docs/quic.md has a table of the last two",
                )
            })?;
            session.listen_saying("stopping")?;
            let (address, hash) = (server.address(), server.certificate());
            if as_json {
                session.print(json::line(
                    &json!({ "address": address, "certificate_sha256": hash.to_string() }),
                ))?;
            } else {
                session.print(format!(
                    "{} on {} at https://{address}/, certificate {hash}; Ctrl-C ends it",
                    self.cc,
                    kneepoint_quic::wire::Stack::from(self.stack).name(),
                ))?;
            }
            let mut said = Ok(());
            let mut ended = |summary: Summary| {
                let text = if as_json { json::line(&object(&summary)) } else { sentence(&summary) };
                let printed = session.print(text);
                if said.is_ok() {
                    said = printed;
                }
            };
            server
                .run(&|| session.asked(), &mut ended)
                .map_err(|why| Failure::run(why, "`knee quic serve --help` shows its bounds"))?;
            said
        }
    }

    /// The folder that `--qlog` names.
    pub fn records(folder: Option<&Path>) -> Result<Option<Records>, Failure> {
        folder.map(Records::in_folder).transpose().map_err(|why| {
            Failure::usage(
                format!("--qlog: {why}"),
                "name a folder that you may write into, or a new one in such",
            )
        })
    }

    fn object(summary: &Summary) -> Value {
        let Summary { peer, protocol, objects, refused, bytes, path, record } = summary;
        json!({
            "peer": peer,
            "protocol": protocol,
            "objects": objects,
            "refused": refused,
            "bytes": bytes,
            "duration_s": path.lasted.as_secs_f64(),
            "goodput_bps": summary.goodput(),
            "rtt_ms": path.rtt.as_millis_f64(),
            "window_bytes": path.window,
            "packets_sent": path.sent,
            "packets_lost": path.lost,
            "congestion_events": path.episodes,
            "qlog": record,
        })
    }

    fn sentence(summary: &Summary) -> String {
        let Summary { peer, protocol, objects, refused, bytes, path, record } = summary;
        let record = record.as_ref().map(|file| format!("; {}", file.display())).unwrap_or_default();
        let refused = if *refused > 0 { format!(", {refused} requests refused") } else { String::new() };
        format!(
            "{peer} {protocol}: {objects} objects{refused}, {bytes} bytes in {:.3} s, {}; {} of {} packets lost, round trip {:.1} ms{record}",
            path.lasted.as_secs_f64(),
            Rate(summary.goodput() as u64),
            path.lost,
            path.sent,
            path.rtt.as_millis_f64(),
        )
    }
}

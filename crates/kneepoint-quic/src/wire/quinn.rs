// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Endpoints of quinn.

use std::any::Any;
use std::boxed::Box;
use std::net::{SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::string::{String, ToString};
use std::sync::Arc;
use std::time::Duration;
use std::vec::Vec;

use ::quinn as stack;
use ::quinn_proto as proto;
use kneepoint_cc::cc::Config;
use kneepoint_cc::units::Span;
use proto::ConnectionIdGenerator;
use stack::crypto::rustls::{HandshakeData, QuicClientConfig, QuicServerConfig};

use super::object::Site;
use super::serve::{self, Limits, Output, Path, Tally};
use super::{IDLE, LONGEST_ID, http3};
use crate::carried::QUINN;
use crate::quinn::{Carried, Connection as Carrier};
use crate::record::{self, Correct, Record, Records};

const NAME: &str = QUINN.name;

super::endpoint::endpoint!();

impl Paths for stack::Connection {
    const CORRECT: Correct = record::of_quinn;

    fn recorded(config: &mut stack::TransportConfig, record: Record, title: String) {
        record::by_quinn(config, record, title, None);
    }

    fn path(&self) -> Option<Path> {
        let path = self.stats().path;
        let known = Path {
            lasted: Span::ZERO,
            rtt: span(path.rtt),
            window: path.cwnd,
            sent: path.sent_packets,
            lost: path.lost_packets,
            episodes: path.congestion_events,
        };
        Some(known.seen(host(self.congestion_state().into_any()).as_ref()))
    }

    async fn http3(&self, site: &Arc<Site>, limits: &Limits, tally: &Arc<Tally>) {
        http3::answer(h3_quinn::Connection::new(self.clone()), site, limits, tally).await;
    }

    async fn get_http3(
        &self,
        address: &str,
        take: &mut dyn FnMut(&[u8]) -> Result<(), String>,
    ) -> Result<(), String> {
        http3::get(h3_quinn::Connection::new(self.clone()), address, take).await
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Endpoints of noq, which has no HTTP/3 here.

use std::any::Any;
use std::boxed::Box;
use std::net::{SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::string::{String, ToString};
use std::sync::Arc;
use std::time::Duration;
use std::vec::Vec;

use ::noq as stack;
use ::noq_proto as proto;
use kneepoint_cc::cc::Config;
use kneepoint_cc::units::Span;
use proto::ConnectionIdGenerator;
use stack::PathId;
use stack::crypto::rustls::{HandshakeData, QuicClientConfig, QuicServerConfig};

use super::object::Site;
use super::serve::{self, Limits, Output, Path, Tally};
use super::{IDLE, LONGEST_ID};
use crate::carried::NOQ;
use crate::noq::{Carried, Connection as Carrier};
use crate::record::{self, Correct, Record, Records};

const NAME: &str = NOQ.name;

super::endpoint::endpoint!();

impl Paths for stack::Connection {
    const CORRECT: Correct = record::of_noq;

    fn recorded(config: &mut stack::TransportConfig, record: Record, title: String) {
        record::by_noq(config, record, title, None);
    }

    fn path(&self) -> Option<Path> {
        let path = self.path_stats(PathId::ZERO)?;
        let known = Path {
            lasted: Span::ZERO,
            rtt: span(path.rtt),
            window: path.cwnd,
            sent: path.sent_packets,
            lost: path.lost_packets,
            episodes: path.congestion_events,
        };
        let host = self.congestion_state(PathId::ZERO).and_then(|state| host(state.into_any()));
        Some(known.seen(host.as_ref()))
    }

    /// It is never negotiated.
    async fn http3(&self, _: &Arc<Site>, _: &Limits, _: &Arc<Tally>) {}

    async fn get_http3(&self, _: &str, _: &mut dyn FnMut(&[u8]) -> Result<(), String>) -> Result<(), String> {
        Err("noq has no HTTP/3 here".into())
    }
}

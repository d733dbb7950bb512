// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Endpoints of noq, which has no HTTP/3 here.

use std::any::Any;
use std::boxed::Box;
use std::net::{SocketAddr, UdpSocket};
use std::string::{String, ToString};
use std::sync::Arc;
use std::time::Duration;
use std::vec::Vec;

use ::noq as stack;
use kneepoint_cc::cc::Config;
use kneepoint_cc::units::Span;
use stack::PathId;
use stack::crypto::rustls::{HandshakeData, QuicClientConfig, QuicServerConfig};

use super::IDLE;
use super::object::Site;
use super::serve::{self, Limits, Output, Path, Tally};
use crate::noq::{Carried, Connection as Carrier};

super::endpoint::endpoint!();

impl Paths for stack::Connection {
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

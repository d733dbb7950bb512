// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Links: a queue before a transmitter before a line that delays, jitters and loses, some with further effects; and networks of them, at
//! work.
//!
//! [`Links`] carries packets without a run, a clock or I/O: the caller keeps the event queue and says what time it is. A packet
//! crosses the links of its path; at the end, it is written to the caller's place, and the result is the time of its arrival.
//!
//! ```
//! use kneepoint_sim::event::EventQueue;
//! use kneepoint_sim::link::{LinkSpec, Links, NodeId};
//! use kneepoint_sim::packet::Packet;
//! use kneepoint_sim::units::{Bytes, Rate, Span, Time};
//!
//! // Two links in a row: 8 Mbit/s and 5 ms, then 4 Mbit/s and 10 ms.
//! let link = |from, to, mbit, ms| LinkSpec {
//!     rate: Some(Rate::from_mbit(mbit)),
//!     delay: Span::from_millis(ms),
//!     measured: true,
//!     ..LinkSpec::new(NodeId(from), NodeId(to))
//! };
//! let specs = [link(0, 1, 8, 5), link(1, 2, 4, 10)];
//! let mut events = EventQueue::new(Links::entities(specs.len()), Span::from_micros(100));
//! let (packet, seed) = (Bytes(1000), 1);
//! let mut links = Links::new(&specs, packet, seed, &mut events);
//! let hop = links.add_path(&[0, 1]);
//!
//! let mut packet = Packet::default();
//! (packet.size, packet.hop) = (1000, hop);
//! assert!(links.carry(&mut packet, Time::ZERO, &mut events, &mut ()).is_none());
//! let mut reached = Vec::new();
//! while let Some((now, entity)) = events.pop(Time::NEVER) {
//!     reached.extend(links.on_event(entity, &mut packet, now, &mut events, &mut ()));
//! }
//! // 1 ms to transmit and 5 ms to travel, then 2 ms and 10 ms.
//! assert_eq!(reached[0], Time::ZERO + Span::from_millis(1 + 5 + 2 + 10));
//! ```

mod bucket;
pub mod capacity;
pub mod effects;
pub mod handover;
mod line;
pub mod loss;
mod network;
pub mod recording;
mod routes;
mod spec;
mod tail;

pub use line::Line;
pub use network::Links;
pub use routes::Routes;
pub use spec::{LinkSpec, Network, NodeId};
pub use tail::Tail;

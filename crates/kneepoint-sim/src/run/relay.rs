// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Proxies at work: a connection that is split into several, one behind the other.
//!
//! ```text
//! sender ── data ──▶ receiver ═ proxy ═ sender ── data ──▶ receiver        J. Border, M. Kojo, J. Griner, G. Montenegro, Z. Shelby,
//!        ◀── ack ───            buffer         ◀── ack ───                  RFC 3135, 2001, §2.4: split connections
//! ```
//!
//! The proxy writes data in order into the next connection at once, which it opens at the first byte and closes when the one
//! before it has closed. It holds what the next receiver has not acknowledged, and offers the rest of its buffer as its window.
//! A transfer begins when its first sender starts it, and is complete when the last receiver has it; a source learns of it by the
//! last acknowledgement. Departures: the proxy takes no time, and the end of a connection reaches it with the last acknowledgement at
//! the sender, half a round trip late.

use super::flow::{Flow, News, Part};
use super::hosts::Hosts;
use crate::event::EventQueue;
use crate::link::Links;
use crate::trace::{FlowId, Observer};
use crate::units::{Bytes, Time};

impl Flow {
    /// Data in order that a proxy has not yet forwarded: pieces, the last of each transfer with its beginning and size.
    fn pass(&mut self) -> Vec<(Bytes, Option<(Time, Bytes)>)> {
        let (from, next) = (self.chain.passed, self.receiver.next());
        self.chain.passed = next;
        let mut pieces = Vec::new();
        let mut start = from;
        let parts = self.parts.iter().flat_map(|parts| parts.iter());
        for &Part { end, began, size, .. } in parts.filter(|part| part.end > from && part.end <= next) {
            pieces.push((self.sender.payload_between(start, end), Some((began, size))));
            start = end;
        }
        if start < next {
            pieces.push((self.sender.payload_between(start, next), None));
        }
        pieces
    }
}

/// Proxies.
impl Hosts {
    /// Lets a proxy forward the data of one slot as another's. Neither has begun.
    pub fn join(&mut self, from: FlowId, to: FlowId, buffer: Bytes) {
        let first = &mut self.flows[from.0 as usize];
        first.chain.onward = Some(to);
        first.hold_at_most(buffer);
        first.await_more();
        let second = &mut self.flows[to.0 as usize];
        second.chain.behind = Some(from);
        second.heeds = true;
    }

    /// The slot that forwards a slot's data.
    pub fn onward(&self, flow: FlowId) -> Option<FlowId> {
        self.flows[flow.0 as usize].chain.onward
    }

    /// The receiver of a slot has more data in order, which a proxy forwards.
    #[cold]
    #[inline(never)]
    pub(super) fn pass_on<O: Observer>(
        &mut self,
        flow: u32,
        now: Time,
        network: &mut Links,
        events: &mut EventQueue,
        watch: &mut O,
    ) {
        let first = &mut self.flows[flow as usize];
        first.reached(now);
        let Some(onward) = first.chain.onward else { return };
        let (pieces, began) = (first.pass(), first.began);
        for (size, transfer) in pieces {
            let second = &mut self.flows[onward.0 as usize];
            let opens = second.began == Time::NEVER;
            second.carry_on(size, transfer, now);
            if opens {
                self.start(onward, now, network, events, watch);
                self.flows[onward.0 as usize].began = began;
            } else {
                self.send(onward.0, now, network, events, watch);
            }
        }
    }

    /// Data of a slot was acknowledged: the proxy that sent it has more room.
    #[cold]
    #[inline(never)]
    pub(super) fn make_room<O: Observer>(
        &mut self,
        flow: FlowId,
        now: Time,
        network: &mut Links,
        events: &mut EventQueue,
        watch: &mut O,
    ) {
        let second = &self.flows[flow.0 as usize];
        let Some(behind) = second.chain.behind else { return };
        let held = second.sender.waiting();
        let first = &mut self.flows[behind.0 as usize];
        if let Some(reply) = first.receiver.hold(first.segments(held), now) {
            self.reply(behind.0, reply, now, network, events, watch);
        }
    }

    /// The news of a slot for the agent that opened it or, where proxies split its connection, the first of the chain: none until the
    /// last of the chain has delivered everything.
    #[cold]
    #[inline(never)]
    pub(super) fn news(&self, flow: FlowId, ended: bool) -> Option<News> {
        let last = &self.flows[flow.0 as usize];
        if last.chain.onward.is_some() {
            return None;
        }
        let mut first = flow;
        while let Some(behind) = self.flows[first.0 as usize].chain.behind {
            let slot = &self.flows[behind.0 as usize];
            if !slot.has_all() || ended && !slot.sender.done() {
                return None;
            }
            first = behind;
        }
        let owner = self.flows[first.0 as usize].owner?;
        Some(News { flow: first, owner, ended, acked: last.sender.acked(), delivered: last.delivered })
    }

    /// A slot has ended: the proxy at its end closes the next one. The event of the transfer that this ends.
    pub(super) fn close_onward<O: Observer>(
        &mut self,
        flow: FlowId,
        now: Time,
        watch: &mut O,
    ) -> Option<News> {
        match self.onward(flow) {
            Some(onward) => self.close(onward, now, watch),
            None => self.news(flow, true),
        }
    }
}

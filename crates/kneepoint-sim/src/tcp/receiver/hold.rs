// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A receiver whose application is a proxy: data in order stays in its buffer until the next receiver has it.

use super::{Receiver, Reply};
use crate::packet::Flags;
use crate::tcp::room::{Offer, Rest};
use crate::units::Time;

impl Receiver {
    /// The same at a proxy that holds this many segments at most.
    #[must_use]
    pub fn holding(self, capacity: u32) -> Receiver {
        Receiver { short: false, room: Some(Box::new(Offer::Rest(Rest::new(capacity)))), ..self }
    }

    /// The proxy holds this many segments of data in order: returns the window update for the sender, if due.
    pub fn hold(&mut self, segments: u32, now: Time) -> Option<Reply> {
        let next = self.next;
        match self.room.as_deref_mut() {
            Some(Offer::Rest(rest)) => {
                rest.hold(segments, next).then(|| self.reply(now, now, Flags::default()))
            }
            _ => None,
        }
    }
}

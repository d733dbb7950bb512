// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Explicit feedback on its way to the controller.

use super::Sender;
use crate::cc::{Advice, Advised, Wanted};
use crate::packet::Explicit;
use crate::units::{PacketRate, Time};

impl Sender {
    /// Whether the controller uses explicit rates.
    #[inline]
    pub fn wants_rate(&self) -> bool {
        self.controller.wanted() == Wanted::Rate
    }

    /// The network advises the sender, in an acknowledgement or out of band. A request that returned unchanged is not
    /// advice.
    pub fn advise(&mut self, explicit: Explicit, now: Time) {
        if !explicit.limited() {
            return;
        }
        let advice = match explicit {
            Explicit::Rate(rate) => {
                let packet = self.options.header + self.options.payload;
                Advice::Rate(PacketRate(rate.packets(packet)))
            }
            Explicit::Change(packets) => Advice::Change(packets),
        };
        self.controller.on_advice(&Advised { now, advice });
        self.control = self.controller.control();
    }
}

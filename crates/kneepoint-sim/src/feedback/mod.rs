// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Explicit feedback: signals of a link's state to senders in addition to drops and marks, and their registry.
//!
//! A link stamps the data packets that leave it. A stamp only ever lowers what a packet requests, so a sender learns the
//! least value along the path, one round trip after its packet left. Feedback orders and drops nothing: it works with
//! any queue discipline. Senders whose controllers use no explicit feedback request none, and receive none.
//!
//! To add one: write `feedback/NAME.rs` like `feedback/erica.rs` and add its line to the registry below.

mod active;
pub mod max_min;
mod stamper;

use std::fmt::Debug;

use crate::packet::{Explicit, Packet};
use crate::queue::{Backlog, Departure, Facts};
use crate::settings::Settings;
use crate::units::{Rate, Span, Time};

pub use stamper::Stamper;

/// A packet arrived at the link, before its fate is known.
#[derive(Clone, Copy, Debug)]
pub struct Offered<'a> {
    /// When.
    pub now: Time,
    /// The packet.
    pub packet: &'a Packet,
    /// The backlog that it finds.
    pub backlog: Backlog,
}

/// The field written into a departing data packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stamp {
    /// Nothing.
    Nothing,
    /// A bound on its request, if it requests this kind.
    Lower(Explicit),
    /// A congestion mark, if its sender understands marks.
    Mark,
}

/// Exact fair rates, which the run itself gives to senders without packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutOfBand {
    /// The age of the rates when a sender learns them; its base round-trip time if `None`.
    pub delay: Option<Span>,
    /// The interval over which a capacity that varies is averaged.
    pub window: Span,
}

/// Explicit feedback of one link, with its state.
pub trait Feedback: Clone + Debug {
    /// Its parameters.
    type Params: Settings;

    /// Feedback of an idle link.
    fn new(params: Self::Params, facts: Facts) -> Self;
    /// Whether it ignores packets, so that the link need not pass any to it.
    fn passive(&self) -> bool {
        false
    }
    /// The signal that the run gives to senders of this link.
    fn out_of_band(&self) -> Option<OutOfBand> {
        None
    }
    /// A packet arrived, data or acknowledgement.
    #[inline]
    fn on_arrival(&mut self, _: &Offered) {}
    /// A packet leaves; the return value is ignored for an acknowledgement.
    #[inline]
    fn on_departure(&mut self, _: &Departure) -> Stamp {
        Stamp::Nothing
    }
    /// The rate of a link whose capacity varies, averaged over the last [`Stamper::WINDOW`]; other links keep the rate
    /// in [`Facts`].
    fn on_capacity(&mut self, _: Rate) {}
    /// Its state for observers to plot: names with units, and values.
    fn state(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}

crate::registry! {
    trait Feedback(Facts);
    each each;
    algorithms {
        none::Nothing,
        oracle::Oracle,
        erica::Erica,
        rcp::Rcp,
        xcp::Xcp,
        abc::Abc,
        scone::Scone,
    }
}

/// The methods of [`Feedback`], forwarded to the variant.
#[allow(missing_docs)]
impl Any {
    pub fn passive(&self) -> bool {
        each!(self, one => one.passive())
    }
    pub fn out_of_band(&self) -> Option<OutOfBand> {
        each!(self, one => one.out_of_band())
    }
    pub fn on_arrival(&mut self, offered: &Offered) {
        each!(self, one => one.on_arrival(offered))
    }
    pub fn on_departure(&mut self, departure: &Departure) -> Stamp {
        each!(self, one => one.on_departure(departure))
    }
    pub fn on_capacity(&mut self, rate: Rate) {
        each!(self, one => one.on_capacity(rate))
    }
    pub fn state(&self) -> Vec<(&'static str, f64)> {
        each!(self, one => one.state())
    }
}

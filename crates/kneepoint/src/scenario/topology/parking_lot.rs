// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Parking lot: routers in a row, every hop a bottleneck; each flow has its own hosts at the routers it names.
//!
//! ```text
//! s1 ── r1 ═══ r2 ═══ r3 ── d1
//!        ╰ s2   ╰ d2           a flow over one hop meets one over all
//! ```

use super::super::forms::{Buffer, Pace};
use super::super::tree::Table;
use super::chain::Backbone;
use super::{
    DelaySteps, Laid, Nominal, Period, Site, Topology, delay_range, delays_repeat, nominal, period_range,
    rate_range, steps,
};
use crate::fault::Faults;
use crate::link::NodeId;
use crate::settings::{FilePath, Inline, Or};
use crate::units::{Rate, Span};

crate::settings! {
    /// A parking lot.
    pub struct Params {
        /// Rate of every hop; `auto` is the mean of their trace.
        rate: Nominal = Or::is(Rate::from_mbit(10)), rate_range();
        /// The number of routers: `r1`, `r2` and so on.
        routers: u32 = 6, 2..=1000;
        /// One-way delay from a router to the next.
        hop_delay: Span = Span::from_millis(5), Span::ZERO..=Span::from_secs(100);
        /// Times and the one-way delay of every hop from each of them on, as in `["10s: 50ms"]`; packets never overtake one another.
        delay_steps: DelaySteps = Or::WORD, delay_range();
        /// The file to take them from: a time and a delay in each line, or the columns of a trace.
        delay_file: Or<FilePath, Inline> = Or::WORD;
        /// After how long the delay steps begin again.
        delay_period: Period = Or::WORD, period_range();
        /// One-way delay between a host and its router.
        access_delay: Span = Span::from_millis(5), Span::ZERO..=Span::from_secs(100);
        /// Rate of access links.
        access_rate: Pace = Or::WORD, Or::is(Rate(1))..=Or::is(Rate::from_mbit(1_000_000));
        /// Buffer of a hop: bandwidth-delay products of a path over one hop, packets, data or time.
        buffer: Buffer = Buffer::Bdp(1.0);
        /// Packets per flow across a hop that a buffer in bandwidth-delay products has at least.
        buffer_floor: u32 = 2, 0..=1000;
    } check |params| delays_repeat(&params.delay_steps, &params.delay_period)
}

/// A parking lot.
#[derive(Clone, Debug)]
pub struct ParkingLot(Params);

impl Topology for ParkingLot {
    type Params = Params;
    const REQUIRED: &'static [&'static str] = &["rate"];

    fn new(params: Params) -> ParkingLot {
        ParkingLot(params)
    }
    fn lay(&self, site: &Site, table: &Table, faults: &mut Faults) -> Option<Laid> {
        if faults.is_empty() { lay(&self.0, site, table, faults) } else { None }
    }
}

fn lay(params: &Params, site: &Site, table: &Table, faults: &mut Faults) -> Option<Laid> {
    for wish in &site.wishes {
        wish.hold_under(&params.access_rate, faults);
    }
    let row = Backbone {
        routers: params.routers,
        rate: nominal(&params.rate, &site.capacity, table, faults)?,
        delay: params.hop_delay,
        delay_steps: steps(&params.delay_steps),
        delay_period: params.delay_period.get().copied(),
        rtt: (params.access_delay * 2 + params.hop_delay) * 2,
        buffer: params.buffer,
        floor: params.buffer_floor,
    };
    let (mut net, ends) = row.lay("parking-lot", site, table, faults)?;
    let mut placed = 0;
    let mut pairs = Vec::new();
    for (wish, (from, to)) in site.wishes.iter().zip(ends) {
        let mut group = Vec::new();
        for _ in 0..wish.count {
            placed += 1;
            let hosts = [(format!("s{placed}"), from), (format!("d{placed}"), to)].map(|(name, router)| {
                let (host, router) = (net.node(name), NodeId(router as u32));
                net.access(host, router, &params.access_rate, params.access_delay);
                net.access(router, host, &params.access_rate, params.access_delay);
                host
            });
            group.push((hosts[0], hosts[1]));
        }
        pairs.push(if wish.crossed { super::cross(&group) } else { group });
    }
    Some(Laid { network: net.0, pairs })
}

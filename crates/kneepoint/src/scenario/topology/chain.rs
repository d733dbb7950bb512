// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Chain: nodes in a row, `r1` to the last, with hosts on them; the smallest network is one link with `hops = 1`.

use super::super::effects::hand_over;
use super::super::forms::{Buffer, Name};
use super::super::sections::Direction;
use super::super::tree::Table;
use super::net::Net;
use super::{
    DelaySteps, Laid, Nominal, Period, Site, Topology, Wish, delay_range, delays_repeat, nominal,
    period_range, rate_range, steps,
};
use crate::fault::Faults;
use crate::link::{LinkSpec, NodeId};
use crate::queue;
use crate::settings::{FilePath, Inline, Or, Timed};
use crate::suggest::did_you_mean;
use crate::units::{Rate, Span};

crate::settings! {
    /// A chain.
    pub struct Params {
        /// Rate of every hop; `auto` is the mean of their trace.
        rate: Nominal = Or::is(Rate::from_mbit(10)), rate_range();
        /// The number of hops.
        hops: u32 = 1, 1..=1000;
        /// One-way delay of a hop.
        hop_delay: Span = Span::from_millis(10), Span::ZERO..=Span::from_secs(100);
        /// Times and the one-way delay of every hop from each of them on, as in `["10s: 50ms"]`; packets never overtake one another.
        delay_steps: DelaySteps = Or::WORD, delay_range();
        /// The file to take them from: a time and a delay in each line, or the columns of a trace.
        delay_file: Or<FilePath, Inline> = Or::WORD;
        /// After how long the delay steps begin again.
        delay_period: Period = Or::WORD, period_range();
        /// Buffer of a hop: bandwidth-delay products of the whole chain, packets, data or time.
        buffer: Buffer = Buffer::Bdp(1.0);
        /// Packets per flow that a buffer in bandwidth-delay products has at least.
        buffer_floor: u32 = 2, 0..=1000;
    } check |params| delays_repeat(&params.delay_steps, &params.delay_period)
}

/// A chain.
#[derive(Clone, Debug)]
pub struct Chain(Params);

impl Topology for Chain {
    type Params = Params;
    const REQUIRED: &'static [&'static str] = &["rate"];

    fn new(params: Params) -> Chain {
        Chain(params)
    }
    fn lay(&self, site: &Site, table: &Table, faults: &mut Faults) -> Option<Laid> {
        if faults.is_empty() { lay(&self.0, site, table, faults) } else { None }
    }
}

fn lay(params: &Params, site: &Site, table: &Table, faults: &mut Faults) -> Option<Laid> {
    let row = Backbone {
        routers: params.hops + 1,
        rate: nominal(&params.rate, &site.capacity, table, faults)?,
        delay: params.hop_delay,
        delay_steps: steps(&params.delay_steps),
        delay_period: params.delay_period.get().copied(),
        rtt: params.hop_delay * 2 * u64::from(params.hops),
        buffer: params.buffer,
        floor: params.buffer_floor,
    };
    let (net, ends) = row.lay("chain", site, table, faults)?;
    let pairs = |(wish, (from, to)): (&Wish, &(usize, usize))| {
        vec![(NodeId(*from as u32), NodeId(*to as u32)); if wish.crossed { 1 } else { wish.count as usize }]
    };
    Some(Laid { network: net.0, pairs: site.wishes.iter().zip(&ends).map(pairs).collect() })
}

/// Routers in a row, `r1` first, with a bottleneck between each and the next.
pub(super) struct Backbone {
    pub routers: u32,
    pub rate: Rate,
    pub delay: Span,
    pub delay_steps: Vec<Timed<Span>>,
    pub delay_period: Option<Span>,
    /// The round-trip time by which a buffer in bandwidth-delay products is counted.
    pub rtt: Span,
    pub buffer: Buffer,
    pub floor: u32,
}

impl Backbone {
    /// The routers, which are the first nodes, their links, and where each wish enters and leaves.
    pub(super) fn lay(
        &self,
        kind: &str,
        site: &Site,
        table: &Table,
        faults: &mut Faults,
    ) -> Option<(Net, Vec<(usize, usize)>)> {
        let remedy = format!("the delays of a {kind} give the round-trip time");
        for wish in &site.wishes {
            wish.refuse("rtt", kind, &remedy, faults);
        }
        let ends: Vec<(usize, usize)> = site.wishes.iter().map(|wish| self.ends(wish, faults)).collect();
        if !faults.is_empty() {
            return None;
        }
        let mut net = Net::default();
        let routers: Vec<NodeId> = (1..=self.routers).map(|number| net.node(format!("r{number}"))).collect();
        for (hop, two) in routers.windows(2).enumerate() {
            let there = self.crossing(site, &ends, |from, to| from <= hop && hop < to);
            let back = self.crossing(site, &ends, |from, to| to <= hop && hop < from);
            let mut link = self.bottleneck(site, table, two, there.max(back), faults)?;
            link.measured = there > 0;
            let mut other = link.clone();
            hand_over(&mut link, (&site.handover, &site.handover.rates), site.root, faults);
            net.link(link);
            let measured = back > 0 || site.reverse.differs();
            other.queue = if measured { site.reverse_queue.clone() } else { queue::Config::default() };
            other.feedback = crate::feedback::Config::default();
            other.loss = site.reverse.loss.clone();
            other.capacity = site.reverse_capacity();
            other.effects = site.reverse.effects.clone().boxed();
            (other.from, other.to, other.measured) = (two[1], two[0], measured);
            hand_over(&mut other, (&site.handover, &site.handover.reverse_rates), site.root, faults);
            net.link(other);
        }
        Some((net, ends))
    }

    fn bottleneck(
        &self,
        site: &Site,
        table: &Table,
        ends: &[NodeId],
        flows: u64,
        faults: &mut Faults,
    ) -> Option<LinkSpec> {
        let pipe = site.pipe(self.rate, self.rtt, table.place("buffer"));
        let limit = pipe.limit(self.buffer, u64::from(self.floor) * flows, faults)?;
        Some(LinkSpec {
            rate: Some(self.rate),
            capacity: site.capacity.clone(),
            delay: self.delay,
            delay_steps: self.delay_steps.clone(),
            delay_period: self.delay_period,
            queue: site.queue.clone(),
            feedback: site.feedback.clone(),
            limit,
            loss: site.loss.clone(),
            effects: site.effects.clone().boxed(),
            measured: true,
            ..LinkSpec::new(ends[0], ends[1])
        })
    }

    /// The number of senders whose data crosses a hop.
    fn crossing(&self, site: &Site, ends: &[(usize, usize)], crosses: impl Fn(usize, usize) -> bool) -> u64 {
        let pairs = site.wishes.iter().zip(ends);
        pairs.filter(|(_, (from, to))| crosses(*from, *to)).map(|(wish, _)| u64::from(wish.count)).sum()
    }

    /// The hops at which the data of a wish enters and leaves, counted from zero.
    fn ends(&self, wish: &Wish, faults: &mut Faults) -> (usize, usize) {
        let from = self.router(wish, "from", wish.place.from.get(), 0, faults);
        let to = self.router(wish, "to", wish.place.to.get(), self.routers as usize - 1, faults);
        if from == to {
            let message = format!("{}: it enters and leaves at the same router", wish.label);
            faults.add_with_help(wish.table.place("to"), message, "let `from` and `to` differ");
        }
        match wish.place.direction {
            Direction::Forward => (from, to),
            Direction::Reverse => (to, from),
        }
    }

    fn router(
        &self,
        wish: &Wish,
        field: &str,
        name: Option<&Name>,
        auto: usize,
        faults: &mut Faults,
    ) -> usize {
        let Some(Name(name)) = name else { return auto };
        let number = name.strip_prefix('r').and_then(|digits| digits.parse::<usize>().ok());
        match number {
            Some(number) if (1..=self.routers as usize).contains(&number) => number - 1,
            _ => {
                let message = format!("{}: there is no router `{name}`", wish.label);
                let last = format!("r{}", self.routers);
                let help = match self.routers {
                    ..=12 => {
                        let names: Vec<String> =
                            (1..=self.routers).map(|router| format!("r{router}")).collect();
                        did_you_mean(name, &names.iter().map(String::as_str).collect::<Vec<_>>())
                    }
                    _ => format!("routers are `r1` to `{last}`"),
                };
                faults.add_with_help(wish.table.place(field), message, help);
                auto
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Dumbbell: two routers and the bottleneck between them; each flow has its own hosts and round-trip time.
//!
//! ```text
//! s1 ── r1 ═══ b ═══ r2 ── d1      access delays: the rest of each flow's round trip,
//! s2 ──╯              ╰─── d2      rtt − 2·b, over its four access links
//! ```
//!
//! `access = "minimal"` simulates the same round trips with fewer links: senders sit on the first router,
//! one link carries data on from the second, and one carries acknowledgements back.

use super::super::effects::{REVERSE, hand_over};
use super::super::forms::{Buffer, Pace};
use super::super::sections::Direction;
use super::super::tree::Table;
use super::net::Net;
use super::{
    DelaySteps, Laid, Nominal, Period, Pipe, Site, Topology, Wish, delay_range, delays_repeat, nominal,
    period_range, rate_range, steps,
};
use crate::fault::Faults;
use crate::link::{LinkSpec, NodeId};
use crate::queue::Limit;
use crate::settings::{Auto, FilePath, Inline, Or};
use crate::units::{Rate, Span};

crate::choice! {
    /// The attachment of hosts.
    pub enum Access {
        /// Each host has a link to its router and one back.
        Full = "full",
        /// The fewest links that give every flow its round-trip time.
        Minimal = "minimal",
    }
}

crate::settings! {
    /// A dumbbell.
    pub struct Params {
        /// Rate of the bottleneck; `auto` is the mean rate of the trace in `[capacity]`.
        rate: Nominal = Or::is(Rate::from_mbit(10)), rate_range();
        /// Base round-trip time, without queueing and transmission; a group may have its own.
        rtt: Span = Span::from_millis(60), Span::from_micros(1)..=Span::from_secs(1000);
        /// One-way delay of the bottleneck; `auto` is a third of the least round-trip time.
        delay: Or<Span, Auto> = Or::WORD, Or::is(Span::ZERO)..=Or::is(Span::from_secs(500));
        /// Times and the one-way delay of the bottleneck from each of them on, as in `["10s: 50ms"]`; packets never overtake one another.
        delay_steps: DelaySteps = Or::WORD, delay_range();
        /// The file to take them from: a time and a delay in each line, or the columns of a trace.
        delay_file: Or<FilePath, Inline> = Or::WORD;
        /// After how long the delay steps begin again.
        delay_period: Period = Or::WORD, period_range();
        /// By how much more the bottleneck may delay a packet, at random and without reordering.
        jitter: Span = Span::ZERO, Span::ZERO..=Span::from_secs(100);
        /// Buffer of the bottleneck: bandwidth-delay products, packets, data or time.
        buffer: Buffer = Buffer::Bdp(1.0);
        /// Packets per flow that a buffer in bandwidth-delay products has at least.
        buffer_floor: u32 = 2, 0..=1000;
        /// Rate of the bottleneck in the other direction, whose queue is then measured; `auto` is the same.
        reverse_rate: Or<Rate, Auto> = Or::WORD, Or::is(Rate(1))..=Or::is(Rate::from_mbit(1_000_000));
        /// Buffer of the bottleneck in the other direction; `auto` is the same, counted by its own rate.
        reverse_buffer: Or<Buffer, Auto> = Or::WORD;
        /// Rate of access links.
        access_rate: Pace = Or::WORD, Or::is(Rate(1))..=Or::is(Rate::from_mbit(1_000_000));
        /// The attachment of hosts.
        access: Access = Access::Full;
    } check |params| {
        delays_repeat(&params.delay_steps, &params.delay_period)?;
        if params.access == Access::Minimal && params.reverse_rate.get().is_some() {
            return Err("reverse_rate has no effect where access is `minimal`: write `full`".into());
        }
        match params.access_rate.get() {
            Some(rate) if params.access == Access::Minimal => Err(format!(
                "access_rate, {rate}, means nothing where access is `minimal`: leave it out, or write `full`"
            )),
            _ => Ok(()),
        }
    }
}

/// A dumbbell.
#[derive(Clone, Debug)]
pub struct Dumbbell(Params);

impl Topology for Dumbbell {
    type Params = Params;
    const REQUIRED: &'static [&'static str] = &["rate"];

    fn new(params: Params) -> Dumbbell {
        Dumbbell(params)
    }
    fn lay(&self, site: &Site, table: &Table, faults: &mut Faults) -> Option<Laid> {
        if faults.is_empty() { lay(&self.0, site, table, faults) } else { None }
    }
}

fn lay(params: &Params, site: &Site, table: &Table, faults: &mut Faults) -> Option<Laid> {
    for wish in &site.wishes {
        let remedy = "choose a `direction` instead";
        wish.refuse("from", "dumbbell", remedy, faults);
        wish.refuse("to", "dumbbell", remedy, faults);
        if params.access == Access::Minimal && wish.place.direction == Direction::Reverse {
            let message = format!(
                "{}: on a minimal dumbbell data that goes back meets no acknowledgements",
                wish.label
            );
            faults.add_with_help(
                wish.table.place("direction"),
                message,
                "write `access = \"full\"` in [topology]",
            );
        }
        if params.access == Access::Full {
            wish.hold_under(&params.access_rate, faults);
        }
    }
    if params.access == Access::Minimal
        && let Some(node) = site.root.get(REVERSE)
    {
        let message =
            "`[reverse]` means nothing on a minimal dumbbell, whose acknowledgements pass the bottleneck by";
        faults.add_with_help(&node.span, message, "write `access = \"full\"` in [topology]");
    }
    let delay = bottleneck_delay(params, site, table, faults);
    let rate = nominal(&params.rate, &site.capacity, table, faults)?;
    let limits = limits(params, rate, site, table, faults);
    if !faults.is_empty() {
        return None;
    }
    let (forward, reverse) = limits?;
    let mut net = Net::default();
    let routers = (net.node("r1"), net.node("r2"));
    let two_way = site.travels(Direction::Reverse);
    let bottleneck = LinkSpec {
        rate: Some(rate),
        capacity: site.capacity.clone(),
        delay,
        delay_steps: steps(&params.delay_steps),
        delay_period: params.delay_period.get().copied(),
        jitter: params.jitter,
        queue: site.queue.clone(),
        feedback: site.feedback.clone(),
        limit: forward,
        loss: site.loss.clone(),
        effects: site.effects.clone().boxed(),
        measured: true,
        ..LinkSpec::new(routers.0, routers.1)
    };
    let mut forward_link = bottleneck.clone();
    hand_over(&mut forward_link, (&site.handover, &site.handover.rates), site.root, faults);
    net.link(forward_link);
    // Without access links back, acknowledgements bypass the routers.
    if params.access == Access::Full {
        let own_rate = params.reverse_rate.get().copied();
        let mut back = LinkSpec {
            from: routers.1,
            to: routers.0,
            rate: own_rate.or(bottleneck.rate),
            queue: site.reverse_queue.clone(),
            limit: reverse,
            feedback: crate::feedback::Config::default(),
            loss: site.reverse.loss.clone(),
            capacity: site.reverse_capacity(),
            effects: site.reverse.effects.clone().boxed(),
            measured: two_way || own_rate.is_some() || site.reverse.differs(),
            ..bottleneck
        };
        hand_over(&mut back, (&site.handover, &site.handover.reverse_rates), site.root, faults);
        net.link(back);
    }
    let mut hosts = Hosts { net, params, delay, placed: 0 };
    let pairs = site.wishes.iter().map(|wish| hosts.group(wish, routers)).collect();
    Some(Laid { network: hosts.net.0, pairs })
}

/// The round-trip times that a group's members take in turn.
fn round_trips<'w>(params: &'w Params, wish: &'w Wish) -> &'w [Span] {
    wish.place.rtt.get().map_or(std::slice::from_ref(&params.rtt), |cycle| cycle.values())
}

/// The bottleneck's delay, which must leave no flow its own negative delay.
fn bottleneck_delay(params: &Params, site: &Site, table: &Table, faults: &mut Faults) -> Span {
    let used = site
        .wishes
        .iter()
        .flat_map(|wish| round_trips(params, wish).iter().take(wish.count as usize).copied());
    let Some(delay) = params.delay.get().copied() else {
        return Span(used.min().unwrap_or(params.rtt).0 / 3);
    };
    for wish in &site.wishes {
        let place =
            if wish.place.rtt.get().is_some() { wish.table.place("rtt") } else { table.place("delay") };
        if let Some(rtt) = round_trips(params, wish).iter().find(|rtt| rtt.0 < 2 * delay.0) {
            let message = format!(
                "{}: an rtt of {rtt} is shorter than twice the bottleneck's delay, {delay}",
                wish.label
            );
            let help = format!("the least rtt here is {}; or lower `delay` in [topology]", delay * 2);
            faults.add_with_help(place, message, help);
        }
    }
    delay
}

fn limits(
    params: &Params,
    rate: Rate,
    site: &Site,
    table: &Table,
    faults: &mut Faults,
) -> Option<(Limit, Limit)> {
    let pipe = site.pipe(rate, params.rtt, table.place("buffer"));
    let floor = u64::from(params.buffer_floor) * site.population();
    let forward = pipe.limit(params.buffer, floor, faults)?;
    let own = params.reverse_rate.get().copied();
    let other = Pipe { rate: own.unwrap_or(rate), ..pipe };
    let reverse = match params.reverse_buffer.get() {
        Some(buffer) => {
            Pipe { span: table.place("reverse_buffer"), ..other }.limit(*buffer, floor, faults)?
        }
        None if own.is_some() => other.limit(params.buffer, floor, faults)?,
        None => forward,
    };
    Some((forward, reverse))
}

struct Hosts<'h> {
    net: Net,
    params: &'h Params,
    delay: Span,
    placed: u32,
}

impl Hosts<'_> {
    /// Hosts for every pair in `wish`, and the pairs.
    fn group(&mut self, wish: &Wish, routers: (NodeId, NodeId)) -> Vec<(NodeId, NodeId)> {
        let (near, far) = match wish.place.direction {
            Direction::Forward => routers,
            Direction::Reverse => (routers.1, routers.0),
        };
        let rtts = round_trips(self.params, wish).iter().cycle();
        let pairs: Vec<(NodeId, NodeId)> = rtts
            .take(wish.count as usize)
            .map(|rtt| {
                self.placed += 1;
                match self.params.access {
                    Access::Full => self.full(near, far, *rtt),
                    Access::Minimal => self.minimal(near, far, *rtt),
                }
            })
            .collect();
        if wish.crossed { super::cross(&pairs) } else { pairs }
    }

    /// Four access links share the rest of the round trip, to the nanosecond.
    fn full(&mut self, near: NodeId, far: NodeId, rtt: Span) -> (NodeId, NodeId) {
        let rest = rtt.0 - 2 * self.delay.0;
        let rate = &self.params.access_rate;
        if rest == 0 && rate.get().is_none() {
            return (near, far);
        }
        let share = |link: u64| Span(rest / 4 + u64::from(link < rest % 4));
        let sender = self.net.node(format!("s{}", self.placed));
        let receiver = self.net.node(format!("d{}", self.placed));
        self.net.access(sender, near, rate, share(0));
        self.net.access(far, receiver, rate, share(1));
        self.net.access(receiver, far, rate, share(2));
        self.net.access(near, sender, rate, share(3));
        (sender, receiver)
    }

    fn minimal(&mut self, near: NodeId, far: NodeId, rtt: Span) -> (NodeId, NodeId) {
        let there = Span((rtt.0 / 2).saturating_sub(self.delay.0));
        let back = Span(rtt.0 - there.0 - self.delay.0);
        let receiver = self.net.node(format!("d{}", self.placed));
        self.net.access(far, receiver, &Pace::WORD, there);
        self.net.access(receiver, near, &Pace::WORD, back);
        (near, receiver)
    }
}

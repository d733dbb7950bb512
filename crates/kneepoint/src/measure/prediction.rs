// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The observer that lets congestion predictors watch one flow of a run.
//!
//! Acknowledgements come in the order of their times, but a loss in a channel is told ahead of it, and a drop-tail queue
//! tells that a packet left only when the next one arrives. So drops wait until an acknowledgement passes their
//! time, and a false positive waits for the first change of the queue after it. Nothing else is kept: a run may be as
//! long as it likes.
//!
//! Predictors hear their flow from its first packet on; what they said is counted inside the measurement window.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::link::Routes;
use crate::packet::{Flags, Packet};
use crate::predict::{Config, Judge, Laboratory, Sample, Score};
use crate::queue::{Limit, Reason, Verdict};
use crate::spec::{Roster, Slot, Valid};
use crate::trace::{Event, FlowId, LinkId, Observer};
use crate::units::{Bytes, Interval, Time};

/// Lets predictors watch one flow.
#[derive(Clone, Debug)]
pub struct Prediction {
    laboratory: Laboratory,
    flow: FlowId,
    bottleneck: LinkId,
    payload: Bytes,
    window: Interval,
    /// Whether the measurement window has begun.
    begun: bool,
    drops: BinaryHeap<Reverse<(Time, Judge)>>,
}

impl Prediction {
    /// Predictors for one run of `valid`, on a transfer that it lists. Its bottleneck is the first measured link
    /// that its data crosses. The rest is as [`Laboratory::new`] takes it.
    pub fn new(
        valid: &Valid,
        tagged: FlowId,
        configs: &[(String, Config)],
        hold_off: f64,
        bins: usize,
    ) -> Result<Prediction, String> {
        let unlisted = || format!("flow {} is not one of the transfers that the scenario lists", tagged.0);
        let Slot { group, index } = Roster::new(valid).slot(tagged).ok_or_else(unlisted)?;
        let group = &valid.groups[group];
        let tcp = group.tcp.as_ref().filter(|_| group.kind().listed()).ok_or_else(unlisted)?;
        let (from, to) = group.pairs[index];
        let path = Routes::new(&valid.network).path(from, to).unwrap_or_default();
        let measured = |link: &&u32| valid.network.links[**link as usize].measured;
        let Some(&bottleneck) = path.iter().find(measured) else {
            return Err(format!("no link that `{}` crosses is measured", group.name));
        };
        let buffer = match valid.network.links[bottleneck as usize].limit {
            Limit::Packets(packets) => f64::from(packets),
            Limit::Bytes(bytes) => bytes.0 as f64 / valid.full_packet().0 as f64,
            Limit::Unlimited => f64::INFINITY,
        };
        Ok(Prediction {
            laboratory: Laboratory::new(configs, hold_off, buffer, bins),
            flow: tagged,
            bottleneck: LinkId(bottleneck),
            payload: tcp.payload,
            window: valid.schedule.measure,
            begun: false,
            drops: BinaryHeap::new(),
        })
    }

    /// What the predictors were worth.
    pub fn finish(mut self) -> Vec<Score> {
        self.pass(Time::NEVER);
        self.laboratory.finish()
    }

    /// All drops before `end` happen, and with the first instant of the window the measurement begins.
    fn pass(&mut self, end: Time) {
        if !self.begun && end >= self.window.from {
            self.drop_before(self.window.from);
            self.laboratory.forget();
            self.begun = true;
        }
        self.drop_before(end.min(self.window.to));
    }

    fn drop_before(&mut self, end: Time) {
        while let Some(&Reverse((at, judge))) = self.drops.peek()
            && at < end
        {
            self.drops.pop();
            self.laboratory.lose(at, judge);
        }
    }

    fn hear(&mut self, sample: Sample) {
        if sample.now < self.window.to {
            self.pass(sample.now);
            self.laboratory.observe(&sample);
        }
    }

    /// A packet reached its end somewhere.
    fn fate(&mut self, at: Time, link: LinkId, packet: &Packet, verdict: Verdict) {
        let Verdict::Dropped(reason) = verdict else { return };
        if self.is_own(packet) {
            self.drops.push(Reverse((at, Judge::Flow)));
        }
        // What a channel loses says nothing of the queue before it.
        if link == self.bottleneck && reason != Reason::Channel {
            // A measured queue tells of its drops as they happen: no sample from before this one is still to come.
            self.pass(at);
            self.drops.push(Reverse((at, Judge::Queue)));
        }
    }

    #[inline]
    fn is_own(&self, packet: &Packet) -> bool {
        packet.flow == self.flow.0 && !packet.flags.has(Flags::ACK)
    }
}

impl Observer for Prediction {
    #[inline(always)]
    fn on(&mut self, at: Time, event: &Event) {
        match event {
            Event::Acked { flow, acked, rtt: Some(rtt), one_way, window } if *flow == self.flow => {
                let acked = acked.0.div_ceil(self.payload.0.max(1)) as u32;
                self.hear(Sample { now: at, rtt: *rtt, window: *window, one_way: *one_way, acked });
            }
            Event::Arrival { link, packet, verdict } | Event::Fate { link, packet, verdict } => {
                self.fate(at, *link, packet, *verdict);
            }
            Event::Queue { link, backlog } if *link == self.bottleneck && at < self.window.to => {
                self.laboratory.queue(at, backlog.packets);
            }
            _ => {}
        }
    }
}

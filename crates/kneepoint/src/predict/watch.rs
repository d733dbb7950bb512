// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Congestion predictors on one flow of a run.
//!
//! Predictors receive the events of the flow and of its bottleneck in the order of their times. Nothing else is kept, so
//! memory does not grow with the length of a run.
//!
//! Predictors observe their flow from its first packet on; their answers count inside the measurement window.

use super::{Config, Judge, Laboratory, Sample, Score};
use crate::link::Routes;
use crate::packet::Flags;
use crate::queue::{Fate, Limit, Reason};
use crate::spec::{Roster, Slot, Valid};
use crate::trace::{Event, FlowId, LinkId, Observer, Ordered};
use crate::units::{Bytes, Interval, Time};

/// Lets predictors watch one flow.
#[derive(Clone, Debug)]
pub struct Prediction {
    flow: FlowId,
    bottleneck: LinkId,
    jury: Ordered<Jury>,
}

/// Receives the events of the flow and of its bottleneck in order.
#[derive(Clone, Debug)]
struct Jury {
    laboratory: Laboratory,
    flow: FlowId,
    bottleneck: LinkId,
    payload: Bytes,
    window: Interval,
    /// Whether the measurement window has begun.
    begun: bool,
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
        let group = &valid.groups()[group];
        let tcp = group.tcp.as_ref().filter(|_| group.kind().listed()).ok_or_else(unlisted)?;
        let (from, to) = group.pairs[index];
        let path = Routes::new(valid.network()).path(from, to).unwrap_or_default();
        let measured = |link: &&u32| valid.network().links[**link as usize].measured;
        let Some(&bottleneck) = path.iter().find(measured) else {
            return Err(format!("no link that `{}` crosses is measured", group.name));
        };
        let buffer = match valid.network().links[bottleneck as usize].limit {
            Limit::Packets(packets) => f64::from(packets),
            Limit::Bytes(bytes) => bytes.0 as f64 / valid.full_packet().0 as f64,
            Limit::Unlimited => f64::INFINITY,
        };
        let bottleneck = LinkId(bottleneck);
        let jury = Jury {
            laboratory: Laboratory::new(configs, hold_off, buffer, bins),
            flow: tagged,
            bottleneck,
            payload: tcp.payload,
            window: valid.schedule().measure,
            begun: false,
        };
        Ok(Prediction { flow: tagged, bottleneck, jury: Ordered::new(jury) })
    }

    /// The scores of the predictors.
    pub fn finish(self) -> Vec<Score> {
        let mut jury = self.jury.finish();
        jury.begin();
        jury.laboratory.finish()
    }
}

impl Observer for Prediction {
    #[inline(always)]
    fn on(&mut self, at: Time, event: &Event) {
        let concerns = match event {
            Event::Acked { flow, .. } => *flow == self.flow,
            Event::Arrival { link, packet, fate } | Event::Fate { link, packet, fate } => {
                matches!(fate, Fate::Dropped(_)) && (*link == self.bottleneck || packet.flow == self.flow.0)
            }
            Event::Queue { link, .. } => *link == self.bottleneck,
            _ => false,
        };
        if concerns {
            self.jury.on(at, event);
        }
    }

    fn clock(&self) -> bool {
        true
    }

    fn advance(&mut self, now: Time) {
        self.jury.advance(now);
    }
}

impl Jury {
    /// Counting begins with the window.
    fn begin(&mut self) {
        if !self.begun {
            self.laboratory.forget();
            self.begun = true;
        }
    }
}

impl Observer for Jury {
    fn on(&mut self, at: Time, event: &Event) {
        if at >= self.window.to {
            return;
        }
        if at >= self.window.from {
            self.begin();
        }
        match event {
            Event::Acked { rtt: Some(rtt), acked, one_way, window, .. } => {
                let acked = acked.0.div_ceil(self.payload.0.max(1)) as u32;
                let sample = Sample { now: at, rtt: *rtt, window: *window, one_way: *one_way, acked };
                self.laboratory.observe(&sample);
            }
            Event::Arrival { link, packet, fate: Fate::Dropped(reason) }
            | Event::Fate { link, packet, fate: Fate::Dropped(reason) } => {
                if packet.flow == self.flow.0 && !packet.flags.has(Flags::ACK) {
                    self.laboratory.lose(at, Judge::Flow);
                }
                // The losses of a channel say nothing about the queue before it.
                if *link == self.bottleneck && *reason != Reason::Channel {
                    self.laboratory.lose(at, Judge::Queue);
                }
            }
            Event::Queue { backlog, .. } => self.laboratory.queue(at, backlog.packets),
            _ => {}
        }
    }
}

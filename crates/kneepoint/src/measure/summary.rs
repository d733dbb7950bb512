// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What one run amounts to inside its measurement window.

use std::collections::BTreeMap;

use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Deserializer, Serialize};

use super::{Distribution, Position};
use crate::queue::Reason;

/// What was measured in one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The length of the measurement window.
    #[serde(deserialize_with = "number")]
    pub window_s: f64,
    /// Measured links, in the order of the network; the first is *the* bottleneck of headline figures.
    pub links: Vec<LinkSummary>,
    /// Groups of transfers.
    pub groups: Vec<GroupSummary>,
    /// Populations of web sessions.
    pub web: Vec<WebSummary>,
    /// Groups of constant-rate sources.
    pub cbr: Vec<CbrSummary>,
    /// What each of them got of the bottleneck, in that order. A group alone, which got all of it, is left out unless
    /// somebody asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<ShareSummary>,
}

impl Summary {
    /// The first measured link.
    pub fn bottleneck(&self) -> Option<&LinkSummary> {
        self.links.first()
    }

    /// The groups whose data crossed the bottleneck; those that only sent against it are left out.
    pub fn forward_groups(&self) -> impl Iterator<Item = &GroupSummary> {
        self.groups.iter().filter(|group| group.crosses_bottleneck)
    }

    /// The goodputs of all flows of the [forward groups](Summary::forward_groups).
    pub fn forward_goodput_bps(&self) -> Vec<f64> {
        self.forward_groups().flat_map(|group| group.goodput_bps.iter().copied()).collect()
    }
}

/// A measured link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkSummary {
    /// What the scenario calls it.
    pub name: String,
    /// Mean length of the queue over time, without the packet in transmission.
    #[serde(deserialize_with = "number")]
    pub queue_mean_packets: f64,
    /// The same in bytes.
    #[serde(deserialize_with = "number")]
    pub queue_mean_bytes: f64,
    /// What may wait, in packets of full size; none if whatever comes may.
    pub buffer_packets: Option<f64>,
    /// Mean length as a fraction of what may wait; not a number where that has no limit.
    #[serde(deserialize_with = "number")]
    pub queue_mean_normalized: f64,
    /// The fraction of the window that the queue had 0, 1, 2, … packets, up to the longest seen.
    pub queue_distribution: Vec<f64>,
    /// How long packets waited that began transmission in the window.
    #[serde(rename = "queueing_delay_s")]
    pub queueing_delay: Distribution,
    /// Packets that reached the queue, whatever became of them.
    pub arrivals: u64,
    /// Packets that were lost, by reason.
    pub drops: Drops,
    /// Packets that got a congestion mark.
    pub marks: u64,
    /// Packets that began transmission.
    pub served_packets: u64,
    /// Their bytes.
    pub served_bytes: u64,
    /// Served bits over what the rate could carry in the window; not a number for a link without a rate.
    /// A packet counts as a whole at its first bit, so a busy link may exceed one by a packet.
    #[serde(deserialize_with = "number")]
    pub utilization: f64,
}

impl LinkSummary {
    /// Packets that the queue dropped, per packet that arrived. Channel losses are no decision of the queue and
    /// do not count.
    pub fn drop_ratio(&self) -> f64 {
        self.drops.by_queue() as f64 / self.arrivals as f64
    }

    /// Packets that were marked, per packet that arrived.
    pub fn mark_ratio(&self) -> f64 {
        self.marks as f64 / self.arrivals as f64
    }
}

/// How many packets were lost for which reason, in the order of [`Reason::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops([u64; Reason::ALL.len()]);

impl Drops {
    /// One more for `reason`.
    #[inline]
    pub fn count(&mut self, reason: Reason) {
        self.0[reason as usize] += 1;
    }

    /// How many for `reason`.
    pub fn of(self, reason: Reason) -> u64 {
        self.0[reason as usize]
    }

    /// How many the queue dropped: all but those the channel lost.
    pub fn by_queue(self) -> u64 {
        self.0.iter().sum::<u64>() - self.of(Reason::Channel)
    }
}

/// By the reasons' names.
impl Serialize for Drops {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(Reason::ALL.len()))?;
        for reason in Reason::ALL {
            map.serialize_entry(reason.name(), &self.of(reason))?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Drops {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Drops, D::Error> {
        let named = BTreeMap::<String, u64>::deserialize(deserializer)?;
        Ok(Drops(Reason::ALL.map(|reason| named.get(reason.name()).copied().unwrap_or(0))))
    }
}

/// A number that JSON writes as null where it is NaN.
pub(super) fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Option::<f64>::deserialize(deserializer).map(|number| number.unwrap_or(f64::NAN))
}

/// A group of transfers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupSummary {
    /// What the scenario calls it.
    pub name: String,
    /// Its congestion control.
    pub cc: String,
    /// Whether data of the group reached the first measured link in the window.
    pub crosses_bottleneck: bool,
    /// Payload acknowledged in order in the window over its length, for each flow.
    pub goodput_bps: Vec<f64>,
    /// The round-trip times its senders measured.
    #[serde(rename = "rtt_s")]
    pub rtt: Distribution,
    /// Repairs of losses that began without a timeout.
    pub repairs: u64,
    /// Timeouts.
    pub timeouts: u64,
    /// Transfers whose last byte was delivered in the window.
    pub completed: u64,
    /// From their first packet to the delivery of everything.
    #[serde(rename = "completions_s")]
    pub completions: Distribution,
}

/// A population of web sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WebSummary {
    /// What the scenario calls it.
    pub name: String,
    /// Its congestion control.
    pub cc: String,
    /// Payload acknowledged in order in the window over its length, for all together.
    #[serde(deserialize_with = "number")]
    pub goodput_bps: f64,
    /// The round-trip times its senders measured.
    #[serde(rename = "rtt_s")]
    pub rtt: Distribution,
    /// Repairs of losses that began without a timeout.
    pub repairs: u64,
    /// Timeouts.
    pub timeouts: u64,
    /// Objects whose last byte was delivered in the window.
    pub completed: u64,
    /// Their bytes.
    pub completed_bytes: u64,
    /// From their first packet to the delivery of everything.
    #[serde(rename = "completions_s")]
    pub completions: Distribution,
}

/// A group of constant-rate sources.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CbrSummary {
    /// What the scenario calls it.
    pub name: String,
    /// Datagrams that reached their destination in the window.
    pub delivered_packets: u64,
    /// Their bytes on the wire over its length.
    #[serde(deserialize_with = "number")]
    pub throughput_bps: f64,
    /// How long they were on the way.
    #[serde(rename = "delay_s")]
    pub delay: Distribution,
}

/// What a group of any kind got of the bottleneck.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShareSummary {
    /// What the scenario calls it.
    pub name: String,
    /// Its part of the bytes that began transmission; not a number if there were none.
    #[serde(deserialize_with = "number")]
    pub share: f64,
    /// Its packets that reached the queue, whatever became of them.
    pub arrivals: u64,
    /// Its packets that the queue dropped.
    pub drops: u64,
    /// Its bytes that began transmission.
    pub served_bytes: u64,
    /// Variance over mean of what it was served in each whole second; not a number for fewer than two of them.
    #[serde(deserialize_with = "number")]
    pub throughput_variance_to_mean_bps: f64,
    /// Where in the queue its packets found themselves.
    #[serde(flatten)]
    pub position: Position,
}

impl ShareSummary {
    /// Packets of the group that the queue dropped, per packet of it that arrived; not a number if none did.
    pub fn drop_ratio(&self) -> f64 {
        self.drops as f64 / self.arrivals as f64
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Builder: the parts of a spec, in any state, until they are checked.

use super::{Group, Invalid, Joint, Schedule, Valid, check};
use crate::link::{LinkSpec, Network};
use crate::units::{Interval, Span, Time};

/// The parts of a [`Valid`], not yet checked.
///
/// ```
/// use kneepoint_sim::link::{LinkSpec, NodeId};
/// use kneepoint_sim::measure::Meter;
/// use kneepoint_sim::queue::Limit;
/// use kneepoint_sim::spec::{Builder, Group, Member};
/// use kneepoint_sim::traffic;
/// use kneepoint_sim::units::{Rate, Span};
///
/// // A bottleneck of 10 Mbit/s with 50 packets of buffer, a way back, and one transfer.
/// let (a, b) = (NodeId(0), NodeId(1));
/// let delay = Span::from_millis(20);
/// let valid = Builder::new("two hosts")
///     .duration(Span::from_secs(10))
///     .node("a")
///     .node("b")
///     .link(LinkSpec {
///         rate: Some(Rate::from_mbit(10)),
///         delay,
///         limit: Limit::Packets(50),
///         measured: true,
///         ..LinkSpec::new(a, b)
///     })
///     .link(LinkSpec { delay, ..LinkSpec::new(b, a) })
///     .group(Group::new("reno", traffic::Config::default()).member(a, b, Member::default()))
///     .build()?;
///
/// let seed = 1;
/// let (meter, outcome) = kneepoint_sim::run::run(&valid, seed, Meter::new(&valid, seed));
/// assert!(outcome.bottleneck_packets > 5000);
/// let utilization = meter.finish()[0].values["utilization"];
/// assert!(utilization.is_some_and(|used| used > 0.8));
/// # Ok::<(), kneepoint_sim::spec::Invalid>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Builder {
    /// The run's name.
    pub name: String,
    /// The times of a run's events.
    pub schedule: Schedule,
    /// Nodes and links.
    pub network: Network,
    /// Groups of traffic, in the order in which tables show them.
    pub groups: Vec<Group>,
    /// Groups whose data a proxy forwards as other groups'.
    pub joints: Vec<Joint>,
}

impl Builder {
    /// A run of 60 s, measured in its last three quarters and not sampled, of a network without nodes.
    pub fn new(name: impl Into<String>) -> Builder {
        let schedule = Schedule {
            duration: Time::ZERO,
            measure: Interval { from: Time::ZERO, to: Time::ZERO },
            sample: None,
        };
        let empty = Builder {
            name: name.into(),
            schedule,
            network: Network::default(),
            groups: Vec::new(),
            joints: Vec::new(),
        };
        empty.duration(Span::from_secs(60))
    }

    /// The length of the run. It is measured in its last three quarters, unless [`Builder::measure`] follows.
    #[must_use]
    pub fn duration(mut self, duration: Span) -> Builder {
        let end = duration.after_start();
        self.schedule.duration = end;
        self.schedule.measure = Interval { from: Time(end.0 / 4), to: end };
        self
    }

    /// The measurement window.
    #[must_use]
    pub fn measure(mut self, window: Interval) -> Builder {
        self.schedule.measure = window;
        self
    }

    /// The sampling interval of the state.
    #[must_use]
    pub fn sample(mut self, every: Span) -> Builder {
        self.schedule.sample = Some(every);
        self
    }

    /// The times of a run's events.
    #[must_use]
    pub fn schedule(mut self, schedule: Schedule) -> Builder {
        self.schedule = schedule;
        self
    }

    /// Adds a node: the first is `NodeId(0)`, the next `NodeId(1)`, and so on.
    #[must_use]
    pub fn node(mut self, name: impl Into<String>) -> Builder {
        self.network.nodes.push(name.into());
        self
    }

    /// Adds a link in one direction. If it has no name, it is called by its ends: `a-b`.
    #[must_use]
    pub fn link(mut self, mut link: LinkSpec) -> Builder {
        let name = |end: usize| self.network.nodes.get(end);
        if let (true, Some(from), Some(to)) =
            (link.name.is_empty(), name(link.from.0 as usize), name(link.to.0 as usize))
        {
            link.name = format!("{from}-{to}");
        }
        self.network.links.push(link);
        self
    }

    /// Adds a group of traffic.
    #[must_use]
    pub fn group(mut self, group: Group) -> Builder {
        self.groups.push(group);
        self
    }

    /// Adds a proxy between two groups, by their places.
    #[must_use]
    pub fn joint(mut self, joint: Joint) -> Builder {
        self.joints.push(joint);
        self
    }

    /// Checks and seals. A network without traffic is valid.
    pub fn build(self) -> Result<Valid, Invalid> {
        check::all(&self)?;
        Ok(Valid(self))
    }
}

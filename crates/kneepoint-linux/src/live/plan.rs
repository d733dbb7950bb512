// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The listed transfers of a scenario as the kernel's.

use kneepoint::link::{NodeId, Routes};
use kneepoint::rng::Rng;
use kneepoint::spec::{Group, Valid};
use kneepoint::traffic::Kind;
use kneepoint::units::{Bytes, Interval, Span, Time};

use super::{PORT, Transfer};
use crate::emulator::Side;

/// The payload of a packet that fills the device's MTU.
const FULL: Bytes = Bytes(1448);

/// The transfers of a scenario, in the order of its listed flows; `control` is the kernel's name of a group's congestion
/// control. The error says what the kernel's hosts do not do.
pub fn transfers(
    valid: &Valid,
    seed: u64,
    control: impl Fn(&Group) -> String,
) -> Result<Vec<Transfer>, String> {
    let mut routes = Routes::new(valid.network());
    let measured = valid.network().links.iter().position(|link| link.measured);
    let mut crosses = |(from, to): (NodeId, NodeId)| {
        let path = routes.path(from, to).unwrap_or_default();
        path.iter().any(|link| Some(*link as usize) == measured)
    };
    let mut transfers = Vec::new();
    for (place, group) in valid.groups().iter().enumerate() {
        if group.kind() != Kind::Transfers {
            return Err(format!("`{}` is not a group of transfers under [[flows]]", group.name));
        }
        let payload = group.tcp.as_ref().map(|tcp| tcp.payload).filter(|payload| *payload != FULL);
        if let Some(payload) = payload.filter(|payload| *payload > FULL) {
            return Err(format!("`{}` has {payload} of payload in a packet; {FULL} fit", group.name));
        }
        let mut rng = Rng::stream(seed, "live-starts", place as u64);
        for (member, pair) in group.members.iter().zip(&group.pairs) {
            // Data through the first measured link comes from the near host.
            let against = !crosses(*pair) && crosses((pair.1, pair.0));
            let (sender, way) = if against { (Side::Far, (pair.1, pair.0)) } else { (Side::Near, *pair) };
            transfers.push(Transfer {
                control: control(group),
                start: drawn(member.start, &mut rng),
                stop: member.stop.map(|stop| stop.since(Time::ZERO)),
                size: member.size,
                payload,
                group: place as u32,
                sender,
                way,
            });
        }
    }
    if transfers.len() > usize::from(u16::MAX - PORT) {
        return Err(format!("{} transfers are more than there are ports", transfers.len()));
    }
    Ok(transfers)
}

fn drawn(interval: Interval, rng: &mut Rng) -> Span {
    interval.from.since(Time::ZERO) + Span(rng.below(interval.span().0.max(1)))
}

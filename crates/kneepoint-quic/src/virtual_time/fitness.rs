// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Scenarios that hosts of QUIC stacks cannot run.

use std::string::String;

use kneepoint_sim::spec::Valid;
use kneepoint_sim::traffic::Kind;

use super::LARGEST;

/// The reason why hosts of QUIC stacks cannot run the scenario, if there is one.
pub fn refuse(valid: &Valid) -> Option<String> {
    if !valid.joints().is_empty() {
        return Some("hosts of QUIC stacks have no proxies between them: leave `[proxy]` out".into());
    }
    let mut effects = valid.network().links.iter().filter_map(|link| link.effects.as_ref());
    if effects.any(|effects| effects.duplication.p > 0.0) {
        return Some("hosts of QUIC stacks take no packet twice: leave the duplication of links out".into());
    }
    valid.groups().iter().find_map(|group| {
        let (name, source) = (&group.name, group.source.name());
        if group.kind() != Kind::Transfers {
            return Some(std::format!("group `{name}`: hosts of QUIC stacks carry transfers, not `{source}`"));
        }
        let packet = group.full_packet().unwrap_or(valid.full_packet()).0;
        (packet > LARGEST).then(|| {
            std::format!(
                "group `{name}`: hosts of QUIC stacks send packets of {LARGEST} bytes at most, not of {packet}: lower `payload`"
            )
        })
    })
}

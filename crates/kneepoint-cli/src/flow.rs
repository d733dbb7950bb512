// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The flow of a scenario that an option names.

use kneepoint::spec::Valid;
use kneepoint::trace::FlowId;

use crate::failure::Failure;

/// The requested flow and its name.
pub fn tagged(valid: &Valid, option: &str, asked: Option<&str>) -> Result<(FlowId, String), Failure> {
    let listed = || valid.groups().iter().filter(|group| group.kind().listed());
    let groups = || {
        let group = listed().map(|group| match group.members.len() {
            1 => format!("{}/0", group.name),
            several => format!("{}/0 to {}", group.name, several - 1),
        });
        group.collect::<Vec<_>>().join(", ")
    };
    let Some(asked) = asked else {
        return match listed().next() {
            Some(group) => Ok((FlowId(0), format!("{}/0", group.name))),
            None => Err(Failure::usage(
                "the scenario has no long transfers to watch",
                "add a group of [[flows]]; short web transfers give predictors too few samples",
            )),
        };
    };
    let wrong = || {
        Failure::usage(format!("{option}: unknown flow `{asked}`"), format!("expected one of {}", groups()))
    };
    let (group, place) = asked.rsplit_once('/').unwrap_or((asked, "0"));
    let place: usize = place.parse().map_err(|_| wrong())?;
    let mut before = 0;
    for one in listed() {
        if one.name == group && place < one.members.len() {
            return Ok((FlowId((before + place) as u32), format!("{group}/{place}")));
        }
        before += one.members.len();
    }
    Err(wrong())
}

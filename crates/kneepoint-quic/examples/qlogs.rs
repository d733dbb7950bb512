// SPDX-License-Identifier: Apache-2.0 OR MIT
//! qlog of noq's and quinn's own senders with their own controllers, in virtual time: one transfer over each link, kept as
//! `STACK-CONTROLLER-RATE-RTT-BUFFER-0_client.sqlog` in a folder. `xtask qlogs` identifies them.
//!
//! ```text
//! qlogs DIR [RATES RTTS BUFFERS]      each a list, such as 5,10
//! ```

use std::error::Error;
use std::path::Path;

use kneepoint_quic::record::Records;
use kneepoint_quic::virtual_time::{Own, STACKS, run_recorded};
use kneepoint_sim::link::{LinkSpec, NodeId};
use kneepoint_sim::queue::Limit;
use kneepoint_sim::spec::{Builder, Group, Member, Valid};
use kneepoint_sim::traffic;
use kneepoint_sim::units::{Rate, Span};

/// Rates in Mbit/s, round trips in ms, buffers in hundredths of a BDP, unless the arguments say others.
const USUAL: [&str; 3] = ["5,10,20,50", "20,60", "50,100"];
/// Seconds of a transfer.
const SECONDS: u64 = 12;
/// Bits of a full packet on the wire.
const PACKET: u64 = 12_000;

/// One flow over a link with a queue that drops at its tail.
fn link(name: &str, [rate, rtt, buffer]: [u64; 3]) -> Result<Valid, Box<dyn Error>> {
    let (a, b) = (NodeId(0), NodeId(1));
    let packets = (rate * 1000 * rtt * buffer / 100 / PACKET).max(2);
    let delay = Span::from_micros(rtt * 500);
    let there = LinkSpec {
        rate: Some(Rate::from_mbit(rate)),
        delay,
        limit: Limit::Packets(u32::try_from(packets)?),
        ..LinkSpec::new(a, b)
    };
    let group = Group::new("long", traffic::Config::default());
    let built = Builder::new(name)
        .duration(Span::from_secs(SECONDS))
        .node("a")
        .node("b")
        .link(there)
        .link(LinkSpec { delay, ..LinkSpec::new(b, a) })
        .group(group.member(a, b, Member::default()))
        .build();
    built.map_err(|faults| format!("{faults:?}").into())
}

fn record(own: &Own, setting: [u64; 3], folder: &Path) -> Result<(), Box<dyn Error>> {
    let [rate, rtt, buffer] = setting;
    let name = format!("{}-{rate}mbit-{rtt}ms-{buffer}", own.name.replace(':', "-"));
    // Records are limited in number, for a server's sake.
    let records = Records::in_folder(folder)?;
    run_recorded(&link(&name, setting)?, 1, &[(own.make)()], &records, ())?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("which folder?")?;
    let mut list = |usual: &str| -> Result<Vec<u64>, Box<dyn Error>> {
        let text = arguments.next().unwrap_or_else(|| usual.into());
        text.split(',').map(|one| one.parse().map_err(|fault| format!("`{one}`: {fault}").into())).collect()
    };
    let [rates, round_trips, buffers] = [list(USUAL[0])?, list(USUAL[1])?, list(USUAL[2])?];
    for own in STACKS.into_iter().flat_map(|stack| stack.own) {
        for rate in &rates {
            for rtt in &round_trips {
                for buffer in &buffers {
                    record(own, [*rate, *rtt, *buffer], Path::new(&folder))?;
                }
            }
        }
    }
    Ok(())
}

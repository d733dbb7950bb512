// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The usual traps of emulation on one machine, each detected from observations.

use std::fs;

use kneepoint::spec::Valid;
use kneepoint::units::{Rate, Span};

use super::SATURATES;

/// The packets that were seen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Packets that crossed the link.
    pub packets: u64,
    /// Packets greater than the device's greatest.
    pub superpackets: u64,
    /// Packets dropped at a host's full device.
    pub refused: u64,
    /// Frames that came to a device faster than they were read.
    pub overrun: u64,
    /// Packets that are not IP.
    pub foreign: u64,
    /// Whether the emulation was scheduled in real time.
    pub prompt: bool,
}

/// A sentence for each trap.
pub fn traps(seen: &Seen, valid: &Valid) -> Vec<String> {
    let path = &valid.network().links;
    let rate = path.iter().filter(|link| link.measured).filter_map(|link| link.rate).min();
    let rtt = path.iter().fold(Span::ZERO, |sum, link| sum + link.delay);
    let mut traps = Vec::new();
    if seen.packets == 0 {
        traps.push(
            "no packet crossed the link: a program that talks to 127.0.0.1 or to its own address uses loopback; \
             the other side is $KNEE_PEER"
                .to_string(),
        );
    }
    if seen.superpackets > 0 {
        traps.push(format!(
            "{} packets were larger than 1500 bytes: segmentation offload (GSO) hands several packets to the link at \
             once; switch it off with `ethtool -K DEVICE tso off gso off gro off`",
            seen.superpackets
        ));
    }
    if seen.refused > 0 {
        traps.push(format!(
            "{} packets were lost at a host's device, not in the link: its queue was full, or it was down",
            seen.refused
        ));
    }
    if seen.overrun > 0 {
        traps.push(format!(
            "{} frames came faster than they were read, and were lost before the link",
            seen.overrun
        ));
    }
    if seen.foreign > 0 {
        traps.push(format!("{} packets were not IP and were not carried", seen.foreign));
    }
    if let Some(rate) = rate {
        traps.extend(short_of_memory(rate, rtt));
        if rate >= SATURATES && realtime_is_throttled() {
            traps.push(format!(
                "at {rate} the emulation may need a whole core, and the kernel stops real-time threads for 50 ms in each \
                 second: `sysctl kernel.sched_rt_runtime_us=-1` lifts that"
            ));
        }
    }
    if !seen.prompt {
        traps.push(
            "without real-time scheduling, other programs delay packets: run as root, or with CAP_SYS_NICE"
                .into(),
        );
    }
    traps
}

/// Whether a connection's buffers on this machine are too small for the path.
fn short_of_memory(rate: Rate, rtt: Span) -> Option<String> {
    let needed = 2 * rate.carries(rtt).0;
    let short = ["tcp_wmem", "tcp_rmem"].into_iter().find_map(|name| {
        let text = fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).ok()?;
        let most: u64 = text.split_whitespace().nth(2)?.parse().ok()?;
        (most < needed).then_some((name, most))
    });
    let (name, most) = short?;
    Some(format!(
        "this machine's {name} allows {most} bytes, less than twice the path's product of rate and round trip ({needed} bytes): \
         `sysctl net.ipv4.{name}` limits connections of its servers to less than the link's rate"
    ))
}

fn realtime_is_throttled() -> bool {
    let number =
        |name: &str| fs::read_to_string(format!("/proc/sys/kernel/{name}")).ok()?.trim().parse::<i64>().ok();
    matches!((number("sched_rt_runtime_us"), number("sched_rt_period_us")),
        (Some(runtime), Some(period)) if runtime >= 0 && runtime < period)
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A setting in the simulator.

use kneepoint::packet::{Flags, Packet};
use kneepoint::scenario;
use kneepoint::spec::Valid;
use kneepoint::trace::{Event, Fate, Observer};
use kneepoint::units::{Rate, Time};

use super::figures::{Figures, Passed, figures};
use super::setting::Setting;

/// The packets at the bottleneck.
#[derive(Debug)]
pub struct Packets {
    rate: Rate,
    /// The number of transfers; hosts of a kernel also send a few packets outside of transfers.
    transfers: u32,
    pub passed: Vec<Passed>,
    /// Packets retransmitted.
    again: u32,
    /// The windows that flows had: time, flow, packets.
    pub windows: Vec<(Time, u32, f64)>,
}

impl Packets {
    /// Of a setting, before the first.
    pub fn of(setting: &Setting) -> Packets {
        let transfers = setting.controls().len() as u32;
        Packets { rate: setting.rate(), transfers, passed: Vec::new(), again: 0, windows: Vec::new() }
    }
}

impl Packets {
    /// Whether it is a transfer's packet of data.
    fn counts(&self, packet: &Packet) -> bool {
        packet.flow < self.transfers && !packet.flags.has(Flags::ACK)
    }
}

impl Observer for Packets {
    fn on(&mut self, at: Time, event: &Event) {
        match *event {
            Event::Arrival { packet, fate, .. } if self.counts(packet) => {
                self.again += u32::from(packet.flags.has(Flags::RETRANSMITTED));
                if matches!(fate, Fate::Dropped(_)) {
                    let transfer = packet.flow as usize;
                    self.passed.push(Passed { at, departs: Time::NEVER, size: packet.bytes(), transfer });
                }
            }
            Event::Service { packet, waited, .. } if self.counts(packet) => {
                let departs = at + self.rate.time_for(packet.bytes());
                let (size, transfer) = (packet.bytes(), packet.flow as usize);
                self.passed.push(Passed { at: Time(at.0 - waited.0), departs, size, transfer });
            }
            Event::Acked { flow, window, .. } => self.windows.push((at, flow.0, window)),
            _ => {}
        }
    }
}

/// A setting in the simulator, where hosts have these options.
pub fn run(setting: &Setting, tcp: &str, seed: u64) -> Result<(Figures, Packets), String> {
    let valid = valid(setting, tcp)?;
    let (packets, _) = kneepoint::run::run(&valid, seed, Packets::of(setting));
    Ok((figures(setting, &packets.passed, f64::from(packets.again)), packets))
}

/// A setting as a spec.
pub fn valid(setting: &Setting, tcp: &str) -> Result<Valid, String> {
    let text = setting.scenario(tcp);
    let faults = |faults: Vec<scenario::Fault>| {
        let lines: Vec<String> = faults.iter().map(|fault| fault.message.clone()).collect();
        format!("{}: {}\n{text}", setting.name(), lines.join("; "))
    };
    let plan = scenario::parse(&text).map_err(faults)?;
    Ok(plan.cases.into_iter().next().ok_or("a plan without a case")?.valid)
}

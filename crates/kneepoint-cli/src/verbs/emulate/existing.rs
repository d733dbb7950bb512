// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A link between existing networks: two network namespaces, or the networks at two devices.

use std::os::fd::OwnedFd;

use kneepoint_bench::session::Session;
use kneepoint_linux::behind;
use kneepoint_linux::emulator::{self, Layer};
use kneepoint_linux::wire::Wire;

use super::path::Emulated;
use super::{Arguments, Taps, carry, failed, lacks, start, with};
use crate::failure::Failure;
use crate::outputs::Folder;

/// A descriptor that cannot be read until the end.
fn never() -> Result<OwnedFd, Failure> {
    emulator::never().map_err(|error| failed("make an event", &error))
}

/// Emulates a link between two named network namespaces.
pub fn between(
    session: &Session,
    arguments: &Arguments,
    path: &Emulated,
    (pcap, out): (Option<Taps>, Option<Folder>),
    as_json: bool,
) -> Result<(), Failure> {
    session.listen_saying("stopping")?;
    let names = [arguments.between[0].as_str(), arguments.between[1].as_str()];
    let hosts = behind::between(names).map_err(|error| lacks(&error))?;
    let [near, far] = &hosts;
    for (name, host) in names.into_iter().zip(&hosts) {
        session.tell(format!("{name}: {} is {} and {}", host.device.name, host.address.v4, host.address.v6));
    }
    if !arguments.program.is_empty() {
        let program = start(arguments, near, far, as_json)?;
        return with(session, program, arguments, path, &hosts, (pcap, out), as_json);
    }
    let devices = [&near.device.file, &far.device.file];
    let outcome = carry(session, arguments, path, devices, Layer::Ip, &never()?, pcap)?;
    outcome.write(session, arguments, path, out, as_json)?;
    outcome.judge()
}

/// Emulates a link between the networks at two devices.
pub fn bridge(
    session: &Session,
    arguments: &Arguments,
    path: &Emulated,
    out: Option<Folder>,
    as_json: bool,
) -> Result<(), Failure> {
    session.listen_saying("stopping")?;
    let open = |name: &String| {
        let wire = Wire::open(name).map_err(|error| {
            Failure::run(
                format!("cannot take the frames of `{name}`: {error}"),
                "run it as root; `ip link` shows the devices of this network namespace",
            )
        })?;
        if !wire.is_up() {
            return Err(Failure::run(format!("`{name}` is down"), format!("`ip link set {name} up`")));
        }
        warn(session, &wire);
        Ok(wire)
    };
    let [near, far] = [open(&arguments.bridge[0])?, open(&arguments.bridge[1])?];
    let mut outcome = carry(session, arguments, path, [&near, &far], Layer::Ethernet, &never()?, None)?;
    for wire in [&near, &far] {
        outcome.seen.superpackets += wire.long();
        outcome.seen.overrun += wire.overrun().map_err(|error| failed("count lost frames", &error))?;
    }
    outcome.write(session, arguments, path, out, as_json)?;
    outcome.judge()
}

/// Names the properties of a device that will spoil an emulation.
fn warn(session: &Session, wire: &Wire) {
    let name = &wire.name;
    let offloads = wire.offloads();
    if !offloads.is_empty() {
        let switches = offloads.iter().map(|one| format!("{one} off")).collect::<Vec<_>>().join(" ");
        session.tell(format!(
            "note: `{name}` merges frames ({}), which a queue takes for one and the other device may refuse: `ethtool -K {name} {switches}`",
            offloads.join(", ")
        ));
    }
    if let Some(address) = wire.address() {
        session.tell(format!(
            "note: `{name}` has the address {address}: this machine takes part in addition to the link; `ip addr flush dev {name}` ends that"
        ));
    }
}

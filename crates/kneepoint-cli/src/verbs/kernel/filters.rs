// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Programs at the egress of a device: `aqm`, `hint`.

use kneepoint_bench::session::Session;
use kneepoint_linux::kernel::{self, Device};
use serde_json::json;

use super::controllers::{object, written};
use super::refused;
use crate::failure::Failure;

fn device(at: &super::Place) -> Device {
    Device { name: at.dev.clone(), namespace: at.netns.clone() }
}

fn removed(session: &Session, as_json: bool, what: &str, device: &Device) -> Result<(), Failure> {
    match as_json {
        true => {
            session.print_json(&json!({"removed": what, "device": device.name, "netns": device.namespace}))
        }
        false => session.print(format!("`{}` has no `{what}` any more", device.name)),
    }
}

/// `knee kernel aqm`.
pub fn aqm(session: &Session, arguments: &super::Aqm, as_json: bool) -> Result<(), Failure> {
    let device = device(&arguments.at);
    match arguments.law.as_str() {
        "status" => return status(session, &device, as_json),
        "remove" => {
            kernel::remove_queue(&device).map_err(refused)?;
            return removed(session, as_json, "aqm", &device);
        }
        _ => {}
    }
    let reference = arguments.qref.iter().map(|packets| ("reference".to_string(), packets.to_string()));
    let ecn = arguments.ecn.then(|| ("ecn".to_string(), "true".to_string()));
    let given = arguments.set.iter().cloned().chain(reference).chain(ecn).collect::<Vec<_>>();
    let values = kernel::attach_queue(&device, &arguments.law, &given, arguments.replace).map_err(refused)?;
    if as_json {
        return session.print_json(&json!({
            "law": arguments.law, "device": device.name, "netns": device.namespace, "settings": object(&values),
        }));
    }
    session.print(format!(
        "`{}` judges the packets that enter `{}`\n{}",
        arguments.law,
        device.name,
        written(&values)
    ))
}

fn status(session: &Session, device: &Device, as_json: bool) -> Result<(), Failure> {
    let status = kernel::queue_status(device).map_err(refused)?;
    if as_json {
        return session.print_json(&json!({
            "device": device.name,
            "netns": device.namespace,
            "settings": object(&status.settings),
            "queue_packets": status.length,
            "probability": status.probability,
            "average_window_packets": status.average_window,
            "packets": status.packets,
            "hinted": status.hinted,
            "spared": status.spared,
            "dropped": status.dropped,
            "marked": status.marked,
            "unmarkable": status.unmarkable,
        }));
    }
    let mut window = format!("{} packets carry it", status.hinted);
    // A law without an adjustment does not average.
    if status.average_window > 0.0 {
        window += &format!(", {:.1} packets on average", status.average_window);
    }
    session.print(format!(
        "queue        {} packets at the latest arrival\nprobability  {:.6}\npackets      {}\n\
         dropped      {}\nmarked       {} ({} could not be marked)\nspared       {}\nwindow       {window}\n{}",
        status.length,
        status.probability,
        status.packets,
        status.dropped,
        status.marked,
        status.unmarkable,
        status.spared,
        written(&status.settings)
    ))
}

/// Packets with a window so far.
fn hinted(device: &Device, packets: u64) -> serde_json::Value {
    json!({"device": device.name, "netns": device.namespace, "hinted": packets})
}

/// `knee kernel hint`.
pub fn hint(session: &Session, arguments: &super::Hint, as_json: bool) -> Result<(), Failure> {
    let device = device(&arguments.at);
    match arguments.action {
        super::Action::Attach => {
            kernel::attach_hint(&device, arguments.replace).map_err(refused)?;
            match as_json {
                true => session.print_json(&hinted(&device, 0)),
                false => session.print(format!(
                    "`{}` carries its senders' windows in the DSCP bits of data packets",
                    device.name
                )),
            }
        }
        super::Action::Status => {
            let packets = kernel::hint_status(&device).map_err(refused)?;
            match as_json {
                true => session.print_json(&hinted(&device, packets)),
                false => session.print(format!("{packets} packets with a window so far")),
            }
        }
        super::Action::Remove => {
            kernel::remove_hint(&device).map_err(refused)?;
            removed(session, as_json, "hint", &device)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Rates of paths for RATCP's senders, set by user space (`bpf/ratcp.bpf.c`).

use std::net::{IpAddr, Ipv6Addr};

use kneepoint::units::Rate;
use libbpf_rs::{MapCore, MapFlags, MapHandle};

use super::errors::{Error, While};
use super::objects;

/// The controller that reads rates, and its map.
const CONTROLLER: &str = "ratcp";
const RATES: &str = "rates";

fn map() -> Result<MapHandle, Error> {
    objects::map(CONTROLLER, RATES).ok_or_else(|| {
        Error::new(
            format!("`{CONTROLLER}` is not loaded"),
            format!("`knee kernel load {CONTROLLER}` loads it; rates need root"),
        )
    })
}

/// The key of all connections to a host: its address, and zero for both ports.
fn key(destination: IpAddr) -> [u8; 20] {
    let address = match destination {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    };
    let mut key = [0; 20];
    key[..16].copy_from_slice(&address.octets());
    key
}

/// Tells senders the rate of the path to a host.
pub fn set_rate(destination: IpAddr, rate: Rate) -> Result<(), Error> {
    let written = map()?.update(&key(destination), &rate.0.to_ne_bytes(), MapFlags::ANY);
    written.during(format!("set the rate to {destination}"))
}

/// The rates given to senders.
pub fn rates() -> Result<Vec<(IpAddr, Rate)>, Error> {
    let map = map()?;
    let mut found = Vec::new();
    for key in map.keys() {
        let value = map.lookup(&key, MapFlags::ANY).during("read a rate")?;
        let address = key.get(..16).and_then(|bytes| <[u8; 16]>::try_from(bytes).ok());
        let rate = value.and_then(|bytes| bytes.try_into().ok()).map(u64::from_ne_bytes);
        if let Some((address, rate)) = address.zip(rate) {
            found.push((Ipv6Addr::from(address).to_canonical(), Rate(rate)));
        }
    }
    found.sort();
    Ok(found)
}

/// Removes the rates of senders to a host, or of all senders; returns the number of rates.
pub fn clear_rates(destination: Option<IpAddr>) -> Result<usize, Error> {
    let map = map()?;
    let keys = destination.map_or_else(|| map.keys().collect::<Vec<_>>(), |one| vec![key(one).to_vec()]);
    let mut cleared = 0;
    for key in keys {
        if map.lookup(&key, MapFlags::ANY).during("read a rate")?.is_some() {
            map.delete(&key).during("clear a rate")?;
            cleared += 1;
        }
    }
    Ok(cleared)
}

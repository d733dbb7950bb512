// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The registry of controllers: their names in the kernel and in the laboratory.

use kneepoint::suggest::did_you_mean;

use super::errors::Error;

/// The object of `bpf/NAME.bpf.c`.
macro_rules! object {
    ($name:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".o"))
    };
}

/// A congestion control.
#[derive(Clone, Copy, Debug)]
pub struct Controller {
    /// Its name in the kernel.
    pub name: &'static str,
    /// Its name in the laboratory, where its parameters are declared.
    pub core: &'static str,
    pub(super) object: &'static [u8],
    /// The program that passes it signals of packets, at the sockets of a cgroup.
    pub(super) option: Option<&'static [u8]>,
}

/// Every controller in this build.
pub const CONTROLLERS: &[Controller] = &[
    Controller { name: "pert", core: "pert", object: object!("pert"), option: None },
    Controller { name: "pert_pi", core: "pert-pi", object: object!("pert_pi"), option: None },
    Controller {
        name: "pert_adaptive",
        core: "pert-adaptive",
        object: object!("pert_adaptive"),
        option: None,
    },
    Controller { name: "pert_small", core: "pert-small", object: object!("pert_small"), option: None },
    Controller {
        name: "ratcp",
        core: "ratcp",
        object: object!("ratcp"),
        option: Some(object!("rate_option")),
    },
];

/// A program at the egress of a device.
#[derive(Debug)]
pub(super) struct Filter {
    /// Its name.
    pub name: &'static str,
    /// The queue of the laboratory whose parameters it has, if any.
    pub core: &'static str,
    pub object: &'static [u8],
    /// Its place among the filters of a device, by which it is recognised: hints are written before queues read them.
    pub priority: u32,
}

pub(super) const HINT: Filter = Filter { name: "hint", core: "", object: object!("hint"), priority: 27_501 };
pub(super) const AQM: Filter = Filter { name: "aqm", core: "pi", object: object!("aqm"), priority: 27_502 };

/// The controller of this name, in the kernel or in the laboratory.
pub fn controller(name: &str) -> Result<&'static Controller, Error> {
    CONTROLLERS.iter().find(|one| one.name == name || one.core == name).ok_or_else(|| {
        let names = CONTROLLERS.iter().map(|one| one.name).collect::<Vec<_>>();
        Error::usage(format!("no kernel program is called `{name}`"), did_you_mean(name, &names))
    })
}

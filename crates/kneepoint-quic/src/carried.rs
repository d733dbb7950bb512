// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The controllers that a QUIC stack can carry.
//!
//! No controller's name occurs here: a controller declares its needs ([`Controller::MARKS`],
//! [`Controller::WANTED`](kneepoint_cc::cc::Controller::WANTED)), and an adapter declares the signals of its stack.
//!
//! [`Controller::MARKS`]: kneepoint_cc::cc::Controller::MARKS

use alloc::format;
use alloc::string::String;
use core::sync::atomic::{AtomicU64, Ordering};

use kneepoint_cc::cc::{Config, Marks, Start, Wanted};
use kneepoint_cc::settings::Raw;

use crate::host::{Host, INITIAL_WINDOW};

/// The signals that a stack gives and the commands that it obeys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stack {
    /// Its name.
    pub name: &'static str,
    /// Whether it counts marked packets, and not only reports that some were.
    pub counts_marks: bool,
    /// Whether it sends at a rate that the controller chooses. Without it packets are paced by the window alone.
    pub paces: bool,
}

/// quinn 0.11: the pace is 1.25 windows per round trip for every controller.
pub const QUINN: Stack = Stack { name: "quinn", counts_marks: false, paces: false };
/// noq 1.4: the controller's rate drives the pacer.
pub const NOQ: Stack = Stack { name: "noq", counts_marks: false, paces: true };
/// s2n-quic 1.91: marks are counted, and packets leave when the controller says.
pub const S2N: Stack = Stack { name: "s2n", counts_marks: true, paces: true };

/// Every stack with a skin.
pub const STACKS: [Stack; 3] = [QUINN, NOQ, S2N];

/// Whether a stack can carry a controller; the error names what it lacks.
pub fn carries(stack: &Stack, config: &Config) -> Result<(), String> {
    let controller = config.build(Start::new(10.0));
    if controller.wanted() != Wanted::Nothing {
        return Err("needs advice of routers, for which QUIC has no field".into());
    }
    match controller.marks() {
        Marks::Classic => Ok(()),
        Marks::Each if stack.counts_marks => Ok(()),
        Marks::Each => {
            Err(format!("needs the number of marked packets, which {} does not report", stack.name))
        }
        Marks::Scalable => Err(format!("needs ECT(1) on its packets, and {} sends ECT(0)", stack.name)),
    }
}

/// The same controller with round trips in place of one-way times, which no stack provides.
pub fn by_round_trips(mut config: Config) -> Config {
    // Few controllers have such a choice.
    let _ = config.set("signal", &Raw::Text("rtt".into()));
    config
}

/// A controller for every connection of an endpoint.
#[derive(Debug)]
pub struct Supply {
    config: Config,
    /// Connections so far: each draws random numbers of its own.
    connections: AtomicU64,
}

impl Supply {
    /// Connections of a stack with this controller; the error names what the stack lacks.
    pub fn new(stack: &Stack, config: Config) -> Result<Supply, String> {
        carries(stack, &config)?;
        Ok(Supply { config: by_round_trips(config), connections: AtomicU64::new(0) })
    }

    /// The host of the next connection, whose packets have this size.
    pub fn host(&self, mtu: u16) -> Host {
        let seed = self.connections.fetch_add(1, Ordering::Relaxed);
        Host::new(&self.config, INITIAL_WINDOW, mtu.into(), seed)
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use kneepoint_cc::cc::REGISTRY;

    use super::*;

    fn carried(stack: &Stack) -> Vec<&'static str> {
        let names = REGISTRY.iter().map(|entry| entry.name);
        names.filter(|name| carries(stack, &Config::named(name).expect("registered")).is_ok()).collect()
    }

    #[test]
    fn a_controller_that_may_choose_watches_round_trips() {
        let supply = Supply::new(&QUINN, Config::named("pert-small").expect("registered")).expect("carried");
        assert_eq!(supply.config.get("signal").as_deref(), Some("rtt"));
        assert_eq!(
            Config::named("pert-small").expect("registered").get("signal").as_deref(),
            Some("one-way")
        );
    }

    #[test]
    fn what_needs_the_network_is_not_carried_and_counted_marks_need_a_count() {
        let (quinn, s2n) = (carried(&QUINN), carried(&S2N));
        assert_eq!(quinn, carried(&NOQ));
        for name in ["pert", "pert-adaptive", "cubic", "bbr", "reno"] {
            assert!(quinn.contains(&name), "{name}");
        }
        for name in ["rcp", "xcp", "ratcp", "prague"] {
            assert!(!s2n.contains(&name), "{name}");
        }
        let more: Vec<_> = s2n.iter().filter(|name| !quinn.contains(name)).copied().collect();
        // ABC and RATCP-REM count marks too, but theirs come from routers that QUIC does not ask.
        assert!(more.contains(&"dctcp"), "{more:?}");
    }
}

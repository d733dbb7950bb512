// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Processors without work that do not sleep.
//!
//! A packet that arrives while its processor sleeps waits until it wakes: some microseconds, or in a virtual machine up to two hundred. A
//! program may bound that (`Documentation/power/pm_qos_interface.rst` of Linux); with a bound of 0 an idle processor polls.

use std::fs::{File, OpenOptions};
use std::io::Write;

/// While this exists, idle processors poll, where the machine has idle states and allows it (root). They cost power meanwhile.
#[derive(Debug)]
#[must_use = "idle processors sleep again when it is dropped"]
pub struct Sleepless(#[expect(dead_code, reason = "kept open")] Option<File>);

impl Sleepless {
    /// Asks for it. The kernel takes it back when the process ends, however it ends.
    pub fn request() -> Sleepless {
        let bound_us = 0_i32;
        let mut file = OpenOptions::new().write(true).open("/dev/cpu_dma_latency").ok();
        Sleepless(file.take_if(|file| file.write_all(&bound_us.to_ne_bytes()).is_ok()))
    }
}

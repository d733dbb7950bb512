// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The eras of CUBIC and their constants.

use super::{SlowStart, Version};

crate::choice! {
    /// The version of CUBIC.
    pub enum Era {
        /// RFC 9438, or Linux's where the host asks for Linux's controllers.
        Auto = "auto",
        /// RFC 9438 of 2023.
        Rfc9438 = "rfc9438",
        /// RFC 8312 of 2018.
        Rfc8312 = "rfc8312",
        /// Linux 6.18.
        Linux = "linux",
        /// Linux 2.6.22, as ns-2 carries it.
        Linux2006 = "2006",
    }
}

impl Era {
    pub(super) fn of(self, version: Version) -> Era {
        match (self, version) {
            (Era::Auto, Version::Published) => Era::Rfc9438,
            (Era::Auto, Version::Linux) => Era::Linux,
            (era, _) => era,
        }
    }

    /// C, b, and how slow start ends.
    pub(super) fn rules(self) -> (f64, f64, SlowStart) {
        match self {
            Era::Auto | Era::Rfc9438 | Era::Rfc8312 => (0.4, 0.7, SlowStart::Doubling),
            Era::Linux => (410.0 / 1024.0, 717.0 / 1024.0, SlowStart::HyStart),
            Era::Linux2006 => (0.4, 819.0 / 1024.0, SlowStart::Doubling),
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A link's capacity as fluid models need it: in packets per second, in whatever unit it was written.

use std::fmt;

use crate::settings::{Raw, Setting};
use crate::units::{Bytes, Rate};

/// `100pps`, or `1mbit` of packets whose size is its own parameter.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub enum Capacity {
    /// Packets per second.
    Packets(f64),
    /// Bits per second.
    Bits(Rate),
}

/// Packets per second beyond which a capacity is a mistake.
const MOST: f64 = 1e10;

impl Capacity {
    /// Packets of `size` per second.
    pub fn packets(self, size: Bytes) -> f64 {
        match self {
            Capacity::Packets(packets) => packets,
            Capacity::Bits(rate) => rate.packets(size),
        }
    }
}

impl fmt::Display for Capacity {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Capacity::Packets(packets) => write!(f, "{packets}pps"),
            Capacity::Bits(rate) => rate.fmt(f),
        }
    }
}

impl Setting for Capacity {
    const KIND: &'static str = "packets per second, or a rate";
    const JSON: &'static [&'static str] = &["string"];

    fn read(raw: &Raw) -> Result<Capacity, String> {
        let wrong = || {
            format!(
                "{raw} is not a capacity: write packets per second, as in `100pps`, or a rate, as in `1mbit`"
            )
        };
        let Raw::Text(text) = raw else { return Err(wrong()) };
        let capacity = match text.trim().strip_suffix("pps") {
            Some(number) => Capacity::Packets(number.trim().parse().map_err(|_| wrong())?),
            None => Capacity::Bits(text.parse().map_err(|_| wrong())?),
        };
        let amount = match capacity {
            Capacity::Packets(packets) => packets,
            Capacity::Bits(rate) => rate.as_f64(),
        };
        if amount > 0.0 && amount <= MOST * 1e3 {
            Ok(capacity)
        } else {
            Err(format!("{raw} is not a valid capacity: it must be above 0 and at most {MOST}pps"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_and_bits_are_the_same_link() {
        let read = |text: &str| Capacity::read(&Raw::Text(text.into()));
        let packets = Bytes(1250);
        assert_eq!(read("100pps").unwrap().packets(packets), 100.0);
        assert_eq!(read("1mbit").unwrap().packets(packets), 100.0);
        for text in ["100pps", "0.5pps", "1mbit"] {
            assert_eq!(read(text).unwrap().to_string(), text);
        }
        for wrong in ["100", "0pps", "-3pps", "1e99pps", "nanpps", "fast", "10mbps"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert!(Capacity::read(&Raw::Integer(100)).unwrap_err().contains("100pps"));
    }
}

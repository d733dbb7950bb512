// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Encodings of the window that a sender writes into its packets for queues to read.
//!
//! ```text
//! exact  w
//! tos    floor(w),  1 to 255                       8 bits
//! dscp   2^((c - 1) / 4),  c = 1 to 63             6 bits; c = 0 is not a hint
//!        c = 1 + 4 log2 w, rounded
//! ```
//!
//! `w` the window in packets. PISA, PIMC and SHRED write it into the TOS byte (M. Hartling, M. Claypool, R. Kinicki, 2002).
//! Since RFC 2474 and RFC 3168 that byte is a DSCP of six bits and two bits of ECN, so `tos` rules ECN out on the wire,
//! where `dscp` leaves it its bits.
//!
//! Readings: a window beyond the greatest code is written as that one. `dscp` is ours: four codes to each doubling, exact
//! at powers of two, and wrong by 9.1 % at most, 2^(1/8) - 1, up to 50,535 packets. Above, its greatest code is 46,341.
//! `tos` loses the fraction: nearly half of a window below 2, 12.5 % below 8.

crate::choice! {
    /// The encoding of a sender's window in its packets.
    pub enum Encoding {
        /// The exact value, for which no header has room.
        Exact = "exact",
        /// Whole packets up to 255, in the eight bits of the TOS field.
        Tos = "tos",
        /// A logarithmic code in the six bits of the DSCP: 9 % exact up to 50,000 packets.
        Dscp = "dscp",
    }
}

/// Codes for each doubling of the window.
const PER_DOUBLING: f64 = 4.0;
/// The greatest code above the code of one packet.
const GREATEST: f64 = 62.0;

impl Encoding {
    /// The window that a queue reads where the sender's is `window`.
    #[inline(always)]
    pub fn carries(self, window: f64) -> f64 {
        // Out of line, so that the usual case costs a comparison.
        if self == Encoding::Exact { window } else { self.coded(window) }
    }

    #[cold]
    fn coded(self, window: f64) -> f64 {
        match self {
            Encoding::Exact => window,
            Encoding::Tos => window.floor().clamp(1.0, 255.0),
            Encoding::Dscp => {
                let above_one = (PER_DOUBLING * libm::log2(window.max(1.0))).round().min(GREATEST);
                libm::exp2(above_one / PER_DOUBLING)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_tos_field_holds_whole_packets_up_to_255() {
        let carried = [0.3, 1.0, 7.9, 255.5, 1e9].map(|window| Encoding::Tos.carries(window));
        assert_eq!(carried, [1.0, 1.0, 7.0, 255.0, 255.0]);
        assert_eq!(Encoding::Exact.carries(7.9), 7.9);
    }

    #[test]
    fn sixty_three_codes_are_nine_percent_exact_up_to_fifty_thousand_packets() {
        let error = |window: u32| Encoding::Dscp.carries(f64::from(window)) / f64::from(window) - 1.0;
        let bound = libm::exp2(1.0 / 8.0) - 1.0;
        assert!((bound - 0.0905).abs() < 1e-4);
        let greatest = (1..=50_535).map(|window| error(window).abs()).fold(0.0, f64::max);
        assert!((0.09..=bound).contains(&greatest), "{greatest}");
        // Beyond, the greatest code is 2^15.5.
        assert!((error(65_535) - (46_340.95 / 65_535.0 - 1.0)).abs() < 1e-6, "{}", error(65_535));
        let codes: BTreeSet<_> = (4..=4 * 65_535)
            .map(|quarters| Encoding::Dscp.carries(f64::from(quarters) / 4.0).to_bits())
            .collect();
        assert_eq!(codes.len(), 63);
    }

    #[test]
    fn the_dscp_keeps_the_order_of_windows_and_the_threshold_of_seven_between_7_and_7_3() {
        let carried = |tenths| Encoding::Dscp.carries(f64::from(tenths) / 10.0);
        assert!((1..10_000).all(|tenths| carried(tenths) <= carried(tenths + 1)));
        assert_eq!([5, 10, 20, 80].map(carried), [1.0, 1.0, 2.0, 8.0]);
        // 2^(11/4) = 6.73 and 2^(12/4) = 8; between them the middle is 2^(23/8) = 7.34.
        assert!(carried(73) < 7.0 && carried(74) > 7.0);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The fixed-point numbers of kernel programs and of native controllers: the formats of `bpf/lib/fixed.h` and `bpf/aqm/law.h`.

/// A format of 64 bits in two's complement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    fractional: u32,
}

/// `fixed` in C.
pub(crate) const FIXED: Format = Format { fractional: 32 };
/// `fine` in C, for factors whose differences matter.
pub(crate) const FINE: Format = Format { fractional: 40 };
/// Probabilities of the law of queues.
#[cfg(feature = "bpf")]
pub(crate) const PROBABILITY: Format = Format { fractional: 44 };

impl Format {
    /// The representation of 1.
    pub(crate) const fn one(self) -> f64 {
        (1_u64 << self.fractional) as f64
    }

    /// The nearest number of the format; none if `number` is out of its range.
    pub(crate) fn encode(self, number: f64) -> Option<u64> {
        let scaled = libm::round(number * self.one());
        (scaled.abs() < 9.2e18).then_some(scaled as i64 as u64)
    }

    /// The number that these bits represent.
    #[cfg(feature = "bpf")]
    pub(crate) fn decode(self, bits: u64) -> f64 {
        bits as i64 as f64 / self.one()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_beyond_the_format_is_not_cut() {
        assert_eq!([FIXED.encode(1.5), FIXED.encode(-1.0)], [Some(3 << 31), Some(u64::MAX << 32)]);
        assert_eq!([FIXED.encode(1e12), FINE.encode(1e8), FIXED.encode(f64::NAN)], [None; 3]);
        assert_eq!(FINE.encode(1e6), Some(1_000_000 << 40));
    }
}

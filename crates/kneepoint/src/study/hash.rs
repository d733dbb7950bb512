// SPDX-License-Identifier: Apache-2.0 OR MIT
//! FNV-1a with 128 bits, after draft-eastlake-fnv: the same names of runs from every compiler, on every platform.
//!
//! ```text
//! h = offset;  for each byte b:  h = (h xor b) · prime   (mod 2^128)
//! ```

const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

/// The hash of texts in order, as 32 hexadecimal digits. Each text is followed by a zero byte, so `ab, c` differs
/// from `a, bc`.
pub fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    Begun::with(texts).and([])
}

/// The hash of the first texts, to which different last ones are added.
#[derive(Clone, Copy)]
pub struct Begun(u128);

impl Begun {
    /// The hash of these.
    pub fn with<'a>(texts: impl IntoIterator<Item = &'a str>) -> Begun {
        Begun(added(OFFSET, texts))
    }

    /// The hash of these and of later texts, as [`of`] writes it.
    pub fn and<'a>(self, texts: impl IntoIterator<Item = &'a str>) -> String {
        format!("{:032x}", added(self.0, texts))
    }
}

fn added<'a>(hash: u128, texts: impl IntoIterator<Item = &'a str>) -> u128 {
    let bytes = texts.into_iter().flat_map(|text| text.bytes().chain([0]));
    bytes.fold(hash, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_the_published_offset_and_prime() {
        assert_eq!(of([]), "6c62272e07bb014262b821756295c58d");
        // FNV-1a of the single byte 0 is the offset times the prime.
        assert_eq!(of([""]), format!("{:032x}", OFFSET.wrapping_mul(PRIME)));
    }

    #[test]
    fn texts_may_be_added_later() {
        assert_eq!(Begun::with(["ab", "c"]).and(["d", ""]), of(["ab", "c", "d", ""]));
    }

    #[test]
    fn texts_are_told_apart_by_where_they_end() {
        assert_ne!(of(["ab", "c"]), of(["a", "bc"]));
        assert_ne!(of(["a"]), of(["a", ""]));
    }
}

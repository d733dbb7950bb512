// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The options of a TCP header.

/// The kind of options for experiments (RFC 6994).
pub(super) const KIND_RATE: u8 = 253;
/// The experiment that carries a rate and its echo.
const EXPERIMENT: [u8; 2] = [0x4b, 0x50];
/// Kind, length, experiment, rate, echo.
const RATE_LENGTH: usize = 12;
/// The position of the rate in that option.
pub(super) const RATE_OFFSET: usize = 4;

const END: u8 = 0;
const NOTHING: u8 = 1;
const MSS: u8 = 2;
const SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

/// The rate that the network may lower, and the rate received by the other side; in units of 1000 bit/s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateOption {
    /// The rate; all ones while nothing limits it.
    pub rate: u32,
    /// Data received by the sender of this packet.
    pub echo: u32,
}

/// The options of a TCP header that matter here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The greatest payload that its sender accepts.
    pub mss: Option<u16>,
    /// The power of two by which its windows are scaled.
    pub scale: Option<u8>,
    /// Its sender understands blocks.
    pub sack_permitted: bool,
    /// The sender's clock, and the value that it echoes.
    pub timestamps: Option<(u32, u32)>,
    /// Blocks received out of order; an empty one has equal ends.
    pub sack: [(u32, u32); 4],
    /// An explicit rate.
    pub rate: Option<RateOption>,
}

impl Options {
    /// Reads options up to the first that is malformed.
    pub(super) fn read(bytes: &[u8]) -> Options {
        let mut options = Options::default();
        for (_, body) in each(bytes) {
            match (body[0], body.len()) {
                (MSS, 4) => options.mss = Some(u16::from_be_bytes([body[2], body[3]])),
                (SCALE, 3) => options.scale = Some(body[2]),
                (SACK_PERMITTED, 2) => options.sack_permitted = true,
                (TIMESTAMPS, 10) => options.timestamps = number(body, 2).zip(number(body, 6)),
                (SACK, _) => {
                    let blocks = body[2..].chunks_exact(8);
                    for (place, block) in options.sack.iter_mut().zip(blocks) {
                        *place = number(block, 0).zip(number(block, 4)).unwrap_or_default();
                    }
                }
                _ if is_rate(body) => {
                    let fields = number(body, RATE_OFFSET).zip(number(body, RATE_OFFSET + 4));
                    options.rate = fields.map(|(rate, echo)| RateOption { rate, echo });
                }
                _ => {}
            }
        }
        options
    }

    /// The blocks that are not empty.
    pub fn blocks(&self) -> impl Iterator<Item = (u32, u32)> {
        self.sack.into_iter().filter(|(first, end)| first != end)
    }
}

/// Options of two bytes and more, each whole, with its place.
pub(super) fn each(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while *bytes.get(at)? == NOTHING {
            at += 1;
        }
        let length = usize::from(*bytes.get(at + 1)?);
        if bytes[at] == END || length < 2 {
            return None;
        }
        let place = at;
        at += length;
        Some((place, bytes.get(place..at)?))
    })
}

/// Whether an option carries a rate.
pub(super) fn is_rate(body: &[u8]) -> bool {
    body.len() == RATE_LENGTH && body[0] == KIND_RATE && body[2..RATE_OFFSET] == EXPERIMENT
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

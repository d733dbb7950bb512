// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Files that may be compressed with gzip, zstd or xz, told by their first bytes.
//!
//! Every checksum is verified, and a file is read to its end, all of its members. What fails is an error, with one exception: of a file
//! that ends too early, what is before the end is used, and a warning says so. Damage that looks like an early end has the same warning.

use std::error::Error;
use std::io::{self, Read};
use std::path::Path;

use flate2::bufread::GzDecoder;
use kneepoint_bench::files;
use lzma_rust2::XzReader;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::failure::Failure;

/// A format: its name, the ending of its files, their first bytes, and how to unpack it.
struct Format {
    name: &'static str,
    ending: &'static str,
    magic: &'static [u8],
    /// Unpacks the next member: a part that could be a file of its own.
    member: fn(&mut Packed) -> io::Result<Checked>,
}

const FORMATS: [Format; 3] = [
    Format { name: "gzip", ending: ".gz", magic: &[0x1f, 0x8b], member: gzip },
    Format { name: "zstd", ending: ".zst", magic: &[0x28, 0xb5, 0x2f, 0xfd], member: zstd },
    Format { name: "xz", ending: ".xz", magic: &[0xfd, b'7', b'z', b'X', b'Z', 0], member: xz },
];

/// Memory for a dictionary of xz, in KiB: eight times that of its strongest preset.
const XZ_MEMORY: u32 = 512 << 10;

/// A part of zstd that decoders skip begins with one of sixteen numbers; these are the bytes that they share.
const SKIPPED: [u8; 3] = [0x2a, 0x4d, 0x18];

/// A last block of zstd without content, and room for a checksum.
const EMPTY_BLOCK: &[u8] = &[1, 0, 0, 0, 0, 0, 0];

/// Whether a member had a checksum, which was right.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Checked {
    Yes,
    No,
}

/// What is left of a file, and what came out of it.
struct Packed<'f> {
    rest: &'f [u8],
    whole: Vec<u8>,
    /// More than this is not wanted.
    most: u64,
}

impl Packed<'_> {
    /// Bytes that may still come, and one by which to see that there are too many.
    fn room(&self) -> u64 {
        (self.most + 1).saturating_sub(self.whole.len() as u64)
    }
}

/// The bytes of a file, and what there is to say of it.
#[derive(Debug, Default)]
pub struct Unpacked {
    /// Those that it was compressed from, if it was.
    pub bytes: Vec<u8>,
    /// What is wrong with them, although they can be used.
    pub warning: Option<String>,
    /// What nobody can tell of them.
    pub remark: Option<String>,
}

/// The name of a file without what its compression added to it.
pub fn plain(name: &str) -> &str {
    FORMATS.iter().find_map(|format| name.strip_suffix(format.ending)).unwrap_or(name)
}

/// Whether `is` recognises the first bytes of a file, or of what it was compressed from.
pub fn begins(path: &Path, is: impl Fn(&[u8]) -> bool) -> Result<bool, Failure> {
    let packed = |head: &[u8]| FORMATS.iter().any(|format| head.starts_with(format.magic));
    files::begins(path, |head| packed(head) || is(head))
}

/// The bytes of a file, or those that it was compressed from; at most `largest` of either.
pub fn read(path: &Path, largest: u64) -> Result<Unpacked, Failure> {
    unpacked(files::read_bytes(path, largest)?, path, largest)
}

fn unpacked(bytes: Vec<u8>, path: &Path, largest: u64) -> Result<Unpacked, Failure> {
    let Some(format) = FORMATS.iter().find(|format| bytes.starts_with(format.magic)) else {
        return Ok(Unpacked { bytes, ..Unpacked::default() });
    };
    let mut packed = Packed { rest: &bytes, whole: Vec::new(), most: largest };
    let read = members(format, &mut packed);
    let (Packed { rest, whole, .. }, name, shown) = (packed, format.name, path.display());
    if whole.len() as u64 > largest {
        let message = format!("`{shown}` has more than {} MB when decompressed", largest >> 20);
        return Err(Failure::run(message, "use a part of it"));
    }
    let at = bytes.len() - rest.len();
    match read {
        Ok(checked) => {
            let unchecked =
                format!("{shown} has no checksum of {name}: damage of its data would go unnoticed.");
            let remark = (checked == Checked::No).then_some(unchecked);
            Ok(Unpacked { bytes: whole, warning: None, remark })
        }
        Err(error) if is_end(&error) && rest.is_empty() && !whole.is_empty() => {
            let warning = format!(
                "{shown} was cut off, or is damaged: its {name} ends at byte {at}, before the checksum ({}). The {} bytes that came \
                 out of it were used, and nothing verifies them.",
                reason(&error),
                whole.len()
            );
            Ok(Unpacked { bytes: whole, warning: Some(warning), remark: None })
        }
        Err(error) => {
            let message = format!(
                "`{shown}` is damaged: its {name} cannot be decompressed at byte {at} of {}: {}",
                bytes.len(),
                reason(&error)
            );
            Err(Failure::run(message, format!("get the file again; `{name} -t FILE` tests it")))
        }
    }
}

/// Unpacks all members. Checked are they only if all of them are.
fn members(format: &Format, packed: &mut Packed) -> io::Result<Checked> {
    let mut checked = Checked::Yes;
    while !packed.rest.is_empty() && packed.room() > 0 {
        if (format.member)(packed)? == Checked::No {
            checked = Checked::No;
        }
    }
    Ok(checked)
}

fn gzip(packed: &mut Packed) -> io::Result<Checked> {
    let magic = FORMATS[0].magic;
    if !packed.rest.starts_with(&magic[..magic.len().min(packed.rest.len())]) {
        return Err(no_member());
    }
    let room = packed.room();
    GzDecoder::new(&mut packed.rest).take(room).read_to_end(&mut packed.whole)?;
    Ok(Checked::Yes)
}

fn xz(packed: &mut Packed) -> io::Result<Checked> {
    // The kind of check is in the second byte behind the first six.
    let checked =
        if packed.rest.get(7).is_some_and(|kind| kind & 15 == 0) { Checked::No } else { Checked::Yes };
    let room = packed.room();
    // All members at once: zeros may stand between them.
    XzReader::new_mem_limit(&mut packed.rest, true, XZ_MEMORY).take(room).read_to_end(&mut packed.whole)?;
    Ok(checked)
}

fn zstd(packed: &mut Packed) -> io::Result<Checked> {
    let head = &packed.rest[..packed.rest.len().min(4)];
    let skipped = head[0] >> 4 == 5 && SKIPPED.starts_with(&head[1..]);
    if !skipped && !FORMATS[1].magic.starts_with(head) {
        return Err(no_member());
    }
    let (mut decoder, begin) = (FrameDecoder::new(), packed.whole.len());
    match decoder.init(&mut packed.rest) {
        Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
            let after = packed.rest.get(length as usize..);
            packed.rest = after.unwrap_or_default();
            return after.map(|_| Checked::Yes).ok_or_else(|| io::ErrorKind::UnexpectedEof.into());
        }
        begun => begun.map_err(io::Error::other)?,
    }
    while packed.room() > 0 && !(decoder.is_finished() && decoder.can_collect() == 0) {
        if !decoder.is_finished() {
            let read = decoder.decode_blocks(&mut packed.rest, BlockDecodingStrategy::UptoBytes(1 << 20));
            if let Err(error) = read.map_err(io::Error::other) {
                // What later blocks could have referred to is still in the decoder.
                let _ = decoder.decode_blocks(EMPTY_BLOCK, BlockDecodingStrategy::All);
                decoder.collect_to_writer(&mut packed.whole)?;
                return Err(error);
            }
        }
        decoder.collect_to_writer(&mut packed.whole)?;
    }
    if packed.room() == 0 {
        return Ok(Checked::No);
    }
    let (stated, length) = (decoder.content_size(), (packed.whole.len() - begin) as u64);
    if stated > 0 && stated != length {
        return Err(io::Error::other(format!("a frame of {stated} bytes has {length}")));
    }
    match decoder.get_checksum_from_data() {
        None => Ok(Checked::No),
        stored if stored == decoder.get_calculated_checksum() => Ok(Checked::Yes),
        Some(_) => Err(io::Error::other("the checksum of the content is another")),
    }
}

fn no_member() -> io::Error {
    io::Error::other("what follows the last member begins no other")
}

/// What a decoder says, without what it says of itself.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof if error.get_ref().is_none() => "unexpected end".into(),
        _ => error.to_string(),
    }
}

/// Whether an error, or one that caused it, is that the bytes end.
fn is_end(error: &io::Error) -> bool {
    let inner = error.get_ref().map(|inner| inner as &(dyn Error + 'static));
    let mut causes = std::iter::successors(inner, |&cause| cause.source());
    let ends = |one: &io::Error| one.kind() == io::ErrorKind::UnexpectedEof;
    ends(error) || causes.any(|cause| cause.downcast_ref::<io::Error>().is_some_and(ends))
}

#[cfg(test)]
mod tests;

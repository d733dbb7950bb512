// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Files that may be compressed with gzip, zstd or xz, recognised by their first bytes.
//!
//! Every checksum is verified, and a file is read to its end, all of its members. Every failure is an error, with one exception: a
//! truncated file is used up to its end, with a warning. Damage that looks like an early end causes the same warning. Zeros behind the
//! last member of gzip, by which tapes and `dd` fill a block, are nothing, as for gzip(1); between and behind streams of xz four are, or
//! a multiple of four.

use std::error::Error;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flate2::bufread::GzDecoder;
use kneepoint_bench::files;
use lzma_rust2::{XzReader, lzma2_get_memory_usage};
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::failure::Failure;

/// A format: its name, the ending of its files, their first bytes, and how to unpack it.
struct Format {
    name: &'static str,
    ending: &'static str,
    magic: &'static [u8],
    /// Unpacks the next member: a part that could be its own file.
    member: fn(&mut Packed) -> Result<Checked, Stopped>,
    /// A command that unpacks a file with more memory than is given here.
    command: &'static str,
}

const FORMATS: [Format; 3] = [
    Format { name: "gzip", ending: ".gz", magic: &[0x1f, 0x8b], member: gzip, command: "gzip -dk FILE" },
    Format {
        name: "zstd",
        ending: ".zst",
        magic: &[0x28, 0xb5, 0x2f, 0xfd],
        member: zstd,
        command: "zstd -d --long=31 FILE",
    },
    Format {
        name: "xz",
        ending: ".xz",
        magic: &[0xfd, b'7', b'z', b'X', b'Z', 0],
        member: xz,
        command: "xz -dk FILE",
    },
];

/// Bytes of a file that are unpacked to recognise its content: a block of zstd has at most half as many.
const HEAD: u64 = 256 << 10;
/// Unpacked bytes by which it is recognised.
const RECOGNISED: u64 = 4096;

/// Memory for a block of xz, in KiB: eight times the dictionary of its strongest preset.
const XZ_MEMORY: u32 = 512 << 10;

/// The filter of xz that compresses, which is the last one of each block.
const LZMA2: u8 = 0x21;

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

/// The reason why a member was not unpacked to its end.
enum Stopped {
    /// Unpacking it takes more memory than the limit, in bytes.
    Memory { needed: u64, given: u64 },
    /// Its bytes are wrong, or end.
    Broken(io::Error),
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Stopped {
        Stopped::Broken(error)
    }
}

impl From<FrameDecoderError> for Stopped {
    fn from(error: FrameDecoderError) -> Stopped {
        match error {
            FrameDecoderError::WindowSizeTooBig { requested, max } => {
                Stopped::Memory { needed: requested, given: max }
            }
            other => Stopped::Broken(io::Error::other(other)),
        }
    }
}

/// The rest of a file, and the bytes decoded from it.
struct Packed<'f> {
    rest: &'f [u8],
    whole: Vec<u8>,
    /// A longer text is not needed.
    most: u64,
}

impl Packed<'_> {
    /// Bytes that may still come, and one more to detect that there are too many.
    fn room(&self) -> u64 {
        (self.most + 1).saturating_sub(self.whole.len() as u64)
    }
}

/// The bytes of a file, and remarks on it.
#[derive(Debug, Default)]
pub struct Unpacked {
    /// The decompressed bytes, if it was compressed.
    pub bytes: Vec<u8>,
    /// Their faults, although they can be used.
    pub warning: Option<String>,
    /// Facts that cannot be known about them.
    pub remark: Option<String>,
}

/// The name of a file without the ending of its compression.
pub fn plain(name: &str) -> &str {
    FORMATS.iter().find_map(|format| name.strip_suffix(format.ending)).unwrap_or(name)
}

/// Whether a file is compressed, or `is` recognises its first bytes.
pub fn begins(path: &Path, is: impl Fn(&[u8]) -> bool) -> Result<bool, Failure> {
    files::begins(path, |head| format_of(head).is_some() || is(head))
}

/// Whether `is` recognises the first bytes of a file, decompressed if necessary.
pub fn holds(path: &Path, is: impl Fn(&[u8]) -> bool) -> Result<bool, Failure> {
    if !files::begins(path, |head| format_of(head).is_some())? {
        return files::begins(path, is);
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(HEAD).read_to_end(&mut bytes))
        .map_err(|error| Failure::io("read", path, &error))?;
    Ok(is(&first(&bytes)))
}

/// The format of a compressed file, by its first bytes.
fn format_of(head: &[u8]) -> Option<&'static Format> {
    FORMATS.iter().find(|format| head.starts_with(format.magic))
}

/// The first bytes of a compressed file, unpacked as far as that goes.
fn first(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Packed { rest: bytes, whole: Vec::new(), most: RECOGNISED };
    if let Some(format) = format_of(bytes) {
        // Its end is missing, and faults are told when all of it is read.
        let _ = members(format, &mut packed);
    }
    packed.whole
}

/// The bytes of a file, decompressed if necessary; at most `largest` in either form.
pub fn read(path: &Path, largest: u64) -> Result<Unpacked, Failure> {
    unpacked(files::read_bytes(path, largest)?, path, largest)
}

fn unpacked(bytes: Vec<u8>, path: &Path, largest: u64) -> Result<Unpacked, Failure> {
    let Some(format) = format_of(&bytes) else {
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
        Err(Stopped::Broken(error)) if is_end(&error) && rest.is_empty() && !whole.is_empty() => {
            let warning = format!(
                "{shown} was cut off, or is damaged: its {name} ends at byte {at}, before the checksum ({}). The {} bytes that came \
                 out of it were used, and nothing verifies them.",
                reason(&error),
                whole.len()
            );
            Ok(Unpacked { bytes: whole, warning: Some(warning), remark: None })
        }
        Err(Stopped::Broken(error)) if is_end(&error) && rest.is_empty() => {
            let message = format!(
                "`{shown}` was cut off, or is damaged: its {name} ends at byte {at}, before anything came out of it"
            );
            Err(Failure::run(message, format!("get the file again; `{name} -t FILE` tests it")))
        }
        Err(Stopped::Broken(error)) if error.kind() == io::ErrorKind::OutOfMemory => {
            Err(Failure::io("decompress", path, &error))
        }
        Err(Stopped::Broken(error)) => {
            let message = format!(
                "`{shown}` is damaged: its {name} cannot be decompressed at byte {at} of {}: {}",
                bytes.len(),
                reason(&error)
            );
            Err(Failure::run(message, format!("get the file again; `{name} -t FILE` tests it")))
        }
        Err(Stopped::Memory { needed, given }) => {
            let message = format!(
                "`{shown}` needs {needed} bytes of memory to be decompressed, above the {given} that {name} is given here"
            );
            Err(Failure::run(message, format!("decompress it first, as with `{}`", format.command)))
        }
    }
}

/// Unpacks all members. Checked are they only if all of them are.
fn members(format: &Format, packed: &mut Packed) -> Result<Checked, Stopped> {
    let mut checked = Checked::Yes;
    while !packed.rest.is_empty() && packed.room() > 0 {
        if (format.member)(packed)? == Checked::No {
            checked = Checked::No;
        }
    }
    Ok(checked)
}

/// Whether these are the first bytes of a member, as far as there are any.
fn begins_with(rest: &[u8], magic: &[u8]) -> bool {
    rest.starts_with(&magic[..magic.len().min(rest.len())])
}

fn gzip(packed: &mut Packed) -> Result<Checked, Stopped> {
    if packed.rest.iter().all(|byte| *byte == 0) {
        packed.rest = &[];
        return Ok(Checked::Yes);
    }
    if !begins_with(packed.rest, FORMATS[0].magic) {
        return Err(no_member().into());
    }
    let room = packed.room();
    GzDecoder::new(&mut packed.rest).take(room).read_to_end(&mut packed.whole)?;
    Ok(Checked::Yes)
}

/// A stream and the zeros behind it.
fn xz(packed: &mut Packed) -> Result<Checked, Stopped> {
    if !begins_with(packed.rest, FORMATS[2].magic) {
        return Err(no_member().into());
    }
    // The kind of check is in the second byte behind the first six.
    let checked =
        if packed.rest.get(7).is_some_and(|kind| kind & 15 == 0) { Checked::No } else { Checked::Yes };
    let (begin, room) = (packed.rest, packed.room());
    let read =
        XzReader::new_mem_limit(&mut packed.rest, false, XZ_MEMORY).take(room).read_to_end(&mut packed.whole);
    read.map_err(|error| match error.kind() {
        io::ErrorKind::OutOfMemory => of_memory(error, &begin[..begin.len() - packed.rest.len()]),
        _ => error.into(),
    })?;
    let zeros = packed.rest.iter().take_while(|byte| **byte == 0).count();
    packed.rest = &packed.rest[zeros / 4 * 4..];
    Ok(checked)
}

/// A decoder of xz that is out of memory has read the header of a block and not its content, unless it is the machine's memory.
fn of_memory(error: io::Error, read: &[u8]) -> Stopped {
    let given = u64::from(XZ_MEMORY) << 10;
    match memory_of_block(read) {
        Some(needed) if needed > given => Stopped::Memory { needed, given },
        _ => error.into(),
    }
}

/// The memory that a block of xz needs, whose header ends here: with the code of its dictionary, zeros, and a checksum of four bytes.
fn memory_of_block(read: &[u8]) -> Option<u64> {
    let header = &read[..read.len().checked_sub(4)?];
    let end = header.iter().rposition(|byte| *byte != 0)?;
    let [.., LZMA2, 1, code @ ..=40] = header[..=end] else { return None };
    let dictionary = u64::from(2 | code & 1) << (code / 2 + 11);
    let kib = lzma2_get_memory_usage(u32::try_from(dictionary).unwrap_or(u32::MAX));
    Some(u64::from(kib) << 10)
}

fn zstd(packed: &mut Packed) -> Result<Checked, Stopped> {
    let skipped = packed.rest[0] >> 4 == 5 && begins_with(&packed.rest[1..], &SKIPPED);
    if !skipped && !begins_with(packed.rest, FORMATS[1].magic) {
        return Err(no_member().into());
    }
    let (mut decoder, begin) = (FrameDecoder::new(), packed.whole.len());
    match decoder.init(&mut packed.rest) {
        Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
            let after = packed.rest.get(length as usize..);
            packed.rest = after.unwrap_or_default();
            return after.map(|_| Checked::Yes).ok_or(Stopped::Broken(io::ErrorKind::UnexpectedEof.into()));
        }
        begun => begun?,
    }
    while packed.room() > 0 && !(decoder.is_finished() && decoder.can_collect() == 0) {
        if !decoder.is_finished() {
            let read = decoder.decode_blocks(&mut packed.rest, BlockDecodingStrategy::UptoBytes(1 << 20));
            if let Err(error) = read {
                // The window for later blocks is still in the decoder.
                let _ = decoder.decode_blocks(EMPTY_BLOCK, BlockDecodingStrategy::All);
                decoder.collect_to_writer(&mut packed.whole)?;
                return Err(error.into());
            }
        }
        decoder.collect_to_writer(&mut packed.whole)?;
    }
    if packed.room() == 0 {
        return Ok(Checked::No);
    }
    let (stated, length) = (decoder.content_size(), (packed.whole.len() - begin) as u64);
    if stated > 0 && stated != length {
        return Err(io::Error::other(format!("a frame of {stated} bytes has {length}")).into());
    }
    match decoder.get_checksum_from_data() {
        None => Ok(Checked::No),
        stored if stored == decoder.get_calculated_checksum() => Ok(Checked::Yes),
        Some(_) => Err(io::Error::other("the checksum of the content is another").into()),
    }
}

fn no_member() -> io::Error {
    io::Error::other("the bytes after the last member do not begin another")
}

/// The innermost cause in words: outer errors name the decoder's types.
fn reason(error: &io::Error) -> String {
    if is_end(error) {
        return "unexpected end".into();
    }
    let said = causes(error).last().map_or_else(|| error.to_string(), ToString::to_string);
    // Tables follow in further lines.
    said.lines().next().unwrap_or_default().trim_end().into()
}

/// Whether an error, or its cause, is the end of the bytes.
fn is_end(error: &io::Error) -> bool {
    let ends = |one: &io::Error| one.kind() == io::ErrorKind::UnexpectedEof;
    ends(error) || causes(error).any(|cause| cause.downcast_ref::<io::Error>().is_some_and(ends))
}

/// The error within an error, and the cause of each.
fn causes(error: &io::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    let inner = error.get_ref().map(|inner| inner as &(dyn Error + 'static));
    std::iter::successors(inner, |&cause| cause.source())
}

#[cfg(test)]
mod tests;

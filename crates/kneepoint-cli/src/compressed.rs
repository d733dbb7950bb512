// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Files that may be compressed with gzip, zstd or xz, told by their first bytes.

use std::io::{self, Read};
use std::path::Path;

use crate::failure::Failure;
use crate::files;

/// First bytes of the formats.
const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const XZ: &[u8] = &[0xfd, b'7', b'z', b'X', b'Z', 0];

/// The name of a file without what its compression added to it.
pub fn plain(name: &str) -> &str {
    [".gz", ".zst", ".xz"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

/// The bytes of a file, or those that it was compressed from; at most `largest` of either.
///
/// Of a compressed file that was cut off, what can be read comes out.
pub fn read(path: &Path, largest: u64) -> Result<Vec<u8>, Failure> {
    let bytes = files::read_bytes(path, largest)?;
    let mut whole = Vec::new();
    let read = match bytes.as_slice() {
        packed if packed.starts_with(GZIP) => {
            flate2::read::MultiGzDecoder::new(packed).take(largest + 1).read_to_end(&mut whole)
        }
        packed if packed.starts_with(ZSTD) => ruzstd::decoding::StreamingDecoder::new(packed)
            .map_err(io::Error::other)
            .and_then(|decoder| decoder.take(largest + 1).read_to_end(&mut whole)),
        packed if packed.starts_with(XZ) => {
            lzma_rust2::XzReader::new(packed, true).take(largest + 1).read_to_end(&mut whole)
        }
        _ => return Ok(bytes),
    };
    if whole.len() as u64 > largest {
        let message = format!("`{}` has more than {} MB when decompressed", path.display(), largest >> 20);
        return Err(Failure::run(message, "use a part of it"));
    }
    match read {
        Err(error) if whole.is_empty() => Err(Failure::io("decompress", path, &error)),
        _ => Ok(whole),
    }
}

/// Whether `is` recognises the first bytes of a file, or of what it was compressed from.
pub fn begins(path: &Path, is: impl Fn(&[u8]) -> bool) -> Result<bool, Failure> {
    let packed = |head: &[u8]| [GZIP, ZSTD, XZ].iter().any(|magic| head.starts_with(magic));
    files::begins(path, |head| packed(head) || is(head))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn gzip_is_read_as_what_it_was_made_of_and_a_cut_one_up_to_the_cut() {
        let here = tempfile::tempdir().unwrap();
        let text: Vec<u8> = (0..100_000u32).flat_map(|number| (number ^ number >> 7).to_le_bytes()).collect();
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&text).unwrap();
        let packed = encoder.finish().unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = here.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        };
        assert_eq!(read(&file("whole", &packed), 1 << 20).unwrap(), text);
        let cut = read(&file("cut", &packed[..packed.len() / 2]), 1 << 20).unwrap();
        assert!(!cut.is_empty() && text.starts_with(&cut));
        assert_eq!(read(&file("plain", b"plain"), 1 << 20).unwrap(), b"plain");
        assert!(read(&file("large", &packed), 1 << 10).is_err());
        assert!(read(&file("broken", &[0x1f, 0x8b, 9]), 1 << 20).is_err());
        assert!(begins(&file("head", XZ), |_| false).unwrap());
    }
}

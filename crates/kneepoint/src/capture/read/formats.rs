// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Formats that cannot be read but are recognised by their first bytes.

/// A file format that is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Its name.
    pub name: &'static str,
    /// The way to convert it to a readable file.
    pub remedy: &'static str,
    magic: &'static [u8],
}

const CONVERT: &str = "convert it with `editcap -F pcap FILE NEW.pcap`";
const UNPACK: &str = "decompress it; of compressed captures .gz, .zst and .xz are read";

const fn capture(name: &'static str, magic: &'static [u8]) -> Format {
    Format { name, remedy: CONVERT, magic }
}

const fn packed(name: &'static str, magic: &'static [u8]) -> Format {
    Format { name, remedy: UNPACK, magic }
}

const FORMATS: [Format; 18] = [
    capture("a snoop capture (RFC 1761)", b"snoop\0\0\0"),
    capture("a btsnoop capture of Bluetooth", b"btsnoop\0"),
    capture("a capture of Microsoft Network Monitor 2", b"GMBU"),
    capture("a capture of Microsoft Network Monitor 1", b"RTSS"),
    capture("a capture of a NetXRay or Sniffer for Windows", b"XCP\0"),
    capture("a capture of a Network General Sniffer", b"TRSNIFF data"),
    capture("a capture of AIX iptrace", b"iptrace "),
    capture("a capture of OmniPeek", b"\x7fver\0"),
    capture("a capture of Visual Networks", b"\x05VNF"),
    capture("a capture of 5Views", &[0xaa; 4]),
    capture("a capture of HP-UX nettl", b"TR\x00\x64\x00"),
    packed("compressed with bzip2", b"BZh"),
    packed("compressed with LZ4", &[0x04, 0x22, 0x4d, 0x18]),
    packed("compressed with compress", &[0x1f, 0x9d]),
    packed("compressed with lzip", b"LZIP"),
    packed("an archive of 7-Zip", b"7z\xbc\xaf\x27\x1c"),
    packed("a ZIP archive", b"PK\x03\x04"),
    packed("an archive of RAR", b"Rar!\x1a\x07"),
];

/// The format of a file that is not read, by its first bytes.
pub fn foreign_format(bytes: &[u8]) -> Option<Format> {
    FORMATS.into_iter().find(|format| bytes.starts_with(format.magic))
}

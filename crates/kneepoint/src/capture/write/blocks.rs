// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The blocks of a pcapng file (draft-ietf-opsawg-pcapng): a section header, interfaces, packets. All numbers are little-endian.

use std::io::{self, Write};

use crate::units::Time;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
/// Raw IP: each packet starts with its IPv4 or IPv6 header.
const LINKTYPE_RAW: u16 = 101;
const OPTION_END: u16 = 0;
const OPTION_INTERFACE_NAME: u16 = 2;
const OPTION_INTERFACE_RESOLUTION: u16 = 9;
const OPTION_APPLICATION: u16 = 4;

/// A file of IP packets, seen at one or several interfaces, with times in nanoseconds since the start.
pub struct Blocks<W> {
    writer: W,
    block: Vec<u8>,
}

impl<W: Write> Blocks<W> {
    /// Starts a file for these interfaces.
    pub fn new(writer: W, interfaces: &[&str]) -> io::Result<Blocks<W>> {
        let mut blocks = Blocks { writer, block: Vec::new() };
        blocks.section_header()?;
        interfaces.iter().try_for_each(|name| blocks.interface_description(name))?;
        Ok(blocks)
    }

    /// The kept bytes of a packet of this length, seen at interface number `interface`.
    pub fn packet(&mut self, interface: u32, at: Time, bytes: &[u8], length: u32) -> io::Result<()> {
        self.block.clear();
        self.word(interface);
        self.word((at.0 >> 32) as u32);
        self.word(at.0 as u32);
        self.word(bytes.len() as u32);
        self.word(length);
        self.block.extend_from_slice(bytes);
        self.pad();
        self.write(ENHANCED_PACKET)
    }

    /// Flushes the file and returns the inner writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.writer.flush().map(|()| self.writer)
    }

    fn section_header(&mut self) -> io::Result<()> {
        self.block.clear();
        self.word(BYTE_ORDER);
        self.half(1);
        self.half(0);
        // All ones: the section length is unknown.
        self.block.extend_from_slice(&u64::MAX.to_le_bytes());
        self.option(OPTION_APPLICATION, concat!("kneepoint ", env!("CARGO_PKG_VERSION")).as_bytes());
        self.option(OPTION_END, &[]);
        self.write(SECTION_HEADER)
    }

    fn interface_description(&mut self, name: &str) -> io::Result<()> {
        self.block.clear();
        self.half(LINKTYPE_RAW);
        self.half(0);
        // Snapshot length 0: no limit.
        self.word(0);
        self.option(OPTION_INTERFACE_NAME, name.as_bytes());
        self.option(OPTION_INTERFACE_RESOLUTION, &[9]);
        self.option(OPTION_END, &[]);
        self.write(INTERFACE_DESCRIPTION)
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        self.half(code);
        self.half(value.len() as u16);
        self.block.extend_from_slice(value);
        self.pad();
    }

    fn half(&mut self, value: u16) {
        self.block.extend_from_slice(&value.to_le_bytes());
    }

    fn word(&mut self, value: u32) {
        self.block.extend_from_slice(&value.to_le_bytes());
    }

    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    /// Writes the block, with its length before and after the body.
    fn write(&mut self, kind: u32) -> io::Result<()> {
        let length = (self.block.len() as u32 + 12).to_le_bytes();
        self.writer.write_all(&kind.to_le_bytes())?;
        self.writer.write_all(&length)?;
        self.writer.write_all(&self.block)?;
        self.writer.write_all(&length)
    }
}

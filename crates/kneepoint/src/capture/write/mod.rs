// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Writes the packets of one link as pcapng (draft-ietf-opsawg-pcapng) for Wireshark and tcpdump; timestamps are
//! nanoseconds since the start of the run.
//!
//! A packet is recorded when its transmission begins, with synthesised headers and no payload.

mod headers;

use std::io::{self, ErrorKind, Write};

use crate::spec::Valid;
use crate::trace::{Event, LinkId, Observer};
use crate::units::Time;
use headers::{Dialects, Headers};

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

/// Observer that writes the packets of a measured link to a pcapng file.
pub struct Writer<W> {
    writer: W,
    link: LinkId,
    dialects: Dialects,
    block: Vec<u8>,
    failure: Option<io::Error>,
}

impl<W: Write> Writer<W> {
    /// Starts a file for the link named `link` in `valid`. A link that is not measured emits no events and is an error.
    pub fn new(writer: W, valid: &Valid, link: &str) -> io::Result<Writer<W>> {
        let measured = || (0..).zip(&valid.network().links).filter(|(_, spec)| spec.measured);
        let Some((place, _)) = measured().find(|(_, spec)| spec.name == link) else {
            let names: Vec<&str> = measured().map(|(_, spec)| spec.name.as_str()).collect();
            let message =
                format!("no measured link is called `{link}`: expected one of {}", names.join(", "));
            return Err(io::Error::new(ErrorKind::InvalidInput, message));
        };
        let dialects = Dialects::of(valid);
        let mut capture = Writer { writer, link: LinkId(place), dialects, block: Vec::new(), failure: None };
        capture.section_header()?;
        capture.interface_description(link)?;
        Ok(capture)
    }

    /// Flushes the file and returns the inner writer, or the first write error.
    pub fn finish(mut self) -> io::Result<W> {
        match self.failure {
            Some(failure) => Err(failure),
            None => self.writer.flush().map(|()| self.writer),
        }
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

    fn packet(&mut self, at: Time, headers: &Headers) -> io::Result<()> {
        self.block.clear();
        self.word(0);
        self.word((at.0 >> 32) as u32);
        self.word(at.0 as u32);
        self.word(headers.bytes.len() as u32);
        self.word(headers.length);
        self.block.extend_from_slice(&headers.bytes);
        self.pad();
        self.write(ENHANCED_PACKET)
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

impl<W: Write> Observer for Writer<W> {
    #[inline]
    fn on(&mut self, at: Time, event: &Event) {
        if let Event::Started { flow, group } = event {
            self.dialects.open(*flow, *group);
        }
        if let Event::Service { link, packet, .. } = event
            && *link == self.link
            && self.failure.is_none()
        {
            let headers = self.dialects.headers(packet, at);
            self.failure = self.packet(at, &headers).err();
        }
    }
}

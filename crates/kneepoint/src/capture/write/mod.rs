// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Writes the packets of one link as pcapng (draft-ietf-opsawg-pcapng) for Wireshark and tcpdump; timestamps are
//! nanoseconds since the start of the run.
//!
//! A packet is recorded when its transmission begins, with synthesised headers and no payload.

mod blocks;
mod headers;

use std::io::{self, ErrorKind, Write};

use crate::spec::Valid;
use crate::trace::{Event, LinkId, Observer};
use crate::units::Time;
pub use blocks::Blocks;
use headers::Dialects;

/// Observer that writes the packets of a measured link to a pcapng file.
pub struct Writer<W> {
    blocks: Blocks<W>,
    link: LinkId,
    dialects: Dialects,
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
        let blocks = Blocks::new(writer, &[link])?;
        Ok(Writer { blocks, link: LinkId(place), dialects: Dialects::of(valid), failure: None })
    }

    /// Flushes the file and returns the inner writer, or the first write error.
    pub fn finish(self) -> io::Result<W> {
        match self.failure {
            Some(failure) => Err(failure),
            None => self.blocks.finish(),
        }
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
            self.failure = self.blocks.packet(0, at, &headers.bytes, headers.length).err();
        }
    }
}

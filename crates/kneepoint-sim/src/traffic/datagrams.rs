// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Datagrams: packets at recorded instants and of recorded sizes, such as the UDP of a game or a call in a capture.
//!
//! ```text
//! time_s,size_bytes     from the start of the source; an empty size is the usual one
//! 0,1228
//! 0.0167,1228
//! ```
//!
//! tshark makes such a file of a capture (`-T fields -E separator=, -e frame.time_relative -e ip.len`). With a period the recording
//! repeats after it. The source has no congestion control.

use super::arrivals::Timetable;
use super::{Cue, Kind, Nature, Request, Site, Source, Streams};
use crate::rng::Rng;
use crate::settings::{FilePath, Inline, Never, Or};
use crate::units::{Bytes, Span, Time};

/// The greatest IP packet.
const GREATEST: Bytes = Bytes(65_535);

crate::settings! {
    /// Recorded datagrams.
    pub struct Params {
        /// Datagrams at given times after the start, as `"20ms 1200b"` or `"20ms"` or as the text of a CSV file, with sizes on the wire.
        list: Timetable = Timetable::at_once();
        /// The CSV file to take them from: a column `time_s`, and perhaps `size_bytes`.
        file: Or<FilePath, Inline> = Or::WORD;
        /// The size of those that have none.
        size: Bytes = Bytes(1000), Bytes(1)..=Bytes(60_000);
        /// The period of the recording.
        period: Or<Span, Never> = Or::WORD, Or::is(Span::from_micros(1))..=Or::is(Span::from_secs(1_000_000));
    } check |params| {
        let last = params.list.flows().last().map_or(Span::ZERO, |(at, _)| *at);
        match params.period.get() {
            _ if params.list.flows().is_empty() => Err("the list has no datagram: give at least one".into()),
            _ if params.greatest() > GREATEST => {
                Err(format!("a datagram of {} is above the {GREATEST} of an IP packet", params.greatest()))
            }
            Some(period) if *period <= last => {
                Err(format!("period, {period}, is not after the last datagram, at {last}: lengthen it"))
            }
            _ => Ok(()),
        }
    }
}

impl Params {
    fn greatest(&self) -> Bytes {
        let sizes = self.list.flows().iter().map(|(_, size)| size.unwrap_or(self.size));
        sizes.max().unwrap_or(self.size)
    }
}

/// A source of recorded datagrams.
#[derive(Clone, Debug)]
pub struct Datagrams {
    params: Params,
    site: Site,
    /// Datagrams sent of the present round.
    sent: usize,
    /// The time at which that began.
    began: Time,
}

impl Source for Datagrams {
    type Params = Params;

    fn new(params: Params, site: Site) -> Datagrams {
        Datagrams { params, site, sent: 0, began: site.start }
    }

    fn nature(&self) -> Nature {
        Nature {
            section: "datagrams",
            kind: Kind::Datagrams,
            streams: Streams { starts: "start-datagrams", shared: false, draws: "datagrams" },
            packet: Some(self.params.greatest()),
            pressing: None,
            live: None,
        }
    }

    fn on(&mut self, _: Cue, _: Time, _: &mut Rng, requests: &mut Vec<Request>) {
        let Some((_, size)) = self.params.list.flows().get(self.sent) else { return };
        requests.push(Request::Datagram { size: size.unwrap_or(self.params.size) });
        self.sent += 1;
        if let Some(period) = self.params.period.get().filter(|_| self.sent == self.params.list.flows().len())
        {
            (self.sent, self.began) = (0, self.began + *period);
        }
    }

    fn next_wakeup(&self) -> Time {
        let next = self.params.list.flows().get(self.sent).map(|(after, _)| self.began + *after);
        next.filter(|at| *at < self.site.stop).unwrap_or(Time::NEVER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Raw, Settings};

    #[test]
    fn datagrams_leave_as_they_were_recorded_and_again_after_a_period() {
        let mut params = Params::default();
        let recorded = Raw::Text("time_ms,size_bytes\n0,1200\n20,\n30,100\n".into());
        assert_eq!(params.set("list", &recorded), Ok(()));
        assert_eq!(params.set("period", &Raw::Text("50ms".into())), Ok(()));
        assert_eq!(params.check(), Ok(()));
        let at = |millis: u64| Time::ZERO + Span::from_millis(millis);
        let mut source = Datagrams::new(params.clone(), Site { start: at(5), stop: at(80), pairs: 1 });
        let (mut rng, mut requests, mut times) = (Rng::stream(1, "datagrams", 0), Vec::new(), Vec::new());
        while source.next_wakeup() < Time::NEVER {
            times.push(source.next_wakeup());
            source.on(Cue::Time, source.next_wakeup(), &mut rng, &mut requests);
        }
        assert_eq!(times, [5, 25, 35, 55, 75].map(at));
        let size = |bytes| Request::Datagram { size: Bytes(bytes) };
        assert_eq!(requests, [1200, 1000, 100, 1200, 1000].map(size));
        assert_eq!(params.set("period", &Raw::Text("30ms".into())), Ok(()));
        assert!(params.check().unwrap_err().contains("not after the last datagram, at 30ms"));
    }

    #[test]
    fn a_datagram_has_room_in_an_ip_packet() {
        let mut params = Params::default();
        assert_eq!(params.set("list", &Raw::Text("0s 70kb".into())), Ok(()));
        assert!(params.check().unwrap_err().contains("65535b"));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Arrivals: flows of finite size that arrive by a Poisson process or from a list.
//!
//! Ben Fred, Bonald, Proutière, Régnié and Roberts, "Statistical bandwidth sharing: a study of congestion at flow
//! level", SIGCOMM 2001.
//!
//! ```text
//! gaps      exponential with mean 1/λ seconds, λ = rate, or λ = load · capacity / (8 · size) where load > 0
//! sizes     constant, exponential, Pareto or log-normal with mean `size` bytes, at least one byte; or one of `sizes`
//! list      each flow at its time after the start of the group, with its own size or one drawn
//! ```
//!
//! A list may be a CSV file with a column for the time (`time_s`, `time_ms`, `time_us`, `time_ns`) and, if not every size
//! is drawn, one for the size (`size_bytes`, `size_kb`, `size_mb`), whose empty cells are drawn.
//!
//! Each flow is a connection between a server and a client drawn at random. No flow arrives after `stop`; flows that
//! have begun continue. Departures: the load counts payload without headers, and `size` before clamping.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::csv::{SIZE, TIME, is_csv, rows};
use super::sample::SIZES;
use super::{Cue, Demand, Kind, Nature, Request, Site, Size, Source, Streams};
use crate::rng::Rng;
use crate::settings::{FilePath, Inline, Or, Raw, Setting};
use crate::units::{Bytes, Rate, Span, Time};

/// A flow that is to arrive: its time after the start, and its size unless that is drawn.
type Flow = (Span, Option<Bytes>);

/// The times of a list.
const TIMES: RangeInclusive<Span> = Span::ZERO..=Span::from_secs(1_000_000);

/// Flows that are to arrive, in the order of their times.
#[derive(Clone, Debug, Default, PartialEq, PartialOrd)]
pub struct Timetable(Arc<[Flow]>);

impl Timetable {
    /// One at the start, of random size.
    pub(super) fn at_once() -> Timetable {
        Timetable([(Span::ZERO, None)].into())
    }

    /// The times and the sizes, in the order of the times.
    pub(super) fn flows(&self) -> &[(Span, Option<Bytes>)] {
        &self.0
    }

    /// A flow as written: `2s 100kb`, or `2s` with a random size.
    fn flow(raw: &Raw) -> Result<Flow, String> {
        let wrong =
            || format!("{raw} is not an arrival: write its time and its size, as in `2s 100kb`, or `2s`");
        let Raw::Text(text) = raw else { return Err(wrong()) };
        let (at, size) =
            text.trim().split_once(' ').map_or((text.trim(), None), |(at, size)| (at, Some(size)));
        let at = at.parse().map_err(|_| wrong())?;
        let size = size.map(|size| size.trim().parse()).transpose().map_err(|_| wrong())?;
        if !TIMES.contains(&at) || size.is_some_and(|size| !SIZES.contains(&size)) {
            let (times, sizes) = (Span::describe(&TIMES), Bytes::describe(&SIZES));
            return Err(format!("{raw} is outside the allowed range: times {times}, sizes {sizes}"));
        }
        Ok((at, size))
    }
}

impl fmt::Display for Timetable {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let flow = |(at, size): &Flow| size.map_or(format!("{at}"), |size| format!("{at} {size}"));
        let flows: Vec<String> = self.0.iter().map(flow).collect();
        match &flows[..] {
            [] => f.write_str("none"),
            [one] => f.write_str(one),
            many => write!(f, "[{}]", many.join(", ")),
        }
    }
}

impl Setting for Timetable {
    const KIND: &'static str = "list of arrivals";
    const JSON: &'static [&'static str] = &["string", "array"];

    fn read(raw: &Raw) -> Result<Timetable, String> {
        let mut flows = match raw {
            Raw::Text(text) if text == "none" => Vec::new(),
            Raw::Text(text) if is_csv(text) => {
                rows(text, &[TIME, SIZE], |cells| Ok((cells.first(TIMES)?, cells.get(1, SIZES)?)))?
            }
            Raw::List(flows) => flows.iter().map(Timetable::flow).collect::<Result<_, _>>()?,
            one => vec![Timetable::flow(one)?],
        };
        flows.sort_by_key(|(at, _)| *at);
        Ok(Timetable(flows.into()))
    }
}

crate::settings! {
    /// Flows that arrive.
    pub struct Params {
        ..sizes: Size;
        /// Mean number of flows that arrive in a second.
        rate: f64 = 10.0, 0.001..=1e6;
        /// Offered load as a fraction of `capacity`; above 0 it replaces `rate`.
        load: f64 = 0.0, 0.0..=10.0;
        /// The capacity of which `load` is a fraction.
        capacity: Rate = Rate::from_mbit(10), Rate(8)..=Rate::from_mbit(1_000_000);
        /// Flows that arrive at given times after the start, as `"2s 100kb"` or `"2s"` or as the text of a CSV file,
        /// instead of the process.
        list: Timetable = Timetable::default();
        /// The CSV file to take them from: a column `time_s`, and `size_bytes` unless all sizes are drawn.
        file: Or<FilePath, Inline> = Or::WORD;
    } check |params| {
        if params.per_second() > 1e6 {
            return Err(format!(
                "load, {}, asks for {:.0} flows in a second, above a million: lower it, or raise `size`",
                params.load, params.per_second()
            ));
        }
        Ok(())
    }
}

impl Params {
    /// Flows that arrive in a second on the average.
    fn per_second(&self) -> f64 {
        match self.load > 0.0 {
            true => self.load * self.capacity.as_f64() / (8.0 * self.sizes.mean()),
            false => self.rate,
        }
    }
}

/// A process of arrivals.
#[derive(Clone, Debug)]
pub struct Arrivals {
    params: Params,
    /// Mean time between arrivals in seconds.
    gap: f64,
    site: Site,
    /// Flows that have arrived.
    arrived: u32,
    begun: bool,
    wakeup: Time,
}

impl Source for Arrivals {
    type Params = Params;

    fn new(params: Params, site: Site) -> Arrivals {
        let wakeup = if site.start < site.stop { site.start } else { Time::NEVER };
        Arrivals { gap: 1.0 / params.per_second(), params, site, arrived: 0, begun: false, wakeup }
    }

    fn nature(&self) -> Nature {
        Nature {
            section: "arrivals",
            kind: Kind::Process,
            streams: Streams { starts: "start-arrivals", shared: false, draws: "arrivals" },
            packet: None,
            pressing: None,
            live: None,
        }
    }

    fn demand(&self) -> Option<Demand> {
        let list = &self.params.list.0;
        let drawn = self.params.sizes.mean();
        let Some((last, _)) = list.last() else {
            return Some(Demand::new(1.0 / self.gap, drawn, f64::INFINITY));
        };
        let count = list.len() as f64;
        let sizes = list.iter().map(|(_, size)| size.map_or(drawn, |size| size.0 as f64));
        let per_second = count / last.as_secs_f64().max(1e-9);
        Some(Demand::new(per_second, sizes.sum::<f64>() / count, count))
    }

    fn on(&mut self, cue: Cue, now: Time, rng: &mut Rng, requests: &mut Vec<Request>) {
        if cue != Cue::Time {
            return;
        }
        if self.begun {
            let listed = self.params.list.0.get(self.arrived as usize).and_then(|(_, size)| *size);
            let size = Some(listed.unwrap_or_else(|| self.params.sizes.draw(rng)));
            let pair = rng.below(u64::from(self.site.pairs)) as u32;
            requests.push(Request::Open { connection: self.arrived, pair, size });
            self.arrived = self.arrived.wrapping_add(1);
        }
        self.begun = true;
        let next = match self.params.list.0.len() {
            0 => now + Span::from_secs_f64(rng.exponential(self.gap)),
            _ => {
                let next = self.params.list.0.get(self.arrived as usize);
                next.map_or(Time::NEVER, |(after, _)| self.site.start + *after)
            }
        };
        self.wakeup = if next < self.site.stop { next } else { Time::NEVER };
    }

    fn next_wakeup(&self) -> Time {
        self.wakeup
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    /// The arrival times of flows, and their sizes, between 5 s and 1005 s.
    fn arrivals(params: Params) -> Vec<(Time, Bytes)> {
        let at = |seconds| Time::ZERO + Span::from_secs(seconds);
        let mut source = Arrivals::new(params, Site { start: at(5), stop: at(1005), pairs: 4 });
        let (mut rng, mut requests, mut flows) = (Rng::stream(1, "arrivals", 0), Vec::new(), Vec::new());
        while source.next_wakeup() < Time::NEVER {
            let now = source.next_wakeup();
            source.on(Cue::Time, now, &mut rng, &mut requests);
            flows.extend(requests.drain(..).map(|request| match request {
                Request::Open { size: Some(size), pair: 0..4, .. } => (now, size),
                other => panic!("{other:?}"),
            }));
        }
        flows
    }

    #[test]
    fn a_poisson_process_has_its_rate_and_its_variance() {
        let flows = arrivals(Params { rate: 50.0, ..Params::default() });
        let mut counts = [0.0; 1000];
        for (at, _) in &flows {
            counts[(at.as_secs_f64() - 5.0) as usize] += 1.0;
        }
        let mean = counts.iter().sum::<f64>() / 1000.0;
        let variance = counts.iter().map(|count| (count - mean) * (count - mean)).sum::<f64>() / 999.0;
        assert!((mean / 50.0 - 1.0).abs() < 0.02, "{mean}");
        assert!((variance / mean - 1.0).abs() < 0.15, "{variance}");
    }

    #[test]
    fn a_load_is_the_fraction_of_a_capacity_that_the_flows_bring() {
        let sizes = Size { size: Bytes(20_000), law: super::super::Law::LogNormal, ..Size::default() };
        let flows = arrivals(Params { sizes, load: 0.8, ..Params::default() });
        let bits: f64 = flows.iter().map(|(_, size)| 8.0 * size.0 as f64).sum();
        assert!((bits / 1000.0 / 8e6 - 1.0).abs() < 0.05, "{} Mbit/s", bits / 1e9);
    }

    #[test]
    fn a_list_gives_times_and_sizes_and_reads_what_it_prints() {
        let mut params = Params::default();
        let list = ["2s 100kb", "500ms", "2000s 1kb"].map(|flow| Raw::Text(flow.into()));
        assert_eq!(params.set("list", &Raw::List(list.to_vec())), Ok(()));
        let shown = Some("[500ms, 2s 100kb, 2000s 1kb]");
        assert_eq!(params.get("list").as_deref(), shown);
        let flows = arrivals(params.clone());
        assert_eq!(flows, [(Time(5_500_000_000), Bytes(12_000)), (Time(7_000_000_000), Bytes(100_000))]);
        assert_eq!(params.set("list", &Raw::Text("time_s,size_kb\n2000,1\n2,100\n0.5,\n".into())), Ok(()));
        assert_eq!((params.get("list").as_deref(), arrivals(params.clone())), (shown, flows));
        assert!(params.set("list", &Raw::Text("soon".into())).is_err());
        assert!(params.set("list", &Raw::Text("1s 0b".into())).is_err());
    }
}

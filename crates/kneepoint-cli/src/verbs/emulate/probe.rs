// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee emulate --probe`: delay and rate of the emulated link, measured by clocks that are not the emulator's.

use std::fmt::{self, Display, Formatter};
use std::fs::File;
use std::io::Write;

use kneepoint::link::Routes;
use kneepoint::units::{Rate, Span};
use kneepoint_bench::session::Session;
use kneepoint_linux::behind::{self, Far};
use kneepoint_linux::emulator::{self, Layer};
use kneepoint_linux::probe::{PACKET, Plan, Probe};
use serde::Serialize;
use serde_json::json;

use super::path::Emulated;
use super::{Arguments, carry, failed, lacks};
use crate::failure::Failure;

/// The permitted lateness of 99 of 100 packets, measured from outside, for a valid emulation.
const GOOD: Span = Span::from_micros(100);

/// The promise of the direction from the near host: the delay of a single packet, and the rate of many.
fn promised(path: &Emulated) -> Result<(Span, Rate), Failure> {
    let (near, far) = path.ends;
    let links = &path.valid.network().links;
    let way = Routes::new(path.valid.network()).path(near, far).unwrap_or_default();
    let way = way.iter().map(|link| &links[*link as usize]);
    let rate = way.clone().filter_map(|link| link.rate).min().ok_or_else(|| {
        Failure::usage("--probe: the link has no rate", "give one with --rate, as in `--rate 100mbit`")
    })?;
    let alone = way.map(|link| link.delay + link.rate.map_or(Span::ZERO, |own| own.time_for(PACKET)));
    Ok((alone.fold(Span::ZERO, |sum, one| sum + one), rate))
}

/// Lateness of packets, in microseconds.
#[derive(Serialize)]
struct Errors {
    p50: f64,
    p99: f64,
    max: f64,
}

impl Errors {
    fn of(delays: &[Span], promised: Span) -> Errors {
        let errors = delays.iter().map(|one| (one.0 as f64 - promised.0 as f64) / 1e3);
        let mut errors = errors.collect::<Vec<_>>();
        errors.sort_by(f64::total_cmp);
        let at = |share: f64| match errors.len() {
            0 => f64::NAN,
            count => errors[((count as f64 * share).ceil() as usize).clamp(1, count) - 1],
        };
        Errors { p50: at(0.5), p99: at(0.99), max: at(1.0) }
    }
}

impl Display for Errors {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "{:>9.1}{:>9.1}{:>9.1}", self.p50, self.p99, self.max)
    }
}

/// Measures the link and prints a table.
pub fn probe(
    session: &Session,
    arguments: &Arguments,
    path: &Emulated,
    as_json: bool,
) -> Result<(), Failure> {
    let (delay, rate) = promised(path)?;
    session.listen_saying("stopping")?;
    let hosts = behind::hosts(Far::Apart).map_err(|error| lacks(&error))?;
    let [near, far] = &hosts;
    let ended = emulator::never().map_err(|error| failed("make an event", &error))?;
    let mut end = File::from(ended.try_clone().map_err(|error| failed("make an event", &error))?);
    let plan = Plan::of(rate);
    // The event's count; any value wakes the waiter.
    let end = move || _ = end.write_all(&1_u64.to_ne_bytes());
    let probe = Probe::start(near, far, plan, end).map_err(|error| failed("start the probe", &error))?;
    let devices = [&near.device.file, &far.device.file];
    let outcome = carry(session, arguments, path, devices, Layer::Ip, &ended, None)?;
    if session.asked() {
        return Err(Failure::run("the probe was interrupted", "run it again"));
    }
    let probed = probe.join().map_err(|error| failed("probe the link", &error))?;
    let [sparse, stream] = probed.delays.each_ref().map(|delays| Errors::of(delays, delay));
    let good = stream.p99 <= GOOD.0 as f64 / 1e3;
    let mut rates = probed.rates.iter().map(|one| one.0 as f64 / 1e6).collect::<Vec<_>>();
    rates.sort_by(f64::total_cmp);
    let (least, most) =
        (rates.first().copied().unwrap_or(f64::NAN), rates.last().copied().unwrap_or(f64::NAN));
    let median = rates.get(rates.len() / 2).copied().unwrap_or(f64::NAN);
    let late = outcome.late;
    let [p50, p99, max] = [late.p50, late.p99, late.max].map(|span| span.0 as f64 / 1e3);
    let own = Errors { p50, p99, max };
    let real_time = probed.prompt && outcome.seen.prompt;
    if as_json {
        session.print_json(&json!({
            "delay_promised_ms": delay.as_millis_f64(),
            "sparse_error_us": sparse,
            "stream_error_us": stream,
            "packets": probed.delays.iter().map(Vec::len).sum::<usize>(),
            "lost": probed.lost,
            "rate_promised_mbps": rate.0 as f64 / 1e6,
            "rate_mbps": {"median": median, "min": least, "max": most},
            "trains": rates.len(),
            "train_packets": plan.length,
            "lateness_us": own,
            "real_time": real_time,
            "valid": outcome.spoiled.is_none(),
            "good": good,
        }))?;
    } else {
        session.print(format!(
            "promised: {:.3} ms one way for a packet alone, {:.2} Mbit/s\n\n\
             error of the delay, us           p50      p99      max\n\
             packets far apart          {sparse}\n\
             packets in a stream        {stream}\n\
             the emulator's own clock   {own}\n\n\
             rate {median:.2} Mbit/s, median of {} trains of {} packets ({least:.2} to {most:.2})\n\
             single packets lost: {}\n\
             real-time scheduling: {}\n\
             99 of 100 packets of the stream within {GOOD}: {}",
            delay.as_millis_f64(),
            rate.0 as f64 / 1e6,
            rates.len(),
            plan.length,
            probed.lost,
            if real_time { "yes" } else { "no: run it as root" },
            if good { "yes" } else { "no" },
        ))?;
    }
    outcome.judge()
}

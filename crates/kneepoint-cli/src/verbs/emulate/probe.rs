// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee emulate --probe`: delay and rate of the emulated link, measured by clocks that are not the emulator's.

use std::fs::File;
use std::io::Write;

use kneepoint::link::Routes;
use kneepoint::units::{Rate, Span};
use kneepoint_linux::behind::{self, Far};
use kneepoint_linux::emulator::{self, Layer};
use kneepoint_linux::probe::{PACKET, Plan, Probe};
use serde_json::json;

use super::path::Emulated;
use super::{Arguments, carry, failed, lacks};
use crate::failure::Failure;
use crate::{files, interrupt};

/// Packets that tell the delay.
const SINGLE: usize = 1000;
/// What 99 of 100 packets may be late, as measured from outside, for an emulation as good as it should be.
const GOOD: Span = Span::from_micros(100);

/// What the way from the near host promises: the delay of a packet that is alone on it, and the rate of many.
fn promised(path: &Emulated) -> Result<(Span, Rate), Failure> {
    let (near, far) = path.ends;
    let links = &path.valid.network().links;
    let way = Routes::new(path.valid.network()).path(near, far).unwrap_or_default();
    let way = way.iter().map(|link| &links[*link as usize]);
    let rate = way.clone().filter_map(|link| link.rate).min().ok_or_else(|| {
        Failure::usage("--probe: the link has no rate", "give one with --rate, as in `--rate 100mbit`")
    })?;
    let alone = way.map(|link| link.delay + link.rate.map_or(Span::ZERO, |rate| rate.time_for(PACKET)));
    Ok((alone.fold(Span::ZERO, |sum, one| sum + one), rate))
}

/// Measures the link and prints a table.
pub fn probe(arguments: &Arguments, path: &Emulated, as_json: bool) -> Result<(), Failure> {
    let (delay, rate) = promised(path)?;
    interrupt::listen_saying("stopping")?;
    let hosts = behind::hosts(Far::Apart).map_err(|error| lacks(&error))?;
    let [near, far] = &hosts;
    let ended = emulator::never().map_err(|error| failed("make an event", &error))?;
    let mut end = File::from(ended.try_clone().map_err(|error| failed("make an event", &error))?);
    let plan = Plan::of(rate, SINGLE);
    let probe = Probe::start(near, far, plan).map_err(|error| failed("start the probe", &error))?;
    let probe = probe.then(move || {
        // The event's count; whoever waits for it is told by any.
        let _ = end.write_all(&1_u64.to_ne_bytes());
    });
    let devices = [&near.device.file, &far.device.file];
    let outcome = carry(arguments, path, devices, Layer::Ip, &ended, None)?;
    if interrupt::asked() {
        return Err(Failure::run("the probe was interrupted", "run it again"));
    }
    let probed = probe.join().map_err(|error| failed("probe the link", &error))?;
    let micros = |nanos: f64| nanos / 1e3;
    let mut errors =
        probed.delays.iter().map(|one| micros(one.0 as f64 - delay.0 as f64)).collect::<Vec<_>>();
    errors.sort_by(f64::total_cmp);
    let at = |share: f64| match errors.len() {
        0 => f64::NAN,
        count => errors[((count as f64 * share).ceil() as usize).clamp(1, count) - 1],
    };
    let (p50, p99, max) = (at(0.5), at(0.99), at(1.0));
    let good = p99 <= micros(GOOD.0 as f64);
    let mut rates = probed.rates.iter().map(|one| one.0 as f64 / 1e6).collect::<Vec<_>>();
    rates.sort_by(f64::total_cmp);
    let (least, most) =
        (rates.first().copied().unwrap_or(f64::NAN), rates.last().copied().unwrap_or(f64::NAN));
    let median = rates.get(rates.len() / 2).copied().unwrap_or(f64::NAN);
    let late = outcome.late;
    let own = [late.p50, late.p99, late.max].map(|span| micros(span.0 as f64));
    let real_time = probed.prompt && outcome.seen.prompt;
    if as_json {
        files::print_json(&json!({
            "delay_promised_ms": delay.as_millis_f64(),
            "delay_error_us": {"p50": p50, "p99": p99, "max": max},
            "packets": errors.len(),
            "lost": probed.lost,
            "rate_promised_mbps": rate.0 as f64 / 1e6,
            "rate_mbps": {"median": median, "min": least, "max": most},
            "trains": rates.len(),
            "train_packets": plan.length,
            "lateness_us": {"p50": own[0], "p99": own[1], "max": own[2]},
            "real_time": real_time,
            "good": good,
        }))?;
    } else {
        files::print(format!(
            "                      promised   measured\n\
             one-way delay    {:>10.3} ms   {:+.1} us p50, {:+.1} us p99, {:+.1} us at most; {} packets, {} lost\n\
             rate             {:>7.2} Mbit/s   {median:.2} Mbit/s median, {least:.2} to {most:.2}; {} trains of {} packets\n\
             the emulator's lateness, by its own clock: {:.0} us p50, {:.0} us p99, {:.0} us at most\n\
             real-time scheduling: {}\n\
             99 of 100 packets within {GOOD} of their time: {}",
            delay.as_millis_f64(),
            p50,
            p99,
            max,
            errors.len(),
            probed.lost,
            rate.0 as f64 / 1e6,
            rates.len(),
            plan.length,
            own[0],
            own[1],
            own[2],
            if real_time { "yes" } else { "no: run it as root" },
            if good { "yes" } else { "no" },
        ))?;
    }
    outcome.judge()
}

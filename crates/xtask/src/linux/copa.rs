// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How long packets wait behind a lone Copa, which may mistake itself for a competitor: a table of docs/linux.md.
//!
//! The runs are those of `knee compare copa/droptail --rate R --rtt T --buffer 4bdp --flows 1 --duration D --seeds 5`.

use std::fmt::Write;

use kneepoint::measure::{Meter, Subject};
use kneepoint::scenario::{Extensions, Queues};
use kneepoint::settings::Raw;
use kneepoint::study::dumbbell::{Dumbbell, Party, Sessions};
use kneepoint::tcp::Host;
use kneepoint::units::{Interval, Rate, Span, Time};
use rayon::prelude::*;

use super::SEEDS;

/// Rate in Mbit/s, base round-trip time in ms, and length of the run in seconds.
type Place = (u64, u64, u64);

const PLACES: [Place; 13] = [
    (10, 20, 20),
    (10, 20, 40),
    (10, 20, 100),
    (10, 40, 40),
    (10, 40, 100),
    (10, 100, 20),
    (10, 100, 40),
    (20, 20, 40),
    (20, 40, 40),
    (20, 100, 40),
    (50, 20, 40),
    (50, 40, 40),
    (50, 100, 40),
];

const HOSTS: [(&str, Host, &str); 3] = [
    ("`copa`", Host::Paper, "copa/droptail"),
    ("`copa --tcp linux`", Host::Linux, "copa/droptail"),
    ("`copa:competitive=false --tcp linux`", Host::Linux, "copa:competitive=false/droptail"),
];

/// The table.
pub fn table() -> Result<String, String> {
    let mut text = format!(
        "Mean queueing delay in ms over the middle half of a run; mean of {SEEDS} seeds, least and greatest.\n\n"
    );
    let names = HOSTS.map(|(name, ..)| name).join(" | ");
    // Writing to a string cannot fail.
    let _ = writeln!(text, "| setting | {names} |\n| --- | ---: | ---: | ---: |");
    for place @ (rate, rtt, seconds) in PLACES {
        let cells = HOSTS.iter().map(|(_, host, scheme)| cell(place, *host, scheme));
        let cells = cells.collect::<Result<Vec<_>, _>>()?.join(" | ");
        let _ = writeln!(text, "| {rate} Mbit/s, {rtt} ms, {seconds} s | {cells} |");
    }
    Ok(text)
}

/// `43.0 (40.1–45.2)`
fn cell(place: Place, host: Host, scheme: &str) -> Result<String, String> {
    let delays = (1..=SEEDS).into_par_iter().map(|seed| delay(place, host, scheme, seed));
    let delays: Vec<f64> = delays.collect::<Result<_, _>>()?;
    let mean = delays.iter().sum::<f64>() / delays.len() as f64;
    let least = delays.iter().copied().fold(f64::INFINITY, f64::min);
    let most = delays.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Ok(format!("{mean:.1} ({least:.1}–{most:.1})"))
}

fn delay((rate, rtt, seconds): Place, host: Host, scheme: &str, seed: u64) -> Result<f64, String> {
    let scheme = Extensions::NONE.scheme(scheme)?.on(host);
    let tcp = match host {
        Host::Paper => vec![],
        other => vec![("preset".to_string(), Raw::Text(other.to_string()))],
    };
    let duration = Span::from_secs(seconds);
    let part = |share: u64| Time(duration.0 / share);
    let dumbbell = Dumbbell {
        title: "a lone Copa",
        parties: &[Party { name: "forward", scheme: &scheme, flows: 1 }],
        tcp: &tcp,
        queues: Queues::Paper,
        rate: Rate::from_mbit(rate),
        rtt: Span::from_millis(rtt),
        buffer: "4bdp",
        reverse: 0,
        full: false,
        web: Sessions::NONE,
        duration,
        measure: Interval { from: part(4), to: Time(duration.0 / 4 * 3) },
        start: Interval { from: Time::ZERO, to: part(8) },
        seeds: 1,
        seed,
        sample: None,
    };
    let document = dumbbell.document();
    let told = |faults: Vec<_>| format!("{} faults in\n{}", faults.len(), document.text());
    let case = Extensions::NONE
        .plan(&document)
        .map_err(told)?
        .cases
        .into_iter()
        .next()
        .ok_or("a plan without a case")?;
    let (meter, _) = kneepoint::run::run(&case.valid, seed, Meter::new(&case.valid, seed));
    let rows = meter.rows(&Subject::FEW);
    let link = rows.iter().find(|row| Subject::Link.has(row)).ok_or("a run without a link")?;
    Ok(link.value("queueing_delay_mean_ms"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_copa_that_never_competes_keeps_a_short_queue() {
        let place = (10, 20, 20);
        let [own, alone] = ["copa/droptail", "copa:competitive=false/droptail"]
            .map(|scheme| delay(place, Host::Paper, scheme, 1).unwrap());
        assert!(alone > 0.0 && alone < own / 4.0, "{alone} {own}");
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A report's notes on a named path: the equivalent options, its round trips, and its handovers in the window.

use kneepoint::link::{LinkSpec, Routes, capacity};
use kneepoint::spec::Valid;
use kneepoint::units::{Interval, Rate, Span, Time};

use super::{PathOptions, Preset, Way};

impl PathOptions {
    /// Notes on a run on this path.
    pub fn notes(&self, run: Option<&Valid>) -> Vec<String> {
        let named = self.preset().map(meaning);
        let trips = run.filter(|_| self.preset().is_some()).and_then(round_trips);
        let handed_over =
            self.handover.is_some() || self.preset().is_some_and(|one| one.get("handover").is_some());
        let missed = run.filter(|_| handed_over).and_then(without_handover);
        named.into_iter().chain(trips).chain(missed).collect()
    }
}

/// The equivalent options of a path's name.
fn meaning(preset: &Preset) -> String {
    let of = |way: Option<Way>| preset.properties.iter().filter(move |(own, ..)| *own == way);
    let options = of(None).map(|(_, word, value)| format!("--{word} {value}"));
    let up: Vec<String> = of(Some(Way::Up)).map(|(_, word, value)| format!("{word}={value}")).collect();
    let up = Some(format!("--up {}", up.join(","))).filter(|_| !up.is_empty());
    let all: Vec<String> = options.chain(up).collect();
    format!("`--path {}` stands for `{}`, where no other option says otherwise.", preset.name, all.join(" "))
}

/// The round trips of the first flows without queues, where delays change.
fn round_trips(run: &Valid) -> Option<String> {
    let links = &run.network().links;
    let (from, to) = *run.groups().first()?.pairs.first()?;
    let mut routes = Routes::new(run.network());
    let path: Vec<&LinkSpec> = [(from, to), (to, from)]
        .into_iter()
        .filter_map(|(a, b)| routes.path(a, b))
        .flatten()
        .map(|at| &links[at as usize])
        .collect();
    let delays = |link: &LinkSpec| match link.delay_steps.is_empty() {
        true => vec![link.delay],
        false => link.delay_steps.iter().map(|step| step.value).collect(),
    };
    let total = |of: fn(Vec<Span>) -> Option<Span>| {
        path.iter().fold(Span::ZERO, |sum, link| sum + of(delays(link)).unwrap_or_default())
    };
    let (least, most) = (total(|all| all.into_iter().min()), total(|all| all.into_iter().max()));
    let jitter = path.iter().fold(Span::ZERO, |sum, link| sum + link.jitter);
    let [least, most, jitter] = [least, most, jitter].map(Span::as_millis_f64);
    let jittered = if jitter > 0.0 { format!(", and up to {jitter:.1} ms of jitter") } else { String::new() };
    (least < most || jitter > 0.0)
        .then(|| format!("Without queues a round trip takes {least:.1} to {most:.1} ms{jittered}."))
}

/// A window without a handover.
fn without_handover(run: &Valid) -> Option<String> {
    let every = run.network().links.iter().find_map(period)?;
    let Interval { from, to } = run.schedule().measure;
    let before = |time: Time| time.0 / every.0;
    let [begin, end] = [from, to].map(|time| time.since(Time::ZERO).people());
    (before(from) == before(to)).then(|| {
        let longer = Span(every.0 * 4).people().replace(' ', "");
        format!(
            "No handover falls into the measured interval, {begin} to {end}: there is one every {}. A longer run has some, \
             as with `--duration {longer}`.",
            every.people()
        )
    })
}

/// The time from one handover of a link to the next.
fn period(link: &LinkSpec) -> Option<Span> {
    if let (Some(period), false) = (link.delay_period, link.delay_steps.is_empty()) {
        return Some(Span(period.0 / link.delay_steps.len() as u64));
    }
    match &link.capacity {
        capacity::Config::Steps(steps) => {
            let rates = steps.rates.values().iter().filter(|step| step.value > Rate(0)).count() as u64;
            steps.period.get().filter(|_| rates > 0).map(|period| Span(period.0 / rates))
        }
        _ => None,
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Congestion predictors: one state machine per published predictor, and the laboratory that scores them.
//!
//! S. Bhandarkar, A. L. N. Reddy, Y. Zhang, D. Loguinov, "Emulating AQM from End Hosts", SIGCOMM 2007, §2.
//!
//! A predictor receives a [`Sample`] with each ACK and answers whether it expects congestion. It never acts, so all
//! predictors can observe the same flow and be compared on the same losses, which a [`Laboratory`] does.
//!
//! To add one, write `predict/NAME.rs` like `predict/dual.rs` and add its line to the registry below.

mod laboratory;
mod round;
mod transitions;
mod watch;

pub use laboratory::{Judge, Laboratory, Score};
pub use transitions::Machine;
pub use watch::Prediction;

use crate::settings::names::{declared, same_name, spelled};
use crate::settings::{Assign, Raw, Refusal, Settings};
use crate::suggest::did_you_mean;
use crate::units::{Span, Time};

/// The information in an ACK.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Time of arrival.
    pub now: Time,
    /// Round-trip time.
    pub rtt: Span,
    /// Congestion window in packets.
    pub window: f64,
    /// One-way delay of the acknowledged packet, up to an unknown constant, if known.
    pub one_way: Option<Span>,
    /// Packets newly acknowledged in order.
    pub acked: u32,
}

/// Answer of a predictor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// No congestion.
    Low,
    /// Congestion: a loss is imminent.
    High,
}

impl Congestion {
    /// High if the condition holds.
    #[inline]
    fn high(so: bool) -> Congestion {
        if so { Congestion::High } else { Congestion::Low }
    }
}

/// A congestion predictor.
pub trait Predictor: Clone + std::fmt::Debug {
    /// Its parameters.
    type Params: Settings;

    /// Creates the predictor in its initial state.
    fn new(params: Self::Params) -> Self;
    /// Processes a sample and returns the answer that holds from now on.
    fn observe(&mut self, sample: &Sample) -> Congestion;
}

crate::registry! {
    trait Predictor;
    each each;
    algorithms {
        card::Card,
        tri_s::TriS as "tri-s",
        dual::Dual,
        vegas::Vegas,
        cim::Cim,
        rtt::Rtt,
        moving_average::MovingAverage as "moving-average",
        ewma::Ewma,
        tcp_bfa::TcpBfa as "tcp-bfa",
        sync_tcp::SyncTcp as "sync-tcp",
    }
}

impl Any {
    /// [`Predictor::observe`] of the variant.
    #[inline]
    pub fn observe(&mut self, sample: &Sample) -> Congestion {
        each!(self, one => one.observe(sample))
    }
}

/// A name used in the paper for a predictor with particular settings.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The name.
    pub name: &'static str,
    /// One sentence.
    pub about: &'static str,
    /// The predictor's name in the registry.
    pub of: &'static str,
    /// Parameters that it sets.
    pub set: &'static [(&'static str, &'static str)],
}

impl Preset {
    /// Its meaning: `the predictor ewma with history = 0.99`.
    pub fn meaning(&self) -> String {
        let setting = |(name, value): &(&str, &str)| format!("{name} = {value}");
        let with = self.set.iter().map(setting).collect::<Vec<_>>();
        format!("the predictor {} with {}", self.of, with.join(", "))
    }
}

/// All presets.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "ewma-7/8",
        about: "The round-trip time smoothed as for TCP's retransmission timeout.",
        of: "ewma",
        set: &[("history", "0.875")],
    },
    Preset {
        name: "srtt-0.99",
        about: "The round-trip time smoothed over a hundred samples, as in PERT.",
        of: "ewma",
        set: &[("history", "0.99")],
    },
];

/// All predictors with their defaults, under the paper's names where it names particular settings.
pub fn standard() -> Vec<(String, Config)> {
    let names = REGISTRY.iter().flat_map(|entry| {
        let presets: Vec<&str> =
            PRESETS.iter().filter(|preset| preset.of == entry.name).map(|preset| preset.name).collect();
        if presets.is_empty() { vec![entry.name] } else { presets }
    });
    names.filter_map(|name| Some((name.to_string(), named(name)?))).collect()
}

/// The predictor of this name, from the registry or the presets.
fn named(name: &str) -> Option<Config> {
    let preset = || {
        let preset = PRESETS.iter().find(|preset| same_name(preset.name, name))?;
        let mut config = Config::named(preset.of)?;
        for (field, value) in preset.set {
            config.set(field, &Raw::guess(value)).ok()?;
        }
        Some(config)
    };
    Config::named(name).or_else(preset)
}

/// Parses `NAME[:key=value,key=value]`; the error names the problem and the alternatives.
pub fn parse(text: &str) -> Result<(String, Config), String> {
    let text = text.trim();
    let (written, settings) =
        text.split_once(':').map_or((text, None), |(before, after)| (before, Some(after)));
    let names = REGISTRY.iter().map(|entry| entry.name).chain(PRESETS.iter().map(|preset| preset.name));
    let names = names.collect::<Vec<_>>();
    let name = declared(written, names.iter().copied()).unwrap_or(written);
    let Some(mut config) = named(name) else {
        let help = did_you_mean(name, &names);
        return Err(format!("unknown predictor `{name}`: {help}"));
    };
    let mut set: Vec<(&str, String)> = Vec::new();
    for setting in settings.into_iter().flat_map(|list| list.split(',')) {
        let Some((key, value)) = setting.split_once('=') else {
            return Err(format!(
                "{name}: `{setting}` has no value; write settings as in `ewma:history=0.99`"
            ));
        };
        let fields = config.declared().iter().map(|field| field.name).collect::<Vec<_>>();
        let parameter = spelled(key.trim(), fields.iter().copied());
        if let Some((_, first)) = set.iter().find(|(other, _)| *other == parameter) {
            let second = value.trim();
            return Err(format!(
                "{name}: `{parameter}` is given twice, by `{first}` and as `{second}`: leave one of them out"
            ));
        }
        match config.set(parameter, &Raw::guess(value.trim())) {
            Ok(()) => set.push((parameter, format!("{parameter}={}", value.trim()))),
            Err(Refusal::Value(message)) => return Err(format!("{name}: {parameter}: {message}")),
            Err(Refusal::Unknown) => {
                let help = did_you_mean(parameter, &fields);
                return Err(format!("{name} has no parameter `{parameter}`: {help}"));
            }
        }
    }
    config.check().map_err(|message| format!("{name}: {message}"))?;
    let set = set.into_iter().map(|(_, setting)| setting).collect::<Vec<_>>().join(",");
    Ok((if set.is_empty() { name.to_string() } else { format!("{name}:{set}") }, config))
}

/// Parses predictors separated by commas; an item with `=` but no `:` is a further setting of the one before.
pub fn parse_list(text: &str) -> Result<Vec<(String, Config)>, String> {
    let mut written: Vec<String> = Vec::new();
    for part in text.split(',') {
        match written.last_mut() {
            Some(last) if part.contains('=') && !part.contains(':') => *last += &format!(",{part}"),
            _ => written.push(part.to_string()),
        }
    }
    written.iter().map(|one| parse(one)).collect()
}

/// Threshold on a signal with the unit of a round-trip time.
#[derive(Clone, Copy, Debug)]
struct Threshold {
    above: Span,
    absolute: Span,
}

impl Threshold {
    #[inline]
    fn judge(self, signal: Span, least: Span) -> Congestion {
        let limit = if self.absolute > Span::ZERO { self.absolute } else { least + self.above };
        Congestion::high(signal > limit)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The answers to samples of round-trip time in milliseconds and window, each its own round.
    pub(crate) fn rounds<P: Predictor>(params: P::Params, samples: &[(f64, f64)]) -> Vec<Congestion> {
        let mut predictor = P::new(params);
        let mut now = Time::ZERO;
        let mut observe = |&(millis, window): &(f64, f64)| {
            let rtt = Span::from_secs_f64(millis / 1e3);
            now += rtt;
            predictor.observe(&Sample { now, rtt, window, one_way: None, acked: 1 })
        };
        samples.iter().map(&mut observe).collect()
    }

    /// The same for round-trip times alone.
    pub(crate) fn trips<P: Predictor>(params: P::Params, millis: &[f64]) -> Vec<Congestion> {
        rounds::<P>(params, &millis.iter().map(|one| (*one, 10.0)).collect::<Vec<_>>())
    }

    #[test]
    fn the_standard_predictors_are_those_of_figure_3_and_two_that_the_paper_only_names() {
        let names: Vec<String> = standard().into_iter().map(|(name, _)| name).collect();
        assert_eq!(
            names.join(" "),
            "card tri-s dual vegas cim rtt moving-average ewma-7/8 srtt-0.99 tcp-bfa sync-tcp"
        );
    }

    #[test]
    fn predictors_with_settings_are_separated_by_commas() {
        let (written, config) = parse("srtt-0.99:threshold=3ms").unwrap();
        assert_eq!(written, "srtt-0.99:threshold=3ms");
        let Config::Ewma(params) = config else { panic!("{config:?}") };
        assert_eq!((params.history, params.threshold), (0.99, Span::from_millis(3)));
        assert_eq!(parse("EWMA:Threshold=3ms").unwrap().0, "ewma:threshold=3ms");
        let list = parse_list("rtt,ewma:history=0.5,threshold=2ms,dual").unwrap();
        let names: Vec<&str> = list.iter().map(|(one, _)| one.as_str()).collect();
        assert_eq!(names, ["rtt", "ewma:history=0.5,threshold=2ms", "dual"]);
    }

    #[test]
    fn a_parse_error_lists_the_alternatives() {
        for (text, said) in [
            ("vega", "vegas"),
            ("ewma:past=1", "history"),
            ("ewma:history=2", "0 to 0.9999"),
            ("ewma:history", "has no value"),
            ("cim:short=30", "short = 30"),
            ("ewma:history=0.5,History=0.6", "`history` is given twice"),
        ] {
            let message = parse(text).unwrap_err();
            assert!(message.contains(said), "{text}: {message}");
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A controller of `bpf/cc`, compiled natively.

use std::ffi::c_void;
use std::fmt;

use kneepoint::cc::Config;
use kneepoint::settings::{Assign, Raw};
use kneepoint::suggest::did_you_mean;
use kneepoint::units::Span;

use super::foreign::{Ack, Algorithm, Parameter, Window, algorithms};
use super::trace::{Signal, Step};
use crate::fixed::FIXED;

/// The fixed-point numbers of C count in its inverse.
const ONE: f64 = FIXED.one();

/// The names of the controllers in the laboratory that have a twin in C.
pub fn names() -> Vec<String> {
    algorithms().iter().map(|one| one.name().replace('_', "-")).collect()
}

/// A controller in C.
pub struct Twin {
    algorithm: &'static Algorithm,
    parameters: Box<[u64]>,
    state: Box<[u64]>,
}

impl fmt::Debug for Twin {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Twin({}, {:?})", self.algorithm.name(), self.state)
    }
}

/// The algorithm in C that the laboratory calls `config`.
fn find(config: &Config) -> Result<&'static Algorithm, String> {
    let name = config.name().replace('-', "_");
    algorithms().iter().find(|one| one.name() == name).ok_or_else(|| {
        let all = names();
        let all = all.iter().map(String::as_str).collect::<Vec<_>>();
        format!("`{}` is not written in C; {}", config.name(), did_you_mean(config.name(), &all))
    })
}

/// A parameter as C has it.
fn encode(parameter: &Parameter, text: &str) -> Option<u64> {
    match parameter.kind() {
        "span_ns" => text.parse::<Span>().ok().map(|span| span.0),
        "flag" => text.parse::<bool>().ok().map(u64::from),
        "fixed" => text.parse::<f64>().ok().map(|number| (number * ONE).round() as u64),
        _ => None,
    }
}

/// The same controller with parameters that are whole multiples of 2^-32, so that both languages have the same.
pub fn rounded(config: &Config) -> Result<Config, String> {
    let mut rounded = config.clone();
    for parameter in find(config)?.list().iter().filter(|one| one.kind() == "fixed") {
        let bits = config.get(parameter.name()).and_then(|text| encode(parameter, &text));
        let bits = bits.ok_or_else(|| unreadable(config, parameter.name()))?;
        rounded
            .set(parameter.name(), &Raw::Float(bits as f64 / ONE))
            .map_err(|_| unreadable(config, parameter.name()))?;
    }
    Ok(rounded)
}

fn unreadable(config: &Config, name: &str) -> String {
    format!("`{name}` of `{}` cannot be represented in C", config.name())
}

impl Twin {
    /// The controller that `config` describes, closed; a parameter that C does not have must keep its default.
    pub fn new(config: &Config) -> Result<Twin, String> {
        let algorithm = find(config)?;
        let defaults = Config::named(config.name()).unwrap_or_default();
        let mut bytes = vec![0; algorithm.parameters.next_multiple_of(8) as usize];
        for field in config.declared() {
            let text = config.get(field.name).unwrap_or_default();
            let Some(parameter) = algorithm.list().iter().find(|one| one.name() == field.name) else {
                if defaults.get(field.name).as_ref() != Some(&text) {
                    let names = algorithm.list().iter().map(Parameter::name).collect::<Vec<_>>().join(", ");
                    return Err(format!(
                        "`{}` in C has no `{}`: leave it out; it has {names}",
                        config.name(),
                        field.name
                    ));
                }
                continue;
            };
            let bits = encode(parameter, &text).ok_or_else(|| unreadable(config, field.name))?;
            let size = if parameter.kind() == "flag" { 1 } else { 8 };
            let place = parameter.place as usize;
            bytes[place..place + size].copy_from_slice(&bits.to_ne_bytes()[..size]);
        }
        let words = bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap_or_default()));
        let state = vec![0; algorithm.state.div_ceil(8) as usize];
        Ok(Twin { algorithm, parameters: words.collect(), state: state.into() })
    }

    /// The defaults in C, by name, in C's own units.
    pub fn defaults(&self) -> impl Iterator<Item = (&'static str, u64, Option<u64>)> {
        let config = Config::named(&self.algorithm.name().replace('_', "-")).unwrap_or_default();
        self.algorithm.list().iter().map(move |one| {
            let declared = config.get(one.name()).and_then(|text| encode(one, &text));
            (one.name(), one.value, declared)
        })
    }

    fn state(&mut self) -> *mut c_void {
        self.state.as_mut_ptr().cast()
    }

    /// Takes in a step.
    pub fn hear(&mut self, step: &Step) {
        let (algorithm, parameters) = (self.algorithm, self.parameters.as_ptr().cast::<c_void>());
        let mut ack = Ack { now: step.at.0, ..Ack::default() };
        // SAFETY: state and parameters have the sizes and the alignment that the table asks for, and `ack` outlives each call.
        unsafe {
            match step.signal {
                Signal::Open { window } => {
                    self.state.fill(0);
                    (algorithm.open)(self.state(), parameters, fixed(window));
                }
                Signal::Ack(heard) => {
                    ack = Ack {
                        rtt: heard.rtt.map_or(0, |rtt| rtt.0),
                        una: heard.una as u32,
                        next: heard.next as u32,
                        acked: heard.acked,
                        random: (heard.draw * ONE) as u32,
                        in_flight: heard.in_flight,
                        recovering: heard.recovering.into(),
                        ..ack
                    };
                    (algorithm.acknowledge)(
                        self.state(),
                        parameters,
                        &raw const ack,
                        u64::from(heard.credit) << 32,
                    );
                }
                Signal::Loss { flight, una, next } => {
                    (ack.una, ack.next) = (una as u32, next as u32);
                    (algorithm.loss)(self.state(), parameters, &raw const ack, fixed(flight));
                }
                // Linux asks for the same threshold.
                Signal::Mark { flight, next } => {
                    ack.next = next as u32;
                    (algorithm.loss)(self.state(), parameters, &raw const ack, fixed(flight));
                }
                Signal::Resume { .. } => {}
                Signal::Resize { window, threshold } => {
                    let inner = self.inner();
                    (inner.packets, inner.ssthresh) = (fixed(window), fixed(threshold));
                }
                Signal::Timeout { flight, next, reported } => {
                    ack.next = next as u32;
                    (algorithm.timeout)(
                        self.state(),
                        parameters,
                        &raw const ack,
                        fixed(flight),
                        reported.into(),
                    );
                }
                Signal::Advice { rate } => {
                    if let Some(advise) = algorithm.advise {
                        advise(self.state(), fixed(rate));
                    }
                }
            }
        }
    }

    /// Packets that may be outstanding.
    pub fn window(&mut self) -> f64 {
        (self.inner().packets as f64 / ONE).max(1.0)
    }

    /// Sets the window, and with it a threshold that is the same.
    pub fn settle(&mut self, window: f64) {
        let inner = self.inner();
        if inner.ssthresh == inner.packets {
            inner.ssthresh = fixed(window);
        }
        inner.packets = fixed(window);
    }

    fn inner(&mut self) -> &mut Window {
        // SAFETY: the table's function returns a place within the state, which is borrowed as long as the place is.
        unsafe { &mut *(self.algorithm.window)(self.state()) }
    }
}

fn fixed(number: f64) -> u64 {
    (number * ONE).round() as u64
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The place of the hosts of `knee live`: on this machine's kernel in real time, on a Linux in virtual time, or in a QUIC stack in
//! virtual time.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use kneepoint::measure::{Meter, Series};
use kneepoint::report::live::KERNEL;
use kneepoint::run as engine;
use kneepoint::study::{Record, Yield};
use kneepoint::units::{Span, Time};
use kneepoint_bench::session::Session;
use kneepoint_linux::uml;
#[cfg(feature = "quic")]
use kneepoint_quic::virtual_time;

use super::cases::Case;
use super::measure::{self, Attempt, Clock, FOLLOWED};
#[cfg(feature = "quic")]
use super::quic;
use super::study::{Machine, Measured};
use super::{Runs, kernel};
use crate::failure::Failure;
use crate::hosts::uml::{ready, recipe};

/// The place of the hosts.
#[derive(Args)]
pub struct Place {
    /// Place of the hosts: this machine's kernel, one in virtual time with its own queues, or a QUIC stack
    #[arg(long, value_enum, default_value_t, ignore_case = true, value_name = "HOSTS")]
    on: On,
    /// A patch that the kernel in virtual time was built with; repeated, in this order
    #[arg(long, value_name = "FILE")]
    patch: Vec<PathBuf>,
}

/// The side that has hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum On {
    /// This machine's, over an emulated link in real time; needs root
    #[default]
    Machine,
    /// User-Mode Linux in virtual time
    Uml,
    /// noq, a QUIC stack, in virtual time over the simulator's links; in a build with the feature `quic`
    Noq,
    /// quinn, another
    Quinn,
}

impl On {
    /// The name of the QUIC stack, if it is one.
    fn stack(self) -> Option<&'static str> {
        match self {
            On::Machine | On::Uml => None,
            On::Noq => Some("noq"),
            On::Quinn => Some("quinn"),
        }
    }
}

/// Hosts that are ready.
pub enum Hosts {
    /// On this machine's kernel.
    Machine,
    /// On a Linux in virtual time, by its own queues.
    Uml(uml::Kernel, uml::Station),
    /// In a QUIC stack.
    #[cfg(feature = "quic")]
    Quic(&'static virtual_time::Hosts),
}

impl Place {
    /// The hosts, if they can run all cases.
    pub fn hosts(&self, runs: &Runs, cases: &[Case]) -> Result<Hosts, Failure> {
        if self.on == On::Machine {
            if !self.patch.is_empty() {
                return Err(Failure::usage(
                    "--patch is for the kernel in virtual time",
                    "give --on uml, too",
                ));
            }
            runs.check(cases)?;
            return Ok(Hosts::Machine);
        }
        if let Some(name) = self.on.stack() {
            return in_stack(name, runs, cases);
        }
        let recipe = recipe(&self.patch)?;
        for case in cases {
            let plan = runs.plan(case, 1)?;
            controls(&plan, &recipe)?;
            prepared(case, 1, plan)?;
        }
        let (found, station) = ready(&self.patch)?;
        Ok(Hosts::Uml(found, station))
    }
}

/// The hosts of a QUIC stack, if they can run all cases.
#[cfg(feature = "quic")]
fn in_stack(name: &str, runs: &Runs, cases: &[Case]) -> Result<Hosts, Failure> {
    let stack = virtual_time::named(name).expect("a stack of the crate");
    cases.iter().try_for_each(|case| quic::factories(stack, runs, case).map(drop))?;
    Ok(Hosts::Quic(stack))
}

#[cfg(not(feature = "quic"))]
fn in_stack(_: &str, _: &Runs, _: &[Case]) -> Result<Hosts, Failure> {
    Err(Failure::usage(
        "this build has no QUIC stack",
        "cargo build --release -p kneepoint-cli --features quic",
    ))
}

/// Whether the kernel has the congestion controls of a plan, as far as is known.
fn controls(plan: &kernel::Plan, recipe: &uml::Recipe) -> Result<(), Failure> {
    let wanted = plan.controls();
    let lacking = wanted.iter().find(|control| !uml::controls().any(|one| one == **control));
    match lacking.filter(|_| !recipe.is_patched()) {
        None => Ok(()),
        Some(control) => Err(Failure::run(
            format!("Linux has no congestion control {control}"),
            format!(
                "with --cc-map another one stands for it: there are {}; --patch adds one to the kernel",
                uml::controls().collect::<Vec<_>>().join(", ")
            ),
        )),
    }
}

fn prepared(case: &Case, seed: u64, plan: kernel::Plan) -> Result<uml::Prepared, Failure> {
    uml::Prepared::new(&case.valid, seed, plan).map_err(|why| {
        let message = format!("{}: {why}", case.name);
        Failure::run(message, "leave it to `knee run`, or to `sudo knee live` without --on uml, whose links are the simulator's")
    })
}

impl Hosts {
    /// One run of a case.
    pub fn once(
        &self,
        session: &Session,
        runs: &Runs,
        case: &Case,
        attempt: &Attempt,
    ) -> Result<Measured, Failure> {
        match self {
            Hosts::Machine => measure::once(session, runs, case, attempt),
            Hosts::Uml(found, station) => {
                let plan = runs.plan(case, attempt.repetition)?;
                let seen = carried_out(session, (found, station), case, plan, attempt);
                seen.map(|(rows, superpackets, spoiled)| Measured {
                    processor: Vec::new(),
                    machine: Machine {
                        attempts: attempt.number,
                        spoiled,
                        superpackets,
                        ..Machine::default()
                    },
                    record: Record::simulated(attempt.repetition, 0.0, engine::Outcome::default(), rows),
                })
            }
            #[cfg(feature = "quic")]
            Hosts::Quic(stack) => quic::once(stack, runs, case, attempt),
        }
    }

    /// The sentence of a report about them.
    pub fn about(&self) -> String {
        match self {
            Hosts::Machine => "Hosts of this machine's kernel over an emulated link".into(),
            Hosts::Uml(found, _) => format!("Hosts and queues of {} in virtual time", found.about),
            #[cfg(feature = "quic")]
            Hosts::Quic(stack) => format!("Hosts of {}, a QUIC stack, in virtual time", stack.name),
        }
    }

    /// Who has them.
    pub fn side(&self) -> &'static str {
        match self {
            #[cfg(feature = "quic")]
            Hosts::Quic(stack) => stack.name,
            Hosts::Machine | Hosts::Uml(..) => KERNEL,
        }
    }

    /// Their kind of time.
    pub fn clock(&self) -> Clock {
        match self {
            Hosts::Machine => Clock::Real,
            _ => Clock::Virtual,
        }
    }

    /// Refuses an option that needs real time.
    pub fn must_be_real(&self, option: &str) -> Result<(), Failure> {
        match self {
            Hosts::Machine => Ok(()),
            _ => Err(Failure::usage(format!("{option} runs in real time"), "leave --on out, or the option")),
        }
    }
}

/// A run in virtual time: its observations, packets beyond the MTU, and the reason if it does not count.
fn carried_out(
    session: &Session,
    hosts: (&uml::Kernel, &uml::Station),
    case: &Case,
    plan: kernel::Plan,
    attempt: &Attempt,
) -> Result<(Yield, u64, Option<String>), Failure> {
    let (valid, repetition) = (&case.valid, attempt.repetition);
    let whole = valid.schedule().duration.since(Time::ZERO);
    let watch = (Meter::new(valid, repetition), Series::new(valid, repetition, FOLLOWED));
    let prepared = prepared(case, repetition, plan)?;
    let asked = |reached: Span| {
        (attempt.passed)(reached.0 as f64 / whole.0 as f64);
        session.asked()
    };
    let seen = prepared.run(valid, repetition, hosts, watch, &asked).map_err(|error| {
        let message = format!("{}: the instance failed: {error}", case.name);
        Failure::run(message, "`knee doctor` shows the kernel; `knee doctor --build-uml` builds it again")
    })?;
    let (meter, series) = seen.watch;
    let rows = Yield { rows: meter.finish(), series: Some(series.table()), parts: None };
    Ok((rows, seen.superpackets, seen.spoiled))
}

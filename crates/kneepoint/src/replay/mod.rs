// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The signals to a controller as a trace, and a controller outside of any host that receives them.
//!
//! | file | purpose |
//! |---|---|
//! | [`trace`] | the signals to a controller, step by step, as CSV |
//! | [`recording`] | the trace of a flow of a simulation |

pub mod recording;
pub mod trace;

use crate::cc::{self, Advice, Advised, Any, Cause, Config, Ecn, Loss, Resize, Start, Timeout};
use crate::settings::Raw;
use crate::units::PacketRate;
use trace::{Signal, Step};

/// The laboratory's controller.
#[derive(Debug)]
pub struct Laboratory {
    config: Config,
    controller: Any,
}

impl Laboratory {
    /// The controller of `config`, which receives round trips instead of one-way delays: traces have none.
    pub fn new(config: &Config) -> Laboratory {
        let mut heard = config.clone();
        // Few controllers have such a choice.
        let _ = heard.set("signal", &Raw::Text("rtt".into()));
        Laboratory { controller: heard.build(Start::new(1.0)), config: heard }
    }

    /// Takes in a step.
    pub fn hear(&mut self, step: &Step) {
        let (now, controller) = (step.at, &mut self.controller);
        let signal = match step.signal {
            Signal::Open { window } => {
                *controller = self.config.build(Start::new(window));
                return;
            }
            Signal::Advice { rate } => {
                return controller.on_advice(&Advised { now, advice: Advice::Rate(PacketRate(rate)) });
            }
            Signal::Ack(heard) => {
                let ack = cc::Ack {
                    now,
                    rtt: heard.rtt,
                    one_way: None,
                    acked: heard.acked,
                    delivered: heard.delivered,
                    resent: heard.resent,
                    marked: 0,
                    credit: f64::from(heard.credit),
                    limited: heard.limited,
                    una: heard.una,
                    next: heard.next,
                    in_flight: heard.in_flight,
                    recovering: heard.recovering,
                };
                cc::Signal::Ack(ack, heard.draw)
            }
            Signal::Loss { flight, una, next } => cc::Signal::Loss(Loss { now, flight, una, next }),
            Signal::Timeout { flight, next, reported } => {
                cc::Signal::Timeout(Timeout { now, flight, reported, next })
            }
            Signal::Mark { flight, next } => cc::Signal::Ecn(Ecn { now, flight, next }),
            Signal::Resume { idle } => cc::Signal::Resume { now, idle },
            Signal::Resize { window, threshold } => {
                cc::Signal::Resize(Resize { now, window, threshold, cause: Cause::Undo })
            }
        };
        // A host that reduces then has its own step for it.
        let _ = signal.tell(controller);
    }

    /// Packets that may be outstanding.
    pub fn window(&mut self) -> f64 {
        self.controller.control().window
    }
}

/// The windows of a controller in the course of a trace, as a hash of their bits: two computers that agree in it computed the same
/// numbers.
pub fn hash(config: &Config, steps: &[Step]) -> u64 {
    let mut machine = Laboratory::new(config);
    steps.iter().fold(FNV, |hash, step| {
        machine.hear(step);
        let bits = machine.window().to_bits().to_le_bytes();
        bits.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
    })
}

/// FNV-1a of 64 bits.
const FNV: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

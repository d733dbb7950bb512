// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The trace of a flow between hosts of a QUIC stack.

use kneepoint::cc::{Config, Signal as Told};
use kneepoint::spec::{Roster, Valid};
use kneepoint::trace::FlowId;
use kneepoint::units::Time;
use kneepoint_linux::native::trace::{Heard, Signal, Step};
use kneepoint_quic::host::{Host, INITIAL_WINDOW};
use kneepoint_quic::tape::Tape;
use kneepoint_quic::virtual_time::{named, run_each};

/// Every signal to the controller of a flow in a run of `valid` between hosts of the stack.
pub fn recorded(stack: &str, valid: &Valid, flow: FlowId, seed: u64) -> Result<Vec<Step>, String> {
    let stack = named(stack).expect("a stack of the crate");
    let configs = valid.groups().iter().map(|group| group.cc.clone().unwrap_or_default());
    let configs: Vec<Config> = configs.collect();
    let tape = Tape::default();
    let wanted = Roster::new(valid).slot(flow);
    // A refusal is the same for all members of a group.
    configs.iter().try_for_each(|config| (stack.carrying)(config.clone(), None).map(drop))?;
    let factory = |group: usize, index: usize| {
        let ours = wanted.is_some_and(|slot| slot.group == group && slot.index == index);
        (stack.carrying)(configs.get(group)?.clone(), ours.then(|| tape.clone())).ok()
    };
    run_each(valid, seed, &factory, ())?;
    // The sender's controller is made before the receiver's.
    let told = tape.take().into_iter().next().unwrap_or_default();
    let open = Step { at: Time::ZERO, signal: Signal::Open { window: Host::opening(INITIAL_WINDOW) } };
    Ok(std::iter::once(open).chain(told.iter().map(|told| step(&told.signal))).collect())
}

fn step(told: &Told) -> Step {
    let (at, signal) = match *told {
        Told::Ack(ack, draw) => {
            let heard = Heard {
                rtt: ack.rtt,
                acked: ack.acked,
                // A host of QUIC gives whole packets.
                credit: ack.credit as u32,
                una: ack.una,
                next: ack.next,
                in_flight: ack.in_flight,
                recovering: ack.recovering,
                draw,
                delivered: ack.delivered,
                resent: ack.resent,
                limited: ack.limited,
            };
            (ack.now, Signal::Ack(heard))
        }
        Told::Loss(loss) => (loss.now, Signal::Loss { flight: loss.flight, una: loss.una, next: loss.next }),
        Told::Timeout(out) => {
            (out.now, Signal::Timeout { flight: out.flight, next: out.next, reported: out.reported })
        }
        Told::Ecn(mark) => (mark.now, Signal::Mark { flight: mark.flight, next: mark.next }),
        Told::Resize(size) => (size.now, Signal::Resize { window: size.window, threshold: size.threshold }),
        Told::Resume { now, idle } => (now, Signal::Resume { idle }),
    };
    Step { at, signal }
}

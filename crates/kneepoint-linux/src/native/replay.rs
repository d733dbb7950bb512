// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One trace for several controllers, and the steps at which their windows diverge.

use kneepoint::cc::Config;
pub use kneepoint::replay::Laboratory;
use kneepoint::replay::trace::{Signal, Step};
use kneepoint::units::{Span, Time};

use super::twin::Twin;

/// The relative difference of two windows from which they are not the same.
///
/// In fixed point a growth and a reduction of the window each round by 2^-32 packets. Growth by a packet a round trip lets an error of the window
/// shrink, by the factor 1 - 1/W^2, and a reduction shrinks it with the window: after n acknowledgements at most n 2^-32 packets are left, 2e-6
/// after ten thousand, and in practice the few hundred since the last reduction. Where the threshold is two packets and α large, a
/// window between one and two is amplified: W' = 2 + α (W - 1) / 2, and no arithmetic follows another for long: [`compare_steps`] compares step by step.
pub const TOLERANCE: f64 = 1e-6;

/// The distance between a draw and a probability within which either decision is right.
const NEAR: f64 = 1e-6;
/// The permitted difference of the two estimated delays, in nanoseconds.
const APART: u64 = 3;

/// A controller that receives the events of a trace.
pub trait Machine {
    /// Takes in a step.
    fn hear(&mut self, step: &Step);
    /// Packets that may be outstanding.
    fn window(&mut self) -> f64;
    /// Goes on from this window, where it can.
    fn settle(&mut self, _window: f64) {}
}

/// The constructor of a machine from a configuration.
pub type Make = fn(&Config) -> Result<Box<dyn Machine>, String>;

/// Every machine: its name and how it is made.
pub const MACHINES: &[(&str, Make)] = &[
    ("sim", |config| Ok(Box::new(Laboratory::new(config)))),
    ("native-bpf", |config| Ok(Box::new(Twin::new(config)?))),
];

/// A step as seen by the kernel's controllers, which cannot distinguish marks from losses and do not learn when sending
/// resumes.
impl Machine for Twin {
    fn hear(&mut self, step: &Step) {
        Twin::hear(self, step);
    }
    fn window(&mut self) -> f64 {
        Twin::window(self)
    }
    fn settle(&mut self, window: f64) {
        Twin::settle(self, window);
    }
}

impl Machine for Laboratory {
    fn hear(&mut self, step: &Step) {
        Laboratory::hear(self, step);
    }
    fn window(&mut self) -> f64 {
        Laboratory::window(self)
    }
}

/// The windows of all machines after each step.
pub fn play(machines: &mut [Box<dyn Machine>], steps: &[Step]) -> Vec<Vec<f64>> {
    let mut after = |step: &Step| {
        let heard = machines.iter_mut().map(|machine| {
            machine.hear(step);
            machine.window()
        });
        heard.collect()
    };
    steps.iter().map(&mut after).collect()
}

/// The relative difference of the most different of `windows` from the first.
pub fn difference(windows: &[f64]) -> f64 {
    let first = windows.first().copied().unwrap_or(1.0);
    windows.iter().map(|window| (window / first - 1.0).abs()).fold(0.0, f64::max)
}

/// The result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// The greatest relative difference.
    Agree(f64),
    /// They differ from this step, counted from zero.
    Part(usize),
    /// They part at this step, and so does the laboratory's controller from itself, with draws moved by one in a million or
    /// some round-trip times by three nanoseconds.
    Undecided(usize),
}

/// Compares `machines`, each with the first; `config` has their types.
pub fn compare(config: &Config, machines: &mut [Box<dyn Machine>], steps: &[Step]) -> Verdict {
    walk(config, machines, steps, false)
}

/// The same, but after each step the others continue from the first's window, so that a step shows only its own error.
pub fn compare_steps(config: &Config, machines: &mut [Box<dyn Machine>], steps: &[Step]) -> Verdict {
    walk(config, machines, steps, true)
}

fn walk(config: &Config, machines: &mut [Box<dyn Machine>], steps: &[Step], settle: bool) -> Verdict {
    let mut greatest = 0.0_f64;
    for (place, step) in steps.iter().enumerate() {
        let heard = machines.iter_mut().map(|machine| {
            machine.hear(step);
            machine.window()
        });
        let windows = heard.collect::<Vec<_>>();
        let difference = difference(&windows);
        if difference.is_nan() || difference > TOLERANCE {
            let undecided = undecided(config, &steps[..=place]);
            return if undecided { Verdict::Undecided(place) } else { Verdict::Part(place) };
        }
        greatest = greatest.max(difference);
        if settle {
            machines.iter_mut().skip(1).for_each(|machine| machine.settle(windows[0]));
        }
    }
    Verdict::Agree(greatest)
}

/// Whether the laboratory's controller comes to another window with inputs that differ by no more than the arithmetic's error.
fn undecided(config: &Config, steps: &[Step]) -> bool {
    let windows = |moved: &dyn Fn(usize, &mut Step)| {
        let mut machine = Laboratory::new(config);
        for (place, step) in steps.iter().enumerate() {
            let mut step = *step;
            moved(place, &mut step);
            machine.hear(&step);
        }
        machine.window()
    };
    let draws = |by: f64| {
        move |_: usize, step: &mut Step| {
            if let Signal::Ack(heard) = &mut step.signal {
                heard.draw = (heard.draw + by).clamp(0.0, 1.0 - f64::EPSILON);
            }
        }
    };
    // Every second number, because averages with any memory must move, and move against the least.
    let delays = |every: usize, phase: usize| {
        move |place: usize, step: &mut Step| {
            if let Signal::Ack(heard) = &mut step.signal
                && (place / every + phase).is_multiple_of(2)
            {
                heard.rtt = heard.rtt.map(|rtt| Span(rtt.0 + APART));
            }
        }
    };
    let still = windows(&|_, _| ());
    let parts = |window: f64| difference(&[still, window]) > TOLERANCE;
    [NEAR, -NEAR].into_iter().any(|by| parts(windows(&draws(by))))
        || [5, 40, 300].into_iter().any(|every| (0..2).any(|phase| parts(windows(&delays(every, phase)))))
}

/// A step in words.
pub fn describe(step: &Step) -> String {
    let at = Time::as_secs_f64(step.at);
    match step.signal {
        Signal::Open { .. } => format!("{at:.6} s  open"),
        Signal::Ack(heard) => {
            let rtt =
                heard.rtt.map_or("no sample".to_string(), |rtt| format!("rtt {:.3} ms", rtt.as_millis_f64()));
            let repair = if heard.recovering { ", repairing" } else { "" };
            format!("{at:.6} s  ack of {}, {rtt}{repair}", heard.acked)
        }
        Signal::Loss { .. } => format!("{at:.6} s  loss"),
        Signal::Timeout { .. } => format!("{at:.6} s  timeout"),
        Signal::Mark { .. } => format!("{at:.6} s  mark"),
        Signal::Resume { idle } => format!("{at:.6} s  resume after {:.3} ms", idle.as_millis_f64()),
        Signal::Resize { window, .. } => format!("{at:.6} s  window set to {window:.3}"),
        Signal::Advice { rate } => format!("{at:.6} s  advice of {rate:.1} packets/s"),
    }
}

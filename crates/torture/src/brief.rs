// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A run that ends soon, for any scenario.

use std::cell::Cell;

use kneepoint::measure::Meter;
use kneepoint::run::Simulation;
use kneepoint::spec::Valid;
use kneepoint::trace::{Event, Observer};
use kneepoint::units::Time;

/// Larger scenarios are read, but not run.
const MEMBERS: usize = 100;
const LINKS: usize = 100;
/// Events after which a run is long enough.
const EVENTS: u64 = 5_000;

/// Counts events.
struct Count<'c>(&'c Cell<u64>);

impl Observer for Count<'_> {
    fn on(&mut self, _: Time, _: &Event) {
        self.0.set(self.0.get() + 1);
    }
}

/// Runs a scenario for twice as long as before until enough has happened, or it is over.
pub fn run(valid: &Valid) {
    let members: usize = valid.groups().iter().map(|group| group.members.len()).sum();
    if members > MEMBERS || valid.network().links.len() > LINKS {
        return;
    }
    let events = Cell::new(0);
    let mut simulation = Simulation::new(valid, 1, (Meter::new(valid, 1), Count(&events)));
    let mut until = Time(1000);
    while events.get() < EVENTS && simulation.now() < valid.schedule().duration {
        simulation.advance(until);
        until = Time(2 * until.0);
    }
    let ((meter, _), _) = simulation.finish();
    meter.finish();
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Linux in virtual time: the kernel's own TCP and queue disciplines in a User-Mode Linux whose clock is moved by its timers alone.
//!
//! ```text
//! Valid, Plan ─Layout→ Job ─ instance: namespaces, HTB, the queue, NetEm, hosts ─ sightings ─Trips→ replay ─ events → observers
//! ```
//!
//! A processor takes no time there, so no run is late, however busy the machine is. It needs no rights, and the same
//! seed gives the same
//! bytes. The instance runs only this program: hosts are the same as in real time.

mod captured;
mod discipline;
mod guest;
mod job;
mod kernel;
mod layout;
mod machine;
mod netlink;
mod outcome;
mod replay;
mod ring;
mod root;
mod shaping;
mod sighting;
mod trips;

use std::io::{self, BufReader};

use kneepoint::spec::Valid;
use kneepoint::trace::Observer;
use kneepoint::units::Span;

use crate::emulator::Capture;
use crate::frame::Tuple;
use crate::live::{PORT, Plan, roles};
use crate::tap::Tap;
use crate::tun;
pub use guest::{is_inside, main};
use job::Job;
pub use kernel::{Build, Kernel, LINUX, PACKAGE, Recipe, Source, Step, cache, controls};
use layout::Layout;
pub use machine::Station;
use netlink::Dropped;
use replay::replay;
use trips::Trips;

/// The observations of a run.
#[derive(Debug)]
pub struct Seen<O> {
    /// The observer.
    pub watch: O,
    /// Retransmissions of each transfer, by its kernel's counter.
    pub retransmissions: Vec<u32>,
    /// Packets that exceeded the MTU.
    pub superpackets: u64,
    /// The reason why the run does not count, if it does not.
    pub spoiled: Option<String>,
}

/// A scenario that an instance can run.
#[derive(Debug)]
pub struct Prepared {
    layout: Layout,
    plan: Plan,
    job: String,
}

impl Prepared {
    /// A plan over the network of `valid`; the error names what Linux cannot do.
    pub fn new(valid: &Valid, seed: u64, plan: Plan) -> Result<Prepared, String> {
        if plan.show.is_some() {
            return Err("films are played in real time".into());
        }
        let layout = Layout::new(valid, seed, &plan.paths())?;
        let job = Job::new(valid, seed, &layout, plan);
        let text = job.write()?;
        Ok(Prepared { layout, plan: job.plan, job: text })
    }

    /// Runs it, and passes its events to the observer. Its progress is passed to `asked`, which returns whether to
    /// stop.
    pub fn run<O: Observer>(
        &self,
        valid: &Valid,
        seed: u64,
        (kernel, station): (&Kernel, &Station),
        watch: O,
        asked: &dyn Fn(Span) -> bool,
    ) -> io::Result<Seen<O>> {
        self.run_captured(valid, seed, (kernel, station), watch, &mut (), asked)
    }

    /// The same, with the headers of every frame of both hosts given to a capture.
    pub fn run_captured<O: Observer>(
        &self,
        valid: &Valid,
        seed: u64,
        (kernel, station): (&Kernel, &Station),
        watch: O,
        capture: &mut impl Capture,
        asked: &dyn Fn(Span) -> bool,
    ) -> io::Result<Seen<O>> {
        let (outcome, packets) = station.run(&kernel.program, seed, &self.job, asked)?;
        let trips = Trips::read(&self.layout, BufReader::new(packets))?;
        if capture.looks() {
            captured::capture(&trips, valid.schedule().duration, capture);
        }
        let spoiled = self.spoiled(&trips, &outcome.dropped, outcome.missed);
        let roles = roles(&self.plan.transfers, &self.plan.crews);
        let classify = move |tuple: &Tuple| roles.get(usize::from(tuple.ports.1.checked_sub(PORT)?)).copied();
        let tap = Tap::new(tun::MTU as u16, self.plan.transfers.len() as u32, Box::new(classify));
        let (watch, tap) = replay(valid, &self.layout, &trips, tap, outcome.news, watch);
        Ok(Seen {
            watch,
            retransmissions: outcome.retransmissions,
            superpackets: tap.superpackets(),
            spoiled,
        })
    }

    /// Whether packets were missed, or the kernel counts other drops than the packets show.
    fn spoiled(&self, trips: &Trips, counted: &[Dropped], missed: u64) -> Option<String> {
        if missed > 0 {
            return Some(format!("{missed} packets were not recorded"));
        }
        let told = self.layout.followed.iter().zip(trips.dropped()).find_map(|(queue, seen)| {
            let [_, device, parent] = queue.counter;
            let own = counted.iter().find(|one| (one.device, one.parent) == (device, parent))?;
            (u64::from(own.packets) != seen).then_some((own.packets, seen))
        });
        told.map(|(own, seen)| format!("the kernel counts {own} drops, and {seen} packets did not leave"))
    }
}

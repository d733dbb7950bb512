// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The memory that a run costs: O(flows + packets), less than a kilobyte for an idle flow.
//!
//! A separate test binary, because it counts the allocator's memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

#[allow(dead_code)]
#[path = "laboratory/common/dumbbell.rs"]
mod dumbbell;

use dumbbell::{at, edit, flow, group, interval, minimal};
use kneepoint::cc;
use kneepoint::predict;
use kneepoint::queue;
use kneepoint::run::Simulation;
use kneepoint::spec::Valid;
use kneepoint::study::{Packets, Watched};
use kneepoint::tcp::{Receiver, Sender};
use kneepoint::trace::{FlowId, Observer};

/// The system's allocator, and the bytes it has handed out and not taken back, now and at most.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

#[allow(unsafe_code, reason = "an allocator cannot be written without; this one only counts")]
// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(now, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The memory of a simulation after a second without traffic.
fn idle(valid: &Valid) -> usize {
    let before = NOW.load(Ordering::Relaxed);
    let mut simulation = Simulation::new(valid, 1, ());
    simulation.advance(at(1.0));
    NOW.load(Ordering::Relaxed) - before
}

/// One test, because the counters are global.
#[test]
fn a_flow_costs_a_kilobyte_or_two_and_a_run_no_more_the_longer_it_lasts() {
    let both = size_of::<Sender>() + size_of::<Receiver>();
    // Of them 20 are counts of marks, which only AccECN uses.
    assert!(both <= 776, "sender and receiver: {both} bytes");

    let queue = queue::Config::default();
    for entry in cc::REGISTRY {
        let flows = 10_000;
        let mut valid = minimal(&queue, 0);
        let without = idle(&valid);
        edit(&mut valid, |parts| parts.groups = vec![group(entry.name, vec![flow(0, 1, None); flows])]);
        edit(&mut valid, |parts| {
            for flow in &mut parts.groups[0].members {
                flow.start = interval(10.0 - 1e-9, 10.0);
            }
        });
        let each = (idle(&valid) - without) / flows;
        // Controllers that model the path keep filters and intervals on the heap, up to another kilobyte.
        // The first one has none; sixteen bytes are the counts of marks.
        let most = if entry.name == cc::REGISTRY[0].name { 1024 + 16 } else { 2048 };
        assert!(each < most, "{}: {each} bytes for each idle flow", entry.name);
    }

    let mut valid = minimal(&queue, 10);
    edit(&mut valid, |parts| parts.schedule.duration = at(60.0));
    growth(&valid, ());
    let predictor = |name: &str| (name.to_string(), predict::Config::named(name).expect("a registered name"));
    let predictors: Vec<_> = predict::REGISTRY.iter().map(|entry| predictor(entry.name)).collect();
    let watched = Watched::flow(&valid, FlowId(0), &predictors, 1.0, 20).expect("a flow to watch");
    let packets = Packets { watched: Some(watched), ..Packets::from(valid.clone()) };
    growth(&valid, packets.watch(1));
}

/// Once warm, a run needs constant memory, with any observer.
fn growth(valid: &Valid, watch: impl Observer) {
    let mut simulation = Simulation::new(valid, 1, watch);
    simulation.advance(at(15.0));
    let warm = NOW.load(Ordering::Relaxed);
    MOST.store(warm, Ordering::Relaxed);
    simulation.advance(at(60.0));
    let most = MOST.load(Ordering::Relaxed);
    assert!(most <= warm + 131_072, "{most} bytes at most after {warm}");
}

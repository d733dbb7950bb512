// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Packets between the regions of a run, and the barrier between windows.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use crate::packet::Packet;
use crate::units::Time;

/// What the threads of a run share.
pub(super) struct Exchange {
    regions: usize,
    /// For windows of even and of odd numbers, from each region to each other: one is written while the other is read.
    boxes: Vec<Mutex<Vec<(Packet, Time)>>>,
    /// Threads that wait, and how often all have met.
    waiting: AtomicUsize,
    meetings: AtomicUsize,
    /// A region has ended, and meets no more.
    ended: AtomicBool,
    asleep: Mutex<()>,
    wake: Condvar,
}

/// Some tens of microseconds on most processors, in which other threads seldom fail to come unless the machine has other work.
const SPINS: u32 = 1 << 12;

impl Exchange {
    pub(super) fn new(regions: usize) -> Exchange {
        Exchange {
            regions,
            boxes: (0..2 * regions * regions).map(|_| Mutex::default()).collect(),
            waiting: AtomicUsize::new(0),
            meetings: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
            asleep: Mutex::default(),
            wake: Condvar::new(),
        }
    }

    /// Exchanges `packets` with the content of the box for packets of a window between two regions: the sender's is empty there, and the
    /// receiver's here.
    pub(super) fn swap(&self, window: usize, (from, to): (usize, usize), packets: &mut Vec<(Packet, Time)>) {
        let place = (window % 2 * self.regions + from) * self.regions + to;
        let mut there = self.boxes[place].lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut *there, packets);
    }

    /// Waits until all have come. False if one never will.
    pub(super) fn meet(&self) -> bool {
        let before = self.meetings.load(Ordering::Acquire);
        if self.waiting.fetch_add(1, Ordering::AcqRel) + 1 == self.regions {
            self.waiting.store(0, Ordering::Relaxed);
            self.meetings.store(before + 1, Ordering::Release);
            self.wake_all();
            return true;
        }
        let met = || self.meetings.load(Ordering::Acquire) != before;
        let over = || met() || self.ended.load(Ordering::Acquire);
        let mut spins = 0..SPINS;
        while !over() && spins.next().is_some() {
            std::hint::spin_loop();
        }
        let mut asleep = self.asleep.lock().unwrap_or_else(PoisonError::into_inner);
        while !over() {
            asleep = self.wake.wait(asleep).unwrap_or_else(PoisonError::into_inner);
        }
        met()
    }

    /// A region meets the others no more: none waits for it from now on.
    pub(super) fn end(&self) {
        self.ended.store(true, Ordering::Release);
        self.wake_all();
    }

    fn wake_all(&self) {
        // A thread that is about to sleep has looked before, or looks afterwards.
        drop(self.asleep.lock().unwrap_or_else(PoisonError::into_inner));
        self.wake.notify_all();
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Parallel work on as many threads as the machine allows. Where a limit allows fewer, the existing threads do all of
//! the work, in the extreme case the calling thread alone.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder};

use kneepoint::run::{Division, Region};
use kneepoint::study::identify::Crew;

use crate::machine;
use crate::session::Session;

/// Does this on this many threads at most, the calling one among them.
pub fn crew(session: &Session, most: usize, work: impl Fn() + Sync) {
    thread::scope(|scope| {
        for there in 1..most {
            if let Err(error) = Builder::new().spawn_scoped(scope, &work) {
                say(session, there, most, &error);
                break;
            }
        }
        work();
    });
}

fn say(session: &Session, there: usize, most: usize, error: &std::io::Error) {
    session.tell_of_threads(|| {
        format!(
            "note: {there} of {most} threads could be started, and do the work of all: {error}; `ulimit -u` and `ulimit -v` show the limits"
        )
    });
}

/// Results in order, on all cores.
pub fn map<T: Sync, R: Send>(session: &Session, items: &[T], make: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let made = Mutex::new(Vec::with_capacity(items.len()));
    crew(session, machine::cores().min(items.len()), || {
        while let Some((place, item)) = following(items, &next) {
            let result = make(item);
            made.lock().unwrap_or_else(PoisonError::into_inner).push((place, result));
        }
    });
    let mut made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    made.sort_by_key(|(place, _)| *place);
    made.into_iter().map(|(_, result)| result).collect()
}

impl Crew for Session {
    fn hands(&self) -> usize {
        machine::cores()
    }

    fn map<T: Sync, R: Send>(&self, items: &[T], make: impl Fn(&T) -> R + Sync) -> Vec<R> {
        map(self, items, make)
    }
}

fn following<'i, T>(items: &'i [T], next: &AtomicUsize) -> Option<(usize, &'i T)> {
    let place = next.fetch_add(1, Ordering::Relaxed);
    items.get(place).map(|item| (place, item))
}

/// Two results, computed concurrently if another thread is available.
pub fn both<A: Send, B>(one: impl Fn() -> A + Sync, other: impl FnOnce() -> B) -> (A, B) {
    thread::scope(|scope| match Builder::new().spawn_scoped(scope, &one) {
        Ok(beside) => {
            let other = other();
            (beside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), other)
        }
        Err(_) => (one(), other()),
    })
}

/// The results of a run's regions in order, each made on a thread of its own, the first on the calling one; none if the machine does not
/// allow that many threads.
pub fn regions<R: Send>(
    session: &Session,
    division: &mut Division,
    make: impl Fn(Region) -> R + Sync,
) -> Option<Vec<R>> {
    let count = division.count();
    let mut regions = division.regions().into_iter();
    let first = regions.next()?;
    // None begins unless all do.
    let part = |region: Region| region.gather().then(|| make(region));
    thread::scope(|scope| {
        let part = &part;
        let spawn = |region| Builder::new().spawn_scoped(scope, move || part(region));
        // Regions without a thread are dropped, for which those with one do not wait.
        let others = regions.map(spawn).collect::<Result<Vec<_>, _>>();
        let others = others.inspect_err(|error| say(session, 1, count, error)).ok()?;
        let first = part(first);
        let others = others
            .into_iter()
            .map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        std::iter::once(first).chain(others).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_with_any_threads() {
        let items: Vec<u64> = (0..1000).collect();
        let session = crate::program::session();
        assert_eq!(
            map(&session, &items, |item| item * 2),
            items.iter().map(|item| item * 2).collect::<Vec<_>>()
        );
        assert_eq!(map(&session, &[], |item: &u64| *item), Vec::<u64>::new());
        assert_eq!(both(|| 1, || 2), (1, 2));
    }

    #[test]
    fn a_crew_works_even_if_nobody_is_asked_for() {
        let (session, done) = (crate::program::session(), AtomicUsize::new(0));
        for most in [0, 1, 3] {
            crew(&session, most, || _ = done.fetch_add(1, Ordering::Relaxed));
        }
        assert_eq!(done.into_inner(), 5);
    }
}

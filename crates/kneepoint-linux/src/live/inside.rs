// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The state inside senders that report it: records of kernel programs in their ring buffer, under the laboratory's
//! names.
//!
//! A ring buffer has one reader, so of several runs at once with the same controller each sees a part.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::thread::Builder;
use std::time::{Duration, Instant};

use crate::emulator::Inside;
use crate::frame::Tuple;
use crate::kernel::{Reader, Record};

/// The time for which a reader waits for records.
const WAIT: Duration = Duration::from_millis(5);

/// The latest record by both ends.
type Latest = Arc<Mutex<BTreeMap<(SocketAddr, SocketAddr), Record>>>;

/// Reads what these controllers report until `end`; those that report nothing are left out.
pub(super) fn look(controls: &[&str], end: Instant) -> Inside {
    let latest = Latest::default();
    for control in controls {
        // Readers belong to their thread.
        let (control, known) = ((*control).to_string(), Arc::clone(&latest));
        let reading = move || {
            let Ok(reader) = Reader::open(&control) else { return };
            while Instant::now() < end {
                let Ok(records) = reader.take(WAIT) else { return };
                let mut all = known.lock().expect("no panic inside");
                all.extend(records.into_iter().map(|one| ((one.source, one.destination), one)));
            }
        };
        // Without a thread it reports nothing.
        let _ = Builder::new().spawn(reading);
    }
    Box::new(move |tuple: &Tuple| {
        let ends = (SocketAddr::new(tuple.from, tuple.ports.0), SocketAddr::new(tuple.to, tuple.ports.1));
        latest.lock().expect("no panic inside").get(&ends).map_or_else(Vec::new, state)
    })
}

fn state(record: &Record) -> Vec<(&'static str, f64)> {
    vec![
        ("srtt_ms", record.smoothed),
        ("min_rtt_ms", record.least),
        ("queueing_delay_ms", record.queueing),
        ("alpha_packets", record.alpha),
        ("probability", record.probability),
        ("early_responses", f64::from(record.early)),
    ]
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Writes down the packets of rings while hosts are at work.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::super::layout::{FAR, Point};
use super::super::ring::{Ring, Seen};
use super::super::sighting::{self, Sighting};

/// How often rings are emptied.
const PAUSE: Duration = Duration::from_millis(5);
/// How much is written at once. It is on its way before anything else happens, so that the instance never has much of it in memory.
const PIECE: usize = 1 << 22;

/// Rings with the points that are wanted of each.
pub(super) struct Recorder {
    rings: Vec<(Ring, Wanted)>,
    begins: u64,
    file: File,
    piece: Vec<u8>,
}

struct Wanted {
    points: BTreeSet<Point>,
    /// Whether it is the namespace of a host, where headers of packets that leave are wanted.
    host: bool,
}

impl Recorder {
    /// The run begins at this time of CLOCK_REALTIME.
    pub(super) fn new(
        rings: Vec<Ring>,
        points: Vec<(u32, Vec<Point>)>,
        begins: u64,
        file: &Path,
    ) -> io::Result<Recorder> {
        let wanted = points.into_iter().map(|(namespace, points)| Wanted {
            points: points.into_iter().collect(),
            host: namespace <= FAR,
        });
        let rings = rings.into_iter().zip(wanted).collect();
        Ok(Recorder { rings, begins, file: File::create(file)?, piece: Vec::new() })
    }

    /// Records until it is told to stop: how many packets found no room in their ring.
    pub(super) fn record(mut self, stopped: &AtomicBool) -> io::Result<u64> {
        let mut last = false;
        while !last {
            // What came before the stop is in the rings now, or in a block that the kernel hands over soon.
            last = stopped.load(Ordering::Acquire);
            thread::sleep(if last { PAUSE * 4 } else { PAUSE });
            for (ring, wanted) in &mut self.rings {
                let (begins, piece) = (self.begins, &mut self.piece);
                ring.take(|seen| wanted.write(&seen, begins, piece));
            }
            if last || self.piece.len() > PIECE {
                self.file.write_all(&self.piece)?;
                self.file.sync_data()?;
                self.piece.clear();
            }
        }
        let missed = self.rings.iter().map(|(ring, _)| ring.missed().map(u64::from));
        missed.sum()
    }
}

impl Wanted {
    fn write(&self, seen: &Seen, begins: u64, to: &mut Vec<u8>) {
        let point = Point { device: seen.device, leaving: seen.leaving };
        if !self.points.contains(&point) || seen.bytes.first().is_none_or(|first| first >> 4 != 4) {
            return;
        }
        let headers = &seen.bytes[..sighting::headers(seen.bytes)];
        let sighting = Sighting {
            at: seen.at.saturating_sub(begins),
            key: sighting::key(headers),
            point,
            size: seen.length as u16,
            class: seen.bytes[1],
            headers: if self.host && seen.leaving { headers.to_vec() } else { Vec::new() },
        };
        sighting.write(to);
    }
}

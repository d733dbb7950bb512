// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Writes down the packets of rings while hosts are at work.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::super::layout::{FAR, Point};
use super::super::ring::{Ring, Seen};
use super::super::sighting::{self, Sighting};
use super::{PACKETS, REACHED};

/// The interval at which rings are emptied.
const PAUSE: Duration = Duration::from_millis(5);
/// The size of one write. It is sent before anything else happens, so that the instance keeps little of it in
/// memory.
const PIECE: usize = 1 << 22;
/// Interval of progress reports of the run.
const TELLING: u64 = 100_000_000;

/// Rings with the points of observation of each.
pub(super) struct Recorder {
    rings: Vec<(Ring, Wanted)>,
    begins: u64,
    file: File,
    piece: Vec<u8>,
    reached: Reached,
}

/// The progress of the run, by the last packet: reading a clock would take time.
struct Reached {
    file: File,
    latest: u64,
    told: u64,
}

struct Wanted {
    points: BTreeSet<Point>,
    /// Whether it is the namespace of a host, where headers of outgoing packets are recorded.
    host: bool,
}

impl Recorder {
    /// The run begins at this time of CLOCK_REALTIME, and records go into a folder.
    pub(super) fn new(
        rings: Vec<Ring>,
        points: Vec<(u32, Vec<Point>)>,
        begins: u64,
        folder: &Path,
    ) -> io::Result<Recorder> {
        let wanted = points.into_iter().map(|(namespace, points)| Wanted {
            points: points.into_iter().collect(),
            host: namespace <= FAR,
        });
        let rings = rings.into_iter().zip(wanted).collect();
        let reached = Reached { file: File::create(folder.join(REACHED))?, latest: 0, told: 0 };
        Ok(Recorder { rings, begins, file: File::create(folder.join(PACKETS))?, piece: Vec::new(), reached })
    }

    /// Records until it is stopped; returns the number of packets that found no room in their ring.
    pub(super) fn record(mut self, stopped: &AtomicBool) -> io::Result<u64> {
        let mut last = false;
        while !last {
            // Packets from before the stop are in the rings now, or in a block that the kernel passes on soon.
            last = stopped.load(Ordering::Acquire);
            thread::sleep(if last { PAUSE * 4 } else { PAUSE });
            for (ring, wanted) in &mut self.rings {
                let (begins, piece, reached) = (self.begins, &mut self.piece, &mut self.reached);
                ring.take(|seen| {
                    reached.latest = reached.latest.max(seen.at.saturating_sub(begins));
                    wanted.write(&seen, begins, piece);
                });
            }
            self.reached.tell()?;
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

impl Reached {
    fn tell(&mut self) -> io::Result<()> {
        if self.latest < self.told + TELLING {
            return Ok(());
        }
        self.told = self.latest;
        self.file.write_all_at(&self.told.to_le_bytes(), 0)?;
        self.file.sync_data()
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

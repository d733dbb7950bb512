// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Makes captures: one transfer of each controller over each link, kept as `CONTROLLER-RATE-RTT-BUFFER.pcapng`.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use kneepoint::capture::Blocks;
use kneepoint::scenario;
use kneepoint::spec::Valid;
use kneepoint::units::{Span, Time};
use kneepoint_linux::emulator::{Capture, Side};
use kneepoint_linux::live::{Plan, Transfer, available, experiment_captured, missing};
use kneepoint_linux::uml::{self, Kernel, Prepared, Recipe, Station};
use rayon::prelude::*;

use super::super::own_name;

/// Rates in Mbit/s, round trips in ms, buffers in hundredths of a BDP.
pub(super) const RATES: [u32; 5] = [5, 10, 20, 50, 100];
pub(super) const ROUND_TRIPS: [u32; 2] = [20, 60];
const BUFFERS: [u32; 2] = [50, 100];
/// How long a transfer takes; at the greatest rate the first is long enough.
const SHORTER: (u32, u32) = (100, 8);
const SECONDS: u32 = 12;
/// Attempts at a capture that the link's lateness does not spoil.
const ATTEMPTS: u64 = 3;
/// More seeds than there are captures.
const SEEDS: u64 = 1000;
/// The ending of the captures.
pub(super) const ENDING: &str = "pcapng";

/// The file that says whose captures a folder has.
const ABOUT: &str = "kernel";
/// How it ends for a Linux in virtual time.
pub(super) const VIRTUAL: &str = ", in virtual time";

/// A capture to make.
pub(super) struct Wanted {
    pub(super) controller: String,
    pub(super) rate: u32,
    pub(super) rtt: u32,
    buffer: u32,
}

/// Every frame at the sender's host, in a file.
struct Taps {
    blocks: Blocks<BufWriter<File>>,
    failure: Option<std::io::Error>,
}

impl Capture for Taps {
    fn frame(&mut self, side: Side, at: Time, bytes: &[u8]) {
        // Only the sender's host: the vantage point that identification is for.
        if side == Side::Near && self.failure.is_none() {
            self.failure = self.blocks.packet(0, at, &bytes[..bytes.len().min(KEPT)], length(bytes)).err();
        }
    }
}

/// The length of a packet: a Linux in virtual time passes on headers alone, and those of IPv4 have it (RFC 791 §3.1).
fn length(bytes: &[u8]) -> u32 {
    let told = match bytes {
        [version, _, high, low, ..] if version >> 4 == 4 => u32::from(u16::from_be_bytes([*high, *low])),
        _ => 0,
    };
    told.max(bytes.len() as u32)
}

/// Bytes of a packet that are kept: its headers.
const KEPT: usize = 120;

/// The hosts of captures.
enum Hosts {
    /// This machine's kernel, over a link in real time.
    Running,
    /// A Linux in virtual time, which nothing disturbs.
    Virtual(Box<(Kernel, Station)>),
}

/// Makes the captures that a folder lacks, of the controllers that the kernel has.
pub(super) fn make(dir: &Path, in_virtual_time: bool) -> Result<(), String> {
    std::fs::create_dir_all(dir).map_err(|error| fault(dir, &error))?;
    let (hosts, about, known) = if in_virtual_time { built()? } else { running()? };
    match std::fs::read_to_string(dir.join(ABOUT)) {
        Ok(other) if other != about => {
            return Err(format!(
                "{} has captures of {other}, not of {about}: take another folder",
                dir.display()
            ));
        }
        _ => std::fs::write(dir.join(ABOUT), about).map_err(|error| fault(dir, &error))?,
    }
    let lacks = |(_, one): &(u64, Wanted)| !dir.join(one.file_name()).exists();
    // Each has a seed of its own: clocks of connections begin at random, and TCP-LP is known to depend on them.
    let wanted: Vec<(u64, Wanted)> = (1..).zip(wanted(&known)).filter(lacks).collect();
    match &hosts {
        // One link at a time: others would make it late.
        Hosts::Running => wanted.iter().try_for_each(|(seed, one)| one.capture(dir, *seed, &hosts)),
        Hosts::Virtual(_) => wanted.par_iter().try_for_each(|(seed, one)| one.capture(dir, *seed, &hosts)),
    }
}

/// The kernel of a folder's captures.
pub(super) fn kernel(dir: &Path) -> Result<String, String> {
    let file = dir.join(ABOUT);
    std::fs::read_to_string(&file).map_err(|error| {
        format!("{}; it says whose captures these are: make them with --record", fault(&file, &error))
    })
}

fn fault(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

/// This machine's kernel, its name, and its controllers.
fn running() -> Result<(Hosts, String, Vec<String>), String> {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let known = available();
    let lacking = lacking(&known);
    if !lacking.is_empty() {
        eprintln!("SKIPPED, because the kernel lacks them: {}", lacking.join(" "));
    }
    let controllers: Vec<&str> = known.iter().map(String::as_str).collect();
    if let Some(why) = missing(&controllers) {
        return Err(format!("no capture can be made: {why}"));
    }
    let about = format!("Linux {}", release.trim().split('-').next().unwrap_or_default());
    Ok((Hosts::Running, about, known))
}

/// The Linux in virtual time, its name, and mainline's controllers.
fn built() -> Result<(Hosts, String, Vec<String>), String> {
    let found = uml::cache().map(|cache| Recipe::new(Vec::new()).find(&cache)).transpose();
    let kernel = found.map_err(|error| error.to_string())?.flatten();
    let kernel = kernel.ok_or("the kernel for virtual time is not built: `knee doctor --build-uml`")?;
    let about = format!("{}{VIRTUAL}", kernel.about);
    let station = Station::open().map_err(|error| error.to_string())?;
    Ok((Hosts::Virtual(Box::new((kernel, station))), about, uml::LINUX.map(String::from).to_vec()))
}

/// The controllers of mainline Linux that a kernel lacks, by its names.
fn lacking(known: &[String]) -> Vec<&'static str> {
    uml::LINUX.into_iter().filter(|name| !known.iter().any(|one| one == name)).collect()
}

fn wanted(controllers: &[String]) -> Vec<Wanted> {
    let mut wanted = Vec::new();
    for rate in RATES {
        for rtt in ROUND_TRIPS {
            for buffer in BUFFERS {
                let one = |controller: &String| Wanted { controller: controller.clone(), rate, rtt, buffer };
                wanted.extend(controllers.iter().map(one));
            }
        }
    }
    wanted
}

impl Wanted {
    fn file_name(&self) -> String {
        format!("{}-{}mbit-{}ms-{}.{ENDING}", self.controller, self.rate, self.rtt, self.buffer)
    }

    /// The controller, the rate and the round trip that a file's name says.
    pub(super) fn of(file: &Path) -> Option<Wanted> {
        let stem = file.file_stem()?.to_str()?;
        let mut words = stem.rsplitn(4, '-');
        let buffer = words.next()?.parse().ok()?;
        let rtt = words.next()?.strip_suffix("ms")?.parse().ok()?;
        let rate = words.next()?.strip_suffix("mbit")?.parse().ok()?;
        Some(Wanted { controller: words.next()?.to_string(), rate, rtt, buffer })
    }

    fn seconds(&self) -> u32 {
        if self.rate >= SHORTER.0 { SHORTER.1 } else { SECONDS }
    }

    fn valid(&self) -> Result<Valid, String> {
        let text = format!(
            "[run]\nduration = \"{0}s\"\nmeasure = \"0s..{0}s\"\n[topology]\nkind = \"dumbbell\"\nrate = \"{1}mbit\"\nrtt = \"{2}ms\"\n\
             buffer = \"{3}bdp\"\naccess = \"full\"\n[tcp]\npreset = \"linux\"\n[[flows]]\ncc = \"{4}\"\n",
            self.seconds(),
            self.rate,
            self.rtt,
            f64::from(self.buffer) / 100.0,
            own_name(&self.controller)
        );
        let plan = scenario::parse(&text)
            .map_err(|faults| faults.iter().map(|one| one.message.clone()).collect::<Vec<_>>().join("; "))?;
        Ok(plan.cases.into_iter().next().ok_or("a plan without a case")?.valid)
    }

    /// Makes the capture, again with another seed if the run does not count. An unfinished one has another name.
    fn capture(&self, dir: &Path, seed: u64, hosts: &Hosts) -> Result<(), String> {
        let (name, part) = (self.file_name(), dir.join(format!("{}.part", self.file_name())));
        for attempt in 0..ATTEMPTS {
            let spoiled =
                self.attempt(&part, seed + attempt * SEEDS, hosts).map_err(|error| fault(&part, &error))?;
            match spoiled {
                None => return std::fs::rename(&part, dir.join(name)).map_err(|error| fault(&part, &error)),
                Some(why) => eprintln!("{name}: {why}"),
            }
        }
        std::fs::remove_file(&part).map_err(|error| fault(&part, &error))?;
        eprintln!("SKIPPED, because the run did not count: {name}");
        Ok(())
    }

    /// Makes the capture; the reason why it does not count, if it does not.
    fn attempt(&self, file: &Path, seed: u64, hosts: &Hosts) -> io::Result<Option<String>> {
        let valid = self.valid().map_err(io::Error::other)?;
        let way = valid.groups()[0].pairs[0];
        let mut taps =
            Taps { blocks: Blocks::new(BufWriter::new(File::create(file)?), &["sender"])?, failure: None };
        let transfers = vec![Transfer::endless(&self.controller, Span::ZERO, 0, way)];
        let plan = Plan { transfers, ..Plan::default() };
        let spoiled = match hosts {
            Hosts::Running => experiment_captured(&valid, seed, plan, (), &mut taps, &|| false)?.spoiled,
            Hosts::Virtual(of) => {
                let prepared = Prepared::new(&valid, seed, plan).map_err(io::Error::other)?;
                prepared.run_captured(&valid, seed, (&of.0, &of.1), (), &mut taps, &|_| false)?.spoiled
            }
        };
        taps.failure.map_or(Ok(()), Err)?;
        taps.blocks.finish()?;
        Ok(spoiled)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use kneepoint::study::identify::MAINLINE;
    use kneepoint_linux::uml::LINUX;

    use super::*;

    #[test]
    fn a_file_is_named_so_that_its_setting_is_read_from_it() {
        for one in wanted(&["bbr".to_string()]) {
            let read = Wanted::of(Path::new(&one.file_name())).unwrap();
            assert_eq!(read.file_name(), one.file_name());
            assert_eq!((read.rate, read.rtt, read.buffer), (one.rate, one.rtt, one.buffer));
            assert!(one.valid().is_ok(), "{:?}", one.valid().err());
        }
    }

    #[test]
    fn what_the_kernel_lacks_is_named() {
        let known = ["reno", "cubic", "bbr"].map(String::from);
        let lacking = lacking(&known);
        assert_eq!(lacking.len(), 14);
        assert!(lacking.contains(&"westwood") && !lacking.contains(&"bbr"));
    }

    #[test]
    fn candidates_are_the_controllers_of_linux() {
        assert_eq!(BTreeSet::from(MAINLINE.map(String::from)), BTreeSet::from(LINUX.map(own_name)));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Captures of this machine's kernel: one transfer of each controller over each emulated link, kept as `CONTROLLER-RATE-RTT-BUFFER.pcapng`.

use std::fmt::Write as _;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use kneepoint::capture::Blocks;
use kneepoint::scenario;
use kneepoint::spec::Valid;
use kneepoint::units::{Span, Time};
use kneepoint_linux::emulator::{Capture, Side};
use kneepoint_linux::live::{Plan, Transfer, available, experiment_captured, missing};

use super::{Folder, HEADINGS, Labelled, Tried, by_sender, candidates, cells, own_name, slowest, try_all};

/// Capture transfers of this machine's kernel, and try identification on them.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    folder: Folder,
    /// Make the captures that the folder lacks, as root (15 minutes for three controllers)
    #[arg(long)]
    record: bool,
}

/// Rates in Mbit/s, round trips in ms, buffers in hundredths of a BDP.
const RATES: [u32; 5] = [5, 10, 20, 50, 100];
const ROUND_TRIPS: [u32; 2] = [20, 60];
const BUFFERS: [u32; 2] = [50, 100];
/// How long a transfer takes; at the greatest rate the first is long enough.
const SHORTER: (u32, u32) = (100, 8);
const SECONDS: u32 = 12;
/// Attempts at a capture that the link's lateness does not spoil.
const ATTEMPTS: u32 = 3;
/// The ending of the captures.
const ENDING: &str = "pcapng";

/// A capture to make.
struct Wanted {
    controller: String,
    rate: u32,
    rtt: u32,
    buffer: u32,
}

/// Every frame at both hosts, in a file.
struct Taps {
    blocks: Blocks<BufWriter<File>>,
    failure: Option<std::io::Error>,
}

impl Capture for Taps {
    fn frame(&mut self, side: Side, at: Time, bytes: &[u8]) {
        // Only the sender's host: the vantage point that identification is for.
        if side == Side::Near && self.failure.is_none() {
            let kept = &bytes[..bytes.len().min(KEPT)];
            self.failure = self.blocks.packet(0, at, kept, bytes.len() as u32).err();
        }
    }
}

/// Bytes of a packet that are kept: its headers.
const KEPT: usize = 120;

pub fn run(Arguments { folder, record: makes }: &Arguments) -> Result<bool, String> {
    let all = candidates()?;
    if *makes {
        record(&folder.dir)?;
    }
    let files = files(&folder.dir)?;
    if files.is_empty() {
        return Err(format!("{} has no captures: make them with --record", folder.dir.display()));
    }
    let text = report(&try_all(&files, &all, folder.each)?);
    folder.tell("kernel", &text)
}

/// Every capture, of the controllers that the kernel has.
fn record(dir: &Path) -> Result<(), String> {
    std::fs::create_dir_all(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    let known = available();
    let lacking = lacking(&known);
    if !lacking.is_empty() {
        eprintln!("SKIPPED, because the kernel lacks them: {}", lacking.join(" "));
    }
    let controllers: Vec<&str> = known.iter().map(String::as_str).collect();
    if let Some(why) = missing(&controllers) {
        return Err(format!("no capture can be made: {why}"));
    }
    for one in wanted(&known) {
        let file = dir.join(one.file_name());
        if !file.exists() {
            one.capture(&file)?;
        }
    }
    Ok(())
}

/// The controllers of mainline Linux that a kernel lacks, by its names.
fn lacking(known: &[String]) -> Vec<&'static str> {
    kneepoint_linux::uml::LINUX.into_iter().filter(|name| !known.iter().any(|one| one == name)).collect()
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
    fn of(file: &Path) -> Option<Wanted> {
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

    /// Makes the capture, again if the link was late.
    fn capture(&self, file: &Path) -> Result<(), String> {
        let fault = |error: std::io::Error| format!("{}: {error}", file.display());
        let valid = self.valid()?;
        let way = valid.groups()[0].pairs[0];
        for _ in 0..ATTEMPTS {
            let writer = BufWriter::new(File::create(file).map_err(fault)?);
            let mut taps = Taps { blocks: Blocks::new(writer, &["sender"]).map_err(fault)?, failure: None };
            let transfers = vec![Transfer::endless(&self.controller, Span::ZERO, 0, way)];
            let plan = Plan { transfers, ..Plan::default() };
            let seen = experiment_captured(&valid, 1, plan, (), &mut taps, &|| false).map_err(fault)?;
            if let Some(failure) = taps.failure {
                return Err(fault(failure));
            }
            taps.blocks.finish().map_err(fault)?;
            match seen.spoiled {
                None => return Ok(()),
                Some(why) => eprintln!("{}: {why}", self.file_name()),
            }
        }
        std::fs::remove_file(file).map_err(fault)?;
        eprintln!("SKIPPED, because this machine was too busy for its link: {}", self.file_name());
        Ok(())
    }
}

/// The captures of a folder, with rates in kbit/s.
fn files(dir: &Path) -> Result<Vec<Labelled>, String> {
    let entries = std::fs::read_dir(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    let ours = |file: PathBuf| {
        let made = Wanted::of(&file).filter(|_| file.extension().is_some_and(|ending| ending == ENDING))?;
        Some(Labelled { file, delay: made.rtt, rate: made.rate * 1000, label: made.controller })
    };
    let mut found: Vec<_> = entries.flatten().filter_map(|entry| ours(entry.path())).collect();
    found.sort_by(|one, other| one.file.cmp(&other.file));
    Ok(found)
}

fn report(tried: &[Tried]) -> String {
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut labels: Vec<String> = tried.iter().map(|one| one.label.clone()).collect();
    labels.sort();
    labels.dedup();
    let lacking: Vec<String> =
        kneepoint_linux::uml::LINUX.map(own_name).into_iter().filter(|name| !labels.contains(name)).collect();
    let mut text = format!(
        "Linux {}. **Not judged**, because the kernel lacks them: {}.\n\n| Mbit/s | {HEADINGS}",
        kernel.trim().split('-').next().unwrap_or_default(),
        if lacking.is_empty() { "none".into() } else { lacking.join(", ") }
    );
    for rate in RATES.map(|rate| rate * 1000) {
        let _ =
            writeln!(text, "| {} | {} |", rate / 1000, cells(tried.iter().filter(|one| one.rate == rate)));
    }
    let _ = writeln!(text, "| all | {} |", cells(tried.iter()));
    let _ = write!(text, "\n{}\n{}", by_sender(tried), slowest(tried));
    text
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
        assert_eq!(BTreeSet::from(MAINLINE.map(String::from)), BTreeSet::from(LINUX.map(super::own_name)));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The overhead of a study: how long `knee` takes to the first run, how well many runs fill the cores, and how long
//! reading them back and writing the report takes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A study of 200 runs, each some 50 ms.
const STUDY: &str = r#"
[run]
duration = "30s"
measure = "5s..30s"
seeds = 50
[topology]
kind = "dumbbell"
rate = "50mbit"
rtt = "60ms"
[[flows]]
name = "long"
count = 30
start = "0s..5s"
[sweep]
scheme = ["reno", "cubic", "pert", "vegas"]
"#;

/// Its runs.
const RUNS: u32 = 200;

/// The number of times that the study is timed.
const ROUNDS: usize = 5;

/// Starts of the program that are timed.
const STARTS: usize = 20;

/// The measurements of a study.
pub struct Study {
    start: Duration,
    cores: usize,
    alone: Duration,
    together: Duration,
    /// As many studies as there are cores, one job each, at the same time: what the machine itself loses when all cores
    /// work.
    apart: Duration,
    report: Duration,
    bytes_per_run: f64,
}

/// Runs the study by this program with one job and with one for each core, and once more when all its runs are kept.
pub fn measure(knee: &Path) -> Result<Study, String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/bench");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let file = folder.join("study.toml");
    fs::write(&file, STUDY).map_err(|error| error.to_string())?;
    let store = folder.join("runs");
    let study_in = |kept: &Path, jobs: usize, fresh: bool| {
        let mut command = Command::new(knee);
        command.arg("run").arg(&file).args(["--jobs", &jobs.to_string()]).args(fresh.then_some("--fresh"));
        timed(command.arg("--store").arg(kept).arg("--out").arg(kept.with_extension("out")))
    };
    let study = |jobs, fresh| study_in(&store, jobs, fresh);
    let starts = (0..STARTS).map(|_| timed(Command::new(knee).arg("check").arg(&file)));
    let start = starts.collect::<Result<Vec<_>, _>>()?.into_iter().min().unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let side_by_side = || {
        let times = std::thread::scope(|scope| {
            let one = |place| study_in(&folder.join(format!("runs-{place}")), 1, true);
            let all: Vec<_> = (0..cores).map(|place| scope.spawn(move || one(place))).collect();
            let times =
                all.into_iter().map(|thread| thread.join().map_err(|_| "a study broke off".to_string())?);
            times.collect::<Result<Vec<_>, _>>()
        })?;
        Ok::<_, String>(times.into_iter().max().unwrap_or_default())
    };
    eprintln!(
        "a study of {RUNS} runs, {ROUNDS} times: one job, {cores} jobs, none, and one job on each core"
    );
    // The least of each, since other load only adds.
    let mut least = [Duration::MAX; 4];
    for _ in 0..ROUNDS {
        let round = [study(1, true)?, study(cores, true)?, study(cores, false)?, side_by_side()?];
        least = std::array::from_fn(|place| least[place].min(round[place]));
    }
    let [alone, together, report, apart] = least;
    let bytes_per_run = size(&store) as f64 / f64::from(RUNS);
    Ok(Study { start, cores, alone, together, apart, report, bytes_per_run })
}

impl Study {
    /// The measurements as a Markdown table.
    pub fn table(&self) -> String {
        // One job's time over that of all cores together.
        let efficiency =
            |one: Duration| one.as_secs_f64() / (self.together.as_secs_f64() * self.cores as f64);
        format!(
            "| a study of {RUNS} runs | |\n|---|---:|\n\
             | from the start of `knee` to the first run | {:.1} ms |\n\
             | one job, with the report on all cores | {:.2} s |\n\
             | {} jobs, one for each core | {:.2} s |\n\
             | efficiency over cores | {:.1} % |\n\
             | {} studies at once, one job each | {:.2} s |\n\
             | efficiency compared with that | {:.1} % |\n\
             | all runs kept: reading them, the report, its figures and tables | {:.2} s |\n\
             | a kept run | {:.1} kB |\n",
            1e3 * self.start.as_secs_f64(),
            self.alone.as_secs_f64(),
            self.cores,
            self.together.as_secs_f64(),
            100.0 * efficiency(self.alone),
            self.cores,
            self.apart.as_secs_f64(),
            100.0 * efficiency(self.apart),
            self.report.as_secs_f64(),
            self.bytes_per_run / 1e3,
        )
    }
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn timed(command: &mut Command) -> Result<Duration, String> {
    let began = Instant::now();
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(began.elapsed()),
        Ok(status) => Err(format!("{command:?}: {status}")),
        Err(error) => Err(format!("{command:?}: {error}")),
    }
}

/// The size of all files below a folder.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(data) if data.is_dir() => size(&entry.path()),
        Ok(data) => data.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

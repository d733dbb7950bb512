// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Options of the verbs that make runs: the number in parallel, the store, and the machines that make them.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use kneepoint::study::precision;
use kneepoint::units::{Bytes, Span};
use kneepoint_bench::cluster::Cluster;
use kneepoint_bench::conductor;
pub use kneepoint_bench::means::{Means, Shard, Sweep};

use crate::values::of_range;

/// The time limit of a study with a requested precision and no requested time.
pub const USUAL_BUDGET: Duration = Duration::from_mins(5);

/// Times in which a study can begin runs.
const BUDGETS: RangeInclusive<Span> = Span::from_millis(1)..=Span::from_secs(1_000_000);

/// The remark on the forecast of a study that runs further seeds until it is precise: the forecast is of the first seeds.
pub fn first_seeds(count: usize, wanted: &str, sweep: &Sweep) -> String {
    let ends = sweep
        .budget
        .map_or(String::new(), |budget| format!(", and no run begins after {}", conductor::people(budget)));
    format!(
        "these are the runs of the first {count} seeds; until the intervals are within {wanted} further ones are run, {} seeds at most{ends}",
        precision::MOST.max(count)
    )
}

/// Options of every verb that makes runs.
#[derive(Args, Clone)]
pub struct MeansOptions {
    /// Parallel runs, or threads of a large one [default: one per core]
    #[arg(long, value_name = "N", value_parser = of_range::<u16>(1..=1024), overrides_with = "jobs")]
    jobs: Option<u16>,
    /// Repeat kept runs
    #[arg(long)]
    fresh: bool,
    /// Directory of kept runs, shared by all verbs [default: $KNEE_STORE, or out/runs]
    ///
    /// Each run is kept there as soon as it ends, under a name derived from all its inputs. A kept run is read back
    /// instead of being simulated: by the same command after an interruption, and by any other. A damaged file is
    /// set aside as NAME.json.bad and named, and its run is made again.
    #[arg(long, value_name = "DIR", overrides_with = "store")]
    store: Option<PathBuf>,
    /// Memory that the runs may take together, as in 4gb [default: three quarters of the available memory]
    ///
    /// It is estimated beforehand: fewer runs are made in parallel if not all fit, and a run that does not fit alone
    /// is refused. A run that grows beyond its limit is stopped. Available is the least of the machine's free memory,
    /// the control
    /// group's, and half of the room below `ulimit -v`. On a cluster this is the memory of each worker, which makes one
    /// run at a time.
    #[arg(long, value_name = "SIZE", overrides_with = "memory")]
    memory: Option<Bytes>,
}

/// Options of the verbs that sweep: their runs may be made elsewhere, and counted in advance.
#[derive(Args, Clone)]
pub struct SweepOptions {
    #[command(flatten)]
    means: MeansOptions,
    /// Make only runs I, I+N, I+2N, … of the study, unless they are kept already: for several machines with one store
    ///
    /// Each of N machines is given a number I from 1 to N. The last to finish, or the same command without it, reports.
    #[arg(long, value_name = "I/N", conflicts_with_all = ["fresh", "on"])]
    shard: Option<Shard>,
    /// Make the runs on a Ray cluster: `ray` is this machine or $RAY_ADDRESS, `ray://HOST[:PORT]` one that is running, by default at port 10001
    ///
    /// The store may then be a URL that fsspec supports, as in `--store s3://bucket/runs`; out/runs has copies.
    /// The Python package has the runs made: `pip install 'ray[client]' fsspec`. It is searched next to this program,
    /// then with python3; $KNEE_PYTHON names another interpreter. Scenarios, and the files that they name, are on the
    /// same paths everywhere.
    #[arg(long, value_name = "CLUSTER")]
    on: Option<Cluster>,
    /// Begin no run after this much time; the report is about those that ended [default: none, or 5min with --precision]
    #[arg(long, value_name = "TIME", value_parser = of_range(BUDGETS))]
    budget: Option<Span>,
    /// Print the number of runs, who would make them, how many are kept, and the time and memory of the others; run and write nothing
    #[arg(long)]
    dry_run: bool,
}

impl SweepOptions {
    /// Whether runs are only counted.
    pub fn dry_run(&self) -> bool {
        self.dry_run
    }
}

impl From<&MeansOptions> for Means {
    fn from(options: &MeansOptions) -> Means {
        let MeansOptions { jobs, fresh, store, memory } = options.clone();
        Means { jobs, fresh, store, memory }
    }
}

/// Runs that are made here.
impl From<&MeansOptions> for Sweep {
    fn from(options: &MeansOptions) -> Sweep {
        Means::from(options).into()
    }
}

impl From<&SweepOptions> for Sweep {
    fn from(options: &SweepOptions) -> Sweep {
        let SweepOptions { means, shard, on, budget, .. } = options;
        let budget = budget.map(|budget| Duration::from_nanos(budget.0));
        Sweep { means: means.into(), shard: *shard, on: on.clone(), budget }
    }
}

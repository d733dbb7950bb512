// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The options of a comparison.

use clap::{Args, ValueEnum};
use kneepoint::study::FOLLOWED;
use kneepoint::study::precision::Precision;

use super::each::Format;
use crate::figure::FigureOptions;
use crate::means::{Sweep, SweepOptions, USUAL_BUDGET};
use crate::pictures::ChartOptions;
use crate::values::of_range;

/// Options of every comparison.
#[derive(Args)]
pub struct ComparisonOptions {
    #[command(flatten)]
    pub(super) sweep: SweepOptions,
    /// Run further seeds until the 95 % intervals of the headline metrics have at most this half-width: a part of the mean, or points of a fraction
    ///
    /// `2%` applies to all of them, `utilization=1%,delay=5%` to two, `completion_time_p50_ms=5%` to each group's median completion time. There are
    /// eight seeds at least, also where `--seeds` asks for fewer, since fewer stop by chance, and twice as many in each round at most. The report
    /// names the number that was last.
    #[arg(long, value_name = "PART|METRIC=PART,…")]
    pub(super) precision: Option<Precision>,
    /// Formats of the sampled series
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "FORMAT",
        default_value = "csv,parquet",
        ignore_case = true
    )]
    pub(super) series: Vec<Format>,
    /// Number of flows of each group whose windows are sampled and drawn, the first and the last among them
    #[arg(long, value_name = "N", default_value_t = FOLLOWED as u32, value_parser = of_range::<u32>(0..=1000))]
    pub(super) show_flows: u32,
    #[command(flatten)]
    pub(super) charts: ChartOptions,
    #[command(flatten)]
    pub(super) figure: FigureOptions,
    /// Write the packets of this link to a pcapng file per run, for Wireshark (repeatable)
    ///
    /// Captures are not kept, so every run is simulated.
    #[arg(long, value_name = "LINK")]
    pub(super) pcap: Vec<String>,
    /// Write the sender's events of this flow to a qlog file per run, as a QUIC stack would (repeatable)
    ///
    /// They are not kept, so every run is simulated.
    #[arg(long, value_name = "GROUP/PLACE")]
    pub(super) qlog: Vec<String>,
    /// Write each completed transfer of each run to a file: group, begin, size, completion time
    ///
    /// They are not kept, so every run is simulated.
    #[arg(long)]
    pub(super) objects: bool,
    /// Lay a theory over the packets: the fluid model of each row that has one, with the error
    #[arg(long, value_enum, value_name = "THEORY", ignore_case = true)]
    pub(super) overlay: Option<Overlay>,
}

impl ComparisonOptions {
    /// The means of the study. A study that continues until it is precise has a budget.
    pub(super) fn sweep(&self) -> Sweep {
        Sweep::from(&self.sweep).within(self.precision.as_ref().map(|_| USUAL_BUDGET))
    }

    /// Whether packets of some link or flow must be written.
    pub fn captures(&self) -> bool {
        !(self.pcap.is_empty() && self.qlog.is_empty())
    }
}

/// Theories to lay over packets.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Overlay {
    /// The fluid model that describes controller and queue
    Fluid,
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The cells of `validation/linux-virtual/results.csv`: a link, a queue, controllers, and the kernel's result.

use std::path::Path;

const RESULTS: &str = "validation/linux-virtual/results.csv";

/// The compared figures, of one run or as the mean of several.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Share of the link's capacity.
    pub utilization: f64,
    /// The time that the mean backlog takes at the link's rate.
    pub delay_ms: f64,
    /// Packets dropped by the queue.
    pub drops: f64,
    /// Packets marked by the queue.
    pub marks: f64,
    /// Jain's index of the flows' goodputs.
    pub jain: f64,
    /// The part of the goodput that flows of the first controller have.
    pub share: f64,
}

/// A link.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Its name in the results.
    name: &'static str,
    pub rate_mbit: u64,
    pub rtt_ms: u64,
    /// The buffer of a plain queue, one product of rate and round trip in packets.
    pub buffer: u32,
    /// RED's thresholds in packets, and the weight that `tc` chose.
    pub red: (u32, u32, f64),
}

const LINKS: [Link; 2] = [
    Link { name: "20M50", rate_mbit: 20, rtt_ms: 50, buffer: 83, red: (20, 60, 1.0 / 128.0) },
    Link { name: "100M20", rate_mbit: 100, rtt_ms: 20, buffer: 166, red: (40, 120, 1.0 / 256.0) },
];

/// A cell of the matrix.
#[derive(Clone, Debug)]
pub struct Cell {
    pub link: Link,
    /// The kernel's queue: `fq_codel`.
    pub queue: String,
    /// Whether hosts negotiate ECN and the queue marks.
    pub ecn: bool,
    /// Controllers and how many flows each has.
    pub mix: Vec<(String, u32)>,
    /// The start of each flow in each run, in seconds.
    pub starts: Vec<Vec<f64>>,
    /// The means of the kernel's runs.
    pub kernel: Figures,
}

impl Cell {
    /// `20M50 fq_codel+ecn 2 reno + 2 cubic`
    pub fn name(&self) -> String {
        let mix: Vec<String> = self.mix.iter().map(|(cc, count)| format!("{count} {cc}")).collect();
        let ecn = if self.ecn { "+ecn" } else { "" };
        format!("{} {}{ecn} {}", self.link.name, self.queue, mix.join(" + "))
    }

    /// Flows of all controllers.
    pub fn flows(&self) -> u32 {
        self.mix.iter().map(|(_, count)| count).sum()
    }

    /// The controller of each flow.
    pub fn controllers(&self) -> impl Iterator<Item = &str> {
        self.mix.iter().flat_map(|(cc, count)| (0..*count).map(move |_| cc.as_str()))
    }

    fn read(line: &str) -> Option<Cell> {
        let fields: Vec<&str> = line.split(',').collect();
        let [link, queue, mix, starts, figures @ ..] = fields.as_slice() else { return None };
        let numbers = figures.iter().map(|one| one.parse().ok()).collect::<Option<Vec<f64>>>()?;
        let &[utilization, delay_ms, drops, marks, jain, share] = numbers.as_slice() else { return None };
        let run = |run: &str| run.split(' ').map(|start| start.parse().ok()).collect::<Option<Vec<f64>>>();
        let party = |party: &str| {
            let (count, cc) = party.split_once(' ')?;
            Some((cc.to_string(), count.parse().ok()?))
        };
        Some(Cell {
            link: *LINKS.iter().find(|one| one.name == *link)?,
            queue: queue.strip_suffix("+ecn").unwrap_or(queue).into(),
            ecn: queue.ends_with("+ecn"),
            mix: mix.split(" + ").map(party).collect::<Option<_>>()?,
            starts: starts.split(';').map(run).collect::<Option<_>>()?,
            kernel: Figures { utilization, delay_ms, drops, marks, jain, share },
        })
    }
}

/// All cells.
pub fn cells() -> Result<Vec<Cell>, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(RESULTS);
    let text = std::fs::read_to_string(path).map_err(|error| format!("{RESULTS}: {error}"))?;
    let numbered = text.lines().enumerate().skip(1);
    let cell = |(place, line)| Cell::read(line).ok_or_else(|| format!("{RESULTS}:{}: no cell", place + 1));
    numbered.map(cell).collect()
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A cell in the simulator.

use kneepoint::measure::{Meter, Subject};
use kneepoint::scenario;
use kneepoint::spec::Valid;
use kneepoint::table::Row;
use kneepoint::units::{Bytes, Rate};

use super::cell::{Cell, Figures, Link};
use super::jain;

/// A full packet, in the kernel's runs and in ours.
const PACKET: Bytes = Bytes(1500);

/// A queue of the kernel's and ours.
struct Queue {
    kernel: &'static str,
    /// The kind and settings other than ECN.
    ours: fn(&Link) -> String,
    /// Whether it has a setting of ECN.
    marks: bool,
    /// Packets that may wait.
    buffer: fn(&Link) -> u32,
}

fn plain(kind: &'static str) -> String {
    format!("kind = \"{kind}\"")
}

const QUEUES: [Queue; 8] = [
    Queue { kernel: "pfifo", ours: |_| plain("droptail"), marks: false, buffer: |link| link.buffer },
    Queue { kernel: "codel", ours: |_| plain("codel"), marks: true, buffer: |_| 1000 },
    Queue { kernel: "fq_codel", ours: |_| plain("fq-codel"), marks: true, buffer: |_| 10_240 },
    Queue { kernel: "pie", ours: |_| plain("pie"), marks: true, buffer: |_| 1000 },
    // 16384 queues are updated in groups of 2048, a tick of 1 ms after one another, and again 15 ms after the last.
    Queue {
        kernel: "fq_pie",
        ours: |_| plain("fq-pie\"\ninterval = \"22ms"),
        marks: true,
        buffer: |_| 10_240,
    },
    Queue { kernel: "cake", ours: |_| plain("cake"), marks: true, buffer: |_| 10_240 },
    Queue { kernel: "red", ours: red, marks: true, buffer: |_| 1000 },
    Queue { kernel: "sfq", ours: |_| plain("sfq"), marks: false, buffer: |_| 127 },
];

fn red(link: &Link) -> String {
    let (least, most, weight) = link.red;
    format!("kind = \"red\"\nmin_threshold = {least}\nmax_threshold = {most}\nmax_p = 0.1\nweight = {weight}")
}

/// Runs of a cell where hosts have these options, one for each seed; the flows of each start as those of one of the kernel's runs.
pub fn runs(cell: &Cell, tcp: &str, seeds: u64) -> Result<Vec<Figures>, String> {
    let run = |seed| {
        let valid = valid(cell, tcp, &cell.starts[(seed - 1) as usize % cell.starts.len()])?;
        let (meter, _) = kneepoint::run::run(&valid, seed, Meter::new(&valid, seed));
        figures(cell, &meter.rows(&[Subject::Link, Subject::Flow]))
    };
    (1..=seeds).map(run).collect()
}

/// A cell as a spec.
pub fn valid(cell: &Cell, tcp: &str, starts: &[f64]) -> Result<Valid, String> {
    let text = cell.scenario(tcp, starts).ok_or_else(|| format!("{}: no such queue", cell.name()))?;
    let faults = |faults: Vec<scenario::Fault>| {
        let lines: Vec<String> = faults.iter().map(|fault| fault.message.clone()).collect();
        format!("{}: {}\n{text}", cell.name(), lines.join("; "))
    };
    let plan = scenario::parse(&text).map_err(faults)?;
    Ok(plan.cases.into_iter().next().ok_or("a plan without a case")?.valid)
}

impl Cell {
    /// The kernel's setting as a scenario, of which 20 to 60 s are measured.
    fn scenario(&self, tcp: &str, starts: &[f64]) -> Option<String> {
        let queue = QUEUES.iter().find(|one| one.kernel == self.queue)?;
        let Link { rate_mbit, rtt_ms, .. } = self.link;
        let marks = if queue.marks { format!("\necn = {}", self.ecn) } else { String::new() };
        let mut text = format!(
            "name = \"virtual time\"\nqueues = \"linux\"\n\n[run]\nduration = \"60s\"\nmeasure = \"20s..60s\"\n\n\
             [topology]\nkind = \"dumbbell\"\nrate = \"{rate_mbit}mbit\"\nrtt = \"{rtt_ms}ms\"\n\
             buffer = \"{}pkt\"\naccess = \"minimal\"\n\n[queue]\n{}{marks}\n\n\
             [tcp]\n{tcp}\necn = {}\n",
            (queue.buffer)(&self.link),
            (queue.ours)(&self.link),
            self.ecn,
        );
        for (place, (cc, start)) in self.controllers().zip(starts).enumerate() {
            let ours = if cc == "highspeed" { "hstcp" } else { cc };
            let start = (start * 1e6).round();
            text += &format!("\n[[flows]]\nname = \"f{place}\"\ncc = \"{ours}\"\nstart = \"{start}us\"\n");
        }
        Some(text)
    }
}

fn figures(cell: &Cell, rows: &[Row]) -> Result<Figures, String> {
    let missing = |what: &str| format!("{}: a run without {what}", cell.name());
    let link = rows.iter().find(|row| Subject::Link.has(row)).ok_or_else(|| missing("a link"))?;
    let flows: Vec<f64> =
        rows.iter().filter(|row| Subject::Flow.has(row)).map(|row| row.value("goodput_bps")).collect();
    let first = cell.mix.first().map_or(0, |(_, count)| *count as usize);
    let total: f64 = flows.iter().sum();
    let service = Rate::from_mbit(cell.link.rate_mbit).time_for(PACKET).as_millis_f64();
    Ok(Figures {
        utilization: link.value("utilization"),
        delay_ms: link.value("queue_mean_packets") * service,
        drops: link.value("drops"),
        marks: link.value("marks"),
        jain: jain(&flows),
        share: flows.iter().take(first).sum::<f64>() / total,
    })
}

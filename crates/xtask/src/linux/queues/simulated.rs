// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A setting in the simulator.

use kneepoint::measure::{Meter, Subject};
use kneepoint::scenario;
use kneepoint::spec::Valid;
use kneepoint::table::Row;
use kneepoint::units::{Bytes, Rate};

use super::{Figures, Setting};

/// A full packet, in the kernel's runs and in ours.
const PACKET: Bytes = Bytes(1500);

/// Runs of a setting; none where none of our queues is like the kernel's.
pub fn runs(setting: &Setting, seeds: u64) -> Result<Vec<Figures>, String> {
    let Some(valid) = valid(setting)? else { return Ok(Vec::new()) };
    let run = |seed| {
        let (meter, _) = kneepoint::run::run(&valid, seed, Meter::new(&valid, seed));
        figures(setting, &meter.rows(&Subject::FEW))
    };
    (1..=seeds).map(run).collect()
}

/// A setting as a spec, if the simulator has its queue.
pub fn valid(setting: &Setting) -> Result<Option<Valid>, String> {
    let Some(text) = setting.scenario() else { return Ok(None) };
    let faults = |faults: Vec<scenario::Fault>| {
        let lines: Vec<String> = faults.iter().map(|fault| fault.message.clone()).collect();
        format!("{}: {}\n{text}", setting.name, lines.join("; "))
    };
    let plan = scenario::parse(&text).map_err(faults)?;
    let case = plan.cases.into_iter().next().ok_or("a plan without a case")?;
    Ok(Some(case.valid))
}

impl Setting {
    /// The scenario of `knee compare CC/QUEUE --tcp linux --buffer 1000pkt`.
    fn scenario(&self) -> Option<String> {
        let Setting { cc, flows, rate_mbit, rtt_ms, duration_s, .. } = self;
        let queue = self.queue.as_ref()?;
        let seconds = *duration_s as f64;
        let (from, to, started) = (seconds / 4.0, seconds * 0.75, seconds / 8.0);
        Some(format!(
            "name = \"linux queues\"\nqueue = \"{queue}\"\n\n[run]\nduration = \"{duration_s}s\"\n\
             measure = \"{from}s..{to}s\"\n\n[topology]\nkind = \"dumbbell\"\nrate = \"{rate_mbit}mbit\"\n\
             rtt = \"{rtt_ms}ms\"\nbuffer = \"1000pkt\"\naccess = \"minimal\"\n\n[tcp]\npreset = \"linux\"\n\n\
             [[flows]]\nname = \"forward\"\ncc = \"{cc}\"\ncount = {flows}\nstart = \"0s..{started}s\"\n"
        ))
    }
}

fn figures(setting: &Setting, rows: &[Row]) -> Result<Figures, String> {
    let first = |subject: Subject| {
        let row = rows.iter().find(|row| subject.has(row));
        row.ok_or_else(|| format!("{}: a run without a {subject:?}", setting.name))
    };
    let (link, group) = (first(Subject::Link)?, first(Subject::Group)?);
    let service = Rate::from_mbit(setting.rate_mbit).time_for(PACKET).as_millis_f64();
    Ok(Figures {
        jain: group.value("jain_index"),
        drop_ratio: link.value("drop_ratio"),
        mark_ratio: link.value("mark_ratio"),
        utilization: link.value("utilization"),
        delay_ms: link.value("queue_mean_packets") * service,
        timeouts: group.value("timeouts"),
    })
}

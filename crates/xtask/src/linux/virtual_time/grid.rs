// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The grids of `validation/uml`: a scenario with a sweep, and the kernel's result for each case (`knee live --on
//! uml`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use kneepoint::measure::{Meter, Subject};
use kneepoint::scenario::{self, Case};
use kneepoint::study::live::starting;
use kneepoint::table::Row;
use rayon::prelude::*;

use super::{Figures, Pair, jain};

const GRIDS: &str = "validation/uml";
/// The kernel's only run of a case has it; flows start at the same instants on either side.
const SEED: u64 = 1;

/// The metrics of one case: by the link or the group, and the metric.
type Recorded = BTreeMap<(String, String), f64>;

/// Every case of every grid compared with the simulator, with one run from the same starts.
pub fn pairs() -> Result<Vec<Pair>, String> {
    let each = grids()?.into_par_iter().map(|path| of_grid(&path));
    each.collect::<Result<Vec<_>, String>>().map(|grids| grids.into_iter().flatten().collect())
}

/// The grids that were recorded.
fn grids() -> Result<Vec<PathBuf>, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(GRIDS);
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{GRIDS}: {error}"))?;
    let recorded = |path: &PathBuf| path.extension().is_some_and(|end| end == "csv");
    let mut grids: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(recorded).collect();
    grids.sort();
    Ok(grids)
}

fn of_grid(results: &Path) -> Result<Vec<Pair>, String> {
    let read =
        |path: &Path| std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()));
    let grid = results.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let plan = scenario::parse(&read(&results.with_extension("toml"))?)
        .map_err(|faults| format!("{grid}: {}", faults.first().map_or("", |fault| fault.message.as_str())))?;
    let kernel = cases(&read(results)?);
    if kernel.len() != plan.cases.len() {
        return Err(format!(
            "{grid}: {} cases recorded of {}: `make validate-uml`",
            kernel.len(),
            plan.cases.len()
        ));
    }
    let pair = |(case, (name, recorded)): (&Case, (String, Recorded))| pair(&grid, case, &name, &recorded);
    plan.cases.par_iter().zip(kernel).map(pair).collect()
}

/// The cases of a `live.csv`, in its order, which is the plan's.
fn cases(csv: &str) -> Vec<(String, Recorded)> {
    let mut cases: Vec<(String, Recorded)> = Vec::new();
    for line in csv.lines().skip(1) {
        let fields: Vec<&str> = line.rsplitn(8, ',').collect();
        let [.., value, metric, of, case] = fields.as_slice() else { continue };
        let Ok(value) = value.parse() else { continue };
        let case = case.trim_matches('"');
        if cases.last().is_none_or(|(last, _)| last != case) {
            cases.push((case.into(), Recorded::new()));
        }
        if let Some((_, recorded)) = cases.last_mut() {
            recorded.insert((of.to_string(), metric.to_string()), value);
        }
    }
    cases
}

fn pair(grid: &str, case: &Case, name: &str, kernel: &Recorded) -> Result<Pair, String> {
    let unlike = |value: &&String| !name.contains(value.trim_matches('"'));
    if let Some(value) = case.settings.iter().map(|(_, value)| value).find(unlike) {
        return Err(format!("{grid}: `{name}` was recorded where the plan has {value}: `make validate-uml`"));
    }
    let valid = &starting(&case.valid, SEED);
    let (meter, _) = kneepoint::run::run(valid, SEED, Meter::new(valid, SEED));
    let rows = meter.rows(&[Subject::Link, Subject::Group]);
    let link = rows.iter().find(|row| Subject::Link.has(row)).ok_or("a run without a link")?;
    let groups: Vec<&Row> = rows.iter().filter(|row| Subject::Group.has(row)).collect();
    let of_link = |key: &str| {
        let find = |((_, metric), value): (&(String, String), &f64)| (metric == key).then_some(*value);
        kernel.iter().find_map(find).unwrap_or_default()
    };
    let goodput = |group: &str| kernel.get(&(group.to_string(), "goodput_bps".to_string())).copied();
    let theirs: Vec<f64> = groups.iter().filter_map(|row| goodput(row.label("group"))).collect();
    let ours: Vec<f64> = groups.iter().map(|row| row.value("goodput_bps")).collect();
    let share =
        |goodputs: &[f64]| goodputs.first().copied().unwrap_or_default() / goodputs.iter().sum::<f64>();
    let flows: f64 = groups.iter().map(|row| row.value("flows")).sum();
    let alone = groups.len() == 1;
    Ok(Pair {
        name: format!("{grid}: {name}"),
        marks: link.value("marks") > 0.0 || of_link("marks") > 0.0,
        flows: flows as u32,
        parties: groups.len(),
        kernel: Figures {
            utilization: of_link("utilization"),
            delay_ms: of_link("queueing_delay_mean_ms"),
            drops: of_link("drops"),
            marks: of_link("marks"),
            jain: if alone { of_link("jain_index") } else { jain(&theirs) },
            share: share(&theirs),
        },
        ours: Figures {
            utilization: link.value("utilization"),
            delay_ms: link.value("queueing_delay_mean_ms"),
            drops: link.value("drops"),
            marks: link.value("marks"),
            jain: if alone { groups[0].value("jain_index") } else { jain(&ours) },
            share: share(&ours),
        },
    })
}

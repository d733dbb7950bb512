// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The results of a case with its fluid model.

use kneepoint::fluid::{Misfit, Theory};
use kneepoint::report::{Beside, RunResult, SchemeResult};
use kneepoint::spec::Valid;
use kneepoint::study::Record;
use kneepoint::study::compare::Compared;
use kneepoint::table::Labels;
use kneepoint::units::Interval;

/// The results of a case, with its fluid model if requested.
pub(super) fn result(mut compared: Compared, levels: Vec<usize>, overlay: bool) -> SchemeResult {
    let series = compared.runs.first_mut().and_then(|record| record.series.take());
    let theory = overlay.then(|| {
        let theory = compared.theory()?;
        let misfit =
            series.as_ref().and_then(|series| theory.misfit(series, compared.valid.schedule().measure));
        Ok(Beside { theory, misfit })
    });
    let run = |record: Record| {
        let Record { seed, cpu_seconds, bottleneck_packets, events, rows, .. } = record;
        RunResult { seed, cpu_seconds, bottleneck_packets, events, rows }
    };
    let runs = compared.runs.into_iter().map(run).collect();
    let Interval { from, to } = compared.valid.schedule().measure;
    let measured = Some((from.as_secs_f64(), to.as_secs_f64()));
    SchemeResult {
        scheme: compared.name,
        levels,
        controls: controls(&compared.valid),
        runs,
        measured,
        series,
        theory,
    }
}

/// The congestion controls of groups, by group.
fn controls(valid: &Valid) -> Labels {
    let controlled = valid.groups().iter().filter_map(|group| Some((&group.name, group.cc.as_ref()?)));
    controlled.map(|(name, cc)| (name.clone(), cc.name().to_string())).collect()
}

/// A sentence on the fluid model of a row and the distance of its first run.
pub(super) fn said_beside(scheme: &SchemeResult) -> Option<String> {
    let name = &scheme.scheme;
    Some(match scheme.theory.as_ref()? {
        Err(why) => format!("{name}: no fluid model: {why}"),
        Ok(Beside { theory: Theory { model, rest_packets, mode_real_per_s, .. }, misfit }) => {
            let stable = if *mode_real_per_s < 0.0 { "stable" } else { "unstable" };
            let error = misfit.map_or("the run was not sampled".to_string(), |misfit| {
                let Misfit { mean_packets, rms_packets } = misfit;
                format!("packets are {mean_packets:+.1} from it in the mean, {rms_packets:.1} (rms) from its course")
            });
            format!(
                "{name}: the fluid model {model} has its equilibrium at {rest_packets:.1} packets, {stable}; {error}"
            )
        }
    })
}

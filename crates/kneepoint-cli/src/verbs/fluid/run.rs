// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee fluid run`: integrates a model and reports its trajectory.

use std::path::PathBuf;

use clap::Args;
use kneepoint::fluid::dde::Trajectory;
use kneepoint::fluid::{Any, State};
use kneepoint::report;
use kneepoint::units::Span;
use serde_json::{Map, Value, json};

use super::parameters::Chosen;
use super::{mode_json, mode_text, theorem_json, theorem_text};
use crate::failure::Failure;
use crate::files::{self, tell};

/// Arguments of `knee fluid run`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  knee fluid run pert                                   decaying oscillation: Figure 13 (c)
  knee fluid run pert --rtt 171ms --end 60s --out out/fig13d
  knee fluid run tcp-red --weight 0.001 --csv | head
  knee fluid run pert-pi --start 20,0.01,0 --json | jq .equilibrium")]
pub struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    /// Duration
    #[arg(long, value_name = "TIME", default_value = "20s")]
    end: Span,
    /// The three states up to time 0, as in 1,1,1 [default: the model's]
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', allow_negative_numbers = true)]
    start: Vec<f64>,
    /// Output interval [default: 400 points]
    #[arg(long, value_name = "TIME")]
    every: Option<Span>,
    /// Print the trajectory as CSV instead of a summary
    #[arg(long)]
    csv: bool,
    /// Directory for trajectory.csv and trajectory.svg
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Points of a trajectory by default.
const ROWS: u64 = 400;
/// More points indicate a mistaken unit.
const MOST_ROWS: u64 = 1_000_000;

/// Integrates and prints.
pub fn run(arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let model = arguments.chosen.config()?.build();
    let start: State = match arguments.start[..] {
        [] => model.start(),
        [a, b, c] if [a, b, c].iter().all(|value| value.is_finite()) => [a, b, c],
        _ => {
            let remedy = format!("give {}, as in `--start 1,1,1`", model.states().join(", "));
            return Err(Failure::usage("--start: the model has three states, each a number", remedy));
        }
    };
    let every = arguments.every.unwrap_or(Span((arguments.end.0 / ROWS).max(1)));
    if every == Span::ZERO || arguments.end.0 / every.0 > MOST_ROWS {
        let message = format!("--every {every}: {} would take more than {MOST_ROWS} points", arguments.end);
        return Err(Failure::usage(message, "choose a longer interval, as in `--every 10ms`"));
    }
    let path = model
        .run(start, arguments.end.as_secs_f64())
        .map_err(|why| Failure::usage(format!("--end {}: {why}", arguments.end), "end earlier"))?;
    let rows = rows(&path, every.as_secs_f64());
    if let Some(out) = &arguments.out {
        files::make_directory(out)?;
        files::write(&out.join("trajectory.csv"), csv(&model, &rows))?;
        let rest = model.local().ok().map(|local| local.equilibrium);
        let picture = report::fluid::trajectory(&arguments.chosen.title(), &model, &rows, rest.as_ref());
        files::write(&out.join("trajectory.svg"), picture.standalone())?;
        tell(format!("wrote trajectory.csv and trajectory.svg to {}", out.display()));
    }
    if arguments.csv {
        files::print(csv(&model, &rows))
    } else if as_json {
        files::print_json(&summary_json(arguments, &model, &path, &rows))
    } else {
        files::print(summary(arguments, &model, &path)?)
    }
}

/// Evenly spaced instants, the last included.
fn rows(path: &Trajectory<3>, every: f64) -> Vec<(f64, State)> {
    let count = (path.end() / every * (1.0 + 1e-12)) as u64;
    (0..=count).map(|place| (place as f64 * every).min(path.end())).map(|at| (at, path.at(at))).collect()
}

fn csv(model: &Any, rows: &[(f64, State)]) -> String {
    let mut text = format!("time_s,{}\n", model.states().join(","));
    for (at, [a, b, c]) in rows {
        text += &format!("{at},{a},{b},{c}\n");
    }
    text
}

/// The last quarter, after the transient.
fn settled(path: &Trajectory<3>) -> [(f64, f64); 3] {
    [0, 1, 2].map(|state| path.range(state, 0.75 * path.end()))
}

fn summary(arguments: &Arguments, model: &Any, path: &Trajectory<3>) -> Result<String, Failure> {
    let names = model.states();
    let mut text = format!("{}\n\n", arguments.chosen.title());
    let local = model.local();
    let rest = local.as_ref().ok().map(|local| local.equilibrium);
    text += &format!(
        "{:<24} {:>12} {:>12} {:>12}   {:>12}\n",
        "", "at the end", "minimum", "maximum", "equilibrium"
    );
    let (end, ranges) = (path.at(path.end()), settled(path));
    for (place, name) in names.iter().enumerate() {
        let (least, most) = ranges[place];
        let rest = rest.map_or("none".to_string(), |rest| format!("{:.6}", rest.state[place]));
        text += &format!("{name:<24} {:>12.6} {least:>12.6} {most:>12.6}   {rest:>12}\n", end[place]);
    }
    text += &format!("(minimum and maximum from {:.4} s to {:.4} s)\n\n", 0.75 * path.end(), path.end());
    if path.diverged {
        text += &format!("grows without bound: the last finite state is at {:.6} s\n", path.end());
    }
    let turns = path.extrema(0, 0.0, path.end());
    if turns.is_empty() {
        text += "the window has no turning points\n";
    } else {
        let shown =
            turns.iter().take(6).map(|(at, value)| format!("{value:.3} at {at:.2} s")).collect::<Vec<_>>();
        let more = if turns.len() > 6 { format!(" and {} more", turns.len() - 6) } else { String::new() };
        text += &format!("turning points of the window: {}{more}\n", shown.join(", "));
    }
    match &local {
        Ok(local) => {
            let mode = local.mode();
            let verdict = match (local.stable(), local.oscillates()) {
                (true, false) => "stable, without oscillation",
                (true, true) => "stable, with a decaying oscillation",
                (false, _) => "unstable",
            };
            text += &format!("equilibrium: {verdict}; rightmost mode {}\n", mode_text(mode));
        }
        Err(why) => text += &format!("{why}\n"),
    }
    text += &theorem_text(&model.theorem());
    Ok(text)
}

fn summary_json(arguments: &Arguments, model: &Any, path: &Trajectory<3>, rows: &[(f64, State)]) -> Value {
    let names = model.states();
    let named = |state: &State| -> Value {
        names
            .iter()
            .zip(state)
            .map(|(name, value)| ((*name).to_string(), json!(value)))
            .collect::<Map<_, _>>()
            .into()
    };
    let ranges = settled(path);
    let turns = path.extrema(0, 0.0, path.end());
    let local = model.local();
    json!({
        "model": arguments.chosen.name(),
        "parameters": arguments.chosen.json(),
        "diverged": path.diverged,
        "equilibrium": local.as_ref().ok().map(|local| {
            let mut rest = named(&local.equilibrium.state);
            rest["probability"] = local.equilibrium.probability.into();
            rest["rtt_s"] = local.rtt.into();
            rest
        }),
        "no_equilibrium": local.as_ref().err(),
        "mode": local.as_ref().ok().map(|local| mode_json(local.mode())),
        "stable": local.as_ref().ok().map(|local| local.stable()),
        "theorem": theorem_json(&model.theorem()),
        "least": named(&ranges.map(|(least, _)| least)),
        "greatest": named(&ranges.map(|(_, most)| most)),
        "turns": turns.iter().map(|(at, value)| json!({"time_s": at, "window_packets": value})).collect::<Vec<_>>(),
        "columns": ["time_s", names[0], names[1], names[2]],
        "trajectory": rows.iter().map(|(at, [a, b, c])| json!([at, a, b, c])).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kneepoint::fluid::Config;

    #[test]
    fn the_rows_of_a_trajectory_are_evenly_spaced_and_end_with_it() {
        let model = Config::named("pert").unwrap().build();
        let path = model.run(model.start(), 1.0).unwrap();
        let rows = rows(&path, 0.1);
        assert_eq!(rows.len(), 11);
        assert!((rows[10].0 - 1.0).abs() < 1e-9 && rows[0].1 == [1.0; 3]);
        let csv = csv(&model, &rows);
        assert!(
            csv.starts_with("time_s,window_packets,queueing_delay_s,average_delay_s\n0,1,1,1\n"),
            "{csv}"
        );
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee fluid stability`: maps the stability of a model over two parameters.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kneepoint::fluid::Config;
use kneepoint::fluid::axis::Axis;
use kneepoint::fluid::map::Cell;
use kneepoint::report;
use serde_json::json;

use super::parameters::Chosen;
use super::{axis, refused};
use crate::failure::Failure;
use crate::outputs::Out;
use crate::{files, interrupt};

/// Arguments of `knee fluid stability`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  knee fluid stability pert
  knee fluid stability pert --x rtt=50ms..300ms:60 --y delta=1us..1s:60:log --out out/map
  knee fluid stability tcp-red --x flows=10..200 --y weight=0.0000001..0.1:40:log --json
  knee fluid stability pert --variable-rtt true --flows 40 --capacity 1000pps --y delta=0.1ms..10s:40:log

OUT/stability.svg is the map. OUT/stability.csv has one line for each point: the rightmost mode, what becomes of a
small deviation, and the left side of the published condition over the right one, which holds up to 1.")]
pub struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    /// The parameter along x: NAME=FROM..TO[:POINTS][:log]
    #[arg(long, value_name = "AXIS", default_value = "rtt=20ms..500ms:40:log", value_parser = axis)]
    x: Axis,
    /// The parameter along y: NAME=FROM..TO[:POINTS][:log]
    #[arg(long, value_name = "AXIS", default_value = "flows=1..100:40:log", value_parser = axis)]
    y: Axis,
    /// Directory for the map [default: out/stability, or the first free of out/stability-2, …]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Computes and writes the map.
pub fn stability(arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let Arguments { chosen, x, y, .. } = arguments;
    let config = chosen.config()?;
    if x.name == y.name {
        return Err(Failure::usage(
            format!("--x and --y both vary {}", x.name),
            "name two parameters, as in `--x rtt=50ms..300ms --y flows=1..50`",
        ));
    }
    for (option, axis) in [("x", x), ("y", y)] {
        if chosen.has(&axis.name) {
            let name = &axis.name;
            return Err(Failure::usage(
                format!("--{name} is already varied by --{option}"),
                format!("omit --{name}, or vary another parameter with --{option}"),
            ));
        }
        for end in [axis.from, axis.to] {
            axis.set(&config, end).map_err(|why| refused(format!("--{option}: {why}")))?;
        }
    }
    let out = Out::or_free(arguments.out.as_deref(), PathBuf::from("out/stability")).settle();
    interrupt::listen()?;
    let cells = cells(&config, x, y)?;
    files::make_directory(&out)?;
    let table = out.join("stability.csv");
    files::write(&table, csv(x, y, &cells))?;
    let picture = out.join("stability.svg");
    files::write(&picture, report::fluid::stability(&chosen.title(), x, y, &cells).standalone())?;
    let count = |of: &dyn Fn(&Cell) -> bool| cells.iter().filter(|cell| of(cell)).count();
    let known = count(&|cell| cell.mode.is_some());
    let stable = count(&Cell::stable);
    let both = count(&|cell| cell.stable() && cell.allowed());
    let mistaken = count(&|cell| cell.mode.is_some() && !cell.stable() && cell.allowed());
    let assumed = count(&|cell| cell.mode.is_some() && !cell.stable() && cell.allowed() && cell.assumptions);
    if as_json {
        return files::print_json(&json!({
            "model": chosen.name(),
            "parameters": chosen.json(),
            "x": x.column(),
            "y": y.column(),
            "points": cells.len(),
            "with_equilibrium": known,
            "stable": stable,
            "monotone": count(&|cell| cell.behaviour() == "monotone"),
            "stable_and_allowed_by_theorem": both,
            "unstable_though_allowed_by_theorem": mistaken,
            "unstable_though_allowed_with_assumptions": assumed,
            "csv": table.display().to_string(),
            "svg": picture.display().to_string(),
        }));
    }
    let theorem = config.build().theorem().name;
    files::print(format!(
        "{}, {} points over {} and {}\n\
         stable                                {stable:>6}\n\
         unstable                              {:>6}\n\
         without an equilibrium                {:>6}\n\
         stable, but refused by the theorem    {:>6}\n\
         unstable, but allowed by the theorem  {mistaken:>6}, of which {assumed} satisfy its assumptions\n\
         The theorem is {theorem}.\n\
         {}\n{}\n",
        chosen.title(),
        cells.len(),
        x.name,
        y.name,
        known - stable,
        cells.len() - known,
        stable - both,
        table.display(),
        picture.display(),
    ))
}

/// Evaluates every point, row by row, on all cores.
fn cells(config: &Config, x: &Axis, y: &Axis) -> Result<Vec<Cell>, Failure> {
    let rows = y.values().collect::<Vec<_>>();
    let (next, found) = (AtomicUsize::new(0), Mutex::new(vec![Vec::new(); rows.len()]));
    let bar = progress_bar(rows.len());
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers.min(rows.len()) {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(value) = rows.get(place).filter(|_| !interrupt::asked()) else { break };
                    let row = x.values().map(|at| Cell::at(config, (x, at), (y, *value))).collect();
                    found.lock().unwrap_or_else(std::sync::PoisonError::into_inner)[place] = row;
                    bar.inc(1);
                }
            });
        }
    });
    bar.finish_and_clear();
    if interrupt::asked() {
        return Err(Failure::Interrupted("interrupted; nothing was written".into()));
    }
    Ok(found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).concat())
}

/// A progress bar over rows, if standard error is a terminal.
fn progress_bar(rows: usize) -> ProgressBar {
    let terminal = std::io::stderr().is_terminal();
    let target = if terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(rows as u64), target);
    let style = ProgressStyle::with_template("{wide_bar} {percent}%  {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

fn csv(x: &Axis, y: &Axis, cells: &[Cell]) -> String {
    let mut text = format!(
        "{},{},real_per_s,imaginary_rad_s,behaviour,theorem_ratio,assumptions_hold\n",
        x.column(),
        y.column()
    );
    for cell in cells {
        let mode = cell.mode.map_or(",".to_string(), |mode| format!("{},{}", mode.re, mode.im));
        let Cell { theorem, assumptions, .. } = cell;
        text += &format!("{},{},{mode},{},{theorem},{assumptions}\n", cell.x, cell.y, cell.behaviour());
    }
    text
}

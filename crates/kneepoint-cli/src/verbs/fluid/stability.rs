// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee fluid stability`: maps the stability of a model over two parameters.

use std::path::PathBuf;

use clap::Args;
use kneepoint::fluid::axis::ParameterAxis;
use kneepoint::report::{self, csv};
use kneepoint::study::fluid::{Plane, StabilityMap};
use kneepoint_bench::answer::{self, Answer};
use kneepoint_bench::conductor;
use kneepoint_bench::files;
use kneepoint_bench::session::Session;
use serde::Serialize;

use super::parameters::Chosen;
use super::{axis, print, refused};
use crate::failure::Failure;
use crate::outputs::{Out, report_at, write_report};
use crate::pictures::ChartOptions;

/// Arguments of `knee fluid stability`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  knee fluid stability pert
  knee fluid stability pert --x rtt=50ms..300ms:60 --y delta=1us..1s:60:log --out out/map
  knee fluid stability tcp-red --x flows=10..200 --y weight=0.0000001..0.1:40:log --json
  knee fluid stability pert --variable-rtt true --flows 40 --capacity 1000pps --y delta=0.1ms..10s:40:log

OUT/figures/stability.svg is the map. OUT/stability.csv has one line for each point: the rightmost mode, the course of a \
small deviation, and the left side of the published condition over the right one, which holds up to 1.")]
pub struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    /// The parameter along x: NAME=FROM..TO[:POINTS][:log]
    #[arg(long, value_name = "AXIS", default_value = "rtt=20ms..500ms:40:log", value_parser = axis)]
    x: ParameterAxis,
    /// The parameter along y: NAME=FROM..TO[:POINTS][:log]
    #[arg(long, value_name = "AXIS", default_value = "flows=1..100:40:log", value_parser = axis)]
    y: ParameterAxis,
    #[command(flatten)]
    charts: ChartOptions,
    /// Directory for the report, the map and its points [default: out/stability, or the first free of out/stability-2, …]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Computes and writes the map.
pub fn stability(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let printer = arguments.charts.printer()?;
    let plane = plane(arguments)?;
    let out = Out::or_free(arguments.out.as_deref(), PathBuf::from("out/stability")).settle(session)?;
    let map = map(session, plane)?;
    let document = report::fluid::stability(&map);
    write_report(session, &document, &out, &printer)?;
    files::write(&out.join("stability.csv"), csv::records(&report::fluid::records(&map)))?;
    let place = out.publish(session)?;
    let [csv, svg] =
        ["stability.csv", "figures/stability.svg"].map(|file| place.join(file).display().to_string());
    print(session, &document, &Written { map: &map, csv, svg }, as_json)?;
    session.tell(report_at(&place));
    Ok(())
}

/// Computes the map.
pub fn answer(session: &Session, arguments: &Arguments) -> Result<Answer, Failure> {
    let map = map(session, plane(arguments)?)?;
    let tables = vec![answer::named("stability", report::fluid::records(&map))];
    Ok(Answer::whole(report::fluid::stability(&map), report::json::render(&map), tables))
}

fn map(session: &Session, plane: Plane) -> Result<StabilityMap, Failure> {
    let values: Vec<f64> = plane.y.values().collect();
    match conductor::each(session, values.len(), |place| plane.row(values[place]))? {
        Some(rows) => Ok(plane.map(rows)),
        None => Err(Failure::Interrupted("interrupted; nothing was written".into())),
    }
}

fn plane(arguments: &Arguments) -> Result<Plane, Failure> {
    let Arguments { chosen, x, y, .. } = arguments;
    let subject = chosen.subject()?;
    if x.name == y.name {
        return Err(Failure::usage(
            format!("--x and --y both vary {}", x.name),
            "name two parameters, as in `--x rtt=50ms..300ms --y flows=1..50`",
        ));
    }
    for (option, axis) in [("x", x), ("y", y)] {
        if subject.has(&axis.name) {
            let name = &axis.name;
            return Err(Failure::usage(
                format!("--{name} is already varied by --{option}"),
                format!("omit --{name}, or vary another parameter with --{option}"),
            ));
        }
        for end in [axis.from, axis.to] {
            axis.set(&subject.config, end).map_err(|why| refused(format!("--{option}: {why}")))?;
        }
    }
    Ok(Plane { subject, x: x.clone(), y: y.clone() })
}

/// The map and its files.
#[derive(Serialize)]
struct Written<'a> {
    #[serde(flatten)]
    map: &'a StabilityMap,
    csv: String,
    svg: String,
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee fluid boundary`: the exact stability boundary of a model beside the one of the published theorem.

use clap::Args;
use kneepoint::fluid::axis::Axis;
use kneepoint::fluid::boundary::{self, Change};
use serde_json::{Map, Value};

use super::parameters::Chosen;
use super::{axis, mode_text, refused};
use crate::failure::Failure;
use crate::files;

/// Arguments of `knee fluid boundary`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  knee fluid boundary pert --capacity 100pps --flows 5 --delta 0.1ms --tmin 50ms --tmax 100ms --pmax 0.1 --alpha 0.99
  knee fluid boundary pert --window-delayed false
  knee fluid boundary tcp-red --along weight=0.0000001..0.1:60:log
  knee fluid boundary pert-pi --along flows=1..1000:60:log --gain 0.2 --zero 1.5 --json

The JSON names its fields after the parameter: boundary_rtt_ms, theorem_rtt_ms, oscillation_rtt_ms.")]
pub struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    /// The parameter to vary: NAME=FROM..TO[:POINTS][:log]
    #[arg(long, value_name = "AXIS", default_value = "rtt=1ms..1000ms:60:log", value_parser = axis)]
    along: Axis,
}

/// Computes and prints the boundary.
pub fn boundary(arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let Arguments { chosen, along } = arguments;
    if chosen.has(&along.name) {
        let name = &along.name;
        return Err(Failure::usage(
            format!("--{name} is the parameter to search along"),
            format!("omit --{name}, or vary another parameter with --along, as in `--along flows=1..100`"),
        ));
    }
    let config = chosen.config()?;
    let found = boundary::boundary(&config, along).map_err(refused)?;
    let column = along.column();
    if as_json {
        let at = |change: Option<Change>| change.map_or(Value::Null, |change| change.at.into());
        let mut answer = Map::new();
        answer.insert("model".into(), chosen.name().into());
        answer.insert("parameters".into(), chosen.json());
        answer.insert(format!("boundary_{column}"), at(found.unstable));
        answer.insert(format!("theorem_{column}"), at(found.theorem));
        answer.insert(format!("oscillation_{column}"), at(found.oscillating));
        answer.insert("frequency_rad_s".into(), found.mode.map_or(Value::Null, |mode| mode.im.into()));
        answer.insert(
            "period_s".into(),
            found
                .mode
                .filter(|mode| mode.im > 0.0)
                .map_or(Value::Null, |mode| (std::f64::consts::TAU / mode.im).into()),
        );
        answer.insert(
            "unstable_from_the_start".into(),
            found.unstable.is_some_and(|change| change.at_begin).into(),
        );
        return files::print_json(&answer.into());
    }
    let said = |change: Option<Change>, none: &str| match change {
        None => none.to_string(),
        Some(Change { at, at_begin: true }) => format!("{} or less", along.written(at)),
        Some(Change { at, .. }) => format!("{at:.4}{}", along.unit),
    };
    let none = "nowhere in this range";
    let theorem = config.build().theorem();
    let mut text = format!("{}\n", chosen.title());
    text += &format!("smallest unstable {:<12} {}\n", along.name, said(found.unstable, none));
    if let Some(mode) = found.mode {
        text += &format!("  mode there                   {}\n", mode_text(mode));
    }
    text += &format!("oscillates from                {}\n", said(found.oscillating, none));
    text += &format!("{} fails from {}\n", theorem.name, said(found.theorem, none));
    files::print(text)
}

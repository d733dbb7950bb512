// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee fluid design`: parameter values for which a model is stable with a margin.

use clap::Args;
use kneepoint::fluid::axis::Axis;
use kneepoint::fluid::design::{self, Design, Goal};
use serde_json::{Value, json};

use super::parameters::Chosen;
use super::{axis, mode_json, mode_text, refused, theorem_json, theorem_text};
use crate::failure::Failure;
use crate::files;

/// Arguments of `knee fluid design`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  knee fluid design pert --capacity 1000pps --flows 40 --rtt 100ms --variable-rtt true
  knee fluid design pert-pi --capacity 150mbit --packet 1000b --flows 50 --rtt 60ms --phase-margin 45
  knee fluid design tcp-red --vary weight=0.0000001..0.1:60:log --damping 0.5

Give the fewest flows and the longest round-trip time: with more flows or a shorter one margins grow, as a rule;
`knee fluid stability` shows it. Each parameter is varied alone, the others stay as they are.")]
pub struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    /// The parameter to vary: NAME=FROM..TO[:POINTS][:log] [default: each that the model declares for design]
    #[arg(long, value_name = "AXIS", value_parser = axis)]
    vary: Vec<Axis>,
    /// Minimum phase margin
    #[arg(long, value_name = "DEGREES", default_value_t = 0.0, value_parser = margin(0.0, 180.0))]
    phase_margin: f64,
    /// Minimum gain margin, as a ratio
    #[arg(long, value_name = "RATIO", default_value_t = 1.0, value_parser = margin(1.0, 1e6))]
    gain_margin: f64,
    /// Minimum damping ratio of the rightmost mode; 1 means no oscillation
    #[arg(long, value_name = "RATIO", default_value_t = 0.0, value_parser = margin(0.0, 1.0))]
    damping: f64,
}

/// Parses a number within a range.
fn margin(least: f64, most: f64) -> impl Fn(&str) -> Result<f64, String> + Clone {
    move |text| match text.parse() {
        Ok(value) if (least..=most).contains(&value) => Ok(value),
        _ => Err(format!("allowed is a number from {least} to {most}")),
    }
}

/// Values tested along each parameter.
const POINTS: usize = 60;

/// Computes and prints the designs.
pub fn design(arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let chosen = &arguments.chosen;
    let config = chosen.config()?;
    let model = config.build();
    let goal =
        Goal { phase: arguments.phase_margin, gain: arguments.gain_margin, damping: arguments.damping };
    let axes = if arguments.vary.is_empty() {
        model
            .knobs()
            .iter()
            .map(|knob| Axis::of(knob, POINTS))
            .collect::<Result<Vec<_>, _>>()
            .map_err(refused)?
    } else {
        arguments.vary.clone()
    };
    let designs = axes
        .into_iter()
        .map(|axis| design::design(&config, axis, goal).map_err(refused))
        .collect::<Result<Vec<_>, _>>()?;
    let local = model.local();
    let theorem = model.theorem();
    if as_json {
        let as_is = local.as_ref().map_or_else(
            |why| json!({"error": why}),
            |local| {
                let margins = local.margins();
                json!({
                    "meets_goal": goal.met(local),
                    "mode": mode_json(local.mode()),
                    "phase_margin_degrees": margins.phase.map(|(phase, _)| phase),
                    "gain_margin": margins.gain.map(|(gain, _)| gain),
                })
            },
        );
        return files::print_json(&json!({
            "model": chosen.name(),
            "parameters": chosen.json(),
            "goal": {"phase_margin_degrees": goal.phase, "gain_margin": goal.gain, "damping": goal.damping},
            "as_given": as_is,
            "theorem": theorem_json(&theorem),
            "designs": designs.iter().map(design_json).collect::<Vec<_>>(),
        }));
    }
    let mut text = format!("{}\n", chosen.title());
    text += &match &local {
        Err(why) => format!("as given: {why}\n"),
        Ok(local) => {
            let margins = local.margins();
            let number = |margin: Option<(f64, f64)>, unit: &str| {
                margin.map_or("none".to_string(), |(margin, _)| format!("{margin:.2}{unit}"))
            };
            format!(
                "as given: {}, mode {}, phase margin {}, gain margin {}\n",
                if goal.met(local) { "meets the goal" } else { "misses the goal" },
                mode_text(local.mode()),
                number(margins.phase, "°"),
                number(margins.gain, "")
            )
        }
    };
    text += &theorem_text(&theorem);
    for design in &designs {
        text += &format!(
            "\n{} from {} to {}\n",
            design.axis.name,
            design.axis.written(design.axis.from),
            design.axis.written(design.axis.to)
        );
        text += &format!("  meets the goal        {}\n", stretches_text(design, &design.exact));
        text += &format!("  the theorem allows    {}\n", stretches_text(design, &design.theorem));
        text += &format!("  and its assumptions   {}\n", stretches_text(design, &design.assumed));
    }
    files::print(text)
}

/// Intervals as text.
fn stretches_text(design: &Design, stretches: &[(f64, f64)]) -> String {
    if stretches.is_empty() {
        return "nowhere".into();
    }
    let shown = |value: f64| {
        // Five significant digits.
        let round = format!("{value:.4e}").parse().unwrap_or(value);
        format!("{round}{}", design.axis.unit)
    };
    let one = |(from, to): &(f64, f64)| format!("{} to {}", shown(*from), shown(*to));
    stretches.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn design_json(design: &Design) -> Value {
    let list = |stretches: &[(f64, f64)]| {
        stretches.iter().map(|(from, to)| json!({"from": from, "to": to})).collect::<Vec<_>>()
    };
    json!({
        "parameter": design.axis.name,
        "unit": design.axis.unit,
        "searched": {"from": design.axis.from, "to": design.axis.to},
        "exact": list(&design.exact),
        "theorem": list(&design.theorem),
        "theorem_with_assumptions": list(&design.assumed),
    })
}

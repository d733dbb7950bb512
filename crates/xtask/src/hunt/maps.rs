// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The map of weaknesses of every controller: the greatest score of each weakness, and where it is.

use clap::Args;
use kneepoint::cc::REGISTRY;
use kneepoint::study::hunt::{Elite, Hunt, Profile, WEAKNESSES, Weakness, shrink};
use rayon::prelude::*;

use super::search::{hunt, round};

/// The effort of the hunt.
#[derive(Args)]
pub struct Arguments {
    /// Controllers, instead of all
    names: Vec<String>,
    /// Networks for each controller
    #[arg(long, default_value_t = 2000)]
    evaluations: u64,
    /// The profile
    #[arg(long, default_value = "any")]
    profile: String,
    /// Write the part of docs/hunt.md
    #[arg(long)]
    write: bool,
}

/// The controller with which all are compared, and the one with which it is.
const REFERENCE: [&str; 2] = ["cubic", "reno"];

/// A controller's scores, and the simplest network of its worst.
struct Line {
    controller: &'static str,
    best: Vec<f64>,
    part: f64,
    worst: String,
}

/// Hunts all.
pub fn run(arguments: &Arguments) -> Result<bool, String> {
    let profile = Profile::named(&arguments.profile).ok_or("there is no such profile")?;
    let weaknesses: Vec<&'static Weakness> = WEAKNESSES.iter().filter(|one| one.name != "law").collect();
    let mut lines = Vec::new();
    let asked = |name: &str| arguments.names.is_empty() || arguments.names.iter().any(|one| one == name);
    for entry in REGISTRY.iter().filter(|entry| asked(entry.name)) {
        let reference = REFERENCE.into_iter().find(|name| *name != entry.name).unwrap_or(REFERENCE[0]);
        let mut hunt = hunt(entry.name, reference, &weaknesses, profile, 1)?;
        while hunt.progress.evaluations < arguments.evaluations {
            round(&mut hunt, arguments.evaluations)?;
        }
        let line = line(entry.name, &hunt)?;
        println!("{:<14} {:?} {}", line.controller, line.best, line.worst);
        lines.push(line);
    }
    let names: Vec<&str> = weaknesses.iter().map(|one| one.name).collect();
    let mut text =
        format!("| controller | {} | of the map, % | the worst, made simple |\n|---|", names.join(" | "));
    text += &"---:|".repeat(names.len() + 1);
    text += "---|\n";
    for Line { controller, best, part, worst } in &lines {
        let scores: Vec<String> =
            best.iter().zip(&weaknesses).map(|(score, one)| shown(*score, one)).collect();
        text += &format!("| {controller} | {} | {:.0} | {worst} |\n", scores.join(" | "), 100.0 * part);
    }
    print!("{text}");
    if arguments.write {
        super::page::put("maps", &text)?;
    }
    Ok(true)
}

/// A score, faint unless it is a finding.
fn shown(score: f64, weakness: &Weakness) -> String {
    if score >= weakness.found { format!("**{score:.2}**") } else { format!("{score:.2}") }
}

fn line(controller: &'static str, hunt: &Hunt) -> Result<Line, String> {
    let best: Vec<f64> =
        hunt.archives().map(|(_, archive)| archive.best().map_or(0.0, |elite| elite.score)).collect();
    let parts = hunt.archives().map(|(weakness, archive)| archive.part_above(weakness.found));
    let part = parts.fold(0.0, f64::max);
    let suspects: Vec<(usize, Elite)> = (0..best.len())
        .filter_map(|place| hunt.suspects(place).first().map(|elite| (place, (*elite).clone())))
        .collect();
    let simpler: Vec<_> = suspects
        .par_iter()
        .map(|(place, elite)| (*place, shrink(&hunt.arena, *place, &elite.genome, &hunt.profile, || true)))
        .collect();
    let mut worst: Option<(f64, String)> = None;
    for (place, shrunk) in simpler {
        let Some(shrunk) = shrunk.map_err(|invalid| invalid.to_string())? else { continue };
        let weakness = hunt.arena.weaknesses[place];
        // Its excess over the score of a finding.
        let over = shrunk.score - weakness.found;
        if worst.as_ref().is_none_or(|(known, _)| *known < over) {
            worst = Some((over, format!("{} {:.2}: {}", weakness.name, shrunk.score, shrunk.genome)));
        }
    }
    Ok(Line { controller, best, part, worst: worst.map_or_else(|| "no finding".into(), |(_, told)| told) })
}

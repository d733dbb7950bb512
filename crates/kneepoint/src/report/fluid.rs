// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Fluid models: the documents about their solutions, maps, boundaries and designs, and tables for machines.

use super::document::{Block, Column, Document, Figure, Layout, Section, Shown, Table, TableLine};
use crate::chart::{self, Axis, Colours, Contour, Drawing, Lines, Map, Mark, contour, lines, map, sheet};
use crate::fluid;
use crate::fluid::boundary::Change;
use crate::fluid::map::MapPoint;
use crate::fluid::theorem::Theorem;
use crate::study::fluid::{
    AsGiven, Designs, GivenModel, Named, RightmostMode, Solution, StabilityBoundary, StabilityMap, settled,
};
use crate::table::{Cell, Records};

/// Turning points in the summary of a solution.
const TURNS: usize = 6;

/// The end of a solution, its range, its turning points, and the stability of the equilibrium.
pub fn solution(solution: &Solution) -> Document {
    let Solution { end: (end, state), turns, equilibrium, mode, .. } = solution;
    let fixed = |value: f64| Shown::from(format!("{value:.6}"));
    let line = |place: usize| {
        let (name, least) = solution.least.0[place];
        let (_, greatest) = solution.greatest.0[place];
        let rest = equilibrium.as_ref().map_or("none".into(), |Named(values)| fixed(values[place].1));
        TableLine::new(titled(name), vec![fixed(state[place]), fixed(least), fixed(greatest), rest])
    };
    let columns = ["at the end", "minimum", "maximum", "equilibrium"];
    let table = Table {
        corner: "state".into(),
        columns: columns.into_iter().map(|title| Column::number(title, "")).collect(),
        lines: (0..state.len()).map(line).collect(),
        linked: false,
    };
    let (mut facts, mut about) = (Vec::new(), String::new());
    if solution.diverged {
        facts.push(("diverges", format!("the last finite state is at {end:.6} s")));
        about += "The solution diverges. ";
    }
    let shown =
        turns.iter().take(TURNS).map(|turn| format!("{:.3} at {:.2} s", turn.window_packets, turn.time_s));
    let more = turns.len().checked_sub(TURNS + 1).map(|more| format!("{} more", more + 1));
    let all = shown.chain(more).collect::<Vec<_>>().join(", ");
    let turning = match turns.len() {
        0 => "The window has no turning points.".to_string(),
        _ => format!("Turning points of the window: {all}."),
    };
    match (mode, &solution.no_equilibrium) {
        (Some(mode), _) => {
            let verdict = match (solution.stable == Some(true), mode.imaginary > 0.0) {
                (true, false) => "stable, without oscillation",
                (true, true) => "stable, with a decaying oscillation",
                (false, _) => "unstable",
            };
            about += &format!("The equilibrium is {verdict}.");
            facts.push(("equilibrium", verdict.into()));
            facts.push(("rightmost mode", shown_mode(*mode)));
        }
        (None, why) => {
            about += "There is no equilibrium.";
            facts.push(("equilibrium", why.clone().unwrap_or_default()));
        }
    }
    let range = format!("Minimum and maximum from {:.4} s to {end:.4} s.", settled(*end));
    let drawn = figure("trajectory", "Trajectory", trajectory(solution));
    let blocks = vec![Block::Table(table), Block::prose(range), Block::prose(turning), drawn];
    let stability = vec![facts_of(facts), theorem(&solution.theorem)];
    let sections = vec![("Solution", blocks), ("Stability", stability)];
    Document { about: about.into(), ..document(&solution.subject, sections) }
}

/// The number of points of a map by their behaviour, and the map.
pub fn stability(map: &StabilityMap) -> Document {
    let StabilityMap { subject, x, y, counts, .. } = map;
    let count = |name: &'static str, number: usize| TableLine::new(name, vec![number.to_string().into()]);
    let both = counts.stable_and_allowed_by_theorem;
    let assumed = counts.unstable_though_allowed_with_assumptions;
    let table = Table {
        corner: format!("{} and {}", x.name, y.name),
        columns: vec![Column::number("points", "")],
        lines: vec![
            count("all", counts.points),
            count("stable", counts.stable),
            count("unstable", counts.with_equilibrium - counts.stable),
            count("without an equilibrium", counts.points - counts.with_equilibrium),
            count("stable, but refused by the theorem", counts.stable - both),
            count("unstable, but allowed by the theorem", counts.unstable_though_allowed_by_theorem),
            count("of these, those that satisfy its assumptions", assumed),
        ],
        linked: false,
    };
    let name = subject.config.build().theorem().name;
    let blocks = vec![
        Block::Table(table),
        Block::prose(format!("The theorem is {name}.")),
        figure("stability", "Stability", drawn_map(map)),
    ];
    let about = format!(
        "{} of {} points of {} and {} are stable; {name} allows {both} of these.",
        counts.stable, counts.points, x.name, y.name
    );
    Document { about: about.into(), ..document(subject, vec![("Stability", blocks)]) }
}

/// The boundaries of stability, of the theorem and of oscillation.
pub fn boundary(boundary: &StabilityBoundary) -> Document {
    let StabilityBoundary { subject, along, found, theorem } = boundary;
    let at = |change: Option<Change>| match change {
        None => "nowhere in this range".to_string(),
        Some(Change { at, at_begin: true }) => format!("{} or less", along.written(at)),
        Some(Change { at, .. }) => format!("{at:.4}{}", along.unit),
    };
    let mode = found.mode.map_or("none".into(), |mode| shown_mode(mode.into()));
    let facts = [
        (format!("smallest unstable {}", along.name), at(found.unstable)),
        ("mode there".into(), mode),
        ("oscillates from".into(), at(found.oscillating)),
        (format!("{} fails from", theorem.name), at(found.theorem)),
    ];
    document(subject, vec![("Boundary", vec![Block::Facts(facts.into())])])
}

/// The values of each parameter that meet the goal, and the values that the theorem allows.
pub fn designs(designs: &Designs) -> Document {
    let number = |margin: Option<f64>, unit: &str| {
        margin.map_or("none".to_string(), |margin| format!("{margin:.2}{unit}"))
    };
    let facts = match &designs.as_given {
        AsGiven::None { error } => vec![("equilibrium", error.clone())],
        AsGiven::Margins { meets_goal, mode, phase_margin_degrees, gain_margin } => vec![
            ("goal", if *meets_goal { "met" } else { "missed" }.into()),
            ("rightmost mode", shown_mode(*mode)),
            ("phase margin", number(*phase_margin_degrees, "°")),
            ("gain margin", number(*gain_margin, "")),
        ],
    };
    let given = Section::new("As given", vec![facts_of(facts), theorem(&designs.theorem)]);
    let section = |design: &fluid::design::Design| {
        let fluid::design::Design { axis, exact, theorem, assumed } = design;
        let intervals = |all: &[(f64, f64)]| intervals(all, &axis.unit);
        let found = vec![
            ("meets the goal", intervals(exact)),
            ("the theorem allows", intervals(theorem)),
            ("with its assumptions", intervals(assumed)),
        ];
        let (from, to) = (axis.written(axis.from), axis.written(axis.to));
        Section::new(format!("{} from {from} to {to}", axis.name), vec![facts_of(found)])
    };
    let mut whole = document(&designs.subject, Vec::new());
    whole.sections = [given].into_iter().chain(designs.designs.iter().map(section)).collect();
    whole
}

fn document(subject: &GivenModel, sections: Vec<(&str, Vec<Block>)>) -> Document {
    let sections = sections.into_iter().map(|(heading, blocks)| Section::new(heading, blocks));
    Document {
        title: format!("Fluid model: {}", subject.title()),
        about: Default::default(),
        sections: sections.collect(),
    }
}

fn figure(name: &str, title: &str, drawing: Drawing) -> Block {
    let drawn = Figure { name: name.into(), title: title.into(), note: "", class: None, drawing };
    Block::Figures(Layout::Whole, vec![drawn])
}

fn facts_of(facts: Vec<(&str, String)>) -> Block {
    Block::Facts(facts.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
}

/// The published result and its assumptions.
fn theorem(theorem: &Theorem) -> Block {
    let Theorem { name, left, right, assumptions } = theorem;
    let verdict = if theorem.holds() { "holds" } else { "fails" };
    let assumed = assumptions.iter().map(|(what, holds)| {
        (format!("assumes that {what}"), if *holds { "holds" } else { "does not hold" }.to_string())
    });
    let inequality = (name.to_string(), format!("{left:.6} <= {right:.6} {verdict}"));
    Block::Facts([inequality].into_iter().chain(assumed).collect())
}

fn shown_mode(RightmostMode { real, imaginary }: RightmostMode) -> String {
    if imaginary > 0.0 { format!("{real:.4} ± {imaginary:.4}j") } else { format!("{real:.4}") }
}

/// Intervals to five significant digits.
fn intervals(all: &[(f64, f64)], unit: &str) -> String {
    let shown = |value: f64| {
        let round = format!("{value:.4e}").parse().unwrap_or(value);
        format!("{round}{unit}")
    };
    match all {
        [] => "nowhere".into(),
        all => {
            let one = |(from, to): &(f64, f64)| format!("{} to {}", shown(*from), shown(*to));
            all.iter().map(one).collect::<Vec<_>>().join(", ")
        }
    }
}

/// A line for each point of a map: its mode, the fate of a small deviation, and the left side of the published
/// condition over the right one.
pub fn records(map: &StabilityMap) -> Records {
    let columns = ["real_per_s", "imaginary_rad_s", "behaviour", "theorem_ratio", "assumptions_hold"];
    let columns = [map.x.column(), map.y.column()].into_iter().chain(columns.map(String::from));
    let row = |point: &MapPoint| {
        let part =
            |of: fn(RightmostMode) -> f64| Cell::Number(point.mode.map_or(f64::NAN, |mode| of(mode.into())));
        vec![
            point.x.into(),
            point.y.into(),
            part(|mode| mode.real),
            part(|mode| mode.imaginary),
            point.behaviour().into(),
            point.theorem.into(),
            if point.assumptions { "true" } else { "false" }.into(),
        ]
    };
    Records { columns: columns.collect(), rows: map.points.iter().map(row).collect() }
}

/// Units at the ends of keys, and how they read.
const UNITS: [(&str, &str); 2] = [("_packets", "packets"), ("_s", "s")];

/// A key for people: `queueing delay, s`.
fn titled(key: &str) -> String {
    let split = |(end, unit): (&str, &str)| Some(format!("{}, {unit}", key.strip_suffix(end)?));
    UNITS.into_iter().find_map(split).unwrap_or_else(|| key.to_string()).replace('_', " ")
}

/// A trajectory, one panel for each state, with the equilibrium as a mark.
fn trajectory(solution: &Solution) -> Drawing {
    let panel = |place: usize| {
        let name = titled(&solution.columns[place]);
        let points = solution.trajectory.iter().map(|row| (row[0], row[place]));
        let rest = solution.equilibrium.iter().map(|Named(values)| values[place - 1].1);
        lines(&Lines {
            title: name.clone(),
            x: Axis::linear("time, s"),
            y: Axis::linear(name),
            series: vec![chart::Line::exact("", points)],
            marks: rest.map(|rest| Mark::y(rest, "equilibrium")).collect(),
            published: Vec::new(),
            measured: None,
        })
    };
    let panels: Vec<Drawing> = (1..solution.columns.len()).map(panel).collect();
    sheet(&solution.subject.title(), &panels, 1)
}

/// A map of the rightmost mode, blue where deviations die out, with its boundary and the theorem's.
fn drawn_map(of: &StabilityMap) -> Drawing {
    let (columns, rows): (Vec<f64>, Vec<f64>) = (of.x.values().collect(), of.y.values().collect());
    let grid = |value: &dyn Fn(&MapPoint) -> f64| -> Vec<Vec<f64>> {
        of.points.chunks(columns.len()).map(|row| row.iter().map(value).collect()).collect()
    };
    let growth = grid(&|point| -point.damping().unwrap_or(f64::NAN));
    let swings = grid(&|point| point.mode.map_or(f64::NAN, |mode| if mode.im > 0.0 { 1.0 } else { 0.0 }));
    let theorem = grid(&|point| libm::log(point.theorem));
    let curve = |name: &str, dashed, values: &[Vec<f64>], level| Contour {
        name: name.into(),
        lines: contour(&columns, &rows, values, level),
        dashed,
    };
    map(&Map {
        title: of.subject.title(),
        x: axis(&of.x),
        y: axis(&of.y),
        contours: vec![
            curve("stable within", false, &growth, 0.0),
            curve("the theorem's bound", true, &theorem, 0.0),
            curve("oscillates beyond", true, &swings, 0.5),
        ],
        columns: columns.clone(),
        rows: rows.clone(),
        values: growth,
        quantity: "real part over modulus of the rightmost mode".into(),
        colours: Colours::Diverging,
    })
}

/// An axis of a parameter as one of a chart.
fn axis(axis: &fluid::axis::ParameterAxis) -> Axis {
    let unit = if axis.unit.is_empty() { String::new() } else { format!(", {}", axis.unit) };
    let label = format!("{}{unit}", axis.name);
    if axis.log { Axis::log(label) } else { Axis::linear(label) }
}

#[cfg(test)]
mod tests {
    use super::super::format::{html, text};
    use super::*;
    use crate::fluid::Config;
    use crate::study::fluid::Plane;

    fn pert() -> GivenModel {
        let config = Config::named("pert").unwrap_or_default();
        GivenModel { model: "pert", parameters: Named(Vec::new()), config }
    }

    #[test]
    fn a_map_shows_its_three_boundaries_and_every_point_has_a_record() {
        let (x, y) = ("rtt=80ms..220ms:12".parse().unwrap(), "delta=0.1ms..10ms:8:log".parse().unwrap());
        let plane = Plane { subject: pert(), x, y };
        let rows = plane.y.values().map(|at| plane.row(at)).collect();
        let map = plane.map(rows);
        assert_eq!(records(&map).rows.len(), 12 * 8);
        let lead = stability(&map).about.plain();
        let stable = format!("{} of 96 points of rtt and delta are stable; Theorem", map.counts.stable);
        assert!(lead.starts_with(&stable) && lead.contains(" allows "), "{lead}");
        let page = html::render(&stability(&map));
        html::tests::check(&page);
        for part in ["stable within", "theorem", "oscillates beyond", "rtt, ms", "delta, ms", "<td>96</td>"] {
            assert!(page.contains(part), "{part}");
        }
    }

    #[test]
    fn a_solution_shows_its_three_states_with_their_equilibrium() {
        let document = solution(&Solution::of(pert(), None, 2.0, 0.1).unwrap());
        let svg = document.figures()[0].drawing.standalone();
        assert_eq!(svg.matches("equilibrium").count(), 3, "{svg}");
        assert!(!svg.contains("NaN"));
        let said = text::render(&document);
        assert!(
            said.contains("window, packets") && said.contains("stable, with a decaying oscillation"),
            "{said}"
        );
    }
}

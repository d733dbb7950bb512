// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The Markov renewal analysis of a persistent session: the document, and records for machines.

mod readings;
mod simulated;
mod theory;

use readings::readings;
use simulated::{OTHERS, beside};
use theory::beside_theory;

use super::document::{Block, Column, Document, Figure, Layout, Section, Shown, Table, TableLine};
use super::factor;
use crate::chart::{Axis, Drawing, Line, Lines, lines};
use crate::markov::{Params, Readings, Sampled, Solution};
use crate::settings::Settings;
use crate::study::fluid::Named;
use crate::study::markov::{Outcome, Point};
use crate::table::number::significant;
use crate::table::{Cell, Estimate, Records};

/// A number of the analysis.
struct Quantity {
    title: &'static str,
    unit: &'static str,
    of: fn(&Solution, &Params) -> f64,
}

const EFFICIENCY: Quantity =
    Quantity { title: "efficiency", unit: "", of: |solution, _| solution.efficiency };
const KILOBYTES: Quantity = Quantity {
    title: "throughput",
    unit: "kB/s",
    of: |solution, params| solution.throughput * params.packet.0 as f64 / 1000.0,
};
const PACKETS: Quantity =
    Quantity { title: "throughput", unit: "packets/s", of: |solution, _| solution.throughput };
const LOSSES: Quantity = Quantity { title: "losses", unit: "1/s", of: |solution, _| solution.losses };

/// All results of a single point.
const QUANTITIES: [Quantity; 10] = [
    EFFICIENCY,
    KILOBYTES,
    PACKETS,
    LOSSES,
    Quantity { title: "loss probability", unit: "", of: |solution, _| solution.loss_probability },
    Quantity { title: "mean window", unit: "packets", of: |solution, _| solution.mean_window },
    Quantity { title: "mean fair rate", unit: "packets/s", of: |solution, _| solution.fair_rate },
    Quantity { title: "states", unit: "", of: |solution, _| solution.states as f64 },
    Quantity { title: "transitions", unit: "", of: |solution, _| solution.transitions as f64 },
    Quantity { title: "residual", unit: "", of: |solution, _| solution.residual },
];

impl Quantity {
    fn at(&self, point: &Point) -> f64 {
        point.solution.as_ref().map_or(f64::NAN, |solution| (self.of)(solution, &point.place.params))
    }

    fn title_and_unit(&self) -> String {
        Column::number(self.title, self.unit).title_and_unit()
    }
}

/// Digits of a result.
const DIGITS: i32 = 4;

/// The whole document.
pub fn document(outcome: &Outcome) -> Document {
    let mut sections = match (outcome.changes()[..].is_empty(), &outcome.along) {
        (false, _) => readings(outcome),
        (true, Some(_)) => along(outcome),
        (true, None) => vec![Section::new("Solution", vec![Block::Table(single(outcome))])],
    };
    if outcome.changes().is_empty() {
        sections.extend(beside(outcome));
        sections.extend(beside_theory(outcome));
    }
    sections.push(chains(outcome));
    sections.push(parameters(outcome));
    Document {
        title: "A persistent session among ephemeral ones".into(),
        about: about(outcome).into(),
        sections,
    }
}

fn about(outcome: &Outcome) -> String {
    let Params { rate, packet, delay, buffer, session, max_sessions, arrivals, .. } =
        &outcome.cases[0].params;
    let parts = [
        ("rate", format!("a link of {}", people(rate))),
        ("packet", format!("packets of {}", people(packet))),
        ("delay", format!("a delay of {}", people(delay))),
        ("buffer", format!("a buffer of {buffer} packets")),
        ("session", format!("sessions of {}", people(session))),
        ("max_sessions", format!("at most {max_sessions} of them")),
        ("arrivals", format!("{arrivals} arrivals per second")),
    ];
    let varied = |name: &str| outcome.along.as_ref().is_some_and(|axis| axis.name == name);
    let fixed: Vec<String> =
        parts.into_iter().filter(|(name, _)| !varied(name)).map(|(_, part)| part).collect();
    format!("Markov renewal analysis of Karnik and Kumar, 2005: {}.", fixed.join(", "))
}

fn people(quantity: &impl ToString) -> String {
    factor::people(&quantity.to_string())
}

/// A value along the axis.
fn label(at: Option<f64>) -> String {
    let text = at.map_or(String::new(), |at| significant(at, DIGITS));
    let whole = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    whole.to_string()
}

/// A result. Rates of loss can be a millionth and are no less true.
fn shown(value: f64) -> String {
    let small = value != 0.0 && value.abs() < 1e-3;
    significant(value, if small { 2 } else { DIGITS })
}

/// The title of the axis, with its unit.
fn axis_title(outcome: &Outcome) -> String {
    outcome
        .along
        .as_ref()
        .map_or(String::new(), |axis| Column::number(&axis.name, &axis.unit).title_and_unit())
}

/// The points of a case for the chosen readings.
fn chosen(outcome: &Outcome, case: usize) -> Vec<&Point> {
    outcome.line(case, None).collect()
}

/// A line for each value of the axis, a column for each case and quantity.
fn grid(outcome: &Outcome, quantities: &[Quantity]) -> Block {
    let cases = || (0..outcome.cases.len()).flat_map(|case| quantities.iter().map(move |of| (case, of)));
    let line = |(place, at): (usize, Option<f64>)| {
        let cell = |(case, quantity): (usize, &Quantity)| -> Shown {
            shown(quantity.at(chosen(outcome, case)[place])).into()
        };
        TableLine::new(label(at), cases().map(cell).collect())
    };
    Block::Table(Table {
        corner: axis_title(outcome),
        columns: cases().map(|(case, of)| Column::number(&outcome.cases[case].name, of.unit)).collect(),
        lines: outcome.values().into_iter().enumerate().map(line).collect(),
        linked: false,
    })
}

/// A line for each quantity, a column for each case.
fn single(outcome: &Outcome) -> Table {
    let cell = |quantity: &Quantity, case: usize| -> Shown {
        let value = quantity.at(chosen(outcome, case)[0]);
        match quantity.title {
            "states" | "transitions" => format!("{value:.0}").into(),
            _ => shown(value).into(),
        }
    };
    let line = |quantity: &Quantity| {
        let cells = (0..outcome.cases.len()).map(|case| cell(quantity, case));
        TableLine::new(quantity.title_and_unit(), cells.collect())
    };
    Table {
        corner: String::new(),
        columns: outcome.cases.iter().map(|case| Column::number(&case.name, "")).collect(),
        lines: QUANTITIES.iter().map(line).collect(),
        linked: false,
    }
}

fn x_axis(outcome: &Outcome) -> Axis {
    let log = outcome.along.as_ref().is_some_and(|axis| axis.log);
    if log { Axis::log(axis_title(outcome)) } else { Axis::linear(axis_title(outcome)) }
}

fn figure(name: &str, title: &str, note: &'static str, drawing: Drawing) -> Block {
    let drawn = Figure { name: name.into(), title: title.into(), note, class: None, drawing };
    Block::Figures(Layout::Whole, vec![drawn])
}

/// A line for each case along the axis.
fn drawn(outcome: &Outcome, name: &str, quantity: &Quantity) -> Block {
    let line = |case: usize| {
        let points = chosen(outcome, case).into_iter();
        let points = points.filter_map(|point| Some((point.place.at?, quantity.at(point))));
        Line::exact(&outcome.cases[case].name, points)
    };
    let chart = Lines {
        title: quantity.title_and_unit(),
        x: x_axis(outcome),
        y: Axis::linear(quantity.title_and_unit()).holding(0.0, 0.0),
        series: (0..outcome.cases.len()).map(line).collect(),
        marks: Vec::new(),
        published: Vec::new(),
        measured: None,
    };
    figure(name, &quantity.title_and_unit(), "", lines(&chart))
}

fn along(outcome: &Outcome) -> Vec<Section> {
    let efficiency = "Throughput over the mean fair rate. It can exceed 1: a loss takes three delays to be noticed, \
                      in which the analysis lets the whole buffer drain however small the rate is.";
    // Packets of 1 kB make both the same numbers.
    let equal = outcome.points.iter().all(|point| point.place.params.packet.0 == 1000);
    let throughput = grid(outcome, if equal { &[KILOBYTES] } else { &[KILOBYTES, PACKETS] });
    vec![
        Section::new(
            "Efficiency",
            vec![
                Block::prose(efficiency),
                grid(outcome, &[EFFICIENCY]),
                drawn(outcome, "efficiency", &EFFICIENCY),
            ],
        ),
        Section::new("Throughput", vec![throughput, drawn(outcome, "throughput", &KILOBYTES)]),
        Section::new("Losses per second", vec![grid(outcome, &[LOSSES]), drawn(outcome, "losses", &LOSSES)]),
    ]
}

/// The sizes of the chains, and the points that have no solution.
fn chains(outcome: &Outcome) -> Section {
    let range = |of: fn(&Solution) -> usize| {
        let all = outcome.points.iter().filter_map(|point| point.solution.as_ref().ok()).map(of);
        let (least, most) = (all.clone().min().unwrap_or(0), all.max().unwrap_or(0));
        if least == most { least.to_string() } else { format!("{least} to {most}") }
    };
    let residual = outcome.points.iter().map(|point| point.solved(|it| it.residual)).fold(0.0, f64::max);
    let facts = [
        ("chains", outcome.points.len().to_string()),
        ("states", range(|it| it.states)),
        ("transitions", range(|it| it.transitions)),
        ("greatest residual", format!("{residual:.1e}")),
    ];
    let facts = facts.map(|(name, value)| (name.to_string(), value)).to_vec();
    let failed = outcome.points.iter().filter_map(|point| {
        let why = point.solution.as_ref().err()?;
        let change = point.place.change.as_ref().map_or(String::new(), |change| format!(", {}", change.name));
        let at = point.place.at.map_or(String::new(), |_| format!(" at {}", label(point.place.at)));
        Some(format!("{}{at}{change}: {why}", outcome.cases[point.place.case].name).into())
    });
    Section::new("Chains", vec![Block::Facts(facts), Block::List(failed.collect())])
}

/// Every parameter and reading that the cases share.
fn parameters(outcome: &Outcome) -> Section {
    let Named(shared) = outcome.shared();
    let is_reading = |name: &str| Readings::fields().iter().any(|field| field.name == name);
    let line = |(name, value): &(&'static str, String)| {
        let field = Params::fields().iter().find(|field| field.name == *name);
        let sentence = field.map_or("", |field| field.doc);
        let choice = field.and_then(|field| field.choices.iter().find(|(choice, _)| choice == value));
        let about = choice.map_or(sentence, |(_, about)| *about).replace('\n', " ");
        TableLine::new(*name, vec![value.clone().into(), about.into()])
    };
    let table = |readings: bool| {
        let lines = shared.iter().filter(|(name, _)| is_reading(name) == readings).map(line).collect();
        let columns = vec![Column::text("value"), Column::text("meaning")];
        Block::Table(Table {
            corner: if readings { "reading" } else { "parameter" }.into(),
            columns,
            lines,
            linked: false,
        })
    };
    Section::new("Parameters and readings", vec![Block::pages(vec![table(false), table(true)])])
}

/// A column: its name, and its value of a row.
type Of<T, V> = (&'static str, fn(&T) -> V);

/// A line for each point, with all numbers of the solution, of Monte Carlo and of the simulation.
pub fn records(outcome: &Outcome) -> Records {
    let at = outcome.along.as_ref().map_or("at".to_string(), |axis| axis.column());
    let solved: [Of<Solution, f64>; 9] = [
        ("throughput_pps", |it| it.throughput),
        ("efficiency", |it| it.efficiency),
        ("losses_per_s", |it| it.losses),
        ("loss_probability", |it| it.loss_probability),
        ("mean_window_packets", |it| it.mean_window),
        ("fair_rate_pps", |it| it.fair_rate),
        ("states", |it| it.states as f64),
        ("transitions", |it| it.transitions as f64),
        ("residual", |it| it.residual),
    ];
    let sampled: [Of<Sampled, Estimate>; 3] = [
        ("throughput_pps", |it| it.throughput),
        ("efficiency", |it| it.efficiency),
        ("losses_per_s", |it| it.losses),
    ];
    let mut columns = vec!["session".to_string(), "reading".into(), at];
    columns.extend(solved.iter().map(|(name, _)| name.to_string()));
    for (other, _) in OTHERS {
        for (name, _) in &sampled {
            columns.extend([format!("{other}_{name}"), format!("{other}_{name}_half_width")]);
        }
    }
    let row = |point: &Point| {
        let change = point.place.change.as_ref().map_or("as chosen", |change| &change.name);
        let mut cells: Vec<Cell> = vec![
            outcome.cases[point.place.case].name.as_str().into(),
            change.into(),
            point.place.at.unwrap_or(f64::NAN).into(),
        ];
        cells.extend(solved.iter().map(|(_, of)| Cell::Number(point.solved(*of))));
        for (_, other) in OTHERS {
            for (_, of) in &sampled {
                let estimate = other(point).as_ref().map(of);
                let mean = estimate.map_or(f64::NAN, |it| it.mean);
                cells.extend(
                    [mean, estimate.and_then(|it| it.half_width).unwrap_or(f64::NAN)].map(Cell::Number),
                );
            }
        }
        cells
    };
    Records { columns, rows: outcome.points.iter().map(row).collect() }
}

#[cfg(test)]
mod tests {
    use super::super::format::{html, text};
    use super::*;
    use crate::markov::Protocol;
    use crate::study::markov::{Question, cases};

    fn outcome(axis: Option<&str>, every_reading: bool) -> Outcome {
        let question = Question {
            cases: cases(&Params::default(), &[Protocol::Ratcp, Protocol::Tcp], &[1.0]),
            along: axis.map(|axis| axis.parse().unwrap()),
            every_reading,
            cycles: None,
            seed: 1,
        };
        let places = question.places().unwrap();
        let points = places.iter().enumerate().map(|(number, place)| {
            let mut point = question.compute(place, number);
            // As if packets had been 2 % slower, and Monte Carlo exact.
            let exact = |value: f64| Estimate { mean: value, half_width: Some(0.01 * value) };
            let solution = point.solution.clone().unwrap();
            let sampled = |scale: f64| Sampled {
                throughput: exact(solution.throughput * scale),
                efficiency: exact(solution.efficiency * scale),
                losses: exact(solution.losses * scale),
            };
            point.drawn = Some(sampled(1.0));
            point.packets = Some(sampled(1.0 / 1.02));
            point
        });
        Outcome { points: points.collect(), cases: question.cases, along: question.along }
    }

    #[test]
    fn the_three_stand_side_by_side_and_a_terminal_has_80_columns() {
        let outcome = outcome(Some("arrivals=0.01..1:3:log"), false);
        let document = document(&outcome);
        let said = text::render(&document);
        assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
        let errors = said.lines().skip_while(|line| !line.starts_with("Error of")).collect::<Vec<_>>();
        let tcp = errors.iter().find(|line| line.starts_with("TCP")).unwrap();
        assert_eq!(
            tcp.split_whitespace().collect::<Vec<_>>()[1..],
            ["0.00", "0", "0.00", "+2.00", "2.00", "+2.00"]
        );
        let page = html::render(&document);
        html::tests::check(&page);
        for figure in document.figures() {
            assert!(!figure.drawing.standalone().contains("NaN"), "{}", figure.name);
        }
        let records = records(&outcome);
        assert_eq!((records.rows.len(), records.rows[0].len()), (6, records.columns.len()));
    }

    #[test]
    fn a_single_point_has_the_size_of_its_chain() {
        let said = text::render(&document(&outcome(None, false)));
        for part in ["states", "transitions", "residual", "TCP", "RATCP δ=1"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
    }
}

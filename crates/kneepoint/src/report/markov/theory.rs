// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The analysis compared with laws of the throughput over the loss probability.

use super::{PACKETS, chosen, figure};
use crate::chart::{Axis, Line, Lines, lines, sheet};
use crate::markov::Params;
use crate::markov::theory::{self, LAWS, Path};
use crate::report::document::{Block, Section};
use crate::study::markov::{Outcome, Point};

/// Laws of the throughput over the loss probability, with the points of the analysis; none if the points differ in their
/// paths.
pub(super) fn beside_theory(outcome: &Outcome) -> Option<Section> {
    let path = |params: &Params| {
        let rtt = params.delay.as_secs_f64();
        let window = params.bdp() + f64::from(params.buffer);
        Path { rtt, timeout: 3.0 * rtt, per_ack: 1.0, window }
    };
    let first = path(&outcome.cases[0].params);
    if outcome.points.iter().any(|point| path(&point.place.params) != first) {
        return None;
    }
    let probability = |point: &Point| point.solved(|solution| solution.loss_probability);
    let cases: Vec<Line> = (0..outcome.cases.len())
        .map(|case| {
            let mut points: Vec<(f64, f64)> = chosen(outcome, case)
                .into_iter()
                .map(|point| (probability(point), PACKETS.at(point)))
                .filter(|(p, _)| *p > LEAST)
                .collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            Line::exact(&outcome.cases[case].name, points)
        })
        .collect();
    let steps =
        || (0..=STEPS).map(|step| LEAST * libm::pow(GREATEST / LEAST, f64::from(step) / f64::from(STEPS)));
    let curve = |name: &str, law: &dyn Fn(f64) -> f64| Line::exact(name, steps().map(|p| (p, law(p))));
    let laws = LAWS
        .iter()
        .map(|law| curve(law.name, &|p| (law.throughput)(p, &first).min(first.window / first.rtt)));
    let responses = theory::response_functions()
        .map(|(name, law)| curve(name, &|p| theory::of_response_function(law, p, &first)));
    let panel = |title: &str, curves: Vec<Line>| {
        lines(&Lines {
            title: title.into(),
            x: Axis::log("loss probability"),
            y: Axis::log("throughput, packets/s"),
            series: cases.iter().cloned().chain(curves).collect(),
            marks: Vec::new(),
            published: Vec::new(),
            measured: None,
        })
    };
    let panels = [panel("laws of TCP", laws.collect()), panel("response functions", responses.collect())];
    let about = format!(
        "The points of the analysis over their loss probability, beside published laws at the base round-trip time of {} s, \
         with a timeout of three of them and a window of at most {} packets, the link and its buffer. The laws assume losses \
         at random and a constant round-trip time, and all but the full and the approximate model of Padhye et al. repair \
         them without timeouts. Loss probabilities below {LEAST} are left out.",
        first.rtt, first.window
    );
    let sources = LAWS.iter().map(|law| (law.name.to_string(), law.source.to_string())).collect();
    let drawing = sheet("Throughput over the loss probability", &panels, 2);
    let blocks = vec![
        Block::prose(about),
        Block::Facts(sources),
        figure("theory", "Throughput over the loss probability", "", drawing),
    ];
    Some(Section::new("Theory", vec![Block::pages(blocks)]))
}

/// The range of loss probabilities in the figure of theory, and the steps of its curves.
const LEAST: f64 = 1e-4;
const GREATEST: f64 = 0.1;
const STEPS: u32 = 60;

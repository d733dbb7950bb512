// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Matrices: shares and loss ratios in every setting, and both in the setting in the middle.

use super::super::number;
use super::ratio;
use crate::chart::{Drawing, Matrix, Tile, matrix};
use crate::study::coexist::{Coexistence, Encounter, Square, parts, shown};

/// The share of each row against each column, in every setting.
pub fn shares(all: &Coexistence) -> Drawing {
    let title = "Share of the row over its fair share, against the column";
    let words = |cell: &Encounter| {
        let taken = cell.taken();
        let (mean, interval) = parts(&taken, cell.most());
        let mean = taken.mean.is_finite().then_some(mean);
        mean.into_iter().chain(interval).collect()
    };
    let quantity = "share of the row / its fair share";
    chart(all, title, &every(all), share_tone, &words, share_legend(), quantity)
}

/// The difference in loss between each row and each column, in every setting.
pub fn losses(all: &Coexistence) -> Drawing {
    let title = "Drop ratio of the row over the column's";
    let words = |cell: &Encounter| match ratio(cell) {
        (mean, Some(interval)) => vec![mean, interval],
        (mean, None) => vec![mean],
    };
    let quantity = "drop ratio of the row / of the column";
    chart(all, title, &every(all), loss_tone, &words, loss_legend(), quantity)
}

/// Shares and losses in the setting in the middle.
pub fn overview(all: &Coexistence) -> Drawing {
    let (flows, buffer) = all.middle();
    let title = format!("Shares and losses at {}", all.setting(flows, buffer));
    let words = |cell: &Encounter| {
        let taken = cell.taken();
        match taken.mean.is_finite() {
            true if cell.loss_ratio()[0].is_nan() => vec![shown(&taken, cell.most()), "no losses".into()],
            true => vec![shown(&taken, cell.most()), format!("loss ratio {}", ratio(cell).0)],
            false => Vec::new(),
        }
    };
    let quantity = "share of the row / its fair share";
    chart(all, &title, &(vec![flows], vec![buffer]), share_tone, &words, share_legend(), quantity)
}

/// The places of flows and of buffers that a picture shows.
type ShownSettings = (Vec<usize>, Vec<usize>);

fn every(all: &Coexistence) -> ShownSettings {
    ((0..all.flows.len()).collect(), (0..all.buffers.len()).collect())
}

/// From zero over the fair share to everything.
fn share_tone(cell: &Encounter) -> f64 {
    let (fair, share) = (cell.fair_share(), cell.taken().mean * cell.fair_share());
    if share < fair { share / fair - 1.0 } else { (share - fair) / (1.0 - fair) }
}

fn share_legend() -> Vec<(f64, String)> {
    [(-1.0, "nothing"), (0.0, "fair"), (1.0, "everything")].map(|(at, text)| (at, text.to_string())).to_vec()
}

/// From losses of the column alone over equal losses to losses of the row alone.
fn loss_tone(cell: &Encounter) -> f64 {
    2.0 * cell.loss_balance().mean - 1.0
}

fn loss_legend() -> Vec<(f64, String)> {
    let ratios =
        [(0.0, "0"), (0.25, "¼"), (0.5, "½"), (1.0, "1"), (2.0, "2"), (4.0, "4"), (f64::INFINITY, "∞")];
    ratios.map(|(ratio, text)| (1.0 - 2.0 / (1.0 + ratio), text.to_string())).to_vec()
}

fn chart(
    all: &Coexistence,
    title: &str,
    (flows, buffers): &ShownSettings,
    tone: fn(&Encounter) -> f64,
    words: &dyn Fn(&Encounter) -> Vec<String>,
    legend: Vec<(f64, String)>,
    quantity: &str,
) -> Drawing {
    let tile = |place: Square| {
        let cell = all.cell(place);
        Tile { tone: tone(cell), words: words(cell), tip: tip(all, place) }
    };
    let places = 0..all.controllers.len();
    let block = |row: usize, column: usize| {
        let line = |place: &usize| {
            buffers
                .iter()
                .map(|buffer| tile(Square { row, column, flows: *place, buffer: *buffer }))
                .collect()
        };
        flows.iter().map(line).collect()
    };
    let drawing = matrix(&Matrix {
        title: title.into(),
        rows: all.controllers.clone(),
        columns: all.controllers.clone(),
        across: ("buffer".into(), buffers.iter().map(|place| all.buffer(*place)).collect()),
        down: flows.iter().map(|place| format!("{} flows", all.flows[*place])).collect(),
        blocks: places.clone().map(|row| places.clone().map(|column| block(row, column)).collect()).collect(),
        legend,
        quantity: quantity.into(),
    });
    drawing.about(format!("{}; {}", all.about, all.extent()))
}

fn tip(all: &Coexistence, place: Square) -> String {
    let cell = all.cell(place);
    let [row, column] = [place.row, place.column].map(|place| &all.controllers[place]);
    let percent = |value: f64| number::significant(100.0 * value, 3);
    let drops = [0, 1].map(|side| percent(cell.estimate(|meeting| meeting.drop_ratio[side]).mean));
    format!(
        "{row} against {column}, {}: {} of its fair share; drops {} % and {} %, utilization {} %",
        all.setting(place.flows, place.buffer),
        shown(&cell.taken(), cell.most()),
        drops[0],
        drops[1],
        percent(cell.estimate(|meeting| meeting.utilization).mean)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::coexist::coexistence::tests::example;

    #[test]
    fn a_tone_is_the_opposite_from_the_other_side() {
        let all = example();
        for place in all.places() {
            let (own, other) =
                (all.cell(place), all.cell(Square { row: place.column, column: place.row, ..place }));
            assert!((share_tone(own) + share_tone(other)).abs() < 1e-12);
            assert!(loss_tone(own).is_nan() || (loss_tone(own) + loss_tone(other)).abs() < 1e-12);
        }
    }

    #[test]
    fn every_picture_has_a_tile_for_each_setting_it_shows() {
        let all = example();
        for (drawing, tiles) in [(shares(&all), 12), (losses(&all), 12), (overview(&all), 4)] {
            let svg = drawing.standalone();
            assert_eq!(svg.matches("<g><title>").count(), tiles);
            assert!(svg.contains("meek&lt;1&gt; against bold") && !svg.contains("NaN"));
            assert!(svg.contains(">10mbit, 60ms, droptail; 3 seeds each"), "{svg}");
            assert!(!drawing.inline("losses").contains("droptail"), "the page says it");
        }
    }

    #[test]
    fn the_legend_of_losses_says_what_a_tile_would() {
        let all = example();
        let cell = all.cell(Square { row: 0, column: 1, flows: 0, buffer: 0 });
        assert!((cell.loss_ratio()[0] - 2.0).abs() < 1e-12);
        let two = loss_legend().into_iter().find(|(_, word)| word == "2");
        assert!(two.is_some_and(|(tone, _)| (tone - loss_tone(cell)).abs() < 1e-12));
    }
}

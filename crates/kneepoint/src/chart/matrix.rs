// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Matrix of pairs: one block per pair, with a coloured tile for each setting.
//!
//! A tile's colour is a hue at some opacity over the background, so that its text stays readable in light and dark
//! mode. The text repeats the value for readers who cannot distinguish the hues.

use super::data::Data;
use super::paper::{Chart, Paper};
use super::{Anchor, Drawing, Pixels, space};

/// A matrix of blocks of tiles.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// Title.
    pub title: String,
    /// Labels of the rows of blocks.
    pub rows: Vec<String>,
    /// Labels of the columns of blocks.
    pub columns: Vec<String>,
    /// The setting that varies from left to right within a block, and its values.
    pub across: (String, Vec<String>),
    /// Values of the setting that varies from top to bottom.
    pub down: Vec<String>,
    /// Tiles by row, column, place down and place across.
    pub blocks: Vec<Vec<Vec<Vec<Tile>>>>,
    /// Labelled tones of the legend, ascending.
    pub legend: Vec<(f64, String)>,
    /// The quantity.
    pub quantity: String,
}

/// One tile.
#[derive(Clone, Debug, PartialEq)]
pub struct Tile {
    /// From -1 in one hue through the background at 0 to 1 in another; NaN is grey.
    pub tone: f64,
    /// Lines of text, the most important first.
    pub words: Vec<String>,
    /// Tooltip.
    pub tip: String,
}

const GAP: f64 = 12.0;
const WORD: f64 = 11.0;
const LINE: f64 = 11.0;
/// Font size of the lines after the first.
const LESS: f64 = 9.0;
/// Strongest opacity of a hue that leaves text readable.
const STRONGEST: f64 = 0.65;

/// Margins left of and above the tiles, and the sizes of a tile and a block.
struct Room {
    left: f64,
    head: f64,
    tile: (f64, f64),
    block: (f64, f64),
}

/// Draws the chart. Its tiles have the size of their words on any paper: on a narrow one, columns for which there is no
/// room are below
/// the others.
pub fn matrix(chart: &Matrix) -> Drawing {
    Drawing::of(chart.clone())
}

impl Chart for Matrix {
    fn draw(&self, paper: &Paper) -> Drawing {
        drawn(self, paper.given())
    }

    /// A row for each tile.
    fn data(&self) -> Vec<Data> {
        let mut lines = Vec::new();
        for (blocks, row) in self.blocks.iter().zip(&self.rows) {
            for (block, column) in blocks.iter().zip(&self.columns) {
                for (tiles, down) in block.iter().zip(&self.down) {
                    for (tile, across) in tiles.iter().zip(&self.across.1) {
                        let names = [row, column, down, across].map(Clone::clone);
                        lines.push(names.into_iter().chain([tile.words.join(" ")]).collect());
                    }
                }
            }
        }
        let about = format!("{} in tiles: {}.", self.quantity, self.rows.join(", "));
        let columns = ["row", "column", "setting", self.across.0.as_str(), self.quantity.as_str()];
        vec![Data::new(about, &columns, lines)]
    }
}

/// Narrowest chart, which has room for its legend.
const NARROWEST: f64 = 360.0;
/// The space between columns and the ones below them.
const APART: f64 = 14.0;

fn drawn(chart: &Matrix, width: Option<f64>) -> Drawing {
    let room = room(chart);
    let all = chart.columns.len();
    let wide = |columns: usize| room.left + columns as f64 * (room.block.0 + GAP) - GAP;
    let fits = |columns: &usize| width.is_none_or(|given| wide(*columns) <= given);
    // Two rows of columns have about the same length.
    let most = (1..=all).rev().find(fits).unwrap_or(1);
    let abreast = all.div_ceil(all.div_ceil(most).max(1)).max(1);
    let high = room.head + chart.rows.len() as f64 * (room.block.1 + GAP);
    let stacks = all.div_ceil(abreast).max(1) as f64;
    let below = stacks * (high + APART) - APART;
    let mut drawing = Drawing::new(wide(abreast).max(NARROWEST), below + 46.0, &chart.title);
    for (stack, first) in (0..all).step_by(abreast).enumerate() {
        let columns = first..all.min(first + abreast);
        let top = stack as f64 * (high + APART);
        name_all(&mut drawing, chart, &room, (columns.clone(), top));
        for (row, blocks) in chart.blocks.iter().enumerate() {
            for (column, block) in blocks[columns.clone()].iter().enumerate() {
                let left = room.left + column as f64 * (room.block.0 + GAP);
                let at = (left, top + room.head + row as f64 * (room.block.1 + GAP));
                draw_block(&mut drawing, &room, at, block);
            }
        }
    }
    draw_legend(&mut drawing, chart, below + 4.0);
    drawing
}

fn room(chart: &Matrix) -> Room {
    let tiles = || chart.blocks.iter().flatten().flatten().flatten();
    let words = |tile: &Tile| {
        let long =
            |(place, word): (usize, &String)| space::length(word, if place == 0 { WORD } else { LESS });
        tile.words.iter().enumerate().map(long).fold(0.0, f64::max)
    };
    let ticks = |names: &[String]| names.iter().map(|name| space::length(name, 11.0)).fold(0.0, f64::max);
    let across = chart.across.1.len().max(1) as f64;
    // A block is at least as wide as its label.
    let heading = ticks(&chart.columns) * 13.0 / 11.0 / across;
    let widest = tiles().map(words).fold(ticks(&chart.across.1), f64::max).max(heading).max(26.0) + 8.0;
    let lines = tiles().map(|tile| tile.words.len()).max().unwrap_or(1).max(1) as f64;
    let tile = (widest.ceil(), 8.0 + WORD + LINE * (lines - 1.0));
    let down = chart.down.len().max(1) as f64;
    let names = chart.rows.iter().map(|name| space::length(name, 13.0)).fold(0.0, f64::max);
    let settings = if down > 1.0 { ticks(&chart.down) } else { 0.0 };
    let settings = if across > 1.0 { settings.max(space::length(&chart.across.0, 11.0)) } else { settings };
    Room {
        left: (names + 16.0 + settings + if settings > 0.0 { 8.0 } else { 0.0 }).ceil(),
        head: if across > 1.0 { 44.0 } else { 24.0 },
        tile,
        block: (across * tile.0, down * tile.1),
    }
}

/// Labels rows and some columns and, at the edges, the settings.
fn name_all(
    drawing: &mut Drawing,
    chart: &Matrix,
    room: &Room,
    (columns, above): (std::ops::Range<usize>, f64),
) {
    let head = above + room.head;
    for (place, name) in chart.columns[columns].iter().enumerate() {
        let left = room.left + place as f64 * (room.block.0 + GAP);
        drawing.text("heading", Anchor::Start, (left, above + 16.0), name);
        if chart.across.1.len() > 1 {
            for (tick, label) in chart.across.1.iter().enumerate() {
                let x = left + room.tile.0 * (tick as f64 + 0.5);
                drawing.text("tick", Anchor::Middle, (x, head - 8.0), label);
            }
        }
    }
    for (place, name) in chart.rows.iter().enumerate() {
        let top = head + place as f64 * (room.block.1 + GAP);
        drawing.text("heading", Anchor::Start, (0.0, top + room.block.1 / 2.0 + 4.5), name);
        if chart.down.len() > 1 {
            for (tick, label) in chart.down.iter().enumerate() {
                let y = top + room.tile.1 * (tick as f64 + 0.5) + 4.0;
                drawing.text("tick", Anchor::End, (room.left - 7.0, y), label);
            }
        }
    }
    if chart.across.1.len() > 1 {
        drawing.text("tick", Anchor::End, (room.left - 7.0, head - 8.0), &chart.across.0);
    }
}

fn draw_block(drawing: &mut Drawing, room: &Room, (left, top): (f64, f64), block: &[Vec<Tile>]) {
    for (down, tiles) in block.iter().enumerate() {
        for (across, tile) in tiles.iter().enumerate() {
            let at = (left + room.tile.0 * across as f64, top + room.tile.1 * down as f64);
            drawing.with_tip(&tile.tip, |drawing| draw_tile(drawing, at, room.tile, tile));
        }
    }
    drawing.rect("frame", (left, top), room.block, 0.0);
}

fn draw_tile(drawing: &mut Drawing, at: (f64, f64), size: (f64, f64), tile: &Tile) {
    colour(drawing, tile.tone, at, size);
    let middle = at.0 + size.0 / 2.0;
    let first = at.1 + (size.1 + WORD - LINE * tile.words.len().saturating_sub(1) as f64) / 2.0 - 1.5;
    for (place, word) in tile.words.iter().enumerate() {
        let y = first + LINE * place as f64;
        drawing.text(if place == 0 { "tile" } else { "tile less" }, Anchor::Middle, (middle, y), word);
    }
}

fn colour(drawing: &mut Drawing, tone: f64, at: (f64, f64), size: (f64, f64)) {
    if !tone.is_finite() {
        return drawing.rect("hole", at, size, 0.0);
    }
    let hue = if tone < 0.0 { "s0" } else { "s1" };
    let opacity = (100.0 * STRONGEST * tone.abs().min(1.0)).round() / 100.0;
    drawing.add(format_args!(
        "<rect class=\"cell {hue}\" fill-opacity=\"{opacity}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
        Pixels(at.0),
        Pixels(at.1),
        Pixels(size.0),
        Pixels(size.1)
    ));
}

/// Draws the colour scale with its labels and the quantity.
fn draw_legend(drawing: &mut Drawing, chart: &Matrix, top: f64) {
    const STEPS: usize = 40;
    const STEP: f64 = 6.0;
    let at = |tone: f64| 34.0 + STEP * STEPS as f64 * (tone + 1.0) / 2.0;
    for step in 0..STEPS {
        let tone = (2.0 * step as f64 + 1.0) / STEPS as f64 - 1.0;
        colour(drawing, tone, (at(-1.0) + STEP * step as f64, top), (STEP, 12.0));
    }
    drawing.rect("frame", (at(-1.0), top), (STEP * STEPS as f64, 12.0), 0.0);
    for (tone, meaning) in &chart.legend {
        drawing.line("axis", (at(*tone), top + 12.0), (at(*tone), top + 16.0));
        drawing.text("tick", Anchor::Middle, (at(*tone), top + 28.0), meaning);
    }
    let beside = at(1.0) + 34.0;
    if beside + space::length(&chart.quantity, 11.5) < drawing.width {
        drawing.text("quantity", Anchor::Start, (beside, top + 10.5), &chart.quantity);
    } else {
        drawing.height += 16.0;
        drawing.text("quantity", Anchor::Start, (0.0, top + 46.0), &chart.quantity);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two(settings: usize) -> Matrix {
        let names = || ["a", "b"].map(String::from).to_vec();
        let tile = |tone: f64| Tile {
            tone,
            words: vec![format!("{tone:.2}"), "± 0.01".into()],
            tip: format!("tone {tone}"),
        };
        let block = |tone| vec![vec![tile(tone); settings]; settings];
        let settings: Vec<String> = (0..settings).map(|place| format!("at {place}")).collect();
        Matrix {
            title: "All".into(),
            rows: names(),
            columns: names(),
            across: ("buffer".into(), settings.clone()),
            down: settings,
            blocks: vec![vec![block(0.0), block(-1.0)], vec![block(1.0), block(f64::NAN)]],
            legend: vec![(-1.0, "nothing".into()), (0.0, "fair".into()), (1.0, "all".into())],
            quantity: "share".into(),
        }
    }

    #[test]
    fn each_setting_of_each_pair_has_a_tile_with_its_words() {
        let body = matrix(&two(3)).body;
        assert_eq!(body.matches("<g><title>").count(), 4 * 9);
        assert_eq!(body.matches("class=\"hole\"").count(), 9);
        assert_eq!(body.matches(">-1.00</text>").count(), 9);
        assert!(body.contains("<rect class=\"cell s1\" fill-opacity=\"0.65\""), "{body}");
        assert_eq!((body.matches(">buffer<").count(), body.matches(">at 2<").count()), (1, 2 + 2));
    }

    #[test]
    fn tiles_and_blocks_do_not_overlap_and_stay_inside() {
        let chart = two(2);
        let (room, drawing) = (room(&chart), matrix(&chart));
        assert_eq!(room.block, (2.0 * room.tile.0, 2.0 * room.tile.1));
        assert!(room.left + 2.0 * room.block.0 + GAP <= drawing.width);
        assert!(room.head + 2.0 * room.block.1 + GAP < drawing.height);
    }

    #[test]
    fn on_a_phone_columns_are_below_each_other_with_every_tile() {
        let wide = matrix(&two(6));
        assert!(wide.width > 400.0, "{}", wide.width);
        let narrow = wide.narrow().expect("a narrow one");
        assert!(narrow.width <= 400.0 && narrow.height > wide.height, "{} x {}", narrow.width, narrow.height);
        let tiles = |drawing: &Drawing| drawing.body.matches("<g><title>").count();
        assert_eq!(tiles(&narrow), tiles(&wide));
        assert_eq!(narrow.body.matches(">a</text>").count(), 1 + 2, "a row beside each of two columns");
    }

    #[test]
    fn one_setting_needs_no_names_for_it() {
        let body = matrix(&two(1)).body;
        assert!(!body.contains("buffer") && !body.contains("at 0"), "{body}");
    }
}

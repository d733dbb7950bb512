// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Small multiples: charts of the same axes side by side, with common scales, ticks on the outside alone and one legend.

use super::data::Data;
use super::frame::{BELOW, Frame, Room, Sides};
use super::groups::{self, Groups};
use super::heat::{self, Heat};
use super::lines::{self, Lines};
use super::paper::{Chart, Paper};
use super::{Anchor, Drawing, space};

/// Small multiples.
#[derive(Clone, Debug, PartialEq)]
pub struct Facets {
    /// Title.
    pub title: String,
    /// The names of the panels, in the order of reading.
    pub panels: Panels,
    /// Panels in a row.
    pub columns: usize,
    /// The name of each panel, or of each column where rows have names.
    pub above: Vec<String>,
    /// The name of each row, if the panels are a table of rows and columns.
    pub beside: Vec<String>,
}

/// Charts of one kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Panels {
    /// Lines over a parameter.
    Lines(Vec<Lines>),
    /// Bars of several series.
    Groups(Vec<Groups>),
    /// Heat maps.
    Heats(Vec<Heat>),
}

/// The width that panels share, gaps among them.
const WIDTH: f64 = 760.0;
const GAP: (f64, f64) = (16.0, 12.0);
/// Least and greatest width of a panel; where there is no room for the least, there are fewer of them in a row.
const PANEL: (f64, f64) = (84.0, 330.0);
/// Least width of a panel where panels may stand one below another.
const LEGIBLE: f64 = 130.0;
/// A panel's height as a share of its width, for single panels and for panels one below another.
const SHAPE: f64 = 0.7;
const FLAT: f64 = 0.5;
const LETTERS: f64 = 12.5;
const STRIP: f64 = 20.0;
/// Height of the title above a panel, which stays clear of points at the upper edge.
const HEAD: f64 = 28.0;
/// The approximate width of the ticks at the left.
const TICKS: f64 = 46.0;
const RIGHT: f64 = 6.0;
const LOWEST: f64 = 60.0;
/// The line of an axis's name.
const NAME: f64 = 20.0;

/// Draws the charts.
pub fn facets(chart: &Facets) -> Drawing {
    Drawing::of(chart.clone())
}

impl Chart for Facets {
    fn draw(&self, paper: &Paper) -> Drawing {
        if let Some(stacked) = self.stacked(paper) {
            return stacked.draw(paper);
        }
        let nothing = || Drawing::new(paper.width(WIDTH), STRIP, &self.title);
        match &self.panels {
            Panels::Lines(panels) => {
                let Some(first) = panels.first() else { return nothing() };
                let all: Vec<&Lines> = panels.iter().collect();
                let frame = |room| lines::framed(&all, (&first.x, &first.y), room);
                let draw = |area: &mut Frame, panel: &Lines| drop(lines::draw(area, panel));
                let told = panels.iter().max_by_key(|panel| panel.published.len()).unwrap_or(first);
                let drawn = Drawn { frame: &frame, draw: &draw, names: (&first.x.label, &first.y.label) };
                arranged(self, panels, &drawn, paper, |whole| lines::name_series(whole, told, &[]))
            }
            Panels::Groups(panels) => {
                let Some(first) = panels.first() else { return nothing() };
                let all: Vec<&Groups> = panels.iter().collect();
                let frame = |room| groups::framed(&all, &first.y, room);
                let draw =
                    |area: &mut Frame, panel: &Groups| drop(groups::draw(area, panel, &panel.levels()));
                let told = panels.iter().max_by_key(|panel| panel.published.len()).unwrap_or(first);
                let drawn = Drawn { frame: &frame, draw: &draw, names: ("", &first.y.label) };
                arranged(self, panels, &drawn, paper, |whole| groups::name_series(whole, told, &[]))
            }
            Panels::Heats(panels) => {
                let Some(first) = panels.first() else { return nothing() };
                let all: Vec<&Heat> = panels.iter().collect();
                let range = heat::range(&all);
                let frame = |room| heat::framed(&all, room);
                let draw = |area: &mut Frame, panel: &Heat| heat::draw(area, panel, range);
                let drawn = Drawn { frame: &frame, draw: &draw, names: (&first.columns.0, &first.rows.0) };
                arranged(self, panels, &drawn, paper, |whole| heat::name_colours(whole, first, range))
            }
        }
    }

    /// A table for each panel.
    fn data(&self) -> Vec<Data> {
        let of_panels: Vec<Vec<Data>> = match &self.panels {
            Panels::Lines(panels) => panels.iter().map(Chart::data).collect(),
            Panels::Groups(panels) => panels.iter().map(Chart::data).collect(),
            Panels::Heats(panels) => panels.iter().map(Chart::data).collect(),
        };
        let titled = |(place, tables): (usize, Vec<Data>)| {
            let title = self.about(place);
            tables.into_iter().map(move |data| Data { title: title.clone(), ..data })
        };
        of_panels.into_iter().enumerate().flat_map(titled).collect()
    }
}

impl Facets {
    /// A table of panels as one column, where a long paper is too narrow for it.
    fn stacked(&self, paper: &Paper) -> Option<Facets> {
        let columns = self.columns.max(1) as f64;
        let room = paper.width(WIDTH) - TICKS - STRIP - GAP.0 * (columns - 1.0);
        let crowded = !self.beside.is_empty() && paper.is_long() && room < LEGIBLE * columns;
        let count = self.beside.len() * self.columns;
        crowded.then(|| Facets {
            columns: 1,
            above: (0..count).map(|place| self.about(place)).collect(),
            beside: Vec::new(),
            ..self.clone()
        })
    }

    /// The subject of a panel: `1 BDP, cubic`.
    fn about(&self, place: usize) -> String {
        let columns = self.columns.max(1);
        let above = if self.beside.is_empty() { place } else { place % columns };
        let both = [self.above.get(above), self.beside.get(place / columns)];
        let words: Vec<&str> = both.into_iter().flatten().map(String::as_str).collect();
        words.join(", ")
    }
}

/// How panels of a kind are drawn.
struct Drawn<'d, P> {
    /// The plot area that all have.
    frame: &'d dyn Fn(Room) -> Frame,
    draw: &'d dyn Fn(&mut Frame, &P),
    /// The names of the axes: across and up.
    names: (&'d str, &'d str),
}

fn arranged<P>(
    chart: &Facets,
    panels: &[P],
    drawn: &Drawn<P>,
    paper: &Paper,
    name: impl Fn(&mut Frame),
) -> Drawing {
    // A table keeps its columns; panels one after the other have as many in a row as there is room for.
    let room = paper.width(WIDTH) - TICKS;
    let least = if paper.is_long() { LEGIBLE } else { PANEL.0 };
    let fit = ((room + GAP.0) / (least + GAP.0)) as usize;
    let wanted = chart.columns.clamp(1, panels.len().max(1));
    let columns = if chart.beside.is_empty() { wanted.min(fit.max(1)) } else { wanted };
    let beside = if chart.beside.is_empty() { 0.0 } else { STRIP };
    let wide = (room - beside - GAP.0 * (columns - 1) as f64) / columns as f64;
    let wide = wide.clamp(PANEL.0, PANEL.1);
    let rows = panels.len().div_ceil(columns);
    let stacked = paper.is_long() && columns == 1;
    let shape = if stacked { FLAT } else { SHAPE };
    let high = (shape * wide + paper.added() / rows.max(1) as f64).max(LOWEST);
    let plot =
        |inner: f64| (drawn.frame)(Room { size: (inner + TICKS, high), above: 0.0, below: 0.0, right: 0.0 });
    let stepped = |area: &Frame| area.right - area.left + GAP.0;
    let whole_width = |area: &Frame| area.left + stepped(area) * columns as f64 - GAP.0 + beside + RIGHT;
    // The room for ticks is now known: on paper of a fixed width, panels shrink so that letters keep their size.
    let about = plot(wide);
    let excess = paper.given().map_or(0.0, |given| whole_width(&about) - given).max(0.0);
    let area = plot((wide - excess / columns as f64).max(PANEL.0));
    let (step, width) = (stepped(&area), whole_width(&area));
    let above = space::together(&chart.above, step, LETTERS);
    let besides = space::together(&chart.beside, high, LETTERS);
    let mut whole = Drawing::new(width, 0.0, &chart.title);
    whole.text("quantity", Anchor::Start, (0.0, 11.0), &space::fitted(drawn.names.1, width, 11.5));
    let mut top = NAME;
    for row in 0..rows {
        let of_row = row * columns..((row + 1) * columns).min(panels.len());
        let headed = chart.beside.is_empty() || row == 0;
        top += if headed { HEAD } else { 0.0 };
        let mut deepest = top + high;
        for place in of_row {
            let left = step * (place % columns) as f64;
            // The last panel of each column has the ticks of x, as does every panel that no screen shows together with it.
            let below = stacked || place + columns >= panels.len();
            let mut frame = area.blank(Sides { left: place % columns == 0, below, names: false });
            (drawn.draw)(&mut frame, &panels[place]);
            if let Some(strip) = above.get(place).filter(|_| headed) {
                let middle = (left + (area.left + area.right) / 2.0, top - 13.0);
                whole.text("name", Anchor::Middle, middle, strip);
            }
            whole.place(&frame.drawing, (left, top));
            let deep = high + if below { STRIP } else { 0.0 };
            deepest = deepest.max(top + frame.drawing.height.max(deep));
        }
        if let Some(strip) = besides.get(row) {
            let middle = (width - RIGHT - 4.0, top + high / 2.0);
            whole.turned("name", middle, strip);
        }
        top = deepest + GAP.1;
    }
    finish(whole, &area, top - GAP.1, drawn.names.0, name)
}

/// The name of x, and the legend.
fn finish(mut whole: Drawing, area: &Frame, bottom: f64, across: &str, name: impl Fn(&mut Frame)) -> Drawing {
    let right = whole.width - RIGHT;
    whole.text("quantity", Anchor::End, (right, bottom + 14.0), &space::fitted(across, right, 11.5));
    whole.height = bottom + if across.is_empty() { 0.0 } else { NAME };
    let mut outer = Frame { bottom: whole.height - BELOW + 4.0, drawing: whole, ..area.blank(Sides::ALL) };
    name(&mut outer);
    outer.drawing
}

#[cfg(test)]
mod tests {
    use super::super::Axis;
    use super::super::lines::Line;
    use super::*;

    fn panel(most: f64) -> Lines {
        Lines {
            title: String::new(),
            x: Axis::linear("RTT, ms"),
            y: Axis::linear("delay, ms"),
            series: ["cubic", "pert"].map(|name| Line::exact(name, [(20.0, 1.0), (80.0, most)])).to_vec(),
            marks: Vec::new(),
            published: Vec::new(),
            measured: None,
        }
    }

    fn four() -> Facets {
        Facets {
            title: "Delay".into(),
            panels: Panels::Lines([2.0, 4.0, 8.0, 40.0].map(panel).to_vec()),
            columns: 2,
            above: ["1 flow", "10 flows"].map(String::from).to_vec(),
            beside: ["0.5 BDP", "1 BDP"].map(String::from).to_vec(),
        }
    }

    #[test]
    fn axes_are_named_once_ticks_are_outside_and_the_legend_is_common() {
        let body = facets(&four()).body;
        for once in ["RTT, ms", "delay, ms", "cubic", "pert", "1 flow", "10 flows", "0.5 BDP", "1 BDP"] {
            assert_eq!(body.matches(&format!(">{once}</text>")).count(), 1, "{once}: {body}");
        }
        assert_eq!(body.matches(">40</text>").count(), 2 + 2, "up at each row, across below each column");
        assert_eq!(body.matches("class=\"line s1\"").count(), 4 + 1, "with the legend");
    }

    #[test]
    fn panels_share_their_scales_so_the_same_number_is_at_the_same_height() {
        let body = facets(&four()).body;
        // Markers in the order of drawing: two of each panel, and the legend's.
        let spots = body.split("<circle class=\"spot s0\"").skip(1);
        let heights: Vec<&str> =
            spots.filter_map(|rest| rest.split("cy=\"").nth(1)?.split('"').next()).collect();
        assert_eq!(heights.len(), 8 + 1);
        assert!([2, 4, 6].iter().all(|place| heights[*place] == heights[0]), "{heights:?}");
    }

    #[test]
    fn a_row_that_is_not_full_has_ticks_below_every_column() {
        let three = Facets {
            panels: Panels::Lines([2.0, 4.0, 8.0].map(panel).to_vec()),
            above: ["a", "b", "c"].map(String::from).to_vec(),
            beside: Vec::new(),
            ..four()
        };
        let body = facets(&three).body;
        assert_eq!((body.matches(">80</text>").count(), body.matches(">c</text>").count()), (2, 1), "{body}");
    }

    #[test]
    fn panels_fit_the_width_of_a_paper_whatever_their_ticks_take() {
        for width in [280.0, 320.7, 498.5] {
            let drawn = Chart::draw(&four(), &Paper::wide(width));
            assert!((drawn.width - width).abs() < 0.1, "{width}: {}", drawn.width);
        }
    }

    #[test]
    fn rows_of_a_narrow_paper_keep_what_tells_them_apart() {
        let rows = ["buffer 0.5 BDP", "buffer 1 BDP", "buffer 2 BDP"].map(String::from).to_vec();
        let panels = Panels::Lines((0..9).map(|place| panel(f64::from(place))).collect());
        let above = ["RTT 20 ms", "RTT 60 ms", "RTT 120 ms"].map(String::from).to_vec();
        let table = Facets { panels, columns: 3, above, beside: rows, ..four() };
        let narrow = Chart::draw(&table, &Paper::wide(311.0)).body;
        for name in ["0.5 BDP", "1 BDP", "2 BDP", "RTT 120 ms"] {
            assert_eq!(narrow.matches(&format!(">{name}</text>")).count(), 1, "{name}: {narrow}");
        }
        assert!(narrow.matches(">50</text>").count() >= 3, "a second number below each column: {narrow}");
        // A phone has the panels one below another, each with its whole name.
        let phone = Chart::draw(&table, &Paper::page(360.0));
        assert!(phone.width <= 360.1 && phone.height > 9.0 * 150.0, "{} {}", phone.width, phone.height);
        assert!(phone.body.contains(">RTT 120 ms, buffer 0.5 BDP</text>"), "{}", phone.body);
        assert!(Chart::draw(&table, &Paper::wide(360.0)).height < 600.0);
    }

    #[test]
    fn no_panel_is_no_mistake() {
        let none = Facets { panels: Panels::Groups(Vec::new()), ..four() };
        assert!(!facets(&none).standalone().contains("NaN"));
    }
}

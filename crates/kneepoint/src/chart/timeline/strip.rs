// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One plot of a timeline, below the name of its quantity and its legend.

use super::super::scale::Scale;
use super::super::space::{self, Space};
use super::super::value::tip_number;
use super::super::{Anchor, Drawing};
use super::{ROW, Strip, TICK, Timeline, Trace};

/// Entries of a legend; the rest is counted.
const MOST_NAMES: usize = 16;
const SAMPLE: f64 = 22.0;

/// Ticks of a plot of some height.
pub(super) fn ticks(plot: f64) -> usize {
    (plot / 28.0).clamp(2.0, 5.0) as usize
}

impl Strip {
    /// The scale of its quantity between two pixels.
    pub(super) fn scale(&self, pixels: (f64, f64)) -> Scale {
        self.axis.scale(&[], pixels, true)
    }

    /// Draws the name of the quantity and the legend behind it, and returns their height.
    pub(super) fn head(&self, drawing: &mut Drawing, (_, right): (f64, f64), at: f64) -> f64 {
        drawing.text("quantity", Anchor::Start, (0.0, at + 12.0), &self.axis.label);
        let named = || self.curves.iter().filter(|curve| !curve.name.is_empty());
        let more = named().count().saturating_sub(MOST_NAMES);
        let note = format!("and {more} more");
        let entries = named().take(MOST_NAMES).map(|curve| (curve.name.as_str(), Some(curve)));
        let entries = entries.chain((more > 0).then_some((note.as_str(), None)));
        // Behind the name of the quantity, or below it where that leaves too little room.
        let behind = space::length(&self.axis.label, 11.5) + 18.0;
        let below = behind > right / 2.0;
        let begin = if below { 4.0 } else { behind };
        let first = if below && named().count() > 0 { ROW } else { 0.0 };
        let (mut place, mut row) = (begin, at + 12.0 + first);
        for (name, curve) in entries {
            let sample = if curve.is_some() { SAMPLE + 6.0 } else { 0.0 };
            let name = space::fitted(name, right - begin - sample, TICK);
            let long = sample + space::length(&name, TICK);
            if place > begin && place + long > right {
                (place, row) = (begin, row + ROW - 2.0);
            }
            if let Some(curve) = curve {
                let points = [(place, row - 4.0), (place + SAMPLE, row - 4.0)].into_iter();
                drawing.path(&format!("line {}", curve.class), points, false);
            }
            drawing.text("note", Anchor::Start, (place + sample, row), &name);
            place += long + 14.0;
        }
        row - at + 12.0
    }

    /// Draws the plot.
    pub(super) fn draw(
        &self,
        drawing: &mut Drawing,
        chart: &Timeline,
        x: &Scale,
        (left, right): (f64, f64),
        (top, bottom): (f64, f64),
    ) {
        if let Some((from, to)) = chart.measured {
            let edge = |value: f64| x.at(value).clamp(left, right);
            let size = (edge(to) - edge(from), bottom - top);
            drawing.with_tip("measured", |inner| inner.rect("measured", (edge(from), top), size, 0.0));
        }
        let y = self.scale((bottom, top));
        for (value, tick) in y.ticks(ticks(bottom - top)) {
            drawing.line("grid", (left, y.at(value)), (right, y.at(value)));
            drawing.text("tick", Anchor::End, (left - 7.0, y.at(value) + 3.5), &tick);
        }
        drawing.line("axis", (left, bottom), (right, bottom));
        let at = |point: &(f64, f64)| (x.at(point.0), y.at(point.1));
        let cover = (right - left + 1.0, bottom - top + 2.0);
        drawing.clipped((left, top - 1.0), cover, |inner| {
            for Trace { class, band, .. } in &self.curves {
                if let Some((low, high)) = band {
                    let outline = high.points().iter().chain(low.points().iter().rev());
                    let outline = outline.filter(|point| point.1.is_finite());
                    inner.path(&format!("band {class}"), outline.map(at), true);
                }
            }
            // The first lies above the others.
            for Trace { class, line, .. } in self.curves.iter().rev() {
                for stretch in line.points().split(|point| !point.1.is_finite()).filter(|one| one.len() > 1) {
                    inner.path(&format!("line {class}"), stretch.iter().map(at), false);
                }
            }
        });
        let mut taken = Vec::new();
        for (value, name) in
            self.levels.iter().filter(|(value, _)| value.is_finite() && y.at(*value) >= top - 1.0)
        {
            let line = y.at(*value);
            drawing.line("mark", (left, line), (right, line));
            let places = [line - 4.0, line + 12.0]
                .map(|row| [(Anchor::End, (right - 2.0, row)), (Anchor::Start, (left + 4.0, row))]);
            // A name above a line at the upper edge is in the room below the legend.
            let inside = Space { from: (left, top - 17.0), to: (right, bottom + 2.0) };
            let long = space::length(name, TICK);
            if let Some((anchor, place, space)) = space::free(places.as_flattened(), long, inside, &taken) {
                drawing.text("note", anchor, place, name);
                taken.push(space);
            }
        }
        self.tell_peak(drawing, x, &y, (left, right), top, &taken);
    }

    /// Says in words how high the highest curve reaches that leaves the plot.
    fn tell_peak(
        &self,
        drawing: &mut Drawing,
        x: &Scale,
        y: &Scale,
        (left, right): (f64, f64),
        top: f64,
        taken: &[Space],
    ) {
        let peaks = self.curves.iter().map(|curve| curve.peak).filter(|peak| y.at(peak.1) < top - 1.0);
        let Some((at, height)) = peaks.max_by(|one, other| one.1.total_cmp(&other.1)) else { return };
        let text = format!("peak {}, cut off", tip_number(height.round()));
        let place = x.at(at);
        let long = space::length(&text, TICK);
        let covered =
            |(from, row): (f64, f64)| Space { from: (from, row - 10.0), to: (from + long, row + 3.0) };
        let is_free =
            |begin: &(f64, f64), others: &[Space]| !others.iter().any(|one| one.meets(&covered(*begin)));
        let sides = [place + 6.0, place - 6.0 - long].into_iter();
        let inside = sides.filter(|from| *from >= left && from + long < right).collect::<Vec<_>>();
        let inside = if inside.is_empty() { vec![(right - long).max(left)] } else { inside };
        let rows = [top + 11.0, top + 25.0];
        let places: Vec<(f64, f64)> = inside.iter().flat_map(|from| rows.map(|row| (*from, row))).collect();
        let drawn = |curve: &Trace| {
            let points = curve.line.points().iter().map(|point| (x.at(point.0), y.at(point.1).max(top)));
            space::along(points)
        };
        let curves: Vec<Space> = self.curves.iter().flat_map(drawn).collect();
        let clear = places.iter().find(|begin| is_free(begin, taken) && is_free(begin, &curves));
        let begin = clear.or_else(|| places.iter().find(|one| is_free(one, taken))).unwrap_or(&places[0]);
        drawing.text("note", Anchor::Start, *begin, &text);
    }
}

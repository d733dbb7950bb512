// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One metric of several schemes: a horizontal bar for each, with its value and confidence interval.

use super::data::Data;
use super::paper::{Chart, Paper};
use super::{Anchor, Drawing, space};

/// The bar of a scheme.
#[derive(Clone)]
pub(in super::super) struct Bar {
    pub(in super::super) class: String,
    pub(in super::super) name: String,
    /// Mean and half width as text.
    pub(in super::super) shown: String,
    pub(in super::super) mean: f64,
    pub(in super::super) interval: (f64, f64),
}

const WIDTH: f64 = 360.0;
const ROW: f64 = 37.0;
const BAR: f64 = 11.0;

/// Bars one below another.
struct Bars {
    label: String,
    bars: Vec<Bar>,
}

/// The chart: bars one below another, each under its name and value.
pub(in super::super) fn bars(label: &str, bars: &[Bar]) -> Drawing {
    Drawing::of(Bars { label: label.into(), bars: bars.to_vec() })
}

impl Chart for Bars {
    fn draw(&self, paper: &Paper) -> Drawing {
        drawn(self, paper.width(WIDTH))
    }

    fn data(&self) -> Vec<Data> {
        let rows = self.bars.iter().map(|bar| vec![bar.name.clone(), bar.shown.clone()]);
        vec![Data::new(format!("Bars of {}.", self.label), &["name", &self.label], rows.collect())]
    }
}

fn drawn(Bars { label, bars }: &Bars, width: f64) -> Drawing {
    let mut drawing = Drawing::new(width, ROW * bars.len() as f64, label);
    let longest = bars.iter().map(|bar| bar.mean.max(bar.interval.1)).filter(|end| end.is_finite());
    let longest = longest.fold(0.0, f64::max);
    let length = |value: f64| if longest > 0.0 { (value / longest).max(0.0) * (width - 2.0) } else { 0.0 };
    for (place, bar) in bars.iter().enumerate() {
        let top = ROW * place as f64;
        let room = width - space::length(&bar.shown, 12.0) - 12.0;
        let name = space::fitted(&bar.name, room, 12.5);
        drawing.text("name", Anchor::Start, (0.0, top + 13.0), &name);
        drawing.text("value", Anchor::End, (width, top + 13.0), &bar.shown);
        drawing.rect("track", (0.0, top + 19.0), (width, BAR), 2.0);
        if !bar.mean.is_finite() {
            continue;
        }
        drawing.rect(&format!("fill {}", bar.class), (0.0, top + 19.0), (length(bar.mean), BAR), 2.0);
        let (low, high) = (length(bar.interval.0), length(bar.interval.1));
        // Too short to be visible.
        if high - low > 1.0 {
            for class in ["halo", "whisker"] {
                whisker(&mut drawing, class, (low, high), top + 19.0 + BAR / 2.0);
            }
        }
    }
    drawing
}

/// A whisker with caps at both ends.
fn whisker(drawing: &mut Drawing, class: &str, (low, high): (f64, f64), middle: f64) {
    drawing.line(class, (low, middle), (high, middle));
    for end in [low, high] {
        drawing.line(class, (end, middle - 3.5), (end, middle + 3.5));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_gives_way_to_the_value_beside_it() {
        let one = Bar {
            class: "s0".into(),
            name: "pert-adaptive with a buffer of 0.25 BDP and a round trip of 20 ms".into(),
            shown: "12.34 ± 0.56".into(),
            mean: 1.0,
            interval: (0.9, 1.1),
        };
        let body = bars("", std::slice::from_ref(&one)).body;
        assert!(body.contains("…") && body.contains(">12.34 ± 0.56</text>"), "{body}");
        assert!(!bars("", &[Bar { name: "pert".into(), ..one }]).body.contains("…"));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Stacked horizontal bars: a whole divided into parts.

use super::data::{self, Data};
use super::legend::legend;
use super::paper::{Chart, Paper};
use super::{Anchor, Drawing, scheme_class, space};
use crate::table::number;

/// One bar.
#[derive(Clone)]
pub(in super::super) struct Stack {
    pub(in super::super) name: String,
    /// Names of the parts and their share of the whole; NaN is omitted.
    pub(in super::super) parts: Vec<(String, f64)>,
}

const WIDTH: f64 = 520.0;
const ROW: f64 = 54.0;
const BAR: f64 = 18.0;

/// Draws the bars, each below its name and above its values, with a legend.
pub(in super::super) fn stacks(label: &str, rows: &[Stack]) -> Drawing {
    Drawing::of(Stacks { label: label.into(), rows: rows.to_vec() })
}

/// Bars one below another.
struct Stacks {
    label: String,
    rows: Vec<Stack>,
}

impl Chart for Stacks {
    fn draw(&self, paper: &Paper) -> Drawing {
        drawn(self, paper.width(WIDTH))
    }

    fn data(&self) -> Vec<Data> {
        let parts = self.rows.iter().flat_map(|row| {
            let part = |(name, share): &(String, f64)| {
                vec![row.name.clone(), name.clone(), data::number_or_none(100.0 * share)]
            };
            row.parts.iter().map(part)
        });
        let about = format!("{}: bars divided into parts.", self.label);
        vec![Data::new(about, &["whole", "part", "share, %"], parts.collect())]
    }
}

fn drawn(Stacks { label, rows }: &Stacks, width: f64) -> Drawing {
    let mut drawing = Drawing::new(width, ROW * rows.len() as f64, label);
    for (place, row) in rows.iter().enumerate() {
        let top = ROW * place as f64;
        drawing.text("name", Anchor::Start, (0.0, top + 13.0), &space::fitted(&row.name, width, 12.5));
        drawing.rect("track", (0.0, top + 19.0), (width, BAR), 2.0);
        let mut left = 0.0;
        for (part, (name, share)) in row.parts.iter().enumerate().filter(|(_, (_, share))| share.is_finite())
        {
            let (wide, shown) = (share * width, format!("{} %", number::plain(100.0 * share)));
            drawing.with_tip(&format!("{name}: {shown}"), |drawing| {
                let inner = (wide - 1.0).max(0.0);
                drawing.rect(&format!("fill {}", scheme_class(part)), (left, top + 19.0), (inner, BAR), 2.0);
            });
            if space::length(&shown, 11.0) < wide {
                drawing.text("tick", Anchor::Middle, (left + wide / 2.0, top + 19.0 + BAR + 12.0), &shown);
            }
            left += wide;
        }
    }
    draw_key(&mut drawing, rows);
    drawing
}

/// Draws the legend, for the bar with the most parts.
fn draw_key(drawing: &mut Drawing, rows: &[Stack]) {
    let Some(row) = rows.iter().max_by_key(|row| row.parts.len()) else { return };
    let names: Vec<&str> = row.parts.iter().map(|(name, _)| name.as_str()).collect();
    let key = legend(drawing.width, &names, |sample, place, (x, y)| {
        sample.rect(&format!("fill {}", scheme_class(place)), (x + 6.0, y - 6.0), (12.0, 12.0), 2.0);
    });
    drawing.place(&key, (0.0, drawing.height));
    drawing.height += key.height;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_fill_the_whole_one_after_the_other() {
        let parts = [("a", 0.25), ("b", f64::NAN), ("c", 0.75)].map(|(name, part)| (name.to_string(), part));
        let body = stacks("", &[Stack { name: "row".into(), parts: parts.to_vec() }]).body;
        assert!(body.contains("<rect class=\"fill s0\" x=\"0\" y=\"19\" width=\"129\""), "{body}");
        assert!(body.contains("<rect class=\"fill s2\" x=\"130\" y=\"19\" width=\"389\""), "{body}");
        assert!(body.contains("<title>c: 75 %</title>") && !body.contains("NaN"));
    }

    #[test]
    fn a_sliver_has_a_tip_and_no_number() {
        let parts = vec![("a".to_string(), 0.995), ("b".to_string(), 0.005)];
        let body = stacks("", &[Stack { name: String::new(), parts }]).body;
        assert!(body.contains("<title>b: 0.5000 %</title>") && !body.contains(">0.5000 %</text>"));
    }
}

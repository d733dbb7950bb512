// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Legends: samples with names, in as many rows as needed.

use super::{Anchor, Drawing, space};

const LINE: f64 = 19.0;
/// The width of a sample with the space behind it, and the space between entries.
const SAMPLE: f64 = 30.0;
const GAP: f64 = 16.0;
const LETTERS: f64 = 12.0;

/// Draws a legend of at most some width. `sample` draws to the left of a line of text, at its middle. Without names it
/// has no height.
pub(super) fn legend(
    width: f64,
    names: &[&str],
    sample: impl Fn(&mut Drawing, usize, (f64, f64)),
) -> Drawing {
    let shown: Vec<String> = names.iter().map(|name| space::fitted(name, width - SAMPLE, LETTERS)).collect();
    let long = |name: &String| SAMPLE + space::length(name, LETTERS) + GAP;
    let all: f64 = shown.iter().map(long).sum();
    // Several rows are columns, too.
    let column = shown.iter().map(long).fold(0.0, f64::max);
    let columns = (((width + GAP) / column) as usize).max(1);
    let mut drawing = Drawing::new(width, 0.0, "");
    let mut next = 0.0;
    for (place, name) in shown.iter().enumerate() {
        let (at, row) = match all - GAP <= width {
            true => (next, 0),
            false => ((place % columns) as f64 * column, place / columns),
        };
        let y = 14.0 + LINE * row as f64;
        sample(&mut drawing, place, (at, y - 4.0));
        drawing.text("entry", Anchor::Start, (at + SAMPLE, y), name);
        drawing.height = y + 6.0;
        next += long(name);
    }
    drawing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_never_leave_the_width_and_none_take_no_room() {
        let names = ["cubic", "pert-adaptive with a name that is longer than all the others", "bbr", "sack"];
        let drawing = legend(200.0, &names, |drawing, place, (x, y)| {
            assert!(
                x >= 0.0 && x + SAMPLE < 200.0 && y < drawing.height + LINE * names.len() as f64,
                "{place}"
            );
        });
        assert!(drawing.body.contains("…") && drawing.height > 2.0 * LINE);
        assert_eq!(legend(200.0, &[], |_, _, _| {}).height, 0.0);
    }

    #[test]
    fn entries_of_several_rows_are_below_each_other() {
        let at = std::cell::RefCell::new(Vec::new());
        let names = ["cubic", "pert", "bbr", "sack"];
        let drawn = |width| {
            legend(width, &names, |_, _, place| at.borrow_mut().push(place));
            at.take()
        };
        assert!(drawn(600.0).iter().all(|place| place.1 == 10.0), "one row");
        let two = drawn(170.0);
        assert_eq!((two[0].0, two[1].0), (two[2].0, two[3].0));
        assert_eq!((two[0].1, two[1].1, two[2].1), (10.0, 10.0, 10.0 + LINE));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Several charts as the panels of one figure.

use super::data::Data;
use super::paper::{Chart, Paper};
use super::{Anchor, Drawing, Key, space};

const GAP: (f64, f64) = (40.0, 30.0);
const HEADING: f64 = 18.0;

/// The least width of panels side by side, in pixels.
const NARROWEST: f64 = 190.0;

/// Charts as panels.
struct Sheet {
    title: String,
    drawings: Vec<Drawing>,
    columns: usize,
}

/// Draws the panels row by row, each below its title. Panels with the same series have one legend, below all of them.
pub fn sheet(title: &str, drawings: &[Drawing], columns: usize) -> Drawing {
    let columns = columns.clamp(1, drawings.len().max(1));
    Drawing::of(Sheet { title: title.into(), drawings: drawings.to_vec(), columns })
}

impl Chart for Sheet {
    fn draw(&self, paper: &Paper) -> Drawing {
        let Sheet { title, drawings, columns } = self;
        let Some(width) = paper.given() else { return arranged(title, drawings, *columns) };
        let room = width + GAP.0;
        let fits = ((room / (NARROWEST + GAP.0)) as usize).clamp(1, *columns);
        let panel = paper.row(room / fits as f64 - GAP.0, drawings.len().div_ceil(fits));
        let panels: Vec<Drawing> = drawings.iter().map(|drawing| drawing.laid_out(&panel)).collect();
        arranged(title, &panels, fits)
    }

    fn data(&self) -> Vec<Data> {
        self.drawings.iter().flat_map(Drawing::data).collect()
    }
}

fn arranged(title: &str, drawings: &[Drawing], columns: usize) -> Drawing {
    let width = drawings.iter().map(|drawing| drawing.width).fold(0.0, f64::max);
    let row_width = columns as f64 * (width + GAP.0) - GAP.0;
    let mut whole = Drawing::new(row_width, 0.0, title);
    let key = shared(drawings);
    let alone: Vec<Drawing> =
        drawings.iter().map(|one| if key.is_some() { one.without_key() } else { one.clone() }).collect();
    let mut top = 8.0;
    for row in alone.chunks(columns) {
        let headings: Vec<_> =
            row.iter().map(|one| space::wrapped(&one.label, width, 13.0 * space::BOLD)).collect();
        let above = 8.0 + HEADING * headings.iter().map(Vec::len).max().unwrap_or(0) as f64;
        for (place, (drawing, heading)) in row.iter().zip(&headings).enumerate() {
            let left = place as f64 * (width + GAP.0);
            for (line, text) in heading.iter().enumerate() {
                whole.text("heading", Anchor::Start, (left, top + 13.0 + HEADING * line as f64), text);
            }
            whole.place(drawing, (left, top + above));
        }
        top += above + row.iter().map(|drawing| drawing.height).fold(0.0, f64::max) + GAP.1;
    }
    whole.height = (top - GAP.1).max(8.0);
    if let Some(Key { body, height, .. }) = key {
        let below = Drawing { body: body.clone(), ..Drawing::new(row_width, *height, "") };
        whole.place(&below, (0.0, whole.height));
        whole.height += height;
    }
    whole
}

/// The legend that contains the entries of all others, if there is one.
fn shared(drawings: &[Drawing]) -> Option<&Key> {
    let keys = drawings.iter().map(|drawing| drawing.key.as_ref()).collect::<Option<Vec<_>>>()?;
    let longest = keys.iter().max_by_key(|key| key.body.len())?;
    let within = |key: &&Key| longest.body.starts_with(&key.body);
    (keys.len() > 1 && keys.iter().all(within)).then_some(longest)
}

impl Drawing {
    /// The drawing without its legend.
    fn without_key(&self) -> Drawing {
        let Some(Key { above: (end, height), .. }) = self.key else { return self.clone() };
        Drawing { body: self.body[..end].to_string(), height, key: None, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_panels_in_two_columns_do_not_overlap() {
        let panels: Vec<Drawing> =
            ["a", "b", "c", "d"].map(|title| Drawing::new(100.0, 50.0, title)).into_iter().collect();
        let whole = sheet("figure", &panels, 2);
        let row = 8.0 + HEADING + 50.0;
        assert_eq!((whole.width, whole.height), (240.0, 8.0 + 2.0 * row + GAP.1));
        for origin in ["0 34", "140 34", "0 140", "140 140"] {
            assert!(whole.body.contains(&format!("translate({origin})")), "{origin}: {}", whole.body);
        }
        assert_eq!(whole.standalone().matches("<svg").count(), 1);
    }

    #[test]
    fn no_panel_is_no_mistake() {
        assert_eq!(sheet("nothing", &[], 2).height, 8.0);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Charts as SVG. Colours are CSS variables, so that a chart follows the page's light or dark mode.
//!
//! A scheme has the same colour in all charts: the palette of Okabe and Ito, distinguishable by colour-blind readers,
//! adjusted for contrast. From the ninth scheme on, colours repeat with dashed lines and pale bars; from the
//! seventeenth on, series are grey, and a note in the legend counts them.
//!
//! A chart is laid out for a [`Paper`](paper::Paper): a page shows it at its own width and scales it, a file may have any size.

mod axis;
mod bars;
mod contour;
mod crossings;
mod data;
mod facets;
mod file;
mod frame;
mod groups;
mod heat;
mod legend;
mod lines;
mod map;
mod matrix;
mod page;
mod palette;
mod panel;
mod paper;
mod scale;
mod scatter;
mod sheet;
mod size;
mod space;
mod stacks;
mod timeline;
mod value;

pub use axis::{Axis, Spacing};
pub use contour::contour;
pub use data::Data;
pub use facets::{Facets, Panels, facets};
pub use file::Look;
pub use frame::Mark;
pub use groups::{Group, Groups, groups};
pub use heat::{Heat, heat};
pub use lines::{Line, Lines, lines};
pub use map::{Colours, Contour, Map, map};
pub use matrix::{Matrix, Tile, matrix};
pub use sheet::sheet;
pub use size::Size;

pub(super) use bars::{Bar, bars};
pub(super) use crossings::{Crossings, crossings};
pub(super) use palette::style;
pub(super) use panel::{Curve, Panel};
pub(super) use scatter::{Dot, scatter};
pub(super) use stacks::{Stack, stacks};
pub(super) use timeline::{Happening, Kind, Strip, Timeline, Trace, timeline};

use std::fmt::{Display, Write};
use std::sync::Arc;

use paper::{Chart, Paper};

use crate::visible::visible;

/// Horizontal alignment of text.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A drawing in pixels, origin at the top left.
#[derive(Clone, Default)]
pub struct Drawing {
    width: f64,
    height: f64,
    /// Accessible label; the title of a standalone chart.
    label: String,
    /// Subtitle of a standalone chart.
    about: String,
    body: String,
    /// The legend, which ends the body.
    key: Option<Key>,
    /// Whether only the page names its curves.
    unnamed: bool,
    /// The legend that the page shows once for several charts: names and classes.
    page_key: Vec<(String, String)>,
    /// Its input.
    source: Option<Arc<dyn Chart>>,
}

/// The widest drawing that leaves room for another next to it, in pixels.
const HALF: f64 = 560.0;

/// A legend: several panels may share one.
#[derive(Clone)]
struct Key {
    body: String,
    height: f64,
    /// Its beginning in the body of its drawing, and the height of the drawing above it.
    above: (usize, f64),
}

impl Drawing {
    fn new(width: f64, height: f64, label: &str) -> Drawing {
        Drawing {
            width,
            height,
            label: label.into(),
            about: String::new(),
            body: String::new(),
            key: None,
            unnamed: false,
            page_key: Vec::new(),
            source: None,
        }
    }

    /// The drawing of a chart, which can be laid out again.
    fn of(chart: impl Chart + 'static) -> Drawing {
        Drawing { source: Some(Arc::new(chart)), ..Drawing::default() }.laid_out(&Paper::default())
    }

    /// The drawing as its chart lays it out for a paper; as it is if it has no chart.
    fn laid_out(&self, paper: &Paper) -> Drawing {
        let Some(source) = &self.source else { return self.clone() };
        let drawn = source.draw(paper);
        let label = if self.label.is_empty() { drawn.label.clone() } else { self.label.clone() };
        let (about, page_key) = (self.about.clone(), self.page_key.clone());
        Drawing { label, about, page_key, source: self.source.clone(), ..drawn }
    }

    /// Sets the subtitle.
    pub(super) fn about(self, about: String) -> Drawing {
        Drawing { about, ..self }
    }

    /// Sets the subtitle of a file unless it has one.
    pub fn with_about(self, about: &str) -> Drawing {
        if self.about.is_empty() { self.about(about.into()) } else { self }
    }

    /// Sets the legend that the page shows once for several charts, of names and classes of colours; a file has it inside.
    pub fn with_page_key(self, key: &[(String, String)]) -> Drawing {
        Drawing { page_key: key.to_vec(), ..self }
    }

    /// The title of a file.
    pub fn title(&self) -> &str {
        &self.label
    }

    /// Width in pixels at which text has its nominal size.
    pub(super) fn width(&self) -> f64 {
        self.width
    }

    /// Whether two of them stand side by side on a page.
    pub(super) fn is_half(&self) -> bool {
        self.width <= HALF
    }

    /// Inserts another drawing at a position.
    fn place(&mut self, other: &Drawing, at: (f64, f64)) {
        self.add(format_args!("<g transform=\"translate({} {})\">", Pixels(at.0), Pixels(at.1)));
        self.body.push_str(&other.body);
        self.add(format_args!("</g>"));
    }

    /// Adds what `draw` draws, with a tooltip.
    fn with_tip(&mut self, tip: &str, draw: impl FnOnce(&mut Drawing)) {
        self.add(format_args!("<g><title>{}</title>", Escaped(tip)));
        draw(self);
        self.add(format_args!("</g>"));
    }

    /// Adds what `draw` draws, clipped to a rectangle.
    fn clipped(&mut self, at: (f64, f64), size: (f64, f64), draw: impl FnOnce(&mut Drawing)) {
        let (x, y, width, height) = (Pixels(at.0), Pixels(at.1), Pixels(size.0), Pixels(size.1));
        self.add(format_args!(
            "<svg x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" viewBox=\"{x} {y} {width} {height}\">"
        ));
        draw(self);
        self.add(format_args!("</svg>"));
    }

    fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.add(format_args!(
            "<line class=\"{class}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>",
            Pixels(from.0),
            Pixels(from.1),
            Pixels(to.0),
            Pixels(to.1)
        ));
    }

    fn rect(&mut self, class: &str, at: (f64, f64), size: (f64, f64), radius: f64) {
        self.add(format_args!(
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>",
            Pixels(at.0),
            Pixels(at.1),
            Pixels(size.0),
            Pixels(size.1),
            Pixels(radius)
        ));
    }

    fn circle(&mut self, class: &str, at: (f64, f64), radius: f64) {
        self.add(format_args!(
            "<circle class=\"{class}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>",
            Pixels(at.0),
            Pixels(at.1),
            Pixels(radius)
        ));
    }

    fn text(&mut self, class: &str, anchor: Anchor, at: (f64, f64), text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        self.add(format_args!(
            "<text class=\"{class}\" text-anchor=\"{anchor}\" x=\"{}\" y=\"{}\">{}</text>",
            Pixels(at.0),
            Pixels(at.1),
            Escaped(text)
        ));
    }

    /// Text that reads downwards, centred at a position.
    fn turned(&mut self, class: &str, at: (f64, f64), text: &str) {
        let (x, y) = (Pixels(at.0), Pixels(at.1));
        self.add(format_args!(
            "<text class=\"{class}\" text-anchor=\"middle\" x=\"{x}\" y=\"{y}\" transform=\"rotate(90 {x} {y})\">{}</text>",
            Escaped(text)
        ));
    }

    /// A polyline, or a polygon if `closed`.
    fn path(&mut self, class: &str, points: impl Iterator<Item = (f64, f64)>, closed: bool) {
        let mut commands = String::new();
        for (x, y) in points {
            let command = if commands.is_empty() { 'M' } else { 'L' };
            // Writing to a string cannot fail.
            let _ = write!(commands, "{command}{} {}", Pixels(x), Pixels(y));
        }
        let end = if closed { "Z" } else { "" };
        self.add(format_args!("<path class=\"{class}\" d=\"{commands}{end}\"/>"));
    }

    fn add(&mut self, element: std::fmt::Arguments) {
        let _ = writeln!(self.body, "{element}");
    }
}

/// Series that differ in colour, or in colour and dash.
pub(super) const DISTINCT: usize = 2 * COLOURS;
const COLOURS: usize = 8;

/// CSS class of the scheme at this index: its colour and dash, and grey where these have run out.
pub(super) fn scheme_class(place: usize) -> String {
    match place {
        0..COLOURS => format!("s{place}"),
        COLOURS..DISTINCT => format!("s{} again", place - COLOURS),
        _ => "more".into(),
    }
}

/// A coordinate, rounded to 0.1 pixel.
struct Pixels(f64);

impl Display for Pixels {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let text = format!("{:.1}", self.0);
        let short = text.strip_suffix(".0").unwrap_or(&text);
        f.write_str(if short == "-0" { "0" } else { short })
    }
}

/// Text escaped for markup and attributes, of SVG as of HTML: without characters that XML forbids, or that a reader cannot see.
pub(super) struct Escaped<'a>(pub(super) &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        for character in visible(self.0).chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_a_name_stays_text() {
        assert_eq!(Escaped("a<b> & \"c\"").to_string(), "a&lt;b&gt; &amp; &quot;c&quot;");
    }

    #[test]
    fn coordinates_have_a_tenth_of_a_pixel_at_most() {
        assert_eq!([10.0, 0.25, -0.01].map(|x| Pixels(x).to_string()), ["10", "0.2", "0"]);
    }
}

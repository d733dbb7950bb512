// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Charts as SVG. Colours are CSS variables, so that a chart follows the page's light or dark mode.
//!
//! A scheme has the same colour in all charts: the palette of Okabe and Ito, distinguishable by colour-blind readers,
//! adjusted for contrast. From the ninth scheme on, colours repeat with dashed lines.

mod axis;
mod bars;
mod contour;
mod crossings;
mod frame;
mod groups;
mod lines;
mod map;
mod matrix;
mod palette;
mod panel;
mod scale;
mod scatter;
mod sheet;
mod space;
mod stacks;

pub use axis::{Axis, Spacing};
pub use contour::contour;
pub use frame::Mark;
pub use groups::{Group, Groups, groups};
pub use lines::{Line, Lines, lines};
pub use map::{Colours, Contour, Map, map};
pub use matrix::{Matrix, Tile, matrix};
pub use sheet::sheet;

pub(super) use bars::{Bar, bars};
pub(super) use crossings::{Crossings, crossings};
pub(super) use palette::style;
pub(super) use panel::{Curve, Panel};
pub(super) use scatter::{Dot, scatter};
pub(super) use stacks::{Stack, stacks};

use std::fmt::{Display, Write};

use crate::visible::visible;

/// Horizontal alignment of text.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A drawing in pixels, origin at the top left.
#[derive(Clone)]
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
}

/// A legend: several panels may share one.
#[derive(Clone)]
struct Key {
    body: String,
    height: f64,
    /// Where it begins in the body of its drawing, and the height of the drawing above it.
    above: (usize, f64),
}

/// Margin around a standalone chart.
const MARGIN: f64 = 14.0;
const TITLE_LINE: f64 = 20.0;
const ABOUT_LINE: f64 = 16.0;

impl Drawing {
    fn new(width: f64, height: f64, label: &str) -> Drawing {
        Drawing { width, height, label: label.into(), about: String::new(), body: String::new(), key: None }
    }

    /// Sets the subtitle.
    pub(super) fn about(self, about: String) -> Drawing {
        Drawing { about, ..self }
    }

    /// Width in pixels at which text has its nominal size.
    pub(super) fn width(&self) -> f64 {
        self.width
    }

    /// Markup for a page that provides style and title.
    pub(super) fn inline(&self) -> String {
        let (width, height) = (Pixels(self.width), Pixels(self.height));
        let label = Escaped(&self.label);
        format!(
            "<svg class=\"chart\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\">\n{}</svg>",
            self.body
        )
    }

    /// A complete SVG file with title, background and style.
    pub fn standalone(&self) -> String {
        let title = space::wrapped(&self.label, self.width, 15.0);
        let about = space::wrapped(&self.about, self.width, 11.5);
        let below_title = MARGIN + TITLE_LINE * title.len() as f64;
        let above = below_title + ABOUT_LINE * about.len() as f64;
        let mut whole = Drawing::new(self.width + 2.0 * MARGIN, self.height + above + MARGIN, "");
        whole.rect("paper", (0.0, 0.0), (whole.width, whole.height), 0.0);
        for (place, line) in title.iter().enumerate() {
            let at = (MARGIN, MARGIN + 12.0 + TITLE_LINE * place as f64);
            whole.text("title", Anchor::Start, at, line);
        }
        for (place, line) in about.iter().enumerate() {
            let at = (MARGIN, below_title + 9.0 + ABOUT_LINE * place as f64);
            whole.text("quantity", Anchor::Start, at, line);
        }
        whole.place(self, (MARGIN, above));
        let (width, height) = (Pixels(whole.width), Pixels(whole.height));
        let label = Escaped(&self.label);
        format!(
            "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\">\n<style>\n{}</style>\n{}</svg>\n",
            palette::written_out(),
            whole.body
        )
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

/// CSS class of the scheme at this index: its colour and dash.
pub(super) fn scheme_class(place: usize) -> String {
    let colour = place % 8;
    if place < 8 { format!("s{colour}") } else { format!("s{colour} again") }
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A chart as its own file: title, legend, background and style are inside it.

use super::legend::legend;
use super::paper::Paper;
use super::size::{PointsPerPixel, Size};
use super::{Anchor, DISTINCT, Drawing, Escaped, Pixels, palette, scheme_class, space};

/// How charts are saved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look {
    /// The size on paper; without one, a screen's.
    pub size: Option<Size>,
    /// The family of its letters; the reader's own without one.
    pub font: Option<String>,
}

/// Margins, and the class and the line of the title.
struct Sheet {
    margin: f64,
    class: &'static str,
    letters: f64,
    line: f64,
}

const SCREEN: Sheet = Sheet { margin: 14.0, class: "title", letters: 15.0, line: 20.0 };
/// A page of a publication has margins, and a caption below the figure.
const PRINT: Sheet = Sheet { margin: 3.0, class: "heading", letters: 13.0, line: 17.0 };
const ABOUT_LINE: f64 = 16.0;
/// An imperceptible number of pixels.
const TOLERANCE: f64 = 0.5;

impl Drawing {
    /// A complete SVG file in the usual size and font.
    pub fn standalone(&self) -> String {
        self.file(&Look::default())
    }

    /// A complete SVG file with title, legend, background and style.
    pub fn file(&self, look: &Look) -> String {
        let (whole, size) = match &look.size {
            None => {
                let whole = self.sheet(&SCREEN, Paper::default());
                let size = format!("width=\"{}\" height=\"{}\"", Pixels(whole.width), Pixels(whole.height));
                (whole, size)
            }
            Some(size) => self.printed(size),
        };
        let (width, height) = (Pixels(whole.width), Pixels(whole.height));
        let label = Escaped(&self.label);
        format!(
            "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" {size} viewBox=\"0 0 {width} {height}\" role=\"img\" \
             aria-label=\"{label}\">\n<style>\n{}</style>\n{}</svg>\n",
            palette::written_out(look.font.as_deref()),
            whole.body
        )
    }

    /// The height in inches that its file has for a look, where it is more than the look asks for: letters keep their size.
    pub fn grown(&self, look: &Look) -> Option<f64> {
        let size = look.size.as_ref()?;
        let wanted = size.height?.pixels();
        let height = self.on_paper(size).1;
        (height > wanted + TOLERANCE).then(|| PointsPerPixel::to_points(height) / 72.0)
    }

    /// The chart laid out for a size on paper, and the attributes that state it.
    fn printed(&self, size: &Size) -> (Drawing, String) {
        let (whole, height) = self.on_paper(size);
        let points = |pixels: f64| PointsPerPixel::to_points(pixels);
        let width = size.width.pixels();
        let attributes = format!("width=\"{:.2}pt\" height=\"{:.2}pt\"", points(width), points(height));
        (whole, attributes)
    }

    /// The chart laid out for a size on paper, and its height there in pixels.
    fn on_paper(&self, size: &Size) -> (Drawing, f64) {
        let width = size.width.pixels();
        let paper = Paper::wide(width - 2.0 * PRINT.margin);
        let mut whole = self.sheet(&PRINT, paper);
        if let Some(height) = size.height {
            // Only the height of the plots differs, so one step suffices.
            whole = self.sheet(&PRINT, paper.taller(height.pixels() - whole.height));
        }
        // A chart that cannot be narrower, such as a matrix of numbers, is scaled instead.
        let scale = (width / whole.width).min(1.0);
        let least = whole.height * scale;
        // A height that panels and legend exceed would scale the letters.
        let height = size.height.map_or(least, |height| height.pixels());
        let height = if least > height + TOLERANCE { least } else { height };
        (whole, height)
    }

    /// The chart below its title and above its legend.
    fn sheet(&self, sheet: &Sheet, paper: Paper) -> Drawing {
        let chart = self.laid_out(&paper);
        let margin = sheet.margin;
        let title = space::wrapped(&self.label, chart.width, sheet.letters);
        let about = match sheet.class {
            "title" => space::wrapped(&self.about, chart.width, 11.5),
            _ => Vec::new(),
        };
        let below_title = margin + sheet.line * title.len() as f64;
        let above = below_title + ABOUT_LINE * about.len() as f64;
        let mut whole = Drawing::new(chart.width + 2.0 * margin, chart.height + above + margin, "");
        let key = self.page_key(&chart);
        whole.height += key.height;
        whole.rect("paper", (0.0, 0.0), (whole.width, whole.height), 0.0);
        for (place, line) in title.iter().enumerate() {
            let at = (margin, margin + sheet.letters - 3.0 + sheet.line * place as f64);
            whole.text(sheet.class, Anchor::Start, at, line);
        }
        for (place, line) in about.iter().enumerate() {
            let at = (margin, below_title + 9.0 + ABOUT_LINE * place as f64);
            whole.text("quantity", Anchor::Start, at, line);
        }
        whole.place(&chart, (margin, above));
        whole.place(&key, (margin, above + chart.height));
        whole
    }

    /// The part of a page's shared legend whose colours occur in this chart.
    fn page_key(&self, chart: &Drawing) -> Drawing {
        let drawn = |class: &str| {
            let ends = [format!(" {class}\""), format!(" {class} other\"")];
            ends.iter().any(|end| chart.body.contains(end.as_str()))
        };
        let entries = self.page_key.iter().filter(|(_, class)| chart.unnamed && drawn(class));
        let grey = scheme_class(DISTINCT);
        let (rest, own): (Vec<_>, Vec<_>) = entries.partition(|(_, class)| *class == grey);
        let more = format!("{} more", rest.len());
        let mut all: Vec<(&str, &str)> =
            own.into_iter().map(|(name, class)| (name.as_str(), class.as_str())).collect();
        if !rest.is_empty() {
            all.push((&more, &grey));
        }
        let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        legend(chart.width, &names, |drawing, place, (x, y)| {
            drawing.path(&format!("line {}", all[place].1), [(x, y), (x + 24.0, y)].into_iter(), false);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Line, Lines, Mark, lines, sheet};
    use super::*;

    fn chart() -> Drawing {
        let series = |name: &str| Line::exact(name, (0..9).map(|x| (f64::from(x), f64::from(x % 4))));
        lines(&Lines {
            title: "Goodput by the round-trip time of the path".into(),
            x: Axis::linear("RTT, ms"),
            y: Axis::linear("goodput, Mbit/s"),
            series: ["cubic", "pert-adaptive", "bbr"].map(series).to_vec(),
            marks: vec![Mark::y(2.0, "capacity")],
            published: Vec::new(),
            measured: None,
        })
        .about("20 Mbit/s".into())
    }

    fn look(size: &str) -> Look {
        Look { size: Some(size.parse().unwrap()), font: None }
    }

    #[test]
    fn a_file_for_a_column_of_paper_is_laid_out_for_it() {
        let svg = chart().file(&look("3.3in"));
        assert!(svg.contains("width=\"237.60pt\""), "{svg}");
        assert!(svg.contains("viewBox=\"0 0 326.7 "), "eight points are eleven pixels: {svg}");
        assert!(!svg.contains("20 Mbit/s"), "a caption says it");
        for name in ["cubic", "pert-adaptive", "bbr", "RTT, ms", "goodput, Mbit/s"] {
            assert!(svg.contains(&format!(">{name}</text>")), "{name}");
        }
    }

    #[test]
    fn a_file_has_the_height_that_it_is_given() {
        let svg = chart().file(&look("3.3x2.2in"));
        assert!(svg.contains("width=\"237.60pt\" height=\"158.40pt\" viewBox=\"0 0 326.7 217.8\""), "{svg}");
        let four = sheet("Four", &[chart(), chart(), chart(), chart()], 2).file(&look("18x15cm"));
        let view = format!("viewBox=\"0 0 {} {}\"", Pixels(18.0 / 2.54 * 99.0), Pixels(15.0 / 2.54 * 99.0));
        assert!(four.contains(&view), "{view}: {}", four.lines().next().unwrap_or_default());
    }

    #[test]
    fn a_height_that_is_too_low_grows_and_letters_keep_their_size() {
        let (low, fits) = (look("3.3x1in"), look("3.3x2.2in"));
        let needed = chart().grown(&low).expect("more than an inch");
        let svg = chart().file(&low);
        let height = format!("height=\"{:.2}pt\"", 72.0 * needed);
        assert!(needed > 1.5 && svg.contains(&height), "{needed}: {svg}");
        assert!(
            svg.contains(&format!("viewBox=\"0 0 326.7 {}\"", Pixels(72.0 * needed * 11.0 / 8.0))),
            "{svg}"
        );
        assert_eq!((chart().grown(&fits), chart().grown(&look("3.3in"))), (None, None));
    }

    #[test]
    fn a_legend_of_the_page_is_in_the_file_with_what_the_chart_draws() {
        let mut panel = super::super::Panel::new("Drops", (520.0, 330.0), (1.0, 1.0), ("x", "y"));
        panel.line("s1", &super::super::Curve::new(vec![(0.0, 0.0), (1.0, 1.0)]));
        let key = [("cubic", "s0"), ("pie", "s1")].map(|(name, class)| (name.to_string(), class.to_string()));
        let drawing = panel.finish().with_page_key(&key);
        let svg = drawing.standalone();
        assert!(svg.contains(">pie</text>") && !svg.contains(">cubic</text>"), "{svg}");
        assert!(!drawing.inline("drops").contains(">pie</text>"), "the page has it");
        assert_eq!(chart().with_page_key(&key).standalone().matches(">cubic</text>").count(), 1);
    }

    #[test]
    fn letters_are_of_the_family_that_is_asked_for() {
        let svg = chart().file(&Look { size: None, font: Some("Times \"New\" <Roman>".into()) });
        assert!(svg.contains("font-family: \"Times New Roman\", sans-serif;"), "{svg}");
    }
}

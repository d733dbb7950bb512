// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A chart within a page, which provides the style: with a title and a description, and laid out again where the page is narrow.

use super::paper::Paper;
use super::{Drawing, Escaped, Pixels};

/// The width of a chart on a phone, in pixels, and the widest chart that is scaled down to it instead.
const PHONE: f64 = 360.0;
const SCALED: f64 = 400.0;

impl Drawing {
    /// Markup for a page, under a name that is unique there.
    pub(in super::super) fn inline(&self, name: &str) -> String {
        let (width, height) = (Pixels(self.width), Pixels(self.height));
        let (name, label, about) = (Escaped(name), Escaped(&self.label), self.described());
        format!(
            "<svg class=\"chart\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"title-{name}\" \
             aria-describedby=\"about-{name}\">\n<title id=\"title-{name}\">{label}</title>\n\
             <desc id=\"about-{name}\">{}</desc>\n{}</svg>",
            Escaped(&about),
            self.body
        )
    }

    /// The chart as a phone shows it; none where it may be scaled, or cannot be narrower.
    pub(in super::super) fn narrow(&self) -> Option<Drawing> {
        let narrow = self.laid_out(&Paper::page(PHONE));
        (self.width > SCALED && narrow.width <= SCALED).then_some(narrow)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Line, Lines, lines, sheet};

    fn chart() -> super::Drawing {
        lines(&Lines {
            title: "Loss <rate>".into(),
            x: Axis::linear("rate, Mbit/s"),
            y: Axis::linear("loss, %"),
            series: vec![Line::exact("cubic", [(1.0, 2.0), (2.0, 3.0)])],
            marks: Vec::new(),
            published: Vec::new(),
            measured: None,
        })
    }

    #[test]
    fn a_chart_has_its_title_and_its_description_under_names_of_its_own() {
        let markup = chart().inline("loss");
        assert!(markup.contains("aria-labelledby=\"title-loss\""), "{markup}");
        assert!(markup.contains("<title id=\"title-loss\">Loss &lt;rate&gt;</title>"), "{markup}");
        let about = "<desc id=\"about-loss\">loss, % over rate, Mbit/s from 1 to 2: cubic.</desc>";
        assert!(markup.contains(about), "{markup}");
    }

    #[test]
    fn panels_are_below_each_other_on_a_phone() {
        let both = sheet("both", &[chart(), chart()], 2);
        let narrow = both.narrow().unwrap();
        assert!(both.width > 1000.0 && narrow.width < 400.0 && narrow.height > both.height);
        assert!(narrow.narrow().is_none());
        assert_eq!(both.data().len(), 2);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The paper that a chart is laid out for. Text keeps its size, so that a narrow chart has fewer ticks rather than smaller ones.

use super::{Data, Drawing};

/// The input of a chart, kept with its drawing, to be laid out again for another paper.
pub(super) trait Chart: Send + Sync {
    /// Draws the chart for a paper.
    fn draw(&self, paper: &Paper) -> Drawing;

    /// Its numbers, a table for each panel.
    fn data(&self) -> Vec<Data>;
}

/// The width of a chart, in pixels at which text has its nominal size, and the addition to its height.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Paper {
    /// That of each chart by itself if there is none.
    width: Option<f64>,
    taller: f64,
    /// Whether it is as tall as charts need, like a scrolling page.
    long: bool,
}

/// Lowest plot with room for two ticks, in pixels.
const LOWEST: f64 = 60.0;

impl Paper {
    /// A paper of this width.
    pub(super) fn wide(width: f64) -> Paper {
        Paper { width: Some(width), ..Paper::default() }
    }

    /// A page of this width, on which charts may stand one below another.
    pub(super) fn page(width: f64) -> Paper {
        Paper { long: true, ..Paper::wide(width) }
    }

    /// Whether charts may stand one below another.
    pub(super) fn is_long(&self) -> bool {
        self.long
    }

    /// The same paper, with charts taller by some pixels.
    pub(super) fn taller(self, by: f64) -> Paper {
        Paper { taller: self.taller + by, ..self }
    }

    /// The width, if it is given.
    pub(super) fn given(&self) -> Option<f64> {
        self.width
    }

    /// A paper of some width for one of `count` charts, one above another, which share what is added to the height.
    pub(super) fn row(self, width: f64, count: usize) -> Paper {
        Paper { width: Some(width), taller: self.taller / count.max(1) as f64, ..self }
    }

    /// The width of a chart that is `usual` wide by itself.
    pub(super) fn width(&self, usual: f64) -> f64 {
        self.width.unwrap_or(usual)
    }

    /// The size of a chart that has a `usual` one by itself: a narrow one keeps more of its height than of its width.
    pub(super) fn size(&self, usual: (f64, f64)) -> (f64, f64) {
        let width = self.width(usual.0);
        let height = usual.1 * (0.3 + 0.7 * width / usual.0).clamp(0.5, 1.25);
        (width, (height + self.taller).max(LOWEST + 64.0))
    }

    /// The addition to the height.
    pub(super) fn added(&self) -> f64 {
        self.taller
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_has_its_own_size_unless_the_paper_has_one() {
        assert_eq!(Paper::default().size((520.0, 320.0)), (520.0, 320.0));
        let (width, height) = Paper::wide(260.0).size((520.0, 320.0));
        assert!(width == 260.0 && height > 0.5 * 320.0 && height < 320.0, "{height}");
        assert_eq!(Paper::wide(260.0).taller(30.0).size((520.0, 320.0)).1, height + 30.0);
        assert_eq!(Paper::wide(260.0).taller(-1e4).size((520.0, 320.0)).1, LOWEST + 64.0);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Pictures as PNG.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::Tree;

use super::failed;
use crate::failure::Failure;

/// Pixels per pixel of a screen, and for 300 pixels per inch on paper.
const SCREEN: f32 = 2.0;
const PAPER: f32 = 300.0 / 96.0;

/// Draws a picture at double resolution, or at print resolution.
pub(super) fn render(tree: &Tree, printed: bool) -> Result<Vec<u8>, Failure> {
    let scale = if printed { PAPER } else { SCREEN };
    // Less than a hundredth of a pixel is rounding.
    let pixels = |length: f32| (length * scale - 0.01).ceil() as u32;
    let (width, height) = (pixels(tree.size().width()), pixels(tree.size().height()));
    let mut picture = Pixmap::new(width, height)
        .ok_or_else(|| failed(format!("cannot make a PNG of {width} × {height} pixels")))?;
    resvg::render(tree, Transform::from_scale(scale, scale), &mut picture.as_mut());
    picture.encode_png().map_err(|error| failed(format!("cannot make a PNG: {error}")))
}

#[cfg(test)]
mod tests {
    use kneepoint::chart::{Axis, Drawing, Line, Lines, Look, lines};
    use resvg::tiny_skia::PremultipliedColorU8;

    use super::super::ChartOptions;
    use super::*;

    fn chart(title: &str) -> Drawing {
        let series = vec![Line::exact("", [(0.0, 0.0), (1.0, 1.0)])];
        let title = title.into();
        lines(&Lines {
            title,
            x: Axis::linear("x"),
            y: Axis::linear("y"),
            series,
            marks: Vec::new(),
            published: Vec::new(),
            measured: None,
        })
    }

    fn picture(title: &str, look: &Look) -> Pixmap {
        let printer = ChartOptions::default().printer().unwrap();
        let tree = printer.tree(&chart(title).file(look)).unwrap();
        Pixmap::decode_png(&render(&tree, look.size.is_some()).unwrap()).unwrap()
    }

    fn is_painted(picture: &Pixmap, colour: (u8, u8, u8)) -> bool {
        let same = |pixel: &PremultipliedColorU8| (pixel.red(), pixel.green(), pixel.blue()) == colour;
        picture.pixels().iter().any(same)
    }

    #[test]
    fn a_chart_has_its_colours_on_white_paper_and_two_pixels_for_one() {
        let picture = picture("Title", &Look::default());
        assert_eq!(picture.width(), 2 * (520 + 28));
        let corner = picture.pixel(0, 0).unwrap();
        assert_eq!((corner.red(), corner.green(), corner.blue(), corner.alpha()), (255, 255, 255, 255));
        assert!(is_painted(&picture, (0x00, 0x72, 0xb2)), "the first series");
    }

    #[test]
    fn a_chart_for_paper_has_300_pixels_to_an_inch() {
        let look = Look { size: Some("3.3x2.2in".parse().unwrap()), font: None };
        let picture = picture("Title", &look);
        assert_eq!((picture.width(), picture.height()), (990, 660));
    }

    #[test]
    fn text_needs_no_font_of_the_machine() {
        let ink = (0x1c, 0x23, 0x30);
        let with = |title| picture(title, &Look::default());
        assert!(is_painted(&with("Ω ≤ 10⁻⁵"), ink) && !is_painted(&with(""), ink));
    }

    #[test]
    fn what_is_no_svg_says_so() {
        assert!(ChartOptions::default().printer().unwrap().tree("<html>").is_err());
    }
}

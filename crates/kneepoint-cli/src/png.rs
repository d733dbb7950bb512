// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Renders SVG to PNG at double resolution with a built-in font: the same image on every machine.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};

use crate::failure::Failure;

const FONTS: [&[u8]; 2] =
    [include_bytes!("../font/Roboto-Regular.ttf"), include_bytes!("../font/Roboto-Bold.ttf")];
const SCALE: f32 = 2.0;

/// Renders a standalone SVG in light mode.
pub fn render(svg: &str) -> Result<Vec<u8>, Failure> {
    let failed = |message: String| Failure::run(message, "use the SVG as it is");
    let mut fonts = Database::new();
    for font in FONTS {
        fonts.load_font_data(font.to_vec());
    }
    fonts.set_sans_serif_family("Roboto");
    fonts.set_serif_family("Roboto");
    let options = Options { fontdb: Arc::new(fonts), font_family: "Roboto".into(), ..Options::default() };
    let tree = Tree::from_str(svg, &options)
        .map_err(|error| failed(format!("cannot make a PNG of an SVG: {error}")))?;
    let size = tree.size();
    let (width, height) = ((size.width() * SCALE).ceil() as u32, (size.height() * SCALE).ceil() as u32);
    let mut picture = Pixmap::new(width, height)
        .ok_or_else(|| failed(format!("cannot make a PNG of {width} × {height} pixels")))?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut picture.as_mut());
    picture.encode_png().map_err(|error| failed(format!("cannot make a PNG: {error}")))
}

#[cfg(test)]
mod tests {
    use kneepoint::chart::{Axis, Line, Lines, lines};
    use resvg::tiny_skia::PremultipliedColorU8;

    use super::*;

    fn picture(title: &str) -> Pixmap {
        let series = vec![Line::exact("", [(0.0, 0.0), (1.0, 1.0)])];
        let title = title.into();
        let chart = Lines {
            title,
            x: Axis::linear("x"),
            y: Axis::linear("y"),
            series,
            marks: Vec::new(),
            published: Vec::new(),
            measured: None,
        };
        Pixmap::decode_png(&render(&lines(&chart).standalone()).unwrap()).unwrap()
    }

    fn is_painted(picture: &Pixmap, colour: (u8, u8, u8)) -> bool {
        let same = |pixel: &PremultipliedColorU8| (pixel.red(), pixel.green(), pixel.blue()) == colour;
        picture.pixels().iter().any(same)
    }

    #[test]
    fn a_chart_has_its_colours_on_white_paper_and_two_pixels_for_one() {
        let picture = picture("Title");
        assert_eq!(picture.width(), 2 * (520 + 28));
        let corner = picture.pixel(0, 0).unwrap();
        assert_eq!((corner.red(), corner.green(), corner.blue(), corner.alpha()), (255, 255, 255, 255));
        assert!(is_painted(&picture, (0x00, 0x72, 0xb2)), "the first series");
    }

    #[test]
    fn text_needs_no_font_of_the_machine() {
        let ink = (0x1c, 0x23, 0x30);
        assert!(is_painted(&picture("Ω ≤ 10⁻⁵"), ink) && !is_painted(&picture(""), ink));
    }

    #[test]
    fn what_is_no_svg_says_so() {
        assert!(render("<html>").is_err());
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Pictures as PDF: one page of their size, vectors and text with its letters inside. The same picture gives the same bytes.

use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, TextStr};
use resvg::usvg::Tree;

use super::letters::{Letters, deflated};
use super::page::{Page, state_name};
use crate::failure::Failure;

/// Points of a pixel of SVG.
const POINTS: f32 = 0.75;

/// Draws a picture.
pub(super) fn render(tree: &Tree, title: &str) -> Result<Vec<u8>, Failure> {
    let (width, height) = (POINTS * tree.size().width(), POINTS * tree.size().height());
    let mut page = Page { content: Content::new(), letters: Letters::new(tree.fontdb()), alphas: Vec::new() };
    // PDF counts upwards from the bottom.
    page.content.transform([POINTS, 0.0, 0.0, -POINTS, 0.0, height]);
    page.group(tree.root(), 1.0);
    let Page { content, letters, alphas } = page;

    let mut pdf = Pdf::new();
    let mut next = Ref::new(1);
    let [catalog, pages, sheet, drawn, info] = std::array::from_fn(|_| next.bump());
    pdf.catalog(catalog).pages(pages);
    pdf.pages(pages).kids([sheet]).count(1);
    pdf.document_info(info).title(TextStr(title)).creator(TextStr("Kneepoint"));
    let fonts = letters.write(&mut pdf, &mut next)?;
    let states: Vec<Ref> = alphas.iter().map(|_| next.bump()).collect();
    for (alpha, state) in alphas.iter().zip(&states) {
        let share = f32::from(*alpha) / 255.0;
        pdf.ext_graphics(*state).non_stroking_alpha(share).stroking_alpha(share);
    }
    let mut one = pdf.page(sheet);
    one.parent(pages).media_box(Rect::new(0.0, 0.0, width, height)).contents(drawn);
    let mut resources = one.resources();
    let mut named = resources.fonts();
    for (name, font) in &fonts {
        named.pair(Name(name.as_bytes()), *font);
    }
    named.finish();
    let mut opacities = resources.ext_g_states();
    for (alpha, state) in alphas.iter().zip(&states) {
        opacities.pair(Name(state_name(*alpha).as_bytes()), *state);
    }
    opacities.finish();
    resources.finish();
    one.finish();
    let packed = deflated(&content.finish())?;
    pdf.stream(drawn, &packed).filter(Filter::FlateDecode);
    Ok(pdf.finish())
}

#[cfg(test)]
mod tests {
    use flate2::read::ZlibDecoder;
    use kneepoint::chart::{Axis, Line, Lines, Look, lines};

    use super::super::ChartOptions;
    use super::*;

    fn picture(title: &str, look: &Look) -> Vec<u8> {
        let drawing = lines(&Lines {
            title: title.into(),
            x: Axis::linear("time, s"),
            y: Axis::linear("queue, packets"),
            series: vec![Line::exact("cubic", [(0.0, 0.0), (1.0, 1.0)])],
            marks: Vec::new(),
            published: Vec::new(),
            measured: None,
        });
        let tree = ChartOptions::default().printer().unwrap().tree(&drawing.file(look)).unwrap();
        render(&tree, title).unwrap()
    }

    /// The streams of a file that are compressed, without it.
    fn streams(pdf: &[u8]) -> Vec<Vec<u8>> {
        let begin = b"stream\n";
        let begins = (0..pdf.len() - begin.len()).filter(|at| &pdf[*at..*at + begin.len()] == begin);
        let read = |at: usize| {
            let mut plain = Vec::new();
            std::io::Read::read_to_end(&mut ZlibDecoder::new(&pdf[at + begin.len()..]), &mut plain).ok()?;
            Some(plain)
        };
        begins.filter_map(read).collect()
    }

    #[test]
    fn a_page_has_the_size_of_the_picture_in_points() {
        let look = Look { size: Some("3.3x2.2in".parse().unwrap()), font: None };
        let pdf = picture("Queue", &look);
        let text = String::from_utf8_lossy(&pdf);
        assert!(pdf.starts_with(b"%PDF-") && text.trim_end().ends_with("%%EOF"));
        let size = text.split("/MediaBox [").nth(1).and_then(|rest| rest.split(']').next()).unwrap();
        let numbers: Vec<f32> = size.split_whitespace().map(|number| number.parse().unwrap()).collect();
        let near = |one: f32, other: f32| (one - other).abs() < 0.05;
        assert!(near(numbers[2], 237.6) && near(numbers[3], 158.4), "{numbers:?}");
    }

    #[test]
    fn letters_are_inside_and_say_what_they_are() {
        let pdf = picture("Queue", &Look::default());
        let text = String::from_utf8_lossy(&pdf);
        for part in ["/FontFile2", "+Roboto-Regular", "/ToUnicode", "/Identity-H", "/Title"] {
            assert!(text.contains(part), "{part}");
        }
        assert!(text.contains("<0051>"), "the Q of the title as a character");
        assert!(pdf.len() < 60_000, "a font is cut down to its glyphs: {}", pdf.len());
    }

    #[test]
    fn lines_are_lines_in_their_colour() {
        let blue = "0 0.44705883 0.69803923 RG";
        let drawn = streams(&picture("Queue", &Look::default())).into_iter().map(String::from_utf8);
        let page = drawn.flatten().find(|stream| stream.contains(" cm\n")).expect("a page");
        assert!(page.contains(blue), "{page}");
        let count = |operator: &str| page.lines().filter(|line| line.ends_with(operator)).count();
        assert_eq!((count("BT"), count("q")), (count("ET"), count("Q")));
    }

    #[test]
    fn the_same_picture_makes_the_same_bytes() {
        assert_eq!(picture("Queue", &Look::default()), picture("Queue", &Look::default()));
    }
}

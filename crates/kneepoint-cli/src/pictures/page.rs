// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The page of a PDF, as SVG is drawn on it.
//!
//! Charts have paths in plain colours, rectangles to clip to, and text; nothing else of SVG is drawn.

use pdf_writer::types::{LineCapStyle, LineJoinStyle, TextRenderingMode};
use pdf_writer::{Content, Name, Str};
use resvg::usvg::layout::Span;
use resvg::usvg::tiny_skia_path::{PathSegment, Transform};
use resvg::usvg::{
    Fill, FillRule, Group, LineCap, LineJoin, Node, Paint, PaintOrder, Path, ShapeRendering, Stroke, Text,
};

use super::letters::{Letters, named};

/// The page while it is drawn.
pub(super) struct Page {
    pub(super) content: Content,
    pub(super) letters: Letters,
    /// The opacities in use, in 255ths.
    pub(super) alphas: Vec<u8>,
}

/// The name of an opacity in the page.
pub(super) fn state_name(alpha: u8) -> String {
    format!("A{alpha}")
}

fn matrix(of: Transform) -> [f32; 6] {
    [of.sx, of.ky, of.kx, of.sy, of.tx, of.ty]
}

impl Page {
    /// Draws the parts of a group. Its opacity is that of each part, which is the same where parts do not overlap.
    pub(super) fn group(&mut self, group: &Group, opacity: f32) {
        let opacity = opacity * group.opacity().get();
        self.content.save_state();
        if !group.transform().is_identity() {
            self.content.transform(matrix(group.transform()));
        }
        if let Some(clip) = group.clip_path() {
            self.clip(clip.root());
        }
        for node in group.children() {
            match node {
                Node::Group(inner) => self.group(inner, opacity),
                Node::Path(path) if path.is_visible() => self.path(path, opacity),
                Node::Text(text) if self.letters.holds(text) => self.text(text, opacity),
                // As outlines, where a font does not allow more.
                Node::Text(text) => self.group(text.flattened(), opacity),
                Node::Path(_) | Node::Image(_) => {}
            }
        }
        self.content.restore_state();
    }

    /// Clips the following content to the shapes of a group.
    fn clip(&mut self, shapes: &Group) {
        for node in shapes.children() {
            match node {
                Node::Path(path) => self.trace(path),
                Node::Group(inner) => self.clip(inner),
                Node::Text(_) | Node::Image(_) => continue,
            }
        }
        self.content.clip_nonzero().end_path();
    }

    fn path(&mut self, path: &Path, opacity: f32) {
        if let (ShapeRendering::CrispEdges, Some(fill)) = (path.rendering_mode(), path.fill()) {
            return self.cell(path, fill, opacity);
        }
        let fill = |page: &mut Page| {
            if let Some(rule) = path.fill().and_then(|fill| page.fill(fill, opacity)) {
                page.trace(path);
                match rule {
                    FillRule::NonZero => page.content.fill_nonzero(),
                    FillRule::EvenOdd => page.content.fill_even_odd(),
                };
            }
        };
        let stroke = |page: &mut Page| {
            if path.stroke().is_some_and(|stroke| page.stroke(stroke, opacity)) {
                page.trace(path);
                page.content.stroke();
            }
        };
        self.paint(path.paint_order(), fill, stroke);
    }

    /// Fills and strokes, drawn over each other.
    fn paint(&mut self, order: PaintOrder, fill: impl FnOnce(&mut Page), stroke: impl FnOnce(&mut Page)) {
        match order {
            PaintOrder::FillAndStroke => {
                fill(self);
                stroke(self);
            }
            PaintOrder::StrokeAndFill => {
                stroke(self);
                fill(self);
            }
        }
    }

    /// Fills the cell of a map. Viewers leave the paper visible between neighbours that only touch, so that its colour, which is the one
    /// over white paper, goes a little beyond its edge.
    fn cell(&mut self, path: &Path, fill: &Fill, opacity: f32) {
        const BEYOND: f32 = 0.5;
        let Some(colour) = plain(fill.paint()) else { return };
        let share = opacity * fill.opacity().get();
        let [red, green, blue] = colour.map(|part| 1.0 + (part - 1.0) * share);
        self.alpha(1.0);
        self.content.set_fill_rgb(red, green, blue).set_stroke_rgb(red, green, blue).set_line_width(BEYOND);
        self.trace(path);
        self.content.fill_nonzero_and_stroke();
    }

    fn trace(&mut self, path: &Path) {
        let mut last = (0.0, 0.0);
        for segment in path.data().segments() {
            match segment {
                PathSegment::MoveTo(to) => {
                    self.content.move_to(to.x, to.y);
                    last = (to.x, to.y);
                }
                PathSegment::LineTo(to) => {
                    self.content.line_to(to.x, to.y);
                    last = (to.x, to.y);
                }
                PathSegment::QuadTo(by, to) => {
                    // The cubic form of a quadratic curve.
                    let towards = |from: f32, pull: f32| from + (pull - from) * 2.0 / 3.0;
                    let first = (towards(last.0, by.x), towards(last.1, by.y));
                    let second = (towards(to.x, by.x), towards(to.y, by.y));
                    self.content.cubic_to(first.0, first.1, second.0, second.1, to.x, to.y);
                    last = (to.x, to.y);
                }
                PathSegment::CubicTo(first, second, to) => {
                    self.content.cubic_to(first.x, first.y, second.x, second.y, to.x, to.y);
                    last = (to.x, to.y);
                }
                PathSegment::Close => {
                    self.content.close_path();
                }
            }
        }
    }

    /// Sets what areas are filled with; none if it is not a plain colour.
    fn fill(&mut self, fill: &Fill, opacity: f32) -> Option<FillRule> {
        let [red, green, blue] = plain(fill.paint())?;
        self.alpha(opacity * fill.opacity().get());
        self.content.set_fill_rgb(red, green, blue);
        Some(fill.rule())
    }

    /// Sets the style of lines, and returns whether they are drawn.
    fn stroke(&mut self, stroke: &Stroke, opacity: f32) -> bool {
        let Some([red, green, blue]) = plain(stroke.paint()) else { return false };
        self.alpha(opacity * stroke.opacity().get());
        let cap = match stroke.linecap() {
            LineCap::Butt => LineCapStyle::ButtCap,
            LineCap::Round => LineCapStyle::RoundCap,
            LineCap::Square => LineCapStyle::ProjectingSquareCap,
        };
        let join = match stroke.linejoin() {
            LineJoin::Round => LineJoinStyle::RoundJoin,
            LineJoin::Bevel => LineJoinStyle::BevelJoin,
            LineJoin::Miter | LineJoin::MiterClip => LineJoinStyle::MiterJoin,
        };
        self.content
            .set_stroke_rgb(red, green, blue)
            .set_line_width(stroke.width().get())
            .set_line_cap(cap)
            .set_line_join(join)
            .set_miter_limit(stroke.miterlimit().get())
            .set_dash_pattern(stroke.dasharray().unwrap_or(&[]).iter().copied(), stroke.dashoffset());
        true
    }

    fn alpha(&mut self, opacity: f32) {
        let alpha = (255.0 * opacity).round() as u8;
        if !self.alphas.contains(&alpha) {
            self.alphas.push(alpha);
        }
        self.content.set_parameters(Name(state_name(alpha).as_bytes()));
    }

    /// Sets a text whose fonts the page holds.
    fn text(&mut self, text: &Text, opacity: f32) {
        for span in text.layouted().iter().filter(|span| span.visible) {
            let fill = |page: &mut Page| {
                if span.fill.as_ref().is_some_and(|fill| page.fill(fill, opacity).is_some()) {
                    page.show(span, TextRenderingMode::Fill);
                }
            };
            let stroke = |page: &mut Page| {
                if span.stroke.as_ref().is_some_and(|stroke| page.stroke(stroke, opacity)) {
                    page.show(span, TextRenderingMode::Stroke);
                }
            };
            // The halo of a name is behind it, and its words are there once.
            self.paint(span.paint_order, fill, stroke);
        }
    }

    fn show(&mut self, span: &Span, mode: TextRenderingMode) {
        let size = span.font_size.get();
        for glyph in &span.positioned_glyphs {
            let Some((font, number, units_per_em)) = self.letters.glyph(glyph) else { continue };
            let em = units_per_em / size;
            let place = glyph.outline_transform().pre_scale(em, em);
            self.content
                .begin_text()
                .set_text_rendering_mode(mode)
                .set_text_matrix(matrix(place))
                .set_font(Name(named(font).as_bytes()), size)
                .show(Str(&number.to_be_bytes()))
                .end_text();
        }
    }
}

fn plain(paint: &Paint) -> Option<[f32; 3]> {
    match paint {
        Paint::Color(colour) => {
            Some([colour.red, colour.green, colour.blue].map(|part| f32::from(part) / 255.0))
        }
        Paint::LinearGradient(_) | Paint::RadialGradient(_) | Paint::Pattern(_) => None,
    }
}

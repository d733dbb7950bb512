// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Text in PDF: each font is inside with the glyphs in use, so that text can be searched and copied.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Filter, Finish, Name, Pdf, Rect, Ref, Str};
use resvg::usvg::Text;
use resvg::usvg::fontdb::{Database, ID};
use resvg::usvg::layout::PositionedGlyph;
use skrifa::instance::{LocationRef, Size};
use skrifa::raw::TableProvider;
use skrifa::{FontRef, GlyphId, MetadataProvider, Tag};
use subsetter::GlyphRemapper;

use super::failed;
use crate::failure::Failure;

const SYSTEM: SystemInfo = SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };
const IDENTITY: Name = Name(b"Identity-H");
/// Begins the names of fonts that lack glyphs.
const SUBSET: &str = "KNEEPT";

/// The fonts of a page.
pub(super) struct Letters {
    fonts: Arc<Database>,
    used: Vec<(ID, Option<Font>)>,
}

/// A font with the glyphs in use.
#[derive(Default)]
struct Font {
    units_per_em: f32,
    glyphs: GlyphRemapper,
    /// The characters of the glyphs, by their new numbers.
    words: BTreeMap<u16, String>,
}

impl Letters {
    pub(super) fn new(fonts: &Arc<Database>) -> Letters {
        Letters { fonts: fonts.clone(), used: Vec::new() }
    }

    /// The place of a font among the fonts in use.
    fn place(&mut self, id: ID) -> usize {
        self.used.iter().position(|(other, _)| *other == id).unwrap_or_else(|| {
            let font = self.fonts.with_face_data(id, Font::of).flatten();
            self.used.push((id, font));
            self.used.len() - 1
        })
    }

    /// The font and the new number of a glyph; none where the font cannot be inside a PDF.
    pub(super) fn glyph(&mut self, glyph: &PositionedGlyph) -> Option<(usize, u16, f32)> {
        let place = self.place(glyph.font);
        let font = self.used[place].1.as_mut()?;
        let number = font.glyphs.remap(u16::try_from(glyph.id.0).ok()?);
        font.words.entry(number).or_insert_with(|| glyph.text.clone());
        Some((place, number, font.units_per_em))
    }

    /// Whether all of a text can be set as text.
    pub(super) fn holds(&mut self, text: &Text) -> bool {
        text.layouted().iter().flat_map(|span| &span.positioned_glyphs).all(|glyph| {
            let place = self.place(glyph.font);
            self.used[place].1.is_some()
        })
    }

    /// Writes the fonts, and returns their names in the page.
    pub(super) fn write(&self, pdf: &mut Pdf, next: &mut Ref) -> Result<Vec<(String, Ref)>, Failure> {
        let mut written = Vec::new();
        for (place, (id, font)) in self.used.iter().enumerate() {
            let Some(font) = font else { continue };
            let name = self.fonts.face(*id).map_or("", |face| face.post_script_name.as_str());
            let name: String =
                name.chars().filter(|sign| sign.is_ascii_alphanumeric() || *sign == '-').collect();
            let made = self.fonts.with_face_data(*id, |data, index| {
                font.write(pdf, next, &format!("{SUBSET}+{name}"), data, index)
            });
            let broken = || failed("cannot put a font into a PDF".into());
            written.push((named(place), made.flatten().ok_or_else(broken)??));
        }
        Ok(written)
    }
}

/// The name of a font in the page.
pub(super) fn named(place: usize) -> String {
    format!("F{place}")
}

impl Font {
    /// A font with TrueType outlines; others, and variable fonts, are drawn.
    fn of(data: &[u8], index: u32) -> Option<Font> {
        let font = FontRef::from_index(data, index).ok()?;
        let has = |tag: &[u8; 4]| font.data_for_tag(Tag::new(tag)).is_some();
        let units_per_em = f32::from(font.metrics(Size::unscaled(), LocationRef::default()).units_per_em);
        (has(b"glyf") && !has(b"fvar")).then(|| Font { units_per_em, ..Font::default() })
    }

    fn write(
        &self,
        pdf: &mut Pdf,
        next: &mut Ref,
        name: &str,
        data: &[u8],
        index: u32,
    ) -> Option<Result<Ref, Failure>> {
        let source = FontRef::from_index(data, index).ok()?;
        let subset = subsetter::subset(data, index, &self.glyphs).ok()?;
        let packed = match deflated(&subset) {
            Ok(packed) => packed,
            Err(failure) => return Some(Err(failure)),
        };
        let [whole, inner, descriptor, words, program] = std::array::from_fn(|_| next.bump());
        let name = Name(name.as_bytes());
        pdf.type0_font(whole)
            .base_font(name)
            .encoding_predefined(IDENTITY)
            .descendant_font(inner)
            .to_unicode(words);
        let scale = 1000.0 / self.units_per_em;
        let glyphs = source.glyph_metrics(Size::unscaled(), LocationRef::default());
        let width = |old: u16| scale * glyphs.advance_width(GlyphId::new(u32::from(old))).unwrap_or(0.0);
        let mut font = pdf.cid_font(inner);
        font.subtype(CidFontType::Type2).base_font(name).system_info(SYSTEM).font_descriptor(descriptor);
        font.default_width(0.0).cid_to_gid_map_predefined(Name(b"Identity"));
        font.widths().consecutive(0, self.glyphs.remapped_gids().map(width));
        font.finish();
        let metrics = source.metrics(Size::unscaled(), LocationRef::default());
        let bounds = metrics.bounds.unwrap_or_default();
        let [left, low, right, high] =
            [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max].map(|edge| scale * edge);
        pdf.font_descriptor(descriptor)
            .name(name)
            .flags(FontFlags::SYMBOLIC)
            .bbox(Rect::new(left, low, right, high))
            .italic_angle(metrics.italic_angle)
            .ascent(scale * metrics.ascent)
            .descent(scale * metrics.descent)
            .cap_height(scale * metrics.cap_height.unwrap_or(metrics.ascent))
            // Has regular weight; only a viewer without the font would need it.
            .stem_v(80.0)
            .font_file2(program);
        let mut map = UnicodeCmap::new(Name(b"Custom"), SYSTEM);
        for (glyph, text) in self.words.iter().filter(|(_, text)| !text.is_empty()) {
            map.pair_with_multiple(*glyph, text.chars());
        }
        pdf.cmap(words, &map.finish());
        pdf.stream(program, &packed).filter(Filter::FlateDecode);
        Some(Ok(whole))
    }
}

/// Compressed as streams of PDF may be.
pub(super) fn deflated(bytes: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    let packed = encoder.write_all(bytes).and_then(|()| encoder.finish());
    packed.map_err(|error| failed(format!("cannot compress a PDF: {error}")))
}

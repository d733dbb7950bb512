// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Fonts of pictures: the built-in one, the same on every machine, unless the user names an installed family.

use std::sync::Arc;

use kneepoint::suggest;
use resvg::usvg::Options;
use resvg::usvg::fontdb::{Database, Family, Query};

use crate::failure::Failure;

const FONTS: [&[u8]; 2] =
    [include_bytes!("../../font/Roboto-Regular.ttf"), include_bytes!("../../font/Roboto-Bold.ttf")];
const OWN: &str = "Roboto";
/// The folder of TeX's fonts, which other programs do not search.
const TEX: [&str; 3] = [
    "/usr/share/texmf/fonts/opentype",
    "/usr/share/texlive/texmf-dist/fonts/opentype/public",
    "/usr/local/texlive/texmf-local/fonts/opentype",
];

/// The setting of text: in the requested family, or in the program's own.
pub(super) fn options(family: Option<&str>) -> Result<Options<'static>, Failure> {
    let mut fonts = Database::new();
    for font in FONTS {
        fonts.load_font_data(font.to_vec());
    }
    if let Some(family) = family {
        fonts.load_system_fonts();
        if !has(&fonts, family) {
            TEX.iter().for_each(|folder| fonts.load_fonts_dir(folder));
        }
        check(&fonts, family)?;
    }
    fonts.set_sans_serif_family(OWN);
    fonts.set_serif_family(OWN);
    Ok(Options { fontdb: Arc::new(fonts), font_family: family.unwrap_or(OWN).into(), ..Options::default() })
}

fn has(fonts: &Database, family: &str) -> bool {
    fonts.query(&Query { families: &[Family::Name(family)], ..Query::default() }).is_some()
}

/// Refuses a family that this machine lacks.
fn check(fonts: &Database, family: &str) -> Result<(), Failure> {
    if has(fonts, family) {
        return Ok(());
    }
    let mut known: Vec<&str> =
        fonts.faces().flat_map(|face| &face.families).map(|(name, _)| name.as_str()).collect();
    known.sort_unstable();
    known.dedup();
    let near = suggest::closest(family, &known);
    let remedy = match near {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("install it, or take one of {}", some(&known)),
    };
    Err(Failure::usage(format!("--font: this machine has no family `{family}`"), remedy))
}

/// The first few names.
fn some(names: &[&str]) -> String {
    const SHOWN: usize = 8;
    let more = if names.len() > SHOWN { ", …" } else { "" };
    format!("{}{more}", names[..names.len().min(SHOWN)].join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_that_the_machine_lacks_is_refused_with_one_that_it_has() {
        assert!(options(None).is_ok() && options(Some("Roboto")).is_ok());
        let refused = options(Some("Robotto")).err();
        assert!(format!("{refused:?}").contains("Roboto"), "{refused:?}");
    }
}

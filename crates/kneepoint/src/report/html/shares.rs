// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Who got what of the bottleneck: the shares as a picture, the queue that packets met, and the numbers.

use std::fmt::{self, Write};

use super::super::shares::{self, Got, MEASURES};
use super::super::{Comparison, SchemeResult};
use crate::chart::{Escaped, scheme_class};

pub(super) fn write(page: &mut String, comparison: &Comparison) -> fmt::Result {
    let Some(cut) = shares::cut(comparison) else { return Ok(()) };
    let figures: Vec<_> = [cut].into_iter().chain(shares::positions(comparison)).collect();
    page.push_str("<section>\n<h2>Who got what</h2>\n");
    super::write_figures(page, "grid halves", &figures)?;
    write!(
        page,
        "<div class=\"scroll\"><table class=\"traffic\">\n<thead><tr><th>scheme</th><th>group</th>"
    )?;
    for measure in &MEASURES {
        write!(page, "<th title=\"{}\">{}<small>{}</small></th>", measure.key, measure.short, measure.unit)?;
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for scheme in &comparison.schemes {
        write_rows(page, scheme, &shares::of(scheme))?;
    }
    page.push_str("</tbody></table></div>\n</section>\n");
    Ok(())
}

fn write_rows(page: &mut String, scheme: &SchemeResult, groups: &[Got]) -> fmt::Result {
    for (place, got) in groups.iter().enumerate() {
        // The scheme's name stands at its first group only; the colour is the group's.
        let name = if place == 0 { Escaped(&scheme.scheme).to_string() } else { String::new() };
        let label = Escaped(&got.label);
        write!(page, "<tr><th>{name}</th><th class=\"{}\"><i></i>{label}</th>", scheme_class(place))?;
        for (mean, half_width) in got.cells() {
            let spread =
                half_width.map_or(String::new(), |half_width| format!("<small>± {half_width}</small>"));
            write!(page, "<td>{mean}{spread}</td>")?;
        }
        page.push_str("</tr>\n");
    }
    Ok(())
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The metrics of groups, of classes of transfers and of links, as means over the runs.

use std::fmt::{self, Write};

use super::super::Comparison;
use super::super::grid::Breakdown;
use super::write_cells;
use crate::chart::{Escaped, scheme_class};
use crate::measure::Subject;

pub(super) fn write(page: &mut String, comparison: &Comparison) -> fmt::Result {
    for (title, subject) in
        [("Groups", Subject::Group), ("Transfers by size", Subject::Class), ("Links", Subject::Link)]
    {
        let breakdown = Breakdown::of(comparison, subject, |_| true);
        if !breakdown.columns.is_empty() {
            write_table(page, title, &breakdown)?;
        }
    }
    Ok(())
}

/// A line per metric, a column per group, class or link of each scheme.
fn write_table(page: &mut String, title: &str, breakdown: &Breakdown) -> fmt::Result {
    write!(
        page,
        "<section>\n<h2>{title}</h2>\n<div class=\"scroll\"><table class=\"metrics\">\n<thead><tr><th></th>"
    )?;
    for (rank, scheme, name) in &breakdown.columns {
        let (scheme, name) = (Escaped(scheme), Escaped(name));
        write!(
            page,
            "<th><span class=\"{}\"><i></i>{scheme}</span><small>{name}</small></th>",
            scheme_class(*rank)
        )?;
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for (metric, cells) in &breakdown.lines {
        let unit = if metric.unit.is_empty() { String::new() } else { format!(", {}", metric.unit) };
        write!(page, "<tr><th title=\"{}\">{}{unit}</th>", metric.key, Escaped(&metric.title))?;
        write_cells(page, cells)?;
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody></table></div>\n</section>\n");
    Ok(())
}

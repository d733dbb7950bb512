// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The page about coexistence: the verdicts, the matrices, and how it was run.

use std::fmt::{self, Write};

use super::super::Manifest;
use super::super::coexistence::{losses, overview, shares};
use super::{end, manifest, open};
use crate::chart::{Drawing, Escaped};
use crate::study::coexist::Coexistence;

/// The whole page.
pub fn render(all: &Coexistence, origin: &Manifest) -> String {
    let mut page = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut page, all, origin);
    page
}

fn write(page: &mut String, all: &Coexistence, origin: &Manifest) -> fmt::Result {
    open(page, &all.title, &format!("{}. {}.", all.about, sentence(&all.extent())))?;
    write_verdicts(page, all, &origin.notes)?;
    let middle = "One setting in the middle: the share of the row over its fair share, with its 95 % interval, and how often \
                  it loses a packet as a multiple of how often the column does. Where a controller meets itself, all that \
                  differs from one is noise.";
    write_figure(page, "At a glance", middle, &overview(all))?;
    let tiles = "Each block is a pair, each tile a setting: buffers from left to right, numbers of flows from top to bottom. \
                   Blue: the row is starved by the column. Orange: it takes what would be the column's.";
    write_figure(page, "Who takes what", tiles, &shares(all))?;
    let ratios = "The drop ratio of the row over that of the column. Orange: the row loses more often. Grey: nobody lost \
                   anything.";
    write_figure(page, "Who loses how much", ratios, &losses(all))?;
    manifest::write(page, origin)?;
    end(page);
    Ok(())
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn write_verdicts(page: &mut String, all: &Coexistence, notes: &[String]) -> fmt::Result {
    page.push_str(
        "<section>\n<h2>Can they share a link?</h2>\n<div class=\"scroll\"><table class=\"claims\">\n",
    );
    page.push_str("<thead><tr><th>controller</th><th>verdict</th><th>why</th></tr></thead>\n<tbody>\n");
    for (row, name) in all.controllers.iter().enumerate() {
        let (name, grounds) = (Escaped(name), all.grounds(row).join("; "));
        let grounds = Escaped(&grounds);
        writeln!(page, "<tr><th>{name}</th><td>{}</td><td>{grounds}</td></tr>", all.verdict(row))?;
    }
    writeln!(page, "</tbody></table></div>\n<p class=\"note\">{}</p>", Escaped(&all.rule()))?;
    for note in all.control().iter().chain(notes) {
        writeln!(page, "<p class=\"note\">{}</p>", Escaped(note))?;
    }
    page.push_str("</section>\n");
    Ok(())
}

/// A picture at its own size: one that is wider than the page is scrolled, for its words must be read.
fn write_figure(page: &mut String, title: &str, lead: &str, drawing: &Drawing) -> fmt::Result {
    let width = drawing.width();
    writeln!(
        page,
        "<section>\n<h2>{title}</h2>\n<p class=\"note\">{lead}</p>\n<div class=\"scroll\"><figure \
         style=\"width: {width}px\">{}</figure></div>\n</section>",
        drawing.inline()
    )
}

#[cfg(test)]
mod tests {
    use crate::study::coexist::coexistence::tests::example;

    #[test]
    fn the_page_has_its_verdicts_and_matrices_and_keeps_names_text() {
        let page = super::render(&example(), &Default::default());
        assert_eq!(page.matches("<svg class=\"chart\"").count(), 3);
        assert!(page.contains("<td>crowds out</td>") && page.contains("<th>meek&lt;1&gt;</th>"));
        assert!(!page.contains("meek<1>") && !page.contains("NaN") && page.ends_with("</html>\n"));
        for element in ["section", "figure", "svg", "table", "tr", "td", "th", "p", "div"] {
            let opened =
                page.matches(&format!("<{element}>")).count() + page.matches(&format!("<{element} ")).count();
            assert_eq!(opened, page.matches(&format!("</{element}>")).count(), "{element}");
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A report in one file: it loads nothing, runs nothing, and reads well on paper, on a phone and in the dark.

mod coexistence;
mod manifest;
mod predictions;
mod reproduction;
mod shares;
mod subjects;

pub use coexistence::render as render_coexistence;
pub use predictions::render as render_predictions;
pub use reproduction::render as render_reproduction;

use std::fmt::{self, Write};

use super::Comparison;
use super::figures::{self, Figure};
use super::grid::{Grid, Shown};
use crate::chart::{Escaped, scheme_class, style};
use crate::table::value;

const PAGE: &str = include_str!("page.css");

/// The whole report.
pub fn render(comparison: &Comparison) -> String {
    let mut page = String::new();
    // Writing to a string cannot fail.
    let _ = write_page(&mut page, comparison);
    page
}

fn write_page(page: &mut String, comparison: &Comparison) -> fmt::Result {
    open(page, &comparison.title, &sentence(comparison))?;
    write_headline(page, comparison)?;
    let knee = figures::knee(comparison).filter(|_| comparison.schemes.len() > 1);
    let glance: Vec<Figure> = knee.into_iter().chain(figures::distribution(comparison)).collect();
    write_section(page, "At a glance", &key(comparison), "grid halves", &glance)?;
    write_section(page, "Metric by metric", "", "grid", &figures::metrics(comparison))?;
    let reading =
        "The first run: the line is the mean of each interval, the band its range. One scale for all.";
    write_section(page, "Queue over time", reading, "grid", &figures::queues(comparison))?;
    let flows = figures::followed_flows(comparison).join(", ");
    let lead = format!(
        "The first run. Flows {}; the first in full colour. One scale for all, which cuts off the rarest peaks.",
        Escaped(&flows)
    );
    write_section(page, "Congestion windows", &lead, "grid", &figures::windows(comparison))?;
    shares::write(page, comparison)?;
    subjects::write(page, comparison)?;
    manifest::write(page, &comparison.manifest)?;
    end(page);
    Ok(())
}

/// Everything up to the first section.
fn open(page: &mut String, title: &str, lead: &str) -> fmt::Result {
    let title = Escaped(title);
    write!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
         <style>\n{}{PAGE}</style>\n</head>\n<body>\n<main>\n\
         <header>\n<p class=\"eyebrow\">Kneepoint report</p>\n<h1>{title}</h1>\n<p class=\"lead\">{}</p>\n</header>\n",
        style(),
        Escaped(lead)
    )
}

/// Everything after the last section.
fn end(page: &mut String) {
    page.push_str("</main>\n</body>\n</html>\n");
}

/// The schemes, the place and the time of measurement.
fn sentence(comparison: &Comparison) -> String {
    let schemes: Vec<&str> = comparison.schemes.iter().map(|scheme| scheme.scheme.as_str()).collect();
    let names = match schemes.as_slice() {
        [] => "Nothing".into(),
        [one] => format!("{one} alone"),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    };
    let first = comparison.schemes.first().and_then(|scheme| scheme.runs.first());
    let what = match first.and_then(|run| Some((figures::bottleneck(run)?, &run.rows))) {
        Some((link, rows)) => {
            format!(", measured at {} for {} s of each run", link.label("link"), value(rows, "window_s", &[]))
        }
        None => String::new(),
    };
    format!("{names}{what}. {}", comparison.caption())
}

fn write_headline(page: &mut String, comparison: &Comparison) -> fmt::Result {
    let grid = Grid::of(comparison);
    page.push_str(
        "<section>\n<h2>Headline metrics</h2>\n<div class=\"scroll\"><table>\n<thead><tr><th>scheme</th>",
    );
    for metric in &grid.metrics {
        let unit = Escaped(metric.unit);
        write!(page, "<th title=\"{}\">{}<small>{unit}</small></th>", Escaped(&metric.title), metric.short)?;
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for (rank, (scheme, cells)) in grid.lines.iter().enumerate() {
        write!(page, "<tr><th class=\"{}\"><i></i>{}</th>", scheme_class(rank), Escaped(scheme))?;
        write_cells(page, cells)?;
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody></table></div>\n");
    for note in &comparison.manifest.notes {
        writeln!(page, "<p class=\"note\">{}</p>", Escaped(note))?;
    }
    page.push_str("</section>\n");
    Ok(())
}

/// A mean in each cell, and its half width below.
fn write_cells(page: &mut String, cells: &[Shown]) -> fmt::Result {
    for Shown { mean, half_width } in cells {
        let half_width = half_width.as_ref().map_or(String::new(), |half| format!("<small>± {half}</small>"));
        write!(page, "<td>{mean}{half_width}</td>")?;
    }
    Ok(())
}

/// The colours of the schemes.
fn key(comparison: &Comparison) -> String {
    let names = comparison.schemes.iter().enumerate();
    let entry = |(rank, scheme): (usize, &super::SchemeResult)| {
        format!("<span class=\"{}\"><i></i>{}</span>", scheme_class(rank), Escaped(&scheme.scheme))
    };
    format!("<span class=\"key\">{}</span>", names.map(entry).collect::<String>())
}

/// A section of figures below some markup; left out if there are none.
fn write_section(
    page: &mut String,
    title: &str,
    lead: &str,
    layout: &str,
    figures: &[Figure],
) -> fmt::Result {
    if figures.is_empty() {
        return Ok(());
    }
    writeln!(page, "<section>\n<h2>{}</h2>", Escaped(title))?;
    if !lead.is_empty() {
        writeln!(page, "<p class=\"note\">{lead}</p>")?;
    }
    write_figures(page, layout, figures)?;
    page.push_str("</section>\n");
    Ok(())
}

fn write_figures(page: &mut String, layout: &str, figures: &[Figure]) -> fmt::Result {
    writeln!(page, "<div class=\"{layout}\">")?;
    for figure in figures {
        page.push_str("<figure>");
        let shown = Escaped(&figure.title);
        match &figure.class {
            Some(class) => write!(page, "<figcaption class=\"{class}\"><i></i>{shown}</figcaption>")?,
            None if figure.note.is_empty() => write!(page, "<figcaption>{shown}</figcaption>")?,
            None => write!(page, "<figcaption>{shown}<small>{}</small></figcaption>", figure.note)?,
        }
        writeln!(page, "\n{}\n</figure>", figure.drawing.inline())?;
    }
    page.push_str("</div>\n");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::example;

    #[test]
    fn the_page_loads_nothing_and_runs_nothing() {
        let page = super::render(&example::comparison());
        for forbidden in ["src=", "href=", "url(", "@import", "<script", "<link", "<iframe", "<object"] {
            assert!(!page.contains(forbidden), "{forbidden}");
        }
    }

    #[test]
    fn every_section_is_there_and_every_element_is_closed() {
        let page = super::render(&example::comparison());
        for title in [
            "Headline metrics",
            "Queue over time",
            "Congestion windows",
            "Throughput shares",
            "Groups",
            "Manifest",
        ] {
            assert!(page.contains(&format!("<h2>{title}</h2>")), "{title}");
        }
        for element in ["section", "figure", "svg", "table", "tr", "td", "th", "div", "p", "details", "span"]
        {
            let opened =
                page.matches(&format!("<{element}>")).count() + page.matches(&format!("<{element} ")).count();
            assert_eq!(opened, page.matches(&format!("</{element}>")).count(), "{element}");
        }
        assert!(!page.contains("NaN") && !page.contains(">inf"));
    }

    #[test]
    fn the_scenario_stays_text() {
        let page = super::render(&example::comparison());
        assert!(page.contains("# &lt;a&gt; &amp; b, see https://example.org"));
    }

    #[test]
    fn nothing_to_compare_is_still_a_page() {
        let mut comparison = example::comparison();
        comparison.schemes.clear();
        assert!(super::render(&comparison).ends_with("</html>\n"));
    }
}

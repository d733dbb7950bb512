// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A page in one file: it loads nothing, runs nothing, and reads well on paper, on a phone and in the dark.

use std::fmt::{self, Write};

use super::super::document::{
    Block, Document, Figure, Finding, Inline, Layout, Prose, Shown, Table, TableLine,
};
use super::Format;
use crate::chart::{Escaped, style};

/// A page with its charts in it.
pub const FORMAT: Format = Format { name: "html", extension: "html", render };

const PAGE: &str = include_str!("page.css");

/// The whole page.
pub fn render(document: &Document) -> String {
    let mut page = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut page, document);
    page
}

fn write(page: &mut String, document: &Document) -> fmt::Result {
    open(page, &document.title, &document.about)?;
    for section in &document.sections {
        let heading = Escaped(&section.heading);
        match section.heading.is_empty() {
            true => page.push_str("<section>\n"),
            false => writeln!(page, "<section id=\"{}\">\n<h2>{heading}</h2>", anchor(&section.heading))?,
        }
        for one in &section.blocks {
            block(page, one)?;
        }
        page.push_str("</section>\n");
    }
    end(page);
    Ok(())
}

/// Everything up to the first section.
fn open(page: &mut String, title: &str, about: &Prose) -> fmt::Result {
    let title = Escaped(title);
    write!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
         <style>\n{}{PAGE}</style>\n</head>\n<body>\n<main>\n\
         <header>\n<p class=\"eyebrow\">Kneepoint report</p>\n<h1>{title}</h1>\n<p class=\"lead\">{}</p>\n</header>\n",
        style(),
        marked(about)
    )
}

/// Everything after the last section.
fn end(page: &mut String) {
    page.push_str("</main>\n</body>\n</html>\n");
}

fn block(page: &mut String, one: &Block) -> fmt::Result {
    match one {
        Block::Prose(prose) => writeln!(page, "<p class=\"note\">{}</p>", marked(prose)),
        Block::List(items) => {
            let items = items.iter().map(|item| format!("<li>{}</li>\n", marked(item)));
            writeln!(page, "<ul class=\"note\">\n{}</ul>", items.collect::<String>())
        }
        Block::Table(table) => lines(page, table),
        Block::Figures(layout, all) => figures(page, *layout, all),
        Block::Findings(of) => claims(page, of),
        Block::Key(schemes) => {
            let entry = |(name, class): &(String, String)| {
                format!("<span class=\"{class}\"><i></i>{}</span>", Escaped(name))
            };
            let entries = schemes.iter().map(entry).collect::<String>();
            writeln!(page, "<p class=\"note key\">{entries}</p>")
        }
        Block::Facts(facts) => {
            page.push_str("<dl>\n");
            for (name, value) in facts {
                writeln!(page, "<dt>{}</dt><dd>{}</dd>", Escaped(name), Escaped(value))?;
            }
            page.push_str("</dl>\n");
            Ok(())
        }
        Block::Listing(name, text) => {
            let (name, text) = (Escaped(name), Escaped(text));
            writeln!(page, "<details>\n<summary>{name}</summary>\n<pre>{text}</pre>\n</details>")
        }
        Block::Pages { blocks, .. } => blocks.iter().try_for_each(|inner| block(page, inner)),
    }
}

fn lines(page: &mut String, table: &Table) -> fmt::Result {
    write!(page, "<div class=\"scroll\"><table>\n<thead><tr><th>{}</th>", Escaped(&table.corner))?;
    for column in &table.columns {
        let side = if column.text { " class=\"text\"" } else { "" };
        let (title, unit, tip) = (Escaped(&column.title), Escaped(&column.unit), tip(&column.about));
        let title = match &column.class {
            Some(class) => format!("<span class=\"{class}\"><i></i>{title}</span>"),
            None => title.to_string(),
        };
        match column.unit.is_empty() {
            true => write!(page, "<th{side}{tip}>{title}</th>")?,
            false => write!(page, "<th{side}{tip}>{title}<small>{unit}</small></th>")?,
        }
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for TableLine { name, about, class, cells } in &table.lines {
        let (shown, tip) = (Escaped(name), tip(about));
        match class {
            Some(class) => write!(page, "<tr><th class=\"{class}\"{tip}><i></i>{shown}</th>")?,
            None if table.linked => {
                write!(page, "<tr><th{tip}><a href=\"#{}\">{shown}</a></th>", anchor(name))?
            }
            None => write!(page, "<tr><th{tip}>{shown}</th>")?,
        }
        for (Shown { mean, half_width, best }, column) in cells.iter().zip(&table.columns) {
            let side = match (column.text, best) {
                (true, _) => " class=\"text\"",
                (_, true) => " class=\"best\"",
                _ => "",
            };
            let half = half_width.as_ref().map_or(String::new(), |half| format!("<small>± {half}</small>"));
            write!(page, "<td{side}>{}{half}</td>", Escaped(mean))?;
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody></table></div>\n");
    Ok(())
}

/// The attribute of a tooltip; none without a text.
fn tip(about: &str) -> String {
    if about.is_empty() { String::new() } else { format!(" title=\"{}\"", Escaped(about)) }
}

fn figures(page: &mut String, layout: Layout, figures: &[Figure]) -> fmt::Result {
    let class = match layout {
        Layout::Grid => "grid",
        Layout::Halves => "grid halves",
        Layout::Whole => "scroll",
    };
    writeln!(page, "<div class=\"{class}\">")?;
    for figure in figures {
        let width = match layout {
            Layout::Whole => format!(" style=\"width: {}px\"", figure.drawing.width()),
            Layout::Grid | Layout::Halves => String::new(),
        };
        write!(page, "<figure{width}>")?;
        let (title, note) = (Escaped(&figure.title), Escaped(figure.note));
        match &figure.class {
            Some(scheme) => write!(page, "<figcaption class=\"{scheme}\"><i></i>{title}</figcaption>")?,
            None if figure.note.is_empty() => write!(page, "<figcaption>{title}</figcaption>")?,
            None => write!(page, "<figcaption>{title}<small>{note}</small></figcaption>")?,
        }
        writeln!(page, "\n{}\n</figure>", figure.drawing.inline())?;
    }
    page.push_str("</div>\n");
    Ok(())
}

/// A table of the statements; the columns of numbers only if some statement has any.
fn claims(page: &mut String, claims: &[Finding]) -> fmt::Result {
    let numbers = claims.iter().any(|claim| claim.ours.is_some() || claim.published.is_some());
    let heads = if numbers { "<th>ours</th><th>published</th>" } else { "" };
    writeln!(
        page,
        "<div class=\"scroll\"><table class=\"claims\">\n\
         <thead><tr><th>claim</th><th>verdict</th>{heads}<th>why</th></tr></thead>\n<tbody>"
    )?;
    for claim in claims {
        let class = if claim.stands_out { " class=\"fails\"" } else { "" };
        let noise = if claim.noisy { "<small>within noise</small>" } else { "" };
        write!(page, "<tr><th>{} <small>{}</small></th>", Escaped(&claim.name), Escaped(&claim.text))?;
        write!(page, "<td{class}>{}{noise}</td>", Escaped(&claim.verdict))?;
        for number in [&claim.ours, &claim.published].into_iter().filter(|_| numbers) {
            write!(page, "<td>{}</td>", Escaped(number.as_deref().unwrap_or("–")))?;
        }
        writeln!(page, "<td>{}</td></tr>", Escaped(&claim.why.join("; ")))?;
    }
    page.push_str("</tbody></table></div>\n");
    Ok(())
}

fn marked(prose: &Prose) -> String {
    let inline = |inline: &Inline| {
        let text = Escaped(inline.text());
        match inline {
            Inline::Plain(_) => text.to_string(),
            Inline::Strong(_) => format!("<strong>{text}</strong>"),
            Inline::Emphasis(_) => format!("<em>{text}</em>"),
            Inline::Code(_) => format!("<code>{text}</code>"),
        }
    };
    prose.0.iter().map(inline).collect()
}

/// An identifier made of a heading.
fn anchor(heading: &str) -> String {
    heading.chars().map(|c| if c.is_alphanumeric() || "._".contains(c) { c } else { '-' }).collect()
}

#[cfg(test)]
pub(in crate::report) mod tests {
    /// Whether every element of a page is closed, and nothing is loaded or run.
    pub(in crate::report) fn check(page: &str) {
        for element in [
            "section", "figure", "svg", "table", "tr", "td", "th", "p", "div", "dl", "dd", "ul", "li", "a",
            "details", "span", "strong", "code",
        ] {
            let opened = page.matches(&format!("<{element}>")).count();
            let opened = opened + page.matches(&format!("<{element} ")).count();
            assert_eq!(opened, page.matches(&format!("</{element}>")).count(), "{element}");
        }
        for forbidden in ["src=", "href=\"h", "url(", "@import", "<script", "<link", "<iframe", "NaN", ">inf"]
        {
            assert!(!page.contains(forbidden), "{forbidden}");
        }
        assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    }

    #[test]
    fn elements_are_closed_and_names_stay_text() {
        let page = super::render(&super::super::tests::example());
        check(&page);
        for part in [
            "<th>a|&lt;b&gt;</th><td>50.0<small>± 2.0</small></td><td class=\"text\">fine</td>",
            "<td class=\"fails\">fails</td><td>0.5</td><td>0.9</td><td>short by 0.4</td>",
            "<pre># a &lt; b</pre>",
            "About &lt;it&gt;.",
        ] {
            assert!(page.contains(part), "`{part}` is missing from\n{page}");
        }
    }
}

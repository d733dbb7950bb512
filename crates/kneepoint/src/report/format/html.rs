// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A page in one file: it loads nothing, runs nothing, and reads well on paper, on a phone and in the dark.

mod tables;

use std::fmt::{self, Write};

use super::super::document::{Block, Document, Figure, Inline, Layout, Prose, Section};
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
    contents(page, &document.sections)?;
    for section in &document.sections {
        let (heading, named) = match section.heading.is_empty() {
            true => (&document.title, false),
            false => (&section.heading, true),
        };
        match named {
            true => writeln!(page, "<section id=\"{}\">\n<h2>{}</h2>", anchor(heading), Escaped(heading))?,
            false => page.push_str("<section>\n"),
        }
        for one in &section.blocks {
            block(page, heading, one)?;
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

/// Links to the sections, where they are more than a screen and fewer than their own list would be.
fn contents(page: &mut String, sections: &[Section]) -> fmt::Result {
    const SOME: std::ops::RangeInclusive<usize> = 4..=20;
    let headings: Vec<&str> = sections
        .iter()
        .map(|section| section.heading.as_str())
        .filter(|heading| !heading.is_empty())
        .collect();
    if !SOME.contains(&headings.len()) {
        return Ok(());
    }
    page.push_str("<nav aria-label=\"Sections\"><ul>\n");
    for heading in headings {
        writeln!(page, "<li><a href=\"#{}\">{}</a></li>", anchor(heading), Escaped(heading))?;
    }
    page.write_str("</ul></nav>\n")
}

/// Everything after the last section.
fn end(page: &mut String) {
    page.push_str("</main>\n</body>\n</html>\n");
}

/// A block of the section with a heading.
fn block(page: &mut String, heading: &str, one: &Block) -> fmt::Result {
    match one {
        Block::Prose(prose) => writeln!(page, "<p class=\"note\">{}</p>", marked(prose)),
        Block::List(items) => {
            let items = items.iter().map(|item| format!("<li>{}</li>\n", marked(item)));
            writeln!(page, "<ul class=\"note\">\n{}</ul>", items.collect::<String>())
        }
        Block::Table(table) => tables::lines(page, heading, table),
        Block::Figures(layout, all) => figures(page, *layout, all),
        Block::Findings(what, of) => tables::claims(page, (heading, what), of),
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
            writeln!(
                page,
                "<details>\n<summary>{name}</summary>\n<pre role=\"group\" tabindex=\"0\" aria-label=\"{name}\">{text}</pre>\n</details>"
            )
        }
        Block::Paper(_) => Ok(()),
        Block::Pages { blocks, .. } => blocks.iter().try_for_each(|inner| block(page, heading, inner)),
    }
}

fn figures(page: &mut String, layout: Layout, figures: &[Figure]) -> fmt::Result {
    let class = match layout {
        Layout::Grid => "grid",
        Layout::Halves => "grid halves",
        Layout::Whole => "wholes",
    };
    writeln!(page, "<div class=\"{class}\">")?;
    for figure in figures {
        write!(page, "<figure>")?;
        let (title, note) = (Escaped(&figure.title), Escaped(figure.note));
        match &figure.class {
            Some(scheme) => write!(page, "<figcaption class=\"{scheme}\"><i></i>{title}</figcaption>")?,
            None if figure.note.is_empty() => write!(page, "<figcaption>{title}</figcaption>")?,
            None => write!(page, "<figcaption>{title}<small>{note}</small></figcaption>")?,
        }
        page.push('\n');
        chart(page, layout, figure)?;
        tables::numbers(page, &figure.title, &figure.drawing.data())?;
        page.push_str("</figure>\n");
    }
    page.push_str("</div>\n");
    Ok(())
}

/// Charts that fit between the margins of a small tablet, in pixels: the style has the width of that page.
const SLIM: f64 = 700.0;

/// The chart of a figure, and a second one for phones where the first would be too small there.
fn chart(page: &mut String, layout: Layout, figure: &Figure) -> fmt::Result {
    let drawing = &figure.drawing;
    let own = drawing.inline(&figure.name);
    match (drawing.narrow().filter(|_| layout != Layout::Grid), layout) {
        (Some(narrow), _) => {
            let narrow = narrow.inline(&format!("{}-narrow", figure.name));
            let (slim, most) = match layout {
                Layout::Whole => {
                    let slim = if drawing.width() <= SLIM { " slim" } else { "" };
                    (slim, format!(" style=\"max-width: {}px\"", drawing.width()))
                }
                Layout::Grid | Layout::Halves => ("", String::new()),
            };
            writeln!(page, "<div class=\"roomy{slim}\"{most}>{own}</div>")?;
            writeln!(page, "<div class=\"tight{slim}\">{narrow}</div>")
        }
        // It keeps its size, and scrolls by itself where the page is narrower.
        (None, Layout::Whole) => {
            tables::open(page, &format!("Chart: {}", figure.title))?;
            let width = drawing.width();
            writeln!(page, "<div class=\"whole\" style=\"width: {width}px\">{own}</div></div>")
        }
        (None, _) => writeln!(page, "{own}"),
    }
}

fn marked(prose: &Prose) -> String {
    let inline = |inline: &Inline| {
        let text = Escaped(inline.text());
        match inline {
            Inline::Plain(_) => text.to_string(),
            Inline::Strong(_) => format!("<strong>{text}</strong>"),
            Inline::Emphasis(_) => format!("<em>{text}</em>"),
            Inline::Code(_) => format!("<code>{text}</code>"),
            Inline::Link(_, address) => format!("<a href=\"{}\">{text}</a>", Escaped(address)),
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
            "details", "span", "strong", "code", "nav", "title", "desc", "summary", "dt", "caption",
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
            "<th scope=\"row\">a|&lt;b&gt;</th><td>50.0<small>± 2.0</small></td><td class=\"text\">fine</td>",
            "<td class=\"fails\">fails</td><td>0.5</td><td>0.9</td><td>short by 0.4</td>",
            ">\n<summary>a.toml</summary>\n<pre role=\"group\" tabindex=\"0\" aria-label=\"a.toml\"># a &lt; b</pre>",
            "About &lt;it&gt;.",
        ] {
            assert!(page.contains(part), "`{part}` is missing from\n{page}");
        }
    }
}

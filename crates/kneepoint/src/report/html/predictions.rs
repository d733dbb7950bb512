// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The page about predictors: the table, and the bars of Figure 3.

use std::fmt::{self, Write};

use super::super::figures::Figure;
use super::super::predictions::{MEASURES, Measure, Predictions, SCALE, Watched, shown, spoken};
use super::{end, open, write_section};
use crate::chart::{Bar, Escaped, bars, scheme_class};
use crate::predict::Judge;

/// The whole page.
pub fn render(predictions: &Predictions) -> String {
    let mut page = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut page, predictions);
    page
}

fn write(page: &mut String, predictions: &Predictions) -> fmt::Result {
    let lead = "What congestion predictors would have been worth. Efficiency: predictions that a loss followed. False \
                positives: those that none followed. False negatives: losses that nothing predicted.";
    open(page, &predictions.title, lead)?;
    for note in &predictions.notes {
        writeln!(page, "<p class=\"note\">{}</p>", Escaped(note))?;
    }
    for watched in &predictions.cases {
        write_table(page, watched)?;
        for judge in &watched.judges {
            let figures: Vec<Figure> =
                MEASURES.iter().map(|measure| figure(watched, *judge, measure)).collect();
            let verdict = Escaped(&watched.verdict(*judge)).to_string();
            write_section(page, &format!("Held against {}", spoken(*judge)), &verdict, "grid", &figures)?;
        }
    }
    end(page);
    Ok(())
}

fn write_table(page: &mut String, watched: &Watched) -> fmt::Result {
    let title = if watched.case.is_empty() {
        watched.flow.clone()
    } else {
        format!("{}: {}", watched.case, watched.flow)
    };
    write!(
        page,
        "<section>\n<h2>{}</h2>\n<div class=\"scroll\"><table>\n<thead><tr><th>predictor</th>",
        Escaped(&title)
    )?;
    for judge in &watched.judges {
        for measure in &MEASURES {
            write!(page, "<th>{}<small>% of {}</small></th>", measure.title, spoken(*judge))?;
        }
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for (rank, name) in watched.predictors().into_iter().enumerate() {
        write!(page, "<tr><th class=\"{}\"><i></i>{}</th>", scheme_class(rank), Escaped(name))?;
        for judge in &watched.judges {
            for measure in &MEASURES {
                write!(page, "<td>{}</td>", shown(&watched.estimate(name, *judge, measure.of)))?;
            }
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody></table></div>\n</section>\n");
    Ok(())
}

fn figure(watched: &Watched, judge: Judge, measure: &Measure) -> Figure {
    let bar = |(rank, name): (usize, &str)| {
        let estimate = watched.estimate(name, judge, measure.of);
        let (low, high) = estimate.interval();
        Bar {
            class: scheme_class(rank),
            name: name.to_string(),
            shown: shown(&estimate),
            mean: estimate.mean * SCALE,
            interval: (low * SCALE, high * SCALE),
        }
    };
    let all: Vec<Bar> = watched.predictors().into_iter().enumerate().map(bar).collect();
    let title = format!("{}, %", measure.title);
    Figure {
        name: measure.title.replace(' ', "-"),
        drawing: bars(&title, &all),
        title,
        note: "",
        class: None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::predictions::tests::predictions;

    #[test]
    fn the_page_has_a_chart_for_each_measure_and_judge_and_keeps_names_text() {
        let page = super::render(&predictions());
        assert_eq!(page.matches("<svg").count(), 3 * 2);
        assert!(page.contains("rate=&lt;1&gt;: long/0") && !page.contains("rate=<1>"));
        assert!(!page.contains("NaN") && !page.contains("src=") && page.ends_with("</html>\n"));
        for element in ["section", "figure", "svg", "table", "tr", "td", "th", "p"] {
            let opened =
                page.matches(&format!("<{element}>")).count() + page.matches(&format!("<{element} ")).count();
            assert_eq!(opened, page.matches(&format!("</{element}>")).count(), "{element}");
        }
    }
}

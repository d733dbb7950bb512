// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The page about a reproduction: each figure with its claims.

use std::fmt::{self, Write};

use super::super::reproduction::{effort, figure, ours, published, reason, tally};
use super::{end, open};
use crate::chart::Escaped;
use crate::experiment::{Effort, Judgement, Outcome, Pace};

/// The whole page.
pub fn render(outcomes: &[Outcome], taken: &Effort) -> String {
    let mut page = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut page, outcomes, taken);
    page
}

fn write(page: &mut String, outcomes: &[Outcome], taken: &Effort) -> fmt::Result {
    let judgements: Vec<Judgement> = outcomes.iter().flat_map(Outcome::judgements).collect();
    let quick = outcomes.iter().any(|outcome| outcome.pace == Pace::Quick);
    let shortened = if quick { " These runs were shortened." } else { "" };
    let lead = format!("{}. {}.{shortened}", tally(judgements.iter()), effort(taken));
    open(page, "Reproduction", &lead)?;
    for outcome in outcomes {
        section(page, outcome)?;
    }
    end(page);
    Ok(())
}

fn section(page: &mut String, outcome: &Outcome) -> fmt::Result {
    let experiment = &outcome.experiment;
    writeln!(
        page,
        "<section>\n<h2>{} · {}</h2>\n<p>{}</p>",
        Escaped(&experiment.name()),
        Escaped(&experiment.title),
        Escaped(&experiment.source)
    )?;
    if let Some(drawing) = figure::render(outcome) {
        writeln!(page, "<figure>{}</figure>", drawing.inline())?;
    }
    page.push_str("<div class=\"scroll\"><table class=\"claims\">\n<thead><tr><th>claim</th><th>verdict</th><th>ours</th><th>published</th><th>why</th></tr></thead>\n<tbody>\n");
    for (claim, judgement) in experiment.claims.iter().zip(outcome.judgements()) {
        let verdict = judgement.verdict;
        writeln!(
            page,
            "<tr><th>{} <small>{}</small></th><td class=\"{verdict}\">{verdict}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            Escaped(&claim.id),
            Escaped(&claim.text),
            Escaped(&ours(&judgement)),
            Escaped(&published(claim)),
            Escaped(&reason(claim, &judgement)),
        )?;
    }
    page.push_str("</tbody></table></div>\n</section>\n");
    Ok(())
}

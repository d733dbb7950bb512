// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Options of verbs that draw varied factors: the assignment of factors to axes of the figure.

use clap::Args;
use kneepoint::experiment::Experiment;
use kneepoint::report::Factor;
use kneepoint::report::figure::{self, Misfit, Parts};
use kneepoint::scenario::{FigureSpec, Names, Words};
use kneepoint::settings::{Or, Settings};

use crate::failure::Failure;

/// Options of the figure over varied factors.
#[derive(Args, Clone, Default)]
pub struct FigureOptions {
    /// The factor along which the figure is drawn, as in rtt [default: the one with most numbers]
    #[arg(long, value_name = "FACTOR")]
    x: Option<String>,
    /// The factor each of whose levels has its own line, or none [default: the scheme or the congestion control]
    #[arg(long, value_name = "FACTOR")]
    by: Option<String>,
    /// The factor of the rows of a heat map, in place of the lines of --by
    #[arg(long, value_name = "FACTOR", conflicts_with = "by")]
    y: Option<String>,
    /// One factor, or two, each of whose levels has its own panel, or none (repeatable, or with commas) [default: the others]
    #[arg(long, value_name = "FACTOR")]
    facet: Vec<String>,
    /// Metrics that are drawn, or expressions of them as in claims (repeatable, or with commas) [default: the most telling]
    #[arg(long, value_name = "METRIC")]
    metric: Vec<String>,
}

/// The word for no series.
const NONE: &str = "none";

impl FigureOptions {
    /// The figure of a scenario as these change it, held against the factors of the study and the parts of its
    /// runs.
    pub fn wish(
        &self,
        scenario: &FigureSpec,
        factors: &[Factor],
        parts: &Parts,
    ) -> Result<FigureSpec, Failure> {
        let said = self.said()?;
        let wish = figure::joined(scenario, &said, factors);
        let checked = wish.and_then(|wish| figure::check(&wish, factors, parts).map(|()| wish));
        checked.map_err(|Misfit { message, help }| Failure::usage(format!("the figure: {message}"), help))
    }

    /// Changes the figure of an experiment, if they concern it.
    pub fn redraw(&self, experiment: &mut Experiment) -> Result<(), Failure> {
        let said = self.said()?;
        if said == FigureSpec::default() {
            return Ok(());
        }
        let drawn = figure::of_experiment(experiment, &said).map_err(|Misfit { message, help }| {
            Failure::usage(format!("the figure of {}: {message}", experiment.name()), help)
        })?;
        experiment.figure = Some(drawn);
        Ok(())
    }

    /// Refuses them where nothing is drawn over factors.
    pub fn none(&self, why: &str) -> Result<(), Failure> {
        let help = "leave out --x, --by, --y, --facet and --metric".to_string();
        match self.said()? == FigureSpec::default() {
            true => Ok(()),
            false => Err(Failure::usage(format!("the figure: {why}"), help)),
        }
    }

    /// Their effect on a figure.
    fn said(&self) -> Result<FigureSpec, Failure> {
        let words = |word: &Option<String>| Words(word.clone().unwrap_or_default());
        let series = |by: &String| Or::is(Words(if by == NONE { String::new() } else { by.clone() }));
        let said = FigureSpec {
            x: words(&self.x),
            y: words(&self.y),
            series: self.by.as_ref().map_or(Or::WORD, series),
            facet: Names(separate("facet", &self.facet)?),
            panels: Names(separate("metric", &self.metric)?),
            ..FigureSpec::default()
        };
        said.check().map_err(|message| Failure::usage(format!("--{message}"), "leave one of them out"))?;
        Ok(said)
    }
}

/// The parts of the texts of an option between commas outside brackets: `drop_ratio[group=a, link=b]` is one. A text without any is
/// refused.
fn separate(option: &str, texts: &[String]) -> Result<Vec<String>, Failure> {
    let parts = texts.iter().map(|text| match parted(text) {
        none if none.is_empty() => Err(Failure::usage(
            format!("--{option}: `{text}` names nothing"),
            format!("name at least one, or leave out --{option}"),
        )),
        some => Ok(some),
    });
    Ok(parts.collect::<Result<Vec<_>, _>>()?.concat())
}

fn parted(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let (mut depth, mut part) = (0i32, String::new());
    for character in text.chars() {
        depth += i32::from("([".contains(character)) - i32::from(")]".contains(character));
        match character {
            ',' if depth <= 0 => parts.push(std::mem::take(&mut part)),
            other => part.push(other),
        }
    }
    parts.push(part);
    parts.iter().map(|one| one.trim().to_string()).filter(|one| !one.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_within_brackets_do_not_separate() {
        let texts = ["utilization, drop_ratio[group=a, link=b]".to_string(), "max(a, b),".to_string()];
        let parts = separate("metric", &texts).unwrap_or_default();
        assert_eq!(parts, ["utilization", "drop_ratio[group=a, link=b]", "max(a, b)"]);
    }

    #[test]
    fn a_text_that_names_nothing_is_refused() {
        for nothing in ["", ",", " , "] {
            assert!(separate("metric", &[nothing.to_string()]).is_err(), "{nothing:?}");
        }
    }
}

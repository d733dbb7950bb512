// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Derives the unspecified parts of a figure from the factors of a study.
//!
//! ```text
//! x       the numeric factor with most levels; without one, the names with most levels, as bars
//! series  the scheme, or the congestion control, or the first other names
//! y       a second numeric factor, where nothing has names: a heat map
//! facet   what is left, in the order of the sweep: columns, then rows
//! ```

use super::super::Factor;
use crate::experiment::observed;
use crate::scenario::{FigureSpec, MOST_FACETS, NO_FACET, Names, Scale, Words};
use crate::settings::Or;
use crate::settings::names::same_name;
use crate::suggest::did_you_mean;

/// The drawing of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// With the keys of factors as axes.
    pub figure: FigureSpec,
    /// The keys of factors without an axis: there is a figure for each of their levels.
    pub pages: Vec<String>,
}

/// The reason why a requested figure cannot be drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Misfit {
    /// The misfit.
    pub message: String,
    /// The remedy.
    pub help: String,
}

/// The requested figure of a study with these factors; omitted settings are chosen automatically.
pub fn settle(wish: &FigureSpec, factors: &[Factor]) -> Result<Chosen, Misfit> {
    let mut figure = resolved(wish, factors)?;
    distinct(&figure)?;
    let no_facets = is_none(&figure.facet);
    if no_facets {
        figure.facet = Names::default();
    }
    let mut free: Vec<&Factor> = factors.iter().filter(|factor| is_free(factor, &figure)).collect();
    let auto = figure.series.get().is_none() && figure.y.0.is_empty();
    let mut series = if auto { take(&mut free, named) } else { None };
    if figure.x.0.is_empty() {
        let x = take(&mut free, numeric).or_else(|| take(&mut free, longest)).or_else(|| series.take());
        let Some(x) = x else { return Err(nothing_along_x(&figure, factors)) };
        figure.x = Words(x.key.clone());
    }
    let x = factors.iter().find(|factor| factor.key == figure.x.0);
    if auto && series.is_none() {
        match free.as_slice() {
            [only] if figure.facet.0.is_empty() && x.is_some_and(Factor::is_numeric) => {
                figure.y = Words(only.key.clone());
                free.clear();
            }
            _ => series = take(&mut free, shortest),
        }
    }
    if auto && figure.y.0.is_empty() {
        figure.series = Or::is(Words(series.map_or(String::new(), |series| series.key.clone())));
    }
    let most = if no_facets { 0 } else { MOST_FACETS };
    let room = most.saturating_sub(figure.facet.0.len()).min(free.len());
    figure.facet.0.extend(free.drain(..room).map(|factor| factor.key.clone()));
    if figure.scale == Scale::Auto && x.is_some_and(is_crowded) {
        figure.scale = Scale::Log;
    }
    let alone = factors.iter().filter(|factor| factor.levels.len() == 1 && !names(&figure, &factor.key));
    let alone: Vec<String> =
        alone.map(|factor| format!("{}={}", factor.key, factor.levels[0].text)).collect();
    figure.only.0.extend(alone);
    Ok(Chosen { figure, pages: free.into_iter().map(|factor| factor.key.clone()).collect() })
}

/// The figure of a scenario, changed by options. An axis that the line names is taken from its place in the
/// scenario.
pub fn joined(scenario: &FigureSpec, line: &FigureSpec, factors: &[Factor]) -> Result<FigureSpec, Misfit> {
    let (mut figure, line) = (resolved(scenario, factors)?, resolved(line, factors)?);
    let moved = |axis: &str| line.axes().any(|(_, named)| named == axis);
    let stays = |axis: &Words| !moved(&axis.0);
    if !line.x.0.is_empty() || !stays(&figure.x) {
        figure = FigureSpec { x: line.x.clone(), label: Words::default(), scale: Scale::Auto, ..figure };
    }
    if !line.y.0.is_empty() || line.series.get().is_some() || !stays(&figure.y) {
        figure.y = line.y.clone();
    }
    let apart = !line.y.0.is_empty() || !figure.series.get().is_none_or(stays);
    if line.series.get().is_some() || apart {
        figure.series = line.series.clone();
    }
    figure.facet.0.retain(|axis| !moved(axis));
    figure.mean_over.0.retain(|axis| !moved(axis));
    if !line.facet.0.is_empty() {
        figure.facet = line.facet.clone();
    }
    if !line.panels.0.is_empty() {
        figure = FigureSpec { panels: line.panels.clone(), plane: Names::default(), ..figure };
    }
    Ok(figure)
}

/// With the keys of factors instead of their names and columns.
fn resolved(wish: &FigureSpec, factors: &[Factor]) -> Result<FigureSpec, Misfit> {
    let key = |named: &str| if named.is_empty() { Ok(String::new()) } else { key(named, factors) };
    let restricted = |only: &String| match only.split_once('=') {
        Some((axis, labels)) => Ok(format!("{}={labels}", key(axis.trim())?)),
        None => key(only),
    };
    let all = |names: &Names, of: &dyn Fn(&String) -> Result<String, Misfit>| {
        names.0.iter().map(of).collect::<Result<_, _>>().map(Names)
    };
    Ok(FigureSpec {
        x: Words(key(&wish.x.0)?),
        y: Words(key(&wish.y.0)?),
        series: match wish.series.get() {
            Some(series) => Or::is(Words(key(&series.0)?)),
            None => Or::WORD,
        },
        facet: if is_none(&wish.facet) { wish.facet.clone() } else { all(&wish.facet, &|axis| key(axis))? },
        mean_over: all(&wish.mean_over, &|axis| key(axis))?,
        only: all(&wish.only, &restricted)?,
        ..wish.clone()
    })
}

/// Whether small multiples are switched off.
fn is_none(facet: &Names) -> bool {
    matches!(facet.0.as_slice(), [only] if only == NO_FACET)
}

/// The key of the factor that is called so: by its key, its column, its name, or the last word of its key. Rows of a run have further
/// axes, as `group`.
fn key(called: &str, factors: &[Factor]) -> Result<String, Misfit> {
    let last = |factor: &Factor| {
        let path = factor.key.strip_suffix(".kind").unwrap_or(&factor.key);
        path.rsplit('.').next().unwrap_or(path).to_string()
    };
    let ways: [&dyn Fn(&Factor) -> bool; 4] = [
        &|factor| factor.key == called,
        &|factor| same_name(&factor.column, called),
        &|factor| same_name(&factor.name.replace(' ', "-"), &called.replace(' ', "-")),
        &|factor| same_name(&last(factor), called),
    ];
    let found = ways.iter().find_map(|is_called| factors.iter().find(|factor| is_called(factor)));
    let of_rows = || observed().get(called).map(|axis| axis.to_string());
    found.map(|factor| factor.key.clone()).or_else(of_rows).ok_or_else(|| {
        let known: Vec<&str> = factors.iter().map(|factor| factor.key.as_str()).collect();
        let message = format!("nothing varies along `{called}`");
        let help = if known.is_empty() { "there is no sweep".into() } else { did_you_mean(called, &known) };
        Misfit { message, help }
    })
}

/// Refuses an axis in two places.
fn distinct(figure: &FigureSpec) -> Result<(), Misfit> {
    let placed: Vec<(&str, &str)> = figure.axes().filter(|(place, _)| *place != "only").collect();
    for (at, (place, axis)) in placed.iter().enumerate() {
        if let Some((other, _)) = placed[..at].iter().find(|(_, one)| one == axis) {
            let message = format!("`{axis}` is named twice, for {other} and for {place}");
            return Err(Misfit { message, help: "leave one of them out".into() });
        }
    }
    Ok(())
}

fn nothing_along_x(figure: &FigureSpec, factors: &[Factor]) -> Misfit {
    let named: Vec<&str> = figure.axes().map(|(_, axis)| axis).collect();
    let message = match named.as_slice() {
        [] => "nothing varies that a figure could show".to_string(),
        named => format!("nothing varies besides {}, so nothing is left for x", named.join(", ")),
    };
    let help = if factors.len() > 1 { "name it for x instead" } else { "sweep a field, or name fewer axes" };
    Misfit { message, help: help.into() }
}

/// Whether an axis has a place in the figure, or a single label.
fn names(figure: &FigureSpec, axis: &str) -> bool {
    figure.axes().any(|(_, named)| named == axis)
}

/// Whether a factor varies without a requested place.
fn is_free(factor: &Factor, figure: &FigureSpec) -> bool {
    let placed = figure.axes().any(|(place, axis)| place != "only" && axis == factor.key);
    let only = figure.only.0.iter().filter_map(|only| only.split_once('='));
    let fixed = only.filter(|(axis, labels)| *axis == factor.key && !labels.contains('|')).count() > 0;
    factor.levels.len() > 1 && !placed && !fixed
}

/// Takes the factor that is chosen, if there is one.
fn take<'f>(free: &mut Vec<&'f Factor>, choose: fn(&[&Factor]) -> Option<usize>) -> Option<&'f Factor> {
    choose(free).map(|place| free.remove(place))
}

/// The scheme, or else a congestion control, or else the first that has names.
fn named(free: &[&Factor]) -> Option<usize> {
    let first =
        |is: &dyn Fn(&Factor) -> bool| free.iter().position(|factor| !factor.is_numeric() && is(factor));
    first(&|factor| factor.key == "scheme")
        .or_else(|| first(&|factor| factor.key.ends_with(".cc")))
        .or_else(|| first(&|_| true))
}

/// The first with most levels of those that have numbers.
fn numeric(free: &[&Factor]) -> Option<usize> {
    most(free, |factor| if factor.is_numeric() { factor.levels.len() } else { 0 })
}

/// The first with most levels.
fn longest(free: &[&Factor]) -> Option<usize> {
    most(free, |factor| factor.levels.len())
}

/// The first with fewest levels.
fn shortest(free: &[&Factor]) -> Option<usize> {
    most(free, |factor| usize::MAX - factor.levels.len())
}

fn most(free: &[&Factor], worth: impl Fn(&Factor) -> usize) -> Option<usize> {
    let best = free.iter().map(|factor| worth(factor)).max().filter(|best| *best > 0)?;
    free.iter().position(|factor| worth(factor) == best)
}

/// Neighbours this close, as a part of a linear axis, are hard to distinguish.
const NEAR: f64 = 0.05;

/// The least ratio of neighbours for which a logarithmic axis has room.
const FAR: f64 = 100.0;

/// Whether numbers are too close to one another on a linear axis, or to its beginning, and not on a logarithmic one.
fn is_crowded(factor: &Factor) -> bool {
    let mut numbers: Vec<f64> = factor.levels.iter().filter_map(|level| level.number).collect();
    numbers.sort_by(f64::total_cmp);
    let nearest = |sorted: &[f64]| {
        let range = sorted.last().zip(sorted.first()).map_or(0.0, |(last, first)| last - first);
        sorted.windows(2).map(|pair| (pair[1] - pair[0]) / range).fold(f64::INFINITY, f64::min)
    };
    let logarithms: Vec<f64> = numbers.iter().map(|number| libm::log10(*number)).collect();
    numbers.len() > 2
        && numbers.iter().all(|number| *number > 0.0)
        && (nearest(&numbers) < NEAR || numbers[numbers.len() - 1] >= FAR * numbers[0])
        && nearest(&logarithms) > nearest(&numbers)
}

#[cfg(test)]
mod tests {
    use super::super::super::Factors;
    use super::*;

    const CC: (&str, &[&str]) = ("flows.long.cc", &["reno", "cubic", "bbr", "pert"]);
    const BUFFER: (&str, &[&str]) = ("topology.buffer", &["0.5bdp", "1bdp", "2bdp"]);
    const RTT: (&str, &[&str]) = ("topology.rtt", &["20ms", "60ms", "120ms", "200ms"]);
    const FLOWS: (&str, &[&str]) = ("flows.long.count", &["1", "10"]);
    const QUEUE: (&str, &[&str]) = ("queue.kind", &["droptail", "codel"]);

    fn factors(axes: &[(&str, &[&str])]) -> Vec<Factor> {
        let cases = axes.iter().fold(vec![Vec::new()], |cases, (key, values)| {
            let with = |case: &Vec<(String, String)>| {
                let case = case.clone();
                values.iter().map(move |value| {
                    let own = (key.to_string(), value.to_string());
                    case.iter().cloned().chain([own]).collect()
                })
            };
            cases.iter().flat_map(with).collect()
        });
        Factors::of(&cases).factors
    }

    fn settled(wish: &FigureSpec, axes: &[(&str, &[&str])]) -> (Chosen, String) {
        let chosen = settle(wish, &factors(axes)).unwrap();
        let FigureSpec { x, y, facet, .. } = &chosen.figure;
        let told =
            format!("x={} series={} y={} facet={}", x.0, chosen.figure.series(), y.0, facet.0.join(","));
        (chosen, told)
    }

    fn automatic(axes: &[(&str, &[&str])]) -> String {
        settled(&FigureSpec::default(), axes).1
    }

    #[test]
    fn the_axes_of_a_figure_follow_from_what_varies() {
        for (axes, told) in [
            (&[RTT][..], "x=topology.rtt series= y= facet="),
            (&[CC], "x=flows.long.cc series= y= facet="),
            (&[CC, RTT], "x=topology.rtt series=flows.long.cc y= facet="),
            (&[BUFFER, RTT], "x=topology.rtt series= y=topology.buffer facet="),
            (&[CC, QUEUE], "x=queue.kind series=flows.long.cc y= facet="),
            (&[CC, BUFFER, RTT], "x=topology.rtt series=flows.long.cc y= facet=topology.buffer"),
            (&[BUFFER, RTT, FLOWS], "x=topology.rtt series=flows.long.count y= facet=topology.buffer"),
            (
                &[CC, BUFFER, RTT, FLOWS],
                "x=topology.rtt series=flows.long.cc y= facet=topology.buffer,flows.long.count",
            ),
        ] {
            assert_eq!(automatic(axes), told);
        }
    }

    #[test]
    fn a_fifth_factor_has_a_figure_for_each_of_its_levels() {
        let (chosen, _) = settled(&FigureSpec::default(), &[CC, BUFFER, RTT, FLOWS, QUEUE]);
        assert_eq!((chosen.figure.facet.0.len(), chosen.pages), (2, vec![QUEUE.0.to_string()]));
    }

    #[test]
    fn without_small_multiples_what_is_left_has_a_figure_for_each_level() {
        let wish = FigureSpec { facet: Names(vec![NO_FACET.into()]), ..FigureSpec::default() };
        let (chosen, told) = settled(&wish, &[CC, BUFFER, RTT]);
        assert_eq!(
            (told.as_str(), chosen.pages),
            ("x=topology.rtt series=flows.long.cc y= facet=", vec![BUFFER.0.to_string()])
        );
    }

    #[test]
    fn a_factor_may_be_called_by_its_name_its_column_or_the_last_word_of_its_field() {
        for called in ["topology.rtt", "rtt", "RTT", "rtt_ms"] {
            let wish = FigureSpec {
                x: Words("buffer".into()),
                facet: Names(vec![called.into()]),
                ..FigureSpec::default()
            };
            let told = settled(&wish, &[CC, BUFFER, RTT]).1;
            assert_eq!(told, "x=topology.buffer series=flows.long.cc y= facet=topology.rtt", "{called}");
        }
        let wrong = FigureSpec { x: Words("topology.rt".into()), ..FigureSpec::default() };
        let misfit = settle(&wrong, &factors(&[CC, RTT])).unwrap_err();
        assert!(misfit.help.contains("did you mean `topology.rtt`"), "{misfit:?}");
        let twice =
            FigureSpec { x: Words("rtt".into()), facet: Names(vec!["RTT".into()]), ..FigureSpec::default() };
        assert!(settle(&twice, &factors(&[CC, RTT])).unwrap_err().message.contains("named twice"));
    }

    #[test]
    fn numbers_that_would_crowd_are_spaced_by_powers_of_ten() {
        let scale =
            |values: &[&str]| settled(&FigureSpec::default(), &[("topology.rate", values)]).0.figure.scale;
        assert_eq!(scale(&["1mbit", "10mbit", "100mbit", "1gbit"]), Scale::Log);
        assert_eq!(scale(&["1mbit", "10mbit", "100mbit"]), Scale::Log);
        assert_eq!(scale(&["20mbit", "40mbit", "80mbit"]), Scale::Auto);
    }

    #[test]
    fn a_factor_with_one_level_or_one_wanted_label_takes_no_axis() {
        let wish = FigureSpec { only: Names(vec!["buffer=1bdp".into()]), ..FigureSpec::default() };
        let (chosen, told) = settled(&wish, &[CC, BUFFER, RTT, ("run.duration", &["60s"])]);
        assert_eq!(told, "x=topology.rtt series=flows.long.cc y= facet=");
        assert_eq!(chosen.figure.only.0, ["topology.buffer=1bdp", "run.duration=60 s"]);
    }

    #[test]
    fn an_axis_that_the_line_names_leaves_its_place_in_the_scenario() {
        let scenario = FigureSpec {
            x: Words("topology.rtt".into()),
            label: Words("RTT".into()),
            series: Or::is(Words("flows.long.cc".into())),
            ..FigureSpec::default()
        };
        let line = FigureSpec { x: Words("cc".into()), ..FigureSpec::default() };
        let both = factors(&[CC, RTT]);
        let figure = joined(&scenario, &line, &both).unwrap();
        assert_eq!((figure.x.0.as_str(), figure.label.0.as_str(), figure.series.get()), (CC.0, "", None));
        let drawn = settle(&figure, &both).unwrap().figure;
        assert_eq!(drawn.series(), RTT.0);
        let same = joined(&scenario, &FigureSpec::default(), &both).unwrap();
        assert_eq!(same, scenario);
    }
}

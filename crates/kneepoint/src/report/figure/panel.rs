// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A panel: lines where the labels along x are numbers, bars where they are names, and a heat map of two axes.

use super::super::Factor;
use super::quantity::Quantity;
use super::view::View;
use crate::chart::{
    self, Axis, Dot, Drawing, Facets, Group, Groups, Heat, Line, Lines, Panels, Spacing, scatter,
    scheme_class,
};
use crate::scenario::{FigureSpec, Scale};

/// A quantity over the varied factors: a chart, or small multiples of it.
pub(super) fn drawing(view: &View, shown: &Quantity) -> Drawing {
    let numbers = view.numbers();
    let heat = !view.observed.figure.y.0.is_empty();
    let Some(multiples) = view.multiples() else {
        return match numbers {
            _ if heat => chart::heat(&self::heat(view, shown)),
            Some(numbers) => {
                let mut alone = vec![lines(view, shown, &numbers)];
                spread(view, shown, &mut alone);
                chart::lines(&alone[0])
            }
            None => chart::groups(&groups(view, shown)),
        };
    };
    let views = &multiples.views;
    let panels = match numbers {
        _ if heat => Panels::Heats(views.iter().map(|one| self::heat(one, shown)).collect()),
        Some(numbers) => {
            let mut panels = views.iter().map(|one| lines(one, shown, &numbers)).collect::<Vec<_>>();
            spread(view, shown, &mut panels);
            Panels::Lines(panels)
        }
        None => Panels::Groups(views.iter().map(|one| groups(one, shown)).collect()),
    };
    chart::facets(&Facets {
        title: shown.heading.clone(),
        panels,
        columns: multiples.columns,
        above: multiples.above,
        beside: multiples.beside,
    })
}

/// Makes the common axis of panels logarithmic where their numbers would crowd otherwise, unless the figure says how.
fn spread(view: &View, shown: &Quantity, panels: &mut [Lines]) {
    if view.observed.figure.panel_scale != Scale::Auto || !view.observed.scaled {
        return;
    }
    let points = panels.iter().flat_map(|panel| &panel.series).flat_map(|series| &series.points);
    let axis = Axis::spread(&shown.axis, points.map(|(_, estimate)| estimate.mean));
    for panel in panels.iter_mut().filter(|_| axis.spacing == Spacing::Log) {
        panel.y.spacing = Spacing::Log;
    }
}

fn lines(view: &View, shown: &Quantity, numbers: &[f64]) -> Lines {
    let figure = view.observed.figure;
    let line = |series: &Option<String>| {
        let points = view.xs.iter().zip(numbers);
        let points = points.map(|(x, number)| (*number, view.estimate(shown, x, series).times(shown.drawn)));
        // A series that was sampled at other instants has no gap at these instants.
        let mut points: Vec<_> = points.filter(|(_, estimate)| estimate.mean.is_finite()).collect();
        // Levels may have any order, and a line goes to the right.
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        Line { name: view.series_name(series), rank: view.rank(series), broad: false, points }
    };
    let told = view.published(shown).into_iter();
    // Published figures have round numbers.
    let levels = if view.observed.scaled { numbers } else { &[] };
    Lines {
        title: shown.heading.clone(),
        x: axis(&view.axis_name(&figure.x.0, &figure.label.0), figure.scale).at(levels),
        y: up(view, shown),
        series: view.series.iter().map(line).collect(),
        marks: Vec::new(),
        published: told.map(|(x, series, value)| (series, (numbers[x], value))).collect(),
        measured: view.observed.measured.filter(|_| figure.x.0 == "time"),
    }
}

fn groups(view: &View, shown: &Quantity) -> Groups {
    let group = |x: &String| {
        let bar = |series| view.estimate(shown, x, series).times(shown.drawn);
        Group { name: x.clone(), bars: view.series.iter().map(bar).collect() }
    };
    let told = view.published(shown).into_iter();
    let ranks = view.series.iter().filter_map(|series| view.rank(series));
    let alone = if matches!(view.series.as_slice(), [None]) { view.ranks_of_choices() } else { Vec::new() };
    Groups {
        title: shown.heading.clone(),
        y: up(view, shown),
        series: view.series.iter().map(|series| view.series_name(series)).collect(),
        ranks: if alone.is_empty() { ranks.collect() } else { alone },
        groups: view.xs.iter().map(group).collect(),
        marks: Vec::new(),
        published: told.map(|(x, series, value)| ((x, series), value)).collect(),
    }
}

fn heat(view: &View, shown: &Quantity) -> Heat {
    let figure = view.observed.figure;
    let row = |y: &String| {
        let cell = |x: &String| view.cell(shown, x, y).times(shown.drawn);
        view.xs.iter().map(cell).collect()
    };
    let named = |axis: &str, wanted: &str| {
        view.factor(axis).map_or(wanted, |factor| factor.name.as_str()).to_string()
    };
    let wanted = if figure.label.0.is_empty() { &figure.x.0 } else { &figure.label.0 };
    let mut ys = view.ys.clone();
    // Numbers ascend; names are read from the top.
    if !view.factor(&figure.y.0).is_some_and(Factor::is_numeric) {
        ys.reverse();
    }
    Heat {
        title: shown.heading.clone(),
        // The labels have their units.
        columns: (named(&figure.x.0, wanted), view.xs.clone()),
        cells: ys.iter().map(row).collect(),
        rows: (named(&figure.y.0, &figure.y.0), ys),
        quantity: if shown.axis.is_empty() { shown.heading.clone() } else { shown.axis.clone() },
    }
}

/// A dot for each label of `x`, in the colour of the series.
pub(super) fn plane(view: &View, across: &Quantity, up: &Quantity, place: usize) -> Drawing {
    let series = &view.series[place];
    let rank = view.rank(series).unwrap_or(place);
    let scaled = |shown: &Quantity, x: &String| view.estimate(shown, x, series).times(shown.scale);
    let dot = |label: &String| Dot::of(scheme_class(rank), label, &scaled(across, label), &scaled(up, label));
    let dots: Vec<Dot> = view.xs.iter().filter_map(dot).collect();
    let of = series.iter().map(|series| format!(": {series}")).collect::<String>();
    let title = format!("{} against {}{of}", up.heading, across.heading.to_lowercase());
    scatter(&title, (&across.titled(), &up.titled()), &dots)
}

/// The axis of a panel's values.
fn up(view: &View, shown: &Quantity) -> Axis {
    let FigureSpec { log_panels, panel_scale, .. } = view.observed.figure;
    let (least, most) = shown.bounds;
    let scale = if log_panels.0.contains(&shown.text) { Scale::Log } else { *panel_scale };
    axis(&shown.axis, scale).bounded(least, most)
}

fn axis(label: &str, scale: Scale) -> Axis {
    match scale {
        Scale::Auto | Scale::Linear => Axis::linear(label),
        Scale::Log => Axis::log(label),
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The figures of a comparison: one for each metric, over what varies.

use super::super::document::{Block, Figure, Layout};
use super::super::verdict::subject;
use super::super::{Comparison, Factor, Factors};
use super::axis;
use super::check::quantity_text;
use super::choice::{Chosen, Misfit, joined, settle};
use super::quantity::Quantity;
use super::view::View;
use super::{Observed, panel};
use crate::experiment::Experiment;
use crate::experiment::expression::Expression;
use crate::measure::Subject;
use crate::scenario::{FigureSpec, Names, Words};
use crate::study::Frame;

/// Default metrics of figures, as far as they vary; this many at most.
const TELLING: [&str; 6] =
    ["utilization", "queueing_delay_mean_ms", "drop_ratio", "jain_index", "mark_ratio", "flow_goodput_bps"];
const MOST_METRICS: usize = 4;

/// The most figures for factors without an axis.
const MOST_PAGES: usize = 12;

/// The requested figures of a comparison; without a request, none where only schemes differ.
pub fn of(comparison: &Comparison, wish: &FigureSpec) -> Vec<Figure> {
    let wanted = *wish != FigureSpec::default();
    let mut varied = comparison.factors.iter().filter(|factor| factor.levels.len() > 1);
    if !wanted && varied.all(|factor| factor.key == "scheme") {
        return Vec::new();
    }
    let Ok(Chosen { figure, pages }) = settle(wish, &comparison.factors) else { return Vec::new() };
    let frame = comparison.frame();
    let shown = shown(comparison, &frame, &figure);
    let mut figures: Vec<Figure> = Vec::new();
    for page in combinations(&pages, &comparison.factors) {
        let mut own = figure.clone();
        own.only.0.extend(
            page.iter().map(|(factor, level)| format!("{}={}", factor.key, factor.levels[*level].text)),
        );
        let observed = Observed {
            figure: &own,
            frame: &frame,
            factors: &comparison.factors,
            published: &[],
            measured: None,
            scaled: true,
        };
        let Some(view) = View::of(&observed) else { continue };
        figures.extend(shown.iter().map(|quantity| drawn(&view, quantity, &page)));
    }
    tell_apart(&mut figures);
    figures
}

/// The figures of a comparison as a block of its report; none where there are none.
pub fn block(comparison: &Comparison, wish: &FigureSpec) -> Option<Block> {
    let figures = of(comparison, wish);
    let halves = figures.iter().all(|figure| figure.drawing.is_half());
    let layout = if halves { Layout::Halves } else { Layout::Whole };
    (!figures.is_empty()).then_some(Block::Figures(layout, figures))
}

/// The figure of an experiment, changed by options.
pub fn of_experiment(experiment: &Experiment, line: &FigureSpec) -> Result<FigureSpec, Misfit> {
    let points = experiment.variants.iter().take(1).flat_map(|variant| &variant.points);
    let factors = Factors::of(&points.map(|point| point.labels.clone()).collect::<Vec<_>>()).factors;
    let own = experiment.figure.clone().unwrap_or_default();
    let Chosen { mut figure, pages } = settle(&joined(&own, line, &factors)?, &factors)?;
    if let Some(left) = pages.first() {
        let message = format!("no axis is left for `{left}`");
        return Err(Misfit { message, help: "write in its [figure] which label is shown, as `only`".into() });
    }
    if figure.label.0.is_empty()
        && let Some(factor) = factors.iter().find(|factor| factor.key == figure.x.0)
    {
        figure.label = Words(axis::name("", factor));
    }
    if figure.panels.0.is_empty() {
        figure.panels = Names(TELLING[..MOST_METRICS].iter().map(|key| key.to_string()).collect());
    }
    Ok(figure)
}

/// A metric over the factors, at a level of each factor without an axis.
fn drawn(view: &View, quantity: &Quantity, page: &[(&Factor, usize)]) -> Figure {
    let figure = view.observed.figure;
    let name_of = |axis: &str| view.factor(axis).map_or(axis, |factor| factor.name.as_str()).to_string();
    let (x, y) = (name_of(&figure.x.0), name_of(&figure.y.0));
    let (over, note) = match (view.numbers(), y.as_str()) {
        (_, y) if !y.is_empty() => (format!("over {x} and {y}"), ""),
        (Some(_), _) => (format!("over {x}"), "Bands are 95 % confidence intervals over the seeds."),
        (None, _) => (format!("by {x}"), "Whiskers are 95 % confidence intervals over the seeds."),
    };
    let several = view.observed.frame.seeds().len() > 1;
    let at = page.iter().map(|(factor, level)| format!(", {}", factor.told(*level))).collect::<String>();
    let heading = format!("{} {over}{at}", quantity.title);
    let name = slug(&format!("{} {over}{at}", quantity.text));
    let drawing = panel::drawing(view, &Quantity { heading: heading.clone(), ..quantity.clone() });
    Figure { name, title: heading, note: if several { note } else { "" }, class: None, drawing }
}

/// The quantities of the panels: the requested ones, or the informative ones that vary.
pub(super) fn shown(comparison: &Comparison, frame: &Frame, figure: &FigureSpec) -> Vec<Quantity> {
    let wanted = figure.panels.0.iter().filter_map(|text| quantity_text(text).ok());
    let wanted: Vec<String> = wanted.flat_map(|text| of_subjects(text, frame, figure)).collect();
    let texts = if wanted.is_empty() { telling(comparison) } else { wanted };
    texts.iter().filter_map(|text| Quantity::of(text, true)).collect()
}

/// The informative metrics that are defined and vary; if nothing varies, all that are defined.
fn telling(comparison: &Comparison) -> Vec<String> {
    let means = |key: &&str| -> Vec<f64> {
        let means = comparison.schemes.iter().map(|scheme| scheme.estimate(key).mean);
        means.filter(|mean| mean.is_finite()).collect()
    };
    let defined: Vec<&str> = TELLING.into_iter().filter(|key| !means(key).is_empty()).collect();
    let varies = |key: &&&str| means(key).windows(2).any(|pair| pair[0] != pair[1]);
    let varying: Vec<&str> = defined.iter().filter(varies).copied().collect();
    let chosen = if varying.is_empty() { defined } else { varying };
    let chosen: Vec<String> = chosen.into_iter().map(String::from).collect();
    // The metric of the verdict comes first, where a figure can show it.
    let subject = subject(comparison).filter(|text| chosen.contains(text) || is_of_a_part(text));
    let others = chosen.iter().filter(|text| Some(*text) != subject.as_ref()).cloned();
    subject.iter().cloned().chain(others).take(MOST_METRICS).collect()
}

/// Whether it is a metric of a group, which can be drawn if its name can be written in an expression.
fn is_of_a_part(text: &str) -> bool {
    text.contains('[') && Expression::parse(text).is_ok()
}

/// A metric of groups or links only, for each of them, unless they are an axis of the figure.
fn of_subjects(text: String, frame: &Frame, figure: &FigureSpec) -> Vec<String> {
    let has = |subject: &&Subject| subject.metrics().iter().any(|metric| metric.key == text);
    let mut alone = Subject::FEW.iter().filter(|subject| subject.axes().len() == 1);
    let subject = if has(&&Subject::Run) { None } else { alone.find(has) };
    match subject.map(|subject| subject.axes()[0]) {
        Some(axis) if !figure.axes().any(|(_, named)| named == axis) => {
            frame.labels(axis).iter().map(|label| format!("{text}[{axis}={label}]")).collect()
        }
        _ => vec![text],
    }
}

/// Every combination of the levels of factors, [`MOST_PAGES`] at most.
pub(super) fn combinations<'f>(pages: &[String], factors: &'f [Factor]) -> Vec<Vec<(&'f Factor, usize)>> {
    let paged = factors.iter().filter(|factor| pages.contains(&factor.key));
    paged.fold(vec![Vec::new()], |begun, factor| {
        let with = |page: &Vec<(&'f Factor, usize)>| {
            let page = page.clone();
            (0..factor.levels.len()).map(move |level| [&page[..], &[(factor, level)]].concat())
        };
        begun.iter().flat_map(with).take(MOST_PAGES).collect()
    })
}

/// A name of a file: letters and digits, with hyphens between words.
pub(super) fn slug(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '.' { c } else { ' ' };
    let plain: String = text.chars().map(plain).collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    words.join("-").chars().take(80).collect::<String>().to_lowercase()
}

/// Gives figures that would share a file their places.
fn tell_apart(figures: &mut [Figure]) {
    for place in 1..figures.len() {
        let same = figures[..place].iter().any(|earlier| earlier.name == figures[place].name);
        if same {
            figures[place].name += &format!("-{}", place + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{SchemeResult, example};
    use super::*;

    /// Every combination of levels, each with the runs of an example.
    fn study(axes: &[(&str, &[&str])]) -> Comparison {
        let cases = axes.iter().fold(vec![Vec::new()], |begun: Vec<Vec<(String, String)>>, (key, values)| {
            let with = |case: &Vec<(String, String)>| {
                let own =
                    values.iter().map(|value| [&case[..], &[(key.to_string(), value.to_string())]].concat());
                own.collect::<Vec<_>>()
            };
            begun.iter().flat_map(with).collect()
        });
        let Factors { factors, levels } = Factors::of(&cases);
        let names: Vec<String> = (0..cases.len()).map(|place| format!("case {place}")).collect();
        let plain = example::of("A grid", &names.iter().map(String::as_str).collect::<Vec<_>>());
        let placed = plain.schemes.into_iter().zip(levels);
        let schemes = placed.map(|(scheme, at)| SchemeResult { levels: at, ..scheme }).collect();
        Comparison { factors, schemes, ..plain }
    }

    const GRID: [(&str, &[&str]); 3] = [
        ("flows.long.cc", &["reno", "cubic", "bbr"]),
        ("topology.buffer", &["0.5bdp", "1bdp"]),
        ("topology.rtt", &["20ms", "60ms", "120ms"]),
    ];

    fn wish(metrics: &[&str]) -> FigureSpec {
        let panels = metrics.iter().map(|metric| metric.to_string()).collect();
        FigureSpec { panels: Names(panels), ..FigureSpec::default() }
    }

    #[test]
    fn a_third_and_a_fourth_axis_have_panels_and_none_of_them_is_empty() {
        let flows: (&str, &[&str]) = ("flows.long.count", &["1", "10"]);
        for (axes, panels) in [(&GRID[..], 2), (&[GRID[0], GRID[1], GRID[2], flows], 4)] {
            let figures = of(&study(axes), &FigureSpec::default());
            assert!(!figures.is_empty() && figures.len() <= MOST_METRICS);
            for figure in &figures {
                let svg = figure.drawing.standalone();
                assert!(!svg.contains("no data") && !svg.contains("NaN"), "{}", figure.name);
                // One of each panel, and one of the legend.
                assert_eq!(svg.matches("class=\"line s2\"").count(), panels + 1, "{}", figure.name);
                for once in ["RTT, ms", "cubic"] {
                    assert_eq!(svg.matches(&format!(">{once}</text>")).count(), 1, "{once}: {}", figure.name);
                }
            }
            assert_eq!(
                (figures[0].name.as_str(), figures[0].title.as_str()),
                ("queueing_delay_mean_ms-over-rtt", "Mean queueing delay over RTT")
            );
        }
    }

    #[test]
    fn two_numbers_are_a_heat_map_with_a_cell_for_each_pair() {
        let figures = of(&study(&GRID[1..]), &wish(&["utilization"]));
        let svg = figures[0].drawing.standalone();
        assert_eq!((figures.len(), svg.matches("class=\"tile\"").count()), (1, 6), "{svg}");
        assert!(svg.contains(">120 ms</text>") && svg.contains(">0.5 BDP</text>"), "{svg}");
    }

    #[test]
    fn names_in_the_rows_of_a_heat_map_are_read_from_the_top() {
        let rows = FigureSpec { y: Words("cc".into()), ..wish(&["utilization"]) };
        let svg = of(&study(&[GRID[0], GRID[2]]), &rows)[0].drawing.standalone();
        let at = |name: &str| {
            let before = svg.split(&format!(">{name}</text>")).next().expect(name);
            let y = before.rsplit(" y=\"").next().and_then(|rest| rest.split('"').next());
            y.and_then(|y| y.parse::<f64>().ok()).expect(name)
        };
        assert!(at("reno") < at("cubic") && at("cubic") < at("bbr"), "{svg}");
    }

    #[test]
    fn bars_of_algorithms_have_the_colours_of_their_rows_and_bars_of_conditions_have_one() {
        let colours = |axis: (&str, &[&str])| {
            let svg = of(&study(&[axis]), &wish(&["utilization"]))[0].drawing.standalone();
            [0, 1, 2].map(|place| svg.contains(&format!("class=\"fill s{place}\"")))
        };
        assert_eq!(colours(("queue.kind", &["pie", "red", "codel"])), [true; 3]);
        assert_eq!(colours(("traffic.kind", &["a", "b", "c"])), [true, false, false]);
    }

    #[test]
    fn schemes_alone_have_a_figure_only_where_one_is_wanted() {
        let comparison = example::comparison();
        assert!(of(&comparison, &FigureSpec::default()).is_empty());
        let figures = of(&comparison, &wish(&["dropped", "100 * utilization"]));
        assert_eq!(figures.len(), 2);
        assert!(figures.iter().all(|figure| !figure.drawing.standalone().contains("no data")));
    }

    #[test]
    fn a_metric_of_groups_is_drawn_for_each_group() {
        let names: Vec<String> =
            of(&study(&GRID), &wish(&["share"])).into_iter().map(|figure| figure.name).collect();
        assert_eq!(names, ["share-group-forward-over-rtt", "share-group-noise-over-rtt"]);
    }

    #[test]
    fn a_fifth_axis_has_a_figure_for_each_level() {
        let five = [
            GRID[0],
            GRID[1],
            GRID[2],
            ("flows.long.count", &["1", "2"][..]),
            ("queue.kind", &["pie", "red"]),
        ];
        let figures = of(&study(&five), &wish(&["utilization"]));
        let titles: Vec<&str> = figures.iter().map(|figure| figure.title.as_str()).collect();
        assert_eq!(titles, ["Utilization over RTT, pie", "Utilization over RTT, red"]);
    }

    #[test]
    fn panels_ascend_whatever_the_order_of_the_levels_and_series_keep_their_colours() {
        let axes = [GRID[0], ("topology.buffer", &["2bdp", "0.5bdp", "1bdp"][..]), GRID[2]];
        let only = Names(vec!["cc=bbr|cubic".into()]);
        let figures =
            of(&study(&axes), &FigureSpec { x: Words("rtt".into()), only, ..wish(&["utilization"]) });
        let svg = figures[0].drawing.standalone();
        let at = |text: &str| svg.find(&format!(">buffer {text}</text>")).expect(text);
        assert!(at("0.5 BDP") < at("1 BDP") && at("1 BDP") < at("2 BDP"), "{svg}");
        let drawn = |class: &str| svg.contains(&format!("class=\"line {class}\""));
        assert_eq!((drawn("s0"), drawn("s1"), drawn("s2")), (false, true, true), "reno was the first");
    }

    #[test]
    fn delays_of_three_decades_are_divided_by_powers_of_ten_unless_the_figure_says_otherwise() {
        let mut wide = study(&[GRID[0], GRID[2]]);
        for (place, scheme) in wide.schemes.iter_mut().enumerate() {
            for run in &mut scheme.runs {
                let whole = run.rows.iter_mut().find(|row| row.labels.is_empty()).expect("the run");
                let delay = [0.1, 1.0, 300.0][place % 3];
                whole.values.insert("queueing_delay_mean_ms".into(), Some(delay));
            }
        }
        let ticks = |wish: &FigureSpec| of(&wide, wish)[0].drawing.standalone().contains(">0.1</text>");
        let delay = wish(&["queueing_delay_mean_ms"]);
        assert!(ticks(&delay));
        assert!(!ticks(&FigureSpec { panel_scale: crate::scenario::Scale::Linear, ..delay }));
    }
}

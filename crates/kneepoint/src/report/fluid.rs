// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Pictures of fluid models: trajectories, and stability over two parameters.

use crate::chart::{Axis, Colours, Contour, Drawing, Line, Lines, Map, Mark, contour, lines, map, sheet};
use crate::fluid::map::Cell;
use crate::fluid::{self, Any, Equilibrium, State};

/// A trajectory, one panel for each state, with the equilibrium as a mark.
pub fn trajectory(title: &str, model: &Any, rows: &[(f64, State)], rest: Option<&Equilibrium>) -> Drawing {
    let panel = |(place, name): (usize, &str)| {
        let points = rows.iter().map(|(at, state)| (*at, state[place]));
        lines(&Lines {
            title: name.replace('_', " "),
            x: Axis::linear("time, s"),
            y: Axis::linear(name),
            series: vec![Line::exact("", points)],
            marks: rest.map(|rest| Mark::y(rest.state[place], "equilibrium")).into_iter().collect(),
        })
    };
    sheet(title, &model.states().into_iter().enumerate().map(panel).collect::<Vec<_>>(), 1)
}

/// A map of the rightmost mode, blue where deviations die out, with its boundary and the theorem's.
pub fn stability(title: &str, x: &fluid::axis::Axis, y: &fluid::axis::Axis, cells: &[Cell]) -> Drawing {
    let (columns, rows): (Vec<f64>, Vec<f64>) = (x.values().collect(), y.values().collect());
    let grid = |of: &dyn Fn(&Cell) -> f64| -> Vec<Vec<f64>> {
        cells.chunks(columns.len()).map(|row| row.iter().map(of).collect()).collect()
    };
    let growth = grid(&|cell| -cell.damping().unwrap_or(f64::NAN));
    let swings = grid(&|cell| cell.mode.map_or(f64::NAN, |mode| if mode.im > 0.0 { 1.0 } else { 0.0 }));
    let theorem = grid(&|cell| libm::log(cell.theorem));
    let curve = |name: &str, dashed, values: &[Vec<f64>], level| Contour {
        name: name.into(),
        lines: contour(&columns, &rows, values, level),
        dashed,
    };
    map(&Map {
        title: title.into(),
        x: axis(x),
        y: axis(y),
        contours: vec![
            curve("stable within", false, &growth, 0.0),
            curve("the theorem's bound", true, &theorem, 0.0),
            curve("oscillates beyond", true, &swings, 0.5),
        ],
        columns: columns.clone(),
        rows: rows.clone(),
        values: growth,
        quantity: "real part over modulus of the rightmost mode".into(),
        colours: Colours::Diverging,
    })
}

/// An axis of a parameter as one of a chart.
fn axis(axis: &fluid::axis::Axis) -> Axis {
    let unit = if axis.unit.is_empty() { String::new() } else { format!(", {}", axis.unit) };
    let label = format!("{}{unit}", axis.name);
    if axis.log { Axis::log(label) } else { Axis::linear(label) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fluid::Config;

    #[test]
    fn a_map_shows_its_three_boundaries_and_a_trajectory_its_three_states() {
        let pert = Config::named("pert").unwrap_or_default();
        let (x, y) = ("rtt=80ms..220ms:12".parse().unwrap(), "delta=0.1ms..10ms:8:log".parse().unwrap());
        let cells: Vec<Cell> = fluid::axis::Axis::values(&y)
            .flat_map(|row| fluid::axis::Axis::values(&x).map(move |at| (at, row)))
            .map(|(at, row)| Cell::at(&pert, (&x, at), (&y, row)))
            .collect();
        let chart = stability("PERT", &x, &y, &cells).standalone();
        for part in ["stable within", "theorem", "oscillates beyond", "rtt, ms", "delta, ms"] {
            assert!(chart.contains(part), "{part}");
        }
        let model = pert.build();
        let path = model.run(model.start(), 2.0).unwrap();
        let rows: Vec<_> = path.steps().map(|(at, state)| (at, *state)).collect();
        let rest = model.local().unwrap().equilibrium;
        let svg = trajectory("PERT", &model, &rows, Some(&rest)).standalone();
        assert_eq!(svg.matches("equilibrium").count(), 3, "{svg}");
        assert!(!svg.contains("NaN"));
    }
}

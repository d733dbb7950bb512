// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Level curves of a function on a grid.
//!
//! W. E. Lorensen, H. E. Cline, "Marching Cubes", SIGGRAPH 1987, in two dimensions: a level curve crosses each cell
//! that has corners on both sides of the level from edge to edge, the crossings interpolated linearly:
//!
//! ```text
//! x = x0 + (x1 - x0) · (level - v0) / (v1 - v0)
//! ```
//!
//! Readings: the ambiguity of a saddle is resolved by the mean of its corners. Cells with a NaN corner are not
//! crossed.

use std::collections::BTreeMap;

/// An edge of the grid: from the corner at (row, column), along the row or across rows.
type Edge = (usize, usize, bool);

/// The curves on which `values` (one row per element of `rows`, one number per element of `columns`) equals `level`.
pub fn contour(columns: &[f64], rows: &[f64], values: &[Vec<f64>], level: f64) -> Vec<Vec<(f64, f64)>> {
    let mut joins: BTreeMap<Edge, Vec<Edge>> = BTreeMap::new();
    for row in 0..rows.len().saturating_sub(1) {
        for column in 0..columns.len().saturating_sub(1) {
            for (one, other) in crossings(values, (row, column), level) {
                joins.entry(one).or_default().push(other);
                joins.entry(other).or_default().push(one);
            }
        }
    }
    let crossing = |(row, column, along): Edge| {
        let (next_row, next_column) = if along { (row, column + 1) } else { (row + 1, column) };
        let (from, to) = (values[row][column], values[next_row][next_column]);
        let share = (level - from) / (to - from);
        let between =
            |places: &[f64], one: usize, other: usize| places[one] + (places[other] - places[one]) * share;
        (between(columns, column, next_column), between(rows, row, next_row))
    };
    let mut lines = Vec::new();
    // Open curves are traced from an end; the rest are closed.
    let ends: Vec<Edge> = joins.iter().filter(|(_, next)| next.len() == 1).map(|(edge, _)| *edge).collect();
    for start in ends.into_iter().chain(joins.keys().copied().collect::<Vec<_>>()) {
        let mut line = vec![start];
        let mut at = start;
        while let Some(next) = joins.get_mut(&at).and_then(Vec::pop) {
            if let Some(back) = joins.get_mut(&next)
                && let Some(place) = back.iter().position(|edge| *edge == at)
            {
                back.remove(place);
            }
            line.push(next);
            at = next;
        }
        if line.len() > 1 {
            lines.push(line.into_iter().map(crossing).collect());
        }
    }
    lines
}

/// The pairs of edges through which the level curve crosses a cell.
fn crossings(values: &[Vec<f64>], (row, column): (usize, usize), level: f64) -> Vec<(Edge, Edge)> {
    let corner = |down: usize, right: usize| {
        values.get(row + down).and_then(|line| line.get(column + right)).copied().unwrap_or(f64::NAN)
    };
    let corners = [corner(0, 0), corner(0, 1), corner(1, 1), corner(1, 0)];
    if corners.iter().any(|value| !value.is_finite()) {
        return Vec::new();
    }
    let above = corners.map(|value| value >= level);
    let edges =
        [(row, column, true), (row, column + 1, false), (row + 1, column, true), (row, column, false)];
    let crossed: Vec<Edge> =
        (0..4).filter(|at| above[*at] != above[(at + 1) % 4]).map(|at| edges[at]).collect();
    match crossed[..] {
        [one, other] => vec![(one, other)],
        [first, second, third, fourth] => {
            let middle_above = corners.iter().sum::<f64>() / 4.0 >= level;
            // Cuts off the corners that lie on the opposite side of the level from the centre.
            if above[0] == middle_above {
                vec![(first, second), (third, fourth)]
            } else {
                vec![(fourth, first), (second, third)]
            }
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(size: usize, of: impl Fn(f64, f64) -> f64) -> (Vec<f64>, Vec<Vec<f64>>) {
        let places: Vec<f64> = (0..size).map(|place| place as f64).collect();
        let values = places.iter().map(|y| places.iter().map(|x| of(*x, *y)).collect()).collect();
        (places, values)
    }

    #[test]
    fn a_plane_is_cut_in_one_straight_line() {
        let (places, values) = grid(5, |x, y| x + 0.5 * y);
        let lines = contour(&places, &places, &values, 1.75);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].iter().all(|(x, y)| (x + 0.5 * y - 1.75).abs() < 1e-12), "{lines:?}");
        let ends = [lines[0][0], lines[0][lines[0].len() - 1]];
        assert!(ends.contains(&(1.75, 0.0)) && ends.contains(&(0.0, 3.5)), "{ends:?}");
    }

    #[test]
    fn a_hill_has_a_closed_ring_around_it() {
        let (places, values) = grid(21, |x, y| -((x - 10.0) * (x - 10.0) + (y - 10.0) * (y - 10.0)));
        let lines = contour(&places, &places, &values, -36.5);
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].first(), lines[0].last());
        let off = |(x, y): &(f64, f64)| {
            (((x - 10.0) * (x - 10.0) + (y - 10.0) * (y - 10.0)).sqrt() - 36.5f64.sqrt()).abs()
        };
        assert!(lines[0].iter().all(|point| off(point) < 0.05));
    }

    #[test]
    fn a_saddle_is_cut_twice_and_the_lines_never_cross() {
        let lines = contour(&[0.0, 1.0], &[0.0, 1.0], &[vec![1.0, 0.0], vec![0.0, 1.0]], 0.6);
        assert_eq!(lines.len(), 2);
        // The centre, 0.5, is below the level: each corner above is cut off alone.
        for line in &lines {
            let near = |corner: f64| line.iter().all(|(x, y)| (x - corner).abs() + (y - corner).abs() < 0.5);
            assert!(near(0.0) || near(1.0), "{line:?}");
        }
    }

    #[test]
    fn a_hole_is_not_crossed() {
        let (places, mut values) = grid(5, |x, _| x);
        values[2][1] = f64::NAN;
        assert_eq!(contour(&places, &places, &values, 1.5).len(), 2);
        assert!(contour(&places, &places, &values, 9.0).is_empty());
        assert!(contour(&[], &[], &[], 1.0).is_empty());
    }
}

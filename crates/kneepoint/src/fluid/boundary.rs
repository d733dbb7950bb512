// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The values of a parameter at which stability, oscillation or a theorem's condition changes.

use super::axis::ParameterAxis;
use super::linear::C64;
use super::{Config, Local};

/// A change along an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Its place in the axis's unit: the first value after it.
    pub at: f64,
    /// Whether the axis begins with it, so that it lies there or before.
    pub at_begin: bool,
}

/// The first boundary of stability along an axis, with the other properties there.
#[derive(Clone, Debug)]
pub struct Boundary {
    /// The smallest unstable value; nothing if all are stable.
    pub unstable: Option<Change>,
    /// The rightmost mode there.
    pub mode: Option<C64>,
    /// The smallest value at which the published condition fails.
    pub theorem: Option<Change>,
    /// The smallest value at which the rightmost mode oscillates.
    pub oscillating: Option<Change>,
}

/// Bisections of an interval between two points of an axis.
const BISECTIONS: u32 = 50;

/// The intervals of an axis where `holds`, each with its two ends; points without an answer count as false.
pub fn intervals(axis: &ParameterAxis, holds: impl Fn(f64) -> bool) -> Vec<(f64, f64)> {
    let shares = (0..axis.points).map(|place| place as f64 / (axis.points - 1) as f64);
    let mut found: Vec<(f64, f64)> = Vec::new();
    let mut last: Option<(f64, bool)> = None;
    for share in shares {
        let now = holds(axis.at(share));
        match (last, now) {
            (None, true) => found.push((axis.at(share), axis.at(share))),
            (Some((before, false)), true) => {
                found.push((axis.at(edge(axis, &holds, before, share).1), axis.at(share)));
            }
            (Some((before, true)), false) => {
                if let Some(stretch) = found.last_mut() {
                    stretch.1 = axis.at(edge(axis, &holds, before, share).0);
                }
            }
            (Some((_, true)), true) => {
                if let Some(stretch) = found.last_mut() {
                    stretch.1 = axis.at(share);
                }
            }
            (_, false) => {}
        }
        last = Some((share, now));
    }
    found
}

/// The shares on both sides of the change between two shares.
fn edge(axis: &ParameterAxis, holds: &impl Fn(f64) -> bool, before: f64, after: f64) -> (f64, f64) {
    let (mut low, mut high) = (before, after);
    let begins = holds(axis.at(low));
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        *if holds(axis.at(middle)) == begins { &mut low } else { &mut high } = middle;
    }
    (low, high)
}

/// The smallest value at which `holds`.
pub fn first(axis: &ParameterAxis, holds: impl Fn(f64) -> bool) -> Option<Change> {
    let mut before = None;
    for place in 0..axis.points {
        let share = place as f64 / (axis.points - 1) as f64;
        if holds(axis.at(share)) {
            return Some(match before {
                None => Change { at: axis.at(share), at_begin: true },
                Some(low) => Change { at: axis.at(edge(axis, &holds, low, share).1), at_begin: false },
            });
        }
        before = Some(share);
    }
    None
}

/// The boundaries of a model along an axis; the error names the fault of the axis.
pub fn boundary(config: &Config, axis: &ParameterAxis) -> Result<Boundary, String> {
    axis.set(config, axis.from)?;
    axis.set(config, axis.to)?;
    let model = |value: f64| axis.set(config, value).map(|config| config.build());
    let local = |value: f64| model(value).and_then(|model| model.local());
    let is = |what: fn(&Local) -> bool| move |value: f64| local(value).is_ok_and(|local| what(&local));
    let unstable = first(axis, is(|there| there.mode().re >= 0.0));
    Ok(Boundary {
        mode: unstable.and_then(|change| local(change.at).ok()).map(|local| local.mode()),
        unstable,
        theorem: first(axis, |value| model(value).is_ok_and(|model| !model.theorem().holds())),
        oscillating: first(axis, is(Local::oscillates)),
    })
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Scenarios at random: a dumbbell with some flows, and a window of 2 s to 96 s.

use kneepoint::rng::Rng;

/// Controllers and queues, of all kinds.
const CONTROLS: [&str; 8] = ["reno", "cubic", "sack", "vegas", "pert", "bbr", "westwood", "compound"];
const QUEUES: [&str; 5] = ["droptail", "red", "codel", "pie", "pi"];

/// The text of the scenario at a place.
pub(super) fn scenario(place: u64) -> String {
    let mut rng = Rng::stream(1, "precision of scenarios", place);
    // Evenly on a scale of doublings.
    let rate_mbit = rng.pick(&[1.0, 2.0, 3.0, 4.0]);
    let rtt_ms = rng.pick(&[10, 20, 40, 80, 160, 200]);
    let window = rng.pick(&[2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 96.0]) * rng.between(0.75, 1.0);
    let flows = rng.pick(&[1, 2, 3, 5, 8, 12]);
    let (control, queue) = (rng.pick(&CONTROLS), rng.pick(&QUEUES));
    let buffer = rng.pick(&["0.5bdp", "1bdp", "2bdp"]);
    // As in `knee compare`: starts in the first eighth, and the middle half is measured.
    format!(
        "[run]\nduration = \"{:.3}s\"\nmeasure = \"{:.3}s..{:.3}s\"\n[topology]\nkind = \"dumbbell\"\nrate = \"{rate_mbit}mbit\"\n\
         rtt = \"{rtt_ms}ms\"\nbuffer = \"{buffer}\"\n[queue]\nkind = \"{queue}\"\n[[flows]]\nname = \"long\"\ncount = {flows}\n\
         cc = \"{control}\"\nstart = \"0s..{:.3}s\"\n",
        1.5 * window,
        window / 2.0,
        1.5 * window,
        window / 4.0,
    )
}

/// The scenario in a line.
pub(super) fn about(text: &str) -> String {
    text.lines().filter(|line| line.contains('=')).collect::<Vec<_>>().join(" ")
}

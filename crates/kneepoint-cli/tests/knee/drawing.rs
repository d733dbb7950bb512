// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The figure of the factors: chosen automatically, by `[figure]` and by the command line.

use super::*;

const GRID: &str = "[run]\nduration = '4s'\nseeds = 2\n[topology]\nkind = 'dumbbell'\nrate = '2mbit'\nrtt = '20ms'\n\
                    [[flows]]\nname = 'long'\ncount = 2\nstart = '0s..1s'\ncc = 'reno'\n\
                    [sweep]\n'flows.long.cc' = ['reno', 'cubic']\n'topology.buffer' = ['0.5bdp', '2bdp']\n\
                    'topology.rtt' = ['20ms', '40ms', '80ms']\n";

fn drawn(directory: &Path, out: &str, name: &str) -> String {
    let path = directory.join(out).join("figures").join(name);
    std::fs::read_to_string(&path)
        .unwrap_or_else(|_| panic!("{}: {:?}", path.display(), names(path.parent().unwrap())))
}

#[test]
fn a_grid_is_drawn_by_what_varies_and_otherwise_where_the_line_says_so() {
    let here = tempfile::tempdir().unwrap();
    std::fs::write(here.path().join("grid.toml"), GRID).unwrap();
    let run = |out: &str, more: &[&str]| {
        let output =
            knee(here.path(), &[&["run", "grid.toml", "--sample", "0s", "--out", out], more].concat());
        assert!(output.status.success(), "{}", stderr(&output));
    };
    run("a", &[]);
    let svg = drawn(here.path(), "a", "utilization-over-rtt.svg");
    for text in ["RTT, ms", "Utilization, %", "cubic", "buffer 0.5 BDP", "buffer 2 BDP"] {
        assert_eq!(svg.matches(&format!(">{text}</text>")).count(), 1, "{text}");
    }
    assert!(!svg.contains("no data"));
    run("b", &["--x", "buffer", "--by", "rtt", "--facet", "cc", "--metric", "drop_ratio,jain_index"]);
    let drops = drawn(here.path(), "b", "drop_ratio-over-buffer.svg");
    assert!(drops.contains(">buffer, BDP</text>") && drops.contains(">RTT 80 ms</text>"), "{drops}");
    drawn(here.path(), "b", "jain_index-over-buffer.svg");
    run("c", &["--y", "buffer", "--x", "rtt", "--metric", "utilization"]);
    assert_eq!(
        drawn(here.path(), "c", "utilization-over-rtt-and-buffer.svg").matches("class=\"tile\"").count(),
        2 * 6
    );
    let redrawn = knee(here.path(), &["plot", "a", "--x", "buffer", "--metric", "utilization", "--out", "d"]);
    assert!(redrawn.status.success(), "{}", stderr(&redrawn));
    drawn(here.path(), "d", "utilization-over-buffer.svg");
}

#[test]
fn a_scenario_says_how_its_figure_is_drawn() {
    let here = tempfile::tempdir().unwrap();
    let figure = "[figure]\nx = 'rtt'\nlabel = 'round trip (s)'\nseries = 'buffer'\nfacet = 'cc'\npanels = 'jain_index'\n";
    std::fs::write(here.path().join("grid.toml"), format!("{GRID}{figure}")).unwrap();
    let output = knee(here.path(), &["run", "grid.toml", "--sample", "0s", "--out", "o"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let svg = drawn(here.path(), "o", "jain_index-over-rtt.svg");
    assert!(svg.contains(">round trip (s)</text>") && svg.contains(">0.04</text>"), "{svg}");
}

/// Runs the grid for a figure of utilization with an option and its value; returns standard error.
fn utilization(here: &Path, option: [&str; 2]) -> String {
    std::fs::write(here.join("grid.toml"), GRID).unwrap();
    let line = ["run", "grid.toml", "--sample", "0s", "--metric", "utilization", "--out", "o"];
    let output = knee(here, &[&line[..], &option[..]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    stderr(&output)
}

#[test]
fn without_facets_a_third_factor_has_a_figure_for_each_level() {
    let here = tempfile::tempdir().unwrap();
    utilization(here.path(), ["--facet", "none"]);
    for buffer in ["0.5", "2"] {
        let svg = drawn(here.path(), "o", &format!("utilization-over-rtt-buffer-{buffer}-bdp.svg"));
        assert_eq!(svg.matches("class=\"line s1\"").count(), 1 + 1, "one plot and the legend");
    }
}

#[test]
fn a_chart_that_needs_more_height_than_it_is_given_has_it_and_says_so() {
    let here = tempfile::tempdir().unwrap();
    let said = utilization(here.path(), ["--size", "3.3x1in"]);
    assert!(
        said.contains("--size:") && said.contains("so that") && said.contains("keep their size"),
        "{said}"
    );
    let svg = drawn(here.path(), "o", "utilization-over-rtt.svg");
    assert!(svg.contains("viewBox=\"0 0 326.7 ") && !svg.contains("height=\"72.00pt\""), "{svg}");
}

#[test]
fn a_figure_that_cannot_be_drawn_is_refused_before_anything_is_run() {
    let here = tempfile::tempdir().unwrap();
    std::fs::write(here.path().join("grid.toml"), GRID).unwrap();
    for (more, sayings) in [
        (&["--x", "rate"][..], &["nothing varies along `rate`", "topology.rtt"][..]),
        (&["--x", "rtt", "--facet", "RTT"], &["named twice"]),
        (&["--metric", "utilisation"], &["did you mean `utilization`"]),
        (&["--facet", "cc,rtt,buffer"], &["2 axes at most"]),
        (&["--metric", ","], &["--metric: `,` names nothing"]),
        (&["--metric", "1/0"], &["`1/0` is not a metric", "write a metric as in `utilization`"]),
        (&["--metric", "goodput_bps[group=lon]"], &["there is no group `lon`", "did you mean `long`"]),
        (&["--metric", "utilization[group=long]"], &["no group has `utilization`", "of the whole run"]),
    ] {
        let output = knee(here.path(), &[&["run", "grid.toml", "--out", "o"], more].concat());
        assert_refuses(&output, 2, sayings);
    }
    assert!(!here.path().join("o").exists() && !here.path().join("out").exists());
}

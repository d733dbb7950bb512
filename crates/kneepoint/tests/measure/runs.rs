// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The rows of whole runs.

use kneepoint::measure::{Meter, Series, Subject};
use kneepoint::queue::Limit;
use kneepoint::run;
use kneepoint::spec::Builder;
use kneepoint::table::{Row, value};
use kneepoint::tcp::Options;
use kneepoint::units::Span;

use super::{BOTTLENECK, OF_BOTTLENECK, group, valid};

fn simulated(seed: u64) -> (Vec<Row>, usize) {
    // Without the datagrams, which alone would fill the link.
    let mut parts = valid(&["pages"]).into_builder();
    parts.groups.pop();
    let valid = parts.build().unwrap();
    let ((meter, series), _) = run::run(&valid, seed, (Meter::new(&valid, seed), Series::new(&valid, 2)));
    (meter.finish(), series.table().rows.len())
}

#[test]
fn a_run_fills_its_bottleneck_and_conserves_its_packets() {
    let (rows, samples) = simulated(1);
    let link = |metric| value(&rows, metric, OF_BOTTLENECK);
    assert!((0.9..1.001).contains(&link("utilization")), "{}", link("utilization"));
    assert!((1.0..=10.0).contains(&link("queue_mean_packets")), "{}", link("queue_mean_packets"));
    assert!((sum(&rows, Subject::Length, "queue_length_share") - 1.0).abs() < 1e-9);
    // The difference is the backlog at the edges of the window.
    let (arrived, gone) = (link("arrivals"), link("served_packets") + link("drops"));
    assert!((arrived - gone).abs() <= 10.0, "{arrived} arrived and {gone} left");
    let goodput = value(&rows, "goodput_bps", &[("group", "forward")]);
    assert!(goodput > 0.0 && goodput < 1e6, "{goodput}");
    assert!(samples >= 29, "{samples}");
}

fn sum(rows: &[Row], subject: Subject, metric: &str) -> f64 {
    rows.iter().filter(|row| subject.has(row)).map(|row| row.value(metric)).sum()
}

#[test]
fn the_shares_of_the_groups_add_up_to_the_bottleneck() {
    let (rows, _) = simulated(1);
    let groups: Vec<&Row> = rows.iter().filter(|row| Subject::Group.has(row)).collect();
    assert_eq!(
        groups.iter().map(|row| row.label("group")).collect::<Vec<_>>(),
        ["forward", "reverse", "pages"]
    );
    for metric in ["arrivals", "drops", "served_bytes"] {
        assert_eq!(sum(&rows, Subject::Group, metric), value(&rows, metric, OF_BOTTLENECK), "{metric}");
    }
    assert!((sum(&rows, Subject::Group, "share") - 1.0).abs() < 1e-12);
    for row in groups {
        assert!(row.value("share") > 0.0 && row.value("throughput_variance_to_mean_bps") > 0.0, "{row:?}");
        let (mean, median) = (row.value("queue_position_mean"), row.value("queue_position_median"));
        assert!(
            mean > 0.0 && mean < 1.0 && median < 1.0 && row.value("queue_position_entropy") <= 1.0,
            "{row:?}"
        );
        let bins =
            rows.iter().filter(|bin| Subject::Position.has(bin) && bin.label("group") == row.label("group"));
        let total: f64 = bins.map(|bin| bin.value("queue_position_share")).sum();
        assert!((total - 1.0).abs() < 1e-12, "{row:?}");
    }
}

#[test]
fn the_share_of_a_lone_group_is_measured_only_if_somebody_asks() {
    let lone = vec![group("forward", (0, 2), "bulk", 2)];
    let valid = Builder { groups: lone, ..valid(&[]).into_builder() }.build().unwrap();
    let forward = [("group", "forward")];
    assert!(value(&run::run(&valid, 1, Meter::new(&valid, 1)).0.finish(), "share", &forward).is_nan());
    let rows = run::run(&valid, 1, Meter::with_shares(&valid, 1)).0.finish();
    assert_eq!(value(&rows, "share", &forward), 1.0);
    assert_eq!(value(&rows, "drop_ratio", &forward), value(&rows, "drop_ratio", &[]));
}

#[test]
fn every_registered_metric_is_in_the_rows_of_a_run_and_no_other() {
    let (rows, _) = simulated(1);
    for subject in Subject::ALL {
        let row = rows.iter().find(|row| subject.has(row)).unwrap_or_else(|| panic!("no row of a {subject}"));
        let mut keys: Vec<&str> = subject.metrics().iter().map(|metric| metric.key.as_str()).collect();
        keys.sort_unstable();
        assert_eq!(row.values.keys().map(String::as_str).collect::<Vec<_>>(), keys, "{subject}");
    }
}

#[test]
fn rows_read_back_as_they_were() {
    let (rows, _) = simulated(1);
    let text = serde_json::to_string(&rows).unwrap();
    assert!(text.contains(":null"), "a group without datagrams has no delay of them");
    assert_eq!(serde_json::from_str::<Vec<Row>>(&text).unwrap(), rows);
}

#[test]
fn a_noisy_clock_is_heard_by_its_sender_alone() {
    let run = |noise: u64| {
        let mut parts = valid(&[]).into_builder();
        parts.groups.pop();
        // Without losses or timeouts Reno makes nothing of round trips.
        parts.network.links[BOTTLENECK.0 as usize].limit = Limit::Packets(10_000);
        parts.groups[0].tcp = Some(Options {
            rtt_noise: Span::from_millis(noise),
            rto_min: Span::from_secs(60),
            rto_initial: Span::from_secs(60),
            ..Options::default()
        });
        let valid = parts.build().unwrap();
        run::run(&valid, 1, Meter::new(&valid, 1)).0.finish()
    };
    let (exact, noisy) = (run(0), run(40));
    let heard = |rows: &[Row], group| value(rows, "rtt_mean_ms", &[("group", group)]);
    let links = |rows: &[Row]| rows.iter().filter(|row| Subject::Link.has(row)).cloned().collect::<Vec<_>>();
    assert_eq!(links(&exact), links(&noisy));
    assert_eq!(heard(&exact, "reverse"), heard(&noisy, "reverse"));
    let added = heard(&noisy, "forward") - heard(&exact, "forward");
    assert!((added - 40.0).abs() < 5.0, "{added}");
}

#[test]
fn the_same_seed_measures_the_same() {
    let json = |seed| serde_json::to_string(&simulated(seed).0).unwrap();
    assert_eq!(json(7), json(7));
    assert_ne!(json(7), json(8));
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The rows of whole runs.

use kneepoint::link::{NodeId, loss};
use kneepoint::measure::{Meter, Series, Subject};
use kneepoint::queue::Limit;
use kneepoint::run;
use kneepoint::scenario::parse;
use kneepoint::settings::Raw;
use kneepoint::spec::{Builder, Member};
use kneepoint::table::{Row, Table, value};
use kneepoint::tcp::Options;
use kneepoint::units::{Bytes, Interval, Span, Time};

use super::{BOTTLENECK, OF_BOTTLENECK, group, secs, valid};

fn simulated(seed: u64) -> (Vec<Row>, usize) {
    // Without the datagrams, which alone would fill the link.
    let mut parts = valid(&["pages"]).into_builder();
    parts.groups.pop();
    let valid = parts.build().unwrap();
    let ((meter, series), _) =
        run::run(&valid, seed, (Meter::new(&valid, seed), Series::new(&valid, seed, 2)));
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

/// The rows of a run over two bottlenecks: two flows cross both of them, one only the first, and others according to
/// the argument.
fn two_paths(others: &str) -> Vec<Row> {
    let text = format!(
        "[run]\nduration = \"25s\"\nmeasure = \"0s..25s\"\n\
         [topology]\nkind = \"parking-lot\"\nrouters = 3\nrate = \"1mbit\"\nhop_delay = \"5ms\"\naccess_delay = \"5ms\"\n\
         [[flows]]\nname = \"long\"\ncount = 2\ncc = \"reno\"\n\
         [[flows]]\nname = \"short\"\ncount = 1\nfrom = \"r1\"\nto = \"r2\"\ncc = \"reno\"\n{others}"
    );
    let plan = parse(&text).expect("a scenario");
    let valid = &plan.cases[0].valid;
    run::run(valid, 1, Meter::new(valid, 1)).0.finish()
}

#[test]
fn a_group_is_reported_on_the_links_that_it_crosses_and_flows_of_two_paths_are_not_compared() {
    let rows = two_paths("");
    let on = |metric, group, link| value(&rows, metric, &[("group", group), ("link", link)]);
    let shares = [on("share", "long", "r1-r2"), on("share", "short", "r1-r2")];
    assert!((shares[0] + shares[1] - 1.0).abs() < 1e-12, "{shares:?}");
    assert_eq!(on("share", "long", "r2-r3"), 1.0);
    assert!(on("share", "short", "r2-r3").is_nan(), "it does not cross it");
    let first = value(&rows, "throughput_bps", &[("link", "r1-r2")]);
    let parts = on("throughput_bps", "long", "r1-r2") + on("throughput_bps", "short", "r1-r2");
    assert!((parts / first - 1.0).abs() < 0.01, "{parts} of {first}");
    assert!(value(&rows, "jain_index", &[]).is_nan());
    assert!(value(&rows, "jain_index", &[("group", "long")]) > 0.5);
}

#[test]
fn every_registered_metric_is_in_the_rows_of_a_run_and_no_other() {
    let (mut rows, _) = simulated(1);
    // Packets of live streams count until 21 s before the end.
    rows.extend(two_paths("[[video]]\nname = \"video\"\ncc = \"reno\"\n"));
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

/// Twelve segments of 8 ms each, eight at once into a queue of four, measured for 10 s and sampled every 50 ms: the metrics of
/// the group, drops at the bottleneck, and the sampled series.
fn overflowing(handshake: bool, lost: &[u64]) -> ([f64; 4], Table) {
    let mut parts = valid(&[]).into_builder();
    parts.schedule.measure = Interval { from: Time::ZERO, to: secs(10) };
    parts.schedule.sample = Some(Span::from_millis(50));
    parts.groups.truncate(1);
    let forward = &mut parts.groups[0];
    (forward.pairs, forward.members) = (vec![(NodeId(0), NodeId(2))], vec![Member::default()]);
    forward.members[0].size = Some(Bytes(12 * 960));
    forward.tcp = Some(Options {
        payload: Bytes(960),
        initial_window: 8.0,
        initial_ssthresh: 8.0,
        handshake,
        ..Options::default()
    });
    for (link, spec) in parts.network.links.iter_mut().enumerate() {
        match link {
            1 => spec.limit = Limit::Packets(4),
            _ => (spec.rate, spec.delay) = (None, Span::from_millis(if link == 2 { 10 } else { 0 })),
        }
    }
    if !lost.is_empty() {
        let times = lost.iter().map(|millis| Raw::Text(format!("{millis}ms"))).collect();
        let channel = &mut parts.network.links[1].loss;
        *channel = loss::Config::named("at").unwrap();
        channel.set("times", &Raw::List(times)).unwrap();
    }
    let valid = parts.build().unwrap();
    let ((meter, series), _) = run::run(&valid, 1, (Meter::new(&valid, 1), Series::new(&valid, 1, 0)));
    let rows = meter.finish();
    let of = |metric| value(&rows, metric, &[("group", "forward")]);
    let drops = value(&rows, "drops", OF_BOTTLENECK);
    assert_eq!(of("retransmissions"), value(&rows, "retransmissions", &[]));
    ([of("retransmissions"), of("retransmission_rate"), of("timeouts"), drops], series.table())
}

#[test]
fn three_segments_that_find_no_room_are_three_drops_and_three_retransmissions() {
    let (numbers, series) = overflowing(false, &[]);
    // One is transmitted and four wait, so 5, 6 and 7 are dropped; 8 to 11 follow. The acknowledgement of 10 leaves a window
    // of 3.5 with one packet outstanding and permits 5 and 6 at 84 ms, the acknowledgement of 11 permits 7 at 92 ms.
    assert_eq!(numbers, [3.0, 3.0 / 15.0, 0.0, 3.0]);
    let of = |quantity: &str| -> Vec<f64> { series.values(series.columns_of(quantity)[0]).take(4).collect() };
    // Busy until 72 ms, and from 84 ms to 108 ms.
    assert_eq!(of("link_throughput_bps"), [1e6, 0.76e6, 0.16e6, 0.0]);
    assert_eq!(of("drops"), [3.0, 0.0, 0.0, 0.0]);
    assert_eq!(of("retransmissions"), [0.0, 3.0, 0.0, 0.0]);
    // 0 to 4 arrive every 8 ms from 18 ms on, 8 to 11 until 82 ms, and 5 to 7 at 102, 110 and 118 ms. The last one completes a
    // sequence of seven segments, four of which had arrived.
    let payload = |segments: f64| 8.0 * 960.0 * segments / 0.05;
    assert_eq!(of("throughput_bps"), [4.0, 5.0, 3.0, 0.0].map(payload));
    assert_eq!((of("active_flows"), of("timeouts")), (vec![1.0, 1.0, 0.0, 0.0], vec![0.0; 4]));
}

#[test]
fn a_retransmission_that_is_lost_counts_and_so_does_the_one_in_its_place() {
    // The channel loses 5 for the second time at 92 ms. The timer expires, and 5 is sent for the third time.
    let (numbers, series) = overflowing(false, &[92]);
    assert_eq!(numbers, [4.0, 4.0 / 16.0, 1.0, 3.0]);
    let sum = |quantity: &str| -> f64 { series.values(series.columns_of(quantity)[0]).sum() };
    assert_eq!((sum("timeouts"), 0.05 * sum("throughput_bps")), (1.0, 8.0 * 960.0 * 12.0));
}

#[test]
fn a_syn_is_no_segment_of_data_and_its_timeout_is_one() {
    assert_eq!(overflowing(true, &[]).0, [3.0, 3.0 / 15.0, 0.0, 3.0]);
    assert_eq!(overflowing(true, &[0]).0, [3.0, 3.0 / 15.0, 1.0, 3.0]);
}

#[test]
fn a_noisy_clock_is_heard_by_its_sender_alone() {
    let run = |noise: u64| {
        let mut parts = valid(&[]).into_builder();
        parts.groups.pop();
        // Without losses or timeouts Reno ignores round trips.
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

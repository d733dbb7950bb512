// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Controllers that pace, on one link of 50 Mbit/s and 40 ms: the qualitative results of their papers.

use kneepoint::measure::{Meter, Subject};
use kneepoint::run::run;
use kneepoint::scenario;
use kneepoint::table::{Row, value};

/// Half a minute, of which the last twenty seconds count; a flow for each name, and a buffer in bandwidth-delay
/// products.
fn dumbbell(flows: &[&str], buffer: &str) -> Vec<Row> {
    let mut text = format!(
        "[run]\nduration = \"30s\"\nmeasure = \"10s..30s\"\n\
         [topology]\nkind = \"dumbbell\"\nrate = \"50mbit\"\nrtt = \"40ms\"\nbuffer = \"{buffer}\"\n"
    );
    for (place, cc) in flows.iter().enumerate() {
        text += &format!("[[flows]]\nname = \"{place}\"\ncount = 1\ncc = \"{cc}\"\nstart = \"0s..1s\"\n");
    }
    let plan = scenario::parse(&text).unwrap_or_else(|faults| panic!("{faults:?}"));
    let valid = &plan.cases[0].valid;
    run(valid, 1, Meter::new(valid, 1)).0.finish()
}

fn queue(rows: &[Row]) -> f64 {
    value(rows, "queue_mean_packets", &[])
}

fn drops(rows: &[Row]) -> f64 {
    value(rows, "drop_ratio", &[])
}

fn utilization(rows: &[Row]) -> f64 {
    value(rows, "utilization", &[])
}

/// The last flow's share of all goodput.
fn share(rows: &[Row]) -> f64 {
    let groups = rows.iter().filter(|row| Subject::Group.has(row));
    let goodputs: Vec<f64> = groups.map(|row| row.value("goodput_bps")).collect();
    goodputs.last().unwrap() / goodputs.iter().sum::<f64>()
}

/// Packets of a product of rate and delay.
const BDP: f64 = 250.0;

#[test]
fn bbr_alone_fills_the_link_and_not_the_buffer() {
    for buffer in ["1bdp", "5bdp"] {
        let alone = dumbbell(&["bbr"], buffer);
        // ProbeRTT takes 2 %: 200 ms of 10 s.
        assert!(utilization(&alone) > 0.96, "{}", utilization(&alone));
        assert!(queue(&alone) < 0.25 * BDP, "{}", queue(&alone));
        assert_eq!(drops(&alone), 0.0);
    }
}

#[test]
fn bbr_flows_together_queue_what_their_cap_of_two_products_lets_them() {
    let pair = dumbbell(&["bbr", "bbr"], "5bdp");
    assert!(queue(&pair) > 0.5 * BDP && queue(&pair) < 1.2 * BDP, "{}", queue(&pair));
    assert_eq!(drops(&pair), 0.0);
    assert!((0.35..0.65).contains(&share(&pair)), "{}", share(&pair));
}

#[test]
fn bbr_takes_most_from_sack_in_a_shallow_buffer_and_less_than_half_in_a_deep_one() {
    let shallow = share(&dumbbell(&["sack", "bbr"], "1bdp"));
    let deep = share(&dumbbell(&["sack", "bbr"], "5bdp"));
    assert!(shallow > 0.75, "{shallow}");
    assert!(deep < 0.5, "{deep}");
}

#[test]
fn copa_keeps_about_two_packets_a_flow_waiting_and_shares_equally() {
    for flows in 1..=2 {
        let alone = dumbbell(&["copa", "copa"][..flows], "1bdp");
        // §3: 1.25/δ on average, where δ = 0.5.
        let expected = 2.5 * flows as f64;
        assert!((queue(&alone) / expected - 1.0).abs() < 0.3, "{} {expected}", queue(&alone));
        assert!(utilization(&alone) > 0.99 && drops(&alone) == 0.0);
        assert!((share(&alone) * flows as f64 - 1.0).abs() < 0.05, "{}", share(&alone));
    }
}

#[test]
fn copa_holds_its_ground_beside_sack_where_it_may_push() {
    let pushing = share(&dumbbell(&["sack", "copa"], "1bdp"));
    let yielding = share(&dumbbell(&["sack", "copa:competitive=false"], "1bdp"));
    assert!(pushing > 0.25, "{pushing}");
    assert!(yielding < 0.5 * pushing, "{yielding}");
}

#[test]
fn bbr3_loses_less_than_bbr_in_a_shallow_buffer_and_leaves_more_to_cubic() {
    let (old, new) = (dumbbell(&["bbr"], "0.2bdp"), dumbbell(&["bbr3"], "0.2bdp"));
    assert!(drops(&new) < 0.3 * drops(&old), "{} {}", drops(&new), drops(&old));
    assert!(utilization(&new) > 0.93, "{}", utilization(&new));
    let takes = |cc| share(&dumbbell(&["cubic", cc], "1bdp"));
    assert!(takes("bbr") > 0.75 && takes("bbr3") < 0.65, "{} {}", takes("bbr"), takes("bbr3"));
}

#[test]
fn bbr3_alone_fills_the_link_and_not_the_buffer() {
    let alone = dumbbell(&["bbr3"], "5bdp");
    assert!(utilization(&alone) > 0.95, "{}", utilization(&alone));
    assert!(queue(&alone) < 0.25 * BDP, "{}", queue(&alone));
    assert_eq!(drops(&alone), 0.0);
}

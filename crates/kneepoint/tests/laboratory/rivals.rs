// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Whether controllers alone and against SACK show the qualitative behaviour of their papers. Every bound leaves room:
//! the numbers of
//! seed 1 are in the comments.

use kneepoint::measure::{Meter, Subject};
use kneepoint::run;
use kneepoint::scenario;
use kneepoint::table::{Row, value};

/// A dumbbell: its link and its duration.
struct Link {
    rate: &'static str,
    buffer: &'static str,
    rtt: &'static str,
    /// The probability that the link loses a packet.
    loss: f64,
    seconds: u32,
}

/// 20 Mbit/s, 60 ms, a buffer of the bandwidth-delay product.
const LINK: Link = Link { rate: "20mbit", buffer: "150pkt", rtt: "60ms", loss: 0.0, seconds: 40 };

impl Link {
    /// Groups of flows by name of their congestion control, measured from the tenth second on.
    fn carry(&self, groups: &[(&str, u32)]) -> Vec<Row> {
        let Link { rate, buffer, rtt, loss, seconds } = self;
        let mut text = format!(
            "[run]\nduration = \"{seconds}s\"\nmeasure = \"10s..{seconds}s\"\n\
             [topology]\nkind = \"dumbbell\"\nrate = \"{rate}\"\nbuffer = \"{buffer}\"\nrtt = \"{rtt}\"\n\
             [loss]\nkind = \"uniform\"\np = {loss}\n"
        );
        for (place, (cc, count)) in groups.iter().enumerate() {
            text += &format!(
                "[[flows]]\nname = \"{place}\"\ncc = \"{cc}\"\ncount = {count}\nstart = \"0s..5s\"\n"
            );
        }
        let plan = scenario::parse(&text).unwrap_or_else(|faults| panic!("{faults:?}"));
        let valid = &plan.cases[0].valid;
        run::run(valid, 1, Meter::new(valid, 1)).0.finish()
    }

    /// The first group's share of the goodput.
    fn share(&self, groups: &[(&str, u32)]) -> f64 {
        let rows = self.carry(groups);
        let of_groups = rows.iter().filter(|row| Subject::Group.has(row));
        let rates: Vec<f64> = of_groups.map(|row| row.value("goodput_bps")).collect();
        rates[0] / rates.iter().sum::<f64>()
    }

    /// The mean queue in packets and the utilization of the link.
    fn queue(&self, groups: &[(&str, u32)]) -> (f64, f64) {
        let rows = self.carry(groups);
        (value(&rows, "queue_mean_packets", &[]), value(&rows, "utilization", &[]))
    }
}

#[test]
fn fast_keeps_alpha_packets_of_each_flow_in_the_queue() {
    for (cc, flows, expected) in
        [("fast:alpha=20", 1, 20.0), ("fast:alpha=50", 1, 50.0), ("fast:alpha=20", 2, 40.0)]
    {
        let (queue, utilization) = LINK.queue(&[(cc, flows)]);
        // Less than two packets per flow are missing, because updates add whole ones.
        let missing = expected - queue;
        assert!(
            (-0.5..=2.0 * f64::from(flows)).contains(&missing) && utilization > 0.99,
            "{cc} × {flows}: {queue} {utilization}"
        );
    }
}

#[test]
fn fast_takes_nearly_all_from_sack_where_the_buffer_holds_less_than_alpha_each() {
    // 0.94.
    let share = LINK.share(&[("fast", 5), ("sack", 5)]);
    assert!(share > 0.8, "{share}");
}

#[test]
fn ledbat_holds_its_target_alone_and_yields_to_sack() {
    // 480 ms of buffer, of which 100 ms are 120 packets.
    let slow = Link { rate: "10mbit", buffer: "578pkt", seconds: 60, ..LINK };
    let (queue, utilization) = slow.queue(&[("ledbat", 1)]);
    // 100 packets: the first ones are missing, for it grows by one packet a round trip.
    assert!((80.0..=121.0).contains(&queue) && utilization > 0.98, "{queue} {utilization}");
    // 0.06.
    let share = slow.share(&[("ledbat", 2), ("sack", 2)]);
    assert!(share < 0.15, "{share}");
}

#[test]
fn westwood_and_veno_survive_random_loss_better_than_sack() {
    let lossy = Link { loss: 0.001, seconds: 60, ..LINK };
    let utilization = |cc| lossy.queue(&[(cc, 1)]).1;
    // 0.97, 0.43 and 0.29.
    let (westwood, veno, sack) = (utilization("westwood"), utilization("veno"), utilization("sack"));
    assert!(westwood > 2.0 * sack && veno > 1.2 * sack, "{westwood} {veno} {sack}");
}

#[test]
fn yeah_alone_fills_the_link_with_a_queue_below_its_limit() {
    let fast = Link { rate: "100mbit", buffer: "750pkt", seconds: 30, ..LINK };
    // 55 packets.
    let (queue, utilization) = fast.queue(&[("yeah", 1)]);
    assert!(queue < 80.0 && utilization > 0.98, "{queue} {utilization}");
}

#[test]
fn yeah_and_sack_share_alike() {
    // 0.50.
    let share = LINK.share(&[("yeah", 4), ("sack", 4)]);
    assert!((0.35..=0.65).contains(&share), "{share}");
}

#[test]
fn cdg_keeps_the_queue_short_and_most_of_the_link_busy() {
    // 3.9 packets of 150, 0.90 of the link.
    let (queue, utilization) = LINK.queue(&[("cdg", 2)]);
    assert!(queue < 15.0 && utilization > 0.8, "{queue} {utilization}");
}

#[test]
fn compound_scales_where_reno_does_not() {
    let long = Link { rate: "100mbit", buffer: "1250pkt", rtt: "100ms", loss: 0.0001, seconds: 60 };
    let utilization = |cc| long.queue(&[(cc, 1)]).1;
    // 0.30 and 0.09.
    let (compound, sack) = (utilization("compound"), utilization("sack"));
    assert!(compound > 2.0 * sack, "{compound} {sack}");
}

#[test]
fn compound_takes_more_than_sack_only_while_its_flows_have_few_packets_in_the_queue() {
    // Eight flows share a queue of 90 packets, four one of 205: 11 and 51 each, and gamma is 30.
    let few = LINK.share(&[("compound", 4), ("sack", 4)]);
    let many = Link { buffer: "300pkt", ..LINK }.share(&[("compound", 2), ("sack", 2)]);
    // 0.61 and 0.48.
    assert!(few > 0.55 && (0.4..0.55).contains(&many), "{few} {many}");
}

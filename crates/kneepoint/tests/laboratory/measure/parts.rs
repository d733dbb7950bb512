// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The parts of a window compared with the whole.

use kneepoint::measure::{Meter, PARTS, Parts};
use kneepoint::run::run;
use kneepoint::scenario::parse;
use kneepoint::table::value;

#[test]
fn the_parts_of_a_window_add_up_to_the_whole() {
    let text = "[run]\nduration = '31s'\nmeasure = '7s..30.7s'\n[topology]\nkind = 'dumbbell'\nrate = '4mbit'\nrtt = '40ms'\n\
                buffer = '20pkt'\n[[flows]]\nname = 'long'\ncount = 3\ncc = 'cubic'\nstart = '0s..1s'\n[[web]]\nname = 'web'\nsessions = 2\ncc = 'reno'\n";
    for queue in ["droptail", "codel"] {
        let valid = parse(&format!("{text}[queue]\nkind = '{queue}'\n")).unwrap().cases.remove(0).valid;
        let observers = (Meter::new(&valid, 1), Parts::new(&valid));
        let ((meter, parts), _) = run(&valid, 1, observers);
        let (rows, parts) = (meter.finish(), parts.table());
        assert_eq!(parts.rows.len(), PARTS);
        let mean = |quantity: &str| {
            let columns = parts.columns_of(quantity);
            assert_eq!(columns.len(), 1, "{quantity} in {:?}", parts.columns);
            parts.values(columns[0]).sum::<f64>() / PARTS as f64
        };
        let whole = |metric: &str, labels: &[(&str, &str)]| value(&rows, metric, labels);
        let near = |one: f64, other: f64, within: f64| (one / other - 1.0).abs() < within;
        let (queue_mean, own) = (mean("queue_mean_packets"), whole("queue_mean_packets", &[]));
        assert!(near(queue_mean, own, 1e-6), "{queue}: {queue_mean} and {own}");
        // A transmission across an edge of the window counts with the part inside in one, and with its beginning in the other.
        assert!(near(mean("throughput_bps"), whole("throughput_bps", &[("link", "r1-r2")]), 1e-3));
        assert!(near(mean("goodput_bps"), whole("goodput_bps", &[("group", "long")]), 1e-6));
        // Ratios of parts have equal weights and ratios of packets do not.
        assert!(near(mean("drop_ratio"), whole("drop_ratio", &[]), 0.1));
        assert!(near(mean("queueing_delay_mean_ms"), whole("queueing_delay_mean_ms", &[]), 0.1));
        let jain = parts.values(parts.columns_of("jain_index")[0]);
        assert!(jain.into_iter().all(|index| (0.3..=1.0).contains(&index)));
        assert!(parts.values(0).all(|middle| (7.0..30.7).contains(&middle)));
    }
}

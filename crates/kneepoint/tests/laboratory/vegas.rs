// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The equilibrium of Vegas, compared with the output of ns-2.35 for the same links and starts.

use kneepoint::run::run;
use kneepoint::scenario;
use kneepoint::trace::{Event, FlowId, Observer};
use kneepoint::units::Time;

/// The windows at the last sample.
struct Windows(Vec<f64>);

impl Observer for Windows {
    fn on(&mut self, _: Time, event: &Event) {
        if let Event::Sample { view } = event {
            for (flow, window) in self.0.iter_mut().enumerate() {
                *window = view.window(FlowId(flow as u32));
            }
        }
    }
}

/// The windows after a minute of flows that start three seconds apart, to two decimals.
fn windows(rate: &str, buffer: &str, flows: usize) -> Vec<f64> {
    let mut text = format!(
        "[run]\nduration = \"60s\"\nsample = \"10s\"\n\
         [topology]\nkind = \"dumbbell\"\nrate = \"{rate}\"\nbuffer = \"{buffer}\"\n\
         access_rate = \"1gbit\"\nrtt = \"60ms\"\ndelay = \"20ms\"\n\
         [tcp]\npayload = \"960b\"\nheader = \"40b\"\nhandshake = true\ninitial_window = 3\n\
         rto_initial = \"3s\"\nwindow_validation = false\n"
    );
    for flow in 0..flows {
        text +=
            &format!("[[flows]]\nname = \"{flow}\"\ncount = 1\ncc = \"vegas\"\nstart = \"{}s\"\n", 3 * flow);
    }
    let plan = scenario::parse(&text).unwrap_or_else(|faults| panic!("{faults:?}"));
    let (Windows(windows), _) = run(&plan.cases[0].valid, 1, Windows(vec![0.0; flows]));
    windows.into_iter().map(|window| (window * 100.0).round() / 100.0).collect()
}

#[test]
fn one_flow_rests_at_the_window_of_ns_2() {
    assert_eq!(windows("50mbit", "374pkt", 1), [379.22]);
}

#[test]
fn two_flows_rest_at_the_windows_of_ns_2() {
    assert_eq!(windows("10mbit", "74pkt", 2), [58.32, 21.0]);
}

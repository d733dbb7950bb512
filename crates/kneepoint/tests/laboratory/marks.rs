// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Scalable congestion control from the queue that marks to the sender that counts, compared with publications.

use kneepoint::cc;
use kneepoint::measure::{Meter, Subject};
use kneepoint::packet::Flags;
use kneepoint::run::run;
use kneepoint::scenario;
use kneepoint::table::{Row, value};
use kneepoint::tcp::Options;
use kneepoint::trace::{Event, FlowId, Observer};
use kneepoint::units::{Span, Time};

use crate::common::wire::{Fate, Transfer, Way};

/// A number that a controller shows to observers.
fn shown(state: &[(&'static str, f64)], name: &str) -> f64 {
    state.iter().find(|(one, _)| *one == name).unwrap_or_else(|| panic!("no {name}")).1
}

/// A sender's count of the marks of a transfer, and the expected count.
fn counted(name: &str, options: &Options, law: fn(u32) -> Fate) -> (f64, f64) {
    let mut marks = 0.0;
    let config = cc::Config::named(name).unwrap();
    let mut transfer =
        Transfer::new(options, &config, 3000, |way, number, packet| match (way, law(number)) {
            (Way::Data, Fate::Mark) if packet.flags.has(Flags::ECT) => {
                marks += 1.0;
                Fate::Mark
            }
            (Way::Data, fate) => fate,
            (Way::Ack, _) => Fate::Pass,
        });
    transfer.complete(Span::from_secs(600));
    let counted = shown(&transfer.sender.controller().state(), "marked_packets");
    drop(transfer);
    (counted, marks)
}

#[test]
fn every_mark_reaches_the_sender_once() {
    // Bursts of every length up to eleven, and gaps of every length up to twelve.
    let bursts = |number: u32| if number % 144 % 13 < number % 144 / 13 { Fate::Mark } else { Fate::Pass };
    for name in ["dctcp", "prague"] {
        for delayed_ack in [false, true] {
            let options = Options { delayed_ack, ..Options::default() };
            let (counted, marks) = counted(name, &options, bursts);
            assert!(marks > 1000.0);
            assert_eq!(counted, marks, "{name}, delayed {delayed_ack}");
        }
    }
}

#[test]
fn every_mark_reaches_the_sender_once_though_packets_are_lost() {
    let law = |number: u32| match number {
        _ if number % 101 == 77 => Fate::Lose,
        _ if number % 7 < 3 => Fate::Mark,
        _ => Fate::Pass,
    };
    for name in ["dctcp", "prague"] {
        let (counted, marks) = counted(name, &Options::default(), law);
        assert!(marks > 1000.0);
        assert_eq!(counted, marks, "{name}");
    }
}

#[test]
fn a_delayed_acknowledgement_may_be_wrong_of_one_packet_per_hole() {
    // The answer to a packet out of order speaks for the one held back before it, too.
    let law = |number: u32| match number {
        _ if number % 101 == 77 => Fate::Lose,
        _ if number % 7 < 3 => Fate::Mark,
        _ => Fate::Pass,
    };
    let options = Options { delayed_ack: true, ..Options::default() };
    let (counted, marks) = counted("dctcp", &options, law);
    let holes = 3000.0 / 101.0;
    assert!((counted - marks).abs() <= holes, "{counted} of {marks}");
}

/// The shortest and longest queue, and what one flow's controller shows on average, from an instant on.
struct Watch {
    from: Time,
    flow: FlowId,
    shortest: u32,
    longest: u32,
    alpha: f64,
    samples: f64,
}

impl Observer for Watch {
    fn on(&mut self, at: Time, event: &Event) {
        match event {
            _ if at < self.from => {}
            Event::Queue { backlog, .. } => {
                self.shortest = self.shortest.min(backlog.packets);
                self.longest = self.longest.max(backlog.packets);
            }
            Event::Sample { view } => {
                self.alpha += shown(&view.controller(self.flow), "alpha");
                self.samples += 1.0;
            }
            _ => {}
        }
    }
}

fn watched(text: &str, from: f64) -> (Vec<Row>, Watch) {
    let plan = scenario::parse(text).unwrap_or_else(|faults| panic!("{faults:?}\n{text}"));
    let valid = &plan.cases[0].valid;
    let from = Span::from_secs_f64(from).after_start();
    let watch = Watch { from, flow: FlowId(0), shortest: u32::MAX, longest: 0, alpha: 0.0, samples: 0.0 };
    let ((meter, mut watch), _) = run(valid, 1, (Meter::new(valid, 1), watch));
    watch.alpha /= watch.samples;
    (meter.finish(), watch)
}

/// Flows of one kind over 1 Gbit/s and 1 ms, a pipe of 120 packets, at a step of `k` packets.
fn at_a_step(k: u32, flows: u32) -> (Vec<Row>, Watch) {
    let text = format!(
        "[run]\nduration = \"2s\"\nmeasure = \"0.5s..2s\"\nsample = \"100us\"\n\
         [topology]\nkind = \"dumbbell\"\naccess = \"minimal\"\nrate = \"1gbit\"\nbuffer = \"1000pkt\"\nrtt = \"1ms\"\n\
         [queue]\nkind = \"step\"\nthreshold = {k}\n\
         [[flows]]\ncount = {flows}\ncc = \"dctcp\"\nstart = \"0s..0.1s\"\n"
    );
    watched(&text, 0.5)
}

/// C · RTT of [`at_a_step`] in packets.
const PIPE: f64 = 1e9 * 1e-3 / (8.0 * 1040.0);

#[test]
fn dctcp_swings_as_the_paper_says() {
    for flows in [1, 2] {
        let (rows, watch) = at_a_step(40, flows);
        let (n, reach) = (f64::from(flows), PIPE + 40.0);
        let alpha = (2.0 * n / reach).sqrt();
        assert!((watch.alpha / alpha - 1.0).abs() < 0.1, "{flows}: {} beside {alpha}", watch.alpha);
        // The paper's queue is a fluid's, and counts the packet in transmission.
        let (highest, lowest) = (40.0 + n, 40.0 + n - (2.0 * n * reach).sqrt() / 2.0);
        assert!(
            (f64::from(watch.longest) - highest).abs() < 2.0,
            "{flows}: {} beside {highest}",
            watch.longest
        );
        assert!(
            (f64::from(watch.shortest) - lowest).abs() < 3.0,
            "{flows}: {} beside {lowest}",
            watch.shortest
        );
        assert!(value(&rows, "utilization", &[]) > 0.9999 && value(&rows, "drop_ratio", &[]) == 0.0);
        assert!(value(&rows, "jain_index", &[]) > 0.99);
    }
}

#[test]
fn a_step_below_a_seventh_of_the_pipe_empties_the_queue() {
    let used = |k, flows| value(&at_a_step(k, flows).0, "utilization", &[]);
    assert!(at_a_step(18, 1).1.shortest > 0);
    assert!(used(18, 1) > 0.9999 && used(2, 1) < 0.996);
    // With eighteen flows, the worst number for this step, windows are eight packets, sent in bursts that the paper's
    // fluid does not have: the link idles a little (§3.5 advises a larger K for that).
    assert!(used(18, 18) > 0.98 && used(2, 18) < 0.95);
}

/// The goodput of flows 5 ms away over that of flows 20 ms away.
fn advantage_of_the_near(cc: &str, queue: &str) -> f64 {
    let text = format!(
        "queue = \"{queue}\"\n[run]\nduration = \"60s\"\nmeasure = \"20s..60s\"\nsample = \"1s\"\n\
         [topology]\nkind = \"dumbbell\"\naccess = \"minimal\"\nrate = \"40mbit\"\nbuffer = \"500pkt\"\nrtt = \"20ms\"\n\
         [[flows]]\ncount = 4\ncc = \"{cc}\"\nrtt = [\"5ms\", \"20ms\"]\nstart = \"0s..1s\"\n"
    );
    let (rows, _) = watched(&text, 20.0);
    let flows = rows.iter().filter(|row| Subject::Flow.has(row));
    let goodput: Vec<f64> = flows.map(|row| row.value("goodput_bps")).collect();
    (goodput[0] + goodput[2]) / (goodput[1] + goodput[3])
}

#[test]
fn prague_shares_by_virtual_round_trips() {
    // Where marks are random, both kinds see the same fraction, and get equal shares.
    let at_random = advantage_of_the_near("prague:transition=0", "red-ecn");
    let without = advantage_of_the_near("prague:virtual_rtt=0s", "red-ecn");
    // A step marks flows that react late more often, so some of the advantage remains.
    let at_a_step = advantage_of_the_near("prague:transition=0", "l4s");
    let dctcp = advantage_of_the_near("dctcp", "step:delay=1ms");
    assert!((0.8..1.25).contains(&at_random), "{at_random}");
    assert!(without > 1.5, "{without}");
    assert!(at_a_step < 2.0 && dctcp > 4.0, "{at_a_step} {dctcp}");
}

#[test]
fn prague_keeps_the_queue_at_the_step_and_the_link_busy() {
    let text = "queue = \"l4s\"\n[run]\nduration = \"30s\"\nmeasure = \"10s..30s\"\nsample = \"1s\"\n\
                [topology]\nkind = \"dumbbell\"\naccess = \"minimal\"\nrate = \"100mbit\"\nrtt = \"20ms\"\n\
                [[flows]]\ncount = 4\ncc = \"prague\"\nstart = \"0s..1s\"\n";
    let (rows, _) = watched(text, 10.0);
    let measured = |metric| value(&rows, metric, &[]);
    assert!(measured("utilization") > 0.97, "{}", measured("utilization"));
    let delay = measured("queueing_delay_p99_ms");
    assert!(delay < 2.0 && measured("drop_ratio") == 0.0, "{delay} ms");
    assert!(measured("jain_index") > 0.95);
}

/// Prague's share against CUBIC that answers marks, at DualPI2 of 40 Mbit/s and 5 ms.
fn share_of_prague(controllers: &str) -> f64 {
    let text = format!(
        "queue = \"dualpi2\"\n[run]\nduration = \"40s\"\nmeasure = \"10s..40s\"\nsample = \"1s\"\n\
         [topology]\nkind = \"dumbbell\"\nrate = \"40mbit\"\nrtt = \"5ms\"\nbuffer = \"4bdp\"\n\
         [tcp]\npreset = \"linux\"\ncontrollers = \"{controllers}\"\n\
         [[flows]]\nname = \"prague\"\ncount = 1\ncc = \"prague\"\n\
         [[flows]]\nname = \"cubic\"\ncount = 1\ncc = \"cubic\"\ntcp = {{ ecn = true }}\n"
    );
    let (rows, _) = watched(&text, 10.0);
    let groups = rows.iter().filter(|row| Subject::Group.has(row));
    let goodput: Vec<f64> = groups.map(|row| row.value("goodput_bps")).collect();
    goodput[0] / (goodput[0] + goodput[1])
}

#[test]
fn prague_beside_cubic_has_the_same_share_with_the_controllers_of_linux_as_with_the_published() {
    // In whole packets it has a tenth.
    let [linux, published] = ["linux", "published"].map(share_of_prague);
    assert!((0.27..0.37).contains(&linux), "{linux} {published}");
    assert!((linux - published).abs() < 0.03, "{linux} {published}");
}

#[test]
fn dctcp_of_linux_shares_a_step_equally_though_its_windows_are_a_few_whole_packets() {
    // Four flows of four packets. Where each mark costs a whole packet, Jain's index is 0.91 at 1 ms; where ten of six
    // packets do, the link idles 6.6 % of the time at 10 ms.
    let measured = |flows: u32, rtt: &str| {
        let text = format!(
            "queue = \"step:threshold=5\"\n[run]\nduration = \"30s\"\nmeasure = \"10s..30s\"\nsample = \"1s\"\n\
             [topology]\nkind = \"dumbbell\"\nrate = \"100mbit\"\nrtt = \"{rtt}\"\nbuffer = \"4bdp\"\n\
             [tcp]\npreset = \"linux\"\n[[flows]]\ncount = {flows}\ncc = \"dctcp\"\nstart = \"0s..1s\"\n"
        );
        let (rows, _) = watched(&text, 10.0);
        (value(&rows, "jain_index", &[]), value(&rows, "utilization", &[]))
    };
    let (jain, _) = measured(4, "1ms");
    assert!(jain > 0.98, "{jain}");
    let (_, used) = measured(10, "10ms");
    assert!(used > 0.965, "{used}");
}

#[test]
fn in_one_queue_somebody_pays() {
    let plan = scenario::parse(include_str!("../../../../scenarios/datacentre.toml")).unwrap();
    let share_of_the_scalable = |case: &scenario::Case| {
        let (meter, _) = run(&case.valid, 1, Meter::new(&case.valid, 1));
        let rows = meter.finish();
        let groups = rows.iter().filter(|row| Subject::Group.has(row));
        let goodput: Vec<f64> = groups.map(|row| row.value("goodput_bps")).collect();
        goodput[0] / goodput.iter().sum::<f64>()
    };
    let shares: Vec<f64> = plan.cases.iter().map(share_of_the_scalable).collect();
    let [dctcp_step, dctcp_l4s, prague_step, prague_l4s] = shares[..] else { panic!("{shares:?}") };
    // SACK halves at marks that cost DCTCP little; where neither is marked, both halve at losses.
    assert!(dctcp_step > 0.7 && (0.4..0.6).contains(&dctcp_l4s), "{shares:?}");
    // Prague grows as if its round trip were 25 ms; and against a sender whose packets are not marked it is always marked.
    assert!(prague_step < 0.2 && prague_l4s < 0.05, "{shares:?}");
}

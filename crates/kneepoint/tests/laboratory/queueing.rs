// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Whether queues share a link as their papers say: max-min shares with a queue for each flow, room for small
//! flows where aggressive ones are pushed out, and fewer losses of small windows where queues read windows.

use kneepoint::packet::Body;
use kneepoint::run;
use kneepoint::scenario;
use kneepoint::spec::Valid;
use kneepoint::trace::{Event, Fate, LinkId, Observer, Reason};
use kneepoint::units::{Span, Time};

/// The bytes that a link carried from the tenth to the fortieth second, by flow.
struct Carried(LinkId, [u64; 2]);

impl Observer for Carried {
    fn on(&mut self, at: Time, event: &Event) {
        match event {
            Event::Service { link, packet, .. }
                if *link == self.0
                    && (Time::ZERO + Span::from_secs(10)..Time::ZERO + Span::from_secs(40)).contains(&at) =>
            {
                self.1[packet.flow as usize] += u64::from(packet.size);
            }
            _ => {}
        }
    }
}

/// The first case of a scenario, and its bottleneck.
fn parsed(text: &str) -> (Valid, LinkId) {
    let plan = scenario::parse(text).unwrap_or_else(|faults| panic!("{faults:?}"));
    let valid = plan.cases[0].valid.clone();
    let link = valid.network().links.iter().position(|link| link.measured).expect("a bottleneck");
    (valid, LinkId(link as u32))
}

/// The rates of a cubic flow and a constant-rate source on 10 Mbit/s over 40 ms with 50 packets of buffer, in Mbit/s.
fn shares(queue: &str, source: &str) -> [f64; 2] {
    let text = format!(
        "queue = \"{queue}\"\n[run]\nduration = \"40s\"\nmeasure = \"10s..40s\"\n\
         [topology]\nkind = \"dumbbell\"\nrate = \"10mbit\"\nbuffer = \"50pkt\"\nrtt = \"40ms\"\n\
         [[flows]]\nname = \"cubic\"\ncc = \"cubic\"\n[[cbr]]\nname = \"source\"\n{source}\n"
    );
    let (valid, link) = parsed(&text);
    let (carried, _) = run::run(&valid, 1, Carried(link, [0; 2]));
    carried.1.map(|bytes| 8.0 * bytes as f64 / 30.0 / 1e6)
}

fn about(shares: [f64; 2], expected: [f64; 2], tolerance: f64) -> bool {
    shares.iter().zip(expected).all(|(share, expected)| (share - expected).abs() < tolerance)
}

#[test]
fn deficit_round_robin_gives_max_min_shares_to_flows_that_do_not_ask() {
    for (source, expected) in [
        // A source that wants more than half gets half, for any size of its packets.
        ("rate = \"8mbit\"\nsize = \"1000b\"", [5.0, 5.0]),
        ("rate = \"8mbit\"\nsize = \"200b\"", [5.0, 5.0]),
        ("rate = \"20mbit\"\nsize = \"1500b\"", [5.0, 5.0]),
        // A source that requests less gets its request.
        ("rate = \"2mbit\"\nsize = \"1000b\"", [8.0, 2.0]),
    ] {
        let got = shares("drr", source);
        assert!(about(got, expected, 0.15), "{source}: {got:?}");
    }
    let tail = shares("droptail", "rate = \"8mbit\"\nsize = \"1000b\"");
    assert!(tail[0] < 3.0, "{tail:?}");
}

#[test]
fn a_queue_for_each_flow_shares_the_link_whatever_rules_in_it() {
    for queue in ["fq-codel", "cake"] {
        let got = shares(queue, "rate = \"8mbit\"\nsize = \"1000b\"");
        assert!(about(got, [5.0, 5.0], 0.5), "{queue}: {got:?}");
    }
    for queue in ["fq-codel", "fq-pie", "cake", "sfq"] {
        let got = shares(queue, "rate = \"2mbit\"\nsize = \"1000b\"");
        assert!(about(got, [8.0, 2.0], 0.5), "{queue}: {got:?}");
    }
}

#[test]
fn longest_queue_drop_keeps_room_for_who_holds_less() {
    let greedy = "rate = \"20mbit\"\nsize = \"1000b\"";
    let (tail, pushed) = (shares("droptail", greedy), shares("lqd", greedy));
    assert!(tail[0] < 0.5 && pushed[0] > 3.0, "{tail:?} {pushed:?}");
}

/// The bytes that a link carried from the tenth second on, and how long they waited, by flow.
struct Waits(LinkId, [(f64, f64); 8]);

impl Observer for Waits {
    fn on(&mut self, at: Time, event: &Event) {
        match event {
            Event::Service { link, packet, waited }
                if *link == self.0 && at >= Span::from_secs(10).after_start() =>
            {
                let (bytes, seconds) = &mut self.1[packet.flow as usize];
                *bytes += f64::from(packet.size);
                *seconds += f64::from(packet.size) * waited.as_secs_f64();
            }
            _ => {}
        }
    }
}

/// Mbit/s and mean wait in milliseconds of flows with these controllers at 20 Mbit/s over 40 ms, 500 packets of buffer.
fn waits(queue: &str, controllers: &[&str]) -> Vec<(f64, f64)> {
    let flow = |(number, cc): (usize, &&str)| format!("[[flows]]\nname = \"flow {number}\"\ncc = \"{cc}\"\n");
    let flows: String = controllers.iter().enumerate().map(flow).collect();
    let text = format!(
        "queue = \"{queue}\"\n[run]\nduration = \"50s\"\nmeasure = \"10s..50s\"\n\
         [topology]\nkind = \"dumbbell\"\nrate = \"20mbit\"\nbuffer = \"500pkt\"\nrtt = \"40ms\"\n{flows}"
    );
    let plan = scenario::parse(&text).unwrap_or_else(|faults| panic!("{faults:?}"));
    let valid = &plan.cases[0].valid;
    let link = valid.network().links.iter().position(|link| link.measured).expect("a bottleneck");
    let (waits, _) = run::run(valid, 1, Waits(LinkId(link as u32), [(0.0, 0.0); 8]));
    let means = waits.1.iter().map(|(bytes, seconds)| (8.0 * bytes / 40.0 / 1e6, 1e3 * seconds / bytes));
    means.take(controllers.len()).collect()
}

#[test]
fn a_controlled_delay_stays_near_its_target_and_the_link_busy() {
    for (queue, least, most) in
        [("droptail", 60.0, 300.0), ("codel", 2.0, 15.0), ("pie", 8.0, 25.0), ("fq-codel", 2.0, 15.0)]
    {
        let got = waits(queue, &["reno"; 4]);
        let carried: f64 = got.iter().map(|(rate, _)| rate).sum();
        // Under fq-codel each flow halves a window that fills its share alone: 17.5.
        assert!(carried > 17.0, "{queue}: {got:?}");
        assert!(got.iter().all(|(_, wait)| (least..most).contains(wait)), "{queue}: {got:?}");
    }
}

#[test]
fn coupled_queues_give_scalable_flows_short_waits_and_shares_like_those_of_classic_ones() {
    let got = waits("dualpi2", &["prague", "prague", "prague", "prague", "reno", "reno", "reno", "reno"]);
    let (scalable, classic) = got.split_at(4);
    assert!(scalable.iter().all(|(_, wait)| *wait < 1.0), "{got:?}");
    assert!(classic.iter().all(|(_, wait)| (10.0..20.0).contains(wait)), "{got:?}");
    let carried = |flows: &[(f64, f64)]| flows.iter().map(|(rate, _)| rate).sum::<f64>();
    let rates = (carried(scalable), carried(classic));
    // 10.7 and 9.3 Mbit/s.
    assert!(rates.0 + rates.1 > 19.0 && (0.8..1.5).contains(&(rates.0 / rates.1)), "{got:?}");
}

#[test]
fn a_stamp_costs_those_nothing_who_carry_no_rate() {
    let source = "rate = \"8mbit\"\nsize = \"1000b\"";
    let stamped = format!("{source}\n[feedback]\nkind = \"erica\"");
    assert_eq!(shares("droptail", &stamped), shares("droptail", source));
}

/// Data packets that arrived at a link, and how many of them it dropped early or marked: those of senders with windows of
/// up to seven packets, and of larger ones.
struct Judged(LinkId, [(u32, u32); 2]);

impl Observer for Judged {
    fn on(&mut self, _: Time, event: &Event) {
        let Event::Arrival { link, packet, fate } = event else { return };
        if let Body::Data { hint, .. } = packet.body()
            && *link == self.0
        {
            let (arrived, told) = &mut self.1[usize::from(hint.window > 7.0)];
            *arrived += 1;
            *told += u32::from(matches!(fate, Fate::Dropped(Reason::Early) | Fate::Marked));
        }
    }
}

/// The share of packets that are dropped early or marked, of small and of large windows, in percent: ten long flows and 100
/// web sessions over 10 Mbit/s, as in the thesis on PISA and PIMC.
fn told(queue: &str, tcp: &str) -> [f64; 2] {
    let text = format!(
        "queue = \"{queue}\"\n[run]\nduration = \"300s\"\nmeasure = \"100s..300s\"\n[tcp]\n{tcp}\n\
         [topology]\nkind = \"dumbbell\"\nrate = \"10mbit\"\nbuffer = \"800pkt\"\nrtt = \"200ms\"\n\
         [[flows]]\nname = \"long\"\ncount = 10\ncc = \"reno\"\n\
         [[web]]\nname = \"web\"\nsessions = 100\ncc = \"reno\"\n"
    );
    let (valid, link) = parsed(&text);
    let (judged, _) = run::run(&valid, 1, Judged(link, [(0, 0); 2]));
    judged.1.map(|(arrived, told)| 100.0 * f64::from(told) / f64::from(arrived.max(1)))
}

#[test]
fn pimc_drops_no_packet_of_a_small_window_and_pisa_fewer_than_of_large_ones() {
    let ratio = |[small, large]: [f64; 2]| small / large;
    for tcp in ["hint = \"exact\"", "hint = \"tos\"", "hint = \"dscp\""] {
        let [plain, pisa, pimc] = ["pi", "pisa", "pimc"].map(|queue| told(queue, tcp));
        assert!((0.8..1.25).contains(&ratio(plain)), "{tcp}: {plain:?}");
        // Some 75 packets of small windows are dropped: `pisa.tab52` judges the reduction, over all its seeds.
        assert!(ratio(pisa) < ratio(plain).min(1.0), "{tcp}: {pisa:?}");
        assert!(pimc[0] == 0.0 && pimc[1] > 0.0, "{tcp}: {pimc:?}");
    }
}

#[test]
fn a_queue_that_reads_windows_tells_small_ones_less_than_the_same_queue_does_that_reads_none() {
    let ratio = |queue: &str| {
        let [small, large] = told(queue, "");
        assert!(large > 0.0, "{queue}");
        small / large
    };
    for (plain, sparing) in [
        ("pi-ecn", "pisa-ecn"),
        ("pi-ecn", "pimc-ecn"),
        ("rem", "rem:spare=sa"),
        ("avq", "avq:spare=sa"),
        ("avq", "avq:spare=mc"),
        ("red", "red:spare=sa"),
        ("red", "red:spare=mc"),
        ("red", "shred"),
    ] {
        let (before, after) = (ratio(plain), ratio(sparing));
        assert!(after < before, "{plain}: {before}, {sparing}: {after}");
    }
}

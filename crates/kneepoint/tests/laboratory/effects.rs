// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Links that police, reorder, duplicate, corrupt, shape, grant and hand over; asymmetric links; and hosts that pace.

use kneepoint::link::LinkSpec;
use kneepoint::measure::Meter;
use kneepoint::packet::Flags;
use kneepoint::queue::{Fate, Limit};
use kneepoint::run;
use kneepoint::scenario::{parse, parse_with};
use kneepoint::spec::Valid;
use kneepoint::table::{Row, value};
use kneepoint::trace::{Alteration, Event, Observer, Ordered};
use kneepoint::units::{Rate, Span, Time};

/// Flows over a dumbbell with these lines in `[topology]` and these sections; the group is called `long`.
fn text(topology: &str, sections: &str, flows: &str) -> String {
    format!(
        "[run]\nduration = \"12s\"\nmeasure = \"4s..12s\"\n[topology]\n{topology}\n{sections}\n\
         [[flows]]\nname = \"long\"\nstart = \"0s..100ms\"\n{flows}\n"
    )
}

fn valid(topology: &str, sections: &str, flows: &str) -> Valid {
    let text = text(topology, sections, flows);
    let mut plan = parse(&text).unwrap_or_else(|faults| panic!("{faults:#?}\n{text}"));
    plan.cases.remove(0).valid
}

fn faults(topology: &str, sections: &str) -> String {
    let faults = parse(&text(topology, sections, "cc = \"reno\"")).expect_err("a fault");
    faults.iter().map(|fault| format!("{}; ", fault.message)).collect()
}

fn rows(valid: &Valid) -> Vec<Row> {
    run::run(valid, 1, Meter::new(valid, 1)).0.finish()
}

fn of_group(rows: &[Row], key: &str) -> f64 {
    value(rows, key, &[("group", "long")])
}

fn of_link(rows: &[Row], key: &str) -> f64 {
    value(rows, key, &[("link", "r1-r2")])
}

fn link<'v>(valid: &'v Valid, name: &str) -> &'v LinkSpec {
    valid.network().links.iter().find(|link| link.name == name).expect("a link of this name")
}

const PLAIN: &str = "rate = \"10mbit\"\nrtt = \"40ms\"";

/// Packets of the whole run, by their numbers.
#[derive(Default)]
struct Census {
    sent: Vec<u32>,
    delivered: Vec<u32>,
    dropped: Vec<u32>,
    doubled: Vec<u32>,
}

impl Observer for Census {
    fn on(&mut self, _: Time, event: &Event) {
        match event {
            Event::Sent { packet, .. } => self.sent.push(packet.id),
            Event::Delivered { packet, .. } if !packet.flags.has(Flags::ACK) => {
                self.delivered.push(packet.id)
            }
            Event::Arrival { packet, fate: Fate::Dropped(_), .. }
            | Event::Fate { packet, fate: Fate::Dropped(_), .. } => self.dropped.push(packet.id),
            Event::Altered { packet, how: Alteration::Duplicated, .. } => self.doubled.push(packet.id),
            _ => {}
        }
    }
}

#[test]
fn each_packet_and_each_copy_of_one_arrives_or_is_dropped() {
    let sections = "[policer]\nrate = \"6mbit\"\nburst = \"30kb\"\n[reordering]\np = 0.05\ndelay = \"7ms\"\npackets = 4\n\
                    [duplication]\np = 0.1\n[corruption]\np = 0.02\n[loss]\nkind = \"uniform\"\np = 0.01";
    for queue in ["droptail", "codel", "pie"] {
        let all = format!("{sections}\n[queue]\nkind = \"{queue}\"");
        let valid = valid(PLAIN, &all, "cc = \"cubic\"\ncount = 3\nstop = \"10s\"");
        let census = run::run(&valid, 1, Ordered::new(Census::default())).0.finish();
        let mut left: Vec<u32> = census.sent.iter().chain(&census.doubled).copied().collect();
        let mut gone: Vec<u32> = census.delivered.iter().chain(&census.dropped).copied().collect();
        // Acknowledgements that are dropped or doubled are not data.
        left.retain(|number| census.sent.binary_search(number).is_ok());
        gone.retain(|number| census.sent.binary_search(number).is_ok());
        left.sort_unstable();
        gone.sort_unstable();
        assert!(census.doubled.len() > 20 && census.dropped.len() > 20, "{queue}");
        assert_eq!(left, gone, "{queue}");
    }
}

#[test]
fn a_policer_passes_its_rate_and_says_what_it_drops() {
    let policed = "[policer]\nrate = \"10mbit\"\nburst = \"64kb\"";
    let rows = rows(&valid("rate = \"100mbit\"\nrtt = \"40ms\"", policed, "cc = \"cubic\"\ncount = 4"));
    let throughput = of_link(&rows, "throughput_bps");
    assert!((8e6..=10e6 + 8.0 * 64e3 / 8.0).contains(&throughput), "{throughput}");
    assert!(of_link(&rows, "drops_policed") > 0.0);
    assert_eq!(of_link(&rows, "drops_policed"), of_link(&rows, "drops"));
    assert!(of_link(&rows, "queue_mean_packets") < 0.5, "a policer has no queue");
}

#[test]
fn a_shaper_delays_what_a_policer_drops() {
    let shaped = "[capacity]\nkind = \"token-bucket\"\nburst = \"64kb\"\npeak = \"100mbit\"";
    let rows = rows(&valid(PLAIN, shaped, "cc = \"cubic\"\ncount = 4"));
    assert!(of_link(&rows, "utilization") > 0.95);
    assert!(of_link(&rows, "queue_mean_packets") > 5.0);
    assert!(faults(PLAIN, "[capacity]\nkind = \"token-bucket\"\npeak = \"1mbit\"").contains("peak"));
}

#[test]
fn directions_have_rates_and_buffers_of_their_own() {
    let topology = format!("{PLAIN}\nreverse_rate = \"500kbit\"");
    let both = valid(&topology, "", "cc = \"reno\"");
    let (there, back) = (link(&both, "r1-r2"), link(&both, "r2-r1"));
    assert_eq!((there.rate, back.rate), (Some(Rate::from_mbit(10)), Some(Rate(500_000))));
    assert!(there.measured && back.measured);
    // 10 Mbit/s and 500 kbit/s for 40 ms of payloads of 1000 bytes: 50, and 2.5 rounded.
    assert_eq!((there.limit, back.limit), (Limit::Packets(50), Limit::Packets(3)));
    assert!(!link(&valid(PLAIN, "", "cc = \"reno\""), "r2-r1").measured);
    let minimal = format!("{topology}\naccess = \"minimal\"");
    assert!(faults(&minimal, "").contains("reverse_rate"));
    assert!(
        faults(&format!("{PLAIN}\naccess = \"minimal\""), "[reverse]\nloss = \"uniform\"")
            .contains("[reverse]")
    );
}

#[test]
fn the_other_direction_has_effects_of_its_own() {
    let reverse = "[reverse]\nloss = { kind = \"uniform\", p = 0.1 }\npolicer = { rate = \"1mbit\", burst = \"9kb\" }\n\
                   capacity = \"grants:period=4ms\"";
    let valid = valid(PLAIN, reverse, "cc = \"reno\"");
    let (there, back) = (link(&valid, "r1-r2"), link(&valid, "r2-r1"));
    assert_eq!((there.capacity.name(), there.loss.name(), &there.effects), ("constant", "none", &None));
    assert_eq!((back.capacity.name(), back.loss.name()), ("grants", "uniform"));
    assert!(back.measured && back.effects.is_some());
    let rows = rows(&valid);
    assert!(value(&rows, "channel_loss_ratio", &[("link", "r2-r1")]) > 0.05);
}

#[test]
fn reordering_is_reported_as_it_was_asked_for() {
    let report = |packets: u32, delay: &str| {
        let sections = format!("[reordering]\np = 0.02\ndelay = \"{delay}\"\npackets = {packets}");
        let flows = "cc = \"reno\"\ntcp = { recovery = \"rack\" }";
        let rows = rows(&valid(PLAIN, &sections, flows));
        ["reordered_ratio", "three_reordered_ratio", "reordering_extent_mean_packets", "goodput_bps"]
            .map(|key| of_group(&rows, key))
    };
    let near = report(2, "1s");
    assert!((0.015..0.025).contains(&near[0]) && near[1] == 0.0, "{near:?}");
    assert!((1.9..=2.1).contains(&near[2]), "{near:?}");
    let far = report(5, "1s");
    assert!((far[1] / far[0] - 1.0).abs() < 0.2 && (4.8..=5.2).contains(&far[2]), "{far:?}");
    // RACK waits for a quarter of a round trip, and both arrive before.
    assert!(near[3] > 8e6 && far[3] > 8e6, "{near:?} {far:?}");
    // 1040 bytes take 0.83 ms: four or five packets pass one that is held for 4 ms.
    let timed = report(1000, "4ms");
    assert!((3.0..=5.5).contains(&timed[2]), "{timed:?}");
    let plain = rows(&valid(PLAIN, "", "cc = \"reno\""));
    assert!(of_group(&plain, "reordered_ratio").is_nan());
}

#[test]
fn copies_are_ignored_and_corrupt_packets_sent_again() {
    let flows = "cc = \"reno\"\nsize = \"2mb\"";
    for (sections, key) in
        [("[duplication]\np = 0.05", "duplicated"), ("[corruption]\np = 0.01", "corrupted")]
    {
        let text = text(PLAIN, sections, flows).replace("4s..12s", "0s..12s");
        let valid = parse(&text).expect("a scenario").cases.remove(0).valid;
        let rows = rows(&valid);
        assert_eq!(of_group(&rows, "completions"), 1.0, "{key}");
        let (count, arrived) = (of_link(&rows, key), of_link(&rows, "served_packets"));
        let p = if key == "duplicated" { 0.05 } else { 0.01 };
        assert!((count / arrived / p - 1.0).abs() < 0.4, "{key}: {count} of {arrived}");
        assert!(of_group(&rows, "retransmissions") >= of_link(&rows, "corrupted"), "{key}");
    }
}

#[test]
fn a_handover_changes_delay_and_rate_of_both_directions_and_pauses_them() {
    let sections = "[handover]\nevery = \"3s\"\noutage = \"200ms\"\ndelays = [\"10ms\", \"30ms\"]\nrates = [\"10mbit\", \"5mbit\"]";
    let moving = valid(&format!("{PLAIN}\ndelay = \"10ms\""), sections, "cc = \"cubic\"\ncount = 2");
    for name in ["r1-r2", "r2-r1"] {
        let one = link(&moving, name);
        let delays = [1, 4, 7].map(|secs| one.delay_at(Span::from_secs(secs).after_start()));
        assert_eq!(delays, [10, 30, 10].map(Span::from_millis), "{name}");
    }
    let rows = rows(&moving);
    // Of 8 s, 4 s..6 s and 9 s..12 s are at 5 Mbit/s; 0.2 s are lost at 6, 9 and 12 s.
    let mean = (5.0 * (1.8 + 2.8) + 10.0 * 2.8) / 8.0;
    let capacity = of_link(&rows, "capacity_bps") / 1e6;
    assert!((capacity - mean).abs() < 1e-6, "{capacity} {mean}");
    let both = format!("{sections}\n[capacity]\nkind = \"shared\"");
    assert!(faults(PLAIN, &both).contains("handover"));
}

#[test]
fn delays_come_from_a_file_and_begin_again() {
    let text =
        text(&format!("{PLAIN}\ndelay_file = \"leo.csv\"\ndelay_period = \"30s\""), "", "cc = \"reno\"");
    let files = |path: &str| match path {
        "leo.csv" => Ok("time_s,delay_ms\n0,20\n15,35\n".to_string()),
        other => Err(format!("no file {other}")),
    };
    let plan = parse_with(&text, &files).unwrap_or_else(|faults| panic!("{faults:#?}"));
    let link = &plan.cases[0].valid.network().links[0];
    let delays = [1, 16, 31, 46].map(|secs| link.delay_at(Span::from_secs(secs).after_start()));
    assert_eq!(delays, [20, 35, 20, 35].map(Span::from_millis));
}

#[test]
fn a_filter_of_acknowledgements_empties_a_narrow_uplink() {
    let [off, conservative, aggressive] = ["off", "conservative", "aggressive"].map(|filter| {
        let topology =
            "rate = \"20mbit\"\nrtt = \"40ms\"\nreverse_rate = \"200kbit\"\nreverse_buffer = \"100pkt\"";
        let queue = format!("[reverse_queue]\nkind = \"cake\"\nack_filter = \"{filter}\"");
        let rows = rows(&valid(topology, &queue, "cc = \"cubic\"\ncount = 2"));
        (value(&rows, "queue_mean_packets", &[("link", "r2-r1")]), of_group(&rows, "goodput_bps"))
    });
    // 200 kbit/s carry 625 acknowledgements of 40 bytes, where 2400 arrive in a second: the buffer is full, or each flow keeps two or one.
    assert!(
        off.0 > 95.0 && conservative.0 < 4.0 && aggressive.0 < 2.0,
        "{off:?} {conservative:?} {aggressive:?}"
    );
    assert!(conservative.1 >= off.1 && aggressive.1 >= off.1, "{off:?} {conservative:?} {aggressive:?}");
}

#[test]
fn grants_bunch_acknowledgements() {
    #[derive(Default)]
    struct Bunches(Vec<Time>);
    impl Observer for Bunches {
        fn on(&mut self, at: Time, event: &Event) {
            if let Event::Delivered { packet, .. } = event
                && packet.flags.has(Flags::ACK)
            {
                self.0.push(at);
            }
        }
    }
    let bunches = |sections: &str| {
        let valid = valid(PLAIN, sections, "cc = \"reno\"");
        let mut times = run::run(&valid, 1, Ordered::new(Bunches::default())).0.finish().0;
        let all = times.len() as f64;
        times.dedup();
        all / times.len() as f64
    };
    assert!(bunches("") < 1.01);
    // Acknowledgements of 5 ms, one each 0.83 ms, arrive together.
    assert!(bunches("[reverse]\ncapacity = \"grants:period=5ms\"") > 4.0);
}

#[test]
fn a_host_that_paces_fills_a_short_buffer_with_fewer_losses() {
    let lost = |pacing: &str| {
        let topology = "rate = \"50mbit\"\nrtt = \"80ms\"\nbuffer = \"20pkt\"";
        let tcp = format!("[tcp]\npreset = \"linux\"\npacing = \"{pacing}\"");
        let text = text(topology, &tcp, "cc = \"cubic\"").replace("4s..12s", "0s..4s");
        let valid = parse(&text).expect("a scenario").cases.remove(0).valid;
        of_group(&rows(&valid), "retransmissions")
    };
    let [own, fq] = ["own", "fq"].map(lost);
    assert!(fq < 0.5 * own, "{own} {fq}");
}

#[test]
fn linuxs_bbr_finds_out_that_it_is_policed() {
    let again = |era: &str| {
        let policed = "[policer]\nrate = \"10mbit\"\nburst = \"64kb\"\n[tcp]\npreset = \"linux\"";
        let flows = format!("cc = \"bbr:era={era}\"");
        let text = text("rate = \"100mbit\"\nrtt = \"100ms\"", policed, &flows).replace("4s..12s", "0s..6s");
        let rows = rows(&parse(&text).expect("a scenario").cases.remove(0).valid);
        [of_group(&rows, "retransmissions"), of_group(&rows, "goodput_bps")]
    };
    // The rate that the first burst showed is trusted for eight rounds instead of ten, and none is probed for five seconds.
    let [draft, linux] = ["draft", "linux"].map(again);
    assert!(linux[0] < 0.75 * draft[0] && linux[1] > 0.95 * draft[1], "{draft:?} {linux:?}");
}

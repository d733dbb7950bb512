// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Links whose capacity or delay changes, and events in the order of time.

use kneepoint::link::recording;
use kneepoint::measure::Meter;
use kneepoint::packet::Flags;
use kneepoint::rng::Rng;
use kneepoint::run;
use kneepoint::scenario::{parse, parse_with};
use kneepoint::spec::Valid;
use kneepoint::table::value;
use kneepoint::trace::{Event, LinkId, Observer, Ordered};
use kneepoint::units::{Interval, Rate, Span, Time};

/// Two flows over a dumbbell with these lines in `[topology]` and these sections.
fn valid(topology: &str, sections: &str) -> Valid {
    let text = format!(
        "[run]\nduration = \"12s\"\nmeasure = \"2s..12s\"\n[topology]\nrate = \"6mbit\"\n{topology}\n{sections}\n\
         [[flows]]\ncc = \"reno\"\ncount = 2\nstart = \"0s..100ms\"\n"
    );
    let mut plan = parse(&text).unwrap_or_else(|faults| panic!("{faults:#?}\n{text}"));
    plan.cases.remove(0).valid
}

/// Events as reported.
#[derive(Default, PartialEq)]
struct Tape {
    times: Vec<Time>,
    services: Vec<(u32, Time, u16)>,
    delays: Vec<(Time, Span)>,
}

impl Observer for Tape {
    fn on(&mut self, at: Time, event: &Event) {
        self.times.push(at);
        match event {
            Event::Service { link: LinkId(link), packet, .. } => self.services.push((*link, at, packet.size)),
            Event::Delivered { packet, .. } if !packet.flags.has(Flags::ACK) => {
                self.delays.push((at, at - packet.sent))
            }
            _ => {}
        }
    }
}

fn tape(valid: &Valid) -> Tape {
    run::run(valid, 1, Ordered::new(Tape::default())).0.finish()
}

/// Events before the end of the run; a queue that computes departures reports later ones too.
fn before_the_end(valid: &Valid) -> Tape {
    let (mut tape, end) = (tape(valid), valid.schedule().duration);
    tape.services.retain(|(_, at, _)| *at <= end);
    tape.delays.retain(|(at, _)| *at <= end);
    // The instants reported depend on how departures are found.
    tape.times.clear();
    tape
}

fn summary(valid: &Valid) -> String {
    format!("{:?}", run::run(valid, 1, Meter::new(valid, 1)).0.finish())
}

#[test]
fn a_capacity_of_one_step_gives_the_numbers_of_a_constant_one() {
    for queue in ["droptail", "red"] {
        let queue = format!("[queue]\nkind = \"{queue}\"");
        let constant = before_the_end(&valid("", &queue));
        let steps = before_the_end(&valid(
            "",
            &format!("{queue}\n[capacity]\nkind = \"steps\"\nrates = \"0s: 6mbit\""),
        ));
        assert!(constant == steps, "{queue}");
    }
    let constant = summary(&valid("", ""));
    let steps = summary(&valid("", "[capacity]\nkind = \"steps\"\nrates = \"0s: 6mbit\""));
    assert_eq!(constant, steps);
}

#[test]
fn a_bottleneck_that_halves_its_rate_is_used_as_before() {
    let steps = "[capacity]\nkind = \"steps\"\nrates = [\"0s: 8mbit\", \"7s: 4mbit\"]";
    let valid = valid("buffer = \"60pkt\"", steps);
    let bits = valid.network().links[0].capacity_bits(valid.schedule().measure, 1, 0);
    assert_eq!(bits, 5.0 * 8e6 + 5.0 * 4e6);
    let utilization = value(&run::run(&valid, 1, Meter::new(&valid, 1)).0.finish(), "utilization", &[]);
    assert!((0.95..=1.0005).contains(&utilization), "{utilization}");
}

#[test]
fn a_trace_serves_no_more_than_its_opportunities_and_nearly_all_of_them() {
    // Mean: 5 opportunities in 10 ms, 6 Mbit/s.
    let trace = "[capacity]\nkind = \"trace\"\nopportunities = [1, 1, 4, 8, 10]";
    let valid = valid("buffer = \"60pkt\"", trace);
    assert_eq!(valid.network().links[0].capacity_bits(valid.schedule().measure, 1, 0), 60e6);
    let utilization = value(&run::run(&valid, 1, Meter::new(&valid, 1)).0.finish(), "utilization", &[]);
    assert!((0.97..=1.0005).contains(&utilization), "{utilization}");
    let tape = tape(&valid);
    let at_an_opportunity =
        |at: Time| [1, 4, 8, 0].contains(&(at.0 % 10_000_000 / 1_000_000)) && at.0.is_multiple_of(1_000_000);
    assert!(tape.services.iter().all(|(link, at, _)| *link != 0 || at_an_opportunity(*at)));
}

#[test]
fn ephemeral_sessions_leave_the_same_capacity_to_all_schemes_and_another_to_each_seed() {
    let sections = |kind: &str| format!("[capacity]\n{kind}\n[queue]\nkind = \"droptail\"");
    let ephemeral = "kind = \"ephemeral\"\narrivals = 5\npersistent = 2";
    let shared = valid("buffer = \"60pkt\"", &sections(ephemeral));
    let epochs = valid("buffer = \"20pkt\"", &sections(&format!("{ephemeral}\nepoch = \"60ms\"")));
    let rows = |valid: &Valid, seed| run::run(valid, seed, Meter::new(valid, seed)).0.finish();
    let said = |valid: &Valid| valid.network().links[0].capacity_bits(valid.schedule().measure, 1, 0);
    for valid in [&shared, &epochs] {
        let capacity = |seed| {
            let rows = rows(valid, seed);
            let utilization = value(&rows, "utilization", &[]);
            assert!((0.9..=1.005).contains(&utilization), "{utilization}");
            value(&rows, "capacity_bps", &[("link", &valid.network().links[0].name)])
        };
        let capacities = [1, 2, 3].map(capacity);
        assert!(capacities.iter().all(|bps| (1e6..5e6).contains(bps)), "{capacities:?}");
        assert!(capacities[0] != capacities[1] && capacities[1] != capacities[2]);
        assert_eq!(capacities[0], capacity(1));
        assert_eq!(capacities[0], said(valid) / 10.0);
    }
    // Only the direction of most data is shared.
    let back = shared.network().links.iter().find(|link| link.from == shared.network().links[0].to);
    assert_eq!(back.expect("a link back").capacity.name(), "constant");
    // The path is the link's, for any discipline and traffic.
    let red = sections(ephemeral).replace("droptail", "red");
    let other = valid("buffer = \"9pkt\"\nrtt = \"300ms\"", &red);
    assert_eq!(said(&shared), said(&other));
}

#[test]
fn directions_that_share_a_capacity_carry_no_more_than_it_together() {
    let sections = "[capacity]\nkind = \"shared\"\n[[flows]]\nname = \"back\"\ncc = \"reno\"\ncount = 2\ndirection = \"reverse\"";
    let valid = valid("buffer = \"60pkt\"", sections);
    let rows = run::run(&valid, 1, Meter::new(&valid, 1)).0.finish();
    let used = valid.network().links.iter().filter(|link| link.measured);
    let used: Vec<f64> = used.map(|link| value(&rows, "utilization", &[("link", &link.name)])).collect();
    assert!(used.len() == 2 && used.iter().all(|part| *part > 0.3), "{used:?}");
    assert!((0.95..=1.0005).contains(&used.iter().sum()), "{used:?}");
    // One packet at a time, in each direction.
    let tape = tape(&valid);
    let mut medium: Vec<_> = tape.services.iter().filter(|(link, ..)| *link < 2).collect();
    medium.sort_by_key(|(_, at, _)| *at);
    for two in medium.windows(2) {
        let least = u64::from(two[0].2) * 8 * 1_000_000_000 / 6_000_000;
        assert!((two[1].1 - two[0].1).0 >= least, "{two:?}");
    }
}

#[test]
fn a_shared_capacity_needs_a_link_back() {
    let text = "[topology]\nrate = \"6mbit\"\naccess = \"minimal\"\n[capacity]\nkind = \"shared\"\n[[flows]]\ncc = \"reno\"\n";
    let faults = parse(text).unwrap_err();
    assert!(faults[0].message.contains("no link of the same rate leads back"), "{faults:?}");
}

#[test]
fn a_rate_that_contradicts_the_capacity_is_refused_with_the_right_one() {
    let text =
        |kind: &str| format!("[topology]\nrate = \"10mbit\"\n[capacity]\n{kind}\n[[flows]]\ncc = \"reno\"\n");
    for (kind, right) in [
        ("kind = \"trace\"\nopportunities = [1, 2]", "let it be 12mbit"),
        ("kind = \"steps\"\nrates = [\"0s: 1mbit\", \"1s: 2mbit\"]", "1mbit to 2mbit"),
    ] {
        let faults = parse(&text(kind)).unwrap_err();
        assert!(faults[0].message.contains(right), "{faults:?}");
    }
}

#[test]
fn a_delay_that_changes_is_what_packets_then_take() {
    let valid = valid("rtt = \"60ms\"\ndelay_steps = [\"4s: 120ms\", \"8s: 10ms\"]\nbuffer = \"20pkt\"", "");
    let tape = tape(&valid);
    let least = |from: u64, to: u64| {
        let within = tape.delays.iter().filter(|(at, _)| (from..to).contains(&(at.0 / 1_000_000_000)));
        within.map(|(_, delay)| delay.0 / 1_000_000).min().unwrap()
    };
    // A third of the round trip, 20 ms, is the bottleneck's; the access links have 5 ms each.
    assert_eq!([least(0, 4), least(5, 8), least(9, 12)], [31, 131, 21]);
}

#[test]
fn a_file_is_read_through_the_caller_and_its_faults_name_its_lines() {
    let text = "[topology]\nrate = \"6mbit\"\n[capacity]\nkind = \"trace\"\nfile = \"x.trace\"\n[[flows]]\ncc = \"reno\"\n";
    let read = |content: &'static str| {
        parse_with(text, &move |path| {
            assert_eq!(path, "x.trace");
            Ok(content.to_string())
        })
    };
    let plan = read("1\n1\n4\n8\n10\n").unwrap();
    let inline = text.replace("file = \"x.trace\"", "opportunities = [1, 1, 4, 8, 10]");
    let inline = parse(&inline).unwrap();
    let bits = |valid: &Valid| valid.network().links[0].capacity_bits(valid.schedule().measure, 1, 0);
    assert_eq!(bits(&plan.cases[0].valid), bits(&inline.cases[0].valid));
    for (content, wrong) in [("1\nten\n", "`x.trace`, line 2: `ten`"), ("", "`x.trace`, the trace is empty")]
    {
        let faults = read(content).unwrap_err();
        assert!(faults[0].message.contains(wrong), "{faults:?}");
        assert_eq!(&text[faults[0].span.clone()], "\"x.trace\"");
    }
    let faults = parse(text).unwrap_err();
    assert!(faults[0].message.contains("cannot be opened here"), "{faults:?}");
    let short = text.replace("[capacity]\nkind = \"trace\"\nfile = \"x.trace\"\n", "");
    let short = format!("capacity = \"trace:file=x.trace\"\n{short}");
    assert!(parse_with(&short, &|_| Ok("2\n".into())).is_ok());
}

/// Rates of a second each, with a delay.
const MODEM: &str = "time_s,throughput_mbps,rtt_ms\n0,8,40\n1,2,60\n2,5,50\n";

#[test]
fn a_rate_of_auto_is_the_mean_of_the_trace() {
    let capacity = "[capacity]\nkind = \"trace\"\nfile = \"modem.csv\"\nbesides = \"ignored\"\n";
    let link = "[[link]]\nfrom = \"a\"\nto = \"b\"\nrate = \"auto\"\ndelay = \"9ms\"\n";
    for (topology, place) in [
        ("kind = \"dumbbell\"\nrate = \"auto\"", ""),
        ("kind = \"chain\"\nrate = \"auto\"", ""),
        ("kind = \"parking-lot\"\nrate = \"auto\"", ""),
        ("kind = \"graph\"", "from = \"a\"\nto = \"b\"\n"),
    ] {
        let sections = if place.is_empty() { "" } else { link };
        let text =
            |own: &str| format!("{own}[topology]\n{topology}\n{sections}[[flows]]\ncc = \"reno\"\n{place}");
        let plan =
            parse_with(&text(capacity), &|_| Ok(MODEM.into())).unwrap_or_else(|faults| panic!("{faults:#?}"));
        let links = &plan.cases[0].valid.network().links;
        let bottleneck = links.iter().find(|one| one.measured).unwrap();
        assert_eq!(bottleneck.rate, Some(Rate::from_mbit(5)), "{topology}");
        let second = |from: u64| {
            let window = Interval { from: Time(from * 1_000_000_000), to: Time((from + 1) * 1_000_000_000) };
            bottleneck.capacity_bits(window, 1, 0) / 1e6
        };
        assert_eq!([0, 1, 2, 3, 4].map(second), [8.0, 2.0, 5.0, 8.0, 2.0], "{topology}");
        let faults = parse(&text("")).unwrap_err();
        assert!(faults[0].message.contains("`auto` is the mean of a trace"), "{faults:#?}");
    }
}

#[test]
fn columns_that_are_not_played_are_refused_unless_they_are_to_be_ignored() {
    let text = "[topology]\nrate = \"auto\"\n[capacity]\nkind = \"trace\"\nfile = \"modem.csv\"\n[[flows]]\ncc = \"reno\"\n";
    let faults = parse_with(text, &|_| Ok(MODEM.into())).unwrap_err();
    assert!(faults[0].message.contains("`latency_ms`, which a capacity does not play"), "{faults:#?}");
}

#[test]
fn trace_files_are_an_axis_of_a_sweep() {
    let text = "[topology]\nrate = \"auto\"\n[capacity]\nkind = \"trace\"\n[sweep]\ncapacity.file = [\"a.trace\", \"b.csv\"]\n\
                [[flows]]\ncc = \"reno\"\n";
    let open = |name: &str| Ok(if name == "a.trace" { "1\n" } else { "time_s,Mbps\n0,3\n1,5\n" }.to_string());
    let plan = parse_with(text, &open).unwrap();
    let rates = plan.cases.iter().map(|case| case.valid.network().links[0].rate);
    let told = |case: &kneepoint::scenario::Case| case.settings[0].1.clone();
    assert_eq!(plan.cases.iter().map(told).collect::<Vec<_>>(), ["a.trace", "b.csv"]);
    assert_eq!(rates.collect::<Vec<_>>(), [Some(Rate::from_mbit(12)), Some(Rate::from_mbit(4))]);
}

#[test]
fn any_text_is_a_trace_or_a_fault() {
    let mut rng = Rng::stream(1, "trace-text", 0);
    let parts = [
        "0",
        "1",
        "17",
        "\n",
        "\r\n",
        " ",
        "-",
        "4294967297",
        "x",
        "\u{e4}",
        "1e3",
        "\0",
        ",",
        "\t",
        "time_s",
        "Mbps",
        "loss",
        "#",
        "[",
        "{\"Mbps\":1,\"duration_ms\":",
        "}",
        "18446744073709551616",
    ];
    for _ in 0..20_000 {
        let text: String =
            (0..rng.below(12)).map(|_| parts[rng.below(parts.len() as u64) as usize]).collect();
        match recording::read(&text) {
            Ok(known) => assert!(known.recording.mean().0 > 0, "{text:?}"),
            Err(wrong) => {
                let placed = ["line ", "entry ", "the trace"].iter().any(|place| wrong.contains(place));
                assert!(placed, "{text:?}: {wrong}");
            }
        }
    }
}

#[test]
fn an_ordered_observer_hears_every_event_in_the_order_of_time() {
    let flows = "[[flows]]\ncc = \"reno\"\ncount = 3\n";
    let noisy = "[tcp]\njitter = \"1ms\"\n[loss]\nkind = \"uniform\"\np = 0.001\n";
    let topologies = [
        "[topology]\nrate = \"6mbit\"\naccess = \"full\"\n",
        "[topology]\nrate = \"6mbit\"\naccess_rate = \"20mbit\"\njitter = \"2ms\"\n",
        "[topology]\nrate = \"6mbit\"\naccess = \"minimal\"\n",
        "[topology]\nkind = \"chain\"\nrate = \"6mbit\"\nhops = 3\n",
        "[topology]\nkind = \"parking-lot\"\nrate = \"6mbit\"\nrouters = 4\n",
        "[topology]\nkind = \"graph\"\n[[link]]\nfrom = \"a\"\nto = \"b\"\nrate = \"6mbit\"\ndelay = \"9ms\"\n",
    ];
    for topology in topologies {
        for sections in ["", noisy, "[queue]\nkind = \"red\"\n", "[capacity]\nkind = \"shared\"\n"] {
            let place = if topology.contains("graph") { "from = \"a\"\nto = \"b\"\n" } else { "" };
            let minimal = topology.contains("minimal") && sections.contains("shared");
            let sections = if minimal { "" } else { sections };
            let text =
                format!("[run]\nduration = \"5s\"\nsample = \"50ms\"\n{sections}{topology}{flows}{place}");
            let valid =
                parse(&text).unwrap_or_else(|faults| panic!("{faults:#?}\n{text}")).cases.remove(0).valid;
            let ordered = tape(&valid);
            assert!(ordered.times.is_sorted(), "{text}");
            let (mut told, _) = run::run(&valid, 1, Tape::default());
            told.times.sort_unstable();
            assert_eq!(ordered.times, told.times, "{text}");
        }
    }
}

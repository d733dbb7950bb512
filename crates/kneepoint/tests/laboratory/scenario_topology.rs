// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Topologies: the networks built from scenarios, checked link by link and with a packet.

use kneepoint::link::Routes;
use kneepoint::link::loss;
use kneepoint::link::{LinkSpec, NodeId};
use kneepoint::queue::Limit;
use kneepoint::run::run;
use kneepoint::scenario::parse;
use kneepoint::spec::Valid;
use kneepoint::trace::{Event, Observer};
use kneepoint::units::{Rate, Span, Time};

fn valid(text: &str) -> Valid {
    parse(text).unwrap_or_else(|faults| panic!("{faults:#?}")).cases.remove(0).valid
}

fn dumbbell(topology: &str, flows: &str) -> Valid {
    valid(&format!("[topology]\nrate = \"150mbit\"\n{topology}\n[[flows]]\ncc = \"reno\"\n{flows}\n"))
}

fn path(valid: &Valid, from: NodeId, to: NodeId) -> Vec<&LinkSpec> {
    let path = Routes::new(valid.network()).path(from, to).expect("a path");
    path.into_iter().map(|link| &valid.network().links[link as usize]).collect()
}

/// The delays of a path and of its return path.
fn round_trip(valid: &Valid, (from, to): (NodeId, NodeId)) -> Span {
    let links = path(valid, from, to).into_iter().chain(path(valid, to, from));
    links.fold(Span::ZERO, |sum, link| sum + link.delay)
}

fn round_trips(valid: &Valid) -> Vec<Span> {
    let pairs = valid.groups().iter().filter(|group| group.kind().listed()).flat_map(|group| &group.pairs);
    pairs.map(|pair| round_trip(valid, *pair)).collect()
}

fn measured(valid: &Valid) -> Vec<&LinkSpec> {
    valid.network().links.iter().filter(|link| link.measured).collect()
}

fn names(valid: &Valid) -> Vec<&str> {
    measured(valid).into_iter().map(|link| link.name.as_str()).collect()
}

#[test]
fn a_bandwidth_delay_product_is_counted_in_payloads() {
    let valid = dumbbell("rtt = \"60ms\"", "count = 50");
    assert_eq!(measured(&valid)[0].limit, Limit::Packets(1125));
}

#[test]
fn a_buffer_leaves_every_flow_two_packets_unless_it_says_how_many() {
    let limit = |buffer: &str| {
        let topology = format!("[topology]\nrate = \"1mbit\"\nbuffer = \"{buffer}\"\n");
        measured(&valid(&format!("{topology}[[flows]]\ncc = \"reno\"\ncount = 50\n")))[0].limit
    };
    assert_eq!(limit("1bdp"), Limit::Packets(100));
    assert_eq!(limit("30pkt"), Limit::Packets(30));
    assert_eq!(limit("100ms"), Limit::Bytes(Rate::from_mbit(1).carries(Span::from_millis(100))));
}

#[test]
fn a_buffer_that_is_too_large_is_refused_with_its_true_number() {
    let said = |buffer: String| {
        let topology = "[topology]\nkind = \"dumbbell\"\nrate = \"1000000mbit\"\nrtt = \"1s\"\n";
        let faults =
            parse(&format!("{topology}buffer = \"{buffer}\"\n[[flows]]\ncc = \"reno\"\n")).unwrap_err();
        let words = faults[0].message.split(" is ").nth(1).unwrap_or_else(|| panic!("{faults:#?}"));
        words.split(' ').next().unwrap().parse::<f64>().unwrap()
    };
    assert_eq!(said("40bdp".into()), 40.0 * 125e6);
    for unit in ["bdp", "s", "gb"] {
        let one = said(format!("200{unit}")) / 200.0;
        for times in [500.0, 4000.0, 9999.0] {
            let ratio = said(format!("{times}{unit}")) / one / times;
            assert!((ratio - 1.0).abs() < 1e-6, "{times} {unit}: {ratio}");
        }
    }
}

#[test]
fn every_flow_has_its_round_trip_to_the_nanosecond() {
    let rtts: [&str; 4] = ["12ms", "100000003ns", "61ms", "12000001ns"];
    let list = rtts.map(|rtt| format!("\"{rtt}\"")).join(", ");
    let expected: Vec<Span> = rtts.iter().cycle().take(6).map(|rtt| rtt.parse().unwrap()).collect();
    for (access, direction) in [("full", "forward"), ("full", "reverse"), ("minimal", "forward")] {
        for delay in ["auto", "5ms", "6ms"] {
            let topology = format!("access = \"{access}\"\ndelay = \"{delay}\"");
            let flows = format!("count = 6\nrtt = [{list}]\ndirection = \"{direction}\"");
            let valid = dumbbell(&topology, &flows);
            assert_eq!(round_trips(&valid), expected, "{access} {delay} {direction}");
        }
    }
}

#[test]
fn the_bottleneck_takes_a_third_of_the_least_round_trip_unless_told() {
    let delay = |topology: &str, flows: &str| measured(&dumbbell(topology, flows))[0].delay;
    assert_eq!(delay("rtt = \"60ms\"", ""), Span::from_millis(20));
    assert_eq!(delay("rtt = \"60ms\"", "count = 2\nrtt = [\"12ms\", \"90ms\"]"), Span::from_millis(4));
    assert_eq!(delay("delay = \"7ms\"", ""), Span::from_millis(7));
}

#[test]
fn a_round_trip_shorter_than_the_bottleneck_is_refused_with_the_least() {
    let text = "[topology]\nrate = \"1mbit\"\ndelay = \"30ms\"\n[[flows]]\ncc = \"reno\"\nrtt = \"50ms\"\n";
    let faults = parse(text).unwrap_err();
    assert_eq!(&text[faults[0].span.clone()], "\"50ms\"");
    assert!(faults[0].help.as_ref().unwrap().contains("60ms"), "{faults:#?}");
}

#[test]
fn a_minimal_dumbbell_is_a_bottleneck_and_two_delays() {
    let valid = dumbbell("access = \"minimal\"", "count = 3");
    assert_eq!(valid.network().links.len(), 1 + 2 * 3);
    for (from, to) in &valid.groups()[0].pairs {
        assert_eq!(valid.network().nodes[from.0 as usize], "r1");
        let there: Vec<Option<Rate>> = path(&valid, *from, *to).iter().map(|link| link.rate).collect();
        assert_eq!(there, [Some(Rate::from_mbit(150)), None]);
        assert_eq!(path(&valid, *to, *from).len(), 1);
    }
}

#[test]
fn hosts_with_nothing_between_them_and_the_bottleneck_sit_on_it() {
    let valid = dumbbell("rtt = \"60ms\"\ndelay = \"30ms\"", "count = 4");
    assert_eq!((valid.network().nodes.len(), valid.network().links.len()), (2, 2));
    assert_eq!(round_trips(&valid), [Span::from_millis(60); 4]);
}

#[test]
fn the_way_back_is_measured_only_where_data_travels_it() {
    assert_eq!(names(&dumbbell("", "")), ["r1-r2"]);
    assert_eq!(names(&dumbbell("", "direction = \"reverse\"")), ["r1-r2", "r2-r1"]);
    let valid = dumbbell("", "");
    let back = valid.network().links.iter().find(|link| link.name == "r2-r1").unwrap();
    assert_eq!(back.limit, Limit::Packets(1125));
}

#[test]
fn data_that_goes_back_needs_acknowledgements_to_meet() {
    let minimal = "[topology]\nrate = \"1mbit\"\naccess = \"minimal\"\n";
    let faults = parse(&format!("{minimal}[[flows]]\ncc = \"reno\"\ndirection = \"reverse\"\n"));
    let faults = faults.expect_err("refused");
    assert!(faults[0].help.as_deref().is_some_and(|help| help.contains("full")), "{faults:?}");
}

#[test]
fn losses_occur_on_the_forward_bottleneck_only() {
    let text =
        "[topology]\nrate = \"1mbit\"\n[loss]\nkind = \"uniform\"\np = 0.1\n[[flows]]\ncc = \"reno\"\n";
    let losses: Vec<loss::Config> =
        valid(text).network().links.iter().map(|link| link.loss.clone()).collect();
    assert_eq!(losses[0], loss::Config::Uniform(loss::uniform::Params { p: 0.1 }));
    assert!(losses[1..].iter().all(|loss| *loss == loss::Config::default()));
}

#[test]
fn losses_at_given_times_stand_in_any_order_and_one_needs_no_list() {
    let at = |times: &str| {
        let text = format!(
            "[topology]\nrate = \"1mbit\"\n[loss]\nkind = \"at\"\ntimes = {times}\n[[flows]]\ncc = \"reno\"\n"
        );
        valid(&text).network().links[0].loss.clone()
    };
    let listed = |secs: &[u64]| {
        let times: Vec<Span> = secs.iter().map(|secs| Span::from_secs(*secs)).collect();
        loss::Config::At(loss::at::Params { times: times.into() })
    };
    assert_eq!(at("[\"20s\", \"5s\"]"), listed(&[20, 5]));
    assert_eq!(at("\"3s\""), listed(&[3]));
}

#[test]
fn web_servers_and_clients_are_paired_in_every_way() {
    for access in ["full", "minimal"] {
        let web = "[[web]]\ncc = \"reno\"\nnodes = 4\n";
        let valid = valid(&format!("[topology]\nrate = \"1mbit\"\naccess = \"{access}\"\n{web}"));
        let pairs = &valid.groups()[0].pairs;
        assert_eq!(pairs.len(), if access == "full" { 16 } else { 4 });
        for pair in pairs {
            assert_eq!(round_trip(&valid, *pair), Span::from_millis(60));
        }
    }
}

#[test]
fn a_source_faster_than_its_access_link_is_refused() {
    let text = "[topology]\nrate = \"1mbit\"\naccess_rate = \"2mbit\"\n[[cbr]]\nrate = \"3mbit\"\n";
    let faults = parse(text).unwrap_err();
    assert_eq!(&text[faults[0].span.clone()], "\"3mbit\"");
}

#[test]
fn a_source_that_is_on_for_less_than_a_packet_is_refused() {
    let text = "[topology]\nrate = \"1mbit\"\n[[cbr]]\nrate = \"1mbit\"\non = \"7ms\"\noff = \"1s\"\n";
    let faults = parse(text).unwrap_err();
    assert_eq!(&text[faults[0].span.clone()], "\"7ms\"");
    assert!(faults[0].message.contains("8ms"), "{faults:#?}");
}

#[test]
fn what_means_nothing_to_a_topology_is_refused() {
    let flows = "[[flows]]\ncc = \"reno\"\n";
    let link = "[[link]]\nfrom = \"a\"\nto = \"c\"\nrate = \"1mbit\"\ndelay = \"5ms\"\n";
    for (text, place) in [
        (format!("[topology]\nrate = \"1mbit\"\n{flows}from = \"r1\"\n"), "\"r1\""),
        (format!("[topology]\nkind = \"chain\"\nrate = \"1mbit\"\n{flows}rtt = \"9ms\"\n"), "\"9ms\""),
        (
            format!("[topology]\nrate = \"1mbit\"\naccess = \"minimal\"\naccess_rate = \"9mbit\"\n{flows}"),
            "\"9mbit\"",
        ),
        (format!("{GRAPH}{link}[reverse_queue]\nkind = \"droptail\"\n"), "[reverse_queue]"),
        (format!("[topology]\nrate = \"1mbit\"\n{flows}[[node]]\nname = \"a\"\n"), "[[node]]"),
    ] {
        let faults = parse(&text).unwrap_err();
        let [fault] = faults.as_slice() else { panic!("{faults:#?}") };
        assert_eq!(&text[fault.span.clone()], place, "{fault:?}");
        assert!(fault.message.contains("means nothing"), "{fault:?}");
    }
}

#[test]
fn a_parking_lot_measures_each_hop_and_gives_each_flow_its_hosts() {
    let topology = "[topology]\nkind = \"parking-lot\"\nrate = \"150mbit\"\nrouters = 4\n";
    let flows = "[[flows]]\nname = \"long\"\ncc = \"reno\"\ncount = 2\n\
                 [[flows]]\nname = \"short\"\ncc = \"reno\"\nfrom = \"r2\"\nto = \"r3\"\n";
    let valid = valid(&format!("{topology}{flows}"));
    assert_eq!(names(&valid), ["r1-r2", "r2-r3", "r3-r4"]);
    assert_eq!(round_trips(&valid), [50, 50, 30].map(Span::from_millis));
    // 30 ms over one hop at 150 Mbit/s: 562.5 packets of 1000 bytes.
    assert_eq!(measured(&valid)[0].limit, Limit::Packets(563));
}

#[test]
fn a_reverse_flow_measures_the_hops_that_it_crosses() {
    let text = "[topology]\nkind = \"parking-lot\"\nrate = \"1mbit\"\nrouters = 4\n\
                [[flows]]\ncc = \"reno\"\nfrom = \"r2\"\nto = \"r4\"\ndirection = \"reverse\"\n";
    assert_eq!(names(&valid(text)), ["r3-r2", "r4-r3"]);
}

#[test]
fn a_chain_of_one_hop_is_the_least_network() {
    let valid =
        valid("[topology]\nkind = \"chain\"\nrate = \"1mbit\"\n[[flows]]\ncc = \"reno\"\ncount = 3\n");
    assert_eq!((valid.network().nodes.len(), valid.network().links.len()), (2, 2));
    assert_eq!(valid.groups()[0].members.len(), 3);
}

const GRAPH: &str = "[topology]\nkind = \"graph\"\n[[flows]]\ncc = \"reno\"\nfrom = \"a\"\nto = \"c\"\n";

#[test]
fn a_graph_is_its_links() {
    let link = |from: &str, to: &str| {
        format!("[[link]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"1mbit\"\ndelay = \"5ms\"\n")
    };
    let valid = valid(&format!("{GRAPH}{}{}", link("a", "b"), link("b", "c")));
    assert_eq!(round_trips(&valid), [Span::from_millis(20)]);
    let told = |text: &str| {
        let faults = parse(text).unwrap_err();
        faults.into_iter().map(|fault| fault.message).collect::<Vec<_>>().join("\n")
    };
    assert!(
        told(&format!("{GRAPH}{}duplex = false\n{}", link("a", "b"), link("b", "c")))
            .contains("no path leads")
    );
    assert!(told(&format!("{GRAPH}{}", link("a", "b"))).contains("no node `c`"));
    assert!(told(&format!("{GRAPH}{}{}", link("a", "c"), link("c", "a"))).contains("already"));
    assert!(told(&format!("{GRAPH}{}", link("a", "a"))).contains("itself"));
    assert!(told(&format!("{GRAPH}[[node]]\nname = \"a\"\n{}", link("a", "c"))).contains("no node `c`"));
}

/// The smallest round-trip time measured by any flow.
struct Least(Span);

impl Observer for Least {
    fn on(&mut self, _: Time, event: &Event) {
        if let Event::Acked { rtt: Some(rtt), .. } = event {
            self.0 = self.0.min(*rtt);
        }
    }
}

#[test]
fn a_packet_takes_the_round_trip_that_the_scenario_says() {
    for access in ["full", "minimal"] {
        let text = format!(
            "[run]\nduration = \"2s\"\n[topology]\nrate = \"1gbit\"\nrtt = \"60ms\"\naccess = \"{access}\"\n\
             [[flows]]\ncc = \"reno\"\nsize = \"10kb\"\n"
        );
        let (Least(rtt), _) = run(&valid(&text), 1, Least(Span::MAX));
        // A packet's transmission at 1 Gbit/s takes 8 microseconds, an acknowledgement's less than one.
        assert!(rtt >= Span::from_millis(60) && rtt < Span::from_micros(60_010), "{access}: {rtt}");
    }
}

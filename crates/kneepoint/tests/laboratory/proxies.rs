// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Proxies that split connections: their promises over every kind of source, and the scenarios that have none.

use kneepoint::measure::{Meter, ends_at_proxy};
use kneepoint::run::{self, Simulation};
use kneepoint::scenario::parse;
use kneepoint::spec::Valid;
use kneepoint::table::{Row, value};
use kneepoint::trace::{Event, FlowId, Observer};
use kneepoint::traffic;
use kneepoint::units::{Bytes, Span, Time};

/// A dumbbell of Linux hosts, whose routers are 200 ms apart each way and 10 ms from the hosts.
fn text(sections: &str) -> String {
    format!(
        "[run]\nduration = \"30s\"\nmeasure = \"0s..30s\"\n[topology]\nkind = \"dumbbell\"\nrate = \"10mbit\"\nrtt = \"440ms\"\n\
         delay = \"200ms\"\n[tcp]\npreset = \"linux\"\n{sections}\n"
    )
}

fn valid(sections: &str) -> Valid {
    let text = text(sections);
    parse(&text).unwrap_or_else(|faults| panic!("{faults:#?}\n{text}")).cases.remove(0).valid
}

fn rows(valid: &Valid) -> Vec<Row> {
    run::run(valid, 1, Meter::new(valid, 1)).0.finish()
}

/// Goodput of a group in Mbit/s.
fn goodput(rows: &[Row], group: &str) -> f64 {
    value(rows, "goodput_bps", &[("group", group)]) / 1e6
}

/// The results of transfers: group, beginning, delivery and size of each, in the order of completion.
#[derive(Default)]
struct Completions(Vec<(u32, Time, Time, Bytes)>);

impl Observer for Completions {
    fn on(&mut self, _: Time, event: &Event) {
        if let Event::Completed { group, began, delivered, size, .. } = *event {
            self.0.push((group, began, delivered, size));
        }
    }
}

fn completions(valid: &Valid, group: &str) -> Vec<(Time, Time, Bytes)> {
    let place = valid.groups().iter().position(|one| one.name == group).expect("a group of this name");
    let all = run::run(valid, 1, Completions::default()).0.0;
    all.into_iter()
        .filter(|one| one.0 as usize == place)
        .map(|(_, began, at, size)| (began, at, size))
        .collect()
}

const ONE: &str = "[[flows]]\nname = \"one\"\ncc = \"cubic\"\nsize = \"1MB\"\n";

#[test]
fn a_transfer_begins_at_its_first_sender_and_ends_at_its_last_receiver() {
    for at in ["\"r1\"", "\"r2\"", "[\"r1\", \"r2\"]"] {
        let split = valid(&format!("[proxy]\nat = {at}\n{ONE}"));
        let [(began, at_last, size)] = completions(&split, "one")[..] else { panic!("one transfer") };
        assert_eq!((began, size), (Time::ZERO, Bytes(1_000_000)), "{at}");
        let before = completions(&split, if at.contains("r1") { "one-to-r1" } else { "one-to-r2" });
        assert_eq!((before.len(), before[0].2), (1, size));
        let rest = if at.contains("r1") { 210 } else { 10 };
        // The last byte crosses the part of the path behind the proxy.
        assert!(at_last >= before[0].1 + Span::from_millis(rest), "{at}: {at_last} {:?}", before[0]);
    }
}

#[test]
fn a_slowdown_counts_the_ways_of_all_connections() {
    // The time of a transfer alone: its time over its slowdown.
    let alone = |proxy: &str| {
        let rows = rows(&valid(&format!("{proxy}{ONE}")));
        let of = |key: &str| value(&rows, key, &[("group", "one"), ("class", "1MB")]);
        of("completion_time_mean_ms") / of("slowdown_mean")
    };
    let whole = alone("");
    for at in ["\"r1\"", "\"r2\"", "[\"r1\", \"r2\"]"] {
        let split = alone(&format!("[proxy]\nat = {at}\n"));
        assert!((split - whole).abs() < 0.001 * whole, "{at}: {split} ms, {whole} ms without a proxy");
    }
}

#[test]
fn rows_say_which_connections_end_at_a_proxy() {
    let rows = rows(&valid(&format!("[proxy]\nat = [\"r1\", \"r2\"]\n{ONE}")));
    let groups =
        rows.iter().filter(|row| !row.label("group").is_empty() && row.value("goodput_bps").is_finite());
    let ends: Vec<(&str, bool)> = groups
        .filter(|row| row.labels.len() == 1)
        .map(|row| (row.label("group"), ends_at_proxy(row)))
        .collect();
    assert_eq!(ends.len(), 3, "{ends:?}");
    assert!(ends.iter().all(|(group, at_proxy)| *at_proxy == (*group != "one")), "{ends:?}");
}

#[test]
fn a_proxy_before_a_long_lossy_link_recovers_losses_sooner() {
    let lossy = "[loss]\nkind = \"uniform\"\np = 0.01\n";
    let flows = "[[flows]]\nname = \"one\"\ncc = \"cubic\"\n";
    // The same controller over 420 ms instead of 440 gains little; the gain comes from the hosts behind the lossy link.
    let whole = goodput(&rows(&valid(&format!("{lossy}{flows}"))), "one");
    let split = goodput(&rows(&valid(&format!("{lossy}[proxy]\nat = \"r2\"\n{flows}"))), "one");
    let better =
        goodput(&rows(&valid(&format!("{lossy}[proxy]\nat = \"r1\"\ncc = \"bbr\"\n{flows}"))), "one");
    assert!(split > 0.9 * whole, "{split} {whole}");
    assert!(better > 3.0 * whole, "{better} {whole}");
}

/// The greatest backlog of a proxy: bytes in order at it, less bytes in order at the next receiver.
struct Held {
    groups: (u32, u32),
    flows: Vec<u32>,
    inside: i64,
    most: i64,
}

impl Observer for Held {
    fn on(&mut self, _: Time, event: &Event) {
        match *event {
            Event::Started { flow: FlowId(flow), group } => {
                if self.flows.len() <= flow as usize {
                    self.flows.resize(flow as usize + 1, u32::MAX);
                }
                self.flows[flow as usize] = group;
            }
            Event::Delivered { packet, payload } if payload > Bytes(0) => {
                let group = self.flows[packet.flow as usize];
                self.inside += payload.0 as i64
                    * (i64::from(group == self.groups.0) - i64::from(group == self.groups.1));
                self.most = self.most.max(self.inside);
            }
            _ => {}
        }
    }
}

#[test]
fn the_window_of_a_proxy_keeps_what_it_holds_below_its_buffer() {
    for buffer in [6_000_i64, 60_000, 600_000] {
        let split = valid(&format!(
            "[proxy]\nat = \"r1\"\nbuffer = \"{buffer}B\"\n[[flows]]\nname = \"one\"\ncc = \"cubic\"\n"
        ));
        let held = Held { groups: (1, 0), flows: Vec::new(), inside: 0, most: 0 };
        let (held, _) = run::run(&split, 1, held);
        // Data in flight behind the proxy is in its buffer, too, until it is acknowledged. Before the first
        // acknowledgement announces the window, the initial window of ten packets arrives.
        let least = buffer.max(10 * 1448);
        assert!(held.most <= least && held.most > buffer / 2, "{buffer}: {}", held.most);
        let (first, last) = (goodput(&rows(&split), "one-to-r1"), goodput(&rows(&split), "one"));
        let bound = 8.0 * least as f64 / 0.42 / 1e6;
        assert!(last <= bound.min(10.0) && last > 0.3 * bound.min(10.0), "{buffer}: {last} of {bound}");
        assert!((first - last) * 1e6 / 8.0 * 30.0 <= 1.1 * least as f64, "{buffer}: {first} {last}");
    }
}

#[test]
fn every_source_of_connections_works_through_proxies() {
    let mut tried = 0;
    let sources = traffic::REGISTRY.iter().filter_map(|entry| traffic::Config::named(entry.name));
    for nature in sources.map(|source| source.nature()).filter(|nature| nature.kind.connects()) {
        let section = nature.section;
        let fields = match section {
            "flows" => "size = \"100kB\"\n",
            "web" | "browser" => "sessions = 2\nnodes = 2\n",
            _ => "",
        };
        let group = format!("[[{section}]]\nname = \"users\"\ncc = \"cubic\"\n{fields}");
        let Ok(mut plain) = parse(&text(&group)) else { continue };
        let whole = rows(&plain.cases.remove(0).valid);
        let split = valid(&format!("[proxy]\nat = [\"r1\", \"r2\"]\n{group}"));
        let after = rows(&split);
        let (before, now) = (goodput(&whole, "users"), goodput(&after, "users"));
        assert!(now > 0.5 * before && before > 0.0, "{section}: {now} Mbit/s, {before} without proxies");
        // Each connection that delivers has one before it for each proxy, which delivers as much, except for data in
        // flight. Goodput
        // is counted at acknowledgements, which take longer in the middle.
        for leg in ["users-to-r1", "users-to-r2"] {
            let first = goodput(&after, leg);
            assert!(
                first > 0.9 * now && first < 1.3 * now + 0.2,
                "{section}: {leg} {first}, {now} at the end"
            );
        }
        tried += 1;
    }
    assert!(tried >= 5, "{tried} sources");
}

#[test]
fn a_run_through_proxies_is_the_same_in_pieces_and_twice() {
    let split = valid(
        "[proxy]\nat = \"r1\"\n[[web]]\ncc = \"cubic\"\nsessions = 3\nnodes = 2\n[[flows]]\ncc = \"bbr\"\ncount = 2\n",
    );
    let whole = run::run(&split, 7, Completions::default()).0.0;
    let mut pieces = Simulation::new(&split, 7, Completions::default());
    for second in 0..40 {
        pieces.advance(Time::ZERO + Span::from_secs(second));
    }
    assert_eq!(whole, pieces.finish().0.0);
    assert!(whole.len() > 5, "{}", whole.len());
}

#[test]
fn what_a_proxy_cannot_do_is_refused() {
    let flows = "[[flows]]\ncc = \"cubic\"\n";
    let refused = |text: &str| {
        let faults = parse(text).expect_err(text);
        faults
            .iter()
            .map(|fault| format!("{} ({})", fault.message, fault.help.as_deref().unwrap_or("")))
            .collect::<String>()
    };
    for (sections, said) in [
        ("[proxy]\nat = \"r3\"\n", "no node is called `r3`"),
        ("[proxy]\nat = \"d1\"\n", "no connection passes its nodes"),
        ("[proxy]\nbuffer = \"1MB\"\n", "`at`"),
        ("[proxy]\nat = \"r1\"\nbuffer = \"2kB\"\n", "below two packets"),
        ("[proxy]\nat = \"r1\"\ncc = \"none\"\n", "there is no congestion control called `none`"),
    ] {
        let message = refused(&text(&format!("{sections}{flows}")));
        assert!(message.contains(said), "{sections}: {message}");
    }
    let papers = text(&format!("[proxy]\nat = \"r1\"\n{flows}")).replace("preset = \"linux\"\n", "");
    let message = refused(&papers);
    assert!(message.contains("--tcp linux"), "{message}");
}

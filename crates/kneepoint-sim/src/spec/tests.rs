// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Every refusal of the checks, each on a spec that is valid but for one change.

use super::*;
use crate::link::capacity;
use crate::queue::Limit;
use crate::units::Rate;

fn at(secs: u64) -> Time {
    Span::from_secs(secs).after_start()
}

fn parts() -> Builder {
    let link = |from, to| LinkSpec { delay: Span::from_millis(5), ..LinkSpec::new(NodeId(from), NodeId(to)) };
    let bottleneck =
        LinkSpec { rate: Some(Rate::from_mbit(10)), limit: Limit::Packets(50), measured: true, ..link(0, 1) };
    let transfers = Group::new("reno", traffic::Config::default());
    let datagrams = Group::new("cbr", traffic::Config::named("cbr").expect("a registered name"));
    let web = Group::new("web", traffic::Config::named("web").expect("a registered name"));
    let (a, b) = (NodeId(0), NodeId(1));
    Builder::new("two")
        .duration(Span::from_secs(8))
        .sample(Span::from_secs(1))
        .node("a")
        .node("b")
        .link(bottleneck)
        .link(link(1, 0))
        .group(transfers.member(a, b, Member::default()))
        .group(datagrams.member(a, b, Member::default()))
        .group(web.member(b, a, Member::default()))
}

#[test]
fn a_builder_gives_parts_the_usual_values() {
    let valid = parts().build().unwrap();
    assert_eq!(valid.name(), "two");
    assert_eq!(valid.schedule().measure, Interval { from: at(2), to: at(8) });
    let links: Vec<&str> = valid.network().links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(links, ["a-b", "b-a"]);
    let controlled: Vec<bool> = valid.groups().iter().map(|group| group.cc.is_some()).collect();
    assert_eq!(controlled, [true, false, true]);
    assert_eq!(valid.clone().into_builder().build(), Ok(valid));
}

#[test]
fn each_fault_is_refused_with_the_value_and_a_remedy() {
    type Spoil = fn(&mut Builder);
    let spoilt: [(&str, Spoil); 33] = [
        ("duration, 0s", |it| it.schedule.duration = Time::ZERO),
        ("duration, 2000000s", |it| it.schedule.duration = at(2_000_000)),
        ("is empty", |it| it.schedule.measure = Interval { from: at(3), to: at(3) }),
        ("reaches beyond duration, 8s", |it| it.schedule.measure.to = at(9)),
        ("sample, 0s", |it| it.schedule.sample = Some(Span::ZERO)),
        ("more than 10000000 samples", |it| it.schedule.sample = Some(Span(100))),
        ("two nodes are called `a`", |it| it.network.nodes[1] = "a".into()),
        ("a link has no name", |it| it.network.links[0].name.clear()),
        ("two links are called `a-b`", |it| it.network.links[1].name = "a-b".into()),
        ("two groups are called `cbr`", |it| it.groups[0].name = "cbr".into()),
        ("link `a-b` names node 7, and there are 2", |it| it.network.links[0].to = NodeId(7)),
        ("link `a-b` ends where it begins", |it| it.network.links[0].to = NodeId(0)),
        ("rate of a-b, 0", |it| it.network.links[0].rate = Some(Rate(0))),
        ("limit of a-b, 0", |it| it.network.links[0].limit = Limit::Packets(0)),
        ("limit of a-b, 0", |it| it.network.links[0].limit = Limit::Bytes(Bytes(0))),
        ("delay of b-a, 2000s", |it| it.network.links[1].delay = Span::from_secs(2000)),
        ("delay of b-a, 2000s", |it| it.network.links[1].jitter = Span::from_secs(2000)),
        ("delay_steps", |it| {
            let step = crate::settings::Timed { at: Span::ZERO, value: Span::ZERO };
            it.network.links[0].delay_steps = vec![step, step];
        }),
        ("loss of a-b: p: ", |it| {
            let params = crate::link::loss::uniform::Params { p: 1.5 };
            it.network.links[0].loss = crate::link::loss::Config::Uniform(params);
        }),
        ("no link of the same rate leads back", |it| {
            it.network.links[0].capacity = capacity::Config::named("shared").expect("a registered name");
        }),
        ("100001 senders are above the 100000", |it| it.groups[0].members = vec![Member::default(); 99_999]),
        ("group `reno` uses connections and lacks", |it| it.groups[0].cc = None),
        ("group `cbr` sends datagrams", |it| it.groups[1].tcp = Some(tcp::Options::default())),
        ("tcp of group `reno`: payload", |it| it.groups[0].tcp.as_mut().unwrap().payload = Bytes(0)),
        ("group `reno` names node 9", |it| it.groups[0].pairs[0].1 = NodeId(9)),
        ("group `reno` sends from a node to itself", |it| it.groups[0].pairs[0].1 = NodeId(0)),
        ("group `reno` has 2 members and 1 pairs", |it| it.groups[0].members.push(Member::default())),
        ("group `web` has no pair", |it| it.groups[2].pairs.clear()),
        ("not before the end of the run, 8s", |it| {
            it.groups[0].members[0].start = Interval { from: at(8), to: at(8) };
        }),
        ("only transfers have one", |it| it.groups[2].members[0].size = Some(Bytes(1))),
        ("group `reno`: a size of 0", |it| it.groups[0].members[0].size = Some(Bytes(0))),
        ("there is no path from `b` to `a`", |it| drop(it.network.links.pop())),
        ("above the 4000000000 allowed", |it| {
            it.network.links[0].rate = Some(Rate::from_mbit(400_000));
            it.schedule.duration = at(1000);
            it.groups[0].tcp.as_mut().unwrap().payload = Bytes(1);
        }),
    ];
    for (message, spoil) in spoilt {
        let mut parts = parts();
        spoil(&mut parts);
        let refusal = parts.build().expect_err(message);
        assert!(refusal.message.contains(message), "{message}: {refusal}");
        assert!(!refusal.help.is_empty(), "{message}");
    }
}

#[test]
fn a_process_has_one_member() {
    let mut parts = parts();
    parts.groups[2].source = traffic::Config::named("arrivals").expect("a registered name");
    assert!(parts.clone().build().is_ok());
    parts.groups[2].members.push(Member::default());
    assert!(parts.build().unwrap_err().message.contains("is one process and has 2 members"));
}

#[test]
fn what_is_said_against_too_many_samples_is_enough() {
    for duration in [at(8), at(60), at(999_983), Time(8_000_000_001)] {
        let mut parts = parts();
        (parts.schedule.duration, parts.schedule.measure) = (duration, Interval { from: at(2), to: at(8) });
        let valid = parts.clone().build().unwrap();
        for often in [Span::ZERO, Span(1), Span(700)] {
            let least = |help: &str| help.split(' ').nth(2).unwrap().parse::<Span>().unwrap();
            let refusal = valid.clone().with_sample(Some(often)).unwrap_err();
            assert!(refusal.message.contains("more than 2000000 samples"), "{refusal}");
            let enough = least(&refusal.help);
            assert!(valid.clone().with_sample(Some(enough)).is_ok(), "{refusal}");
            assert!(valid.clone().with_sample(Some(Span(enough.0 - 1))).is_err(), "{refusal}");
            // An emulation may have more.
            parts.schedule.sample = Some(often);
            let refused = parts.clone().build().unwrap_err();
            parts.schedule.sample = Some(least(&refused.help));
            assert!(parts.clone().build().is_ok() && least(&refused.help) < enough, "{refused}");
        }
    }
}

#[test]
fn a_change_of_a_valid_spec_is_checked() {
    let valid = parts().build().unwrap();
    assert_eq!(valid.clone().with_sample(None).unwrap().schedule().sample, None);
    assert!(valid.clone().with_sample(Some(Span(1))).unwrap_err().help.contains("every"));
    assert!(valid.clone().with_measured("b-a").unwrap().network().links[1].measured);
    let refusal = valid.with_measured("b-c").unwrap_err();
    assert_eq!(refusal.message, "no link is called `b-c`");
}

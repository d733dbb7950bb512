// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Laws of rules of adaptive bit rate, and of the player that asks them.

use kneepoint::metric::Tallies;
use kneepoint::rng::Rng;
use kneepoint::settings::Raw;
use kneepoint::traffic::vod::{BITS, FETCHED, PLAYED, STALLED, STARTUP};
use kneepoint::traffic::{Config, Cue, Request, Site, abr};
use kneepoint::units::{Bytes, Rate, Span, Time};

use super::Family;

const SEGMENT: Span = Span::from_secs(2);
const LADDER: [u64; 4] = [300, 800, 2000, 6000];

/// A viewer with this rule and room for this many segments.
fn viewer(rule: &abr::Config, room: u64) -> Config {
    let mut config = Config::named("vod").expect("registered");
    let ladder = LADDER.map(|kbit| Raw::Text(format!("{kbit}kbit"))).to_vec();
    for (name, raw) in [
        ("ladder", Raw::List(ladder)),
        ("rule", Raw::Text(rule.to_string())),
        ("segment", Raw::Text(SEGMENT.to_string())),
        ("startup", Raw::Text(SEGMENT.to_string())),
        ("resume", Raw::Text("3s".into())),
        ("room", Raw::Text(Span(room * SEGMENT.0).to_string())),
    ] {
        config.set(name, &raw).expect(name);
    }
    config.check().expect("parameters that agree");
    config
}

#[test]
fn play_stalls_and_startup_add_up_and_the_buffer_holds_what_it_has_room_for() {
    for rule in abr::Config::variants() {
        for room in [2, 5, 30] {
            let start = Time::ZERO + Span::from_millis(700);
            let mut source = viewer(&rule, room).build(Site { start, stop: Time::NEVER, pairs: 1 });
            let (mut rng, mut link) = (Rng::stream(1, "vod", 0), Rng::stream(2, "link", room));
            let (mut requests, mut arrives, mut asked) = (Vec::new(), Time::NEVER, Bytes(0));
            let mut did = Tallies::default();
            for _ in 0..500 {
                let now = source.next_wakeup().min(arrives);
                let cue = if now == arrives {
                    arrives = Time::NEVER;
                    Cue::Delivered { connection: 0, bytes: Bytes(0), at: now }
                } else {
                    Cue::Time
                };
                source.on(cue, now, &mut rng, &mut requests);
                for request in requests.drain(..) {
                    match request {
                        Request::Write { size, .. } => {
                            // The rate changes with each segment, so that some arrive in time and some do not.
                            let rate = Rate(100_000 + link.below(4_000_000));
                            (asked, arrives) = (size, now + rate.time_for(size));
                        }
                        Request::Report(report) => {
                            did.add(&report);
                            if report.quantity != BITS {
                                continue;
                            }
                            let [played, stalled, startup, fetched] = [PLAYED, STALLED, STARTUP, FETCHED]
                                .map(|quantity| Span(did.sum(quantity) as u64));
                            assert_eq!(
                                did.count(STARTUP),
                                1,
                                "{rule}: the first segment begins playback, once"
                            );
                            let rate = Rate((report.value / SEGMENT.as_secs_f64()) as u64);
                            assert!(LADDER.iter().any(|kbit| rate == Rate(1000 * kbit)), "{rule}");
                            assert_eq!(asked.0, rate.0 * 2 / 8, "{rule}");
                            assert!(played <= fetched, "{rule} plays what it does not have");
                            let buffer = fetched.saturating_sub(played);
                            assert!(buffer <= Span(room * SEGMENT.0), "{rule}: {buffer} of {room} segments");
                            assert_eq!(startup + played + stalled, now.since(start), "{rule}");
                        }
                        _ => {}
                    }
                }
            }
            assert!(did.seconds(FETCHED) > 100.0, "{rule}: {} s", did.seconds(FETCHED));
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests of browsers.

use super::*;
use crate::settings::Settings;

/// The requests for one page of four objects after its container, each answered in turn.
fn page(http: Http, connections: u32) -> Vec<Request> {
    let pages = Or::is(Pages::read(&Raw::Text("10kb 3kb 1kb 3kb 2kb".into())).unwrap());
    let params = Params { protocol: http, connections, pages, ..Params::default() };
    let site = Site { start: Time::ZERO, stop: Time(1_000), pairs: 1 };
    let (mut browser, mut rng) = (Browser::new(params, site), Rng::stream(1, "browser", 0));
    let (mut all, mut answered, mut now) = (Vec::new(), 0, Time::ZERO);
    browser.on(Cue::Time, now, &mut rng, &mut all);
    while browser.page.awaited > 0 {
        now = Time(now.0 + 10);
        let cue = match all[answered] {
            Request::Open { connection, size: Some(_), .. } => {
                Cue::Completed { connection, at: Time(now.0 - 5) }
            }
            Request::Write { connection, .. } => {
                Cue::Delivered { connection, bytes: Bytes(0), at: Time(now.0 - 5) }
            }
            _ => {
                answered += 1;
                continue;
            }
        };
        answered += 1;
        browser.on(cue, now, &mut rng, &mut all);
    }
    all
}

#[test]
fn each_version_of_http_uses_its_connections() {
    let count = |requests: &[Request], wanted: fn(&Request) -> bool| {
        requests.iter().filter(|request| wanted(request)).count()
    };
    let opens = |one: &Request| matches!(one, Request::Open { .. });
    let writes = |one: &Request| matches!(one, Request::Write { .. });
    let closes = |one: &Request| matches!(one, Request::Close { .. });
    let loaded = |one: &Request| matches!(one, Request::Loaded { began: Time(0), delivered } if delivered.0 % 10 == 5);
    for (http, connections, expected) in
        [(Http::One, 2, (5, 0, 0)), (Http::Persistent, 2, (2, 5, 2)), (Http::Two, 2, (1, 5, 1))]
    {
        let all = page(http, connections);
        assert_eq!((count(&all, opens), count(&all, writes), count(&all, closes)), expected, "{http}");
        assert_eq!(count(&all, loaded), 1, "{http}: {all:?}");
    }
    // The container comes alone, then as many objects as there may be connections.
    assert!(matches!(
        page(Http::One, 3)[..4],
        [
            Request::Open { size: Some(Bytes(10_000)), .. },
            Request::Open { size: Some(Bytes(3_000)), .. },
            Request::Open { size: Some(Bytes(1_000)), .. },
            Request::Open { size: Some(Bytes(3_000)), .. },
        ]
    ));
}

#[test]
fn streams_end_where_turns_byte_by_byte_end_them() {
    for sizes in [vec![3, 1, 3, 2], vec![1, 1, 1], vec![7], vec![5, 5, 900, 2, 2]] {
        let mut turns: Vec<(u64, u64)> = Vec::new();
        let mut left: Vec<(u64, u64)> = sizes.iter().map(|size| (*size, *size)).collect();
        left.sort_unstable();
        let mut sent = 0;
        while !left.is_empty() {
            for one in &mut left {
                (sent, one.0) = (sent + 1, one.0 - 1);
                if one.0 == 0 {
                    turns.push((sent, one.1));
                }
            }
            left.retain(|one| one.0 > 0);
        }
        let mut end = 0;
        let ends = interleaved(&sizes.iter().map(|size| Bytes(*size)).collect::<Vec<_>>()).into_iter();
        let ends = ends.map(|(part, size)| {
            end += part.0;
            (end, size.0)
        });
        assert_eq!(ends.collect::<Vec<_>>(), turns, "{sizes:?}");
    }
}

#[test]
fn pages_are_read_as_they_are_printed_and_from_files() {
    let mut params = Params::default();
    for (text, shown) in [
        (Raw::Text("30kb 5kb".into()), "30kb 5kb"),
        (Raw::Text("size_kb\n30\n5\n".into()), "30kb 5kb"),
        (Raw::List(vec![Raw::Text("30kb 5kb".into()), Raw::Text("1b".into())]), "[30kb 5kb, 1b]"),
    ] {
        assert_eq!(params.set("pages", &text), Ok(()));
        assert_eq!(params.get("pages").as_deref(), Some(shown));
    }
    for wrong in ["", "soon", "0b"] {
        assert!(params.set("pages", &Raw::Text(wrong.into())).is_err(), "{wrong:?}");
    }
    assert!(params.set("pages", &Raw::List(vec![])).is_err());
}

#[test]
fn nothing_is_asked_for_after_the_stop() {
    let params = Params { objects: 4, ..Params::default() };
    let site = Site { start: Time::ZERO, stop: Time(100), pairs: 1 };
    let (mut browser, mut rng) = (Browser::new(params, site), Rng::stream(1, "browser", 0));
    let mut requests = Vec::new();
    browser.on(Cue::Time, Time::ZERO, &mut rng, &mut requests);
    let delivered = Cue::Delivered { connection: 1, bytes: Bytes(12_000), at: Time(90) };
    browser.on(delivered, Time(100), &mut rng, &mut requests);
    assert!(matches!(
        requests[..],
        [Request::Open { .. }, Request::Write { .. }, Request::Close { connection: 1 }]
    ));
    assert_eq!(browser.next_wakeup(), Time::NEVER);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The player against this machine's kernel, which needs root.

use kneepoint::units::Span;
use kneepoint_linux::live::missing;
use kneepoint_linux::player::Player;
use kneepoint_linux::player::plan::{Impairment, MSS, Plan, Transmission, Write};
use kneepoint_linux::player::record::{Played, Record, Segment, What};

use crate::{say, turn};

const RTT: Span = Span::from_millis(30);

/// Twenty segments over a path of 30 ms.
fn plan(impairments: Vec<Impairment>) -> Plan {
    Plan {
        seed: 1,
        controller: "reno".into(),
        sack: true,
        timestamps: false,
        ecn: false,
        restart_after_idle: false,
        scale: 7,
        window: 1 << 20,
        rtt: RTT,
        jitter: Span::ZERO,
        spacing: Span::ZERO,
        queue: 1000,
        every: 1,
        patience: Span::from_millis(40),
        writes: vec![Write { at: Span::from_millis(50), bytes: 20 * MSS }],
        impairments,
        until: Span::from_secs(3),
    }
}

/// The kernel's results for plans; none, with a loud message, where there is no access.
fn played(plans: Vec<Plan>) -> Option<Vec<Played>> {
    if let Some(lack) = missing(&["reno"]) {
        say(&format!("SKIPPED: {lack}"));
        return None;
    }
    let _turn = turn();
    let count = plans.len();
    let played = Player::new(false).unwrap().play(plans, 2, &|| {}).unwrap();
    assert_eq!(played.len(), count);
    Some(played)
}

fn sent(played: &Played) -> Vec<(Span, &Segment)> {
    let outbound = |record: &'_ Record| matches!(record.what, What::Outbound(_)).then_some(record.at);
    let times = played.records.iter().filter_map(outbound);
    let segments = played.records.iter().filter_map(|record| match &record.what {
        What::Outbound(segment) => Some(segment),
        _ => None,
    });
    times.zip(segments).collect()
}

#[test]
fn a_lost_segment_is_sent_again_a_round_trip_later_and_everything_is_acknowledged() {
    let lost = Impairment::Loss(Transmission { segment: 3, nth: 0 });
    let Some(played) = played(vec![plan(vec![lost]), plan(Vec::new()), plan(vec![lost])]) else { return };
    for one in [&played[0], &played[2]] {
        assert_eq!(one.failure, None);
        let sent = sent(one);
        assert_eq!((sent[0].1.flags, sent[0].1.ack), (2 + 16, 1), "the answer to the SYN");
        let mut again = sent.iter().filter(|(_, segment)| segment.seq == 3 * MSS + 1);
        let &(at, _) = again.next_back().unwrap();
        let after = at.saturating_sub(Span::from_millis(50));
        assert!(after >= RTT && after < RTT + Span::from_millis(25), "retransmitted after {after}");
        let acked = one.records.iter().filter_map(|record| match &record.what {
            What::Inbound(segment) => Some(segment.ack),
            _ => None,
        });
        assert_eq!(acked.max(), Some(20 * MSS + 1));
    }
    let whole = sent(&played[1]);
    let bytes: u32 = whole.iter().map(|(_, segment)| segment.length).sum();
    assert_eq!(bytes, 20 * MSS, "nothing is sent twice where nothing is lost");
    let first = whole.iter().filter(|(at, _)| *at < Span::from_millis(50) + RTT);
    assert_eq!(first.map(|(_, segment)| segment.length).sum::<u32>(), 10 * MSS, "the initial window");
}

#[test]
fn a_window_that_closes_is_probed() {
    let mut closed = plan(vec![Impairment::Window(Span::from_millis(40), 0)]);
    (closed.scale, closed.window) = (0, 5 * MSS);
    closed.impairments.push(Impairment::Window(Span::from_millis(600), 20 * MSS));
    let Some(played) = played(vec![closed]) else { return };
    let sent = sent(&played[0]);
    let probes = sent.iter().filter(|(_, segment)| segment.length == 0 && segment.flags & 2 == 0);
    assert!(probes.clone().all(|(_, segment)| segment.seq == 5 * MSS));
    assert!(probes.count() >= 1);
    assert_eq!(sent.iter().map(|(_, segment)| segment.seq + segment.length).max(), Some(20 * MSS + 1));
}

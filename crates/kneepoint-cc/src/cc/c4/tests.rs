// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Worked numbers of C4, and its course on an endless path.

use super::super::delivery::tests::Path;
use super::*;

fn fresh() -> C4 {
    C4::new(Params::default(), Start::new(10.0))
}

/// 1000 packets/s, 1.5 MB/s, over 100 ms.
fn path() -> Path<C4> {
    Path::new(fresh(), 1000.0, Span::from_millis(100))
}

fn seconds(path: &mut Path<C4>, seconds: u64) {
    path.until(|path| path.now >= Span::from_secs(seconds).after_start());
}

/// Cruising at 1000 packets of 1000 bytes a second with a nominal round trip of 100 ms.
fn cruising() -> State {
    let mut state = *fresh().0;
    state.params.packet = Bytes(1000);
    (state.rate, state.nominal, state.running) = (1000.0, 0.1, 0.1);
    state.enter(Phase::Cruising, 1.0);
    state
}

fn ack(rtt: Span, marked: u32) -> Ack {
    Ack {
        now: Span::from_secs(1).after_start(),
        rtt: Some(rtt),
        one_way: None,
        acked: 1,
        delivered: 100,
        resent: 0,
        marked,
        credit: 1.0,
        limited: false,
        una: 100,
        next: 200,
        in_flight: 100,
        recovering: false,
    }
}

#[test]
fn sensitivity_is_linear_between_the_rates_of_the_draft() {
    for (rate, wanted) in
        [(0.0, 0.0), (50e3, 0.0), (525e3, 0.46), (1e6, 0.92), (5.5e6, 0.96), (10e6, 1.0), (1e9, 1.0)]
    {
        assert!((sensitivity(rate) - wanted).abs() < 1e-12, "{rate}: {}", sensitivity(rate));
    }
}

#[test]
fn a_round_trip_beyond_the_margin_reduces_in_proportion_to_at_most_a_quarter() {
    // s = 0.92: d = (1/16 + 0.08 · 3/16) 100 ms = 7.75 ms.
    for (millis, micros, left) in [(107, 700, 1000.0), (108, 525, 900.0), (120, 0, 750.0)] {
        let mut state = cruising();
        let rtt = Span::from_millis(millis) + Span::from_micros(micros);
        let signal = state.signal(&ack(rtt, 0), &Sample { newly: 1.0, ..Sample::default() });
        if let Some(signal) = signal {
            state.answer(signal);
        }
        assert!((state.rate - left).abs() < 1e-6, "{rtt:?}: {}", state.rate);
        assert_eq!(state.phase, if left < 1000.0 { Phase::Recovery } else { Phase::Cruising });
    }
}

#[test]
fn losses_count_when_more_than_six_percent_of_packets_are_lost() {
    // l = 0.02 + 0.08 / 2 = 0.06; one loss makes 1/16 of a share that was nothing.
    let mut state = cruising();
    let lost = Sample { newly: 1.0, lost: 1.0, ..Sample::default() };
    let rtt = Span::from_millis(100);
    assert_eq!(state.signal(&ack(rtt, 0), &lost), Some(Signal::Loss));
    state.answer(Signal::Loss);
    assert_eq!(state.rate, 750.0);
    // Below 50 kB/s l = 0.52, and 1 - (15/16)^12 = 0.539 is the first share beyond it.
    let mut slow = cruising();
    slow.rate = 50.0;
    let lost = Sample { lost: 1.0, ..Sample::default() };
    let losses = (0..20).take_while(|_| slow.signal(&ack(rtt, 0), &lost).is_none()).count();
    assert_eq!(losses, 11);
}

#[test]
fn marks_count_beyond_a_tenth_and_reduce_by_their_excess() {
    // e = (2 - 0.92) 3/32 = 0.10125.
    let mut state = cruising();
    assert!((state.mark_threshold() - 0.10125).abs() < 1e-12);
    let sample = Sample { newly: 1.0, ..Sample::default() };
    let rtt = Span::from_millis(100);
    // A marked packet alone in its acknowledgement is a share of one, at once.
    let Some(Signal::Marks(excess)) = state.signal(&ack(rtt, 1), &sample) else { panic!("no signal") };
    assert!((excess - (1.0 - 0.10125) / 0.10125).abs() < 1e-9);
    state.answer(Signal::Marks(0.1));
    assert_eq!(state.rate, 900.0);
}

#[test]
fn the_nominal_round_trip_rises_at_once_and_falls_by_eighths() {
    let mut state = cruising();
    let era = |least: f64, greatest: f64| Era { least, greatest, rate: 1000.0, limited: false };
    state.learn(era(0.08, 0.14));
    assert_eq!((state.running, state.nominal), (0.08, 0.14));
    state.learn(era(0.16, 0.10));
    assert!((state.running - 0.09).abs() < 1e-12 && (state.nominal - 0.135).abs() < 1e-12);
    // No more than 250 ms above the running least.
    state.learn(era(0.09, 1.0));
    assert!((state.nominal - 0.34).abs() < 1e-12, "{}", state.nominal);
}

#[test]
fn pushes_are_gentle_until_one_succeeds_and_three_successes_start_over() {
    let mut state = cruising();
    for (alpha, rate) in [(17.0 / 16.0, 1001.0), (1.25, 1001.0 * 1.07), (1.25, 1001.0 * 1.07 * 1.07)] {
        state.begin_push();
        assert!((state.alpha - alpha).abs() < 1e-12, "{}", state.alpha);
        state.rate = rate;
        state.turn();
        assert_eq!((state.phase, state.alpha), (Phase::Recovery, 15.0 / 16.0));
        state.turn();
    }
    assert_eq!((state.phase, state.alpha), (Phase::Initial, 2.0));
    // By 5/4 the rate must rise by more than a sixteenth.
    let mut state = cruising();
    (state.successes, state.rate) = (1, 1000.0);
    state.begin_push();
    state.rate = 1062.0;
    state.turn();
    state.turn();
    assert_eq!((state.phase, state.successes), (Phase::Cruising, 0));
}

#[test]
fn alone_it_fills_the_link_and_keeps_a_short_queue() {
    let mut path = path();
    seconds(&mut path, 5);
    let before = path.delivered;
    let mut most = 0.0_f64;
    path.until(|path| {
        most = most.max(path.queue());
        path.now >= Span::from_secs(25).after_start()
    });
    let share = (path.delivered - before) as f64 / 20_000.0;
    assert!(share > 0.95, "{share}");
    // A push of an era adds a sixteenth of 100 packets.
    assert!(most < 20.0, "{most}");
}

#[test]
fn the_initial_state_doubles_and_ends_three_eras_after_the_link_is_full() {
    let mut path = path();
    path.until(|path| path.controller.0.phase != Phase::Initial);
    let state = &path.controller.0;
    assert!((950.0..1050.0).contains(&state.rate), "{}", state.rate);
    // 10, 20, 40, 80 packets and full after four round trips.
    let trips = path.now.as_secs_f64() / 0.1;
    assert!((6.0..16.0).contains(&trips), "{trips}");
}

#[test]
fn a_timeout_changes_nothing() {
    let mut c4 = C4(Box::new(cruising()));
    let before = c4.control();
    c4.on_timeout(&Timeout { now: Span::from_secs(2).after_start(), flight: 100.0, reported: false, next: 300 });
    assert_eq!(c4.control(), before);
}

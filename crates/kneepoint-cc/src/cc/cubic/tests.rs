// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests of the equations and of the eras.

use super::super::tests::Trace;
use super::*;

pub(super) fn avoiding(window: f64, params: Params) -> Trace<Cubic> {
    Trace::new(Cubic::new(params, Start::avoiding(window)))
}

/// Acknowledges evenly, a window per round trip, until `span` has passed; the window then.
pub(super) fn run(trace: &mut Trace<Cubic>, span: Span) -> f64 {
    let end = trace.now + span;
    while trace.now < end {
        trace.ack(Span((trace.rtt.0 as f64 / trace.window()) as u64));
    }
    trace.window()
}

#[test]
fn the_window_function_has_the_numbers_of_the_equations() {
    // A loss at 1000 packets leaves 700: K = cbrt(300 / 0.4) = 9.0856 s.
    let k = libm::cbrt(300.0 / 0.4);
    assert!((k - 9.0856).abs() < 1e-4);
    let at = |t| cubic_window(0.4, t, k, 1000.0);
    assert!((at(0.0) - 700.0).abs() < 1e-9);
    assert_eq!(at(k), 1000.0);
    assert!((at(k + 5.0) - 1050.0).abs() < 1e-9);
    assert!((at(k - 5.0) - 950.0).abs() < 1e-9);
}

#[test]
fn a_loss_leaves_70_percent_and_the_window_returns_after_k() {
    let mut trace = avoiding(1000.0, Params::default());
    trace.loss();
    assert!((trace.window() - 700.0).abs() < 1e-9);
    let returned = run(&mut trace, Span::from_secs_f64(9.0856));
    assert!((trace.controller.epoch.unwrap().k - 9.0856).abs() < 1e-4);
    assert!((returned - 1000.0).abs() < 1.0, "{returned}");
    // Five seconds beyond K: 1000 + 0.4 · 5³ = 1050; the window chases a target one round trip ahead.
    let beyond = run(&mut trace, Span::from_secs(5));
    assert!((beyond - 1050.0).abs() < 2.0, "{beyond}");
}

#[test]
fn time_stands_still_while_the_window_does_not_limit() {
    let mut trace = avoiding(1000.0, Params::default());
    trace.loss();
    run(&mut trace, Span::from_secs(1));
    let began = trace.controller.epoch.unwrap().began;
    trace.now += Span::from_secs(30);
    let idle = Ack {
        now: trace.now,
        rtt: Some(trace.rtt),
        one_way: None,
        acked: 1,
        delivered: trace.una,
        resent: 0,
        marked: 0,
        credit: 0.0,
        limited: true,
        una: trace.una,
        next: trace.una,
        in_flight: 1,
        recovering: false,
    };
    trace.controller.on_ack(&idle, &mut Rng::stream(1, "unused", 0));
    assert_eq!(trace.controller.epoch.unwrap().began, began + Span::from_secs(30));
}

#[test]
fn a_short_path_is_renos() {
    // 20 packets over 10 ms: a = 3 · 0.3 / 1.7 = 0.5294 packets a round trip from 14; the cubic adds less.
    let mut trace = avoiding(20.0, Params::default());
    trace.rtt = Span::from_millis(10);
    trace.loss();
    assert!((trace.controller.reno_gain - 0.5294).abs() < 1e-4);
    for _ in 0..10 {
        trace.round_trip();
    }
    assert!((trace.window() - (14.0 + 10.0 * 0.5294)).abs() < 0.4, "{}", trace.window());
    assert_eq!(trace.window(), trace.controller.epoch.unwrap().reno);
    let alone = Params { reno_friendly: false, ..Params::default() };
    let mut slower = avoiding(20.0, alone);
    slower.rtt = Span::from_millis(10);
    slower.loss();
    for _ in 0..10 {
        slower.round_trip();
    }
    assert!(slower.window() < 16.0, "{}", slower.window());
}

#[test]
fn a_second_loss_at_a_smaller_window_gives_way() {
    let mut trace = avoiding(1000.0, Params::default());
    trace.loss();
    trace.loss();
    // 700 (1 + 0.7) / 2.
    assert!((trace.controller.w_max - 595.0).abs() < 1e-9);
    assert!((trace.window() - 490.0).abs() < 1e-9);
}

#[test]
fn after_a_timeout_avoidance_starts_at_its_origin() {
    let mut trace = avoiding(100.0, Params::default());
    trace.timeout();
    assert_eq!((trace.window(), trace.controller.window.ssthresh), (1.0, 70.0));
    while trace.controller.epoch.is_none() {
        trace.ack(Span::from_millis(1));
    }
    let epoch = trace.controller.epoch.unwrap();
    assert_eq!((epoch.k, epoch.origin), (0.0, 70.0));
}

#[test]
fn the_host_chooses_the_era_unless_it_is_named() {
    let linux = Start { version: Version::Linux, ..Start::avoiding(10.0) };
    let era = |era, start| Cubic::new(Params { era, ..Params::default() }, start).era;
    assert_eq!(era(Era::Auto, Start::avoiding(10.0)), Era::Rfc9438);
    assert_eq!(era(Era::Auto, linux), Era::Linux);
    assert_eq!(era(Era::Rfc9438, linux), Era::Rfc9438);
    assert_eq!(era(Era::Linux, Start::avoiding(10.0)), Era::Linux);
}

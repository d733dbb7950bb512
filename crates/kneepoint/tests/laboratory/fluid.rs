// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Fluid models against the numbers of "Emulating AQM from End Hosts" (§§5, 6) and of its equations.

use kneepoint::fluid::axis::ParameterAxis;
use kneepoint::fluid::boundary::boundary;
use kneepoint::fluid::design::{Goal, design};
use kneepoint::fluid::linear::{C64, size};
use kneepoint::fluid::theorem::{self, Bottleneck, Theorem};
use kneepoint::fluid::{Any, Config, REGISTRY, State, margins};
use kneepoint::settings::Raw;

fn config(name: &str, settings: &str) -> Config {
    let mut config = Config::named(name).unwrap();
    for (key, value) in settings.split_whitespace().filter_map(|pair| pair.split_once('=')) {
        config.set(key, &Raw::guess(value)).unwrap_or_else(|why| panic!("{key}: {why:?}"));
    }
    config.check().unwrap();
    config
}

fn model(name: &str, settings: &str) -> Any {
    config(name, settings).build()
}

fn close(got: f64, expected: f64, within: f64, what: &str) {
    assert!((got - expected).abs() <= within, "{what}: {got}, expected {expected} ± {within}");
}

/// Figure 13 (b)-(d) and beyond: W*, p*, Tq*, and the left side of (11).
#[test]
fn figure_13_rests_where_equation_9_says_and_theorem_1_has_its_two_sides() {
    for (rtt, window, probability, delay, left) in [
        (100, 2.0, 0.5, 0.3, 0.2),
        (160, 3.2, 0.1953125, 0.14765625, 0.8192),
        (171, 3.42, 0.170993, 0.135496, 1.00004),
        (175, 3.5, 0.163265, 0.131633, 1.0719),
    ] {
        let model = model("pert", &format!("rtt={rtt}ms"));
        let rest = model.local().unwrap().equilibrium;
        close(rest.state[0], window, 1e-9, "W*");
        close(rest.probability, probability, 1e-6, "p*");
        close(rest.state[1], delay, 1e-6, "Tq*");
        let theorem = model.theorem();
        close(theorem.left, left, 5e-5, "left side");
        close(theorem.right, 1.00001, 5e-5, "right side");
        assert_eq!(theorem.holds(), rtt < 171);
        // Every point of the figure rests above pmax = 0.1.
        assert!(theorem.assumptions.iter().all(|(_, holds)| !holds));
    }
}

#[test]
fn the_rightmost_modes_of_figure_13_are_known() {
    for (rtt, re, im) in [(160, -0.174, 4.498), (171, 0.136, 4.369)] {
        let local = model("pert", &format!("rtt={rtt}ms")).local().unwrap();
        close(local.mode().re, re, 5e-4, "real part");
        close(local.mode().im, im, 5e-4 + 1e-12, "imaginary part");
        assert_eq!(local.stable(), rtt == 160);
    }
    let at = |rtt: u32| model("pert", &format!("rtt={rtt}ms")).local().unwrap();
    assert!(!at(100).oscillates() && !at(105).oscillates() && at(110).oscillates());
}

fn rtt_axis() -> ParameterAxis {
    "rtt=20ms..1000ms:40:log".parse().unwrap()
}

#[test]
fn the_boundary_moves_down_with_the_sampling_interval_while_the_theorem_moves_up() {
    // δ in ms: equation (14), the same with W(t - R) = W(t), Theorem 1.
    for (delta, exact, same_window, theorem) in [
        ("0.001ms", 168.213, 175.625, 170.998),
        ("0.1ms", 165.825, 172.744, 170.998),
        ("1ms", 152.561, 155.051, 171.031),
        ("10ms", 140.326, 133.650, 173.949),
        ("100ms", 138.631, 130.034, 223.412),
        ("1s", 138.460, 129.657, 346.727),
    ] {
        let pert = boundary(&config("pert", &format!("delta={delta}")), &rtt_axis()).unwrap();
        close(pert.unstable.unwrap().at, exact, 1e-3, delta);
        close(pert.theorem.unwrap().at, theorem, 1e-3, delta);
        let mode = pert.mode.unwrap();
        assert!(mode.re.abs() < 1e-4 * mode.im, "{mode}");
        let same =
            boundary(&config("pert", &format!("delta={delta} window_delayed=false")), &rtt_axis()).unwrap();
        close(same.unstable.unwrap().at, same_window, 1e-3, delta);
    }
}

#[test]
fn a_hundred_milliseconds_come_to_rest_without_a_turn() {
    let model = model("pert", "rtt=100ms");
    let path = model.run(model.start(), 20.0).unwrap();
    assert_eq!(path.extrema(0, 0.0, 10.0), []);
    close(path.at(20.0)[0], 2.0, 1e-9, "x1");
    close(path.at(20.0)[1], 0.3, 1e-9, "x2");
}

#[test]
fn a_hundred_and_sixty_milliseconds_swing_and_come_to_rest() {
    let model = model("pert", "rtt=160ms");
    let path = model.run(model.start(), 5.5).unwrap();
    let turns = path.extrema(0, 0.0, 5.5);
    let expected = [(2.25, 4.232), (2.83, 2.426), (3.64, 3.934), (4.25, 2.623), (5.03, 3.745)];
    assert_eq!(turns.len(), expected.len(), "{turns:?}");
    for ((at, value), (printed_at, printed)) in turns.iter().zip(expected) {
        close(*at, printed_at, 5e-3, "instant");
        close(*value, printed, 5e-4, "extremum");
    }
}

#[test]
fn beyond_the_boundary_the_swing_stays_and_grows_with_the_round_trip_time() {
    for (settings, x1, x2) in [
        ("rtt=171ms", (1.915, 5.436), Some((0.0466, 0.2751))),
        ("rtt=175ms", (1.521, 6.369), None),
        ("rtt=180ms", (1.166, 7.400), None),
        ("rtt=175ms window_delayed=false", (2.478, 5.016), None),
    ] {
        let model = model("pert", settings);
        let path = model.run(model.start(), 120.0).unwrap();
        let (least, most) = path.range(0, 100.0);
        close(least, x1.0, 2e-3, settings);
        close(most, x1.1, 2e-3, settings);
        if let Some(x2) = x2 {
            let delay = path.range(1, 100.0);
            close(delay.0, x2.0, 1e-4, settings);
            close(delay.1, x2.1, 1e-4, settings);
        }
    }
}

#[test]
fn with_one_window_for_two_171_milliseconds_decay_as_published() {
    let swing = |settings: &str, from: f64| {
        let model = model("pert", settings);
        let path = model.run(model.start(), from + 5.0).unwrap();
        let (least, most) = path.range(0, from);
        most - least
    };
    let settings = "rtt=171ms window_delayed=false";
    assert!(swing(settings, 60.0) < 0.5 * swing(settings, 30.0));
}

/// Figure 13 (a).
fn figure_13a(flows: f64) -> (Bottleneck, f64) {
    let at = Bottleneck { capacity: 1000.0, flows, rtt: 0.2, decrease: 0.5 };
    (at, theorem::least_interval(at, 2.0, 0.99))
}

#[test]
fn equation_13_gives_the_sampling_intervals_of_figure_13a() {
    for (flows, delta) in [
        (1.0, 8040.27),
        (2.0, 1005.03),
        (5.0, 64.321),
        (10.0, 8.0378),
        (20.0, 1.0000),
        (30.0, 0.29015),
        (40.0, 0.11514),
        (45.0, 0.076091),
        (50.0, 0.050211),
    ] {
        let (at, least) = figure_13a(flows);
        close(least / delta, 1.0, 1e-5, "δ");
        // There, and only from there on, (11) holds.
        let holds =
            |interval: f64| -> Theorem { theorem::theorem1(at, 2.0, libm::log(0.99) / interval, 0.1) };
        assert!(holds(1.0001 * least).holds() && !holds(0.9999 * least).holds());
    }
    close(figure_13a(41.7).1, 0.1, 1e-3, "δ at 41.7 flows");
    // A sufficiently wide slope needs no average at all.
    assert_eq!(theorem::least_interval(figure_13a(50.0).0, 0.01, 0.99), 0.0);
}

#[test]
fn equation_15_is_equation_11_at_a_window_of_two_or_more() {
    let at = Bottleneck { capacity: 100.0, flows: 5.0, rtt: 0.16, decrease: 0.5 };
    for k in [-100.5, -0.3, -0.01] {
        let theorem = theorem::theorem1(at, 2.0, k, 0.1);
        let (left, right) = theorem::scalable(at, 2.0, k);
        close(left, 4.0 * theorem.left, 1e-12, "left");
        close(right, 4.0 * theorem.right, 1e-9 * right, "right");
    }
}

/// The loop that the theorems are about: the plant of Hollot et al. behind the controller.
fn theorems_margin(at: Bottleneck, controller: impl Fn(C64) -> C64) -> f64 {
    let gain = |frequency: f64| {
        let s = C64::new(0.0, frequency);
        theorem::plant(at, s) * controller(s)
    };
    margins::margins(gain, at.rtt).phase.unwrap().0
}

#[test]
fn the_intervals_of_figure_13a_are_stable_on_the_theorems_plant_and_unstable_in_equation_14() {
    for (flows, own, plant) in [
        (5.0, -51.6, 84.1),
        (10.0, -44.7, 84.6),
        (20.0, -37.4, 87.8),
        (30.0, -32.7, 94.0),
        (40.0, -28.8, 103.5),
        (50.0, -25.3, 117.6),
    ] {
        let (at, delta) = figure_13a(flows);
        let k = libm::log(0.99) / delta;
        close(
            theorems_margin(at, |s| C64::from(2.0) / (C64::from(1.0) - s / k)),
            plant,
            0.06,
            "the plant's margin",
        );
        let settings = format!("capacity=1000pps rtt=200ms flows={flows} delta={delta}s");
        let local = model("pert", &settings).local().unwrap();
        close(local.margins().phase.unwrap().0, own, 0.06, "the model's margin");
        assert!(!local.stable());
    }
}

#[test]
fn theorem_2_holds_on_its_plant_and_not_in_equation_8() {
    for (capacity, flows, rtt, own, plant) in [
        (100.0, 5.0, 100, -91.4, -12.3),
        (100.0, 5.0, 160, -55.7, 22.2),
        (1000.0, 40.0, 200, -39.5, 45.3),
        (3750.0, 60.0, 246, -20.9, 75.1),
        (18750.0, 50.0, 60, -17.2, 79.8),
    ] {
        let at = Bottleneck { capacity, flows, rtt: f64::from(rtt) / 1e3, decrease: 0.5 };
        let (k, m) = theorem::pi_gains(at);
        close(theorems_margin(at, |s| k * (s / m + 1.0) / s), plant, 0.06, "the plant's margin");
        let settings = format!("capacity={capacity}pps flows={flows} rtt={rtt}ms variable_rtt=false");
        let constant = model("pert-pi", &settings);
        let local = constant.local().unwrap();
        close(local.margins().phase.unwrap().0, own, 0.06, "the model's margin");
        assert!(!local.stable() && constant.theorem().holds());
        // With the queue in the round-trip time the theorem speaks of this model, where its W* >> 2 is true.
        let varies = model("pert-pi", &format!("{settings} variable_rtt=true target=0ms"));
        assert_eq!(varies.local().unwrap().stable(), at.window() > 2.0);
    }
}

#[test]
fn the_design_of_hollot_et_al_has_its_published_gains_and_is_stable_with_their_margin() {
    let at = Bottleneck { capacity: 3750.0, flows: 60.0, rtt: 0.246, decrease: 0.5 };
    let (k, z) = theorem::pi_gains(at);
    close(z, 0.5288, 5e-5, "z");
    close(k / 3750.0, 9.78e-6, 5e-9, "K per packet");
    // At 160 Hz, a = K/z + K/320 and b = K/z - K/320.
    let (k, half) = (k / 3750.0, k / 3750.0 / 320.0);
    close(k / z + half, 1.853e-5, 5e-9, "a");
    close(k / z - half, 1.847e-5, 5e-9, "b");
    let model = model("tcp-pi", "");
    let local = model.local().unwrap();
    assert!(model.theorem().holds() && local.stable() && local.margins().phase.unwrap().0 > 75.0);
}

/// Settings of every model, some of them unstable.
const CASES: [(&str, &str); 8] = [
    ("pert", ""),
    ("pert", "rtt=171ms"),
    ("pert", "capacity=1000pps flows=20 rtt=60ms delta=20ms variable_rtt=true shape=gentle"),
    ("pert-pi", "gain=2"),
    ("pert-pi", "gain=3"),
    ("tcp-red", ""),
    ("tcp-red", "weight=0.001"),
    ("tcp-pi", "gain=0.0002"),
];

#[test]
fn a_small_deviation_moves_as_the_rightmost_mode_says() {
    for entry in REGISTRY {
        assert!(CASES.iter().any(|(name, _)| *name == entry.name), "{} has no case", entry.name);
    }
    for (name, settings) in CASES {
        let model = model(name, settings);
        let local = model.local().unwrap();
        let rest = local.equilibrium.state;
        let start: State = [rest[0] * (1.0 + 1e-6), rest[1], rest[2]];
        // So late that the next mode has died out; such small deviations do not notice the nonlinearity.
        let mode = local.mode();
        let (life, gap) = (1.0 / mode.re.abs(), mode.re - local.modes[1].re);
        // The greatest deviation of two windows of one swing each, a whole number of swings apart.
        let swing = if mode.im > 0.0 { std::f64::consts::TAU / mode.im } else { life };
        let (begin, length) = (5.0 / gap, (3.0 * life / swing).ceil() * swing);
        let path = model.run(start, begin + length + swing).unwrap();
        let greatest = |from: f64| {
            let window = path.steps().filter(|(at, _)| (from..=from + swing).contains(at));
            window.map(|(_, state)| (state[0] / rest[0] - 1.0).abs()).fold(0.0, f64::max)
        };
        let rate = libm::log(greatest(begin + length) / greatest(begin)) / length;
        close(rate / mode.re, 1.0, 0.02, &format!("{name} {settings}, {:?}", local.modes));
    }
}

#[test]
fn a_design_meets_its_goal_at_its_ends_and_not_beyond() {
    let base = config("tcp-pi", "");
    let knob = base.build().knobs()[0];
    let goal = Goal { phase: 45.0, ..Goal::STABLE };
    let design = design(&base, ParameterAxis::of(&knob, 30).unwrap(), goal).unwrap();
    let [(_, most)] = design.exact[..] else { panic!("{design:?}") };
    let phase =
        |gain: f64| design.axis.set(&base, gain).unwrap().build().local().unwrap().margins().phase.unwrap().0;
    close(phase(most), 45.0, 1e-3, "margin at the greatest gain");
    assert!(phase(1.1 * most) < 45.0);
    // The gain of Hollot et al. leaves 75 degrees.
    let [(_, theorem)] = design.theorem[..] else { panic!("{design:?}") };
    assert!(theorem < most);
    assert!(phase(theorem) > 70.0);
}

#[test]
fn larger_intervals_only_destabilise_equation_14_whatever_the_theorem_asks_for() {
    let base = config("pert", "rtt=165ms");
    let knob = base.build().knobs()[0];
    let design = design(&base, ParameterAxis::of(&knob, 30).unwrap(), Goal::STABLE).unwrap();
    let [(least, most)] = design.exact[..] else { panic!("{design:?}") };
    assert!(least == 0.001 && (0.1..0.2).contains(&most), "{design:?}");
    // (11) holds at 165 ms for every δ; p* <= pmax for none.
    assert_eq!(design.theorem, [(0.001, design.axis.at(1.0))]);
    assert_eq!(design.assumed, []);
}

#[test]
fn what_figure_13a_asks_for_at_40_flows_is_unstable() {
    let base = config("pert", "capacity=1000pps rtt=200ms flows=40");
    let knob = base.build().knobs()[0];
    let design = design(&base, ParameterAxis::of(&knob, 30).unwrap(), Goal::STABLE).unwrap();
    close(design.theorem[0].0, 115.14, 0.01, "δ of (13)");
    assert!(design.exact.iter().all(|(_, most)| *most < 115.0), "{design:?}");
}

#[test]
fn what_cannot_rest_says_so() {
    let why = model("pert", "rtt=10ms shape=gentle").local().unwrap_err();
    assert!(why.contains("0.200 packets"), "{why}");
    assert!(model("pert-pi", "flows=5000 clipped=true").local().unwrap_err().contains("no equilibrium"));
    let wrong = boundary(&config("pert", ""), &"rt=1ms..2ms".parse().unwrap()).unwrap_err();
    assert!(wrong.contains("no parameter `rt`"), "{wrong}");
    assert!(size(C64::new(3.0, 4.0)) == 5.0);
}

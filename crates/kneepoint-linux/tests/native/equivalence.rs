// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The kernel's controllers, in C and fixed point, against the laboratory's: the same signals and draws, window by window.
//!
//! Parameters are whole multiples of 2^-32, so that both have the same. A trace that makes them diverge is shortened as far as
//! possible, and printed for `knee replay`.

use kneepoint::cc::Config;
use kneepoint::rng::Rng;
use kneepoint::settings::{Assign, Raw};
use kneepoint::units::{Span, Time};
use kneepoint_linux::native::recording::Recorder;
use kneepoint_linux::native::replay::{
    Laboratory, MACHINES, Machine, TOLERANCE, Verdict, compare, compare_steps, play,
};
use kneepoint_linux::native::trace::{Heard, Signal, Step, write};
use kneepoint_linux::native::{Twin, names, product, quotient, rounded};

/// Random traces of each controller.
const TRACES: u64 = 5000;
/// Draws and delays so close to a threshold that either decision is right, in all those traces.
const UNDECIDED: usize = 3;

/// Traces whose windows diverge only by amplified rounding.
const STEPWISE: usize = 100;

/// A path and its possible events.
struct Weather {
    base: f64,
    buffer: f64,
    /// Acknowledgements per loss, and per timeout.
    loss: f64,
    timeout: f64,
    delayed: u64,
    samples: f64,
}

/// A sender on a path of random delays, whose window is the laboratory's.
struct Sender {
    machine: Laboratory,
    rng: Rng,
    steps: Vec<Step>,
    now: u64,
    una: u64,
    next: u64,
    repaired: u64,
}

impl Sender {
    fn step(&mut self, signal: Signal) {
        let step = Step { at: Time(self.now), signal };
        self.machine.hear(&step);
        self.steps.push(step);
        self.next = self.next.max(self.una + self.machine.window() as u64);
    }

    fn below(&mut self, chance: f64) -> bool {
        self.rng.uniform() < chance
    }
}

/// A trace of about `length` steps.
fn trace(config: &Config, seed: u64, length: usize) -> Vec<Step> {
    let mut rng = Rng::stream(seed, "trace", 0);
    let weather = Weather {
        base: 1e6 * rng.exponential(30.0) + 5e5,
        buffer: 1e6 * rng.exponential(40.0) + 2e6,
        loss: 10.0 + rng.exponential(400.0),
        timeout: 50.0 + rng.exponential(3000.0),
        delayed: 1 + rng.below(3),
        samples: if rng.chance(0.8) { 1.0 } else { 0.7 },
    };
    // Sequence numbers of C have 32 bits: every other trace begins near their end.
    let first = if seed.is_multiple_of(2) { 0 } else { u64::from(u32::MAX) - rng.below(2000) };
    let machine = Laboratory::new(config);
    let mut sender =
        Sender { machine, rng, steps: vec![], now: 1_000_000, una: first, next: first, repaired: first };
    let window = 1.0 + sender.rng.below(20) as f64;
    sender.step(Signal::Open { window });
    if sender.below(0.5) {
        let flight = 2.0 * window + sender.rng.below(100) as f64;
        sender.step(Signal::Loss { flight, una: first, next: first });
    }
    let (mut queue, mut drift) = (0.0, 0.0);
    while sender.steps.len() < length {
        // A queue that rises and falls for a while, between empty and full.
        if sender.below(0.005) {
            drift = weather.buffer * (sender.rng.uniform() - 0.45) / 300.0;
        }
        let noise = weather.buffer * (sender.rng.uniform() - 0.5) / 50.0;
        queue = (queue + drift + noise).clamp(0.0, weather.buffer);
        acknowledge(&mut sender, &weather, queue);
    }
    sender.steps
}

fn acknowledge(sender: &mut Sender, weather: &Weather, queue: f64) {
    let rtt = (weather.base + queue) as u64;
    let window = sender.machine.window();
    sender.now += (rtt as f64 * sender.rng.uniform() * 2.0 / window) as u64;
    let recovering = sender.una < sender.repaired;
    let flight = sender.next - sender.una;
    if !recovering && sender.below(1.0 / weather.loss) {
        sender.repaired = sender.next;
        let (una, next) = (sender.una, sender.next);
        sender.step(Signal::Loss { flight: window.max(1.0), una, next });
        return;
    }
    if sender.below(1.0 / weather.timeout) {
        sender.now += 200_000_000 + rtt;
        sender.repaired = sender.next;
        sender.step(Signal::Timeout {
            flight: (flight as f64).max(1.0),
            next: sender.next,
            reported: recovering,
        });
        return;
    }
    if sender.below(0.01) {
        let rate = 1.5 * window * 1e9 / rtt as f64 * sender.rng.uniform() + 0.1;
        sender.step(Signal::Advice { rate });
        return;
    }
    let stretch = if sender.below(0.01) { 20 } else { weather.delayed };
    // Duplicates acknowledge nothing.
    let acked = if recovering && sender.below(0.5) { 0 } else { (1 + sender.rng.below(stretch)).min(flight) };
    sender.una += acked;
    let repairing = sender.una < sender.repaired;
    let limited = sender.below(0.05);
    let heard = Heard {
        rtt: sender.below(weather.samples).then_some(Span(rtt)),
        acked: acked as u32,
        credit: if repairing || limited { 0 } else { acked as u32 },
        una: sender.una,
        next: sender.next,
        in_flight: (sender.next - sender.una) as u32,
        recovering: repairing,
        draw: sender.rng.uniform(),
        delivered: sender.una,
        resent: 0,
        limited: false,
    };
    sender.step(Signal::Ack(heard));
}

/// The defaults, or random parameters that C has, too.
fn config(name: &str, seed: u64) -> Config {
    let default = Config::named(name).unwrap();
    let mut rng = Rng::stream(seed, "parameters", 0);
    if rng.chance(0.4) {
        return rounded(&default).unwrap();
    }
    // Agreement is a matter of several parameters.
    std::iter::repeat_with(|| random(&default, &mut rng)).find(|config| config.agree().is_ok()).unwrap()
}

fn random(default: &Config, rng: &mut Rng) -> Config {
    let mut config = default.clone();
    let twin = Twin::new(default).unwrap();
    let parameters = twin.defaults().map(|(name, ..)| name).collect::<Vec<_>>();
    for name in parameters {
        if rng.chance(0.5) {
            continue;
        }
        let text = config.get(name).unwrap();
        let raw = if let Ok(flag) = text.parse::<bool>() {
            Raw::Bool(flag ^ rng.chance(0.5))
        } else if let Ok(number) = text.parse::<f64>() {
            Raw::Float(number * (0.5 + rng.uniform()))
        } else {
            let span = text.parse::<Span>().unwrap().0.max(2_000_000);
            Raw::Text(Span((span as f64 * (0.5 + rng.uniform())) as u64).to_string())
        };
        // Values out of range stay.
        let _ = config.set(name, &raw);
    }
    rounded(&config).unwrap()
}

fn machines(config: &Config) -> Vec<Box<dyn Machine>> {
    MACHINES.iter().map(|(_, make)| make(config).unwrap()).collect()
}

fn parts(config: &Config, steps: &[Step]) -> Option<usize> {
    match compare(config, &mut machines(config), steps) {
        Verdict::Part(place) => Some(place),
        Verdict::Agree(_) | Verdict::Undecided(_) => None,
    }
}

/// Fewer steps that still make them differ: pieces are removed as long as that works, and then smaller ones.
fn shrunk(config: &Config, steps: &[Step]) -> Vec<Step> {
    let mut left = steps.to_vec();
    let (mut piece, mut tries) = (left.len() / 2, 2000);
    while piece > 0 && tries > 0 {
        let mut from = 1;
        while from < left.len() && tries > 0 {
            let without = [&left[..from], &left[(from + piece).min(left.len())..]].concat();
            match parts(config, &without) {
                Some(place) => left = without[..=place].to_vec(),
                None => from += piece,
            }
            tries -= 1;
        }
        piece /= 2;
    }
    left
}

/// The settings that are not the defaults.
fn spelled(config: &Config) -> String {
    let defaults = Config::named(config.name()).unwrap();
    let set = config.declared().iter().map(|field| (field.name, config.get(field.name).unwrap()));
    let other = set.filter(|(name, value)| defaults.get(name).as_ref() != Some(value));
    let other = other.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>();
    if other.is_empty() {
        config.name().to_string()
    } else {
        format!("{}:{}", config.name(), other.join(","))
    }
}

/// The verdict, or a message with the shortest trace found.
fn judge(config: &Config, steps: &[Step], origin: &str) -> Verdict {
    let verdict = compare(config, &mut machines(config), steps);
    if let Verdict::Part(place) = verdict {
        let short = shrunk(config, &steps[..=place]);
        let windows = play(&mut machines(config), &short);
        let last = &windows[windows.len().saturating_sub(3)..];
        let (place, settings) = (place + 1, spelled(config));
        panic!(
            "{origin}: they part at step {place}, {last:?}: knee replay TRACE --cc {settings}\n{}",
            write(&short)
        );
    }
    verdict
}

#[test]
fn windows_agree_on_random_traces() {
    for name in names() {
        let (mut undecided, mut stepwise, mut greatest) = (0, 0, 0.0_f64);
        for seed in 0..TRACES {
            let config = config(&name, seed);
            let steps = trace(&config, seed, 200 + 10 * (seed % 200) as usize);
            match judge(&config, &steps, &format!("{name}, trace {seed}")) {
                Verdict::Agree(difference) => greatest = greatest.max(difference),
                // Errors are amplified where windows are below two packets and grow fast; each step must still be right.
                _ => match compare_steps(&config, &mut machines(&config), &steps) {
                    Verdict::Agree(_) => stepwise += 1,
                    _ => undecided += 1,
                },
            }
        }
        println!(
            "{name}: {TRACES} traces, {stepwise} of them step by step, {undecided} undecided, greatest difference {greatest:.1e}"
        );
        assert!(undecided <= UNDECIDED, "{name}: {undecided} of {TRACES} traces are undecided");
        assert!(stepwise <= STEPWISE, "{name}: {stepwise} of {TRACES} traces agree only step by step");
        assert!(greatest > 0.0, "{name}: fixed point rounds");
    }
}

#[test]
fn windows_agree_on_recorded_traces() {
    let scenario = |cc: &str, hosts: &str| {
        let text = format!(
            "[run]\nduration = \"40s\"\n[topology]\nkind = \"dumbbell\"\nrate = \"20mbit\"\nbuffer = \"100pkt\"\n\
             [[flows]]\nname = \"long\"\ncount = 4\ncc = \"{cc}\"\nrtt = \"40ms\"\ntcp = {{ preset = \"{hosts}\" }}\n\
             [[flows]]\nname = \"other\"\ncount = 1\ncc = \"reno\"\nrtt = \"60ms\"\nstart = \"15s\"\n"
        );
        kneepoint::scenario::parse(&text).unwrap_or_else(|faults| panic!("{faults:?}")).cases.remove(0).valid
    };
    for name in names() {
        for hosts in ["paper", "linux"] {
            let valid = scenario(if name == "ratcp" { "pert" } else { &name }, hosts);
            let recorder = Recorder::new(&valid, kneepoint::trace::FlowId(0)).unwrap();
            let (recorder, _) = kneepoint::run::run(&valid, 1, recorder);
            let steps = recorder.finish();
            assert!(steps.len() > 500, "{} steps", steps.len());
            let config = rounded(&Config::named(&name).unwrap()).unwrap();
            let verdict = judge(&config, &steps, &format!("{name} on {hosts} hosts"));
            println!("{name} on {hosts} hosts: {} steps, {verdict:?}", steps.len());
            assert!(matches!(verdict, Verdict::Agree(_)), "{name} on {hosts} hosts: {verdict:?}");
        }
    }
}

#[test]
fn defaults_are_the_laboratorys() {
    for name in names() {
        let twin = Twin::new(&Config::named(&name).unwrap()).unwrap();
        for (parameter, here, there) in twin.defaults() {
            assert_eq!(Some(here), there, "{name}: {parameter}");
        }
    }
}

#[test]
fn a_parameter_that_c_does_not_have_is_refused_by_name() {
    let mut config = Config::named("pert").unwrap();
    config.set("signal", &Raw::Text("one-way".into())).unwrap();
    let message = Twin::new(&config).unwrap_err();
    assert!(message.contains("has no `signal`") && message.contains("t1"), "{message}");
    assert!(Twin::new(&Config::named("bbr").unwrap()).unwrap_err().contains("`bbr` is not written in C"));
}

#[test]
fn the_comparison_sees_a_difference_of_ten_millionths() {
    let config = rounded(&Config::named("pert").unwrap()).unwrap();
    let mut other = config.clone();
    other.set("increase", &Raw::Float(1.0 + 1e-4)).unwrap();
    let steps = trace(&config, 1, 2000);
    let mut differing = vec![MACHINES[0].1(&config).unwrap(), MACHINES[1].1(&other).unwrap()];
    assert!(matches!(compare(&config, &mut differing, &steps), Verdict::Part(_)));
}

#[test]
fn arithmetic_is_as_exact_as_it_says() {
    let mut rng = Rng::stream(1, "arithmetic", 0);
    // The same number of each length.
    let mut number = |bits: u64| {
        let length = rng.below(bits);
        (1 << length) | rng.below(1 << length)
    };
    for _ in 0..1_000_000 {
        let (a, b) = (number(52), number(40));
        let exact = ((u128::from(a) * u128::from(b)) >> 32) as u64;
        assert_eq!(product(a, b), exact, "{a} {b}");
        let (over, under) = (number(50), number(50));
        if over / under < 1 << 32 {
            assert_eq!(
                quotient(over, under),
                ((u128::from(over) << 32) / u128::from(under)) as u64,
                "{over} / {under}"
            );
        } else {
            assert_eq!(quotient(over, under), u64::MAX, "{over} / {under}");
        }
    }
    assert_eq!((quotient(1, 0), quotient(0, 1), product(u64::MAX, 1 << 32)), (u64::MAX, 0, u64::MAX));
    const { assert!(TOLERANCE <= 1e-6) };
}

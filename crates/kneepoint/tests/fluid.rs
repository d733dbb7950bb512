// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Fluid models against closed forms, and against the numbers of the papers and of their equations.

use kneepoint::fluid::axis::Axis;
use kneepoint::fluid::boundary::boundary;
use kneepoint::fluid::linear::{C64, Linear};
use kneepoint::fluid::theorem::{self, Bottleneck};
use kneepoint::fluid::{Any, Config, Local, margins, spectrum};
use kneepoint::settings::Raw;

fn set(name: &str, settings: &str) -> Config {
    let mut config = Config::named(name).unwrap();
    for (key, value) in settings.split_whitespace().filter_map(|pair| pair.split_once('=')) {
        config.set(key, &Raw::guess(value)).unwrap_or_else(|why| panic!("{key}: {why:?}"));
    }
    config.check().unwrap();
    config
}

fn model(name: &str, settings: &str) -> Any {
    set(name, settings).build(())
}

#[test]
fn explore() {
    for rtt in ["100ms", "105ms", "110ms", "160ms", "171ms"] {
        let m = model("pert", &format!("rtt={rtt}"));
        let l = m.local().unwrap();
        let t = m.theorem();
        println!("{rtt} {:?} {:?} {:?} L {} R {} {:?}", l.equilibrium, &l.modes[..3.min(l.modes.len())], l.margins(), t.left, t.right, t.assumptions);
    }
    for d in ["1us", "10us", "100us", "1ms", "2ms", "5ms", "10ms", "20ms", "50ms", "100ms", "500ms", "1s"] {
        let axis: Axis = "rtt=1ms..1000ms:60:log".parse().unwrap();
        let a = boundary(&set("pert", &format!("delta={d}")), &axis).unwrap();
        let b = boundary(&set("pert", &format!("delta={d} window_delayed=false")), &axis).unwrap();
        println!("{d} {:?} {:?} {:?} osc {:?} mode {:?}", a.unstable.unwrap().at, b.unstable.unwrap().at, a.theorem.unwrap().at, a.oscillating, a.mode);
    }
    for n in [1, 2, 5, 10, 20, 30, 40, 45, 50] {
        let at = Bottleneck { capacity: 1000.0, flows: n as f64, rtt: 0.2, decrease: 0.5 };
        let delta = theorem::least_interval(at, 2.0, 0.99);
        let c = set("pert", &format!("capacity=1000pps rtt=200ms flows={n} delta={}ns", (delta * 1e9) as u64));
        let l = c.build(()).local().unwrap();
        let k = libm::log(0.99) / delta;
        let hollot = margins::margins(|w| { let s = C64::new(0.0, w); theorem::plant(at, s) * 2.0 / (s / -k + 1.0) }, 0.2);
        let w = set("pert", &format!("window_delayed=false capacity=1000pps rtt=200ms flows={n} delta={}ns", (delta * 1e9) as u64)).build(()).local().unwrap();
        println!("{n} delta {delta} stable {} mode {:?} pm {:?}  W_R=W {:?} hollot {:?}", l.stable(), l.mode(), l.margins(), w.margins().phase, hollot.phase);
    }
    for (c, n, r) in [(100, 5, 100), (100, 5, 160), (1000, 40, 200), (3750, 60, 246), (18750, 50, 60)] {
        let s = format!("capacity={c}pps flows={n} rtt={r}ms variable_rtt=false");
        let l = model("pert-pi", &s).local().unwrap();
        let w = model("pert-pi", &format!("{s} window_delayed=false")).local().unwrap();
        let v = model("pert-pi", &format!("{s} target=0ms variable_rtt=true")).local().unwrap();
        let at = Bottleneck { capacity: c as f64, flows: n as f64, rtt: r as f64 / 1e3, decrease: 0.5 };
        let (k, m) = theorem::pi_gains(at);
        let hollot = margins::margins(|w| { let s = C64::new(0.0, w); theorem::plant(at, s) * k * (s / m + 1.0) / s }, at.rtt);
        println!("PI {c} {n} {r} {:?} {:?} W_R=W {:?} var {:?} hollot {:?} k {k} m {m}", l.margins().phase, l.mode(), w.margins().phase, v.margins(), hollot.phase);
    }
    let l = model("tcp-red", "").local().unwrap(); println!("tcp-red {:?} {:?} {:?}", l.equilibrium, l.modes[0], l.margins());
    let l = model("tcp-pi", "").local().unwrap(); println!("tcp-pi {:?} {:?} {:?}", l.equilibrium, l.modes[0], l.margins());
    let at = Bottleneck { capacity: 3750.0, flows: 60.0, rtt: 0.246, decrease: 0.5 };
    let (k, m) = theorem::pi_gains(at); println!("{} {m}", k / 3750.0);
}
#[test]
fn explore2() {
    for (rtt, end, wd) in [("100ms", 20.0, true), ("160ms", 6.0, true), ("165ms", 60.0, true), ("166ms", 60.0, true), ("171ms", 60.0, true), ("175ms", 60.0, true), ("180ms", 60.0, true), ("171ms", 60.0, false), ("175ms", 60.0, false)] {
        let m = model("pert", &format!("rtt={rtt} window_delayed={wd}"));
        let t = std::time::Instant::now();
        let p = m.run(m.start(), end).unwrap();
        println!("{rtt} {wd} {:?} n={} ext {:?} range x1 {:?} x2 {:?} end {:?}", t.elapsed(), p.steps().count(), p.extrema(0, 0.0, 6.0), p.range(0, end - 10.0), p.range(1, end - 10.0), p.at(end));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The laboratory's queue disciplines in Linux, with the options that `tc` would send.
//!
//! Linux counts in microseconds, and limits most disciplines in packets. A setting that Linux lacks is an error.

use std::fmt::Display;
use std::str::FromStr;

use kneepoint::law::sparing::Rule;
use kneepoint::queue::{Any, Config, Facts, Limit};
use kneepoint::units::{Bytes, Rate, Span};

use super::netlink::attribute;
use crate::fixed::{FINE, FIXED, Format};

/// A discipline of Linux.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Discipline {
    /// Linux's name.
    pub(super) kind: &'static str,
    /// Its options, in the form in which they are sent.
    pub(super) options: Vec<Vec<u8>>,
    /// The point at which it drops and marks.
    pub(super) acts: Acts,
    /// Whether it shapes to the link's rate by itself.
    pub(super) shapes: bool,
}

/// The point at which a discipline drops and marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Acts {
    /// On packets that arrive.
    OnArrival,
    /// On packets that leave next.
    AtHead,
    /// The same, in the queue of each flow.
    AtHeadOfFlow,
}

/// The laboratory's disciplines that the kernel has, and the configuration of each.
const KNOWN: [(&str, Told); 10] = [
    ("droptail", droptail),
    ("codel", codel),
    ("fq-codel", fq_codel),
    ("pie", pie),
    ("fq-pie", fq_pie),
    ("cake", cake),
    ("red", red),
    ("sfq", sfq),
    ("step", step),
    ("pi", pi),
];

type Told = fn(&Config, &Facts) -> Result<Discipline, String>;

/// The number of queues where each flow is to have its own: as many as Linux allows.
const QUEUES: u32 = 65536;
/// The same for FQ-PIE, which updates at most this many flows per tick of the clock; with more flows, each would be
/// updated less often than configured.
const QUEUES_AT_ONCE: u32 = 2048;
/// Longer than any run: a delay that never persists.
const NEVER_US: u32 = 100_000_000;
/// Packets that fit where there is no limit.
const ANY_NUMBER: u32 = 1_000_000;
/// The kernel's count for a packet in memory, whose data alone is 1514 bytes.
const IN_MEMORY: u64 = 2304;

impl Discipline {
    /// Linux's; the error names the missing feature.
    pub(super) fn of(config: &Config, facts: &Facts) -> Result<Discipline, String> {
        let known = KNOWN.iter().find(|(name, _)| *name == config.name());
        let Some((_, told)) = known else {
            let names: Vec<&str> = KNOWN.iter().map(|(name, _)| *name).collect();
            return Err(format!(
                "Linux has no queue discipline `{}`; it has {}",
                config.name(),
                names.join(", ")
            ));
        };
        told(config, facts)
    }
}

fn word(kind: u16, value: u32) -> Vec<u8> {
    attribute(kind, &value.to_ne_bytes())
}

fn micros(span: Span) -> u32 {
    u32::try_from(span.0 / 1000).unwrap_or(u32::MAX)
}

fn packets(facts: &Facts) -> u32 {
    match facts.limit {
        Limit::Packets(packets) => packets,
        Limit::Bytes(bytes) => (bytes.0 / facts.packet.0).clamp(1, u64::from(ANY_NUMBER)) as u32,
        Limit::Unlimited => ANY_NUMBER,
    }
}

/// A parameter in its written form.
fn get<T: FromStr>(config: &Config, name: &str) -> T
where
    T::Err: Display,
{
    let written = config.get(name).unwrap_or_else(|| panic!("{} has a parameter {name}", config.name()));
    written.parse().unwrap_or_else(|error| panic!("{name} is written {written}: {error}"))
}

/// Parameters that Linux does not have keep their defaults, or have `allowed` values.
fn only(config: &Config, allowed: &[(&str, &str)]) -> Result<(), String> {
    for (name, value) in allowed {
        let written: String = get(config, name);
        if written != *value {
            let kind = config.name();
            return Err(format!("Linux's {kind} always has {name} = {value}, and {written} is wanted"));
        }
    }
    Ok(())
}

fn quantum(config: &Config, facts: &Facts) -> u32 {
    match get::<Bytes>(config, "quantum") {
        Bytes(0) => facts.packet.0 as u32,
        bytes => bytes.0 as u32,
    }
}

fn queues(config: &Config, most: u32) -> u32 {
    match get(config, "queues") {
        0 => most,
        queues => queues,
    }
}

fn plain(kind: &'static str, acts: Acts, options: Vec<Vec<u8>>) -> Discipline {
    Discipline { kind, options, acts, shapes: false }
}

fn droptail(_: &Config, facts: &Facts) -> Result<Discipline, String> {
    // struct tc_fifo_qopt
    let (kind, limit) = match facts.limit {
        Limit::Bytes(bytes) => ("bfifo", u32::try_from(bytes.0).unwrap_or(u32::MAX)),
        _ => ("pfifo", packets(facts)),
    };
    Ok(plain(kind, Acts::OnArrival, vec![limit.to_ne_bytes().to_vec()]))
}

fn codel(config: &Config, facts: &Facts) -> Result<Discipline, String> {
    let options = vec![
        word(1, micros(get(config, "target"))),
        word(2, packets(facts)),
        word(3, micros(get(config, "interval"))),
        word(4, get::<bool>(config, "ecn").into()),
    ];
    Ok(plain("codel", Acts::AtHead, options))
}

/// CoDel whose delay never persists, and its threshold beyond which every packet is marked.
fn step(config: &Config, facts: &Facts) -> Result<Discipline, String> {
    only(config, &[("scalable_only", "false")])?;
    let delay = match get::<Span>(config, "delay") {
        Span::ZERO => {
            let packets: u32 = get(config, "threshold");
            Span(facts.rate.time_for(facts.packet).0 * u64::from(packets))
        }
        delay => delay,
    };
    let options = vec![
        word(1, NEVER_US),
        word(2, packets(facts)),
        word(3, NEVER_US),
        word(4, 1),
        word(5, micros(delay)),
    ];
    Ok(plain("codel", Acts::AtHead, options))
}

fn fq_codel(config: &Config, facts: &Facts) -> Result<Discipline, String> {
    let options = vec![
        word(1, micros(get(config, "target"))),
        word(2, packets(facts)),
        word(3, micros(get(config, "interval"))),
        word(4, get::<bool>(config, "ecn").into()),
        word(5, queues(config, QUEUES)),
        word(6, quantum(config, facts)),
    ];
    Ok(plain("fq_codel", Acts::AtHeadOfFlow, options))
}

/// Linux counts PIE's weights in sixteenths.
fn sixteenths(config: &Config, name: &str) -> u32 {
    libm::round(16.0 * get::<f64>(config, name)) as u32
}

fn pie(config: &Config, facts: &Facts) -> Result<Discipline, String> {
    only(config, &[("mark_limit", "0.1"), ("steep_delay", "250ms"), ("burst", "150ms")])?;
    let options = vec![
        word(1, micros(get(config, "target"))),
        word(2, packets(facts)),
        word(3, micros(get(config, "interval"))),
        word(4, sixteenths(config, "alpha")),
        word(5, sixteenths(config, "beta")),
        word(6, get::<bool>(config, "ecn").into()),
    ];
    Ok(plain("pie", Acts::OnArrival, options))
}

/// PI, PISA and PIMC are our own (`bpf/tree/sch_knee.c`).
fn pi(config: &Config, facts: &Facts) -> Result<Discipline, String> {
    only(config, &[("spare_gain_flows", "0")])?;
    let fixed = |name: &str, form: Format| {
        let number: f64 = get(config, name);
        form.encode(number).ok_or_else(|| format!("{name} = {number} cannot be represented in the kernel"))
    };
    let interval = Span::from_secs_f64(1.0 / get::<f64>(config, "frequency"));
    // struct knee_options
    let law = [fixed("a", FINE)?, fixed("b", FINE)?, fixed("reference", FIXED)?, interval.0];
    let mut options: Vec<u8> = law.into_iter().flat_map(u64::to_ne_bytes).collect();
    let written: String = get(config, "spare");
    let rule = Rule::ALL.iter().position(|rule| rule.name() == written).expect("one of them") as u32;
    options.extend([rule, get::<bool>(config, "at_arrival").into()].into_iter().flat_map(u32::to_ne_bytes));
    for name in ["spare_gain", "spare_weight", "min_window", "min_window_share"] {
        options.extend(fixed(name, FIXED)?.to_ne_bytes());
    }
    options
        .extend([packets(facts), get::<bool>(config, "ecn").into()].into_iter().flat_map(u32::to_ne_bytes));
    Ok(plain("knee", Acts::OnArrival, vec![options]))
}

fn fq_pie(config: &Config, facts: &Facts) -> Result<Discipline, String> {
    only(config, &[("steep_delay", "250ms"), ("burst", "150ms")])?;
    let options = vec![
        word(1, packets(facts)),
        word(2, queues(config, QUEUES_AT_ONCE)),
        word(3, micros(get(config, "target"))),
        word(4, micros(get(config, "interval"))),
        word(5, sixteenths(config, "alpha")),
        word(6, sixteenths(config, "beta")),
        word(7, quantum(config, facts)),
        // A percentage.
        word(9, libm::round(100.0 * get::<f64>(config, "mark_limit")) as u32),
        word(10, get::<bool>(config, "ecn").into()),
    ];
    Ok(plain("fq_pie", Acts::OnArrival, options))
}

fn cake(config: &Config, facts: &Facts) -> Result<Discipline, String> {
    /// `CAKE_DIFFSERV_BESTEFFORT`, `CAKE_FLOW_FLOWS`
    const ONE_CLASS: u32 = 3;
    const EACH_FLOW: u32 = 4;
    only(config, &[("quantum", "0b"), ("ecn", "true")])?;
    // `CAKE_ACK_NONE`, `CAKE_ACK_FILTER`, `CAKE_ACK_AGGRESSIVE`
    let filter = match config.get("ack_filter").as_deref() {
        Some("conservative") => 1,
        Some("aggressive") => 2,
        _ => 0,
    };
    let memory = match facts.limit {
        Limit::Unlimited => Vec::new(),
        Limit::Packets(packets) => {
            word(10, u32::try_from(u64::from(packets) * IN_MEMORY).unwrap_or(u32::MAX))
        }
        Limit::Bytes(bytes) => {
            word(10, u32::try_from(bytes.0 * IN_MEMORY / facts.packet.0).unwrap_or(u32::MAX))
        }
    };
    let options = vec![
        cake_rate(facts.rate),
        word(3, ONE_CLASS),
        word(5, EACH_FLOW),
        // Sizes are IP packets'.
        attribute(6, &0i32.to_ne_bytes()),
        word(7, micros(get(config, "interval"))),
        word(8, micros(get(config, "target"))),
        word(16, filter),
        memory,
    ];
    Ok(Discipline { kind: "cake", options, acts: Acts::AtHeadOfFlow, shapes: true })
}

/// CAKE's option of this name: bytes per second.
pub(super) fn cake_rate(rate: Rate) -> Vec<u8> {
    attribute(2, &(rate.0 / 8).to_ne_bytes())
}

fn sfq(config: &Config, facts: &Facts) -> Result<Discipline, String> {
    let queues: u32 = get(config, "queues");
    if !queues.is_power_of_two() {
        return Err(format!("Linux's sfq has a power of two of queues, and {queues} are wanted"));
    }
    let perturbation: Span = get(config, "perturbation");
    if !perturbation.0.is_multiple_of(1_000_000_000) {
        return Err(format!("Linux's sfq hashes anew after whole seconds, not after {perturbation}"));
    }
    // struct tc_sfq_qopt: quantum, perturb_period, limit, divisor, flows
    let fields = [facts.packet.0 as u32, (perturbation.0 / 1_000_000_000) as u32, packets(facts), queues, 0];
    // It drops the last packet of the longest queue, and has 127 packets in each at most.
    Ok(plain("sfq", Acts::OnArrival, vec![fields.iter().flat_map(|field| field.to_ne_bytes()).collect()]))
}

fn red(config: &Config, facts: &Facts) -> Result<Discipline, String> {
    /// `TC_RED_ECN`, `TC_RED_HARDDROP`
    const MARKS: u8 = 1 | 2;
    only(config, &[("gentle", "false"), ("unit", "packets")])?;
    let Any::Red(built) = config.build(*facts) else { unreachable!("red is Red") };
    let (min, max) = built.thresholds();
    let (packet, rate) = (facts.packet.0 as f64, facts.rate.as_f64() / 8.0);
    let weight = match get::<f64>(config, "weight") {
        given if given > 0.0 => given,
        _ => automatic_weight(config, facts),
    };
    let log = libm::round(-libm::log2(weight)).clamp(1.0, 31.0) as u8;
    let bytes = |packets: f64| libm::round(packets * packet) as u32;
    let limit = match facts.limit {
        Limit::Bytes(limit) => u32::try_from(limit.0).unwrap_or(u32::MAX),
        _ => packets(facts).saturating_mul(facts.packet.0 as u32),
    };
    let max_p: f64 = get(config, "max_p");
    let (cell, damping) = idle_damping(f64::from(log), packet / rate);
    let range = f64::from(bytes(max) - bytes(min));
    let power = libm::round(-libm::log2(max_p / range)).clamp(0.0, 31.0) as u8;
    let flags = if get(config, "ecn") { MARKS } else { 0 };
    // struct tc_red_qopt: limit, qth_min, qth_max, Wlog, Plog, Scell_log, flags
    let mut parameters: Vec<u8> =
        [limit, bytes(min), bytes(max)].iter().flat_map(|field| field.to_ne_bytes()).collect();
    parameters.extend([log, power, cell, flags]);
    let options = vec![
        attribute(1, &parameters),
        attribute(2, &damping),
        word(3, (max_p * f64::from(u32::MAX)) as u32),
    ];
    Ok(plain("red", Acts::OnArrival, options))
}

/// 1 - exp(-1 / (time constant · C)).
fn automatic_weight(config: &Config, facts: &Facts) -> f64 {
    let service = facts.rate.time_for(facts.packet).as_secs_f64();
    let constant = match get::<Span>(config, "time_constant") {
        Span::ZERO => 10.0 * f64::max(0.1, 3.0 * (facts.delay.as_secs_f64() + service)),
        given => given.as_secs_f64(),
    };
    -libm::expm1(-service / constant)
}

/// How far the average has sunk after a cell of idle time, in steps of its weight: the logarithm of a cell in microseconds, and
/// the table, where a packet takes this many seconds.
fn idle_damping(log: f64, service: f64) -> (u8, Vec<u8>) {
    let each = -libm::log2(1.0 - libm::exp2(-log)) / (service * 1e6);
    let longest = 31.0 / each;
    let cell = (0..32u8).find(|cell| longest / f64::from(1u32 << cell) < 512.0).unwrap_or(31);
    let step = each * f64::from(1u32 << cell);
    let table =
        (0..256u32).map(|cells| if cells == 255 { 31 } else { (f64::from(cells) * step).min(255.0) as u8 });
    (cell, table.collect())
}

#[cfg(test)]
mod tests {
    use kneepoint::queue::REGISTRY;
    use kneepoint::settings::Raw;

    use super::*;

    fn facts(limit: Limit) -> Facts {
        Facts { rate: Rate::from_mbit(20), delay: Span::from_millis(10), limit, packet: Bytes(1500) }
    }

    fn told(name: &str, fields: &[(&str, &str)], limit: Limit) -> Result<Discipline, String> {
        let mut config = Config::named(name).unwrap();
        for (field, value) in fields {
            config.set(field, &Raw::guess(value)).unwrap();
        }
        Discipline::of(&config, &facts(limit))
    }

    #[test]
    fn what_linux_has_is_told_and_what_it_lacks_is_said() {
        for entry in REGISTRY {
            let known = KNOWN.iter().any(|(name, _)| *name == entry.name);
            let linux = match entry.name {
                "red" => told("red", &[("gentle", "false")], Limit::Packets(100)),
                name => told(name, &[], Limit::Packets(100)),
            };
            assert_eq!(linux.is_ok(), known, "{}: {linux:?}", entry.name);
        }
        let rem = told("rem", &[], Limit::Packets(100)).unwrap_err();
        assert!(rem.contains("no queue discipline `rem`") && rem.contains("fq-codel"), "{rem}");
        let gentle = told("red", &[], Limit::Packets(100)).unwrap_err();
        assert!(gentle.contains("gentle = false"), "{gentle}");
    }

    #[test]
    fn a_buffer_in_packets_or_in_bytes_is_the_fifo_of_that_unit() {
        let fifo = |limit| told("droptail", &[], limit).unwrap();
        assert_eq!(fifo(Limit::Packets(83)).options, [83u32.to_ne_bytes().to_vec()]);
        assert_eq!(fifo(Limit::Packets(83)).kind, "pfifo");
        assert_eq!(fifo(Limit::Bytes(Bytes(4500))).kind, "bfifo");
        assert_eq!(fifo(Limit::Bytes(Bytes(4500))).options, [4500u32.to_ne_bytes().to_vec()]);
    }

    #[test]
    fn times_are_told_in_microseconds() {
        let codel = told("codel", &[("target", "7ms"), ("ecn", "true")], Limit::Packets(1000)).unwrap();
        assert_eq!(codel.options, [word(1, 7_000), word(2, 1000), word(3, 100_000), word(4, 1)]);
        let step = told("step", &[("threshold", "10")], Limit::Packets(1000)).unwrap();
        // Ten packets of 1500 bytes at 20 Mbit/s.
        assert_eq!(step.options[4], word(5, 6_000));
        let pie = told("pie", &[], Limit::Packets(1000)).unwrap();
        assert_eq!(pie.options[3..5], [word(4, 2), word(5, 20)]);
    }

    #[test]
    fn the_settings_of_pi_lie_as_the_kernel_declares_them() {
        let pimc = [("spare", "mc"), ("at_arrival", "true"), ("ecn", "true"), ("reference", "100")];
        let told = told("pi", &pimc, Limit::Packets(400)).unwrap();
        let [options] = told.options.as_slice() else { panic!("one structure") };
        let word = |at: usize| u32::from_ne_bytes(options[at..at + 4].try_into().unwrap());
        let long = |at: usize| u64::from_ne_bytes(options[at..at + 8].try_into().unwrap());
        // 1/170 s; the interval ends the four numbers of the law.
        assert_eq!((options.len(), long(16), long(24)), (80, 100 << 32, 5_882_353));
        // Rule and instant, the window that is spared, limit and marks.
        assert_eq!([word(32), word(36), word(72), word(76)], [2, 1, 400, 1]);
        assert_eq!(long(56), 7 << 32);
    }

    #[test]
    fn the_average_of_red_sinks_in_idle_time_as_if_small_packets_had_come() {
        let (weight, service) = (7.0, 0.0006);
        let (cell, table) = idle_damping(weight, service);
        assert_eq!((table.len(), table[0], table[255]), (256, 0, 31));
        // After n packets' time the average is (1 - w)^n times its former value; the table has this in powers of two.
        let idle = f64::from(100u32 << cell) / 1e6;
        let exact = -(idle / service) * libm::log2(1.0 - libm::exp2(-weight));
        assert!((exact - f64::from(table[100])).abs() <= 1.0, "{exact} and {}", table[100]);
    }
}

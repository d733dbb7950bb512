// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Links as Linux's queue disciplines: HTB paces the queue under test, NetEm behind it transmits, delays and loses.
//!
//! ```text
//! node ── HTB over the queue ── wire ── NetEm ── node        a link with a rate; CAKE paces itself
//! node ── NetEm ── node                                      a link that transmits at once
//! ```
//!
//! HTB releases a packet when its transmission begins, so the queue is without the packet in transmission, as in the laboratory. NetEm adds
//! the time of transmission. With a rate it also keeps the order of packets, for any delays. Sizes are IP packets'. Disciplines compare
//! sizes with the MTU and the Ethernet header, so the device's MTU is smaller by the header where sizes are without it.

use kneepoint::link::{LinkSpec, capacity, loss};
use kneepoint::queue::Facts;
use kneepoint::rng::Rng;
use kneepoint::settings::Timed;
use kneepoint::units::{Bytes, Rate, Span, Time};

use super::discipline::{Discipline, cake_rate};
use super::netlink::{Message, attribute};

/// The place of the queue under test: below HTB's class, or at the root.
pub(super) const BELOW_HTB: u32 = 0x0001_0001;
pub(super) const ROOT: u32 = 0xffff_ffff;

const HTB: u32 = 0x0001_0000;
const QUEUE: u32 = 0x0010_0000;
const NETEM: u32 = 0x0020_0000;
/// The length of an Ethernet header.
const HEADER: i32 = 14;
/// HTB may release a packet this much early after a pause, because its clock and timers are this coarse.
const SLACK: Span = Span::from_micros(4);
/// A rate at which transmission takes no time that matters, but the order of packets stays.
const AT_ONCE: Rate = Rate::from_mbit(100_000);
/// The limit for changes of a link.
const MOST_CHANGES: usize = 100_000;

/// A link's configuration for the kernel.
#[derive(Clone, Debug)]
pub(super) struct Shaped {
    /// The queue, where the link has a rate.
    pub(super) queue: Option<Queue>,
    /// Delay, losses and transmission; none for a link without any of them.
    pub(super) wire: Option<Wire>,
    /// Its rate over time.
    rates: Vec<(Span, Rate)>,
}

/// The queue of a link.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    pub(super) discipline: Discipline,
    /// A full packet.
    packet: Bytes,
}

/// The effects on a packet after its transmission has begun.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    delay: Span,
    steps: Vec<Timed<Span>>,
    jitter: Span,
    loss: Vec<Vec<u8>>,
    /// The probability of independent losses.
    uniform: u32,
    seed: u64,
    rated: bool,
}

impl Shaped {
    /// A link by its number in a run of this seed and length; the error names what Linux cannot do.
    pub(super) fn of(
        spec: &LinkSpec,
        seed: u64,
        index: usize,
        packet: Bytes,
        end: Time,
    ) -> Result<Shaped, String> {
        let said = |why: String| format!("{}: {why}", spec.name);
        if spec.feedback != kneepoint::feedback::Config::default() {
            return Err(said(format!("Linux has no feedback to senders such as `{}`", spec.feedback.name())));
        }
        if spec.effects.is_some() {
            return Err(said("Linux's links police, reorder, duplicate and corrupt nothing here".into()));
        }
        let rates = rates(spec, end).map_err(said)?;
        let discipline = |rate| {
            let facts = Facts { rate, delay: spec.delay, limit: spec.limit, packet };
            Discipline::of(&spec.queue, &facts).map(|discipline| Queue { discipline, packet })
        };
        let queue = spec.rate.map(discipline).transpose().map_err(said)?;
        let (uniform, loss) = losses(&spec.loss).map_err(said)?;
        let seed = Rng::stream(seed, "netem", index as u64).below(u64::MAX);
        let idle = spec.delay == Span::ZERO && spec.delay_steps.is_empty() && spec.jitter == Span::ZERO;
        let wire = Wire {
            delay: spec.delay,
            steps: delays(spec, end),
            jitter: spec.jitter,
            loss,
            uniform,
            seed,
            rated: spec.rate.is_some(),
        };
        let needed = wire.rated || !idle || wire.loses();
        Ok(Shaped { queue, wire: needed.then_some(wire), rates })
    }

    /// The queue's place below its device.
    pub(super) fn parent(&self) -> u32 {
        if self.queue.as_ref().is_some_and(|queue| queue.discipline.shapes) { ROOT } else { BELOW_HTB }
    }

    /// The configuration of the queue before the run.
    pub(super) fn queue_messages(&self, device: u32) -> Vec<Message> {
        let (Some(Queue { discipline, packet }), Some((_, rate))) = (&self.queue, self.rates.first()) else {
            return Vec::new();
        };
        let Discipline { kind, options, shapes, .. } = discipline;
        if *shapes {
            return vec![Message::discipline(device, HTB, ROOT, kind, options)];
        }
        // struct tc_htb_glob: version, rate2quantum, defcls, debug, direct_pkts
        let global: Vec<u8> = [3u32, 10, 1, 0, 0].iter().flat_map(|field| field.to_ne_bytes()).collect();
        vec![
            Message::mtu(device, (packet.0 as u32).saturating_sub(HEADER as u32)),
            Message::discipline(device, HTB, ROOT, "htb", &[attribute(2, &global)]).sized(-HEADER),
            htb(device, *rate),
            Message::discipline(device, QUEUE, BELOW_HTB, kind, options),
        ]
    }

    /// The configuration of the wire before the run.
    pub(super) fn wire_messages(&self, device: u32) -> Vec<Message> {
        let rate = self.rates.first().map_or(AT_ONCE, |(_, rate)| *rate);
        self.wire.iter().map(|wire| wire.message(device, wire.delay, rate)).collect()
    }

    /// Changes during the run with their times: to the device of the queue, or of the wire.
    pub(super) fn changes(&self, queue: u32, wire: u32) -> Vec<(Span, Of, Message)> {
        let mut all = Vec::new();
        for (at, rate) in self.rates.iter().skip(1) {
            match &self.queue {
                Some(Queue { discipline, .. }) if discipline.shapes => {
                    let message = Message::discipline(queue, HTB, ROOT, discipline.kind, &[cake_rate(*rate)]);
                    all.push((*at, Of::Queue, message));
                }
                _ => all.push((*at, Of::Queue, htb(queue, *rate))),
            }
        }
        let Some(shaped) = &self.wire else { return all };
        let steps = shaped.steps.iter().map(|step| step.at);
        let mut instants: Vec<Span> = self.rates.iter().skip(1).map(|(at, _)| *at).chain(steps).collect();
        instants.sort_unstable();
        instants.dedup();
        for at in instants {
            let rate = self.rates.iter().take_while(|(from, _)| *from <= at).last();
            let rate = rate.map_or(AT_ONCE, |(_, rate)| *rate);
            all.push((at, Of::Wire, shaped.message(wire, shaped.delay_at(at), rate)));
        }
        all.sort_by_key(|(at, ..)| *at);
        all
    }
}

/// The part of a link that a message addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    Queue,
    Wire,
}

impl Wire {
    /// Whether packets may be lost.
    pub(super) fn loses(&self) -> bool {
        self.uniform > 0 || !self.loss.is_empty()
    }

    fn delay_at(&self, at: Span) -> Span {
        self.steps.iter().take_while(|step| step.at <= at).last().map_or(self.delay, |step| step.value)
    }

    fn message(&self, device: u32, delay: Span, rate: Rate) -> Message {
        let jitter = Span(self.jitter.0 / 2);
        // struct tc_netem_qopt: latency, limit, loss, gap, duplicate, jitter; times are in the attributes.
        let fixed = [0, MOST_WAITING, self.uniform, 0, 0, 0].into_iter().flat_map(u32::to_ne_bytes);
        let bytes = rate.0 / 8;
        // struct tc_netem_rate: rate, packet_overhead, cell_size, cell_overhead
        let mut speed = u32::try_from(bytes).unwrap_or(u32::MAX).to_ne_bytes().to_vec();
        speed.extend((-HEADER).to_ne_bytes());
        speed.extend([0; 8]);
        let mut options = vec![
            fixed.collect(),
            attribute(10, &((delay + jitter).0 as i64).to_ne_bytes()),
            attribute(11, &(jitter.0 as i64).to_ne_bytes()),
            attribute(6, &speed),
            attribute(14, &self.seed.to_ne_bytes()),
        ];
        if u32::try_from(bytes).is_err() {
            options.push(attribute(8, &bytes.to_ne_bytes()));
        }
        options.extend(self.loss.iter().cloned());
        Message::discipline(device, NETEM, ROOT, "netem", &options)
    }
}

/// Packets that may be on a wire.
const MOST_WAITING: u32 = 1_000_000;

/// HTB's class: its rate, with a burst of its clock's slack.
fn htb(device: u32, rate: Rate) -> Message {
    let bytes = rate.0 / 8;
    let service = rate.time_for(Bytes(1500));
    // A tick is 64 ns.
    let slack = (SLACK.0.min(service.0 / 3) / 64).max(1) as u32;
    // struct tc_ratespec: cell_log, linklayer (Ethernet), overhead, cell_align, mpu, rate
    let mut spec = vec![0, 1, 0, 0, 0, 0, 0, 0];
    spec.extend(u32::try_from(bytes).unwrap_or(u32::MAX).to_ne_bytes());
    // struct tc_htb_opt: rate, ceil, buffer, cbuffer, quantum, level, prio
    let mut parameters = [spec.clone(), spec].concat();
    for field in [slack, slack, 1500, 0, 0] {
        parameters.extend(u32::to_ne_bytes(field));
    }
    let mut options = vec![attribute(1, &parameters)];
    if u32::try_from(bytes).is_err() {
        options.push(attribute(6, &bytes.to_ne_bytes()));
        options.push(attribute(7, &bytes.to_ne_bytes()));
    }
    Message::class(device, BELOW_HTB, HTB, "htb", &options)
}

/// The delays of a link from instants on, all until the end.
fn delays(spec: &LinkSpec, end: Time) -> Vec<Timed<Span>> {
    let Some(period) = spec.delay_period else { return spec.delay_steps.clone() };
    let first = Timed { at: Span::ZERO, value: spec.delay };
    let rounds = (0..=end.0 / period.0).flat_map(|round| {
        let begins = period * round;
        let again = [first].into_iter().filter(move |_| round > 0).chain(spec.delay_steps.iter().copied());
        again.map(move |step| Timed { at: begins + step.at, ..step })
    });
    rounds.take_while(|step| step.at.0 < end.0).collect()
}

/// The rates of a link over time, the first at the beginning; none where it transmits at once.
fn rates(spec: &LinkSpec, end: Time) -> Result<Vec<(Span, Rate)>, String> {
    let Some(rate) = spec.rate else { return Ok(Vec::new()) };
    match spec.capacity.name() {
        "constant" => Ok(vec![(Span::ZERO, rate)]),
        "steps" => steps(&spec.capacity, rate, end),
        other => Err(format!("Linux's HTB has rates that hold for a while, not a capacity `{other}`")),
    }
}

fn steps(capacity: &capacity::Config, rate: Rate, end: Time) -> Result<Vec<(Span, Rate)>, String> {
    let written = capacity.get("rates").unwrap_or_default();
    let listed: Vec<(Span, Rate)> = written
        .trim_matches(['[', ']'])
        .split(',')
        .map(|step| {
            let (at, value) = step.split_once(':').ok_or_else(|| format!("`{step}` is no step"))?;
            Ok((at.trim().parse()?, value.trim().parse()?))
        })
        .collect::<Result<_, String>>()?;
    if listed.iter().any(|(_, value)| value.0 < 8) {
        return Err("Linux's HTB has no rate of zero".into());
    }
    let period: Option<Span> = capacity.get("period").and_then(|period| period.parse().ok());
    let rounds = period.map_or(1, |period| end.0 / period.0 + 1);
    if rounds as usize * listed.len() > MOST_CHANGES {
        return Err(format!("{} changes of the rate are too many", rounds * listed.len() as u64));
    }
    let shift = period.unwrap_or_default();
    let all =
        (0..rounds).flat_map(|round| listed.iter().map(move |(at, value)| (shift * round + *at, *value)));
    let mut all: Vec<(Span, Rate)> = all.filter(|(at, _)| at.0 < end.0).collect();
    if all.first().is_none_or(|(at, _)| *at > Span::ZERO) {
        all.insert(0, (Span::ZERO, rate));
    }
    Ok(all)
}

/// The probability of independent losses, in parts of 2^32, and NetEm's attribute of other losses.
fn losses(config: &loss::Config) -> Result<(u32, Vec<Vec<u8>>), String> {
    let part = |probability: f64| (probability * f64::from(u32::MAX)) as u32;
    let get = |name: &str| config.get(name).and_then(|text| text.parse::<f64>().ok()).unwrap_or_default();
    match config.name() {
        "none" => Ok((0, Vec::new())),
        "uniform" => Ok((part(get("p")), Vec::new())),
        "gilbert-elliott" => {
            // struct tc_netem_gemodel: p, r, h, k1
            let model = [get("to_bad"), get("to_good"), 1.0 - get("loss_bad"), get("loss_good")];
            let model: Vec<u8> = model.iter().flat_map(|one| part(*one).to_ne_bytes()).collect();
            Ok((0, vec![attribute(5, &attribute(2, &model))]))
        }
        other => Err(format!(
            "Linux's NetEm has no losses as `{other}` has them; it has uniform and gilbert-elliott"
        )),
    }
}

#[cfg(test)]
mod tests {
    use kneepoint::link::NodeId;
    use kneepoint::settings::Raw;

    use super::*;

    fn link() -> LinkSpec {
        LinkSpec {
            name: "r1-r2".into(),
            rate: Some(Rate::from_mbit(10)),
            delay: Span::from_millis(20),
            ..LinkSpec::new(NodeId(0), NodeId(1))
        }
    }

    fn shaped(spec: &LinkSpec) -> Result<Shaped, String> {
        Shaped::of(spec, 1, 0, Bytes(1500), Time::ZERO + Span::from_secs(10))
    }

    fn has(message: &Message, bytes: &[u8]) -> bool {
        message.bytes().windows(bytes.len()).any(|part| part == bytes)
    }

    #[test]
    fn a_link_has_a_queue_at_its_rate_and_a_wire_behind_it() {
        let shaped = shaped(&link()).unwrap();
        let messages = shaped.queue_messages(12);
        assert_eq!(messages.len(), 4);
        assert!(has(&messages[0], &1486u32.to_ne_bytes()), "a full packet with its header is 1500 bytes");
        assert!(has(&messages[1], b"htb\0") && has(&messages[3], b"pfifo\0"));
        assert!(has(&messages[2], &1_250_000u32.to_ne_bytes()), "bytes per second");
        let [netem] = &shaped.wire_messages(13)[..] else { panic!("one wire") };
        assert!(has(netem, &20_000_000u64.to_ne_bytes()), "nanoseconds");
        assert!(shaped.changes(12, 13).is_empty());
    }

    #[test]
    fn a_rate_that_steps_changes_queue_and_wire_at_the_same_instants() {
        let mut spec = link();
        spec.capacity = capacity::Config::named("steps").unwrap();
        let steps = ["0s: 10mbit", "3s: 5mbit"].map(|step| Raw::Text(step.into())).to_vec();
        spec.capacity.set("rates", &Raw::List(steps)).unwrap();
        spec.capacity.set("period", &Raw::Text("4s".into())).unwrap();
        let changes = shaped(&spec).unwrap().changes(12, 13);
        let instants: Vec<u64> = changes.iter().map(|(at, ..)| at.0 / 1_000_000_000).collect();
        assert_eq!(instants, [3, 3, 4, 4, 7, 7, 8, 8]);
        assert!(has(&changes[0].2, &625_000u32.to_ne_bytes()) && changes[0].1 == Of::Queue);
        assert!(has(&changes[1].2, &625_000u32.to_ne_bytes()) && changes[1].1 == Of::Wire);
    }

    #[test]
    fn what_linux_cannot_do_is_said_with_the_name_of_the_link() {
        let refused = |change: &dyn Fn(&mut LinkSpec)| {
            let mut spec = link();
            change(&mut spec);
            shaped(&spec).unwrap_err()
        };
        let capacity = refused(&|spec| spec.capacity = capacity::Config::named("shared").unwrap());
        assert!(capacity.starts_with("r1-r2: ") && capacity.contains("`shared`"), "{capacity}");
        let loss = refused(&|spec| spec.loss = loss::Config::named("at").unwrap());
        assert!(loss.contains("`at`") && loss.contains("uniform"), "{loss}");
    }

    #[test]
    fn a_link_that_transmits_at_once_and_delays_nothing_says_nothing() {
        let shaped = shaped(&LinkSpec::new(NodeId(0), NodeId(1))).unwrap();
        assert!(shaped.queue_messages(1).is_empty() && shaped.wire_messages(1).is_empty());
    }
}

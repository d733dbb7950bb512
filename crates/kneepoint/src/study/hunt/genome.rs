// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Genome: a network as the numbers that a search changes, and the spec made of them.
//!
//! ```text
//! r1 ═══ bottleneck: rate and delay in steps, loss, jitter, buffer, queue ═══ r2      subject, and perhaps a rival or a burst
//!  ╰──────────── way back: the same delays and jitter, bunches ────────────╯
//! ```
//!
//! The spec is built directly, as a search needs hundreds a second. [`Genome::text`] writes the scenario of the same network; a
//! test compares the two specs part by part.

use std::fmt::Write;

use serde::Deserialize;

use super::contest::{Contest, Line};
use super::gene::Gene;
use crate::link::capacity::{self, grants, steps};
use crate::link::loss::{self, uniform};
use crate::link::{LinkSpec, NodeId};
use crate::queue::{self, Limit};
use crate::settings::{Or, Timed};
use crate::spec::{Builder, Group, Invalid, Member, Valid};
use crate::traffic::{self, cbr};
use crate::units::{Bytes, Interval, Rate, Span, Time};

/// Capacity of the reverse path in packets: acknowledgements wait for a batch there, and none is dropped.
const BACK: u32 = 10_000;
/// Packets of cross traffic.
const DATAGRAM: Bytes = Bytes(1500);

crate::keys! {
    /// A part of a run with one rate and one delay.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
    pub struct Step {
        /// Rate of the bottleneck, in kbit/s.
        #[serde(rename = "rate_kbps")]
        pub rate: u32,
        /// Its one-way delay, in both directions.
        #[serde(rename = "delay_ms")]
        pub delay: u32,
        /// The duration of both.
        #[serde(rename = "lasting_ms")]
        pub lasting: u32,
    }

    /// A network; zero is the absence of an optional number.
    #[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
    pub struct Genome {
        /// The course of rate and delay: one step or more.
        pub steps: Vec<Step>,
        /// Buffer of the bottleneck.
        #[serde(rename = "buffer_packets")]
        pub buffer: u32,
        /// Its queue discipline.
        pub queue: String,
        /// Packets that it loses, in a million.
        #[serde(rename = "loss_ppm")]
        pub loss: u32,
        /// Greatest random delay, in order.
        #[serde(rename = "jitter_us")]
        pub jitter: u32,
        /// Time between bunches of acknowledgements.
        #[serde(rename = "aggregation_us")]
        pub aggregation: u32,
        /// Rate of a burst of cross traffic, in kbit/s.
        #[serde(rename = "burst_kbps")]
        pub burst: u32,
        /// Its start.
        #[serde(rename = "burst_start_ms")]
        pub burst_start: u32,
        /// Its length.
        #[serde(rename = "burst_lasting_ms")]
        pub burst_lasting: u32,
        /// Whether the subject is the odd one of two flows, and not its rival.
        pub odd: bool,
        /// Round-trip time that the odd flow has more.
        #[serde(rename = "odd_delay_ms")]
        pub odd_delay: u32,
        /// Greatest random delay of the odd flow's sender, in order.
        #[serde(rename = "odd_jitter_us")]
        pub odd_jitter: u32,
        /// Start of the rival.
        #[serde(rename = "rival_start_ms")]
        pub rival_start: u32,
    }
}

fn ms(millis: u32) -> Span {
    Span::from_millis(millis.into())
}

fn us(micros: u32) -> Span {
    Span::from_micros(micros.into())
}

fn kbit(rate: u32) -> Rate {
    Rate(u64::from(rate) * 1000)
}

impl Genome {
    /// A network without steps and without optional properties.
    pub fn plain(buffer: u32) -> Genome {
        Genome {
            steps: Vec::new(),
            buffer,
            queue: queue::REGISTRY[0].name.into(),
            loss: 0,
            jitter: 0,
            aggregation: 0,
            burst: 0,
            burst_start: 0,
            burst_lasting: 0,
            odd: false,
            odd_delay: 0,
            odd_jitter: 0,
            rival_start: 0,
        }
    }

    /// A number outside the steps.
    pub fn number(&mut self, gene: Gene) -> Option<&mut u32> {
        Some(match gene {
            Gene::Rate | Gene::Delay | Gene::Lasting => return None,
            Gene::Buffer => &mut self.buffer,
            Gene::Loss => &mut self.loss,
            Gene::Jitter => &mut self.jitter,
            Gene::Aggregation => &mut self.aggregation,
            Gene::Burst => &mut self.burst,
            Gene::BurstStart => &mut self.burst_start,
            Gene::BurstLasting => &mut self.burst_lasting,
            Gene::OddDelay => &mut self.odd_delay,
            Gene::OddJitter => &mut self.odd_jitter,
            Gene::RivalStart => &mut self.rival_start,
        })
    }

    /// Every number with its gene: first the numbers of each step, then the others.
    pub fn numbers<'g>(&'g mut self) -> Vec<(Gene, &'g mut u32)> {
        let of_step = |step: &'g mut Step| {
            let Step { rate, delay, lasting } = step;
            [(Gene::Rate, rate), (Gene::Delay, delay), (Gene::Lasting, lasting)]
        };
        let Genome {
            steps,
            buffer,
            queue: _,
            loss,
            jitter,
            aggregation,
            burst,
            burst_start,
            burst_lasting,
            odd: _,
            odd_delay,
            odd_jitter,
            rival_start,
        } = self;
        let others = [
            (Gene::Buffer, buffer),
            (Gene::Loss, loss),
            (Gene::Jitter, jitter),
            (Gene::Aggregation, aggregation),
            (Gene::Burst, burst),
            (Gene::BurstStart, burst_start),
            (Gene::BurstLasting, burst_lasting),
            (Gene::OddDelay, odd_delay),
            (Gene::OddJitter, odd_jitter),
            (Gene::RivalStart, rival_start),
        ];
        steps.iter_mut().flat_map(of_step).chain(others).collect()
    }

    /// The length of the run.
    pub fn duration(&self) -> Span {
        ms(self.steps.iter().map(|step| step.lasting).sum())
    }

    /// The greatest rate, for the configuration of links.
    pub fn greatest_rate(&self) -> Rate {
        kbit(self.steps.iter().map(|step| step.rate).max().unwrap_or(1))
    }

    /// The mean rate over the run, in bit/s.
    pub fn mean_rate(&self) -> f64 {
        let bits: f64 = self.steps.iter().map(|step| f64::from(step.rate) * f64::from(step.lasting)).sum();
        bits / self.duration().as_secs_f64()
    }

    /// The number of round trips without queues in the interval in which the rates of a pair count.
    pub fn shared_trips(&self) -> f64 {
        let rtt = self.longest_rtt() + ms(self.odd_delay);
        self.rated(true).span().as_secs_f64() / rtt.as_secs_f64().max(1e-3)
    }

    /// The longest round-trip time without queues, of the flow that is not the odd one.
    pub fn longest_rtt(&self) -> Span {
        ms(2 * self.steps.iter().map(|step| step.delay).max().unwrap_or(1))
    }

    /// More than the way from the bottleneck to a receiver can take.
    pub fn longest_way(&self) -> Span {
        self.longest_rtt() + ms(self.odd_delay) + us(self.jitter) + us(self.odd_jitter)
    }

    /// The least bandwidth-delay product of a step, in packets of this size.
    pub fn least_bdp(&self, packet: Bytes) -> f64 {
        let of = |step: &Step| kbit(step.rate).packets(packet) * ms(2 * step.delay).as_secs_f64();
        self.steps.iter().map(of).fold(f64::INFINITY, f64::min)
    }

    /// The greatest value of a step's number over the least.
    pub fn change(&self, of: fn(&Step) -> u32) -> f64 {
        let values = || self.steps.iter().map(|step| f64::from(of(step).max(1)));
        values().fold(0.0, f64::max) / values().fold(f64::INFINITY, f64::min)
    }

    /// Whether a run is random.
    pub fn is_random(&self) -> bool {
        self.loss > 0 || self.jitter > 0 || self.odd_jitter > 0
    }

    /// Instants at which a step with a new value begins, with the value.
    fn course<T: PartialEq + Copy>(&self, of: impl Fn(&Step) -> T) -> Vec<Timed<T>> {
        let mut at = Span::ZERO;
        let mut all: Vec<Timed<T>> = Vec::new();
        for step in &self.steps {
            if all.last().is_none_or(|last| last.value != of(step)) {
                all.push(Timed { at, value: of(step) });
            }
            at = at + ms(step.lasting);
        }
        all
    }

    fn rates(&self) -> Vec<Timed<Rate>> {
        self.course(|step| kbit(step.rate))
    }

    /// Delays after the first.
    fn delays(&self) -> (Span, Vec<Timed<Span>>) {
        let mut all = self.course(|step| ms(step.delay));
        let first = all.remove(0).value;
        (first, all)
    }

    /// The burst inside the run, if there is one.
    fn cross(&self) -> Option<(Rate, Interval)> {
        let from = ms(self.burst_start).after_start();
        let to = (from + ms(self.burst_lasting)).min(self.duration().after_start());
        (self.burst > 0 && from < to).then(|| (kbit(self.burst), Interval { from, to }))
    }

    /// The start of the rival inside the run.
    fn rival_at(&self) -> Span {
        let last = Span(self.duration().0.saturating_sub(Span::from_millis(1).0));
        Span(ms(self.rival_start).0.min(last.0))
    }

    /// The interval whose rates count: the whole run, or for a pair the last three quarters of their common time.
    pub fn rated(&self, pair: bool) -> Interval {
        let (begin, end) = (self.rival_at(), self.duration());
        let from = if pair { begin + Span(end.saturating_sub(begin).0 / 4) } else { Span::ZERO };
        Interval { from: from.after_start(), to: end.after_start() }
    }

    /// The spec of a contest on this network, measured in an interval.
    pub fn valid(&self, contest: &Contest, measure: Interval) -> Result<Valid, Invalid> {
        let mut builder = Builder::new("hunt").duration(self.duration()).measure(measure);
        builder = builder.node("r1").node("r2");
        let (near, far) = (NodeId(0), NodeId(1));
        let (delay, delay_steps) = self.delays();
        let there = LinkSpec {
            rate: Some(self.greatest_rate()),
            capacity: self.capacity(),
            delay,
            delay_steps,
            jitter: us(self.jitter),
            queue: queue::Config::named(&self.queue).unwrap_or_default(),
            limit: Limit::Packets(self.buffer),
            feedback: contest.feedback.clone(),
            loss: self.losses(),
            measured: true,
            ..LinkSpec::new(near, far)
        };
        let back = LinkSpec {
            from: far,
            to: near,
            capacity: self.bunches(),
            queue: queue::Config::default(),
            limit: Limit::Packets(BACK),
            feedback: crate::feedback::Config::default(),
            loss: loss::Config::default(),
            measured: self.aggregation > 0,
            ..there.clone()
        };
        builder = builder.link(there).link(back);
        for (place, line) in contest.lines().enumerate() {
            let odd = contest.is_pair() && (line == Line::Subject) == self.odd;
            let (mut from, mut to) = (near, far);
            let rest = if odd { ms(self.odd_delay).0 } else { 0 };
            if rest > 0 {
                let number = place + 1;
                let node = |offset: usize| NodeId((builder.network.nodes.len() + offset) as u32);
                (from, to) = (node(0), node(1));
                let share = |link: u64| Span(rest / 4 + u64::from(link < rest % 4));
                let access = |a, b, link| LinkSpec { delay: share(link), ..LinkSpec::new(a, b) };
                builder = builder
                    .node(format!("s{number}"))
                    .node(format!("d{number}"))
                    .link(access(from, near, 0))
                    .link(access(far, to, 1))
                    .link(access(to, far, 2))
                    .link(access(near, from, 3));
            }
            let start = if line == Line::Rival { self.rival_at() } else { Span::ZERO }.after_start();
            let mut group = Group { name: line.name().into(), ..contest.group(line).clone() };
            if let Some(tcp) = group.tcp.as_mut().filter(|_| odd) {
                tcp.jitter = us(self.odd_jitter);
            }
            let member = Member { start: Interval { from: start, to: start }, ..Member::default() };
            builder = builder.group(group.member(from, to, member));
        }
        if let Some((rate, during)) = self.cross() {
            let source = traffic::Config::Cbr(cbr::Params { rate, size: DATAGRAM, ..cbr::Params::default() });
            let start = Interval { from: during.from, to: during.from };
            let member = Member { start, stop: Some(during.to), size: None };
            builder = builder.group(Group::new("burst", source).member(near, far, member));
        }
        builder.build()
    }

    fn capacity(&self) -> capacity::Config {
        let rates = self.rates();
        if rates.len() == 1 {
            return capacity::Config::default();
        }
        capacity::Config::Steps(steps::Params { rates: rates.into(), period: Or::WORD })
    }

    fn bunches(&self) -> capacity::Config {
        if self.aggregation == 0 {
            return capacity::Config::default();
        }
        capacity::Config::Grants(grants::Params { period: us(self.aggregation), ..grants::Params::default() })
    }

    fn losses(&self) -> loss::Config {
        if self.loss == 0 {
            return loss::Config::default();
        }
        loss::Config::Uniform(uniform::Params { p: f64::from(self.loss) / 1e6 })
    }

    /// The lines of a scenario of this network, each a key and its value, without the groups of the contest.
    pub fn lines(&self, measure: Interval, seeds: usize) -> String {
        let duration = self.duration();
        let (delay, delays) = self.delays();
        let mut text = String::new();
        let mut line = |key: &str, value: String| {
            let _ = writeln!(text, "{key} = {value}");
        };
        line("run", format!("{{ duration = \"{duration}\", measure = \"{measure}\", seeds = {seeds} }}"));
        let mut topology = format!(
            "kind = \"dumbbell\", rate = \"{}\", rtt = \"{}\", delay = \"{delay}\", buffer = \"{}pkt\", \
             reverse_buffer = \"{BACK}pkt\"",
            self.greatest_rate(),
            delay * 2,
            self.buffer
        );
        if self.jitter > 0 {
            let _ = write!(topology, ", jitter = \"{}\"", us(self.jitter));
        }
        if !delays.is_empty() {
            let _ = write!(topology, ", delay_steps = [{}]", listed(&delays));
        }
        line("topology", format!("{{ {topology} }}"));
        let rates = self.rates();
        if rates.len() > 1 {
            line("capacity", format!("{{ kind = \"steps\", rates = [{}] }}", listed(&rates)));
        }
        if self.queue != queue::REGISTRY[0].name {
            line("queue", format!("\"{}\"", self.queue));
        }
        if self.loss > 0 {
            line("loss", format!("{{ kind = \"uniform\", p = {} }}", f64::from(self.loss) / 1e6));
        }
        if self.aggregation > 0 {
            let period = us(self.aggregation);
            line("reverse", format!("{{ capacity = {{ kind = \"grants\", period = \"{period}\" }} }}"));
        }
        if let Some((rate, during)) = self.cross() {
            let (start, stop) = (during.from.since(Time::ZERO), during.to.since(Time::ZERO));
            line(
                "cbr",
                format!(
                    "[{{ name = \"burst\", rate = \"{rate}\", size = \"{DATAGRAM}\", start = \"{start}\", stop = \"{stop}\" }}]"
                ),
            );
        }
        text
    }

    /// The fields that this network gives to a group, after its name and controller: `, rtt = "90ms"`.
    pub fn fields(&self, line: Line, pair: bool) -> String {
        let mut fields = String::new();
        if line == Line::Rival && self.rival_start > 0 {
            let _ = write!(fields, ", start = \"{}\"", self.rival_at());
        }
        if pair && (line == Line::Subject) == self.odd {
            if self.odd_delay > 0 {
                let _ = write!(fields, ", rtt = \"{}\"", self.delays().0 * 2 + ms(self.odd_delay));
            }
            if self.odd_jitter > 0 {
                let _ = write!(fields, ", tcp = {{ jitter = \"{}\" }}", us(self.odd_jitter));
            }
        }
        fields
    }
}

fn listed<T: std::fmt::Display>(all: &[Timed<T>]) -> String {
    all.iter().map(|step| format!("\"{step}\"")).collect::<Vec<_>>().join(", ")
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The order to an instance, as text: written outside and read inside.
//!
//! A line has a word and its arguments. Bytes and texts are in hexadecimal digits, times in nanoseconds, and `-` means
//! nothing.

use std::fmt::Write as _;

use kneepoint::link::NodeId;
use kneepoint::settings::Raw;
use kneepoint::spec::Valid;
use kneepoint::traffic::{Config, Site};
use kneepoint::units::{Bytes, Span, Time};

use super::layout::{Layout, Point, emptied};
use crate::emulator::Side;
use crate::live::{Crew, Member, Plan, Transfer};

/// A message of netlink, and the namespace in which it is sent.
pub(super) type Said = (u32, Vec<u8>);

/// The whole.
#[derive(Debug, Default)]
pub(super) struct Job {
    pub(super) seed: u64,
    /// The time at which hosts stop.
    pub(super) end: Span,
    /// The time for queues to empty after that.
    pub(super) drain: Span,
    /// Whether hosts request ECN.
    pub(super) ecn: bool,
    pub(super) namespaces: u32,
    pub(super) forwarding: Vec<u32>,
    pub(super) messages: Vec<Said>,
    pub(super) changes: Vec<(Span, Said)>,
    /// Devices that must send single packets, without offload.
    pub(super) plain: Vec<(u32, u32)>,
    pub(super) points: Vec<(u32, Vec<Point>)>,
    /// Namespaces whose disciplines are queried for their drops.
    pub(super) counted: Vec<u32>,
    pub(super) plan: Plan,
}

impl Job {
    pub(super) fn new(valid: &Valid, seed: u64, layout: &Layout, plan: Plan) -> Job {
        let mut counted: Vec<u32> = layout.followed.iter().map(|queue| queue.counter[0]).collect();
        counted.sort_unstable();
        counted.dedup();
        let said = |(namespace, message): &(u32, super::netlink::Message)| (*namespace, message.bytes());
        Job {
            seed,
            end: valid.schedule().duration.since(Time::ZERO),
            drain: emptied(valid, layout),
            ecn: valid.groups().iter().filter_map(|group| group.tcp.as_ref()).any(|tcp| tcp.ecn),
            namespaces: layout.namespaces,
            forwarding: layout.forwarding.clone(),
            messages: layout.messages.iter().map(said).collect(),
            changes: layout
                .changes
                .iter()
                .map(|(at, namespace, message)| (*at, (*namespace, message.bytes())))
                .collect(),
            plain: layout.plain.clone(),
            points: layout.points.clone(),
            counted,
            plan,
        }
    }

    /// The text; the error names the part that cannot be written.
    pub(super) fn write(&self) -> Result<String, String> {
        let mut text = String::new();
        let mut line = |parts: &[String]| {
            text += &parts.join(" ");
            text.push('\n');
        };
        let numbered = |word: &str, numbers: &[u64]| {
            let mut parts = vec![word.to_string()];
            parts.extend(numbers.iter().map(u64::to_string));
            parts
        };
        line(&numbered("seed", &[self.seed]));
        line(&numbered("end", &[self.end.0]));
        line(&numbered("drain", &[self.drain.0]));
        line(&numbered("ecn", &[self.ecn.into()]));
        line(&numbered("namespaces", &[self.namespaces.into()]));
        for namespace in &self.forwarding {
            line(&numbered("forward", &[(*namespace).into()]));
        }
        for (namespace, device) in &self.plain {
            line(&numbered("plain", &[(*namespace).into(), (*device).into()]));
        }
        for (namespace, bytes) in &self.messages {
            line(&["say".into(), namespace.to_string(), hex(bytes)]);
        }
        for (at, (namespace, bytes)) in &self.changes {
            line(&["change".into(), at.0.to_string(), namespace.to_string(), hex(bytes)]);
        }
        for (namespace, points) in &self.points {
            for point in points {
                line(&numbered("see", &[(*namespace).into(), point.device.into(), point.leaving.into()]));
            }
        }
        for namespace in &self.counted {
            line(&numbered("count", &[(*namespace).into()]));
        }
        for transfer in &self.plan.transfers {
            line(&transfer_words(transfer));
        }
        for crew in &self.plan.crews {
            line(&crew_words(crew)?);
            for member in &crew.members {
                let Site { start, stop, pairs } = member.site;
                line(&numbered(
                    "member",
                    &[start.0, stop.0, pairs.into(), member.number, member.first().into()],
                ));
            }
        }
        Ok(text)
    }

    /// The parsed text; the error is the line that cannot be parsed.
    pub(super) fn read(text: &str) -> Result<Job, String> {
        let mut job = Job::default();
        for line in text.lines() {
            job.take(line).ok_or_else(|| format!("not understood: {line}"))?;
        }
        Ok(job)
    }

    fn take(&mut self, line: &str) -> Option<()> {
        let mut words = line.split(' ');
        let word = words.next()?;
        let words: Vec<&str> = words.collect();
        let number = |place: usize| words.get(place)?.parse::<u64>().ok();
        let small = |place: usize| words.get(place)?.parse::<u32>().ok();
        let bytes = |place: usize| unhex(words.get(place)?);
        match word {
            "seed" => self.seed = number(0)?,
            "end" => self.end = Span(number(0)?),
            "drain" => self.drain = Span(number(0)?),
            "ecn" => self.ecn = number(0)? == 1,
            "namespaces" => self.namespaces = small(0)?,
            "forward" => self.forwarding.push(small(0)?),
            "plain" => self.plain.push((small(0)?, small(1)?)),
            "say" => self.messages.push((small(0)?, bytes(1)?)),
            "change" => self.changes.push((Span(number(0)?), (small(1)?, bytes(2)?))),
            "see" => {
                let (namespace, point) = (small(0)?, Point { device: small(1)?, leaving: number(2)? == 1 });
                match self.points.last_mut().filter(|(last, _)| *last == namespace) {
                    Some((_, points)) => points.push(point),
                    None => self.points.push((namespace, vec![point])),
                }
            }
            "count" => self.counted.push(small(0)?),
            "transfer" => self.plan.transfers.push(transfer(&words)?),
            "crew" => self.plan.crews.push(crew(&words)?),
            "member" => {
                let seed = self.seed;
                let crew = self.plan.crews.last_mut()?;
                let site = Site { start: Time(number(0)?), stop: Time(number(1)?), pairs: small(2)? };
                crew.members.push(Member::new(&crew.source, site, seed, number(3)?, small(4)?));
            }
            _ => return None,
        }
        Some(())
    }
}

fn side(side: Side) -> String {
    if side == Side::Near { "near" } else { "far" }.into()
}

fn of_side(word: &str) -> Option<Side> {
    match word {
        "near" => Some(Side::Near),
        "far" => Some(Side::Far),
        _ => None,
    }
}

fn perhaps(number: Option<u64>) -> String {
    number.map_or_else(|| "-".into(), |number| number.to_string())
}

/// A number, or nothing; none of these is an error.
fn of_perhaps(word: &str) -> Option<Option<u64>> {
    if word == "-" { Some(None) } else { word.parse().ok().map(Some) }
}

fn named(name: &str) -> String {
    if name.is_empty() { "-".into() } else { name.into() }
}

fn of_named(word: &str) -> String {
    if word == "-" { String::new() } else { word.into() }
}

fn transfer_words(one: &Transfer) -> Vec<String> {
    vec![
        "transfer".into(),
        side(one.sender),
        named(&one.control),
        one.start.0.to_string(),
        perhaps(one.stop.map(|stop| stop.0)),
        perhaps(one.size.map(|size| size.0)),
        perhaps(one.payload.map(|payload| payload.0)),
        one.group.to_string(),
    ]
}

fn transfer(words: &[&str]) -> Option<Transfer> {
    let [sender, control, start, stop, size, payload, group] = words else { return None };
    Some(Transfer {
        control: of_named(control),
        start: Span(start.parse().ok()?),
        stop: of_perhaps(stop)?.map(Span),
        size: of_perhaps(size)?.map(Bytes),
        payload: of_perhaps(payload)?.map(Bytes),
        group: group.parse().ok()?,
        sender: of_side(sender)?,
        way: (NodeId(0), NodeId(0)),
    })
}

/// The nodes of its pairs are not written, only their number.
fn crew_words(crew: &Crew) -> Result<Vec<String>, String> {
    let source = &crew.source;
    let mut words = vec![
        "crew".into(),
        crew.group.to_string(),
        named(&crew.control),
        perhaps(crew.payload.map(|payload| payload.0)),
        side(crew.sender),
        crew.ways.len().to_string(),
        source.name().to_string(),
    ];
    let mut rebuilt = Config::named(source.name()).ok_or_else(|| {
        format!("`{}` is a source of another crate, which the instance does not have", source.name())
    })?;
    for field in kneepoint::settings::Assign::declared(source) {
        let Some(value) =
            source.get(field.name).filter(|value| rebuilt.get(field.name).as_ref() != Some(value))
        else {
            continue;
        };
        if !set(&mut rebuilt, field.name, &value) {
            return Err(format!(
                "{}: {} = {value} cannot be written for the instance",
                source.name(),
                field.name
            ));
        }
        words.push(format!("{}={}", field.name, hex(value.as_bytes())));
    }
    if rebuilt != *source {
        return Err(format!("a source `{}` cannot be written for the instance", source.name()));
    }
    Ok(words)
}

fn crew(words: &[&str]) -> Option<Crew> {
    let [group, control, payload, sender, pairs, name, fields @ ..] = words else { return None };
    let mut source = Config::named(name)?;
    for field in fields {
        let (field, value) = field.split_once('=')?;
        let value = String::from_utf8(unhex(value)?).ok()?;
        set(&mut source, field, &value).then_some(())?;
    }
    Some(Crew {
        group: group.parse().ok()?,
        control: of_named(control),
        payload: of_perhaps(payload)?.map(Bytes),
        sender: of_side(sender)?,
        ways: vec![(NodeId(0), NodeId(0)); pairs.parse().ok()?],
        source,
        members: Vec::new(),
    })
}

/// Sets a field to a written value, in the form that the field takes; returns whether one did.
fn set(source: &mut Config, field: &str, value: &str) -> bool {
    let listed = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let list = listed.map(|rest| Raw::List(rest.split(", ").map(Raw::guess).collect()));
    let forms = list.into_iter().chain([Raw::guess(value), Raw::Text(value.to_string())]);
    for form in forms {
        if source.set(field, &form).is_ok() && source.get(field).as_deref() == Some(value) {
            return true;
        }
    }
    false
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    let pair = |two: &[u8]| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok();
    digits.len().is_multiple_of(2).then(|| digits.chunks(2).map(pair).collect())?
}

#[cfg(test)]
mod tests {
    use kneepoint::scenario::parse;

    use super::*;

    fn job() -> Job {
        let text = "[run]\nduration = '5s'\n[tcp]\npreset = 'linux'\necn = true\n[topology]\nkind = 'dumbbell'\nrate = '10mbit'\n\
                    [[flows]]\ncc = 'reno'\nstop = '3s'\nsize = '1mb'\n[[web]]\nsessions = 3\ncc = 'cubic'\ngap = '200ms'\n\
                    [[cbr]]\ncount = 2\nsize = '500b'\n";
        let valid = parse(text).unwrap().cases.remove(0).valid;
        let name = |group: &kneepoint::spec::Group| {
            group.cc.as_ref().map_or(String::new(), |cc| cc.name().to_string())
        };
        let plan = Plan::new(&valid, 7, name).unwrap();
        let paths = plan.paths();
        let layout = Layout::new(&valid, 7, &paths).unwrap();
        Job::new(&valid, 7, &layout, plan)
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let text = job().write().unwrap();
        let read = Job::read(&text).unwrap();
        assert_eq!(read.write().unwrap(), text);
        let crews = read.plan.crews.iter().map(|crew| (crew.source.name(), crew.members.len()));
        assert_eq!(crews.collect::<Vec<_>>(), [("web", 3), ("cbr", 2)]);
        assert!(read.ecn && read.plan.transfers[0].size.is_some());
    }

    #[test]
    fn members_draw_the_same_numbers_inside() {
        let outside = job();
        let inside = Job::read(&outside.write().unwrap()).unwrap();
        let members =
            |job: &Job| job.plan.crews.iter().map(|crew| format!("{:?}", crew.members)).collect::<Vec<_>>();
        assert_eq!(members(&outside), members(&inside));
    }

    #[test]
    fn a_line_that_is_not_understood_is_named() {
        assert_eq!(Job::read("seed 1\nsay 0 xyz\n").unwrap_err(), "not understood: say 0 xyz");
        assert!(Job::read("transfer near").is_err());
    }

    #[test]
    fn every_source_can_be_written_with_its_defaults() {
        for entry in kneepoint::traffic::REGISTRY {
            let source = Config::named(entry.name).unwrap();
            let crew = Crew {
                group: 0,
                control: String::new(),
                payload: None,
                sender: Side::Near,
                ways: Vec::new(),
                source: source.clone(),
                members: Vec::new(),
            };
            let words = crew_words(&crew).unwrap();
            let words: Vec<&str> = words[1..].iter().map(String::as_str).collect();
            assert_eq!(super::crew(&words).unwrap().source, source);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One bottleneck with its traffic, written as a scenario: the arguments of `knee compare` and `knee coexist`.

use std::fmt::{self, Write};

use crate::scenario::scheme::Scheme;
use crate::scenario::{fitting_name, quoted};
use crate::settings::Raw;
use crate::units::{Interval, Rate, Span};

/// Long transfers that share a scheme.
pub struct Party<'a> {
    /// Their name in the scenario.
    pub name: &'a str,
    /// Their sender, and the queue of the bottleneck.
    pub scheme: &'a Scheme,
    /// How many.
    pub flows: u32,
}

/// Sessions of short transfers.
pub struct Sessions<'a> {
    /// The section of their source.
    pub section: &'a str,
    /// How many.
    pub count: u32,
    /// Parameters of the source, as a scenario has them.
    pub fields: &'a [(&'a str, Raw)],
}

impl Sessions<'_> {
    /// No short transfers.
    pub const NONE: Sessions<'static> = Sessions { section: "", count: 0, fields: &[] };
}

/// A bottleneck and its traffic. The first party's scheme sets the queue and the background traffic.
pub struct Dumbbell<'a> {
    /// The name of the scenario, which is shortened where it is too long for one.
    pub title: &'a str,
    /// Long transfers.
    pub parties: &'a [Party<'a>],
    /// Options of every TCP.
    pub tcp: &'a [(String, Raw)],
    /// Rate of the bottleneck.
    pub rate: Rate,
    /// Base round-trip time.
    pub rtt: Span,
    /// Buffer of the bottleneck.
    pub buffer: &'a str,
    /// Long transfers the other way.
    pub reverse: u32,
    /// Whether every link is simulated, as captures want it.
    pub full: bool,
    /// Short transfers beside them, with the sender of the first party.
    pub web: Sessions<'a>,
    /// Length of the run.
    pub duration: Span,
    /// The measurement window.
    pub measure: Interval,
    /// When transfers start.
    pub start: Interval,
    /// The number of seeds.
    pub seeds: u32,
    /// The first seed.
    pub seed: u64,
    /// The sampling interval, if any.
    pub sample: Option<Span>,
}

impl Dumbbell<'_> {
    /// The scenario, as `knee run` reads it.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) -> fmt::Result {
        let parties = self.parties.iter().map(|party| (party, queue_and_sender(party.scheme)));
        let parties = parties.collect::<Vec<_>>();
        let Some((_, (queue, sender))) = parties.first() else { return Ok(()) };
        writeln!(text, "name = {}\n{queue}", quoted(&fitting_name(self.title)))?;
        if self.reverse > 0 {
            writeln!(text, "reverse_{}", queue.lines().next().unwrap_or_default())?;
        }
        self.write_run(text)?;
        writeln!(
            text,
            "\n[topology]\nkind = \"dumbbell\"\nrate = \"{}\"\nrtt = \"{}\"",
            self.rate, self.rtt
        )?;
        writeln!(text, "buffer = {}", quoted(self.buffer))?;
        // Acknowledgements of a minimal network come back on a link of their own. That is the same and faster,
        // unless other data travels their way: then they must share its bottleneck, which is like ours.
        match self.reverse {
            0 if self.full => writeln!(text, "access = \"full\"")?,
            0 => writeln!(text, "access = \"minimal\"")?,
            _ => writeln!(text, "access = \"full\"\nreverse_buffer = {}", quoted(self.buffer))?,
        }
        if !self.tcp.is_empty() {
            writeln!(text, "\n[tcp]")?;
            self.tcp.iter().try_for_each(|(name, value)| writeln!(text, "{name} = {value}"))?;
        }
        let start = self.start;
        for (Party { name, flows, .. }, (_, own)) in &parties {
            writeln!(text, "\n[[flows]]\nname = \"{name}\"\ncount = {flows}\nstart = \"{start}\"\n{own}")?;
        }
        if self.reverse > 0 {
            writeln!(
                text,
                "[[flows]]\nname = \"reverse\"\ndirection = \"reverse\"\ncount = {}",
                self.reverse
            )?;
            writeln!(text, "start = \"{start}\"\n{sender}")?;
        }
        let Sessions { section, count, fields } = &self.web;
        if *count > 0 {
            writeln!(text, "[[{section}]]\nname = \"web\"\nsessions = {count}\nstart = \"{start}\"")?;
            fields.iter().try_for_each(|(name, value)| match value {
                Raw::Text(value) => writeln!(text, "{name} = {}", quoted(value)),
                value => writeln!(text, "{name} = {value}"),
            })?;
            writeln!(text, "{sender}")?;
        }
        Ok(())
    }

    fn write_run(&self, text: &mut String) -> fmt::Result {
        writeln!(text, "\n[run]\nduration = \"{}\"\nmeasure = \"{}\"", self.duration, self.measure)?;
        writeln!(text, "seeds = {}\nseed = {}", self.seeds, self.seed)?;
        self.sample.map_or(Ok(()), |sample| writeln!(text, "sample = \"{sample}\""))
    }
}

/// A scheme as sections has its queue and its feedback in lines of their own at the top; what is left says which sender a
/// group has.
fn queue_and_sender(scheme: &Scheme) -> (String, String) {
    let text = scheme.to_toml();
    let (queue, sender) = text.split_once("\n\n[[flows]]\n").unwrap_or((&text, ""));
    (queue.to_string(), sender.to_string())
}

#[cfg(test)]
mod tests {
    use crate::scenario::{self, scheme};
    use crate::tcp::Recovery;
    use crate::units::Time;

    use super::*;

    #[test]
    fn what_is_written_is_what_was_asked_for() {
        let [tahoe, cubic] = ["tahoe/red:ecn=true", "cubic"].map(|name| scheme::parse(name).unwrap());
        let dumbbell = Dumbbell {
            title: "a \"title\" with \\ in it",
            parties: &[
                Party { name: "forward", scheme: &tahoe, flows: 5 },
                Party { name: "other", scheme: &cubic, flows: 2 },
            ],
            tcp: &[
                ("payload".to_string(), Raw::Text("500b".to_string())),
                ("dupthresh".to_string(), Raw::Integer(4)),
            ],
            rate: Rate::from_mbit(20),
            rtt: Span::from_millis(80),
            buffer: "77pkt",
            reverse: 3,
            full: false,
            web: Sessions { section: "web", count: 7, fields: &[("objects", Raw::Integer(3))] },
            duration: Span::from_secs(40),
            measure: Interval { from: Time(10_000_000_000), to: Time(30_000_000_000) },
            start: Interval { from: Time::ZERO, to: Time(5_000_000_000) },
            seeds: 2,
            seed: 9,
            sample: Some(Span::from_millis(100)),
        };
        let plan = scenario::parse(&dumbbell.to_toml()).unwrap();
        let [case] = &plan.cases[..] else { panic!("one case, not {}", plan.cases.len()) };
        let valid = &case.valid;
        assert_eq!((plan.name.as_str(), plan.seeds), (dumbbell.title, vec![9, 10]));
        let bottlenecks = valid.network().links.iter().filter(|link| link.measured).collect::<Vec<_>>();
        assert_eq!(bottlenecks.len(), 2, "one each way, since there are flows each way");
        for bottleneck in bottlenecks {
            assert_eq!((bottleneck.rate, bottleneck.queue.name()), (Some(Rate::from_mbit(20)), "red"));
            assert_eq!(bottleneck.limit, crate::queue::Limit::Packets(77));
        }
        assert_eq!(valid.groups().iter().map(|group| group.members.len()).collect::<Vec<_>>(), [5, 2, 3, 7]);
        let name = |group: &crate::spec::Group| group.cc.as_ref().unwrap().name();
        assert_eq!(valid.groups().iter().map(name).collect::<Vec<_>>(), ["reno", "cubic", "reno", "reno"]);
        for group in valid.groups().iter().filter(|group| name(group) == "reno") {
            let tcp = group.tcp.as_ref().unwrap();
            assert_eq!((tcp.recovery, tcp.payload.0, tcp.dupthresh), (Recovery::Tahoe, 500, 4));
            assert!(group.members.iter().all(|member| member.start == dumbbell.start));
        }
        assert_eq!((valid.schedule().measure, valid.schedule().sample), (dumbbell.measure, dumbbell.sample));
    }
}

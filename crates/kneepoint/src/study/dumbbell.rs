// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One bottleneck with its traffic as a scenario: the questions of `knee compare` and `knee coexist`.

mod question;
mod title;

pub(super) use question::replaced;
pub use question::{Asked, FLOWS, Question, Refused, START};

use crate::scenario::scheme::Scheme;
use crate::scenario::tree::{Table, Value};
use crate::scenario::{Document, Queues, fitting_name};
use crate::settings::Raw;
use crate::units::{Interval, Rate, Span};

/// Long transfers that share a scheme.
pub struct Party<'a> {
    /// Their name in the scenario.
    pub name: &'a str,
    /// Their sender, and the queue of the bottleneck.
    pub scheme: &'a Scheme,
    /// The number.
    pub flows: u32,
}

/// Sessions of short transfers.
#[derive(Clone, Copy, Debug)]
pub struct Sessions<'a> {
    /// The section of their source.
    pub section: &'a str,
    /// The number.
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
    /// The name of the scenario, shortened where it is too long.
    pub title: &'a str,
    /// Long transfers.
    pub parties: &'a [Party<'a>],
    /// Options of every TCP.
    pub tcp: &'a [(String, Raw)],
    /// The source of the queue's default settings.
    pub queues: Queues,
    /// Rate of the bottleneck.
    pub rate: Rate,
    /// Base round-trip time.
    pub rtt: Span,
    /// Buffer of the bottleneck.
    pub buffer: &'a str,
    /// Long transfers in the other direction.
    pub reverse: u32,
    /// Whether every link is simulated, as captures require.
    pub full: bool,
    /// Short transfers next to them, with the sender of the first party.
    pub web: Sessions<'a>,
    /// Length of the run.
    pub duration: Span,
    /// The measurement window.
    pub measure: Interval,
    /// The time at which transfers start.
    pub start: Interval,
    /// The number of seeds.
    pub seeds: u32,
    /// The first seed.
    pub seed: u64,
    /// The sampling interval, if any.
    pub sample: Option<Span>,
}

impl Dumbbell<'_> {
    /// The scenario.
    pub fn document(&self) -> Document {
        Document::write(self.tree())
    }

    /// Its sections.
    pub(super) fn tree(&self) -> Table {
        let bottleneck = self.parties.first().map(|party| party.scheme.bottleneck()).unwrap_or_default();
        let against = bottleneck.get("queue").filter(|_| self.reverse > 0).map(|queue| queue.value.clone());
        let queues = Some(Value::text(self.queues)).filter(|_| self.queues != Queues::Paper);
        let named = Table::default().with("name", Value::text(fitting_name(self.title)));
        let root = named.with_some("queues", queues).and(bottleneck);
        root.with_some("reverse_queue", against)
            .with("run", self.run())
            .with("topology", self.topology())
            .with_some("tcp", Some(options(self.tcp)).filter(|options| !options.entries.is_empty()))
            .with("flows", Value::list(self.flows().map(Value::from)))
            .with_some(self.web.section, self.sessions().map(|web| Value::list([web.into()])))
    }

    fn run(&self) -> Table {
        Table::default()
            .with("duration", Value::text(self.duration))
            .with("measure", Value::text(self.measure))
            .with("seeds", Value::whole(self.seeds))
            .with("seed", Value::whole(self.seed))
            .with_some("sample", self.sample.map(Value::text))
    }

    /// Acknowledgements of a minimal network return on their own link. This is equivalent and faster, unless other data travels
    /// in their direction: then they must share its bottleneck, which is like ours.
    fn topology(&self) -> Table {
        let both = self.reverse > 0;
        let access = if both || self.full { "full" } else { "minimal" };
        Table::default()
            .with("kind", Value::text("dumbbell"))
            .with("rate", Value::text(self.rate))
            .with("rtt", Value::text(self.rtt))
            .with("buffer", Value::text(self.buffer))
            .with("access", Value::text(access))
    }

    fn flows(&self) -> impl Iterator<Item = Table> {
        let group =
            |name, count| Table::default().with("name", Value::text(name)).with("count", Value::whole(count));
        let forward = self.parties.iter().map(move |party| {
            group(party.name, party.flows).with("start", Value::text(self.start)).and(party.scheme.sender())
        });
        let reverse = (self.reverse > 0).then(|| {
            group("reverse", self.reverse)
                .with("direction", Value::text("reverse"))
                .with("start", Value::text(self.start))
                .and(self.sender())
        });
        forward.chain(reverse)
    }

    fn sessions(&self) -> Option<Table> {
        let Sessions { count, fields, .. } = self.web;
        let web = || {
            Table::default()
                .with("name", Value::text("web"))
                .with("sessions", Value::whole(count))
                .with("start", Value::text(self.start))
                .and(options(fields))
                .and(self.sender())
        };
        (count > 0).then(web)
    }

    /// The sender of background traffic.
    fn sender(&self) -> Table {
        self.parties.first().map(|party| party.scheme.sender()).unwrap_or_default()
    }
}

/// Fields with values as given.
fn options(fields: &[(impl AsRef<str>, Raw)]) -> Table {
    fields.iter().fold(Table::default(), |table, (name, value)| table.with(name.as_ref(), value.clone()))
}

#[cfg(test)]
mod tests {
    use crate::scenario::{self, Extensions, scheme};
    use crate::tcp::Recovery;
    use crate::units::Time;

    use super::*;

    fn plain() -> Dumbbell<'static> {
        Dumbbell {
            title: "plain",
            parties: &[],
            tcp: &[],
            queues: Queues::Paper,
            rate: Rate::from_mbit(20),
            rtt: Span::from_millis(80),
            buffer: "77pkt",
            reverse: 0,
            full: false,
            web: Sessions::NONE,
            duration: Span::from_secs(40),
            measure: Interval { from: Time(10_000_000_000), to: Time(30_000_000_000) },
            start: Interval { from: Time::ZERO, to: Time(5_000_000_000) },
            seeds: 2,
            seed: 9,
            sample: Some(Span::from_millis(100)),
        }
    }

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
            reverse: 3,
            web: Sessions { section: "web", count: 7, fields: &[("objects", Raw::Integer(3))] },
            ..plain()
        };
        let document = dumbbell.document();
        let plan = Extensions::NONE.plan(&document).unwrap();
        assert_eq!(scenario::parse(document.text()), Ok(plan.clone()), "{}", document.text());
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

    #[test]
    fn the_bottleneck_and_the_senders_are_the_schemes_as_a_scenario_has_them() {
        let presets = scheme::PRESETS.iter().filter(|preset| preset.family == scheme::Of::Control);
        let presets = presets.map(|preset| preset.name);
        for text in
            presets.chain(["tahoe:decrease=0.3", "ratcp:backlog=4", "ratcp/red/erica:utilization=0.8"])
        {
            let scheme = scheme::parse(text).unwrap();
            let parties = [Party { name: "forward", scheme: &scheme, flows: 2 }];
            let document = Dumbbell { parties: &parties, ..plain() }.document();
            let plan = Extensions::NONE.plan(&document).unwrap();
            assert_eq!(scenario::parse(document.text()), Ok(plan.clone()), "{}", document.text());
            let valid = &plan.cases[0].valid;
            let (group, link) = (&valid.groups()[0], &valid.network().links[0]);
            assert_eq!(group.cc.as_ref(), Some(&scheme.cc));
            let recovery = group.tcp.as_ref().unwrap().recovery;
            assert!(scheme.recovery.is_none_or(|own| own == recovery), "{text}: {recovery}");
            assert_eq!((&link.queue, &link.feedback), (&scheme.queue, &scheme.feedback.unwrap_or_default()));
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reports of a source of another crate.

use kneepoint::measure::{Meter, Subject};
use kneepoint::metric::{Entry, PLAIN, Quantity, Reports, SECONDS, Tallies, number, times};
use kneepoint::rng::Rng;
use kneepoint::run;
use kneepoint::settings;
use kneepoint::table::value;
use kneepoint::traffic::{self, Cue, Kind, Nature, Request, Site, Source, Streams};
use kneepoint::units::{Bytes, Span, Time};

use super::{secs, valid};

/// The number of earlier ticks.
const BEFORE: Quantity = Quantity::number("before");
/// The time since the last one.
const GAP: Quantity = Quantity::times("gap");

const METRICS: &[Entry<Tallies>] = &[
    number("ticks", "Ticks", "ticks", PLAIN, |all| all.count(BEFORE) as f64),
    number("ticks_before", "Ticks before the last", "before", PLAIN, |all| all.last(BEFORE)),
    number("ticking_s", "Time between all ticks", "ticking", SECONDS, |all| all.seconds(GAP)),
    times("gap", "Time between ticks", "gap", |all| all.times(GAP)),
];

/// Ticks each second, and notices each tick half a second before it reports it.
#[derive(Clone, Debug)]
struct Clock {
    before: u32,
    wakeup: Time,
}

settings! {
    /// No parameters.
    pub struct ClockParams {}
}

impl Source for Clock {
    type Params = ClockParams;

    fn new(_: ClockParams, _: Site) -> Clock {
        Clock { before: 0, wakeup: secs(1) }
    }

    fn nature(&self) -> Nature {
        Nature {
            section: "clock",
            kind: Kind::Datagrams,
            streams: Streams { starts: "start-clock", shared: false, draws: "clock" },
            packet: Some(Bytes(100)),
            pressing: None,
            live: None,
        }
    }

    fn reports(&self) -> Reports {
        Reports { source: "", metrics: METRICS, courses: &[] }
    }

    fn on(&mut self, _: Cue, now: Time, _: &mut Rng, requests: &mut Vec<Request>) {
        let at = Time(now.0 - Span::from_millis(500).0);
        let reports = [BEFORE.is(self.before.into(), at), GAP.took(Span::from_secs(1), at)];
        requests.extend(reports.map(Request::Report));
        (self.before, self.wakeup) = (self.before + 1, now + Span::from_secs(1));
    }

    fn next_wakeup(&self) -> Time {
        self.wakeup
    }
}

#[test]
fn its_metrics_stand_in_the_rows_of_its_own_groups_and_count_by_the_time_of_the_report() {
    let mut parts = valid(&[]).into_builder();
    let constant = parts.groups.last_mut().expect("groups");
    constant.source = traffic::external::of::<Clock>("clock", "").into();
    let valid = parts.build().expect("a valid spec");
    let rows = run::run(&valid, 1, Meter::new(&valid, 1)).0.finish();
    let of = |group: &str, metric: &str| value(&rows, metric, &[("group", group)]);
    // The window is from 10 s to 20 s: ticks at 10.5 s, the eleventh, to 19.5 s are inside, though the last is reported at 20 s.
    assert_eq!((of("constant", "ticks"), of("constant", "ticks_before")), (10.0, 19.0));
    assert_eq!((of("constant", "ticking_s"), of("constant", "gap_p99_ms")), (10.0, 1000.0));
    let has = |group: &str| {
        let row = rows.iter().find(|row| Subject::Group.has(row) && row.label("group") == group);
        row.expect("a row of the group").values.contains_key("ticks")
    };
    assert!(has("constant") && !has("forward"));
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What has to be done at one point of an experiment, and the rows that come of it.

use super::frame::Row;
use crate::measure::{METRICS, Meter, Series, Summary, Table, jain_index};
use crate::run::{Event, Observer};
use crate::scenario::Valid;
use crate::units::Time;

/// A simulation to be watched.
#[derive(Clone, Debug)]
pub struct Packets {
    /// What to run.
    pub valid: Valid,
}

impl Packets {
    /// Everything that its rows depend on, but for the seed and the program.
    pub fn identity(&self) -> String {
        format!("{:?}", self.valid)
    }

    /// Who watches a run of it.
    pub fn watch(&self) -> Watch {
        // Windows of single flows are for looking at, and no claim is about one.
        let series = self.valid.schedule.sample.map(|_| Series::new(&self.valid, 0));
        Watch { meter: Meter::new(&self.valid), series }
    }
}

/// Watches a run of an experiment.
pub struct Watch {
    meter: Meter,
    series: Option<Series>,
}

impl Observer for Watch {
    #[inline(always)]
    fn on(&mut self, at: Time, event: &Event) {
        self.meter.on(at, event);
        self.series.on(at, event);
    }
}

impl Watch {
    /// What was observed.
    pub fn rows(self) -> Vec<Row> {
        let mut rows = summary(&self.meter.finish());
        rows.extend(self.series.map(Series::table).iter().flat_map(series));
        rows
    }
}

/// The headline figures, those of every measured link, and those of every group of flows.
fn summary(summary: &Summary) -> Vec<Row> {
    let headline =
        METRICS.iter().fold(Row::new([]), |row, metric| row.with(metric.key, (metric.of)(summary)));
    let links = summary.links.iter().map(|link| {
        Row::new([("link", link.name.clone())])
            .with("queue_mean_packets", link.queue_mean_packets)
            .with("queue_mean_normalized", link.queue_mean_normalized)
            .with("queueing_delay_mean_ms", 1e3 * link.queueing_delay.mean)
            .with("drop_ratio", link.drop_ratio())
            .with("mark_ratio", link.mark_ratio())
            .with("utilization", link.utilization)
    });
    let groups = summary.groups.iter().map(|group| {
        Row::new([("group", group.name.clone())])
            .with("jain_index", jain_index(&group.goodput_bps))
            .with("goodput_bps", group.goodput_bps.iter().sum())
            .with("timeouts", group.timeouts as f64)
            .with("repairs", group.repairs as f64)
    });
    std::iter::once(headline).chain(links).chain(groups).collect()
}

/// The sampled state: a row for each instant, and one for each link and group at it.
fn series(table: &Table) -> Vec<Row> {
    let queues =
        table.columns_of("queue_packets").into_iter().map(|column| (column, "queue_packets", "link"));
    let groups =
        table.columns_of("throughput_bps").into_iter().map(|column| (column, "throughput_bps", "group"));
    let columns: Vec<_> = queues.chain(groups).collect();
    let at = |row: &[f64]| -> Vec<Row> {
        let time = row.first().copied().unwrap_or(f64::NAN).to_string();
        let one = |(column, metric, axis): &(usize, &str, &'static str)| {
            let subject = table.subject(*column).to_string();
            Row::new([("time", time.clone()), (*axis, subject)]).with(*metric, row[*column])
        };
        columns.iter().map(one).collect()
    };
    table.rows.iter().flat_map(|row| at(row)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::run;
    use crate::scenario::parse;

    #[test]
    fn a_run_gives_rows_for_the_whole_for_links_for_groups_and_over_time() {
        let text = "[run]\nduration = '4s'\nsample = '1s'\n[topology]\nkind = 'dumbbell'\nrate = '10mbit'\n\
                    [[flows]]\nname = 'long'\ncount = 2\ncc = 'pert'\n";
        let valid = parse(text).unwrap().cases.remove(0).valid;
        let packets = Packets { valid };
        let (watch, _) = run(&packets.valid, 1, packets.watch());
        let rows = watch.rows();
        let find = |axis: &[&str]| {
            rows.iter().find(|row| row.labels.keys().eq(axis.iter())).unwrap_or_else(|| panic!("{axis:?}"))
        };
        assert!(find(&[]).values["utilization"].is_some_and(|used| used > 0.5));
        assert_eq!(find(&["link"]).values["utilization"], find(&[]).values["utilization"]);
        assert!(find(&["group"]).values["jain_index"].is_some_and(|index| index > 0.4));
        let later = rows.iter().filter(|row| row.labels.get("time").is_some_and(|time| time == "3"));
        assert_eq!(later.count(), 2);
    }

    #[test]
    fn another_scenario_is_another_identity() {
        let identity = |rtt: &str| {
            let text = format!(
                "[topology]\nkind = 'dumbbell'\nrate = '10mbit'\nrtt = '{rtt}'\n[[flows]]\ncc = 'pert'\n"
            );
            Packets { valid: parse(&text).unwrap().cases.remove(0).valid }.identity()
        };
        assert_eq!(identity("60ms"), identity("60ms"));
        assert_ne!(identity("60ms"), identity("61ms"));
    }
}

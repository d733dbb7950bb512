// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The results of an emulation: lines for the reader, and rows and series as of a simulation.

use kneepoint::report::{self, Comparison, RunResult, SchemeResult};
use kneepoint::table::{Row, Table, value};
use kneepoint::units::{Span, Time};
use kneepoint_bench::files;
use kneepoint_bench::session::Session;
use kneepoint_linux::emulator::{Carried, Late};
use serde::Serialize;

use super::Arguments;
use super::path::Emulated;
use super::traps::{Seen, traps};
use crate::failure::Failure;
use crate::outputs::{self, Folder, report_at, write_report};
use crate::{manifest, parquet};

/// The observations of an emulation.
pub struct Outcome {
    /// Numbers under labels.
    pub rows: Vec<Row>,
    /// The sampled state.
    pub series: Table,
    /// The time at which it ended.
    pub ended: Time,
    /// The delay of packets beyond the link's.
    pub late: Late,
    /// The reason why it is not credible, if it is not.
    pub spoiled: Option<String>,
    /// Signs of traps.
    pub seen: Seen,
}

/// The same in machine-readable form.
#[derive(Serialize)]
struct Summary<'a> {
    valid: bool,
    spoiled: &'a Option<String>,
    seconds: f64,
    lateness_us: Lateness,
    real_time: bool,
    traps: &'a [String],
    rows: &'a [Row],
}

#[derive(Serialize)]
struct Lateness {
    p50: f64,
    p99: f64,
    max: f64,
}

impl Outcome {
    /// The outcome of traffic over a path with this round trip.
    pub fn new(rows: Vec<Row>, series: Table, carried: &Carried, rtt: Span, seen: Seen) -> Outcome {
        let late = carried.lateness.summary();
        Outcome { rows, series, ended: carried.ended, late, spoiled: late.spoils(rtt), seen }
    }

    /// An error if it is not credible.
    pub fn judge(self) -> Result<(), Failure> {
        match self.spoiled {
            None => Ok(()),
            Some(why) => Err(Failure::run(
                format!("not a valid emulation: {why}"),
                "run it as root for real-time scheduling, on a machine with an idle core, or at a lower rate",
            )),
        }
    }

    /// Prints it, and writes the requested files.
    pub fn write(
        &self,
        session: &Session,
        arguments: &Arguments,
        path: &Emulated,
        out: Option<Folder>,
        as_json: bool,
    ) -> Result<(), Failure> {
        let traps = traps(&self.seen, &path.valid);
        let micros = |span: Span| span.0 as f64 / 1e3;
        let Late { p50, p99, max } = self.late;
        let summary = Summary {
            valid: self.spoiled.is_none(),
            spoiled: &self.spoiled,
            seconds: self.ended.as_secs_f64(),
            lateness_us: Lateness { p50: micros(p50), p99: micros(p99), max: micros(max) },
            real_time: self.seen.prompt,
            traps: &traps,
            rows: &self.rows,
        };
        let json = report::json::render(&summary);
        if as_json {
            session.print(&json)?;
        } else {
            session.tell(self.lines(&traps));
        }
        if let Some(file) = &arguments.save_trace {
            let first = path.valid.network().links.iter().position(|link| link.measured).unwrap_or(0);
            files::write(file, path.capacity_as_trace(first, arguments.seed, self.ended)?)?;
        }
        if let Some(out) = out {
            self.write_files(session, out, path, arguments, json, traps)?;
        }
        Ok(())
    }

    /// A line for each link, and one for lateness.
    fn lines(&self, traps: &[String]) -> String {
        let mut text = String::new();
        let links = self.rows.iter().filter(|row| row.labels.keys().eq(["link"]));
        for row in links {
            let number = |key: &str| row.value(key);
            let share = |key: &str| {
                let percent = 100.0 * number(key);
                if percent.is_nan() { "-".to_string() } else { format!("{percent:.3} %") }
            };
            let delay = match number("queueing_delay_p99_ms") {
                unknown if unknown.is_nan() => "-".to_string(),
                delay => format!("{delay:.1} ms"),
            };
            let used = match number("utilization") {
                unknown if unknown.is_nan() => String::new(),
                used => format!(" ({:.1} % of the link)", 100.0 * used),
            };
            text += &format!(
                "{}: {:.2} Mbit/s{used}, {} packets\n  queue {:.1} packets, delay p99 {delay}, dropped {}, lost {}, marked {}\n",
                row.label("link"),
                number("throughput_bps") / 1e6,
                number("served_packets"),
                number("queue_mean_packets"),
                share("drop_ratio"),
                number("drops_channel"),
                share("mark_ratio"),
            );
        }
        let Late { p50, p99, max } = self.late;
        text += &format!(
            "lateness of packets: p50 {} us, p99 {} us, max {} us over {:.1} s: {}",
            p50.0 / 1000,
            p99.0 / 1000,
            max.0 / 1000,
            self.ended.as_secs_f64(),
            if self.spoiled.is_none() { "valid" } else { "NOT VALID" }
        );
        traps.iter().for_each(|trap| text += &format!("\nnote: {trap}"));
        text
    }

    fn write_files(
        &self,
        session: &Session,
        out: Folder,
        path: &Emulated,
        arguments: &Arguments,
        json: String,
        mut notes: Vec<String>,
    ) -> Result<(), Failure> {
        notes.extend(self.spoiled.as_ref().map(|why| format!("not a valid emulation: {why}")));
        let run = RunResult {
            seed: arguments.seed,
            cpu_seconds: f64::NAN,
            bottleneck_packets: value(&self.rows, "served_packets", &[]) as u64,
            events: 0,
            rows: self.rows.clone(),
        };
        let scheme = SchemeResult {
            scheme: "emulation".into(),
            levels: Vec::new(),
            controls: Default::default(),
            runs: vec![run],
            measured: None,
            series: Some(self.series.clone()),
            theory: None,
        };
        let scenario = vec![("emulation".to_string(), path.scenario.clone())];
        let manifest = manifest::of(session, scenario, vec![arguments.seed], notes);
        let comparison = Comparison {
            title: "Emulation".into(),
            factors: Vec::new(),
            schemes: vec![scheme],
            cautions: Vec::new(),
            manifest,
        };
        files::write(&out.join("emulation.toml"), &path.scenario)?;
        files::write(&out.join("summary.json"), json)?;
        files::write(&out.join("runs.csv"), report::csv::records(&report::tables::runs(&comparison)))?;
        let series = outputs::directory(&out, "series")?;
        files::write(&series.join("emulation.csv"), report::csv::table(&self.series))?;
        let origin = parquet::Origin { output: &report::output::SERIES, manifest: &comparison.manifest };
        parquet::save(&series.join("emulation.parquet"), |sink| parquet::write(&self.series, origin, sink))?;
        write_report(
            session,
            &report::comparison::document(&comparison),
            &out,
            &arguments.charts.printer()?,
        )?;
        session.tell(report_at(&out.publish(session)?));
        Ok(())
    }
}

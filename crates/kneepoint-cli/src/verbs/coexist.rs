// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee coexist`: what controllers do to each other on one bottleneck, in many settings.
//!
//! Every pair meets in every buffer with every number of flows, and each controller meets itself, which shows the noise.
//! Where both have the same number of flows one run tells about both.

use std::path::{Path, PathBuf};

use clap::Args;
use kneepoint::experiment::{Packets, Work};
use kneepoint::report::coexistence::{self, Cell, Coexistence, Meeting, Place, places};
use kneepoint::report::{csv, html, reproduction};
use kneepoint::scenario;
use kneepoint::scenario::scheme::Scheme;
use kneepoint::settings::Raw;
use kneepoint::table::Row;
use kneepoint::units::{Bytes, Interval, Rate, Span, Time};

use super::compare::{read_scheme, tcp_options};
use crate::dumbbell::{Dumbbell, Party};
use crate::failure::Failure;
use crate::files::{self, tell};
use crate::remembered::{self, Means, Remembered, Wanted};
use crate::store::Store;
use crate::study::numbered;
use crate::{interrupt, machine, manifest, parquet, png};

/// Who meets whom, and where.
#[derive(Args)]
#[command(after_help = "\
Examples:
  knee coexist --quick
  knee coexist pert-adaptive cubic sack --rate 150mbit --rtt 60ms --buffers 0.25bdp,1bdp,4bdp
  knee coexist cubic sack vegas --flows 10 --queue red-ecn --seeds 10 --out out/red
  knee coexist pert cubic --mix 0.1 --flows 10,50   a tenth of the flows are the row's
  knee coexist --json | jq '.verdicts[] | {controller, verdict}'

OUT/report.html has the verdicts and the matrices; overview, shares and losses are SVG and PNG,
coexistence.csv, .parquet and .json the numbers, scenarios/ what `knee run` repeats.
Each run is kept in OUT/runs the moment it ends; what is kept is not run again, so that more
seeds, settings or controllers cost only what they add.")]
pub struct Arguments {
    /// Controllers that are to meet, each with settings after a colon
    #[arg(value_name = "CONTROLLER", default_values = DEFAULTS)]
    controllers: Vec<String>,
    /// Rate of the bottleneck
    #[arg(long, default_value = "150mbit")]
    rate: Rate,
    /// Base round-trip time
    #[arg(long, default_value = "60ms", value_name = "TIME")]
    rtt: Span,
    /// Buffers in which they meet; in bdp never less than two packets a flow
    /// [default: 0.25bdp,0.5bdp,1bdp,2bdp,4bdp, or 0.5bdp,1bdp,2bdp with --quick]
    #[arg(long, value_delimiter = ',', value_name = "SIZE,…")]
    buffers: Vec<String>,
    /// How many flows meet, of both together [default: 2,10,50, or 2,10 with --quick]
    #[arg(long, value_delimiter = ',', value_name = "N,…", value_parser = clap::value_parser!(u32).range(2..=100_000))]
    flows: Vec<u32>,
    /// Which part of the flows is the row's
    #[arg(long, default_value_t = 0.5, value_name = "PART", allow_negative_numbers = true)]
    mix: f64,
    /// Queue of the bottleneck
    #[arg(long, default_value = "droptail")]
    queue: String,
    /// Which part of a fair share is enough, to take and to leave
    #[arg(long, default_value_t = 0.8, value_name = "PART", allow_negative_numbers = true)]
    enough: f64,
    /// Length of a run in simulated time [default: 200s, or 40s with --quick]
    #[arg(long, value_name = "TIME")]
    duration: Option<Span>,
    /// What is measured [default: all but the first quarter, 50s..200s of 200s]
    #[arg(long, value_name = "FROM..TO")]
    measure: Option<Interval>,
    /// When transfers start, each at random within [default: the first twentieth, 0s..10s of 200s]
    #[arg(long, value_name = "FROM..TO")]
    start: Option<Interval>,
    /// Runs of each pair in each setting [default: 5, or 3 with --quick]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    seeds: Option<u32>,
    /// The first seed
    #[arg(long, default_value_t = 1, value_name = "SEED")]
    seed: u32,
    /// Options of every TCP, as `knee explain tcp` lists them (repeatable, or with commas)
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',')]
    tcp: Vec<String>,
    /// Fewer settings, shorter runs and fewer seeds where none are given, for a first look
    #[arg(long)]
    quick: bool,
    /// Run again what is kept
    #[arg(long)]
    fresh: bool,
    /// Runs side by side [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Directory for report, pictures, numbers and finished runs
    #[arg(long, default_value = "out/coexist", value_name = "DIR")]
    out: PathBuf,
}

/// What is deployed, what was, and what is to be.
const DEFAULTS: [&str; 4] = ["pert-adaptive", "cubic", "bbr", "sack"];
/// What scenarios call the two groups: a controller may meet itself.
const GROUPS: [&str; 2] = ["row", "column"];

/// The arguments with everything that they leave open.
struct Plan<'a> {
    arguments: &'a Arguments,
    schemes: Vec<Scheme>,
    /// What titles call the controllers: without their settings, and numbered where that is the same.
    short: Vec<String>,
    tcp: Vec<(String, Raw)>,
    buffers: Vec<String>,
    flows: Vec<u32>,
    duration: Span,
    seeds: Vec<u64>,
}

/// Who meets whom in one buffer, and what has to be done to see it.
struct Encounter {
    place: Place,
    work: Work,
}

/// Names and texts of scenarios.
type Texts = Vec<(String, String)>;

/// Lets them meet.
pub fn coexist(arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let plan = Plan::new(arguments)?;
    let (encounters, scenarios) = plan.encounters()?;
    interrupt::listen()?;
    let out = &arguments.out;
    let store = Store::open(out.join("runs"))?;
    // Seed by seed, so that an interrupted matrix is complete on some seeds.
    let seeds = plan.seeds.iter();
    let wanted = seeds.flat_map(|seed| encounters.iter().map(|one| Wanted::new(&one.work, *seed))).collect();
    let means =
        Means { workers: arguments.jobs.map_or_else(machine::cores, usize::from), fresh: arguments.fresh };
    let known = remembered::settle(wanted, &store, means)?;
    let effort = reproduction::effort(&known.effort());
    let unfinished = (known.left > 0).then(|| format!("interrupted: {} runs were not finished", known.left));
    if known.effort().runs == 0 {
        return Err(Failure::Interrupted(
            "stopped before the first run finished; there is nothing to report".into(),
        ));
    }
    let manifest = manifest::of(scenarios, plan.seeds.clone(), unfinished.into_iter().collect());
    let all = Coexistence {
        title: plan.title(),
        about: plan.about(),
        controllers: arguments.controllers.clone(),
        cells: plan.cells(&encounters, &known),
        buffers: plan.buffers,
        flows: plan.flows,
        mix: arguments.mix,
        enough: arguments.enough,
        manifest,
    };
    let json = format!("{:#}\n", coexistence::json(&all));
    write(&all, &json, out)?;
    files::print(if as_json { json } else { coexistence::render(&all) })?;
    let place = format!("{effort}\nreport: {}", out.join("report.html").display());
    if known.left > 0 {
        return Err(Failure::Interrupted(format!(
            "stopped: {} runs were not finished; the same command goes on from there\n{place}",
            known.left
        )));
    }
    tell(place);
    Ok(())
}

fn write(all: &Coexistence, json: &str, out: &Path) -> Result<(), Failure> {
    let scenarios = &all.manifest.scenario;
    let names = scenarios.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>();
    for (place, (_, text)) in scenarios.iter().enumerate() {
        let folder = out.join("scenarios");
        files::make_directory(&folder)?;
        files::write(&folder.join(format!("{}.toml", numbered(&names, place))), text)?;
    }
    let records = coexistence::records(all);
    files::write(&out.join("coexistence.json"), json)?;
    files::write(&out.join("coexistence.csv"), csv::records(&records))?;
    parquet::save(&out.join("coexistence.parquet"), |sink| parquet::write_records(&records, sink))?;
    files::write(&out.join("report.html"), html::render_coexistence(all))?;
    let pictures = [
        ("overview", coexistence::overview(all)),
        ("shares", coexistence::shares(all)),
        ("losses", coexistence::losses(all)),
    ];
    for (name, drawing) in pictures {
        let svg = drawing.standalone();
        files::write(&out.join(format!("{name}.png")), png::render(&svg)?)?;
        files::write(&out.join(format!("{name}.svg")), svg)?;
    }
    Ok(())
}

impl Plan<'_> {
    fn new(arguments: &Arguments) -> Result<Plan<'_>, Failure> {
        let quick = arguments.quick;
        let usual = |full: &[&str], short: &[&str]| -> Vec<String> {
            (if quick { short } else { full }).iter().map(|text| text.to_string()).collect()
        };
        let buffers = match &arguments.buffers[..] {
            [] => usual(&["0.25bdp", "0.5bdp", "1bdp", "2bdp", "4bdp"], &["0.5bdp", "1bdp", "2bdp"]),
            given => given.to_vec(),
        };
        let flows = match &arguments.flows[..] {
            [] if quick => vec![2, 10],
            [] => vec![2, 10, 50],
            given => given.to_vec(),
        };
        once("the controller", &arguments.controllers, String::clone)?;
        once("--buffers:", &buffers, |buffer| meant(buffer))?;
        once("--flows:", &flows, u32::clone)?;
        if arguments.controllers.len() < 2 {
            return Err(Failure::usage(
                format!("`{}` alone meets nobody", arguments.controllers[0]),
                "name two controllers or more; `knee list controllers` shows what there is",
            ));
        }
        for (name, part) in [("--mix", arguments.mix), ("--enough", arguments.enough)] {
            if !(part > 0.0 && part < 1.0) {
                let message = format!("{name} {part} is outside the allowed range, between 0 and 1");
                return Err(Failure::usage(message, format!("write a part of one, as in `{name} 0.5`")));
            }
        }
        divisible(arguments.mix, &flows)?;
        let tcp = tcp_options(&arguments.tcp)?;
        let read = |name: &String| match name.split_once('/') {
            Some((control, queue)) => Err(Failure::usage(
                format!("`{name}` is a scheme: all controllers meet in one queue"),
                format!("name `{control}`, and the queue with `--queue {queue}`"),
            )),
            None => read_scheme(&format!("{name}/{}", arguments.queue), &tcp),
        };
        let schemes = arguments.controllers.iter().map(read).collect::<Result<_, _>>()?;
        let bare = arguments.controllers.iter().map(|name| name.split(':').next().unwrap_or(name));
        let bare = bare.collect::<Vec<_>>();
        let (seeds, first) =
            (arguments.seeds.unwrap_or(if quick { 3 } else { 5 }), u64::from(arguments.seed));
        Ok(Plan {
            arguments,
            schemes,
            short: (0..bare.len()).map(|place| numbered(&bare, place)).collect(),
            tcp,
            buffers,
            flows,
            duration: arguments.duration.unwrap_or(Span::from_secs(if quick { 40 } else { 200 })),
            seeds: (0..u64::from(seeds)).map(|place| first + place).collect(),
        })
    }

    /// `pert beside cubic`: short whatever their settings are, for scenarios refuse long names.
    fn pair(&self, place: Place) -> String {
        format!("{} beside {}", self.short[place.row], self.short[place.column])
    }

    /// How many of `flows` are the row's and the column's: both are there.
    fn sides(&self, flows: u32) -> [u32; 2] {
        let (row, _) = row_flows(self.arguments.mix, flows);
        [row, flows - row]
    }

    /// Whether a run of a pair tells about both of its orders.
    fn is_mirror(&self, place: Place) -> bool {
        let [row, column] = self.sides(self.flows[place.flows]);
        row == column && place.row > place.column
    }

    /// Everything that has to be run, and the scenarios that say so, each with its buffers as a sweep.
    fn encounters(&self) -> Result<(Vec<Encounter>, Texts), Failure> {
        let (mut encounters, mut scenarios) = (Vec::new(), Vec::new());
        let buffers = self.buffers.iter().map(|buffer| format!("{buffer:?}")).collect::<Vec<_>>().join(", ");
        for place in places(self.schemes.len(), self.flows.len(), 1).filter(|place| !self.is_mirror(*place)) {
            let name = format!("{}, {} flows", self.pair(place), self.flows[place.flows]);
            let text = format!("{}\n[sweep]\n\"topology.buffer\" = [{buffers}]\n", self.dumbbell(place));
            let plan = scenario::parse(&text).map_err(|faults| Failure::Scenario {
                origin: format!("the scenario that these arguments make for {name}"),
                text: text.clone(),
                faults,
            })?;
            for (buffer, case) in plan.cases.into_iter().enumerate() {
                let work = Work::Packets(Box::new(Packets {
                    valid: case.valid,
                    watched: None,
                    windows: Vec::new(),
                }));
                encounters.push(Encounter { place: Place { buffer, ..place }, work });
            }
            scenarios.push((name, text));
        }
        Ok((encounters, scenarios))
    }

    fn dumbbell(&self, place: Place) -> String {
        let arguments = self.arguments;
        let [row, column] = self.sides(self.flows[place.flows]);
        let part = |share: u64| Time(self.duration.0 / share);
        Dumbbell {
            title: &self.pair(place),
            parties: &[
                Party { name: GROUPS[0], scheme: &self.schemes[place.row], flows: row },
                Party { name: GROUPS[1], scheme: &self.schemes[place.column], flows: column },
            ],
            tcp: &self.tcp,
            rate: arguments.rate,
            rtt: arguments.rtt,
            buffer: &self.buffers[0],
            reverse: 0,
            full: false,
            web: 0,
            duration: self.duration,
            measure: arguments.measure.unwrap_or(Interval { from: part(4), to: part(1) }),
            start: arguments.start.unwrap_or(Interval { from: Time::ZERO, to: part(20) }),
            seeds: self.seeds.len() as u32,
            seed: arguments.seed,
            sample: None,
        }
        .to_toml()
    }

    /// What is known of every place; the order of a pair that was not run is what the other saw.
    fn cells(&self, encounters: &[Encounter], known: &Remembered) -> Vec<Cell> {
        let meetings = |place: Place| -> Vec<Meeting> {
            let Some(one) = encounters.iter().find(|one| one.place == place) else { return Vec::new() };
            let records = self.seeds.iter().filter_map(|seed| known.get(&one.work, *seed));
            records.filter_map(|record| meeting(&record.rows)).collect()
        };
        let cell = |place: Place| Cell {
            flows: self.sides(self.flows[place.flows]),
            meetings: if self.is_mirror(place) {
                let mirror = Place { row: place.column, column: place.row, ..place };
                meetings(mirror).into_iter().map(Meeting::mirrored).collect()
            } else {
                meetings(place)
            },
        };
        places(self.schemes.len(), self.flows.len(), self.buffers.len()).map(cell).collect()
    }

    fn title(&self) -> String {
        match self.short.split_last() {
            Some((last, rest)) => format!("{} and {last} side by side", rest.join(", ")),
            None => String::new(),
        }
    }

    fn about(&self) -> String {
        let Arguments { rate, rtt, queue, mix, tcp, .. } = self.arguments;
        let exact = self.flows.iter().all(|flows| row_flows(*mix, *flows).1 < 1e-9 * f64::from(*flows));
        let whose = match *mix {
            _ if !exact => {
                let counts = self.flows.iter().map(|flows| format!("{} of {flows}", self.sides(*flows)[0]));
                format!("{} flows the row's", counts.collect::<Vec<_>>().join(" and "))
            }
            0.5 => "half of the flows each".to_string(),
            mix => format!("{} % of the flows the row's", 100.0 * mix),
        };
        let tcp = if tcp.is_empty() { String::new() } else { format!(", {}", tcp.join(", ")) };
        format!("{rate}, {rtt}, {queue}, {whose}{tcp}, runs of {}", self.duration)
    }
}

/// What a run says about its two groups.
fn meeting(rows: &[Row]) -> Option<Meeting> {
    let value = |group: Option<&str>, metric: &str| {
        let of_group = |row: &&Row| match group {
            Some(group) => row.labels.len() == 1 && row.labels.get("group").is_some_and(|name| name == group),
            None => row.labels.is_empty(),
        };
        rows.iter().filter(of_group).find_map(|row| row.values.get(metric).copied().flatten())
    };
    let [row, column] = GROUPS;
    Some(Meeting {
        share: value(Some(row), "share")?,
        drop_ratio: [row, column].map(|group| value(Some(group), "drop_ratio").unwrap_or(f64::NAN)),
        utilization: value(None, "utilization")?,
        queue: value(None, "queue_mean_normalized").unwrap_or(f64::NAN),
    })
}

/// Refuses what is named twice, however it is written.
fn once<T: std::fmt::Display, M: PartialEq>(
    what: &str,
    all: &[T],
    meant: impl Fn(&T) -> M,
) -> Result<(), Failure> {
    let meanings = all.iter().map(meant).collect::<Vec<_>>();
    match (1..all.len()).find(|place| meanings[..*place].contains(&meanings[*place])) {
        Some(place) => {
            Err(Failure::usage(format!("{what} `{}` is given twice", all[place]), "name each once"))
        }
        None => Ok(()),
    }
}

/// A buffer in one way of writing it: `1.0bdp` is `1bdp`. What is no buffer is refused by who reads the scenario.
fn meant(buffer: &str) -> String {
    if let Ok(time) = buffer.parse::<Span>() {
        return time.to_string();
    }
    if let Ok(data) = buffer.parse::<Bytes>() {
        return data.to_string();
    }
    let unit = buffer.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
    match buffer[..buffer.len() - unit.len()].trim().parse::<f64>() {
        Ok(number) => format!("{number}{}", unit.to_ascii_lowercase()),
        Err(_) => buffer.to_string(),
    }
}

/// How many of `flows` are the row's, and by how many flows that misses `mix`: both sides are there.
fn row_flows(mix: f64, flows: u32) -> (u32, f64) {
    let wanted = mix * f64::from(flows);
    let row = (wanted.round() as u32).clamp(1, flows - 1);
    (row, (wanted - f64::from(row)).abs())
}

/// Refuses flows that cannot be divided as `mix` says, to a twentieth of them.
fn divisible(mix: f64, flows: &[u32]) -> Result<(), Failure> {
    let divides = |count: u32| row_flows(mix, count).1 <= f64::from(count) / 20.0;
    let Some(undivided) = flows.iter().copied().find(|count| !divides(*count)) else { return Ok(()) };
    let (row, _) = row_flows(mix, undivided);
    let message = format!(
        "--mix {mix} of {undivided} flows is no whole number of them: {row} and {} is the nearest",
        undivided - row
    );
    // Half a flow is a twentieth of ten, and one flow a twentieth of twenty.
    let next = (undivided..).find(|count| divides(*count)).unwrap_or(20);
    Err(Failure::usage(message, format!("give numbers of flows that it divides, as in `--flows {next}`")))
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One large run on one thread and on several: parking lots of up to 64 routers and 100 000 flows.

use std::fmt::Write;
use std::process::Command;
use std::time::Instant;

use clap::Args;
use kneepoint::measure::Meter;
use kneepoint::run::{Division, Outcome, Region, Simulation};
use kneepoint::scenario;
use kneepoint::spec::Valid;
use kneepoint::units::Time;
use kneepoint_bench::program::session;
use kneepoint_bench::threads;
use nix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use super::child::{cpu_ns, peak_kib};
use super::{median, ratio, this};

/// The legend of the table.
pub const METHOD: &str = "\
One second of a parking lot of SACK flows, a tenth of them over all hops and the rest over one hop each, each with 0.5 Mbit/s of its
hops; hops take 20 ms and access links 10 ms. A thread has a region of consecutive routers, and all threads exchange packets every
20 ms of simulated time. Results are the same to the bit. *Seconds* are elapsed, from an initialised scenario to the end of the run, with
a meter; *speed-up* and *efficiency*, which is the speed-up divided by the number of threads, are medians over rounds in which the
numbers of threads alternate. *Processor* is the processor time of all threads, *busiest* that of the one that takes most, and *set-up* the
part of it before the first event. *Memory* is the peak of the process.

A study divides its runs where `--jobs`, one per core by default, are at least twice as many as its parallel runs. Each run then has an equal
number of threads, if the limit of memory holds its estimate once for each, and if each of its regions transmits at least 1000 packets between two
exchanges by estimate. Runs that are divided have long transfers alone, over links of constant rate without effects other than
losses, and a network with links of at least 100 µs between routers. They are not sampled, and have neither captures nor predictors nor algorithms of the
caller. All other runs take one thread. `knee run` samples unless `--sample 0s` is given.
";

/// Networks, the largest last.
const CASES: [Case; 3] = [
    Case { routers: 8, flows: 1000 },
    Case { routers: 16, flows: 10_000 },
    Case { routers: 64, flows: 100_000 },
];

/// Threads that are compared.
const THREADS: [usize; 2] = [1, 2];
/// Bits per second of a flow.
const SHARE: u64 = 500_000;

/// A parking lot.
#[derive(Args, Clone, Copy)]
struct Case {
    /// Routers.
    routers: u32,
    /// Flows, about.
    flows: u32,
}

/// The arguments of the child process.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    case: Case,
    /// Threads.
    threads: usize,
}

/// The output of the child process.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Timing {
    seconds: f64,
    cpu_seconds: f64,
    busiest_seconds: f64,
    set_up_seconds: f64,
    peak_kib: u64,
    events: u64,
}

/// All rounds of a case with a number of threads.
pub struct Point {
    case: Case,
    threads: usize,
    rounds: Vec<Timing>,
    speed_up: f64,
}

/// Processor seconds of a thread: up to its first event, and in all.
type Spent = (f64, f64);

/// Runs a case once on a number of threads and prints its timing.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
pub fn run_once(arguments: &Arguments) -> Result<bool, String> {
    let valid = arguments.case.scenario()?;
    let (before, began) = (cpu_ns(), Instant::now());
    let (outcome, spent) = match Division::new(&valid, arguments.threads, 0) {
        None => {
            let (_, outcome, spent) = timed(|meter| Simulation::new(&valid, 1, meter), &valid);
            (outcome, vec![spent])
        }
        Some(division) => divided(division, &valid)?,
    };
    let most = |part: fn(&Spent) -> f64| spent.iter().map(part).fold(0.0, f64::max);
    let timing = Timing {
        seconds: began.elapsed().as_secs_f64(),
        cpu_seconds: (cpu_ns() - before) as f64 / 1e9,
        busiest_seconds: most(|(_, all)| *all),
        set_up_seconds: most(|(first, _)| *first),
        peak_kib: peak_kib().unwrap_or(0),
        events: outcome.events,
    };
    println!("{}", serde_json::to_string(&timing).map_err(|error| error.to_string())?);
    Ok(true)
}

/// A run by several threads, and the processor time of each.
fn divided(mut division: Division, valid: &Valid) -> Result<(Outcome, Vec<Spent>), String> {
    let region = |region: Region| timed(|meter| region.simulation(1, meter), valid);
    let parts = threads::regions(&session(), &mut division, region)
        .ok_or("the machine does not start the threads")?;
    let spent = parts.iter().map(|(.., spent)| *spent).collect();
    let watched = parts.into_iter().map(|(meter, outcome, _)| (meter, outcome));
    let (_, outcome) = division.join(watched).ok_or("a run without regions")?;
    Ok((outcome, spent))
}

/// Makes a simulation, and runs it to its end.
fn timed<'a>(
    simulation: impl FnOnce(Meter) -> Simulation<'a, Meter>,
    valid: &Valid,
) -> (Meter, Outcome, Spent) {
    let began = thread_seconds();
    let mut simulation = simulation(Meter::new(valid, 1));
    let set_up = thread_seconds() - began;
    simulation.advance(Time::NEVER);
    let spent = (set_up, thread_seconds() - began);
    let (meter, outcome) = simulation.finish();
    (meter, outcome, spent)
}

/// Processor time of this thread.
fn thread_seconds() -> f64 {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("every Unix has this clock");
    time.tv_sec() as f64 + time.tv_nsec() as f64 / 1e9
}

impl Case {
    fn scenario(self) -> Result<Valid, String> {
        let Case { routers, flows } = self;
        let long = flows / 10;
        let short = (flows - long) / (routers - 1);
        let rate = u64::from(long + short) * SHARE;
        let mut text = format!(
            "[run]\nduration = \"1s\"\nmeasure = \"0.5s..1s\"\n[topology]\nkind = \"parking-lot\"\nrate = \"{rate}bit\"\n\
             routers = {routers}\nhop_delay = \"20ms\"\naccess_delay = \"10ms\"\naccess_rate = \"1gbit\"\n\
             [tcp]\nrecovery = \"sack\"\n[[flows]]\nname = \"all\"\ncount = {long}\ncc = \"newreno\"\nstart = \"0s..0.2s\"\n"
        );
        for hop in 1..routers {
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "[[flows]]\nname = \"hop{hop}\"\ncount = {short}\ncc = \"newreno\"\nfrom = \"r{hop}\"\nto = \"r{}\"\nstart = \"0s..0.2s\"\n",
                hop + 1
            );
        }
        let plan = scenario::parse(&text).map_err(|faults| faults[0].message.clone())?;
        plan.cases.into_iter().next().map(|case| case.valid).ok_or_else(|| "a plan without a case".into())
    }
}

/// Measures each case with each number of threads in each round.
pub fn measure(rounds: usize) -> Result<Vec<Point>, String> {
    let points = CASES.map(|case| points(case, rounds));
    Ok(points.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

fn points(case: Case, rounds: usize) -> Result<Vec<Point>, String> {
    let mut timed = THREADS.map(|_| Vec::new());
    for round in 1..=rounds {
        for (threads, timings) in THREADS.iter().zip(&mut timed) {
            eprintln!("{} flows, round {round} of {rounds}: {threads} threads", case.flows);
            timings.push(timing(case, *threads)?);
        }
    }
    let seconds = |timings: &[Timing]| timings.iter().map(|one| one.seconds).collect::<Vec<_>>();
    let alone = seconds(&timed[0]);
    let point = |(threads, timings): (usize, Vec<Timing>)| {
        let speed_up = ratio(&alone, &seconds(&timings)).unwrap_or(f64::NAN);
        Point { case, threads, rounds: timings, speed_up }
    };
    Ok(THREADS.into_iter().zip(timed).map(point).collect())
}

fn timing(case: Case, threads: usize) -> Result<Timing, String> {
    let arguments = [case.routers.to_string(), case.flows.to_string(), threads.to_string()];
    let output = Command::new(this()?)
        .arg("bench-parallel-child")
        .args(arguments)
        .output()
        .map_err(|error| error.to_string())?;
    serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("{threads} threads: {error}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// The measurements as a Markdown table.
pub fn table(points: &[Point]) -> String {
    let mut text = String::from(
        "| routers | flows | threads | seconds | speed-up | efficiency | processor, s | busiest, s | set-up, s | events, millions | memory, MiB |\n\
         |---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for Point { case, threads, rounds, speed_up } in points {
        let of = |value: fn(&Timing) -> f64| {
            median(&rounds.iter().map(value).collect::<Vec<_>>()).unwrap_or(f64::NAN)
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {} | {} | {threads} | {:.2} | {speed_up:.2} | {:.0} % | {:.2} | {:.2} | {:.2} | {:.1} | {:.0} |",
            case.routers,
            case.flows,
            of(|one| one.seconds),
            100.0 * speed_up / *threads as f64,
            of(|one| one.cpu_seconds),
            of(|one| one.busiest_seconds),
            of(|one| one.set_up_seconds),
            of(|one| one.events as f64 / 1e6),
            of(|one| one.peak_kib as f64 / 1024.0),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_case_is_a_scenario_that_can_be_divided() {
        let valid = Case { routers: 8, flows: 200 }.scenario().unwrap();
        let division = Division::new(&valid, 2, 0).unwrap();
        let (outcome, spent) = divided(division, &valid).unwrap();
        assert_eq!((outcome, spent.len()), (kneepoint::run::run(&valid, 1, ()).1, 2));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee fluid run`: integrates a model and reports its trajectory.

use std::path::PathBuf;

use clap::Args;
use kneepoint::report::{self, csv, json};
use kneepoint::study::fluid::Solution;
use kneepoint::table::Records;
use kneepoint::units::Span;
use kneepoint_bench::answer::{self, Answer};
use kneepoint_bench::files;
use kneepoint_bench::session::Session;

use super::parameters::Chosen;
use super::print;
use crate::failure::Failure;
use crate::outputs::{Out, report_at, write_report};
use crate::pictures::ChartOptions;
use crate::values::number;

/// Arguments of `knee fluid run`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  knee fluid run pert                                   decaying oscillation: Figure 13 (c)
  knee fluid run pert --rtt 171ms --end 60s --out out/fig13d
  knee fluid run tcp-red --weight 0.001 --csv | head
  knee fluid run pert-pi --start 20,0.01,0 --json | jq .equilibrium")]
pub struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    /// Duration
    #[arg(long, value_name = "TIME", default_value = "20s")]
    end: Span,
    /// The three states up to time 0, as in 1,1,1 [default: the model's]
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', allow_negative_numbers = true, value_parser = number)]
    start: Vec<f64>,
    /// Output interval [default: 400 points]
    #[arg(long, value_name = "TIME")]
    every: Option<Span>,
    /// Print the trajectory as CSV instead of a summary
    #[arg(long)]
    csv: bool,
    #[command(flatten)]
    charts: ChartOptions,
    /// Directory for the report, figures/trajectory.svg and trajectory.csv
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Points of a trajectory by default.
const ROWS: u64 = 400;
/// More points indicate a mistaken unit.
const MOST_ROWS: u64 = 1_000_000;

/// Integrates and prints.
pub fn run(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let printer = arguments.charts.printer()?;
    let solution = solution(arguments)?;
    let document = report::fluid::solution(&solution);
    let csv = || csv::table(&solution.series());
    if let Some(out) = &arguments.out {
        let out = Out::Given(out.clone()).settle(session)?;
        write_report(session, &document, &out, &printer)?;
        files::write(&out.join("trajectory.csv"), csv())?;
        session.tell(report_at(&out.publish(session)?));
    }
    if arguments.csv { session.print(csv()) } else { print(session, &document, &solution, as_json) }
}

/// Integrates.
pub fn answer(arguments: &Arguments) -> Result<Answer, Failure> {
    let solution = solution(arguments)?;
    let tables = vec![answer::named("trajectory", Records::from(&solution.series()))];
    Ok(Answer::whole(report::fluid::solution(&solution), json::render(&solution), tables))
}

fn solution(arguments: &Arguments) -> Result<Solution, Failure> {
    let subject = arguments.chosen.subject()?;
    let start = match arguments.start[..] {
        [] => None,
        [a, b, c] => Some([a, b, c]),
        _ => {
            let states = subject.config.build().states().join(", ");
            let remedy = format!("give {states}, as in `--start 1,1,1`");
            return Err(Failure::usage("--start: the model has three states, each a number", remedy));
        }
    };
    let end = arguments.end;
    for (option, span) in [("--end", Some(end)), ("--every", arguments.every)] {
        if span == Some(Span::ZERO) {
            return Err(Failure::usage(
                format!("{option} 0s: it must be above 0s"),
                format!("write it as in `{option} 10ms`"),
            ));
        }
    }
    let every = arguments.every.unwrap_or(Span((end.0 / ROWS).max(1)));
    if end.0 / every.0 > MOST_ROWS {
        let message = format!("--every {every}: {end} would take more than {MOST_ROWS} points");
        return Err(Failure::usage(message, "choose a longer interval, as in `--every 10ms`"));
    }
    Solution::of(subject, start, end.as_secs_f64(), every.as_secs_f64())
        .map_err(|why| Failure::usage(format!("--end {end}: {why}"), "end earlier"))
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee gate accept`: shows the changes, and then updates the baseline.

use clap::Args;
use kneepoint::experiment::gate::Status;
use kneepoint::report::{gate, json};
use kneepoint_bench::files;
use kneepoint_bench::session::Session;

use super::asked::Options;
use crate::failure::Failure;
use crate::terminal;

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    options: Options,
}

/// Runs the cases, shows their outcome, and writes the baseline.
pub fn accept(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let mut planned = arguments.options.plan(session, true)?;
    let (outcome, manifest) = planned.conduct(session, &arguments.options)?;
    session.print(if as_json {
        json::render(&gate::told(&outcome, &manifest))
    } else {
        terminal::shown(&gate::document(&outcome, &manifest))
    })?;
    if outcome.status() == Status::Unjudged || outcome.count(Status::Unjudged) > 0 {
        return Err(Failure::usage(
            "a case could not be judged, and nothing was accepted",
            "`knee gate run --json` says which observation is missing",
        ));
    }
    let baseline = planned.accepted.take().unwrap_or_default().accepting(&outcome);
    files::write(&planned.baseline, baseline.text())?;
    session.tell(format!("wrote {}", planned.baseline.display()));
    Ok(())
}

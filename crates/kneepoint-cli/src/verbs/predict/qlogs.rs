// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Connections of QUIC stacks, in their own records.

use std::path::{Path, PathBuf};

use kneepoint::capture::qlog::{self, Traced};
use kneepoint::report::predictions::Predictions;
use kneepoint_bench::session::Session;

use super::Arguments;
use super::captured::watched;
use super::opened::{LARGEST, SHOWN, distinct};
use crate::compressed::{self, Unpacked};
use crate::failure::Failure;

/// Connections, and remarks on their files.
pub struct Connections {
    /// The flows of all files, the ones with the most data first.
    pub all: Vec<Traced>,
    /// For readers.
    pub notes: Vec<String>,
}

/// Lets predictors observe one connection, or all that have round trips.
pub fn watch(session: &Session, arguments: &Arguments) -> Result<Predictions, Failure> {
    if arguments.flows {
        return Err(Failure::usage(
            "--flows is about captures",
            "a message names the connections: give a wrong --flow",
        ));
    }
    let configs = arguments.configs_of_what_happened()?;
    let Connections { all, mut notes } = open(session, &arguments.files)?;
    let chosen = match arguments.all {
        true => all.iter().filter(|traced| !traced.transfer.samples.is_empty()).collect(),
        false => vec![chosen(&all, arguments.flow.as_deref())?],
    };
    notes.extend(chosen.iter().map(|traced| format!("{}: {}", traced.name, note(traced))));
    let watched =
        |traced: &&Traced| watched(traced.name.clone(), &traced.transfer, &configs, arguments.hold_off);
    let cases = chosen.iter().map(watched).collect();
    let names = arguments.files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>();
    Ok(Predictions { title: names.join(", "), factors: Vec::new(), cases, notes })
}

/// Reads all files, and prints the remarks on them; those on missing and impossible parts are warnings.
pub fn open(session: &Session, paths: &[PathBuf]) -> Result<Connections, Failure> {
    distinct(paths)?;
    let (mut all, mut notes) = (Vec::new(), Vec::new());
    for path in paths {
        let Opened { traces, warnings, remarks } = opened(path)?;
        warnings.iter().for_each(|warning| session.tell(format!("warning: {warning}")));
        remarks.iter().for_each(|remark| session.tell(remark));
        all.extend(traces);
        notes.extend(warnings.into_iter().chain(remarks));
    }
    all.sort_by_key(|traced| std::cmp::Reverse(traced.transfer.bytes));
    Ok(Connections { all, notes })
}

/// A file.
struct Opened {
    traces: Vec<Traced>,
    /// Remarks on missing and impossible parts.
    warnings: Vec<String>,
    remarks: Option<String>,
}

fn opened(path: &Path) -> Result<Opened, Failure> {
    let Unpacked { bytes, warning, remark: remarks } = compressed::read(path, LARGEST)?;
    let shown = path.display();
    let (traces, cut) =
        qlog::read(&bytes).map_err(|fault| Failure::run(format!("`{shown}` {fault}"), fault.remedy))?;
    let cut = cut.map(|cut| format!("{shown} was cut off {cut}. The part before was used."));
    let doubts = traces.iter().flat_map(|traced| traced.exchange.doubts());
    let doubts = doubts.map(|doubt| format!("{shown}: {doubt}"));
    let warnings = warning.into_iter().chain(cut).chain(doubts).collect();
    Ok(Opened { traces, warnings, remarks })
}

/// The requested connection, or the one with the most data.
fn chosen<'a>(all: &'a [Traced], asked: Option<&str>) -> Result<&'a Traced, Failure> {
    let found = match asked {
        None => all.first(),
        Some(asked) => all.iter().find(|traced| traced.name == asked),
    };
    let traced = found.ok_or_else(|| {
        let names = all.iter().take(SHOWN).map(|traced| traced.name.as_str());
        let names = names.collect::<Vec<_>>().join(", ");
        match asked {
            None => Failure::run("the files have no connection", "let the stack write qlog of one"),
            Some(asked) => Failure::usage(
                format!("--flow: no connection `{asked}` in the files"),
                format!("expected one of {names}"),
            ),
        }
    })?;
    if traced.transfer.samples.is_empty() {
        return Err(Failure::run(
            format!(
                "no round trips of {}: there is no `recovery_metrics_updated` with `latest_rtt`",
                traced.name
            ),
            "let the stack log the events of recovery, at the side that sends the data",
        ));
    }
    Ok(traced)
}

/// Remarks for readers on a connection.
fn note(traced: &Traced) -> String {
    let transfer = &traced.transfer;
    format!(
        "{} packets with data or acknowledgements, up to {} bytes; {} round trips; {} packets that the sender took for lost. As the sender \
         recorded them.",
        transfer.packets,
        transfer.mss,
        transfer.samples.len(),
        transfer.losses.len(),
    )
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Connections of QUIC senders, in their qlog.

use std::path::Path;

use kneepoint::capture::qlog::{Traced, Unfit};
use kneepoint::report::identification::IdentifiedFlow;
use kneepoint::study::identify::{OF_STACKS, Suspect, identify, suspects_in_quic};
use kneepoint_bench::session::Session;

use super::{Arguments, Found, MOST_FLOWS, PART, asked, nearest, unmeasured};
use crate::failure::Failure;
use crate::verbs::predict::opened::distinct;
use crate::verbs::predict::{Connections, open_qlog};

/// What is assumed of a sender.
const RECOVERY: &str = "A QUIC sender is taken for one with RACK's recovery, which packet and time thresholds of RFC 9002 resemble; which packet repairs a lost one \
                        is taken from their order.";

/// A remark on logs without ACK frames.
const DERIVED: &str = "there are no ACK frames; acknowledged packets were derived from the bytes in flight, the oldest ones first.";

/// The connections of the files.
pub fn found(session: &Session, arguments: &Arguments) -> Result<Found, Failure> {
    let suspects = asked(&arguments.against, &OF_STACKS, suspects_in_quic)?;
    let (all, mut notes) = opened(session, arguments)?;
    let (mut flows, mut unfit) = (Vec::new(), None);
    let alone = arguments.files.len() == 1;
    let chosen = chosen(&all, arguments.flow.as_deref())?;
    for (file, traced) in &chosen {
        let name = match alone {
            true => traced.name.clone(),
            false => format!("{}, {}", traced.name, file.display()),
        };
        match identified(session, traced, &suspects) {
            Ok(Some(one)) => {
                flows.push(IdentifiedFlow { file: Some(file.display().to_string()), ..one });
                if traced.exchange.is_derived() {
                    notes.push(format!("{name}: {DERIVED}"));
                }
            }
            Ok(None) => notes.push(format!("{name}: no acknowledgement measures a round trip.")),
            Err(why) => {
                notes.push(format!("{}: `{}` {why}.", traced.name, file.display()));
                unfit = unfit.or(Some((*file, why)));
            }
        }
    }
    match unfit.filter(|_| flows.is_empty()) {
        Some((file, why)) => Err(Failure::run(format!("`{}` {why}", file.display()), remedy(why))),
        None if flows.is_empty() => Err(unmeasured(
            &chosen.iter().map(|(_, traced)| traced.name.clone()).collect::<Vec<_>>(),
            all.len(),
            "log a transfer of more than a few packets at its sender",
        )),
        None => {
            notes.push(RECOVERY.into());
            Ok((flows, notes))
        }
    }
}

/// A connection with its file.
type Kept<'a> = (&'a Path, Traced);

/// The connections, the ones with the most data first, and remarks.
fn opened<'a>(session: &Session, arguments: &'a Arguments) -> Result<(Vec<Kept<'a>>, Vec<String>), Failure> {
    distinct(&arguments.files)?;
    let (mut all, mut remarks) = (Vec::new(), Vec::new());
    for file in &arguments.files {
        let Connections { all: connections, notes } = open_qlog(session, std::slice::from_ref(file))?;
        all.extend(connections.into_iter().map(|traced| (file.as_path(), traced)));
        remarks.extend(notes);
    }
    all.sort_by_key(|(_, traced)| std::cmp::Reverse(traced.transfer.bytes));
    Ok((all, remarks))
}

fn remedy(why: Unfit) -> &'static str {
    match why {
        Unfit::Receiver => "give the qlog of the side that sends the data",
        Unfit::Silent => "let the stack log `packet_sent` with lengths, at the side that sends the data",
        Unfit::Unanswered => {
            "let the stack log the frames of received packets, or `recovery_metrics_updated` with `bytes_in_flight`"
        }
    }
}

fn identified(
    session: &Session,
    traced: &Traced,
    suspects: &[Suspect],
) -> Result<Option<IdentifiedFlow>, Unfit> {
    let course = traced.exchange.course()?;
    let verdict = identify(&course, suspects, session);
    Ok(verdict.map(|verdict| IdentifiedFlow::of(traced.name.clone(), course.mss, &verdict)))
}

/// The connection of this name, or those with the most data.
fn chosen<'a>(all: &'a [Kept<'a>], asked: Option<&str>) -> Result<Vec<&'a Kept<'a>>, Failure> {
    let Some(most) = all.first().map(|(_, traced)| traced.transfer.bytes) else {
        return Err(Failure::run("the files have no connection", "let the stack write qlog of one"));
    };
    let Some(asked) = asked else {
        let large = all.iter().filter(|(_, traced)| traced.transfer.bytes.saturating_mul(PART) >= most);
        return Ok(large.take(MOST_FLOWS).collect());
    };
    let named: Vec<&Kept> = all.iter().filter(|(_, traced)| traced.name == asked).collect();
    if named.is_empty() {
        let known: Vec<&str> = all.iter().map(|(_, traced)| traced.name.as_str()).collect();
        return Err(Failure::usage(
            format!("--flow: no connection `{asked}` in the files"),
            nearest(asked, &known),
        ));
    }
    Ok(named)
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee identify`: which congestion control sent a capture.

mod logged;

use std::path::{Path, PathBuf};

use clap::Args;
use kneepoint::capture::{self, Capture, Direction};
use kneepoint::report::identification::{self, Identification, IdentifiedFlow};
use kneepoint::report::{csv, json};
use kneepoint::study::identify::{MAINLINE, Suspect, identify, suspects};
use kneepoint::suggest::closest;
use kneepoint_bench::answer::{self, Answer};
use kneepoint_bench::files;
use kneepoint_bench::session::Session;

use super::Verb;
use super::predict::opened::{Files, is_qlog, open};
use crate::failure::Failure;
use crate::outputs::{Out, report_at, write_report};
use crate::pictures::{ChartOptions, Printer};
use crate::terminal;

/// Say which congestion control sent a packet capture or a qlog
#[derive(Args)]
#[command(after_help = "\
Examples:
  knee identify my.pcap
  knee identify my.pcap --against reno,cubic,bbr
  knee identify connection.sqlog            the qlog of a QUIC sender
  knee identify my.pcapng --flow 10.0.0.1:443-10.0.0.2:5001 --json | jq '.flows[].controller'
  tshark -r my.pcap -T fields -E header=y -E separator=, -E quote=d \\
    -e frame.time_relative -e ip.src -e ip.dst -e tcp.srcport -e tcp.dstport \\
    -e tcp.seq -e tcp.ack -e tcp.len -e tcp.flags.syn \\
    -e tcp.options.timestamp.tsval -e tcp.options.timestamp.tsecr \\
    -e tcp.options.sack_le -e tcp.options.sack_re > my.csv
  knee identify my.csv

Nothing is learned from examples: each candidate is led through the capture, and what it would have had in flight is compared with what \
was. A capture is best taken at the sender of the data, with headers whole, and begins with the handshake; a qlog is that of the sender. \
docs/identify.md says how right it is.")]
pub struct Arguments {
    /// Captures of one path: pcap, pcapng, or CSV of tshark with names of columns; or qlog of senders; compressed (.gz .zst .xz) or not
    #[arg(value_name = "CAPTURE", required = true)]
    files: Vec<PathBuf>,
    /// The flow: ADDRESS:PORT-ADDRESS:PORT, the sender first, or the name of a qlog's connection [default: each that carried a tenth of the
    /// most data]
    #[arg(long)]
    flow: Option<String>,
    /// Candidates, or `all`: every controller that needs no help of the network [default: the controllers of mainline Linux, or for qlog
    /// those of QUIC stacks]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    against: Vec<String>,
    #[command(flatten)]
    charts: ChartOptions,
    /// Directory for the report, figures/, identification.json and candidates.csv [default: none is written]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub const VERB: Verb<Arguments> = Verb { act, answer: Some(answer) };

/// The remark at the end of every answer.
const UNPROVEN: &str = "Neither a name nor a refusal is a proof: docs/identify.md says how many names were wrong in captures whose senders are known, and how many \
                        unknown controllers were given another's name.";
/// The word for every candidate.
const ALL: &str = "all";
/// Flows with less than this part of the data of the largest are left out.
const PART: u64 = 10;
/// Flows in the remedy for an unknown one.
const SUGGESTED: usize = 5;
/// Flows that are looked at unless one is named.
const MOST_FLOWS: usize = 20;

fn act(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    if arguments.out.is_none() && arguments.charts.given() {
        let message = "--charts, --size and --font are for figures, and none is written";
        return Err(Failure::usage(message, "give a directory with `--out DIR`"));
    }
    let printer = arguments.charts.printer()?;
    let found = found(session, arguments)?;
    if let Some(out) = &arguments.out {
        keep(session, &found, out, &printer)?;
    }
    let Answer { document, json, .. } = answered(&found);
    session.print(if as_json { json } else { terminal::shown(&document) })
}

fn keep(session: &Session, found: &Identification, out: &Path, printer: &Printer) -> Result<(), Failure> {
    let out = Out::Given(out.to_path_buf()).settle(session)?;
    let Answer { document, json, tables, .. } = answered(found);
    write_report(session, &document, &out, printer)?;
    files::write(&out.join("identification.json"), &json)?;
    for (name, records) in &tables {
        files::write(&out.join(format!("{name}.csv")), csv::records(records))?;
    }
    session.tell(report_at(&out.publish(session)?));
    Ok(())
}

fn answer(session: &Session, arguments: &Arguments) -> Result<Answer, Failure> {
    Ok(answered(&found(session, arguments)?))
}

fn answered(found: &Identification) -> Answer {
    let tables = vec![answer::named("candidates", identification::records(found))];
    Answer::whole(identification::document(found), json::render(found), tables)
}

/// Flows, and remarks.
type Found = (Vec<IdentifiedFlow>, Vec<String>);

fn found(session: &Session, arguments: &Arguments) -> Result<Identification, Failure> {
    let qlog = arguments.files.iter().map(|file| is_qlog(file)).collect::<Result<Vec<_>, _>>()?;
    let (flows, mut notes) = match qlog.iter().position(|qlog| !qlog) {
        None => logged::found(session, arguments)?,
        Some(_) if !qlog.contains(&true) => captured(session, arguments)?,
        Some(other) => {
            let message = format!("`{}` is not qlog", arguments.files[other].display());
            return Err(Failure::usage(message, "give qlog only, or none"));
        }
    };
    notes.push(UNPROVEN.into());
    let names = arguments.files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>();
    Ok(Identification { title: names.join(", "), flows, notes })
}

/// The flows of captures.
fn captured(session: &Session, arguments: &Arguments) -> Result<Found, Failure> {
    let suspects = asked(&arguments.against, &MAINLINE, suspects)?;
    let Files { capture, mut notes, warnings } = open(&arguments.files)?;
    warnings.iter().for_each(|warning| session.tell(format!("warning: {warning}")));
    if capture.senders().is_empty() {
        let names: Vec<String> = arguments.files.iter().map(|file| format!("`{}`", file.display())).collect();
        return Err(Failure::run(
            format!("no TCP data in {}", names.join(", ")),
            "capture a TCP transfer with at least 120 bytes of each packet, or export `tcp.len` of its packets",
        ));
    }
    let chosen = directions(&capture, arguments.flow.as_deref())?;
    if !chosen.iter().any(|one| capture.is_answered(*one)) {
        return Err(Failure::run(
            "the capture has the data of flows and none of their acknowledgements",
            "add the capture of the other direction, or capture both at the sender",
        ));
    }
    let mut flows = Vec::new();
    for direction in &chosen {
        let flow = shown(*direction);
        match identified(session, &capture, *direction, &flow, &suspects, &mut notes) {
            Some(one) => flows.push(one),
            None => notes.push(format!("{flow}: no acknowledgement measures a round trip.")),
        }
    }
    if flows.is_empty() {
        return Err(unmeasured(
            &chosen.into_iter().map(shown).collect::<Vec<_>>(),
            capture.senders().len(),
            "capture both directions of a TCP transfer at its sender, and each packet once",
        ));
    }
    Ok((flows, notes))
}

/// The candidates of these names, `usual` ones for none, as `made` has them.
fn asked(
    against: &[String],
    usual: &[&str],
    made: fn(&[String]) -> Result<Vec<Suspect>, String>,
) -> Result<Vec<Suspect>, Failure> {
    let names = match against {
        [] => usual.iter().map(|name| (*name).to_string()).collect(),
        [all] if all == ALL => Vec::new(),
        named if named.iter().any(|name| name == ALL) => {
            return Err(Failure::usage(
                format!("--against: `{ALL}` beside names"),
                format!("give `{ALL}` alone, or names"),
            ));
        }
        named => named.to_vec(),
    };
    made(&names).map_err(|message| {
        Failure::usage(format!("--against: {message}"), "`knee list controllers` shows the names")
    })
}

fn identified(
    session: &Session,
    capture: &Capture,
    direction: Direction,
    flow: &str,
    suspects: &[Suspect],
    notes: &mut Vec<String>,
) -> Option<IdentifiedFlow> {
    let course = capture.course(direction)?;
    let verdict = identify(&course, suspects, session)?;
    match course.vantage {
        None => notes.push(format!("{flow}: without the handshake, the capture is taken for one at the sender. If it was taken elsewhere, a name may be wrong.")),
        Some(vantage) if course.dated => notes.push(format!(
            "{flow}: captured {:.0} % of the round trip away from the sender. Timestamps say, to a tick of the sender's clock, when data left; \
             queues of acknowledgements on their way back are not seen.",
            100.0 * vantage.unseen()
        )),
        Some(vantage) if !vantage.is_at_sender() => notes.push(format!(
            "{flow}: captured {:.0} % of the round trip away from the sender. Queues before the capture are not seen, and the verdict is \
             as uncertain as they are long.",
            100.0 * vantage.unseen()
        )),
        Some(_) => {}
    }
    if course.guessed {
        notes.push(format!("{flow}: selective acknowledgements are not in the capture, and were derived from the order of transmissions and the number of duplicates."));
    }
    Some(IdentifiedFlow::of(flow.to_string(), course.mss, &verdict))
}

fn shown((from, to): Direction) -> String {
    format!("{from}-{to}")
}

/// No acknowledgement measures a round trip of the flows that were looked at, of so many.
fn unmeasured(looked_at: &[String], all: usize, remedy: &str) -> Failure {
    let others = all.saturating_sub(looked_at.len());
    let smaller = match others {
        0 => String::new(),
        _ => format!("; `--flow` looks at another one, of which there are {others}"),
    };
    Failure::run(
        format!("no acknowledgement measures a round trip of {}", looked_at.join(", ")),
        format!("{remedy}{smaller}"),
    )
}

/// The requested flow, or those with the most data.
fn directions(capture: &Capture, asked: Option<&str>) -> Result<Vec<Direction>, Failure> {
    let senders = capture.senders();
    let Some(asked) = asked else {
        // Of those whose acknowledgements were captured, too.
        let answered = || senders.iter().filter(|(direction, _)| capture.is_answered(*direction));
        let most = answered().next().map_or(0, |(_, bytes)| *bytes);
        let large = answered().filter(|(_, bytes)| bytes * PART >= most);
        return Ok(large.take(MOST_FLOWS).map(|(direction, _)| *direction).collect());
    };
    let wanted = capture::parse_direction(asked).filter(|one| senders.iter().any(|(known, _)| known == one));
    wanted.map(|one| vec![one]).ok_or_else(|| {
        let backward = capture::parse_direction(asked).map(|(from, to)| (to, from));
        if let Some(sender) = backward.filter(|one| senders.iter().any(|(known, _)| known == one)) {
            let message = format!("--flow: no data of `{asked}` in the capture");
            return Failure::usage(message, format!("the sender is first: `{}`", shown(sender)));
        }
        let known: Vec<String> = senders.iter().map(|(direction, _)| shown(*direction)).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        Failure::usage(format!("--flow: no flow `{asked}` in the capture"), nearest(asked, &known))
    })
}

/// The remedy for a flow that there is not: the name that may be meant, or those with the most data, of all in this order.
fn nearest(asked: &str, known: &[&str]) -> String {
    if let Some(name) = closest(asked, known) {
        return format!("did you mean `{name}`?");
    }
    let largest: Vec<&str> = known.iter().take(SUGGESTED).copied().collect();
    let others = known.len() - largest.len();
    let more = if others > 0 { format!(", and {others} more") } else { String::new() };
    format!("with the most data: {}{more}", largest.join(", "))
}

#[cfg(test)]
mod tests {
    use kneepoint::capture::Capture;

    use super::{directions, nearest};

    #[test]
    fn an_unlike_flow_gets_those_with_the_most_data() {
        let known = ["a", "b", "c", "d", "e", "f", "g"];
        assert_eq!(nearest("server", &known[..2]), "with the most data: a, b");
        assert_eq!(nearest("server", &known), "with the most data: a, b, c, d, e, and 2 more");
    }

    #[test]
    fn a_misspelt_flow_gets_the_nearest_one() {
        let mut capture = Capture::default();
        let export = "frame.time_relative,ip.src,ip.dst,tcp.srcport,tcp.dstport,tcp.seq,tcp.len,tcp.ack\n0.1,10.0.0.1,10.0.0.2,4000,5000,1,100,1\n";
        capture.read_export(export).unwrap();
        let refused = directions(&capture, Some("10.0.0.1:4000-10.0.0.2:500")).unwrap_err();
        assert!(
            format!("{refused:?}").contains("did you mean `10.0.0.1:4000-10.0.0.2:5000`?"),
            "{refused:?}"
        );
        assert!(directions(&capture, Some("10.0.0.1:4000-10.0.0.2:5000")).is_ok());
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee hunt`: networks on which a controller is far worse than a reference.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use kneepoint::experiment::hunted::{Finding, Origin};
use kneepoint::report::hunt::{self as report, Outcome};
use kneepoint::report::json;
use kneepoint::study::hunt::{Arena, Contestants, Hunt, PROFILES, Profile, WEAKNESSES, Weakness, shrink};
use kneepoint::table::number::counted;
use kneepoint::tcp::Host;
use kneepoint_bench::answer::{self, Answer};
use kneepoint_bench::files;
use kneepoint_bench::session::Session;
use kneepoint_bench::threads;
use serde_json::json;

use super::Verb;
use crate::completion;
use crate::failure::Failure;
use crate::outputs::{Folder, Out, directory, report_at, write_report};
use crate::pictures::{ChartOptions, Format};
use crate::values::{OneOf, distinct, of_range};
use crate::{manifest, terminal};

/// Search for networks on which a controller is far worse than a reference
#[derive(Args)]
#[command(after_help = "\
Examples:
  knee hunt bbr
  knee hunt pert-adaptive --against cubic --profile wired --for use,queue
  knee hunt vegas --evaluations 20000 --seed 7 --out out/vegas
  knee hunt vegas --evaluations 40000 --seed 7 --resume out/vegas/hunt.json
  knee reproduce out/hunt/findings/bbr-use-1.toml       what was found, as an experiment
  sudo knee live out/hunt/findings/bbr-use-1.toml       the same on this machine's kernel

Every network is run with the scheme and with the reference. The worst of each kind is kept, by how far the rate and the round trip change, by buffer and \
losses: OUT/report.html has the map. Findings are made as simple as they can be: OUT/findings has each as a scenario of at most 15 lines with a claim, \
OUT/cases each as a case of a gate that the reference passes. docs/hunt.md says how weaknesses are scored.")]
pub struct Arguments {
    /// The controller, with settings after a colon
    #[arg(value_name = "SCHEME", add = completion::controller())]
    scheme: String,
    /// The controller with which it is compared
    #[arg(long, value_name = "SCHEME", default_value = "cubic", add = completion::controller())]
    against: String,
    /// Bounds of networks
    #[arg(long, default_value = "any", value_parser = OneOf::of(PROFILES.iter().map(|profile| profile.name)))]
    profile: String,
    /// Weaknesses to look for [default: all]
    #[arg(long = "for", value_name = "WEAKNESS,…", value_delimiter = ',', value_parser = OneOf::of(WEAKNESSES.iter().map(|one| one.name)))]
    weaknesses: Vec<String>,
    /// Networks to evaluate
    #[arg(long, default_value_t = 2000, value_name = "N", value_parser = of_range::<u64>(1..=1_000_000_000))]
    evaluations: u64,
    /// The most steps of a network [default: from the profile]
    #[arg(long, value_name = "N", value_parser = of_range::<u32>(1..=15))]
    steps: Option<u32>,
    /// The most findings of each weakness
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = of_range::<u64>(0..=20))]
    findings: u64,
    /// The seed of the search
    #[arg(long, default_value_t = 1, value_name = "SEED", value_parser = kneepoint::scenario::seed)]
    seed: u64,
    /// The hosts; Linux's are the ones that `knee live` can confirm
    #[arg(long, default_value = "linux", value_parser = OneOf::of(Host::ALL.iter().map(|host| host.name())))]
    tcp: String,
    /// Go on from the hunt.json of an earlier hunt with the same arguments, to --evaluations in all
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    #[command(flatten)]
    charts: ChartOptions,
    /// Directory for report, map and findings [default: out/hunt, numbered if it exists]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub const VERB: Verb<Arguments> = Verb { act, answer: Some(answer) };

/// Hunts and reports.
fn act(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let hunt = hunt(session, arguments)?;
    let printer = arguments.charts.or(&[Format::Png]).printer()?;
    let out = Out::or_free(arguments.out.as_deref(), PathBuf::from("out/hunt")).settle(session)?;
    let (answer, findings) = conduct(session, hunt, arguments)?;
    write_report(session, &answer.document, &out, &printer)?;
    files::write(&out.join("hunt.json"), &answer.json)?;
    write_findings(&findings, &out)?;
    let place = report_at(&out.publish(session)?);
    session.print(if as_json { answer.json } else { terminal::shown(&answer.document) })?;
    match answer.unfinished {
        Some(stopped) => Err(Failure::Interrupted(format!("{stopped}\n{place}"))),
        None => {
            session.tell(place);
            Ok(())
        }
    }
}

/// Hunts, and leaves no files behind.
fn answer(session: &Session, arguments: &Arguments) -> Result<Answer, Failure> {
    let hunt = hunt(session, arguments)?;
    Ok(conduct(session, hunt, arguments)?.0)
}

/// The hunt before its first round, or where an earlier one ended.
fn hunt(session: &Session, arguments: &Arguments) -> Result<Hunt, Failure> {
    let host = Host::named(&arguments.tcp).unwrap_or(Host::Linux);
    let contestants = contestants(session, arguments, host)?;
    let both = [&contestants.subject, &contestants.reference];
    session.simulated(both.into_iter().filter_map(|one| one.controller()), "a hunt")?;
    distinct("--for: the weakness", &arguments.weaknesses, String::clone)?;
    let named = |name: &String| Weakness::named(name);
    let mut weaknesses: Vec<&'static Weakness> = arguments.weaknesses.iter().filter_map(named).collect();
    if weaknesses.is_empty() {
        weaknesses = WEAKNESSES.iter().collect();
    }
    let profile = Profile::named(&arguments.profile).unwrap_or(&PROFILES[0]);
    let profile = profile.with_steps(arguments.steps.unwrap_or(profile.steps));
    let mut hunt = Hunt::new(Arena::new(contestants, weaknesses), profile, arguments.seed);
    if let Some(path) = &arguments.resume {
        let text =
            files::read_text_of(session, "what a hunt left", path, "name the hunt.json of its directory")?;
        hunt.progress = report::read(&hunt, &text).map_err(|why| {
            Failure::usage(
                format!("cannot go on from `{}`: {why}", path.display()),
                "give its arguments and the file as this knee wrote it, or start over without --resume",
            )
        })?;
        let known = hunt.progress.evaluations;
        if arguments.evaluations < known {
            let has = counted(known, "network");
            let message = format!("--evaluations {}: `{}` has {has}", arguments.evaluations, path.display());
            return Err(Failure::usage(
                message,
                format!("ask for {known} or more, which are counted in all"),
            ));
        }
    }
    Ok(hunt)
}

/// The controllers of the arguments, on these hosts.
fn contestants(session: &Session, arguments: &Arguments, host: Host) -> Result<Contestants, Failure> {
    let Arguments { scheme, against, .. } = arguments;
    let refused = |place: &str, why: String| {
        let lists = "`knee list controllers` shows the names, `knee explain NAME` their settings";
        Failure::usage(why, format!("name a controller alone {place}: {lists}"))
    };
    for (name, place) in [(scheme, "after `knee hunt`"), (against, "with --against")] {
        Contestants::scheme(name, session.extensions()).map_err(|why| refused(place, why))?;
    }
    let contestants = Contestants::new(scheme, against, host, session.extensions())
        .map_err(|why| refused("each time", why))?;
    if !contestants.are_alike() {
        return Ok(contestants);
    }
    let [one, other] = [&contestants.subject.name, &contestants.reference.name];
    let as_other = if one == other { String::new() } else { format!(" as `{other}`") };
    let message = format!("`{one}` is compared with itself{as_other}, which makes every score 0");
    Err(Failure::usage(message, "name another controller, or other settings, with --against"))
}

/// Makes the rounds, and the results that follow from them.
fn conduct(
    session: &Session,
    mut hunt: Hunt,
    arguments: &Arguments,
) -> Result<(Answer, Vec<Finding>), Failure> {
    session.listen_saying("stopping; findings so far are reported without being simplified further (again to stop at once, without a report)")?;
    let (last, before) = (arguments.evaluations, hunt.progress.evaluations);
    let bar = session.bar(last.saturating_sub(before));
    while hunt.progress.evaluations < last && !session.asked() {
        let round = hunt.round(last);
        let scores = threads::map(session, &round, |genome| hunt.scores(genome));
        let scores: Result<Vec<_>, _> = scores.into_iter().collect();
        let scores = scores.map_err(|invalid| refused(&invalid.to_string()))?;
        hunt.take(&round, &scores);
        bar.set_done(hunt.progress.evaluations - before);
        let best =
            hunt.archives().filter_map(|(weakness, archive)| Some((archive.best()?.score, weakness.name)));
        let (score, name) = best.fold((0.0, ""), |so_far, one| if one.0 > so_far.0 { one } else { so_far });
        bar.say(format!("{}, {name} {score:.2}", counted(hunt.progress.evaluations, "network")));
    }
    bar.close();
    let Confirmed { findings, others } = confirmed(session, &hunt, arguments)?;
    let evaluated = hunt.progress.evaluations;
    let unfinished = session.asked().then(|| match evaluated < last {
        true => {
            format!("stopped after {evaluated} of {last} networks; --resume with hunt.json resumes there")
        }
        false => {
            "stopped before all findings were simplified; --resume with hunt.json simplifies them".into()
        }
    });
    let links: Vec<String> = findings.iter().map(|finding| studio(&finding.text)).collect();
    let outcome = Outcome { hunt: &hunt, findings: &findings, links: &links, others: &others };
    let texts = findings.iter().map(|finding| (finding.id.clone(), finding.text.clone())).collect();
    let made = manifest::of(session, texts, vec![hunt.seed], Vec::new());
    let document = report::document(&outcome, &made);
    let told = json::render(&report::hunted(&outcome, &made));
    let tables = vec![answer::named("findings", report::records(&outcome))];
    Ok((Answer { unfinished, ..Answer::whole(document, told, tables) }, findings))
}

/// The fate of the worst networks.
struct Confirmed {
    findings: Vec<Finding>,
    /// For each weakness, the networks that do not show it with further seeds or to a comparison.
    others: Vec<usize>,
}

/// Shrinks the worst networks of each weakness, and makes experiments of them. Once the session is asked to stop, they stay as they are.
fn confirmed(session: &Session, hunt: &Hunt, arguments: &Arguments) -> Result<Confirmed, Failure> {
    let most = arguments.findings as usize;
    let suspects: Vec<_> = (0..hunt.arena.weaknesses.len())
        .flat_map(|weakness| hunt.suspects(weakness).into_iter().map(move |elite| (weakness, elite)))
        .collect();
    // Not every suspect shows its weakness with other seeds and to a comparison: twice as many are tried.
    let tried: Vec<_> = (0..hunt.arena.weaknesses.len())
        .flat_map(|weakness| suspects.iter().filter(move |(own, _)| *own == weakness).take(2 * most))
        .collect();
    let bar = session.bar(tried.len() as u64);
    bar.say("simplifying findings".into());
    let simpler = threads::map(session, &tried, |(weakness, elite)| {
        let shrunk = shrink(&hunt.arena, *weakness, &elite.genome, &hunt.profile, || !session.asked());
        bar.add(1);
        shrunk
    });
    bar.close();
    let contestants = &hunt.arena.contestants;
    let about = format!("profile {}, seed {}", hunt.profile.name, hunt.seed);
    let origin = Origin { contestants, about, extensions: session.extensions() };
    let bare = contestants.subject.name.split(':').next().unwrap_or_default();
    let mut findings: Vec<Finding> = Vec::new();
    let mut others = vec![0; hunt.arena.weaknesses.len()];
    for ((place, _), shrunk) in tried.iter().zip(simpler) {
        let Some(shrunk) = shrunk.map_err(|invalid| refused(&invalid.to_string()))? else {
            others[*place] += 1;
            continue;
        };
        let weakness = hunt.arena.weaknesses[*place];
        let alike = findings.iter().filter(|finding| finding.weakness.name == weakness.name);
        let (count, known) = alike.fold((0, false), |(count, known), finding| {
            (count + 1, known || finding.genome == shrunk.genome)
        });
        if known || count >= most {
            continue;
        }
        let id = format!("{bare}-{}-{}", weakness.name, count + 1);
        let finding = Finding::new(&origin, (id, weakness), &shrunk.genome, shrunk.score);
        match finding.map_err(|why| refused(&why))? {
            Some(finding) => findings.push(finding),
            None => others[*place] += 1,
        }
    }
    Ok(Confirmed { findings, others })
}

fn refused(why: &str) -> Failure {
    Failure::run(
        format!("a network of the search is refused: {why}"),
        "report it with the command: profiles are meant to stay within what scenarios allow",
    )
}

/// Each finding as a scenario, and as a case of a gate.
fn write_findings(findings: &[Finding], out: &Folder) -> Result<(), Failure> {
    for finding in findings {
        let write = |folder: &str, text: &str| {
            let place: &Path = out;
            files::write(&directory(place, folder)?.join(format!("{}.toml", finding.id)), text)
        };
        write("findings", &finding.text)?;
        write("cases", &finding.case)?;
    }
    Ok(())
}

/// The fragment of the studio's address that has this scenario, as its page encodes a user's text.
fn studio(text: &str) -> String {
    let state = json!({ "p": "sawtooth", "x": text }).to_string();
    let mut deflated = DeflateEncoder::new(Vec::new(), Compression::best());
    // A vector takes everything.
    let _ = deflated.write_all(state.as_bytes());
    format!("#{}", base64(&deflated.finish().unwrap_or_default()))
}

/// Base64 for addresses (RFC 4648, §5), without padding.
fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let group = |three: &[u8]| {
        let word =
            three.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        (0..=three.len()).map(move |place| char::from(SIGNS[(word >> (18 - 6 * place) & 63) as usize]))
    };
    bytes.chunks(3).flat_map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_the_signs_of_the_rfc() {
        // RFC 4648, §10, without padding.
        let all = [("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        assert!(all.iter().all(|(plain, coded)| base64(plain.as_bytes()) == *coded));
        assert_eq!(base64(&[0xfb, 0xff]), "-_8");
    }
}

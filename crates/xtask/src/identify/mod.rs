// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee identify` tried on captures whose senders are known: those of others ([`nebby`]), of this machine's kernel ([`kernel`]), and qlog of
//! QUIC stacks ([`stacks`]).
//!
//! Each capture is identified twice: with all candidates, and without the one that sent it, which is to be refused.

#[cfg(target_os = "linux")]
pub mod kernel;
pub mod nebby;
pub mod stacks;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Instant;

use kneepoint::capture::{Capture, Course, is_capture, qlog};
use kneepoint::study::identify::{Alone, Class, MAINLINE, Suspect, Verdict, identify, suspects};
use rayon::prelude::*;

/// Linux's names of controllers that have another one here.
const NAMES: [(&str, &str); 1] = [("highspeed", "hstcp")];
/// The page with the tables.
const PAGE: &str = "docs/identify.md";

/// A folder of captures, and the place of its tables.
#[derive(clap::Args)]
pub struct Folder {
    /// The folder of the captures
    dir: PathBuf,
    /// Renew the tables of docs/identify.md
    #[arg(long)]
    write: bool,
    /// Print a line for each capture
    #[arg(long)]
    each: bool,
}

impl Folder {
    /// Writes the tables to the place of this name in the page, or prints them.
    fn tell(&self, name: &str, text: &str) -> Result<bool, String> {
        match self.write {
            true => write(name, text)?,
            false => print!("{text}"),
        }
        Ok(true)
    }
}

/// A capture whose sender is known.
struct Labelled {
    file: PathBuf,
    /// The delay in ms, the rate in kbit/s.
    delay: u32,
    rate: u32,
    /// The name of the controller, or Linux's.
    label: String,
}

/// A capture and what was said of it.
struct Tried {
    label: String,
    /// The delay in ms, the rate in kbit/s.
    delay: u32,
    rate: u32,
    verdict: Option<Verdict>,
    /// Whether it was refused when its controller was no candidate.
    refused: bool,
    /// The least error of another controller.
    other: f64,
    seconds: f64,
}

impl Tried {
    fn named(&self) -> Option<&Class> {
        self.verdict.as_ref().and_then(Verdict::answer)
    }

    fn best(&self) -> Option<&Class> {
        self.verdict.as_ref().and_then(|verdict| verdict.classes.first())
    }

    /// The names of the answer.
    fn possible(&self) -> Vec<&'static str> {
        self.verdict.as_ref().map(Verdict::possible).unwrap_or_default()
    }

    /// The error of its controller.
    fn own(&self) -> f64 {
        let classes = self.verdict.iter().flat_map(|verdict| &verdict.classes);
        let own = classes.into_iter().find(|class| class.names().contains(&self.label.as_str()));
        own.map_or(f64::INFINITY, |class| class.error)
    }

    /// Named, and no other controller with it.
    fn is_alone(&self) -> bool {
        self.possible().len() == 1
    }

    /// Named, alone or among those that nothing tells from it.
    fn is_right(&self) -> bool {
        self.possible().contains(&self.label.as_str())
    }

    /// Likeliest or not excluded, whether or not it is close enough to be named.
    fn is_alike(&self) -> bool {
        self.verdict.as_ref().is_some_and(|verdict| verdict.alike().contains(&self.label.as_str()))
    }

    /// Of the least error, alone or with others, whether or not it is close enough to be named.
    fn is_first(&self) -> bool {
        let Some(verdict) = &self.verdict else { return false };
        let least = verdict.classes.first().map_or(0.0, |best| best.error);
        let first = verdict.classes.iter().take_while(|class| class.error <= least);
        first.flat_map(Class::names).any(|name| name == self.label)
    }
}

/// The name here of a controller of Linux.
fn own_name(linux: &str) -> String {
    NAMES.iter().find(|(other, _)| *other == linux).map_or(linux, |(_, own)| own).to_string()
}

/// The controllers of mainline Linux.
fn candidates() -> Result<Vec<Suspect>, String> {
    suspects(&MAINLINE.map(String::from))
}

#[expect(clippy::disallowed_methods, reason = "a capture is to take no more than seconds")]
fn try_one(Labelled { file, delay, rate, label }: &Labelled, all: &[Suspect]) -> Result<Tried, String> {
    let (delay, rate) = (*delay, *rate);
    let fault = |message: String| format!("{}: {message}", file.display());
    let bytes = std::fs::read(file).map_err(|error| fault(error.to_string()))?;
    let label = own_name(label);
    let began = Instant::now();
    let course = course(&bytes).map_err(fault)?;
    let verdict = identify(&course, all, &Alone);
    let seconds = began.elapsed().as_secs_f64();
    // Those that nothing tells from it here would be right.
    let same = verdict.as_ref().and_then(|verdict| {
        verdict.classes.iter().find(|class| class.names().contains(&label.as_str())).map(Class::names)
    });
    let same = same.unwrap_or_default();
    let others: Vec<Suspect> =
        all.iter().filter(|one| one.name() != label && !same.contains(&one.name())).cloned().collect();
    let without = identify(&course, &others, &Alone);
    let refused = without.as_ref().is_some_and(|other| other.answer().is_none());
    let other =
        without.and_then(|other| other.classes.first().map(|class| class.error)).unwrap_or(f64::INFINITY);
    Ok(Tried { label, delay, rate, verdict, refused, other, seconds })
}

/// What the sender of a file did.
fn course(bytes: &[u8]) -> Result<Course, String> {
    const NONE: &str = "no data";
    if qlog::is_qlog(bytes) {
        let (traces, _) = qlog::read(bytes).map_err(|cut| cut.to_string())?;
        return traces.first().ok_or(NONE)?.exchange.course().map_err(|why| format!("it {why}"));
    }
    let mut capture = Capture::default();
    if is_capture(bytes) {
        capture.read(bytes).map_err(|cut| cut.to_string())?;
    } else {
        capture.read_export(&String::from_utf8_lossy(bytes)).map_err(|cut| cut.to_string())?;
    }
    let (direction, _) = *capture.senders().first().ok_or(NONE)?;
    Ok(capture.course(direction).ok_or(NONE)?)
}

/// All of them, on the processors there are; each is printed with `each`.
fn try_all(files: &[Labelled], all: &[Suspect], each: bool) -> Result<Vec<Tried>, String> {
    let tried: Result<Vec<Tried>, String> = files.par_iter().map(|one| try_one(one, all)).collect();
    let tried = tried?;
    if each {
        tried.iter().for_each(|one| println!("{}", line(one)));
    }
    Ok(tried)
}

fn line(one: &Tried) -> String {
    let Some(verdict) = &one.verdict else {
        return format!("{} {} {}: no verdict", one.delay, one.rate, one.label);
    };
    let classes =
        verdict.classes.iter().take(3).map(|class| format!("{}={:.4}", class.names().join("/"), class.error));
    format!(
        "{} ms {} kbit/s {}: {} {}, own {:.4}, {} episodes, without it {}, {:.2} s; {}",
        one.delay,
        one.rate,
        one.label,
        if one.is_first() { "first" } else { "not first" },
        if one.is_right() { "named" } else { "not named" },
        verdict.own_error,
        verdict.path.episodes,
        if one.refused { "refused" } else { "accepted" },
        one.seconds,
        classes.collect::<Vec<_>>().join("  ")
    )
}

fn share<'t>(of: impl Iterator<Item = &'t Tried>, what: impl Fn(&Tried) -> bool) -> String {
    let (some, all) = of.fold((0, 0), |(some, all), one| (some + usize::from(what(one)), all + 1));
    format!("{some} of {all} ({:.0} %)", 100.0 * some as f64 / all.max(1) as f64)
}

/// How many names an answer has, on average.
fn names<'t>(of: impl Iterator<Item = &'t Tried>) -> String {
    let counts: Vec<f64> = of.map(|one| one.possible().len() as f64).collect();
    if counts.is_empty() {
        "–".into()
    } else {
        format!("{:.1}", counts.iter().sum::<f64>() / counts.len() as f64)
    }
}

/// The headings of [`cells`].
const HEADINGS: &str = "likeliest | not excluded | named | names that are right | names in an answer | named alone | right of these | refused without it |\n|---|---|---|---|---|---|---|---|---|\n";

/// What was said of these captures.
fn cells<'t>(of: impl Iterator<Item = &'t Tried> + Clone) -> String {
    let named = of.clone().filter(|one| one.named().is_some());
    let alone = of.clone().filter(|one| one.is_alone());
    [
        share(of.clone(), Tried::is_first),
        share(of.clone(), Tried::is_alike),
        share(of.clone(), |one| one.named().is_some()),
        share(named.clone(), Tried::is_right),
        names(named),
        share(of.clone(), Tried::is_alone),
        share(alone, Tried::is_right),
        share(of, |one| one.refused),
    ]
    .join(" | ")
}

/// A row for each controller that sent.
fn by_sender(tried: &[Tried]) -> String {
    let mut text = String::from(
        "| sent by | likeliest | not excluded | names that are right | what was likelier |\n|---|---|---|---|---|\n",
    );
    let mut labels: BTreeMap<&str, Vec<&Tried>> = BTreeMap::new();
    tried.iter().for_each(|one| labels.entry(&one.label).or_default().push(one));
    for (label, own) in labels {
        let mut instead: BTreeMap<String, usize> = BTreeMap::new();
        for one in own.iter().filter(|one| !one.is_first()) {
            let names = one.best().map_or("nothing".into(), |class| {
                class.names().first().copied().unwrap_or_default().to_string()
            });
            *instead.entry(names).or_default() += 1;
        }
        let mut instead: Vec<(String, usize)> = instead.into_iter().collect();
        instead.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let instead: Vec<String> =
            instead.into_iter().map(|(name, count)| format!("{name} {count}")).collect();
        let of = || own.iter().copied();
        let named = of().filter(|one| one.named().is_some());
        let cells = [
            share(of(), Tried::is_first),
            share(of(), Tried::is_alike),
            share(named, Tried::is_right),
            instead.join(", "),
        ];
        let _ = writeln!(text, "| {label} | {} |", cells.join(" | "));
    }
    text
}

/// The time of the slowest.
fn slowest(tried: &[Tried]) -> String {
    let slowest = tried.iter().map(|one| one.seconds).fold(0.0, f64::max);
    format!("The slowest capture took {slowest:.1} s.\n")
}

/// Puts the tables between the marks of the page that have this name.
fn write(name: &str, text: &str) -> Result<(), String> {
    let page = std::fs::read_to_string(PAGE).map_err(|error| format!("{PAGE}: {error}"))?;
    let [from, to] = [format!("<!-- {name} -->"), format!("<!-- /{name} -->")];
    let (Some(begin), Some(end)) = (page.find(&from), page.find(&to)) else {
        return Err(format!("{PAGE}: {from} and {to} are missing"));
    };
    let new = format!("{}\n\n{text}\n{}", &page[..begin + from.len()], &page[end..]);
    std::fs::write(PAGE, new).map_err(|error| format!("{PAGE}: {error}"))
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee live video`: a film that this machine's kernel sends over an emulated link, as its player receives it.

mod clip;

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use kneepoint::measure::Played;
use kneepoint::report::playback::{self as report, Film, Screening};
use kneepoint::report::{csv, json};
use kneepoint::study::Records;
use kneepoint::study::Study;
use kneepoint::table::Table;
use kneepoint::units::{Interval, Span, Time};
use kneepoint_bench::files;
use kneepoint_bench::session::Session;
use kneepoint_linux::live::video::{Buffering, Empty, Show, Shown, Viewer};

use super::cases::{Case, Cases};
use super::measure::{Attempt, Clock, Ran, carried_out, measure};
use super::study::{Live, Measured};
use super::{Runs, invalid};
use crate::failure::Failure;
use crate::manifest;
use crate::outputs::{Out, directory, report_at, slug, write_report};
use crate::pictures::ChartOptions;
use crate::terminal;
use crate::values::{distinct, of_range};

/// The group of a scenario that the film represents.
const GROUP: &str = "video";
/// The length of a run beyond the film: start-up, and the last pictures.
const BEYOND: Span = Span::from_secs(5);
/// Lengths of a film.
const LENGTHS: RangeInclusive<Span> = Span::from_secs(5)..=Span::from_secs(3600);
/// Lengths of what a player buffers.
const CACHES: RangeInclusive<Span> = Span::from_millis(100)..=Span::from_secs(60);

/// The film, and how to play it.
#[derive(Args)]
#[command(after_help = "\
The transfers of the group `video` become a film, sent over HTTP by this machine's kernel with the congestion control of the group; the \
rest of the scenario stays as it is. The player has no screen: it reads timestamps as bytes arrive and counts what is late. \
Root is needed, and FFmpeg, which makes the film.

Examples:
  sudo knee kernel load pert-adaptive && sudo knee live video
  sudo knee live video --length 60s --repetitions 5 --at-once 4
  sudo knee live video scenarios/live/starved.toml --player pause,mpv    the same stalls by two players

OUT/report.html has tables and windows; video.csv a line for each metric, windows/ the congestion window every 10 ms of every run.")]
pub struct Arguments {
    /// A scenario or an experiment with a group of transfers called `video`, as a file or by name
    #[arg(default_value = "live.video")]
    scenario: PathBuf,
    /// The length of the film
    #[arg(long, default_value = "210s", value_name = "TIME", value_parser = of_range(LENGTHS))]
    length: Span,
    /// A film of your own, instead of the one that FFmpeg makes
    #[arg(long, value_name = "FILE", conflicts_with = "length")]
    clip: Option<PathBuf>,
    /// The player: `skip` skips late pictures, `pause` stops until its cache is filled again, and mpv
    #[arg(long, value_enum, default_value = "skip", value_delimiter = ',', ignore_case = true)]
    player: Vec<Watching>,
    /// The amount buffered when playback starts or resumes
    #[arg(long, default_value = "1s", value_name = "TIME", value_parser = of_range(CACHES))]
    caching: Span,
    /// The largest amount buffered [default: as --caching]
    #[arg(long, value_name = "TIME", value_parser = of_range(CACHES))]
    buffer: Option<Span>,
    /// Playbacks in each case
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = of_range::<u64>(1..=1000))]
    repetitions: u64,
    #[command(flatten)]
    runs: Runs,
    #[command(flatten)]
    charts: ChartOptions,
    /// Directory for report, numbers and windows [default: out/live-video, numbered if it exists]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// A player.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Watching {
    /// The laboratory's player, which skips late pictures
    Skip,
    /// The laboratory's player, which stops until its cache is filled again
    Pause,
    /// mpv, which stops as well
    Mpv,
}

impl Watching {
    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_string())
    }
}

/// A playback with the measurements of its run.
struct Screened {
    measured: Measured,
    shown: Shown,
}

impl Ran for Screened {
    fn measured(&self) -> &Measured {
        &self.measured
    }
}

/// Plays everything and reports.
pub fn video(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let printer = arguments.charts.printer()?;
    let Cases { title, source, mut all, claims, mut notes, .. } =
        arguments.runs.cases(session, &arguments.scenario)?;
    let players: Vec<String> = arguments.player.iter().map(|player| player.name()).collect();
    distinct("--player:", &players, String::clone)?;
    let buffer = arguments.buffer.unwrap_or(arguments.caching);
    if buffer < arguments.caching {
        let message = format!(
            "--buffer {buffer} is less than --caching {}, so that nothing would be shown",
            arguments.caching
        );
        return Err(Failure::usage(message, "allow at least as much"));
    }
    arguments.runs.check(&all)?;
    clip::check(arguments.clip.is_none(), arguments.player.contains(&Watching::Mpv))?;
    session.listen_saying("stopping; the report has the runs that finished")?;
    let out = Out::or_free(arguments.out.as_deref(), PathBuf::from("out/live-video")).settle(session)?;
    let (file, clip, contents) = match &arguments.clip {
        Some(file) => clip::given(file, &out)?,
        None => clip::made(session, arguments.length)?,
    };
    let length = contents.length;
    if !contents.sound {
        notes.push("the film has no sound, so that none starves".into());
    }
    for case in &mut all {
        let mut builder = case.valid.clone().into_builder();
        builder.schedule.duration = (length + BEYOND).after_start();
        builder.schedule.measure = Interval { from: Time::ZERO, to: length.after_start() };
        case.valid = builder.build().map_err(invalid)?;
    }
    let bytes = clip.len() as u64;
    let film = Film {
        file: out.named(&file).display().to_string(),
        bytes,
        length_s: length.as_secs_f64(),
        pictures: contents.pictures,
        mean_bps: 8.0 * bytes as f64 / length.as_secs_f64(),
        peak_bps: 8.0 * contents.peak.0 as f64,
    };
    let clip = Arc::new(clip);
    let scratch = super::scratch()?;
    let pairs: Vec<(Watching, &Case)> =
        arguments.player.iter().flat_map(|player| all.iter().map(move |case| (*player, case))).collect();
    let once = |place: usize, attempt: &Attempt| {
        let (player, case) = pairs[place];
        let mut plan = arguments.runs.plan(case, attempt.repetition)?;
        let named = case.valid.groups().iter().position(|group| group.name == GROUP);
        let alone = |own: &usize| plan.transfers.iter().filter(|one| one.group as usize == *own).count() == 1;
        let Some(group) = named.filter(alone) else {
            let message = format!("{}: no group of one transfer is called `{GROUP}`", case.name);
            return Err(Failure::usage(message, "write [[flows]] with `name = \"video\"`"));
        };
        let empty = if player == Watching::Skip { Empty::Skip } else { Empty::Pause };
        plan.show = Some(Show {
            group: group as u32,
            clip: Arc::clone(&clip),
            pictures: contents.pictures,
            buffering: Buffering { caching: arguments.caching, buffer, empty },
            viewer: if player == Watching::Mpv {
                Viewer::Mpv(scratch.path().to_path_buf())
            } else {
                Viewer::Own
            },
        });
        let (mut measured, mut shown) = carried_out(session, case, plan, attempt)?;
        let shown = shown.pop().unwrap_or_default();
        measured.processor.push(played(&shown).row(GROUP));
        measured.record.series = None;
        Ok(Screened { measured, shown })
    };
    let names: Vec<String> =
        pairs.iter().map(|(player, case)| format!("{}, {}", case.name, player.name())).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let measured = measure(session, &arguments.runs, arguments.repetitions, &names, Clock::Real, &once)?;
    let finished: usize = measured.iter().map(Vec::len).sum();
    if finished == 0 {
        return Err(Failure::Interrupted(
            "stopped before the first playback finished: nothing to report".into(),
        ));
    }
    let stopped = session.asked();
    if stopped {
        notes.push(format!("interrupted: {finished} playbacks finished"));
    }
    write_windows(&names, &measured, &out)?;
    let screenings = pairs.iter().zip(measured).map(|((player, case), runs)| screening(*player, case, runs));
    let seeds = (1..=arguments.repetitions).collect();
    let manifest = manifest::of(session, vec![source], seeds, notes);
    let buffering = format!(
        "Playback starts with {} ahead, and the player reads up to {buffer} ahead; the kernel's receive buffer holds more.",
        arguments.caching
    );
    let report = report::Report::new(title, film, buffering, screenings.collect(), &claims, manifest);
    let json = json::render(&report);
    files::write(&out.join("video.json"), &json)?;
    files::write(&out.join("video.csv"), csv::records(&report::records(&report)))?;
    let document = report::document(&report);
    write_report(session, &document, &out, &printer)?;
    let place = report_at(&out.publish(session)?);
    session.print(if as_json { json } else { terminal::shown(&document) })?;
    if stopped {
        return Err(Failure::Interrupted(format!("stopped: the report has what was finished\n{place}")));
    }
    session.tell(place);
    Ok(())
}

/// The numbers of a playback.
fn played(shown: &Shown) -> Played {
    let playback = &shown.playback;
    Played {
        late_pictures: playback.late_pictures,
        starvings: playback.starvings,
        startup: shown.startup(),
        stalls: playback.stalls.len() as u64,
        stalled: playback.stalls.iter().fold(Span::ZERO, |sum, (_, span)| sum + *span),
        window_variation: shown.window_variation(),
    }
}

/// A case with its playbacks.
fn screening(player: Watching, case: &Case, runs: Vec<Screened>) -> Screening {
    let stalls = |one: &Screened| {
        let since = |at: Time| at.since(one.shown.served.requested).as_secs_f64();
        let stalls = one.shown.playback.stalls.iter().map(|(at, span)| (since(*at), span.as_secs_f64()));
        (one.measured.record.seed, stalls.collect())
    };
    let stalls = runs.iter().map(stalls).collect();
    let counted = runs.iter().find(|one| one.measured.machine.spoiled.is_none());
    let windows = counted.map_or_else(Vec::new, |one| windows(&one.shown));
    let Case { name, labels, valid } = case;
    let measured = runs.into_iter().map(|one| one.measured).collect();
    let played = Case { name: name.clone(), labels: labels.clone(), valid: valid.clone() };
    let beside = Live::new([Case::measured((played, measured))], Vec::new()).outcome(&Records::default());
    let beside = beside.into_iter().next().expect("a case has an outcome");
    Screening { player: player.name(), beside, group: GROUP.into(), stalls, windows }
}

fn windows(shown: &Shown) -> Vec<(f64, f64)> {
    shown.served.windows.iter().map(|(at, window)| (at.as_secs_f64(), *window)).collect()
}

/// The congestion window over time of every playback.
fn write_windows(names: &[&str], measured: &[Vec<Screened>], out: &Path) -> Result<(), Failure> {
    let folder = directory(out, "windows")?;
    for (name, runs) in names.iter().zip(measured) {
        for one in runs {
            let rows = windows(&one.shown).into_iter().map(|(at, window)| vec![at, window]).collect();
            let table = Table { columns: vec!["time_s".into(), "cwnd_packets".into()], rows };
            let file = folder.join(format!("{}-{}.csv", slug(name), one.measured.record.seed));
            files::write(&file, csv::table(&table))?;
        }
    }
    Ok(())
}

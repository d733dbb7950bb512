// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee emulate`: a program behind an emulated link.

#![allow(clippy::disallowed_methods, reason = "it runs in real time")]

mod existing;
mod outcome;
mod path;
mod probe;
mod traps;

use std::cell::Cell;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use clap::{ArgAction, Args};
use kneepoint::capture::Blocks;
use kneepoint::measure::{Meter, Series};
use kneepoint::scenario;
use kneepoint::units::{Rate, Span, Time};
use kneepoint_bench::files::Pending;
use kneepoint_bench::session::Session;
use kneepoint_linux::behind::{self, Far, Host, Program};
use kneepoint_linux::emulator::{self, Capture, Emulator, Layer, Port, Side, Stop};
use kneepoint_linux::privilege::{self, Rights};
use kneepoint_linux::tap::Tap;
use kneepoint_linux::tun;

use super::Verb;
use crate::failure::{self, Failure};
use crate::outputs::{Folder, Out};
use crate::pictures::ChartOptions;
use outcome::Outcome;
use path::{Emulated, EmulatedPath};
use traps::Seen;

/// The time that an interrupted program may use the link for its last packets.
const FAREWELL: Duration = Duration::from_secs(1);

/// Run a program behind an emulated link
#[derive(Args)]
#[command(after_help = "\
The program runs in its own network namespace. Everything that it sends crosses the emulated link; this machine, with its servers, is on the other side as \
$KNEE_PEER. With --server both ends are apart from this machine, and root is not needed where user namespaces are allowed. \
With --between the ends are two network namespaces of `ip netns`, with --bridge the networks at two Ethernet devices of this machine.

Examples:
  knee emulate --rate 100mbit --delay 20ms --queue pisa -- ./my-client
  knee emulate --rate 20mbit --delay 40ms --server 'iperf3 -s' -- sh -c 'iperf3 -c $KNEE_PEER -t 10'
  knee emulate --trace verizon.trace --delay 30ms --buffer 100pkt        a shell behind a cellular link
  knee emulate --rate 50mbit --delay 10ms --up rate=5mbit,queue=codel --loss 0.1% -- ./my-client
  knee emulate --between blue green --rate 100mbit --delay 20ms          until Ctrl-C
  knee emulate --bridge eth1 eth2 --rate 100mbit --delay 20ms            a machine between two networks
  knee emulate --probe --rate 100mbit --delay 20ms                       is the link what it promises here?
  knee emulate --from scenarios/satellite.toml --pcap out.pcapng --out out/satellite -- ./my-client")]
pub struct Arguments {
    #[command(flatten)]
    path: EmulatedPath,
    /// A command line that runs on the other side of the link, from before the program starts until it ends
    #[arg(long, value_name = "COMMAND")]
    server: Option<String>,
    /// The link joins two network namespaces created with `ip netns`; the program, if there is one, runs in the first
    #[arg(long, num_args = 2, value_names = ["NAMESPACE", "NAMESPACE"], conflicts_with = "server", action = ArgAction::Set)]
    between: Vec<String>,
    /// The link joins the networks at two Ethernet devices, as a bridge would
    #[arg(long, num_args = 2, value_names = ["DEVICE", "DEVICE"], conflicts_with_all = ["server", "between", "pcap", "program"], action = ArgAction::Set)]
    bridge: Vec<String>,
    /// Measure the link's delay and rate by independent clocks, and end
    #[arg(long, conflicts_with_all = ["server", "between", "bridge", "pcap", "program", "duration", "out"])]
    probe: bool,
    /// Run the program and the server as this user: a name or a number. For root they keep all rights [default: the caller of sudo, or
    /// else your user, without capabilities]
    #[arg(long, value_name = "USER", value_parser = rights, conflicts_with_all = ["bridge", "probe"])]
    user: Option<Rights>,
    /// End after this long [default: with the program]
    #[arg(long, value_name = "TIME")]
    duration: Option<Span>,
    /// The seed of losses, jitter and queues
    #[arg(long, default_value_t = 1, value_name = "SEED", value_parser = scenario::seed)]
    seed: u64,
    /// Sampling interval of the state for the series
    #[arg(long, value_name = "TIME", default_value = "100ms")]
    sample: Span,
    /// Directory for report, rows, series and scenario [default: none is written]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    charts: ChartOptions,
    /// Capture all packets at both hosts' devices
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// Write the capacity of the program's outgoing direction as a Mahimahi trace
    #[arg(long, value_name = "FILE")]
    save_trace: Option<PathBuf>,
    /// The program and its arguments [default: a shell, none with --between or --bridge]
    #[arg(last = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

pub const VERB: Verb<Arguments> = Verb { act, answer: None };

impl Arguments {
    /// The rights of the program and of the server.
    fn rights(&self) -> Rights {
        self.user.clone().unwrap_or_else(Rights::of_caller)
    }

    /// The path, and the destinations of output.
    fn open(&self, session: &Session) -> Result<(Emulated, Option<Folder>, Option<Taps>), Failure> {
        let sample = Some(self.sample).filter(|sample| *sample > Span::ZERO);
        let path = self.path.build(session, self.duration.unwrap_or(Span::MAX), sample)?;
        let ours = self.out.as_ref().map(|out| Out::Given(out.clone()).settle(session)).transpose()?;
        let pcap = self.pcap.as_ref().map(|file| Taps::create(file)).transpose()?;
        Ok((path, ours, pcap))
    }
}

fn rights(user: &str) -> Result<Rights, String> {
    Rights::of_user(user)
}

/// Emulates.
fn act(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    apart("--between", "network namespaces", &arguments.between)?;
    apart(
        "--bridge",
        "name two devices, one for each network; the frames of a single one would circulate",
        &arguments.bridge,
    )?;
    // Before any measurement: files that cannot be read or written are reported immediately.
    let opened = privilege::as_caller(|| arguments.open(session));
    let (path, out, pcap) = opened.map_err(|error| failed("open files as the caller", &error))??;
    if arguments.probe {
        return probe::probe(session, arguments, &path, as_json);
    }
    if !arguments.bridge.is_empty() {
        return existing::bridge(session, arguments, &path, out, as_json);
    }
    if !arguments.between.is_empty() {
        return existing::between(session, arguments, &path, (pcap, out), as_json);
    }
    let far = far(arguments)?;
    session.listen_saying("stopping")?;
    let hosts = behind::hosts(far).map_err(|error| lacks(&error))?;
    let [near, other] = &hosts;
    let _server = serve(session, arguments, near, other)?;
    let program = start(arguments, near, other, as_json)?;
    with(session, program, arguments, &path, &hosts, (pcap, out), as_json)
}

/// A link has two ends.
fn apart(option: &str, ends: &str, names: &[String]) -> Result<(), Failure> {
    match names {
        [one, other] if one == other => {
            Err(Failure::usage(format!("{option}: `{one}` is named twice"), format!("name two {ends}")))
        }
        _ => Ok(()),
    }
}

/// Emulates until the program ends.
fn with(
    session: &Session,
    mut program: Program,
    arguments: &Arguments,
    path: &Emulated,
    [near, far]: &[Host; 2],
    (pcap, out): (Option<Taps>, Option<Folder>),
    as_json: bool,
) -> Result<(), Failure> {
    let ended = program.ended().map_err(|error| failed("watch the program", &error))?;
    let devices = [&near.device.file, &far.device.file];
    let outcome = carry(session, arguments, path, devices, Layer::Ip, &ended, pcap)?;
    let status = program.end().map_err(|error| failed("wait for the program", &error))?;
    outcome.write(session, arguments, path, out, as_json)?;
    match status.map(|status| status.code().unwrap_or(1)) {
        Some(0) => {}
        Some(code) => return Err(Failure::Said(u8::try_from(code).unwrap_or(1))),
        None if session.asked() => return Err(Failure::Said(130)),
        // The time was over.
        None => {}
    }
    outcome.judge()
}

/// The other side of the link; on a machine without permission for namespaces, one that the user may enter.
fn far(arguments: &Arguments) -> Result<Far, Failure> {
    let far = if arguments.server.is_some() { Far::Apart } else { Far::Here };
    if privilege::is_root() {
        return Ok(far);
    }
    if far == Far::Here {
        return Err(Failure::run(
            "only root can put a link between a program and this machine",
            "run it with sudo (the program itself runs as you), or run the other side with --server",
        ));
    }
    privilege::enter_user_namespace().map_err(|error| {
        Failure::run(
            format!("this machine does not let you have a user namespace: {error}"),
            "run it with sudo; the program itself runs as you",
        )
    })?;
    Ok(far)
}

fn serve(
    session: &Session,
    arguments: &Arguments,
    near: &Host,
    far: &Host,
) -> Result<Option<Program>, Failure> {
    let Some(line) = &arguments.server else { return Ok(None) };
    let words = ["/bin/sh", "-c", line].map(OsString::from);
    let server = far.start(&words, near, Stdio::null(), &arguments.rights());
    let mut server = server.map_err(|error| failed("start the server", &error))?;
    if !far.listens().map_err(|error| failed("wait for the server", &error))? {
        if let Some(status) = server.status().map_err(|error| failed("wait for the server", &error))? {
            let message =
                format!("the server ended before it listened to a TCP port, with {status}: `{line}`");
            return Err(Failure::run(message, "give --server a command that stays, such as `iperf3 -s`"));
        }
        session.tell(format!("nothing listens to a TCP port on the other side: `{line}`"));
    }
    Ok(Some(server))
}

fn start(arguments: &Arguments, near: &Host, far: &Host, as_json: bool) -> Result<Program, Failure> {
    let shell = || std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into());
    let words = match arguments.program.as_slice() {
        [] => vec![shell()],
        words => words.to_vec(),
    };
    // With --json standard output is for the result.
    let output = if as_json { Stdio::from(std::io::stderr()) } else { Stdio::inherit() };
    let rights = arguments.rights();
    near.start(&words, far, output, &rights).map_err(|error| {
        let user = rights.user().map_or(String::new(), |user| format!(" as user {}", user.uid));
        Failure::run(
            format!("cannot start `{}`{user}: {error}", words[0].to_string_lossy()),
            match failure::limit(&error) {
                Some(remedy) => remedy,
                None if error.kind() == ErrorKind::PermissionDenied => {
                    "the program, and every folder above it, must be open to the user that it runs as; --user names another"
                }
                None => "check the name of the program; a shell's own commands need `sh -c`",
            },
        )
    })
}

/// Emulates until `ended` can be read, or the end, or an interrupt.
fn carry<P: Port>(
    session: &Session,
    arguments: &Arguments,
    path: &Emulated,
    devices: [&P; 2],
    layer: Layer,
    ended: &OwnedFd,
    pcap: Option<Taps>,
) -> Result<Outcome, Failure> {
    let origin = Instant::now();
    let prompt = emulator::be_prompt();
    let _sleepless = emulator::Sleepless::request();
    Rights::of_caller().keep_in_every_thread().map_err(|error| {
        Failure::run(format!("cannot give up privileges: {error}"), "report this; nothing was emulated")
    })?;
    let Emulated { valid, ends, .. } = path;
    let observers = (Meter::new(valid, arguments.seed), Series::new(valid, arguments.seed, 0));
    let all = Tap::one_group(tun::MTU as u16);
    let mut emulator = Emulator::new(valid, arguments.seed, &[*ends], all, observers).of(layer);
    let interrupted = Cell::new(None);
    let asked = || {
        if session.asked() && interrupted.get().is_none() {
            interrupted.set(Some(Instant::now()));
        }
        interrupted.get().is_some_and(|since: Instant| since.elapsed() > FAREWELL)
    };
    let stop = Stop {
        at: arguments.duration.map_or(Time::NEVER, Span::after_start),
        when: ended.as_fd(),
        asked: &asked,
        awake: emulator::AWAKE,
    };
    let mut taps = pcap;
    let carried = emulator::carry(&mut emulator, devices, origin, &stop, &mut taps)
        .map_err(|error| failed("carry packets", &error))?;
    if let Some(taps) = taps {
        taps.finish()?;
    }
    let (packets, foreign) = (emulator.addressed(), emulator.foreign());
    let ((mut meter, series), tap) = emulator.finish(carried.ended);
    meter.end(carried.ended, valid, arguments.seed);
    let (superpackets, refused) = (tap.superpackets(), carried.refused);
    let seen = Seen { packets, superpackets, refused, foreign, prompt, overrun: 0 };
    Ok(Outcome::new(meter.finish(), series.table(), &carried, path.rtt(), seen))
}

/// Every packet at both hosts' devices, in one file.
struct Taps {
    file: PathBuf,
    blocks: Blocks<Pending>,
    failure: Option<std::io::Error>,
}

impl Taps {
    fn create(file: &std::path::Path) -> Result<Taps, Failure> {
        let blocks = Blocks::new(Pending::create(file)?, &["near", "far"]);
        let blocks = blocks.map_err(|error| Failure::io("write", file, &error))?;
        Ok(Taps { file: file.to_path_buf(), blocks, failure: None })
    }

    fn finish(self) -> Result<(), Failure> {
        let done = match self.failure {
            Some(failure) => Err(failure),
            None => self.blocks.finish(),
        };
        done.map_err(|error| Failure::io("write", &self.file, &error))?.commit()
    }
}

impl Capture for Taps {
    fn frame(&mut self, side: Side, at: Time, bytes: &[u8]) {
        if self.failure.is_none() {
            self.failure = self.blocks.packet(side as u32, at, bytes, bytes.len() as u32).err();
        }
    }
}

fn failed(doing: &str, error: &std::io::Error) -> Failure {
    Failure::of_system(doing, error)
}

/// Missing rights or devices where namespaces or devices cannot be made.
fn lacks(error: &std::io::Error) -> Failure {
    let remedy = match error.kind() {
        ErrorKind::NotFound => "`ip netns list` shows the network namespaces that have names",
        _ => failure::limit(error).unwrap_or(
            "run it as root, or with CAP_SYS_ADMIN and CAP_NET_ADMIN; `knee doctor` shows what this machine allows",
        ),
    };
    Failure::run(format!("cannot make two hosts with a link between them: {error}"), remedy)
}

/// Links of this rate and above saturate the thread that carries packets.
pub(super) const SATURATES: Rate = Rate::from_mbit(1500);

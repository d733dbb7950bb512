// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Instances as processes: a directory for each, and nothing left of either.
//!
//! ```text
//! DIR/knee-uml-PROCESS-NUMBER/lock     locked as long as its process lives; unlocked ones are removed
//!                            /root/    this program with its libraries, the only thing in an instance
//!                            /N/       a run: job, outcome, packets, how far it is, what the kernel prints, its memory
//! ```
//!
//! An instance receives no path: it works in the directory of its run, and its command line, which the kernel takes as
//! a source of random numbers, is the same everywhere. The kernel ends it when the thread that started it ends, for
//! any reason.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use nix::sys::prctl;
use nix::sys::signal::{Signal, killpg};
use nix::sys::statvfs::{FsFlags, statvfs};
use nix::unistd::{Pid, getppid};

use kneepoint::units::Span;

use super::guest::{JOB, OUTCOME, PACKETS, PROGRAM, REACHED};
use super::outcome::Outcome;
use super::root;

const PREFIX: &str = "knee-uml-";
const LOCK: &str = "lock";
/// Memory files are mapped from here where there is room, because that is memory already.
const MEMORY: &str = "/dev/shm";
/// Memory of an instance, which is allocated on demand.
const MIB: u64 = 1024;
/// Room for the memory of some instances, and for their packets.
const ROOM: u64 = 4 << 30;
/// A directory without a lock may be one that is being made.
const YOUNG: Duration = Duration::from_secs(60);
/// The time between two looks at an instance.
const LOOK: Duration = Duration::from_millis(10);
/// Looks between two readings of the run's progress.
const LOOKS: u32 = 20;
/// The length of the kernel's last output that an error message quotes.
const PRINTED: usize = 2000;
/// The clock of an instance begins here: 14 November 2023.
const BEGINS: u64 = 1_700_000_000;

/// The directory of this process's instances. It is removed when dropped.
#[derive(Debug)]
pub struct Station {
    directory: PathBuf,
    _lock: File,
    next: AtomicU32,
}

impl Station {
    /// A place with this program in it. Leftovers of killed processes are removed before.
    pub fn open() -> io::Result<Station> {
        let bases = [PathBuf::from(MEMORY), std::env::temp_dir()];
        bases.iter().for_each(|base| sweep(base));
        let base = bases.iter().find(|base| suits(base)).unwrap_or(&bases[1]);
        let (directory, lock) = own(base)?;
        let station = Station { directory, _lock: lock, next: AtomicU32::new(0) };
        root::make(&station.directory.join("root"), PROGRAM)?;
        Ok(station)
    }

    /// Runs an instance of a kernel; the result, and the packets that it saw. The progress of the run is passed to
    /// `asked`, which returns whether to stop; the error is [`Interrupted`](io::ErrorKind::Interrupted) then.
    pub(super) fn run(
        &self,
        kernel: &Path,
        seed: u64,
        job: &str,
        asked: &dyn Fn(Span) -> bool,
    ) -> io::Result<(Outcome, File)> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let here = Directory(self.directory.join(number.to_string()));
        fs::create_dir(&here.0)?;
        fs::write(here.0.join(JOB), job)?;
        symlink("../root", here.0.join("root"))?;
        let printed = File::options().read(true).write(true).create_new(true).open(here.0.join("printed"))?;
        let mut running = Running::start(kernel, seed, &here.0, &printed)?;
        let status = running.wait(&here.0.join(REACHED), asked)?;
        let text = fs::read_to_string(here.0.join(OUTCOME)).map_err(|_| {
            let said = tail(&printed).unwrap_or_default();
            io::Error::other(format!("the instance ended ({status}) without a word: {said}"))
        })?;
        let outcome = Outcome::read(&text).map_err(io::Error::other)?;
        // Its packets can be read after the directory is removed.
        Ok((outcome, File::open(here.0.join(PACKETS))?))
    }
}

impl Drop for Station {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// A directory that is removed when it is dropped.
struct Directory(PathBuf);

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// An instance, which is ended when it is dropped.
struct Running(Child);

impl Running {
    fn start(kernel: &Path, seed: u64, directory: &Path, printed: &File) -> io::Result<Running> {
        let mut command = Command::new(kernel);
        command
            .args(["rootfstype=hostfs", "rootflags=/proc/self/cwd/root/.", "ro", "quiet", "panic=-1"])
            .arg(format!("init={PROGRAM}"))
            // Time is moved by timers alone: a processor takes none.
            .args(["time-travel=inf-cpu".into(), format!("time-travel-start={BEGINS}")])
            .args([format!("mem={MIB}M"), "con=null".into(), "con0=null,fd:1".into()])
            // Files of the instance's own are in the directory of the run.
            .args(["umid=knee", "uml_dir=./", "LD_LIBRARY_PATH=/lib"])
            .env_clear()
            .env("UML_SEED", seed.to_string())
            .env("TMPDIR", directory)
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(printed.try_clone()?)
            .stderr(printed.try_clone()?)
            .process_group(0);
        let parent = Pid::this();
        let bound = move || {
            prctl::set_pdeathsig(Signal::SIGKILL)?;
            // It may have ended before.
            if getppid() == parent { Ok(()) } else { Err(io::ErrorKind::Interrupted.into()) }
        };
        // SAFETY: between fork and exec it makes system calls only, and allocates nothing.
        unsafe { command.pre_exec(bound) };
        command.spawn().map(Running)
    }

    fn wait(&mut self, file: &Path, asked: &dyn Fn(Span) -> bool) -> io::Result<ExitStatus> {
        let mut now = Span::ZERO;
        let mut looks = 0;
        loop {
            looks += 1;
            if let Some(status) = self.0.try_wait()? {
                return Ok(status);
            }
            if looks % LOOKS == 0 {
                now = reached(file).unwrap_or(now);
            }
            if asked(now) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            thread::sleep(LOOK);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Its processes are the members of its process group.
        let _ = killpg(Pid::from_raw(self.0.id().cast_signed()), Signal::SIGKILL);
        let _ = self.0.wait();
    }
}

/// The progress of a run, once its instance has reported it.
fn reached(file: &Path) -> Option<Span> {
    let told = fs::read(file).ok()?;
    Some(Span(u64::from_le_bytes(told.try_into().ok()?)))
}

fn tail(mut printed: &File) -> io::Result<String> {
    printed.rewind()?;
    let mut bytes = Vec::new();
    printed.read_to_end(&mut bytes)?;
    let from = bytes.len().saturating_sub(PRINTED);
    Ok(String::from_utf8_lossy(&bytes[from..]).trim().to_string())
}

/// Whether a file system has room for instances, and permits execution.
fn suits(base: &Path) -> bool {
    statvfs(base).is_ok_and(|there| {
        let free = there.blocks_available() * there.fragment_size();
        free >= ROOM && !there.flags().contains(FsFlags::ST_NOEXEC)
    })
}

/// A new directory of this process, and its lock.
fn own(base: &Path) -> io::Result<(PathBuf, File)> {
    for number in 0..1000 {
        let directory = base.join(format!("{PREFIX}{}-{number}", std::process::id()));
        match fs::DirBuilder::new().mode(0o700).create(&directory) {
            Ok(()) => {
                let lock = OpenOptions::new().write(true).create_new(true).open(directory.join(LOCK))?;
                lock.lock()?;
                return Ok((directory, lock));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Removes this user's directories whose processes have ended.
pub(super) fn sweep(base: &Path) {
    let own = nix::unistd::geteuid().as_raw();
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        let path = entry.path();
        let ours = entry.file_name().to_str().is_some_and(is_name);
        let Ok(there) = fs::symlink_metadata(&path) else { continue };
        if ours && there.is_dir() && there.uid() == own && is_left(&path, there.modified().ok()) {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// Whether this is a name of our directories: the numbers of a process and of a directory.
fn is_name(name: &str) -> bool {
    let numbers = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-'));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    numbers.is_some_and(|(process, number)| is_number(process) && is_number(number))
}

/// Whether a directory is unlocked.
fn is_left(directory: &Path, changed: Option<SystemTime>) -> bool {
    match File::open(directory.join(LOCK)) {
        Ok(lock) => lock.try_lock().is_ok(),
        Err(_) => changed.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > YOUNG),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_living_process_has_stays_and_what_a_killed_one_left_goes() {
        let base = std::env::temp_dir().join(format!("knee-sweeping-{}", std::process::id()));
        fs::create_dir(&base).unwrap();
        let base = Directory(base);
        let (living, _lock) = own(&base.0).unwrap();
        let (left, lock) = own(&base.0).unwrap();
        fs::write(left.join("packets"), "half").unwrap();
        let theirs = base.0.join("knee-uml-notes-1");
        fs::create_dir(&theirs).unwrap();
        drop(lock);
        sweep(&base.0);
        assert!(living.exists() && theirs.exists());
        assert!(!left.exists());
    }
}

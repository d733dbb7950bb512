// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The emulator in real time: one thread between two devices and a clock.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use kneepoint::trace::Observer;
use kneepoint::units::{Span, Time};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::time::TimeSpec;

use super::{Emulator, Lateness, Side};

/// Frames read from a device before the network is advanced again.
const BATCH: usize = 64;
/// The part of each wait that is spent awake, because timers are late by some ten microseconds. It uses most of a
/// processor where packets follow each other this closely.
pub const AWAKE: Span = Span::from_micros(50);
/// The longest wait: signals may arrive between looking for them and waiting.
const LONGEST_WAIT: Span = Span::from_millis(100);

/// The time to stop, and the means to wait until then.
pub struct Stop<'a> {
    /// At this time of the emulator's clock.
    pub at: Time,
    /// The descriptor that is readable from that time on.
    pub when: BorrowedFd<'a>,
    /// Whether a signal that arrived asks to stop.
    pub asked: &'a dyn Fn() -> bool,
    /// The last part of each wait, spent awake.
    pub awake: Span,
}

/// A descriptor for [`Stop::when`] that can never be read.
pub fn never() -> io::Result<OwnedFd> {
    Ok(EventFd::from_flags(EfdFlags::EFD_CLOEXEC)?.into())
}

/// The source and the sink of frames, without waiting.
pub trait Port {
    /// The next frame: its length. [`ErrorKind::WouldBlock`] where there is none, [`ErrorKind::Interrupted`] where there may be another.
    fn receive(&self, room: &mut [u8]) -> io::Result<usize>;
    /// Takes a frame.
    fn send(&self, bytes: &[u8]) -> io::Result<()>;
    /// It can be read when there is a frame.
    fn file(&self) -> BorrowedFd<'_>;
}

/// A TUN device.
impl Port for File {
    #[inline]
    fn receive(&self, room: &mut [u8]) -> io::Result<usize> {
        let mut file = self;
        file.read(room)
    }
    #[inline]
    fn send(&self, bytes: &[u8]) -> io::Result<()> {
        let mut file = self;
        file.write(bytes).map(drop)
    }
    fn file(&self) -> BorrowedFd<'_> {
        self.as_fd()
    }
}

/// Sees every frame at its host's device, as a capture there would.
pub trait Capture {
    /// Whether anybody looks.
    fn looks(&self) -> bool {
        true
    }

    /// A frame that the host of this side sends or receives.
    fn frame(&mut self, side: Side, at: Time, bytes: &[u8]);
}

/// Nobody captures.
impl Capture for () {
    fn looks(&self) -> bool {
        false
    }

    #[inline(always)]
    fn frame(&mut self, _: Side, _: Time, _: &[u8]) {}
}

/// Somebody may.
impl<C: Capture> Capture for Option<C> {
    fn looks(&self) -> bool {
        self.as_ref().is_some_and(Capture::looks)
    }

    #[inline]
    fn frame(&mut self, side: Side, at: Time, bytes: &[u8]) {
        if let Some(capture) = self {
            capture.frame(side, at, bytes);
        }
    }
}

/// The observations of the thread.
#[derive(Clone, Debug, Default)]
pub struct Carried {
    /// Lateness of delivered frames.
    pub lateness: Lateness,
    /// Frames dropped at a host's full device.
    pub refused: u64,
    /// The time that the near and the far host took to receive their frames. The kernel does that while the frame is written: TCP
    /// takes it in, the congestion control receives it, and the segments that it permits are sent as far as the device.
    pub receiving: [Span; 2],
    /// The end, by the emulator's clock.
    pub ended: Time,
}

/// Carries frames between the devices of the near and the far host, by a clock that began at `origin`.
pub fn carry<O: Observer, P: Port>(
    emulator: &mut Emulator<O>,
    devices: [&P; 2],
    origin: Instant,
    stop: &Stop,
    capture: &mut impl Capture,
) -> io::Result<Carried> {
    let mut desk = Desk { devices, origin, capture, carried: Carried::default(), failure: None };
    let mut breath = Breath::new(desk.now());
    let mut ready = [true; 2];
    loop {
        for side in [Side::Near, Side::Far] {
            if ready[side as usize] {
                desk.take_in(side, emulator)?;
            }
        }
        let now = desk.now();
        emulator.advance(now, |to, bytes, at| desk.hand(to, bytes, at));
        if let Some(failure) = desk.failure.take() {
            return Err(failure);
        }
        let called;
        (ready, called) = desk.wait(emulator.next().min(stop.at), stop)?;
        if called || desk.now() >= stop.at || (stop.asked)() {
            desk.carried.ended = desk.now().min(stop.at);
            return Ok(desk.carried);
        }
        breath.draw(now);
    }
}

/// The two devices, with a clock.
struct Desk<'a, C, P> {
    devices: [&'a P; 2],
    origin: Instant,
    capture: &'a mut C,
    carried: Carried,
    failure: Option<io::Error>,
}

impl<C: Capture, P: Port> Desk<'_, C, P> {
    #[inline]
    fn now(&self) -> Time {
        Span(self.origin.elapsed().as_nanos() as u64).after_start()
    }

    /// Reads a host's frames.
    fn take_in<O: Observer>(&mut self, side: Side, emulator: &mut Emulator<O>) -> io::Result<()> {
        for _ in 0..BATCH {
            let length = match self.devices[side as usize].receive(emulator.room()) {
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let now = self.now();
            self.capture.frame(side, now, &emulator.room()[..length]);
            emulator.advance(now, |to, bytes, at| self.hand(to, bytes, at));
            emulator.enter(side, length, now);
        }
        Ok(())
    }

    /// Hands a frame to its host.
    fn hand(&mut self, to: Side, bytes: &[u8], at: Time) {
        self.carried.lateness.record(self.now().since(at));
        self.capture.frame(to, at, bytes);
        let began = self.now();
        let written = self.devices[to as usize].send(bytes);
        let receiving = &mut self.carried.receiving[to as usize];
        *receiving = *receiving + Span(self.origin.elapsed().as_nanos() as u64).after_start().since(began);
        let Err(error) = written else { return };
        match error.raw_os_error() {
            // The host has no room, or its device is down.
            Some(libc::EAGAIN | libc::EINTR | libc::ENOBUFS | libc::EIO) => self.carried.refused += 1,
            // A packet that the host's kernel does not take, as one with an address of the wrong kind, or that its device does not.
            Some(libc::EINVAL | libc::ENETDOWN | libc::EMSGSIZE) => self.carried.refused += 1,
            _ => self.failure = Some(error),
        }
    }

    /// Waits for a frame until `until`, or for `stop.when` to become readable; returns the devices with frames, and
    /// whether it became readable.
    fn wait(&self, until: Time, stop: &Stop) -> io::Result<([bool; 2], bool)> {
        let span = until.since(self.now()).saturating_sub(stop.awake).min(LONGEST_WAIT);
        let files = [self.devices[0].file(), self.devices[1].file(), stop.when];
        let mut files = files.map(|file| PollFd::new(file, PollFlags::POLLIN));
        match ppoll(&mut files, Some(TimeSpec::from_duration(Duration::from_nanos(span.0))), None) {
            Ok(_) | Err(Errno::EINTR) => {
                let [near, far, called] = files.map(|file| file.any().unwrap_or(false));
                Ok(([near, far], called))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Pauses of a thread that is busy all the time. A kernel stops a real-time thread that used 95 % of a second for the rest of it, 50 ms;
/// many short pauses delay packets less.
struct Breath {
    looked: Time,
    used: Duration,
}

impl Breath {
    /// The interval between checks, the usable part of it, and the length of a pause.
    const EVERY: Span = Span::from_millis(1);
    const MOST: Duration = Duration::from_micros(930);
    const PAUSE: Duration = Duration::from_micros(70);

    fn new(now: Time) -> Breath {
        Breath { looked: now, used: processor_time() }
    }

    fn draw(&mut self, now: Time) {
        if now.since(self.looked) < Breath::EVERY {
            return;
        }
        let used = processor_time();
        let share = (used - self.used).as_secs_f64() / now.since(self.looked).as_secs_f64();
        if share > Breath::MOST.as_secs_f64() / Breath::EVERY.as_secs_f64() {
            std::thread::sleep(Breath::PAUSE);
        }
        (self.looked, self.used) = (now, used);
    }
}

/// The time that the calling thread has used a processor.
fn processor_time() -> Duration {
    let time = nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID);
    time.map_or(Duration::ZERO, Duration::from)
}

/// Real-time scheduling for the calling thread, and timers without slack: whether the machine allows the former.
/// Threads and programs started later are scheduled as usual.
pub fn be_prompt() -> bool {
    be_prompt_at(50)
}

/// The same with this priority, below the emulator's or above it.
pub fn be_prompt_at(priority: i32) -> bool {
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: the priority, which is all that the kernel's parameters have, lives through the call, and the thread is the caller's own.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1);
        // The call itself: musl's function of this name refuses, as POSIX means whole processes by it.
        libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const priority) == 0
    }
}

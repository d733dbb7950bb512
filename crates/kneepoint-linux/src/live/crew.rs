// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Sources of traffic on hosts of the kernel: the laboratory's own machines, with sockets for what they request.
//!
//! One thread has both ends of every connection of a group, so it sees when a client has received the data. The sending
//! socket knows whether all of it is acknowledged (`SIOCOUTQ`); it is queried each millisecond once the client has
//! everything.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Write};
use std::net::{Shutdown, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use kneepoint::traffic::{Cue, Request};
use kneepoint::units::{Bytes, Time};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use super::hosts::{self, CHUNK, Spent};
use super::plan::{Crew, Member};
use crate::frame::Tuple;
use crate::tap::News;

/// IP and UDP.
const DATAGRAM_HEADERS: u64 = 28;
/// TCP's number.
const TCP: u8 = libc::IPPROTO_TCP as u8;
/// The interval at which a socket is queried for outstanding data.
const ASK: Duration = Duration::from_millis(1);

/// The payload that is sent.
static ZEROS: [u8; CHUNK] = [0; CHUNK];

/// The far ends of a crew's pairs of hosts.
#[derive(Debug)]
pub(crate) enum Sinks {
    /// Of connections.
    Connections(Vec<TcpListener>),
    /// A buffer of datagrams, which are not read: the kernel drops the excess.
    Datagrams(#[expect(dead_code, reason = "they are held open")] Vec<UdpSocket>),
}

/// A crew with its hosts.
#[derive(Debug)]
pub(crate) struct Post {
    pub(crate) crew: Crew,
    /// The sink of each pair.
    pub(crate) to: Vec<SocketAddrV4>,
    pub(crate) sinks: Sinks,
    pub(crate) began: Instant,
    pub(crate) end: Instant,
    pub(crate) news: Sender<News>,
}

/// A connection with both its ends.
#[derive(Debug)]
struct Connection {
    member: usize,
    /// The member's own number for it.
    number: u32,
    sender: TcpStream,
    client: Option<TcpStream>,
    tuple: Tuple,
    opened: Time,
    /// Bytes to be carried so far, accepted by the sending socket, and received by the client.
    requested: u64,
    written: u64,
    received: u64,
    /// The time at which the client had everything so far.
    delivered: Time,
    /// Whether nothing more is requested.
    last: bool,
    /// Whether the sending socket has received the acknowledgement, too.
    shut: bool,
    /// Whether the member has been notified that everything so far is acknowledged.
    told: bool,
    /// Transfers inside: where they end, when they began, and how great they are.
    parts: VecDeque<(u64, Time, Bytes)>,
    /// Whether there ever were any.
    parted: bool,
}

/// Does what the members of the crew request until the end of the run.
pub(crate) fn work(post: Post) -> io::Result<Spent> {
    hosts::hurry();
    let mut office = Office { socket: None, connections: Vec::new(), post };
    while Instant::now() < office.post.end {
        office.wake()?;
        office.wait()?;
        office.settle()?;
    }
    for Connection { sender, .. } in &office.connections {
        hosts::abort(sender)?;
    }
    Ok(Spent { retransmissions: 0, processor: hosts::processor_time() })
}

struct Office {
    post: Post,
    connections: Vec<Connection>,
    /// Of datagrams.
    socket: Option<UdpSocket>,
}

impl Office {
    fn now(&self) -> Time {
        Time(self.post.began.elapsed().as_nanos() as u64)
    }

    /// Cues the members whose timers expired.
    fn wake(&mut self) -> io::Result<()> {
        if Instant::now() < self.post.began {
            return Ok(());
        }
        for member in 0..self.post.crew.members.len() {
            while self.post.crew.members[member].source.next_wakeup() <= self.now() {
                let now = self.post.crew.members[member].source.next_wakeup();
                self.cue(member, Cue::Time, now)?;
            }
        }
        Ok(())
    }

    /// Cues a member and grants its requests.
    fn cue(&mut self, member: usize, cue: Cue, now: Time) -> io::Result<()> {
        let mut requests = Vec::new();
        let Member { source, rng, first, .. } = &mut self.post.crew.members[member];
        source.on(cue, now, rng, &mut requests);
        let first = *first;
        for request in requests {
            match request {
                Request::Open { connection, pair, size } => {
                    self.open(member, connection, first + pair, size, now)?
                }
                Request::Write { connection, size, transfer } => {
                    if let Some(one) = self.connection(member, connection) {
                        one.request(size, now);
                        one.parts.extend(transfer.map(|whole| (one.requested, now, whole)));
                        one.parted |= transfer.is_some();
                        one.write()?;
                    }
                }
                Request::Close { connection } => {
                    if let Some(one) = self.connection(member, connection) {
                        (one.last, one.told) = (true, false);
                        one.write()?;
                    }
                }
                Request::Report(report) => {
                    let group = self.post.crew.group;
                    // Nobody listens after the run.
                    let _ = self.post.news.send(News::Reported { group, report });
                }
                Request::Datagram { size } => self.emit(first, size)?,
                // A plan has no group whose source listens.
                Request::Numbered { .. } | Request::Answer { .. } => {}
            }
        }
        Ok(())
    }

    fn connection(&mut self, member: usize, number: u32) -> Option<&mut Connection> {
        self.connections.iter_mut().find(|one| (one.member, one.number) == (member, number))
    }

    fn open(
        &mut self,
        member: usize,
        number: u32,
        pair: u32,
        size: Option<Bytes>,
        now: Time,
    ) -> io::Result<()> {
        let to = self.post.to[pair as usize];
        let sender = hosts::socket(to, &self.post.crew.control, self.post.crew.payload)?;
        sender.set_nodelay(true)?;
        let from = sender.local_addr()?;
        let tuple =
            Tuple { from: from.ip(), to: (*to.ip()).into(), ports: (from.port(), to.port()), protocol: TCP };
        let mut connection = Connection {
            member,
            number,
            sender,
            client: None,
            tuple,
            opened: now,
            requested: 0,
            written: 0,
            received: 0,
            delivered: now,
            last: size.is_some(),
            shut: false,
            told: size.is_none(),
            parts: VecDeque::new(),
            parted: false,
        };
        if let Some(size) = size {
            connection.request(size, now);
        }
        self.connections.push(connection);
        Ok(())
    }

    fn emit(&mut self, pair: u32, size: Bytes) -> io::Result<()> {
        let socket = match &self.socket {
            Some(socket) => socket,
            None => {
                let socket = UdpSocket::bind(("0.0.0.0", 0))?;
                socket.set_nonblocking(true)?;
                self.socket.insert(socket)
            }
        };
        let payload = vec![0; size.0.saturating_sub(DATAGRAM_HEADERS) as usize];
        match socket.send_to(&payload, self.post.to[pair as usize]) {
            // The device of the host is full: as on a real host, the datagram is lost.
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
            sent => sent.map(|_| ()),
        }
    }

    /// Waits until a timer expires or a socket is ready; then accepts connections, reads and writes.
    fn wait(&mut self) -> io::Result<()> {
        let listeners: &[TcpListener] = match &self.post.sinks {
            Sinks::Connections(listeners) => listeners,
            Sinks::Datagrams(_) => &[],
        };
        let mut files: Vec<PollFd> =
            listeners.iter().map(|one| PollFd::new(one.as_fd(), PollFlags::POLLIN)).collect();
        for one in &self.connections {
            let writes = if one.has_to_write() { PollFlags::POLLOUT } else { PollFlags::empty() };
            files.push(PollFd::new(one.sender.as_fd(), writes));
            // Results of ended transfers can always be read.
            let reads = if one.received < one.requested { PollFlags::POLLIN } else { PollFlags::empty() };
            files.extend(one.client.as_ref().map(|client| PollFd::new(client.as_fd(), reads)));
        }
        match ppoll(&mut files, Some(TimeSpec::from_duration(self.patience())), None) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut ready = files.iter().map(|file| file.any().unwrap_or(false)).collect::<Vec<_>>().into_iter();
        let arriving: Vec<bool> = ready.by_ref().take(listeners.len()).collect();
        let now = self.now();
        for one in &mut self.connections {
            let writable = ready.next().unwrap_or(false);
            if one.client.is_some() && ready.next().unwrap_or(false) {
                one.read(now, &self.post.news)?;
            }
            if writable {
                one.write()?;
            }
        }
        let places = (0..).zip(arriving).filter(|(_, has)| *has);
        places.map(|(place, _)| place).try_for_each(|place| self.accept(place))
    }

    /// The time until the next action other than waiting for sockets.
    fn patience(&self) -> Duration {
        let wakeups = self.post.crew.members.iter().map(|member| member.source.next_wakeup());
        let next = wakeups.min().unwrap_or(Time::NEVER);
        let due = self
            .post
            .began
            .checked_add(Duration::from_nanos(next.0))
            .map_or(self.post.end, |at| at.min(self.post.end));
        let left = due.saturating_duration_since(Instant::now());
        if self.connections.iter().any(Connection::is_unanswered) { left.min(ASK) } else { left }
    }

    /// The client's ends of new connections.
    fn accept(&mut self, place: usize) -> io::Result<()> {
        let Sinks::Connections(listeners) = &self.post.sinks else { return Ok(()) };
        loop {
            let (client, from) = match listeners[place].accept() {
                Ok(accepted) => accepted,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            client.set_nonblocking(true)?;
            // Connections to several hosts may have the same port of the sender's.
            let ends = (from.ip(), (from.port(), self.post.to[place].port()));
            let mut own = self.connections.iter_mut();
            if let Some(one) =
                own.find(|one| (one.tuple.from, one.tuple.ports) == ends && one.client.is_none())
            {
                one.client = Some(client);
            }
        }
    }

    /// Cues the members whose connections have everything acknowledged.
    fn settle(&mut self) -> io::Result<()> {
        let mut place = 0;
        while place < self.connections.len() {
            let one = &mut self.connections[place];
            if !one.is_unanswered() || hosts::unacknowledged(&one.sender)? > 0 {
                place += 1;
                continue;
            }
            one.told = true;
            let (member, connection, at) = (one.member, one.number, one.delivered);
            let cue = if one.last {
                let Connection { tuple, opened: began, requested, parted, .. } =
                    self.connections.swap_remove(place);
                if !parted {
                    let size = Bytes(requested);
                    let _ = self.post.news.send(News::Completed { tuple, began, delivered: at, size });
                }
                Cue::Completed { connection, at }
            } else {
                Cue::Delivered { connection, bytes: Bytes(one.requested), at }
            };
            self.cue(member, cue, self.now())?;
        }
        Ok(())
    }
}

impl Connection {
    fn request(&mut self, size: Bytes, now: Time) {
        self.requested += size.0;
        (self.told, self.delivered) = (false, now);
    }

    fn has_to_write(&self) -> bool {
        self.written < self.requested || self.has_to_shut()
    }

    /// Whether the sending socket is to be shut down for writing once it is connected.
    fn has_to_shut(&self) -> bool {
        self.last && !self.shut && (self.written > 0 || self.client.is_some())
    }

    /// Whether the client has everything, and the member is not yet notified of the acknowledgement.
    fn is_unanswered(&self) -> bool {
        !self.told && self.received == self.requested && !self.has_to_write() && (self.shut || !self.last)
    }

    /// Writes as much as the socket accepts, and reports whether it was the last.
    fn write(&mut self) -> io::Result<()> {
        while self.written < self.requested {
            let left = usize::try_from(self.requested - self.written).unwrap_or(CHUNK).min(CHUNK);
            match self.sender.write(&ZEROS[..left]) {
                Ok(written) => self.written += written as u64,
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::NotConnected) => {
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        if self.has_to_shut() {
            self.sender.shutdown(Shutdown::Write)?;
            self.shut = true;
        }
        Ok(())
    }

    /// Reads the client's data, and reports transfers that are complete with it.
    fn read(&mut self, now: Time, news: &Sender<News>) -> io::Result<()> {
        let Some(client) = &self.client else { return Ok(()) };
        self.received += hosts::take(client)?;
        if self.received == self.requested {
            self.delivered = now;
        }
        while let Some((_, began, size)) =
            self.parts.front().copied().filter(|(end, ..)| *end <= self.received)
        {
            self.parts.pop_front();
            let _ = news.send(News::Completed { tuple: self.tuple, began, delivered: now, size });
        }
        Ok(())
    }
}

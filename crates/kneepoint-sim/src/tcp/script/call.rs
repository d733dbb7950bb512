// SPDX-License-Identifier: Apache-2.0 OR MIT
//! System calls of a script: `write(4, ..., 1000) = 1000`.

use std::ops::Range;

use super::cursor::Cursor;
use crate::fault::Fault;
use crate::suggest::did_you_mean;

/// The effect of a system call on the host under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Does {
    /// Nothing that its sender would notice.
    Nothing,
    /// Accepts the connection, whose descriptor is the result.
    Accept,
    /// Opens the connection of a descriptor.
    Connect,
    /// Writes to it: the argument that counts the bytes.
    Write(usize),
    /// Ends it.
    Close,
    /// Ends it if it has this argument.
    Shutdown,
    /// Sets an option of a socket.
    Option,
    /// Outside the subset, for this reason.
    Refused(&'static str),
}

const RECEIVES: &str = "the script is the receiver, and the simulated host only sends";
const WAITS: &str = "the subset has no readiness of descriptors";

/// All known calls.
const CALLS: [(&str, Does); 26] = [
    ("socket", Does::Nothing),
    ("bind", Does::Nothing),
    ("listen", Does::Nothing),
    ("accept", Does::Accept),
    ("connect", Does::Connect),
    ("write", Does::Write(2)),
    ("send", Does::Write(2)),
    ("sendto", Does::Write(2)),
    ("close", Does::Close),
    ("shutdown", Does::Shutdown),
    ("setsockopt", Does::Option),
    ("getsockopt", Does::Nothing),
    ("fcntl", Does::Nothing),
    ("read", Does::Refused(RECEIVES)),
    ("readv", Does::Refused(RECEIVES)),
    ("recv", Does::Refused(RECEIVES)),
    ("recvfrom", Does::Refused(RECEIVES)),
    ("recvmsg", Does::Refused(RECEIVES)),
    ("poll", Does::Refused(WAITS)),
    ("epoll_create", Does::Refused(WAITS)),
    ("epoll_ctl", Does::Refused(WAITS)),
    ("epoll_wait", Does::Refused(WAITS)),
    ("ioctl", Does::Refused("the subset has no state of sockets but `tcpi_…` in `%{ }%`")),
    ("writev", Does::Refused("the subset has no vectors; `write` sends the same")),
    ("sendmsg", Does::Refused("the subset has no messages; `write` sends the same")),
    ("sendfile", Does::Refused("the subset has no files; `write` sends the same")),
];

/// Socket options: ignored where they do not affect a sender, else refused with a reason.
const SOCKET_OPTIONS: [(&str, Result<(), &str>); 17] = [
    ("SO_REUSEADDR", Ok(())),
    ("SO_SNDBUF", Ok(())),
    ("SO_RCVBUF", Ok(())),
    ("SO_ERROR", Ok(())),
    ("SO_LINGER", Ok(())),
    ("SO_KEEPALIVE", Ok(())),
    ("IP_TOS", Ok(())),
    ("IP_MTU_DISCOVER", Ok(())),
    ("IPV6_MTU_DISCOVER", Ok(())),
    // Segments are whole, so Nagle's algorithm never waits.
    ("TCP_NODELAY", Ok(())),
    ("TCP_NOTSENT_LOWAT", Ok(())),
    ("TCP_CONGESTION", Ok(())),
    ("TCP_CORK", Err("it holds back data that is not a whole segment")),
    ("TCP_MAXSEG", Err("segments are as large as the handshake says")),
    ("TCP_USER_TIMEOUT", Err("a simulated connection is not given up")),
    ("TCP_FASTOPEN", Err("data in a SYN is outside the subset")),
    ("SO_MAX_PACING_RATE", Err("pace is the controller's")),
];

/// A call as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub does: Does,
    pub arguments: Vec<String>,
    /// Its result; none where the script leaves it open.
    pub result: Option<i64>,
    pub place: Range<usize>,
}

impl Call {
    /// An argument as a number.
    pub fn number(&self, argument: usize) -> Option<i64> {
        self.arguments.get(argument)?.parse().ok()
    }
}

/// A call, behind its time.
pub(super) fn read(cursor: &mut Cursor) -> Result<Call, Fault> {
    let began = cursor.at;
    let name = cursor.name();
    if name.is_empty() {
        return Err(cursor.expected("a packet (`<`, `>`), a system call, `%{` or a backtick"));
    }
    let named = began..cursor.at;
    cursor.blank();
    cursor.expect("(")?;
    let arguments = arguments(cursor)?;
    cursor.blank();
    cursor.expect("=")?;
    cursor.blank();
    let result = result(cursor)?;
    let place = began..cursor.at;
    let does = does(name, &named)?;
    let call = Call { does, arguments, result, place };
    if does == Does::Option {
        judge_option(&call)?;
    }
    Ok(call)
}

fn does(name: &str, place: &Range<usize>) -> Result<Does, Fault> {
    match CALLS.iter().find(|(known, _)| *known == name) {
        Some((_, Does::Refused(why))) => {
            Err(Fault::at(place.clone(), format!("`{name}` is outside the subset"), *why))
        }
        Some((_, does)) => Ok(*does),
        None => {
            let known = CALLS.iter().filter(|(_, does)| !matches!(does, Does::Refused(_)));
            let known = known.map(|call| call.0).collect::<Vec<_>>();
            let message = format!("the system call `{name}` is outside the subset");
            Err(Fault::at(place.clone(), message, did_you_mean(name, &known)))
        }
    }
}

fn judge_option(call: &Call) -> Result<(), Fault> {
    let name = call.arguments.get(2).map_or("", |name| name.as_str());
    let found = SOCKET_OPTIONS.iter().find(|(known, _)| *known == name);
    let refused = |why: String| {
        let message = format!("the socket option `{name}` is outside the subset");
        Err(Fault::at(call.place.clone(), message, why))
    };
    match found {
        Some((_, Ok(()))) => Ok(()),
        Some((_, Err(why))) => refused(format!("leave it out: {why}")),
        None => {
            let known = SOCKET_OPTIONS.iter().filter(|(_, judged)| judged.is_ok());
            refused(did_you_mean(name, &known.map(|option| option.0).collect::<Vec<_>>()))
        }
    }
}

/// The arguments behind `(`, through `)`.
fn arguments(cursor: &mut Cursor) -> Result<Vec<String>, Fault> {
    let (mut arguments, mut depth, mut quoted) = (vec![String::new()], 0usize, false);
    loop {
        let Some(next) = cursor.rest().chars().next().filter(|c| *c != '\n' || depth > 0) else {
            return Err(cursor.expected("`)` behind the arguments"));
        };
        cursor.at += next.len_utf8();
        match next {
            '"' => quoted = !quoted,
            _ if quoted => {}
            ')' if depth == 0 => break,
            ',' if depth == 0 => {
                arguments.push(String::new());
                continue;
            }
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        arguments.last_mut().expect("one at least").push(next);
    }
    Ok(arguments.into_iter().map(|argument| argument.trim().to_string()).collect())
}

/// `1000`, `-1 EINPROGRESS (Operation now in progress)`, `0x2 (flags O_RDWR)`, `...`.
fn result(cursor: &mut Cursor) -> Result<Option<i64>, Fault> {
    let began = cursor.at;
    let value = if cursor.take("...") {
        None
    } else {
        let negative = cursor.take("-");
        let word = cursor.run(|c| c.is_ascii_alphanumeric());
        let number = match word.strip_prefix("0x") {
            Some(digits) => i64::from_str_radix(digits, 16),
            None => word.parse(),
        };
        let Ok(number) = number else {
            cursor.at = began;
            return Err(cursor.expected("the result of the call, as in `= 0`"));
        };
        Some(if negative { -number } else { number })
    };
    // The name of an error and a remark.
    cursor.blank();
    cursor.run(|c| c.is_ascii_uppercase());
    cursor.blank();
    if cursor.take("(") {
        cursor.run(|c| c != ')' && c != '\n');
        cursor.expect(")")?;
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(text: &str) -> Result<Call, Fault> {
        read(&mut Cursor { text, at: 0 })
    }

    #[test]
    fn a_call_has_arguments_with_commas_inside_brackets_and_a_result_with_a_remark() {
        let set = call("setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0").unwrap();
        assert_eq!((set.does, set.arguments.len(), set.result), (Does::Option, 5, Some(0)));
        let connect = call("connect(3, {a, b}, ...) = -1 EINPROGRESS (Operation now in progress)").unwrap();
        assert_eq!((connect.does, connect.arguments.len(), connect.result), (Does::Connect, 3, Some(-1)));
        assert_eq!(call("fcntl(3, F_GETFL) = 0x2 (flags O_RDWR)").unwrap().result, Some(2));
    }

    #[test]
    fn a_call_outside_the_subset_is_refused_by_name_with_what_there_is() {
        let fault = call("recv(4, ..., 1000, 0) = 1000").unwrap_err();
        assert_eq!((fault.span.clone(), fault.message.as_str()), (0..4, "`recv` is outside the subset"));
        assert!(
            call("wriet(4, ..., 1000) = 1000")
                .unwrap_err()
                .help
                .unwrap()
                .starts_with("did you mean `write`?")
        );
        let cork = call("setsockopt(4, SOL_TCP, TCP_CORK, [1], 4) = 0").unwrap_err();
        assert!(cork.message.contains("`TCP_CORK`") && cork.help.unwrap().contains("not a whole segment"));
        assert!(call("close(4)").unwrap_err().message.starts_with("expected `=`"));
    }
}

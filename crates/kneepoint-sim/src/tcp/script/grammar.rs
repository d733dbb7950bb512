// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The items of a script: options of packetdrill, shell blocks and events.

use std::ops::Range;

use super::call::{self, Call};
use super::cursor::Cursor;
use super::expression::{self, Statement};
use super::settings::Settings;
use super::shell;
use super::time::{self, When};
use super::wire::{self, Wire};
use crate::fault::{Fault, Faults};
use crate::suggest::did_you_mean;
use crate::units::Span;

/// The tolerance for the times of packets: the greater of a span and a part of the waiting time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tolerance {
    pub span: Span,
    pub percent: f64,
}

/// An event of a script.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub when: When,
    pub place: Range<usize>,
    pub what: What,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    Packet(Wire),
    Call(Call),
    Code(Vec<Statement>),
    Shell,
}

/// A script as written.
pub(super) struct Written {
    pub events: Vec<Event>,
    pub settings: Settings,
    pub tolerance: Tolerance,
}

/// Options of packetdrill without effect on the simulated host.
const IGNORED: [&str; 17] = [
    "ip_version",
    "bind_port",
    "connect_port",
    "local_ip",
    "remote_ip",
    "gateway_ip",
    "netmask_ip",
    "speed",
    "mtu",
    "code_command",
    "code_format",
    "code_sockopt",
    "send_omit_free",
    "non_fatal",
    "debug",
    "verbose",
    "define",
];

/// Reads all items; an unreadable one is a fault, and reading continues after it.
pub(super) fn read(text: &str, faults: &mut Faults) -> Written {
    let mut reader = Reader {
        cursor: Cursor { text, at: 0 },
        written: Written {
            events: Vec::new(),
            settings: Settings::default(),
            tolerance: Tolerance { span: Span::from_millis(4), percent: 12.5 },
        },
        variables: Vec::new(),
        faults,
    };
    loop {
        reader.cursor.gap();
        if reader.cursor.is_at_end() || reader.faults.enough() {
            return reader.written;
        }
        if let Err(fault) = reader.item() {
            reader.faults.take(fault);
            reader.cursor.skip_line();
        }
    }
}

struct Reader<'t, 'f> {
    cursor: Cursor<'t>,
    written: Written,
    variables: Vec<String>,
    faults: &'f mut Faults,
}

impl Reader<'_, '_> {
    fn item(&mut self) -> Result<(), Fault> {
        if self.cursor.take("--") {
            return self.option();
        }
        if self.cursor.next_is("`") {
            return self.shell();
        }
        let began = self.cursor.at;
        let when = time::read(&mut self.cursor)?;
        self.cursor.blank();
        let what = self.what()?;
        self.written.events.push(Event { when, place: began..self.cursor.at, what });
        self.cursor.blank();
        match self.cursor.is_at_end() || self.cursor.next_is("\n") {
            true => Ok(()),
            false => Err(self.cursor.expected("the end of the line")),
        }
    }

    fn what(&mut self) -> Result<What, Fault> {
        if self.cursor.next_is("<") || self.cursor.next_is(">") {
            return wire::read(&mut self.cursor).map(What::Packet);
        }
        if self.cursor.next_is("`") {
            self.shell()?;
            return Ok(What::Shell);
        }
        if self.cursor.next_is("%{") {
            return self.code().map(What::Code);
        }
        call::read(&mut self.cursor).map(What::Call)
    }

    fn code(&mut self) -> Result<Vec<Statement>, Fault> {
        let began = self.cursor.at;
        self.cursor.take("%{");
        let Some(inside) = self.cursor.through("}%") else {
            let message = "the code that begins here does not end";
            return Err(self.unclosed(began, message, "close it with `}%`"));
        };
        let code = Cursor { text: &self.cursor.text[..inside.end], at: inside.start };
        expression::read(code, &mut self.variables)
    }

    fn shell(&mut self) -> Result<(), Fault> {
        let began = self.cursor.at;
        self.cursor.take("`");
        let Some(inside) = self.cursor.through("`") else {
            let message = "the shell commands that begin here do not end";
            return Err(self.unclosed(began, message, "close them with a backtick"));
        };
        shell::apply_block(self.cursor.text, inside, &mut self.written.settings, self.faults);
        Ok(())
    }

    /// The rest of the text is not read: it may be part of the unclosed item.
    fn unclosed(&mut self, began: usize, message: &str, help: &str) -> Fault {
        let place = began..self.cursor.at;
        self.cursor.at = self.cursor.text.len();
        Fault::at(place, message, help)
    }

    fn option(&mut self) -> Result<(), Fault> {
        let began = self.cursor.at - 2;
        let name = self.cursor.name();
        let value = if self.cursor.take("=") { self.cursor.run(|c| c != '\n').trim() } else { "" };
        let place = began..self.cursor.at;
        let wrong = |what: &str| {
            let message = format!("--{name} is `{value}`, which is not {what}");
            Fault::at(place.clone(), message, format!("write {what}"))
        };
        match name {
            "tolerance_usecs" => {
                let micros = value.parse().ok().filter(|micros| (1..=1_000_000_000).contains(micros));
                let micros = micros.ok_or_else(|| wrong("a number of microseconds above zero"))?;
                self.written.tolerance.span = Span::from_micros(micros);
            }
            "tolerance_percent" => {
                let percent = value.parse().ok().filter(|percent| (0.0..=100.0).contains(percent));
                self.written.tolerance.percent = percent.ok_or_else(|| wrong("a number from 0 to 100"))?;
            }
            // A millisecond, as the timestamps of the host have it.
            "tcp_ts_tick_usecs" if value == "1000" => {}
            "tcp_ts_tick_usecs" => return Err(wrong("1000, the tick of the host's timestamps")),
            _ if IGNORED.contains(&name) => {}
            other => {
                let known: Vec<&str> =
                    ["tolerance_usecs", "tolerance_percent"].into_iter().chain(IGNORED).collect();
                let message = format!("the option `--{other}` is outside the subset");
                return Err(Fault::at(place, message, did_you_mean(other, &known)));
            }
        }
        Ok(())
    }
}

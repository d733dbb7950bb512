// SPDX-License-Identifier: Apache-2.0 OR MIT
//! An instance's report on its run, besides the packets, as text: written inside, read outside.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::IpAddr;

use kneepoint::metric::{Quantity, Report};
use kneepoint::units::{Bytes, Time};

use super::netlink::Dropped;
use crate::frame::Tuple;
use crate::tap::News;

/// The last line of a successful run.
const DONE: &str = "done";

/// The whole.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Outcome {
    /// By transfer, in the kernel's count.
    pub(super) retransmissions: Vec<u32>,
    /// In the order of the reports.
    pub(super) news: Vec<News>,
    pub(super) dropped: Vec<Dropped>,
    /// Packets that were missed for lack of room.
    pub(super) missed: u64,
}

impl Outcome {
    pub(super) fn write(&self) -> String {
        let mut text = String::new();
        for again in &self.retransmissions {
            let _ = writeln!(text, "retransmitted {again}");
        }
        for news in &self.news {
            let _ = match news {
                News::Completed { tuple: Tuple { from, to, ports, protocol }, began, delivered, size } => {
                    writeln!(
                        text,
                        "completed {from} {to} {} {} {protocol} {} {} {}",
                        ports.0, ports.1, began.0, delivered.0, size.0
                    )
                }
                News::Reported { group, report: Report { quantity, value, at } } => writeln!(
                    text,
                    "reported {group} {} {} {} {}",
                    u8::from(quantity.is_distributed()),
                    value.to_bits(),
                    at.0,
                    quantity.name()
                ),
            };
        }
        for Dropped { device, parent, packets } in &self.dropped {
            let _ = writeln!(text, "dropped {device} {parent} {packets}");
        }
        let _ = writeln!(text, "missed {}\n{DONE}", self.missed);
        text
    }

    /// The parsed text; the error is the instance's, or the line that cannot be parsed.
    pub(super) fn read(text: &str) -> Result<Outcome, String> {
        let mut outcome = Outcome::default();
        let mut names = BTreeMap::new();
        for line in text.lines() {
            if line == DONE {
                return Ok(outcome);
            }
            if let Some(why) = line.strip_prefix("failed ") {
                return Err(why.to_string());
            }
            outcome.take(line, &mut names).ok_or_else(|| format!("not understood: {line}"))?;
        }
        Err("it ended before its run did".into())
    }

    fn take(&mut self, line: &str, names: &mut BTreeMap<String, &'static str>) -> Option<()> {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |place: usize| words.get(place)?.parse::<u64>().ok();
        let small = |place: usize| words.get(place)?.parse::<u32>().ok();
        let address = |place: usize| words.get(place)?.parse::<IpAddr>().ok();
        let port = |place: usize| words.get(place)?.parse::<u16>().ok();
        match words[0] {
            "retransmitted" => self.retransmissions.push(small(1)?),
            "completed" => {
                let protocol = u8::try_from(number(5)?).ok()?;
                let tuple =
                    Tuple { from: address(1)?, to: address(2)?, ports: (port(3)?, port(4)?), protocol };
                let (began, delivered, size) = (Time(number(6)?), Time(number(7)?), Bytes(number(8)?));
                self.news.push(News::Completed { tuple, began, delivered, size });
            }
            "reported" => {
                // A source has a few quantities, named by constants at their declaration.
                let name = *names
                    .entry(words.get(5)?.to_string())
                    .or_insert_with_key(|name| Box::leak(name.clone().into_boxed_str()));
                let quantity = if number(2)? == 1 { Quantity::times(name) } else { Quantity::number(name) };
                let report = quantity.is(f64::from_bits(number(3)?), Time(number(4)?));
                self.news.push(News::Reported { group: small(1)?, report });
            }
            "dropped" => {
                self.dropped.push(Dropped { device: small(1)?, parent: small(2)?, packets: small(3)? });
            }
            "missed" => self.missed = number(1)?,
            _ => return None,
        }
        Some(())
    }
}

/// The text of a run that failed.
pub(super) fn failed(why: &str) -> String {
    format!("failed {}\n", why.replace('\n', " "))
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let (from, to) = (Ipv4Addr::new(10, 1, 0, 1).into(), Ipv4Addr::new(10, 129, 0, 1).into());
        let tuple = Tuple { from, to, ports: (40000, 5001), protocol: 6 };
        let completed = News::Completed { tuple, began: Time(5), delivered: Time(900), size: Bytes(10_000) };
        let report = Quantity::times("stalled").is(0.1, Time(7));
        let outcome = Outcome {
            retransmissions: vec![3, 0],
            news: vec![completed, News::Reported { group: 1, report }],
            dropped: vec![Dropped { device: 12, parent: 0x10001, packets: 9 }],
            missed: 0,
        };
        assert_eq!(Outcome::read(&outcome.write()), Ok(outcome));
    }

    #[test]
    fn a_run_that_failed_or_broke_off_says_so() {
        assert_eq!(Outcome::read(&failed("no such\nfile")), Err("no such file".into()));
        assert!(Outcome::read("retransmitted 3\n").unwrap_err().contains("ended before"));
        assert!(Outcome::read("retransmitted many\ndone\n").unwrap_err().contains("not understood"));
    }
}

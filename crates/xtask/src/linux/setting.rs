// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The settings of the comparison: a link, and bulk transfers that start a fifth of a second after one another.

use kneepoint::units::{Bytes, Rate, Span};

/// A setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Mbit/s.
    pub rate: u64,
    /// Base round-trip time in ms.
    pub rtt: u64,
    /// The buffer in products of rate and round-trip time.
    pub buffer: f64,
    /// Controllers and how many transfers each has.
    pub mix: Mix,
}

/// The end of every run.
pub const DURATION: Span = Span::from_secs(20);
/// The time that transfers are given to share the link.
pub const STARTUP: Span = Span::from_secs(5);
/// The interval between two transfers' starts.
pub const STAGGER: Span = Span::from_millis(200);
/// A packet on the wire: Ethernet's payload.
const PACKET: u64 = 1500;

type Place = (u64, u64, f64);
type Mix = &'static [(&'static str, usize)];

/// Links on which each controller runs alone, and with how many transfers.
const ALONE: [(Place, [Mix; 3]); 14] = [
    ((5, 80, 1.0), [&[("reno", 1)], &[("cubic", 1)], &[("bbr", 1)]]),
    ((10, 60, 2.0), [&[("reno", 1)], &[("cubic", 1)], &[("bbr", 1)]]),
    ((10, 200, 1.0), [&[("reno", 2)], &[("cubic", 2)], &[("bbr", 2)]]),
    ((20, 40, 1.0), [&[("reno", 1)], &[("cubic", 1)], &[("bbr", 1)]]),
    ((20, 40, 1.0), [&[("reno", 4)], &[("cubic", 4)], &[("bbr", 4)]]),
    ((20, 100, 0.5), [&[("reno", 2)], &[("cubic", 2)], &[("bbr", 2)]]),
    ((20, 20, 4.0), [&[("reno", 2)], &[("cubic", 2)], &[("bbr", 2)]]),
    ((50, 20, 0.5), [&[("reno", 4)], &[("cubic", 4)], &[("bbr", 4)]]),
    ((50, 40, 2.0), [&[("reno", 10)], &[("cubic", 10)], &[("bbr", 10)]]),
    ((50, 100, 1.0), [&[("reno", 1)], &[("cubic", 1)], &[("bbr", 1)]]),
    ((50, 40, 1.0), [&[("reno", 20)], &[("cubic", 20)], &[("bbr", 20)]]),
    ((100, 20, 1.0), [&[("reno", 2)], &[("cubic", 2)], &[("bbr", 2)]]),
    ((100, 60, 1.0), [&[("reno", 10)], &[("cubic", 10)], &[("bbr", 10)]]),
    ((100, 40, 0.5), [&[("reno", 1)], &[("cubic", 1)], &[("bbr", 1)]]),
];

/// Links that controllers share.
const MIXED: [(Place, Mix); 18] = [
    ((20, 40, 1.0), &[("reno", 1), ("cubic", 1)]),
    ((50, 20, 1.0), &[("reno", 5), ("cubic", 5)]),
    ((20, 60, 0.5), &[("reno", 2), ("cubic", 2)]),
    ((100, 40, 1.0), &[("reno", 2), ("cubic", 2)]),
    ((10, 100, 2.0), &[("reno", 1), ("cubic", 1)]),
    ((20, 40, 1.0), &[("cubic", 1), ("bbr", 1)]),
    ((100, 20, 2.0), &[("cubic", 1), ("bbr", 1)]),
    ((50, 60, 0.5), &[("cubic", 2), ("bbr", 2)]),
    ((20, 40, 4.0), &[("cubic", 2), ("bbr", 2)]),
    ((10, 80, 1.0), &[("cubic", 1), ("bbr", 1)]),
    ((100, 60, 1.0), &[("cubic", 5), ("bbr", 5)]),
    ((20, 40, 2.0), &[("reno", 1), ("bbr", 1)]),
    ((20, 40, 1.0), &[("reno", 2), ("bbr", 2)]),
    ((50, 100, 1.0), &[("reno", 2), ("bbr", 2)]),
    ((10, 60, 4.0), &[("reno", 1), ("bbr", 1)]),
    ((100, 40, 1.0), &[("reno", 5), ("bbr", 5)]),
    ((50, 40, 1.0), &[("reno", 2), ("cubic", 2), ("bbr", 2)]),
    ((100, 20, 2.0), &[("reno", 3), ("cubic", 3), ("bbr", 3)]),
];

/// Every setting.
pub fn all() -> Vec<Setting> {
    let make = |(rate, rtt, buffer): Place, mix: Mix| Setting { rate, rtt, buffer, mix };
    let alone = ALONE.iter().flat_map(|(place, mixes)| mixes.iter().map(|mix| make(*place, mix)));
    alone.chain(MIXED.iter().map(|(place, mix)| make(*place, mix))).collect()
}

impl Setting {
    /// `2 cubic + 2 bbr, 20 Mbit/s, 40 ms, 1 BDP`.
    pub fn name(&self) -> String {
        let mix: Vec<String> = self.mix.iter().map(|(cc, count)| format!("{count} {cc}")).collect();
        format!("{}, {} Mbit/s, {} ms, {} BDP", mix.join(" + "), self.rate, self.rtt, self.buffer)
    }

    /// The link's rate.
    pub fn rate(&self) -> Rate {
        Rate::from_mbit(self.rate)
    }

    /// The base round-trip time.
    pub fn rtt(&self) -> Span {
        Span::from_millis(self.rtt)
    }

    /// Packets that wait at most.
    pub fn packets(&self) -> usize {
        let product = self.rate().packets(Bytes(PACKET)) * self.rtt().as_secs_f64();
        (product * self.buffer).round() as usize
    }

    /// The controller of each transfer. The flows of a mix alternate, so that none has a head start.
    pub fn controls(&self) -> Vec<&'static str> {
        let most = self.mix.iter().map(|(_, count)| *count).max().unwrap_or(0);
        let turn = |turn: usize| self.mix.iter().filter(move |(_, count)| turn < *count).map(|(cc, _)| *cc);
        (0..most).flat_map(turn).collect()
    }

    /// The same as a scenario, where hosts have these options.
    pub fn scenario(&self, tcp: &str) -> String {
        let mut text = format!(
            "name = \"linux\"\nqueue = \"droptail\"\n\n[run]\nduration = \"{DURATION}\"\nmeasure = \"{STARTUP}..{DURATION}\"\n\n\
             [topology]\nkind = \"dumbbell\"\nrate = \"{}\"\nrtt = \"{}\"\nbuffer = \"{}pkt\"\naccess = \"minimal\"\n\n\
             [tcp]\njitter = \"50us\"\n{tcp}\n",
            self.rate(),
            self.rtt(),
            self.packets(),
        );
        for (place, control) in self.controls().iter().enumerate() {
            let start = STAGGER * place as u64;
            text += &format!("\n[[flows]]\nname = \"f{place}\"\ncc = \"{control}\"\nstart = \"{start}\"\n");
        }
        text
    }
}

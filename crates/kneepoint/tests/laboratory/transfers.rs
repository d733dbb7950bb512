// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A transfer completes under any behaviour of the network: every recovery, every controller, every option.
//!
//! `KNEE_FUZZ_CASES` sets the number of random networks for each pair of recovery and controller.

use kneepoint::cc;
use kneepoint::packet::{Flags, Packet};
use kneepoint::rng::Rng;
use kneepoint::tcp::{Host, Options, Recovery, Reduction};
use kneepoint::units::{Bytes, Span, Time};

use crate::common::wire::{Fate, Transfer, Way};

/// Options that each change one default, and one set that changes them all.
fn variants(recovery: Recovery) -> Vec<(&'static str, Options)> {
    let usual = Options { recovery, ..Options::default() };
    vec![
        ("defaults", usual.clone()),
        ("no timestamps", Options { timestamps: false, ..usual.clone() }),
        ("delayed acks", Options { delayed_ack: true, ..usual.clone() }),
        ("no limited transmit", Options { limited_transmit: false, ..usual.clone() }),
        ("handshake", Options { handshake: true, ..usual.clone() }),
        ("a window of three", Options { max_window: 3, ..usual.clone() }),
        ("an initial window of ten", Options { initial_window: 10.0, growth_per_ack: 2.0, ..usual.clone() }),
        ("Linux", Options { recovery, ..Options::of(Host::Linux) }),
        (
            "proportional reduction, bursts",
            Options {
                reduction: Reduction::Rfc9937,
                burst: Span::from_millis(20),
                delayed_ack: true,
                quick_acks: 4,
                growth_per_ack: 1e9,
                initial_window: 10.0,
                ..usual.clone()
            },
        ),
        (
            "all at once",
            Options {
                reduction: Reduction::Rfc6937,
                probes: false,
                timestamps: false,
                delayed_ack: true,
                limited_transmit: false,
                handshake: true,
                ecn: false,
                window_validation: false,
                impatient: false,
                initial_ssthresh: 6.0,
                ..usual
            },
        ),
    ]
}

/// Calls `test` with every controller, recovery and variant of the options, and a name for them.
fn everything(test: impl Fn(&str, &Options, &cc::Config)) {
    for entry in cc::REGISTRY {
        let controller = cc::Config::named(entry.name).expect("a registered name");
        for &recovery in Recovery::ALL {
            for (variant, options) in variants(recovery) {
                test(&format!("{}, {recovery}, {variant}", entry.name), &options, &controller);
            }
        }
    }
}

/// Completes a transfer, and names it if it does not.
fn complete(
    name: &str,
    options: &Options,
    controller: &cc::Config,
    packets: u32,
    deadline: u64,
    law: impl FnMut(Way, u32, &Packet) -> Fate,
) {
    let hint = Hint(name);
    Transfer::new(options, controller, packets, law).complete(Span::from_secs(deadline));
    std::mem::forget(hint);
}

/// Names the case while a panic unwinds.
struct Hint<'a>(&'a str);

impl Drop for Hint<'_> {
    fn drop(&mut self) {
        eprintln!("in the case of {}", self.0);
    }
}

fn lose_if(lost: bool) -> Fate {
    if lost { Fate::Lose } else { Fate::Pass }
}

#[test]
fn a_transfer_survives_the_loss_of_any_one_packet() {
    everything(|name, options, controller| {
        for lost in 0..40 {
            for way in [Way::Data, Way::Ack] {
                let name = format!("{name}, {way:?} {lost}");
                complete(&name, options, controller, 40, 20, |to, nth, _| lose_if(to == way && nth == lost));
            }
        }
    });
}

#[test]
fn a_transfer_survives_the_loss_of_any_two_packets() {
    everything(|name, options, controller| {
        for first in 0..13 {
            for second in 0..13 {
                let name = format!("{name}, data {first} and {second}");
                complete(&name, options, controller, 12, 20, |way, nth, _| {
                    lose_if(way == Way::Data && (nth == first || nth == second))
                });
                let name = format!("{name}, data {first} and acknowledgement {second}");
                complete(&name, options, controller, 12, 20, |way, nth, _| {
                    lose_if(nth == if way == Way::Data { first } else { second })
                });
            }
        }
    });
}

#[test]
fn a_transfer_survives_the_loss_of_a_segment_and_of_its_retransmissions() {
    everything(|name, options, controller| {
        for segment in 0..24 {
            for times in 2..5 {
                let name = format!("{name}, segment {segment}, {times} times");
                let mut left = times;
                complete(&name, options, controller, 24, 60, |way, _, packet| {
                    let lost = way == Way::Data && packet.seq == segment && left > 0;
                    left -= u32::from(lost);
                    lose_if(lost)
                });
            }
        }
    });
}

#[test]
fn a_transfer_survives_the_loss_of_any_run_of_packets() {
    everything(|name, options, controller| {
        for first in (0..40).step_by(3) {
            for length in [3, 8, 20] {
                let name = format!("{name}, data {first} and {length} more");
                let deadline = 20 * options.rto_max.0 / 1_000_000_000;
                complete(&name, options, controller, 40, deadline, |way, nth, _| {
                    lose_if(way == Way::Data && (first..=first + length).contains(&nth))
                });
            }
        }
    });
}

/// A network that loses, duplicates, delays, reorders and marks at random, each with its own share.
struct Weather {
    rng: Rng,
    lose: [f64; 2],
    twice: f64,
    late: f64,
    mark: f64,
    lateness: f64,
}

impl Weather {
    fn new(mut rng: Rng) -> Weather {
        let mut share = |greatest: f64| if rng.chance(0.4) { 0.0 } else { rng.between(0.0, greatest) };
        let (data, ack, twice, late, mark) = (share(0.3), share(0.3), share(0.1), share(0.3), share(0.2));
        let lateness = rng.between(0.001, 0.2);
        Weather { rng, lose: [data, ack], twice, late, mark, lateness }
    }

    fn fate(&mut self, way: Way) -> Fate {
        let late = Span::from_secs_f64(self.rng.between(0.0, self.lateness));
        if self.rng.chance(self.lose[usize::from(way == Way::Ack)]) {
            Fate::Lose
        } else if self.rng.chance(self.twice) {
            Fate::Twice(late)
        } else if self.rng.chance(self.late) {
            Fate::Late(late)
        } else if self.rng.chance(self.mark) {
            Fate::Mark
        } else {
            Fate::Pass
        }
    }
}

#[test]
fn a_transfer_survives_loss_reordering_duplication_and_delay_at_random() {
    let cases = std::env::var("KNEE_FUZZ_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(100);
    for (place, entry) in cc::REGISTRY.iter().enumerate() {
        let controller = cc::Config::named(entry.name).expect("a registered name");
        for case in 0..cases {
            let mut rng = Rng::stream(case, "weather", place as u64);
            let recovery = Recovery::ALL[rng.below(Recovery::ALL.len() as u64) as usize];
            let greatest = Span::from_millis(1000 + rng.below(9000));
            let options = Options {
                recovery,
                timestamps: rng.chance(0.5),
                delayed_ack: rng.chance(0.5),
                limited_transmit: rng.chance(0.5),
                handshake: rng.chance(0.5),
                ecn: rng.chance(0.7),
                window_validation: rng.chance(0.7),
                impatient: rng.chance(0.5),
                initial_window: rng.between(1.0, 12.0),
                max_window: if rng.chance(0.3) { 1 + rng.below(20) as u32 } else { 1_000_000 },
                dupthresh: 1 + rng.below(4) as u32,
                reduction: Reduction::ALL[rng.below(3) as usize],
                probes: rng.chance(0.7),
                burst: Span::from_millis(rng.below(20)),
                rto_max: greatest,
                ..Options::default()
            };
            let size = Bytes(1 + rng.below(120_000));
            let gap = Span::from_micros(rng.below(3000));
            let name = format!("{}, case {case}: {options:?}", entry.name);
            let hint = Hint(&name);
            let mut weather = Weather::new(rng);
            let mut transfer = Transfer::of(&options, &controller, size, |way, _, _| weather.fate(way));
            transfer.gap = gap;
            transfer.complete(greatest * 400 + Span::from_secs(60));
            std::mem::forget(hint);
        }
    }
}

#[test]
fn marks_slow_a_transfer_and_never_stop_it() {
    everything(|name, options, controller| {
        let options = Options { ecn: true, ..options.clone() };
        let name = format!("{name}, every packet marked");
        complete(&name, &options, controller, 60, 120, |_, _, _| Fate::Mark);
    });
}

#[test]
fn a_stopped_transfer_ends_when_what_it_sent_is_acknowledged() {
    everything(|name, options, controller| {
        let hint = Hint(name);
        for lost in [None, Some(7), Some(11)] {
            let mut last = None;
            let law = |way, nth, _: &Packet| lose_if(way == Way::Data && Some(nth) == lost);
            let mut transfer = Transfer::new(options, controller, 100_000, law);
            transfer.advance(Time::ZERO + Span::from_millis(420));
            if !transfer.sender.stop() {
                let highest = transfer.sent.iter().map(|(_, segment)| segment.seq).max();
                transfer.advance(Time::ZERO + Span::from_secs(20));
                let after = transfer.sent.iter().map(|(_, segment)| segment.seq).max();
                assert_eq!(highest, after, "new data after the stop");
                last = highest;
            }
            assert!(transfer.sender.done());
            assert_eq!(last.map_or(0, |last| last + 1), transfer.receiver.next());
        }
        std::mem::forget(hint);
    });
}

#[test]
fn a_stop_after_everything_was_sent_changes_nothing() {
    let controller = cc::Config::named("reno").expect("a registered name");
    let options = Options { initial_window: 10.0, ..Options::default() };
    // The last segment, which is shorter, is lost and retransmitted after the stop.
    let mut transfer = Transfer::of(&options, &controller, Bytes(4_300), |way, nth, packet| {
        lose_if(way == Way::Data && nth == 4 && !packet.flags.has(Flags::RETRANSMITTED))
    });
    transfer.advance(Time::ZERO + Span::from_millis(10));
    assert!(!transfer.sender.stop());
    transfer.complete(Span::from_secs(5));
}

/// Sizes of writes, and the time of each after the previous one.
const WRITES: [(u64, u64); 7] =
    [(0, 700), (0, 1), (3, 2_500), (160, 12_000), (40, 999), (900, 4_001), (7, 6_000)];

#[test]
fn any_writes_arrive_whatever_one_packet_is_lost() {
    for &recovery in Recovery::ALL {
        for (variant, options) in variants(recovery) {
            for entry in cc::REGISTRY {
                let controller = cc::Config::named(entry.name).expect("a registered name");
                for lost in 0..30 {
                    for way in [Way::Data, Way::Ack] {
                        let name = format!("{}, {recovery}, {variant}, {way:?} {lost}", entry.name);
                        let hint = Hint(&name);
                        let law = |to, nth, _: &Packet| lose_if(to == way && nth == lost);
                        let mut transfer = Transfer::writable(&options, &controller, law);
                        for (after, size) in WRITES {
                            transfer.advance(transfer.now + Span::from_millis(after));
                            transfer.write(Bytes(size));
                        }
                        transfer.advance(transfer.now + Span::from_secs(30));
                        assert!(transfer.drained.last().is_some(), "nobody was told");
                        assert!(!transfer.sender.done(), "done before it was closed");
                        transfer.close();
                        transfer.complete(Span::from_secs(60));
                        std::mem::forget(hint);
                    }
                }
            }
        }
    }
}

#[test]
fn writes_at_random_survive_a_network_that_loses_reorders_and_repeats() {
    let cases = std::env::var("KNEE_FUZZ_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(100);
    let controller = cc::Config::named("reno").expect("a registered name");
    for case in 0..5 * cases {
        let mut rng = Rng::stream(case, "writes", 0);
        let recovery = Recovery::ALL[rng.below(Recovery::ALL.len() as u64) as usize];
        let variants = variants(recovery);
        let (variant, options) = &variants[rng.below(variants.len() as u64) as usize];
        let name = format!("case {case}: {recovery}, {variant}");
        let hint = Hint(&name);
        let mut weather = Weather::new(rng.clone());
        let mut transfer = Transfer::writable(options, &controller, |way, _, _| weather.fate(way));
        for _ in 0..1 + rng.below(30) {
            let most = if rng.chance(0.5) { 300 } else { 20_000 };
            transfer.write(Bytes(1 + rng.below(most)));
            if rng.chance(0.7) {
                transfer.advance(transfer.now + Span::from_millis(rng.below(400)));
            }
        }
        transfer.close();
        transfer.complete(Span::from_secs(100_000));
        std::mem::forget(hint);
    }
}

#[test]
fn a_writer_that_stops_takes_back_what_was_not_sent() {
    let controller = cc::Config::named("reno").expect("a registered name");
    let mut transfer = Transfer::writable(&Options::default(), &controller, |_, _, _| Fate::Pass);
    transfer.write(Bytes(10_500));
    transfer.advance(Time::ZERO + Span::from_millis(10));
    assert!(!transfer.sender.stop(), "two segments are on their way");
    transfer.advance(Time::ZERO + Span::from_secs(5));
    assert!(transfer.sender.done());
    assert_eq!((transfer.sender.acked(), transfer.sent.len()), (Bytes(2_000), 2));
    transfer.sender.write(Bytes(1), transfer.now);
    assert_eq!(transfer.sender.poll(transfer.now), None, "a write after the stop");
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Clocks that were set while they captured, and files that only look like it.

use kneepoint::capture::{ClockStep, Transfer};
use kneepoint::units::Span;

use super::{RAW, base, numbers, only, only_in, read};
use crate::common::shots::{Frame, Kept, PAUSE, Shot, frames, over_ipv4, pcap, pcapng, transfer};

/// Frames by a clock that is set by this many ms, at this one.
pub fn set(frames: &[Frame], number: usize, by: i64) -> Vec<Frame> {
    let moved = |(place, (at, bytes, length)): (usize, &Frame)| {
        let by = if place + 1 >= number { by * 1_000_000 } else { 0 };
        (at.saturating_add_signed(by), bytes.clone(), *length)
    };
    frames.iter().enumerate().map(moved).collect()
}

fn agree(transfer: &Transfer, base: &Transfer, tolerance: Span) {
    assert_eq!(numbers(transfer), numbers(base));
    assert_eq!(transfer.samples.len(), base.samples.len());
    for (one, two) in transfer.samples.iter().zip(&base.samples) {
        assert!(one.rtt.0.abs_diff(two.rtt.0) <= tolerance.0, "{:?} {:?}", one.rtt, two.rtt);
    }
}

#[test]
fn a_clock_that_was_set_is_told_with_its_place_and_mended() {
    let plain = frames(&transfer(), |shot, id| vec![over_ipv4(shot, id)]);
    for (number, by) in [(300, -3_600_000), (301, -200), (400, -20), (350, 3_600_000), (351, 1500)] {
        let capture = read(&pcap(&set(&plain, number, by), RAW, false, false));
        let [step] = capture.clock_steps() else { panic!("{by}: {:?}", capture.clock_steps()) };
        let ClockStep { file, packet, since, by: length, back, mended } = *step;
        assert_eq!((file, packet, back, mended), (1, number as u64, by < 0, true), "{by}");
        let error = length.as_millis_f64() - by.abs() as f64;
        assert!(error.abs() < 2.0, "{by}: {length:?}");
        assert_eq!(since.0, plain[number - 2].0 - plain[0].0, "{by}");
        agree(&only(&capture), &base(), Span::from_millis(2));
    }
    // Twice.
    let twice = set(&set(&plain, 200, -5000), 400, 7000);
    let capture = read(&pcapng(&twice, RAW as u16, Kept::Enhanced, false));
    assert_eq!(capture.clock_steps().len(), 2);
    agree(&only(&capture), &base(), Span::from_millis(2));
}

#[test]
fn times_that_go_back_by_less_than_a_step_are_counted() {
    let plain = frames(&transfer(), |shot, id| vec![over_ipv4(shot, id)]);
    let moved = |by: &dyn Fn(u64) -> u64| -> Vec<Frame> {
        let frames = plain.iter().zip(0..);
        frames.map(|((at, bytes, length), place)| (at + by(place), bytes.clone(), *length)).collect()
    };
    // A correction of 2 ms at each packet, and two queues of which one is 0.1 ms late.
    let drift = moved(&|place| 10_000_000_000 - 2_000_000 * place);
    let queues = moved(&|place| if place % 5 < 2 { 100_000 } else { 0 });
    for (frames, least) in [(&plain, 0), (&drift, 300), (&queues, 1)] {
        let capture = read(&pcap(frames, RAW, true, false));
        let back = frames.windows(2).filter(|two| two[1].0 < two[0].0).count() as u64;
        assert_eq!((capture.setbacks(), capture.clock_steps()), (back, &[][..]));
        assert!(back >= least, "{back}");
    }
    // Faults reported with their place are not counted again.
    assert_eq!(read(&pcap(&set(&plain, 301, -200), RAW, true, false)).setbacks(), 0);
}

#[test]
fn without_timestamps_the_data_shows_that_a_clock_was_set() {
    let bare = transfer().with(|shot| vec![Shot { stamps: None, ..shot.clone() }]);
    let plain = frames(&bare, |shot, id| vec![over_ipv4(shot, id)]);
    let base = only_in(&plain, RAW);
    // Before a retransmission, and between two packets of new data, because no sender pauses there for an hour.
    let new = |two: &[Shot]| two.iter().all(|shot| shot.payload > 0 && !shot.again);
    let between = 302 + bare.shots[300..].windows(2).position(new).unwrap();
    for (number, by) in [(300, -3_600_000), (between, -3_600_000), (between, 3_600_000)] {
        let capture = read(&pcap(&set(&plain, number, by), RAW, false, false));
        let [step] = capture.clock_steps() else { panic!("{by}: {:?}", capture.clock_steps()) };
        assert_eq!((step.packet, step.back, step.mended), (number as u64, by < 0, true));
        // The time between the two packets around the step is unknown.
        agree(&only(&capture), &base, Span::from_millis(40));
    }
    // An idle connection does not wait.
    let idle = bare.paused(PAUSE, 20_000_000, vec![]);
    let idle = read(&pcap(&frames(&idle, |shot, id| vec![over_ipv4(shot, id)]), RAW, false, false));
    assert_eq!(idle.clock_steps(), []);
}

#[test]
fn an_unordered_file_and_an_idle_connection_are_no_steps_of_a_clock() {
    let plain = frames(&transfer(), |shot, id| vec![over_ipv4(shot, id)]);
    let (mut one, two): (Vec<_>, Vec<_>) =
        plain.iter().cloned().enumerate().partition(|(place, _)| place % 9 > 4);
    one.extend(two);
    let joined: Vec<Frame> = one.into_iter().map(|(_, frame)| frame).collect();
    let (later, earlier) = plain.split_at(300);
    let turned = [earlier, later].concat();
    let idle = transfer().paused(PAUSE, 5_000_000, vec![]);
    let idle = idle.with(|shot| {
        let late = if shot.micros > PAUSE { 5000 } else { 0 };
        let stamps = shot.stamps.map(|(value, echo)| (value + late, echo + late));
        vec![Shot { stamps, ..shot.clone() }]
    });
    for frames in [joined, turned, frames(&idle, |shot, id| vec![over_ipv4(shot, id)])] {
        let capture = read(&pcap(&frames, RAW, false, false));
        assert_eq!(capture.clock_steps(), []);
        assert_eq!(numbers(&only(&capture)), numbers(&base()));
    }
}

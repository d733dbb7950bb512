// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Input from the other side of an emulated link, and traces for the kernel's algorithms.

use std::str::from_utf8;

use kneepoint::cc::Config;
use kneepoint::units::{Rate, Span, Time};
use kneepoint_linux::frame;
use kneepoint_linux::live::video::{Buffering, Empty, Player};
use kneepoint_linux::native::replay::{MACHINES, compare, play};
use kneepoint_linux::native::trace;
use kneepoint_linux::tap::Tap;

use crate::texts::shown;

/// IP packets, each behind two bytes with its length: read, changed, and followed as flows. The network delivers each before the next one.
pub fn packets(bytes: &[u8]) {
    let (mut tap, mut rest, mut now) = (Tap::one_group(1500), bytes, Time::ZERO);
    while let Some((length, after)) = rest.split_first_chunk() {
        let (packet, after) = after.split_at(after.len().min(u16::from_be_bytes(*length).into()));
        rest = after;
        now += Span::from_millis(1);
        let mut own = packet.to_vec();
        frame::ethernet(&own);
        frame::finish_checksum(&mut own);
        frame::mark(&mut own);
        frame::stamp_rate(&mut own, Rate::from_mbit(1));
        frame::rate(&own);
        let headers = frame::read(&own).unwrap_or_else(|| frame::Headers::foreign(own.len()));
        frame::announces(&headers);
        frame::window_hint(headers.dscp);
        let entered = tap.enter(&headers, own.len() as u16, now, &mut ());
        tap.leave(&headers, &entered, now + Span::from_millis(20), &mut ());
    }
    for (flow, _) in tap.tuples().collect::<Vec<_>>() {
        tap.window(flow);
    }
}

/// A trace of acknowledgements, as `knee replay` plays it.
pub fn trace(bytes: &[u8]) {
    let Ok(text) = from_utf8(bytes) else { return };
    let steps = match trace::read(text) {
        Ok(steps) => steps,
        Err(faults) => return shown(text, &faults),
    };
    assert_eq!(trace::read(&trace::write(&steps)).ok(), Some(steps.clone()), "a trace is written otherwise");
    for name in ["cubic", "pert"] {
        let config = Config::named(name).expect("a controller");
        let machines = || MACHINES.iter().filter_map(|(_, make)| make(&config).ok()).collect::<Vec<_>>();
        play(&mut machines(), &steps);
        compare(&config, &mut machines(), &steps);
    }
}

/// A film as it arrives: in one part, and in parts of a hundred bytes.
pub fn film(bytes: &[u8]) {
    let (caching, buffer) = (Span::from_millis(500), Span::from_secs(5));
    let buffering = Buffering { caching, buffer, empty: Empty::Pause };
    for size in [bytes.len().max(1), 100] {
        let mut player = Player::new(buffering, Time::ZERO);
        let mut now = Time::ZERO;
        for part in bytes.chunks(size) {
            now += Span::from_millis(10);
            player.advance(now);
            player.reads(now);
            player.take(part, now);
            player.due(now);
        }
        player.end(now);
        player.finish(now + Span::from_secs(1));
    }
}

/// The reports of a kernel program.
#[cfg(feature = "bpf")]
pub fn record(bytes: &[u8]) {
    kneepoint_linux::kernel::Record::read(bytes);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Rules for what counts as a packet and as a loss: probes, and retransmissions of other sizes.

use super::{RAW, base, numbers, only_in, read, round_trips, same};
use crate::common::shots::{PAUSE, PAYLOAD, Shot, Story, frames, over_ipv4, pcap, transfer};

#[test]
fn acknowledgements_alone_are_told_as_such() {
    let story = transfer();
    let answers = story.with(|shot| if shot.forward { vec![] } else { vec![shot.clone()] });
    let capture = read(&pcap(&frames(&answers, |shot, id| vec![over_ipv4(shot, id)]), RAW, false, false));
    let sent = (story.packets - story.losses as u64) * PAYLOAD as u64;
    let [((from, to), bytes)] = capture.answers_alone()[..] else { panic!("{:?}", capture.answers_alone()) };
    assert_eq!((from.port(), to.port(), bytes, capture.senders().len()), (80, 45_000, sent, 0));
    let both = read(&pcap(&frames(&story, |shot, id| vec![over_ipv4(shot, id)]), RAW, false, false));
    assert!(both.answers_alone().is_empty());
}

/// The story with a window that closes before [`PAUSE`] for 30 s, and a probe of this many bytes now and then.
fn probed(payload: usize, back: u32, taken: bool) -> Story {
    let story = transfer();
    let last = story.answer_before(PAUSE);
    let mut inside = vec![Shot { micros: PAUSE, window: 0, ..last.clone() }];
    for (place, after) in [300, 900, 2100, 4500, 9300, 18_900].into_iter().enumerate() {
        let micros = PAUSE + after * 1000;
        let stamps = Some((micros as u32 / 1000 + 12_345, 987_000));
        let seq = last.ack - back;
        inside.push(Shot { micros, forward: true, seq, ack: 5001, payload, stamps, ..last.clone() });
        let echoed = Some((micros as u32 / 1000 + 987_680, micros as u32 / 1000 + 12_345));
        let ack = if taken && place == 5 { last.ack + payload as u32 - back } else { last.ack };
        inside.push(Shot { micros: micros + 49_700, window: 0, stamps: echoed, ack, ..last.clone() });
    }
    inside.push(Shot { micros: PAUSE + 20_000_000, ..inside.last().unwrap().clone() });
    inside.last_mut().unwrap().window = 1000;
    story.paused(PAUSE, 30_000_000, inside)
}

#[test]
fn a_probe_of_a_closed_window_is_no_loss() {
    let base = base();
    // One byte, some, a full packet; a byte that was acknowledged before; with the handshake and without.
    for (payload, back) in [(1, 0), (7, 0), (1448, 0), (1, 1)] {
        let whole = probed(payload, back, false);
        let shots: Vec<Shot> = whole.shots.iter().skip(3).cloned().collect();
        for story in [whole.clone(), Story { shots, ..whole }] {
            let probed = only_in(&frames(&story, |shot, id| vec![over_ipv4(shot, id)]), RAW);
            assert_eq!(probed.probes, 6, "{payload} {back}");
            assert_eq!(numbers(&probed), numbers(&base), "{payload} {back}");
            assert_eq!(round_trips(&probed), round_trips(&base), "{payload} {back}");
        }
    }
    // The receiver took the byte of the last probe: the next packet begins behind it, and the first is shorter.
    let taken = probed(1, 0, true);
    let edge = taken.answer_before(PAUSE).ack;
    let taken = taken.with(|shot| {
        let first = shot.forward && shot.seq == edge && shot.payload > 1;
        vec![if first {
            Shot { seq: edge + 1, payload: shot.payload - 1, ..shot.clone() }
        } else {
            shot.clone()
        }]
    });
    let probed = only_in(&frames(&taken, |shot, id| vec![over_ipv4(shot, id)]), RAW);
    assert_eq!((probed.packets, probed.losses.len(), probed.holes), (base.packets, base.losses.len(), 0));
}

#[test]
fn losses_are_counted_in_the_segments_of_the_first_transmission() {
    let base = base();
    let part = |shot: &Shot, from: usize, payload: usize| Shot {
        seq: shot.seq + from as u32,
        payload,
        micros: shot.micros + from as u64 / 100,
        ..shot.clone()
    };
    // In halves, in thirds, and in one large and one small part.
    for ends in [&[724, 1448][..], &[500, 1000, 1448], &[1400, 1448]] {
        let story = transfer().with(|shot| {
            if !shot.again {
                return vec![shot.clone()];
            }
            let starts = [&[0], ends].concat();
            starts.windows(2).map(|two| part(shot, two[0], two[1] - two[0])).collect()
        });
        let cut = only_in(&frames(&story, |shot, id| vec![over_ipv4(shot, id)]), RAW);
        assert_eq!(numbers(&cut), numbers(&base), "{ends:?}");
        assert!(cut.resized > 40, "{}", cut.resized);
    }
    // Small segments: retransmissions join two each, and a network card merges a whole repair.
    for size in [1448, 724] {
        let small = transfer().with(|shot| {
            let parts = (0..shot.payload.div_ceil(size)).map(|place| part(shot, place * size, size));
            if shot.payload == 0 || shot.again { vec![shot.clone()] } else { parts.collect() }
        });
        let small = only_in(&frames(&small, |shot, id| vec![over_ipv4(shot, id)]), RAW);
        let each = 1448 / size;
        assert_eq!(small.losses.len(), base.losses.len() * each, "{size}");
        assert_eq!(small.packets, base.packets * each as u64, "{size}");
    }
}

#[test]
fn packets_that_a_card_joins_count_as_those_on_the_wire() {
    // Two successive packets of those sent at once, first transmissions and retransmissions.
    let mut joined: Vec<Shot> = Vec::new();
    let story = transfer();
    for shot in &story.shots {
        let before = joined.iter_mut().rev().find(|before| before.forward && before.payload > 0);
        match before {
            Some(one)
                if shot.payload > 0
                    && one.payload == PAYLOAD
                    && one.again == shot.again
                    && one.seq + PAYLOAD as u32 == shot.seq
                    && shot.micros - one.micros <= 1000 =>
            {
                one.payload += PAYLOAD;
            }
            _ => joined.push(shot.clone()),
        }
    }
    assert!(joined.len() + 50 < story.shots.len());
    let joined = Story { shots: joined, ..story };
    let read = only_in(&frames(&joined, |shot, id| vec![over_ipv4(shot, id)]), RAW);
    assert_eq!(numbers(&read), numbers(&base()));
}

#[test]
fn a_wrong_segment_size_in_the_handshake_does_not_split_packets() {
    let frames = frames(&transfer(), |shot, id| {
        let mut packet = over_ipv4(shot, id);
        if shot.syn {
            packet[42..44].copy_from_slice(&1448_u16.to_be_bytes());
        }
        vec![packet]
    });
    same(&only_in(&frames, RAW), "an MSS without room for timestamps");
}

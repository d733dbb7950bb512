// SPDX-License-Identifier: Apache-2.0 OR MIT

use kneepoint::rng::Rng;

use super::*;

/// Packets of one identifier with this payload, the first one marked as a beginning.
fn packets(pid: u16, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (place, part) in payload.chunks(184).enumerate() {
        let begins = if place == 0 { 0x40 } else { 0 };
        let stuffing = 184 - part.len();
        let control = if stuffing > 0 { 0x30 } else { 0x10 };
        bytes.extend([SYNC, begins | (pid >> 8) as u8, pid as u8, control]);
        if stuffing > 0 {
            bytes.push(stuffing as u8 - 1);
            bytes.extend(vec![0; stuffing - 1]);
        }
        bytes.extend(part);
    }
    bytes
}

fn table(id: u8, contents: &[u8]) -> Vec<u8> {
    let length = contents.len() + 4;
    let mut bytes = vec![0, id, 0xb0 | (length >> 8) as u8, length as u8];
    bytes.extend(contents);
    bytes.extend([0; 4]);
    bytes
}

fn tables() -> Vec<u8> {
    let programs = table(0, &[0, 1, 0xc1, 0, 0, 0, 1, 0xe1, 0x00]);
    let streams =
        [0, 1, 0xc1, 0, 0, 0xe1, 1, 0xf0, 2, 9, 9, 0x1b, 0xe1, 1, 0xf0, 0, 0x0f, 0xe1, 2, 0xf0, 1, 7];
    [packets(0, &programs), packets(0x100, &table(2, &streams))].concat()
}

/// A timestamp in its five bytes.
fn stamp(mark: u8, time: i64) -> [u8; 5] {
    let part = |shift: i64, mask: i64| (time >> shift & mask) as u8;
    [
        mark << 4 | part(30, 7) << 1 | 1,
        part(22, 255),
        part(15, 127) << 1 | 1,
        part(7, 255),
        part(0, 127) << 1 | 1,
    ]
}

fn pes(id: u8, presented: i64, decoded: Option<i64>, size: usize, declared: bool) -> Vec<u8> {
    let mut stamps = stamp(if decoded.is_some() { 3 } else { 2 }, presented).to_vec();
    stamps.extend(decoded.iter().flat_map(|decoded| stamp(1, *decoded)));
    let length = if declared { 3 + stamps.len() + size } else { 0 };
    let flags = if decoded.is_some() { 0xc0 } else { 0x80 };
    let mut bytes = vec![0, 0, 1, id, (length >> 8) as u8, length as u8, 0x80, flags, stamps.len() as u8];
    bytes.extend(stamps);
    bytes.extend(vec![0x47; size]);
    bytes
}

/// A film of this many pictures a second, of 900 bytes each, and as many units of sound of 300 bytes.
pub fn film(rate: i64, seconds: u64) -> Vec<u8> {
    let mut bytes = tables();
    for picture in 0..rate * seconds as i64 {
        // The clock wraps within every film.
        let time = (WRAP - 90_000 + picture * 90_000 / rate) % WRAP;
        bytes.extend(packets(0x101, &pes(0xe0, time, None, 900, false)));
        bytes.extend(packets(0x102, &pes(0xc0, time, None, 300, true)));
    }
    bytes
}

fn units(bytes: &[u8], part: usize) -> Vec<Unit> {
    let mut stream = Stream::default();
    let mut all = Vec::new();
    for (place, chunk) in bytes.chunks(part).enumerate() {
        stream.take(chunk, Time(place as u64), |unit| all.push(unit));
    }
    stream.end(|unit| all.push(unit));
    all
}

#[test]
fn pictures_and_sound_are_found_with_their_times_across_the_wrap_of_the_clock() {
    let all = units(&film(24, 5), 188);
    for kind in [Kind::Video, Kind::Audio] {
        let times: Vec<Span> =
            all.iter().filter(|unit| unit.kind == kind).map(|unit| unit.presented).collect();
        assert_eq!(times.len(), 120);
        for (place, time) in times.iter().enumerate() {
            assert!((time.as_secs_f64() - place as f64 / 24.0).abs() < 2e-5, "{place}: {time}");
        }
    }
}

#[test]
fn a_picture_arrives_with_its_last_byte_and_declared_sound_is_complete_at_once() {
    let picture = packets(0x101, &pes(0xe0, 90_000, None, 500, false));
    let sound = packets(0x102, &pes(0xc0, 90_000, None, 100, true));
    let bytes =
        [tables(), picture.clone(), sound, packets(0x101, &pes(0xe0, 93_750, None, 10, false))].concat();
    let mut stream = Stream::default();
    let mut all = Vec::new();
    for (place, part) in bytes.chunks(188).enumerate() {
        stream.take(part, Time(place as u64), |unit| all.push((place, unit)));
    }
    let [(heard, noise), (seen, picture_seen)] = all[..] else { panic!("{all:?}") };
    let last = (2 + picture.len() / 188 - 1) as u64;
    assert_eq!((noise.kind, heard as u64, noise.arrived.0), (Kind::Audio, last + 1, last + 1));
    assert_eq!((picture_seen.kind, seen as u64, picture_seen.arrived.0), (Kind::Video, last + 2, last));
}

#[test]
fn pictures_that_are_decoded_in_another_order_keep_both_times() {
    let of = |presented, decoded| packets(0x101, &pes(0xe0, presented, Some(decoded), 10, false));
    let all = units(&[tables(), of(7500, 0), of(15_000, 3750), of(11_250, 7500)].concat(), 188);
    let milliseconds = |span: Span| (span.as_millis_f64() * 10.0).round() / 10.0;
    let times: Vec<_> =
        all.iter().map(|unit| (milliseconds(unit.presented), milliseconds(unit.decoded))).collect();
    assert_eq!(times, [(83.3, 0.0), (166.7, 41.7), (125.0, 83.3)]);
}

/// The same units are found for any division of the bytes; reading ends for any bytes.
#[test]
fn random_divisions_change_nothing_and_random_bytes_are_survived() {
    let mut rng = Rng::stream(1, "transport-streams", 0);
    let bytes = film(24, 2);
    let whole = units(&bytes, bytes.len());
    let cases: u64 = std::env::var("KNEE_FUZZ_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(300);
    for _ in 0..cases {
        let part = 1 + rng.below(2000) as usize;
        let found = units(&bytes, part);
        assert!(
            found
                .iter()
                .zip(&whole)
                .all(|(one, other)| (one.kind, one.presented) == (other.kind, other.presented))
        );
        assert_eq!(found.len(), whole.len(), "in parts of {part}");
        let mut damaged = bytes[..20 * 188].to_vec();
        for _ in 0..rng.below(200) {
            let place = rng.below(damaged.len() as u64) as usize;
            damaged[place] = rng.below(256) as u8;
        }
        damaged.truncate(rng.below(damaged.len() as u64 + 1) as usize);
        units(&damaged, part);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Files in every format: whole, in parts, damaged and cut off.

use std::io::Write;

use kneepoint::rng::Rng;
use lzma_rust2::{CheckType, XzOptions, XzWriter};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::*;

const LARGEST: u64 = 1 << 20;

/// Data to compress, a part of which repeats.
fn content() -> Vec<u8> {
    numbers(20_000)
}

fn numbers(count: u32) -> Vec<u8> {
    (0..count).flat_map(|number| (number.wrapping_mul(0x9e37_79b9) >> 12).to_le_bytes()).collect()
}

fn gzipped(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn zstded(content: &[u8]) -> Vec<u8> {
    compress_to_vec(content, CompressionLevel::Fastest)
}

fn xzed(content: &[u8], check: CheckType) -> Vec<u8> {
    let mut options = XzOptions::with_preset(1);
    options.set_check_sum_type(check);
    let mut encoder = XzWriter::new(Vec::new(), options).unwrap();
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// The content in each format, whose checksums cover all of it.
fn formats(content: &[u8]) -> [(&'static str, Vec<u8>); 4] {
    [
        ("gzip", gzipped(content)),
        ("zstd", zstded(content)),
        ("xz", xzed(content, CheckType::Crc64)),
        ("xz", xzed(content, CheckType::Sha256)),
    ]
}

fn read_in(bytes: &[u8]) -> Result<Unpacked, String> {
    read_up_to(bytes, LARGEST)
}

fn read_up_to(bytes: &[u8], largest: u64) -> Result<Unpacked, String> {
    unpacked(bytes.to_vec(), Path::new("some.pcap"), largest).map_err(|failure| match failure {
        Failure::Run(complaint) => {
            format!("{}: {}", complaint.message(), complaint.remedy().unwrap_or_default())
        }
        other => panic!("{other:?}"),
    })
}

#[test]
fn every_format_is_read_as_what_it_was_made_of_and_all_of_its_members() {
    let content = content();
    let (first, second) = content.split_at(30_000);
    for ((name, one), (_, two)) in formats(first).into_iter().zip(formats(second)) {
        let Unpacked { bytes, warning, remark } = read_in(&[one, two].concat()).unwrap();
        assert!(bytes == content, "{name}: {} of {} bytes", bytes.len(), content.len());
        assert_eq!((warning, remark), (None, None), "{name}");
    }
    assert_eq!(read_in(b"plain").unwrap().bytes, b"plain");
    // A part that decoders of zstd skip.
    let skipped = [&[0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3][..], &zstded(&content)].concat();
    assert!(read_in(&[zstded(&[]), skipped].concat()).unwrap().bytes == content);
}

#[test]
fn what_follows_the_last_member_is_damage_however_short_it_is() {
    for (name, whole) in formats(&content()) {
        for behind in [&b"x"[..], b"xyz", b"what is that?", &[0x1f, 1]] {
            let said = read_in(&[&whole, behind].concat()).unwrap_err();
            assert!(said.contains("`some.pcap` is damaged: its "), "{said}");
            assert!(said.contains(name), "{said}");
        }
    }
}

#[test]
fn a_file_that_was_cut_off_is_read_up_to_there_with_a_warning() {
    // Several blocks: each block is decoded as a whole.
    let content = numbers(200_000);
    for (name, whole) in formats(&content) {
        let Unpacked { bytes, warning, .. } = read_in(&whole[..whole.len() * 3 / 4]).unwrap();
        assert!(bytes.len() > 1000 && content.starts_with(&bytes), "{name}: {}", bytes.len());
        let warning = warning.unwrap();
        let place = format!("its {name} ends at byte {}, before the checksum", whole.len() * 3 / 4);
        assert!(
            warning.starts_with("some.pcap was cut off, or is damaged")
                && warning.contains(&place)
                && warning.contains("(unexpected end)"),
            "{warning}"
        );
        assert!(read_in(&whole[..8]).is_err(), "{name}: nothing is left of it");
    }
}

#[test]
fn a_wrong_checksum_is_named_with_its_place() {
    let content = content();
    for ((name, mut whole), (place, reason)) in
        formats(&content).into_iter().zip([(8, "corrupt"), (4, "checksum"), (0, ""), (0, "")])
    {
        // The checksum of xz is not at its end: an index follows.
        let at = if place > 0 { whole.len() - place } else { whole.len() - 60 };
        whole[at] ^= 1;
        let said = read_in(&whole).unwrap_err();
        assert!(said.contains(&format!("its {name} cannot be decompressed at byte ")), "{said}");
        assert!(said.contains(reason) && said.contains(&format!("`{name} -t FILE` tests it")), "{said}");
    }
}

#[test]
fn a_file_without_a_checksum_says_so() {
    let of_xz = read_in(&xzed(&content(), CheckType::None)).unwrap().remark;
    assert!(of_xz.is_some_and(|remark| remark.contains("no checksum of xz")));
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x20, 5];
    // A last block of five uncompressed bytes.
    frame.extend_from_slice(&[5 << 3 | 1, 0, 0]);
    frame.extend_from_slice(b"hello");
    let Unpacked { bytes, remark, .. } = read_in(&frame).unwrap();
    assert_eq!(bytes, b"hello");
    assert!(remark.is_some_and(|remark| remark.contains("no checksum of zstd")));
}

#[test]
fn one_stream_without_a_checksum_is_enough_wherever_it_stands() {
    let content = content();
    let (first, second) = content.split_at(30_000);
    use CheckType::{Crc32, Crc64, None as Unchecked};
    for (one, two) in [(Crc64, Unchecked), (Unchecked, Crc64), (Unchecked, Unchecked), (Crc64, Crc32)] {
        for zeros in [0, 4, 8] {
            let streams = [xzed(first, one), vec![0; zeros], xzed(second, two), vec![0; zeros]].concat();
            let Unpacked { bytes, warning, remark } = read_in(&streams).unwrap();
            assert!(bytes == content && warning.is_none());
            assert_eq!(remark.is_some(), [one, two].contains(&Unchecked), "{one:?} {two:?} {zeros}");
        }
    }
}

#[test]
fn zeros_are_nothing_where_a_format_allows_them_and_damage_elsewhere() {
    let content = content();
    for (name, whole) in formats(&content) {
        for count in [1, 2, 3, 4, 7, 512, 10_240] {
            let padded = |more: &[u8]| read_in(&[&whole, &vec![0; count][..], more].concat());
            let allowed = name == "gzip" || name == "xz" && count % 4 == 0;
            match padded(b"") {
                Ok(Unpacked { bytes, warning: None, remark: None }) if allowed => assert!(bytes == content),
                Err(said) if !allowed => assert!(said.contains("is damaged: its "), "{said}"),
                other => panic!("{name}, {count}: {other:?}"),
            }
            assert!(padded(b"x").is_err(), "{name}, {count}: zeros, and something");
            assert_eq!(padded(&whole).is_ok(), name == "xz" && count % 4 == 0, "{name}, {count}: a member");
        }
    }
}

/// A file of xz whose block asks for a dictionary of this code.
fn with_dictionary(code: u8) -> Vec<u8> {
    let mut file = xzed(&content(), CheckType::Crc32);
    let header = 12..12 + 4 * (usize::from(file[12]) + 1);
    let at = header.start + 2;
    assert_eq!(file[at..at + 2], [LZMA2, 1]);
    file[at + 2] = code;
    let mut sum = flate2::Crc::new();
    sum.update(&file[header.start..header.end - 4]);
    file[header.end - 4..header.end].copy_from_slice(&sum.sum().to_le_bytes());
    file
}

#[test]
fn what_takes_too_much_memory_is_not_damaged_and_the_numbers_are_said() {
    let xz = |code: u8| (with_dictionary(code), u64::from(2 | code & 1) << (code / 2 + 11));
    for code in 16..=33 {
        assert!(read_in(&xz(code).0).unwrap().bytes == content(), "a dictionary of {}", xz(code).1);
    }
    // Four GiB is one byte less, and the decoder has its own memory.
    let of_xz =
        (34..=40).map(xz).map(|(file, size)| (file, size.min(u32::MAX.into()) / 1024 * 1024 + (104 << 10)));
    let of_xz = of_xz.map(|(file, needed)| ("xz", file, needed, 512 << 20, "`xz -dk FILE`"));
    let head = [0x28, 0xb5, 0x2f, 0xfd];
    let window = |log: u8| ([&head[..], &[0, (log - 10) << 3]].concat(), 1_u64 << log);
    let single = |size: u64| ([&head[..], &[0xe0], &size.to_le_bytes()].concat(), size);
    let of_zstd = (28..=40).map(window).chain([(128 << 20) + 1, 3 << 30, 1 << 50].map(single));
    let of_zstd = of_zstd.map(|(file, needed)| ("zstd", file, needed, 128 << 20, "`zstd -d --long=31 FILE`"));
    for (name, file, needed, given, remedy) in of_xz.chain(of_zstd) {
        let small = if name == "xz" { xzed(b"before", CheckType::Crc64) } else { zstded(b"before") };
        for alone_or_second in [file.clone(), [small, file].concat()] {
            let said = read_in(&alone_or_second).unwrap_err();
            let numbers =
                format!("needs {needed} bytes of memory to be decompressed, above the {given} that {name}");
            assert!(said.contains(&numbers) && said.contains(remedy) && !said.contains("damaged"), "{said}");
        }
    }
}

#[test]
fn whatever_is_wrong_is_said_in_words() {
    for (name, whole) in formats(&numbers(200_000)) {
        let mut rng = Rng::stream(2, name, 0);
        let mut said = Vec::new();
        for _ in 0..60 {
            let at = 6 + rng.below(whole.len() as u64 - 6) as usize;
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << rng.below(8);
            for bytes in [&whole[..at], &flipped] {
                said.extend(read_in(bytes).map_or_else(Some, |read| read.warning));
            }
        }
        assert!(said.len() > 60, "{name}");
        for one in said {
            let debug = ["{", "Error(", "Error {", "::", "\n"].iter().find(|sign| one.contains(**sign));
            assert_eq!(debug, None, "{one}");
        }
    }
}

#[test]
fn more_than_is_wanted_is_refused() {
    for (name, whole) in formats(&content()) {
        let said = read_up_to(&whole, 70_000).unwrap_err();
        assert!(said.contains("when decompressed"), "{name}: {said}");
    }
}

/// `KNEE_TORTURE_FLIPS` makes more flips.
#[test]
fn no_flipped_bit_and_no_cut_gives_other_bytes_without_a_word() {
    let flips = std::env::var("KNEE_TORTURE_FLIPS").ok().and_then(|flips| flips.parse().ok()).unwrap_or(300);
    let content = content();
    let silent = |bytes: &[u8]| match read_in(bytes) {
        Ok(Unpacked { bytes, warning: None, .. }) => bytes != content,
        _ => false,
    };
    for (name, whole) in formats(&content) {
        let mut rng = Rng::stream(1, name, 0);
        for _ in 0..flips {
            let mut damaged = whole.clone();
            let bit = rng.below(8 * whole.len() as u64);
            damaged[(bit / 8) as usize] ^= 1 << (bit % 8);
            // Without its first bytes it is a file of another kind.
            let packed = FORMATS.iter().any(|format| damaged.starts_with(format.magic));
            assert!(!packed || !silent(&damaged), "{name}: bit {bit} of {}", 8 * whole.len());
        }
        for _ in 0..flips / 3 {
            let length = 6 + rng.below(whole.len() as u64 - 6) as usize;
            assert!(!silent(&whole[..length]), "{name}: the first {length} of {}", whole.len());
        }
    }
}

#[test]
fn the_first_bytes_come_out_of_the_first_part_of_a_file() {
    let content = numbers(200_000);
    for (name, packed) in formats(&content) {
        let part = &packed[..packed.len().min(HEAD as usize)];
        let unpacked = first(part);
        assert!(unpacked.len() > 4000 && content.starts_with(&unpacked), "{name}: {}", unpacked.len());
        assert!(content.starts_with(&first(&packed[..20])), "{name}");
    }
    assert!(first(b"plain").is_empty());
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Sizes of the segments of a film in every rung of its ladder, in the forms that players' simulators have.
//!
//! ```text
//! 181801 450283 668286      a line for each segment, a size in bytes for each rung, the lowest first: files of Pensieve, which has one
//! 155580 398865 611752      for each rung, side by side (`paste video_size_0 video_size_1 …`; Mao, Netravali and Alizadeh, SIGCOMM 2017)
//!
//! {"segment_duration_ms": 3000, "bitrates_kbps": [230, 331, …], "segment_sizes_bits": [[886360, 1180512, …], …]}
//!                           a film of Sabre (Spiteri, Sitaraman and Sparacio, MMSys 2018), with its own ladder and length of segments
//! ```
//!
//! A film repeats at its end.

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;

use super::super::abr::Ladder;
use crate::settings::{Raw, Setting};
use crate::units::{Bytes, Span};

/// Segments and rungs that a film has at most.
const MOST: usize = 1_000_000;

/// The sizes of a film's segments.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub struct Segments {
    /// For each segment a size for each rung.
    sizes: Arc<[Vec<Bytes>]>,
    /// The film's own ladder and length of a segment, where its form has them.
    pub(super) own: Option<(Ladder, Span)>,
}

/// A film as Sabre has it.
#[derive(Deserialize)]
struct Film {
    segment_duration_ms: f64,
    bitrates_kbps: Vec<f64>,
    segment_sizes_bits: Vec<Vec<f64>>,
}

impl Segments {
    /// The size of a segment, by its number from the first of the film, in a rung.
    pub(super) fn size(&self, segment: u64, rung: usize) -> Bytes {
        self.sizes[(segment % self.sizes.len() as u64) as usize][rung]
    }

    /// The number of rungs.
    pub(super) fn rungs(&self) -> usize {
        self.sizes[0].len()
    }

    fn of(rows: Vec<Vec<f64>>, own: Option<(Ladder, Span)>) -> Result<Segments, String> {
        let rungs = rows.first().map_or(0, Vec::len);
        if rungs == 0 || rows.len().saturating_mul(rungs) > MOST {
            return Err(format!("a film has from one to {MOST} sizes, and not {} × {rungs}", rows.len()));
        }
        if let Some(place) = rows.iter().position(|row| row.len() != rungs) {
            return Err(format!(
                "segment {} has {} sizes, and the first has {rungs}",
                place + 1,
                rows[place].len()
            ));
        }
        if rows.iter().flatten().any(|size| !(1.0..=1e9).contains(size)) {
            return Err("a segment has from 1b to 1gb".into());
        }
        let bytes = |row: Vec<f64>| row.into_iter().map(|size| Bytes(size.ceil() as u64)).collect();
        Ok(Segments { sizes: rows.into_iter().map(bytes).collect(), own })
    }

    fn table(text: &str) -> Result<Segments, String> {
        let lines = (1..).zip(text.lines().map(str::trim));
        let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let row = |(number, line): (usize, &str)| {
            let words = line.split([',', ' ', '\t']).filter(|word| !word.is_empty());
            let sizes = words.map(|word| word.parse::<f64>().map_err(|_| word));
            sizes.collect::<Result<Vec<f64>, &str>>().map_err(|word| {
                let shown: String = word.chars().take(40).collect();
                format!("line {number}: `{shown}` is not a size in bytes")
            })
        };
        Segments::of(lines.map(row).collect::<Result<_, _>>()?, None)
    }

    fn film(text: &str) -> Result<Segments, String> {
        let film: Film = serde_json::from_str(text).map_err(|error| format!("the film: {error}"))?;
        let rates = film.bitrates_kbps.iter().map(|rate| Raw::Text(format!("{rate}kbit")));
        let ladder = Ladder::read(&Raw::List(rates.collect()))?;
        let length = Span::from_secs_f64(film.segment_duration_ms / 1000.0);
        if !(Span::from_millis(100)..=Span::from_secs(60)).contains(&length) {
            return Err(format!("segments of {length} are outside the allowed range, 100ms to 60s"));
        }
        let bytes = film.segment_sizes_bits.into_iter();
        let bytes = bytes.map(|row| row.into_iter().map(|bits| bits / 8.0).collect()).collect();
        let segments = Segments::of(bytes, Some((ladder, length)))?;
        match film.bitrates_kbps.len() == segments.rungs() {
            true => Ok(segments),
            false => Err(format!(
                "{} bit rates, and {} sizes of a segment",
                film.bitrates_kbps.len(),
                segments.rungs()
            )),
        }
    }
}

impl fmt::Display for Segments {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let row = |row: &Vec<Bytes>| row.iter().map(|size| size.0.to_string()).collect::<Vec<_>>().join(" ");
        f.write_str(&self.sizes.iter().map(row).collect::<Vec<_>>().join("\n"))
    }
}

impl Setting for Segments {
    const KIND: &'static str = "list of sizes of segments";
    const JSON: &'static [&'static str] = &["string"];

    fn read(raw: &Raw) -> Result<Segments, String> {
        match raw {
            Raw::Text(text) if text.trim_start().starts_with('{') => Segments::film(text),
            Raw::Text(text) => Segments::table(text),
            other => {
                Err(format!("{other} is not a table of sizes: a line for each segment, a size for each rung"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Rate;

    fn read(text: &str) -> Result<Segments, String> {
        Segments::read(&Raw::Text(text.into()))
    }

    #[test]
    fn columns_of_sizes_and_a_film_with_its_ladder_are_read_alike() {
        let table = read("# low high\n1000 3000\n2000\t4000\n").unwrap();
        let film = read(
            "{\"segment_duration_ms\": 2000, \"bitrates_kbps\": [4, 12], \"segment_sizes_bits\": [[8000, 24000], [16000, 32000]]}",
        );
        let film = film.unwrap();
        for segments in [&table, &film] {
            let sizes =
                [(0, 0), (0, 1), (1, 0), (3, 1)].map(|(segment, rung)| segments.size(segment, rung).0);
            assert_eq!(
                (sizes, segments.rungs()),
                ([1000, 3000, 2000, 4000], 2),
                "it begins again at its end"
            );
        }
        let (ladder, length) = film.own.unwrap();
        assert_eq!((ladder.rates(), length), (&[Rate(4000), Rate(12_000)][..], Span::from_secs(2)));
        assert_eq!(read(&table.to_string()), Ok(table));
    }

    #[test]
    fn a_film_with_a_hole_is_refused_with_its_place() {
        for (text, wrong) in [
            ("1000 2000\n1000\n", "segment 2 has 1 sizes, and the first has 2"),
            ("1000 many\n", "line 1: `many` is not a size in bytes"),
            ("\n", "from one to"),
            ("0 1\n", "from 1b to 1gb"),
            ("{\"bitrates_kbps\": []}", "the film: missing field"),
            (
                "{\"segment_duration_ms\": 2000, \"bitrates_kbps\": [4, 12], \"segment_sizes_bits\": [[8000]]}",
                "2 bit rates, and 1 sizes",
            ),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(wrong), "{text:?}: {error}");
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Placement of labels.

use super::Anchor;

/// A rectangle covered by text, a dot or a line.
#[derive(Clone, Copy)]
pub(super) struct Space {
    pub(super) from: (f64, f64),
    pub(super) to: (f64, f64),
}

impl Space {
    /// The rectangle around a dot.
    pub(super) fn around((x, y): (f64, f64)) -> Space {
        Space { from: (x - 7.0, y - 7.0), to: (x + 7.0, y + 7.0) }
    }

    pub(super) fn meets(&self, other: &Space) -> bool {
        self.from.0 < other.to.0
            && other.from.0 < self.to.0
            && self.from.1 < other.to.1
            && other.from.1 < self.to.1
    }

    /// The point of it that is nearest.
    pub(super) fn nearest(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (x.clamp(self.from.0, self.to.0), y.clamp(self.from.1, self.to.1))
    }

    fn within(&self, other: &Space) -> bool {
        self.from.0 >= other.from.0
            && self.to.0 <= other.to.0
            && self.from.1 >= other.from.1
            && self.to.1 <= other.to.1
    }
}

/// The first candidate position where a text of this length lies `inside` without overlap, if there is one.
pub(super) fn free(
    candidates: &[(Anchor, (f64, f64))],
    length: f64,
    inside: Space,
    taken: &[Space],
) -> Option<(Anchor, (f64, f64), Space)> {
    let covered = candidates.iter().map(|&(anchor, at)| {
        let left = match anchor {
            Anchor::Start => at.0,
            Anchor::Middle => at.0 - length / 2.0,
            Anchor::End => at.0 - length,
        };
        (anchor, at, Space { from: (left, at.1 - 12.0), to: (left + length, at.1 + 4.0) })
    });
    let mut within = covered.filter(|(_, _, space)| space.within(&inside));
    within.find(|(_, _, space)| !taken.iter().any(|other| other.meets(space)))
}

/// The spaces that a curve through points covers.
pub(super) fn along(points: impl Iterator<Item = (f64, f64)>) -> Vec<Space> {
    const STEP: f64 = 5.0;
    let around = |(x, y): (f64, f64)| Space { from: (x - 1.0, y - 1.0), to: (x + 1.0, y + 1.0) };
    let mut last: Option<(f64, f64)> = None;
    let mut covered = Vec::new();
    for point in points.filter(|(x, y)| x.is_finite() && y.is_finite()) {
        let from = last.unwrap_or(point);
        let (wide, high) = (point.0 - from.0, point.1 - from.1);
        let steps = (libm::hypot(wide, high).min(1e4) / STEP).ceil().max(1.0) as usize;
        let at = |step: usize| step as f64 / steps as f64;
        covered.extend((1..=steps).map(|step| around((from.0 + wide * at(step), from.1 + high * at(step)))));
        last = Some(point);
    }
    covered
}

/// The relative width of bold letters.
pub(super) const BOLD: f64 = 1.13;

/// Width of a text in pixels in the widest of the usual sans-serif fonts, since fonts differ between machines.
pub(super) fn length(text: &str, size: f64) -> f64 {
    size * text.chars().map(share).sum::<f64>()
}

/// Width of a character as a share of the letters' size.
fn share(character: char) -> f64 {
    match character {
        'i' | 'j' | 'l' | '\'' | '|' | '.' | ',' | ':' | ';' | '!' | '\u{2009}' => 0.29,
        'f' | 't' | 'r' | 'I' | '(' | ')' | '[' | ']' | '/' | '-' | ' ' | '·' => 0.38,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '…' | '—' => 0.92,
        'A'..='Z' | '&' | '+' | '=' | '<' | '>' | '~' | '±' | '≈' | '≤' | '≥' | '×' => 0.7,
        _ if character.is_ascii() => 0.57,
        '⁰'..='⁹' | '¹' | '²' | '³' | '⁻' => 0.4,
        'À'..='ɏ' | 'Ͱ'..='ԯ' | '‐'..='–' => 0.62,
        // Ideographs are as wide as they are high.
        _ => 1.0,
    }
}

/// The text, without its middle if it is too long: names of cases differ at their ends.
pub(super) fn fitted(text: &str, room: f64, size: f64) -> String {
    if length(text, size) <= room {
        return text.into();
    }
    let letters: Vec<char> = text.chars().collect();
    let shorter = (1..letters.len()).rev().map(|count| {
        let (head, tail) = (count.div_ceil(2), count / 2);
        let ends = letters[..head].iter().chain(['…'].iter()).chain(&letters[letters.len() - tail..]);
        ends.collect::<String>()
    });
    shorter.into_iter().find(|short| length(short, size) <= room).unwrap_or_else(|| "…".into())
}

/// Names side by side, each in its room: if one is too long, all lose their common first words, and as a last resort their middles.
pub(super) fn together(names: &[String], room: f64, size: f64) -> Vec<String> {
    if names.iter().all(|name| length(name, size) <= room) {
        return names.to_vec();
    }
    let words: Vec<Vec<&str>> = names.iter().map(|name| name.split(' ').collect()).collect();
    let least = words.iter().map(|own| own.len()).min().unwrap_or(0);
    let shared = |place: &usize| words.iter().all(|own| own[*place] == words[0][*place]);
    let begin = (0..least.saturating_sub(1)).take_while(shared).count();
    words.iter().map(|own| fitted(&own[begin..].join(" "), room, size)).collect()
}

/// Labels along an axis, each with its own room: where one is too long, only the first keeps the common unit.
pub(super) fn in_a_row(labels: &[String], room: f64, size: f64) -> Vec<String> {
    let is_roomy = labels.iter().all(|label| length(label, size) <= room);
    let parts: Option<Vec<(&str, &str)>> = labels.iter().map(|label| label.rsplit_once(' ')).collect();
    match parts {
        Some(parts) if !is_roomy && parts.windows(2).all(|pair| pair[0].1 == pair[1].1) => {
            let bare = |(place, (number, _)): (usize, &(&str, &str))| match place == 0 {
                true => labels[place].clone(),
                false => number.to_string(),
            };
            parts.iter().enumerate().map(bare).collect()
        }
        _ => labels.to_vec(),
    }
}

/// The places of labels, each from its beginning to its end in pixels, that leave a gap to the one kept before.
pub(super) fn thinned(labels: &[(f64, f64)], gap: f64) -> Vec<bool> {
    let mut ends: Vec<(f64, f64)> = Vec::new();
    let apart = |one: &(f64, f64), other: &(f64, f64)| one.1 + gap <= other.0 || other.1 + gap <= one.0;
    let kept = labels.iter().map(|label| {
        let free = ends.iter().all(|other| apart(label, other));
        if free {
            ends.push(*label);
        }
        free
    });
    kept.collect()
}

/// Breaks a text between words into lines of at most `width` pixels.
pub(super) fn wrapped(text: &str, width: f64, size: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if length(line, size) + length(word, size) + size / 2.0 <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_avoids_what_is_taken_and_stays_inside() {
        let inside = Space { from: (0.0, 0.0), to: (100.0, 100.0) };
        let candidates =
            [(Anchor::End, (20.0, 50.0)), (Anchor::Start, (20.0, 50.0)), (Anchor::Start, (20.0, 80.0))];
        let found = free(&candidates, 30.0, inside, &[Space::around((30.0, 50.0))]);
        let (_, at, space) = found.expect("a place below");
        assert_eq!((at, space.from.0, space.to.0), ((20.0, 80.0), 20.0, 50.0));
        assert!(free(&candidates, 30.0, inside, &[inside]).is_none(), "a label is never on top of another");
    }

    #[test]
    fn a_long_name_loses_its_middle() {
        assert_eq!(fitted("r1-r2", 100.0, 12.5), "r1-r2");
        let short = fitted("cubic with a buffer of 1 BDP, 20 ms", 100.0, 12.5);
        assert!(short.starts_with("cubic") && short.ends_with("0 ms") && short.contains('…'), "{short}");
        assert!(length(&short, 12.5) <= 100.0);
        assert_eq!(fitted("long", 1.0, 12.5), "…");
    }

    #[test]
    fn names_that_are_too_long_together_lose_what_all_begin_with() {
        let names = ["buffer 0.5 BDP", "buffer 1 BDP", "buffer 2 BDP"].map(String::from);
        assert_eq!(together(&names, 100.0, 12.5), names);
        assert_eq!(together(&names, 60.0, 12.5), ["0.5 BDP", "1 BDP", "2 BDP"]);
        assert_eq!(together(&["long".to_string()], 1.0, 12.5), ["…"]);
        assert!(together(&[], 1.0, 12.5).is_empty());
    }

    #[test]
    fn labels_of_an_axis_that_are_too_long_share_their_unit() {
        let labels = ["20 ms", "60 ms", "120 ms"].map(String::from);
        assert_eq!(in_a_row(&labels, 50.0, 11.0), labels);
        assert_eq!(in_a_row(&labels, 30.0, 11.0), ["20 ms", "60", "120"]);
        let names = ["cubic and pert", "bbr"].map(String::from);
        assert_eq!(in_a_row(&names, 30.0, 11.0), names, "no unit");
    }

    #[test]
    fn labels_that_would_touch_are_left_out() {
        let labels = [(0.0, 20.0), (15.0, 35.0), (30.0, 50.0), (52.0, 60.0)];
        assert_eq!(thinned(&labels, 4.0), [true, false, true, false]);
        assert_eq!(thinned(&labels, 1.0), [true, false, true, true]);
    }

    #[test]
    fn wide_letters_take_more_room_than_narrow_ones() {
        assert!(length("WMW", 10.0) > 2.0 * length("ill", 10.0));
        assert!(length("2 Mbit/s", 10.0) < 60.0);
    }

    #[test]
    fn words_are_never_broken() {
        assert_eq!(wrapped("one two three", 60.0, 10.0), ["one two", "three"]);
        assert_eq!(wrapped("incomprehensible", 20.0, 10.0), ["incomprehensible"]);
        assert!(wrapped("", 20.0, 10.0).is_empty());
    }
}

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

/// The first candidate position where a text of this length lies `inside` without overlap; else the first one.
pub(super) fn free(
    candidates: &[(Anchor, (f64, f64))],
    length: f64,
    inside: Space,
    taken: &[Space],
) -> (Anchor, (f64, f64), Space) {
    let covered = candidates.iter().map(|&(anchor, at)| {
        let left = match anchor {
            Anchor::Start => at.0,
            Anchor::Middle => at.0 - length / 2.0,
            Anchor::End => at.0 - length,
        };
        (anchor, at, Space { from: (left, at.1 - 12.0), to: (left + length, at.1 + 4.0) })
    });
    let covered: Vec<_> = covered.collect();
    let within = || covered.iter().copied().filter(|(_, _, space)| space.within(&inside));
    let free = within().find(|(_, _, space)| !taken.iter().any(|other| other.meets(space)));
    free.or_else(|| within().next()).unwrap_or(covered[0])
}

/// Approximate width of a text in pixels; fonts differ between machines.
pub(super) fn length(text: &str, size: f64) -> f64 {
    0.56 * size * text.chars().count() as f64
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
        let (_, at, space) = free(&candidates, 30.0, inside, &[Space::around((30.0, 50.0))]);
        assert_eq!((at, space.from.0, space.to.0), ((20.0, 80.0), 20.0, 50.0));
        let everything = free(&candidates, 30.0, inside, &[inside]);
        assert_eq!(
            (everything.1, everything.2.from.0),
            ((20.0, 50.0), 20.0),
            "inside and covered, rather than cut"
        );
    }

    #[test]
    fn words_are_never_broken() {
        assert_eq!(wrapped("one two three", 60.0, 10.0), ["one two", "three"]);
        assert_eq!(wrapped("incomprehensible", 20.0, 10.0), ["incomprehensible"]);
        assert!(wrapped("", 20.0, 10.0).is_empty());
    }
}

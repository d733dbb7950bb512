// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Characters of names and texts that are not displayed but act: they control a terminal, change the order of the following text,
//! are invisible, or break an XML file. They are shown as escapes of JSON.
//!
//! | characters | |
//! |---|---|
//! | U+0000 to U+001F but tabs and line feeds, U+007F to U+009F | controls |
//! | U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069 | directions of writing |
//! | U+2028, U+2029 | ends of lines that are none elsewhere |
//! | U+00AD, U+034F, U+180E, U+200B, U+2060 to U+2065, U+206A to U+206F, U+FEFF | marks without a shape |
//! | U+FFF0 to U+FFFB, U+1BCA0 to U+1BCA3, U+1D173 to U+1D17A | the same |
//! | U+E0000 to U+E00FF, U+E01F0 to U+E0FFF | the same |
//! | U+115F, U+1160, U+17B4, U+17B5, U+3164, U+FFA0 | letters without a shape |
//! | the last two of each plane, U+FDD0 to U+FDEF | no characters |
//!
//! Those without a shape are the characters that Unicode lets a program ignore (`Default_Ignorable_Code_Point`), with two exceptions, which
//! change the shape of what is beside them and without which text is misspelt: the joiners of Persian, of Indic scripts and of emoji, U+200C
//! and U+200D, and the variation selectors of emoji, Mongolian and Han, U+180B to U+180F but U+180E, U+FE00 to U+FE0F and U+E0100 to
//! U+E01EF. Two names that differ by one of them may look alike; they stay two names everywhere.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character acts, or is invisible.
pub fn acts(character: char) -> bool {
    let code = u32::from(character);
    match character {
        '\t' | '\n' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        '\u{2028}' | '\u{2029}' | '\u{fdd0}'..='\u{fdef}' => true,
        '\u{ad}'
        | '\u{34f}'
        | '\u{180e}'
        | '\u{200b}'
        | '\u{2060}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}' => true,
        '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' => true,
        '\u{e0000}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}' => true,
        '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{ffa0}' => true,
        _ => character.is_control() || code & 0xfffe == 0xfffe,
    }
}

/// A text in which every character is visible: `\u001b` represents an escape.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(replaced(text, |character, shown| {
        for half in character.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            let _ = write!(shown, "\\u{half:04x}");
        }
    }))
}

/// The same in as many bytes, for a text with known positions: a placeholder for any such character.
pub fn covered(text: &str) -> Cow<'_, str> {
    const SIGNS: [char; 4] = ['?', '·', '\u{fffd}', '\u{1f6c7}'];
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(replaced(text, |character, shown| shown.push(SIGNS[character.len_utf8() - 1])))
}

/// The text with a substitute for each control character; a line may end in "\r\n".
fn replaced(text: &str, mut instead: impl FnMut(char, &mut String)) -> String {
    let mut shown = String::with_capacity(text.len());
    for (place, character) in text.char_indices() {
        match acts(character) && !text[place..].starts_with("\r\n") {
            true => instead(character, &mut shown),
            false => shown.push(character),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_an_escape_and_what_is_seen_stays() {
        let (plain, text) = ("Zürich → 東京\t👩‍🚀\n", "a\u{1b}[31m\u{9b}2J\r\u{7f}\u{202e}\u{ffff}\u{1fffe}");
        assert!(matches!(visible(plain), Cow::Borrowed(same) if same == plain));
        assert_eq!(visible(text), "a\\u001b[31m\\u009b2J\\u000d\\u007f\\u202e\\uffff\\ud83f\\udffe");
        assert_eq!(visible("one\r\ntwo\r"), "one\r\ntwo\\u000d");
        let quoted = serde_json::to_string(text).unwrap();
        assert_eq!(serde_json::from_str::<String>(&visible(&quoted)).unwrap(), text, "JSON says the same");
    }

    #[test]
    fn what_hides_is_an_escape_and_what_shapes_its_neighbours_stays() {
        // `Default_Ignorable_Code_Point` of Unicode 16.
        let ignorable = [
            0xad..=0xad,
            0x34f..=0x34f,
            0x61c..=0x61c,
            0x115f..=0x1160,
            0x17b4..=0x17b5,
            0x180b..=0x180f,
            0x200b..=0x200f,
            0x202a..=0x202e,
            0x2060..=0x206f,
            0x3164..=0x3164,
            0xfe00..=0xfe0f,
            0xfeff..=0xfeff,
            0xffa0..=0xffa0,
            0xfff0..=0xfff8,
            0x1bca0..=0x1bca3,
            0x1d173..=0x1d17a,
            0xe0000..=0xe0fff,
        ];
        let shaping = [0x180b..=0x180d, 0x180f..=0x180f, 0x200c..=0x200d, 0xfe00..=0xfe0f, 0xe0100..=0xe01ef];
        for code in ignorable.into_iter().flatten() {
            let shapes = shaping.iter().any(|range| range.contains(&code));
            assert_eq!(acts(char::from_u32(code).unwrap()), !shapes, "{code:x}");
        }
        assert_eq!(
            visible("ad\u{ad}min\u{200b}\u{3164}\u{e01f0}"),
            "ad\\u00admin\\u200b\\u3164\\udb40\\uddf0"
        );
        for text in [
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "❤\u{fe0f}",
            "葛\u{e0100}",
            "1\u{fe0f}\u{20e3}",
            "한국어",
            "ភាសា",
        ] {
            assert_eq!(visible(text), text);
        }
    }

    #[test]
    fn a_covered_text_has_the_same_places() {
        let text = "a\u{1b}b\u{9b}c\u{202e}d\u{e0001}e";
        assert_eq!((covered(text).len(), covered(text).matches(acts).count()), (text.len(), 0));
        assert!(
            covered(text)
                .char_indices()
                .filter(|(_, c)| c.is_ascii_alphabetic())
                .eq(text.char_indices().filter(|(_, c)| c.is_ascii_alphabetic()))
        );
    }
}

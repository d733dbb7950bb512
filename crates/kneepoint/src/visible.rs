// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Characters of names and texts that would act instead of being seen: they command a terminal, turn the order of what follows them,
//! stand for nothing, or break a file of XML. They are shown as escapes, which are those of JSON.
//!
//! | characters | |
//! |---|---|
//! | U+0000 to U+001F but tabs and line feeds, U+007F to U+009F | controls |
//! | U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069 | directions of writing |
//! | U+2028, U+2029 | ends of lines that are none elsewhere |
//! | U+FEFF, U+E0000 to U+E007F | marks without a shape |
//! | the last two of each plane, U+FDD0 to U+FDEF | no characters |

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character acts, or is none.
pub fn acts(character: char) -> bool {
    let code = u32::from(character);
    match character {
        '\t' | '\n' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fdd0}'..='\u{fdef}' | '\u{e0000}'..='\u{e007f}' => true,
        _ => character.is_control() || code & 0xfffe == 0xfffe,
    }
}

/// A text in which every character can be seen: `\u001b` stands for an escape.
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

/// The same in as many bytes, for a text whose places are known: a sign that stands for any such character.
pub fn covered(text: &str) -> Cow<'_, str> {
    const SIGNS: [char; 4] = ['?', '·', '\u{fffd}', '\u{1f6c7}'];
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(replaced(text, |character, shown| shown.push(SIGNS[character.len_utf8() - 1])))
}

/// The text with something else for each character that acts; the end of a line may have two.
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Instants as ISO 8601 writes them, with date, time and offset from UTC: `2025-11-24T10:00:00.200+01:00`.

use std::str::FromStr;

/// Attoseconds in a second: as many digits of a fraction are read, and further ones are ignored.
const SECOND: i128 = 10_i128.pow(DIGITS as u32);
const DIGITS: usize = 18;

/// A point in time, comparable across written offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Instant(i128);

impl FromStr for Instant {
    type Err = String;

    fn from_str(text: &str) -> Result<Instant, String> {
        let wrong = |why: &str| {
            format!("`{text}` {why}: write date, time and offset, as in `2025-11-24T10:00:00.200+01:00`")
        };
        let (at, rest) =
            date_and_time(text.trim()).ok_or_else(|| wrong("is not a date and time of ISO 8601"))?;
        let (fraction, offset) = fraction(rest).ok_or_else(|| wrong("has no digits in its fraction"))?;
        if offset.is_empty() {
            return Err(wrong("has no offset from UTC"));
        }
        let ahead = offset_seconds(offset).ok_or_else(|| wrong("has no offset of hours and minutes"))?;
        Ok(Instant(i128::from(at - ahead) * SECOND + fraction))
    }
}

/// Two ASCII digits at the beginning, up to `most`, and the rest.
fn pair(text: &str, most: i64) -> Option<(i64, &str)> {
    number(text, 2, 0, most)
}

/// This many ASCII digits at the beginning, within a range, and the rest.
fn number(text: &str, digits: usize, least: i64, most: i64) -> Option<(i64, &str)> {
    let (head, rest) = text.split_at_checked(digits)?;
    let is_number = head.bytes().all(|byte| byte.is_ascii_digit());
    let value = head.parse().ok().filter(|value| is_number && (least..=most).contains(value))?;
    Some((value, rest))
}

/// Seconds since 1970 as if the offset were none, and what follows the seconds, which may be left out.
fn date_and_time(text: &str) -> Option<(i64, &str)> {
    let (year, rest) = number(text, 4, 0, 9999)?;
    let (month, rest) = number(rest.strip_prefix('-')?, 2, 1, 12)?;
    let (day, rest) = number(rest.strip_prefix('-')?, 2, 1, days(year, month))?;
    let (hour, rest) = pair(rest.strip_prefix(['T', 't', ' '])?, 23)?;
    let (minute, rest) = pair(rest.strip_prefix(':')?, 59)?;
    let (second, rest) = match rest.strip_prefix(':') {
        // A leap second is the sixtieth.
        Some(seconds) => pair(seconds, 60)?,
        None => (0, rest),
    };
    Some((((days_before(year, month) + day - 1) * 24 + hour) * 3600 + minute * 60 + second, rest))
}

/// The attoseconds of a decimal fraction, if there is one, and what follows it.
fn fraction(text: &str) -> Option<(i128, &str)> {
    let Some(digits) = text.strip_prefix(['.', ',']) else { return Some((0, text)) };
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    let read = &digits[..count.min(DIGITS)];
    let scale = 10_i128.pow((DIGITS - read.len()) as u32);
    Some((read.parse::<i128>().ok()? * scale, &digits[count..]))
}

/// An offset in seconds: `Z`, `+01:00`, `+0100` or `+01`.
fn offset_seconds(text: &str) -> Option<i64> {
    if matches!(text, "Z" | "z") {
        return Some(0);
    }
    let sign = if text.starts_with('+') { 1 } else { -1 };
    // Browsers write a hyphen; ISO 8601 prefers the minus sign.
    let (hours, rest) = pair(text.strip_prefix(['+', '-', '\u{2212}'])?, 23)?;
    let minutes = match rest {
        "" => 0,
        _ => match pair(rest.strip_prefix(':').unwrap_or(rest), 59)? {
            (minutes, "") => minutes,
            _ => return None,
        },
    };
    Some(sign * (hours * 3600 + minutes * 60))
}

/// Days of a month of the Gregorian calendar.
fn days(year: i64, month: i64) -> i64 {
    days_before(year + month / 12, month % 12 + 1) - days_before(year, month)
}

/// Days from the first of January 1970 to the first of a month.
fn days_before(year: i64, month: i64) -> i64 {
    // Counted in years that begin in March, so that a leap day is the last of its year.
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    // 719468 days lie between the first of March of the year 0 and 1970.
    year * 365 + leap_days + (153 * month + 2) / 5 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Instant {
        text.parse().unwrap()
    }

    #[test]
    fn an_instant_counts_from_1970() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1969-12-31T23:59:59Z", -1),
            ("2000-02-29T00:00:00Z", 951_782_400),
            ("2000-03-01T00:00:00Z", 951_868_800),
            ("2025-11-24T10:00:00Z", 1_763_978_400),
        ] {
            assert_eq!(at(text), Instant(seconds * SECOND), "{text}");
        }
    }

    #[test]
    fn the_same_instant_in_any_offset_is_the_same() {
        let utc = at("2025-11-24T10:00:00.200Z");
        for same in [
            "2025-11-24T11:00:00.200+01:00",
            "2025-11-24T04:30:00,2-0530",
            "2025-11-24t10:00:00.2000000z",
            "2025-11-25T00:00:00.2+14",
            "2025-11-24 10:00:00.200-00:00",
            "2025-11-24T09:00:00.2\u{2212}01:00",
        ] {
            assert_eq!(at(same), utc, "{same}");
        }
        assert!(at("2025-11-24T10:00:00.2000001Z") > utc);
        assert!(at("2025-11-24T10:59:59+01:00") < utc);
        assert_eq!(at("2025-11-24T10:00Z"), at("2025-11-24T10:00:00Z"));
    }

    #[test]
    fn what_is_no_instant_is_refused_with_the_reason() {
        for (text, why) in [
            ("", "is not a date"),
            ("yesterday", "is not a date"),
            ("2025-11-24", "is not a date"),
            ("2025-02-29T10:00:00Z", "is not a date"),
            ("2025-13-01T10:00:00Z", "is not a date"),
            ("2025-11-24T24:01:00Z", "is not a date"),
            ("+025-11-24T10:00:00Z", "is not a date"),
            ("2025-11-2\u{663}T10:00:00Z", "is not a date"),
            ("2025-11-24T10:00:00.Z", "no digits in its fraction"),
            ("2025-11-24T10:00:00.200", "has no offset from UTC"),
            ("2025-11-24T10:00:00 CET", "no offset of hours"),
            ("2025-11-24T10:00:00+1", "no offset of hours"),
            ("2025-11-24T10:00:00+01:00:00", "no offset of hours"),
        ] {
            let said = text.parse::<Instant>().unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The only unit system: instants, spans, bytes, rates, each an integer newtype.
//!
//! Text follows iproute2: `60ms`, `150mbit`, `64kb`. Every unit parses its own output, and the forms that reports
//! print: `60 ms`,
//! `150 Mbit/s`, `64 kB`.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Mul, RangeInclusive, Sub};
use core::str::FromStr;

/// An instant: nanoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// A duration in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub u64);

/// An amount of data in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A data rate in **bits** per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub u64);

/// A rate in full packets per second, as controllers use it: positive and finite.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct PacketRate(pub f64);

/// A number in [0, 1].
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Probability(f64);

/// The time between two instants, `100s..300s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Interval {
    /// The first instant inside.
    pub from: Time,
    /// The first instant after.
    pub to: Time,
}

const NANOS: u64 = 1_000_000_000;

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than any event.
    pub const NEVER: Time = Time(u64::MAX);

    /// Seconds since the start, for arithmetic that ends in a report.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS as f64
    }

    /// The span since `earlier`; zero when `earlier` is later.
    pub fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time.
    pub const ZERO: Span = Span(0);
    /// Longer than any run.
    pub const MAX: Span = Span(u64::MAX);

    /// A span of whole seconds.
    pub const fn from_secs(secs: u64) -> Span {
        Span(secs * NANOS)
    }
    /// A span of whole milliseconds.
    pub const fn from_millis(millis: u64) -> Span {
        Span(millis * 1_000_000)
    }
    /// A span of whole microseconds.
    pub const fn from_micros(micros: u64) -> Span {
        Span(micros * 1_000)
    }
    /// The span nearest to `secs` seconds; zero for a negative number or NaN.
    pub fn from_secs_f64(secs: f64) -> Span {
        // The greatest number below 1/2: with 1/2 itself the sum rounds up where the value is just below a half.
        const HALF: f64 = 0.499_999_999_999_999_94;
        Span((secs * NANOS as f64 + HALF) as u64)
    }
    /// Seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS as f64
    }
    /// Milliseconds.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }
    /// The instant this long after the start.
    pub fn after_start(self) -> Time {
        Time(self.0)
    }
    /// The difference, or zero.
    pub fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}

impl Rate {
    /// A rate in bits per second.
    pub const fn from_bits(bits: u64) -> Rate {
        Rate(bits)
    }
    /// A rate in Mbit/s.
    pub const fn from_mbit(mbit: u64) -> Rate {
        Rate(mbit * 1_000_000)
    }
    /// Bits per second.
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }
    /// Packets of `size` per second.
    pub fn packets(self, size: Bytes) -> f64 {
        self.0 as f64 / (8.0 * size.0 as f64)
    }
    /// The data that this rate carries in `span`, saturating.
    pub fn carries(self, span: Span) -> Bytes {
        let bytes = u128::from(self.0) * u128::from(span.0) / (8 * u128::from(NANOS));
        Bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
    /// The time that `bytes` take, rounded to the nanosecond; the engine itself carries the remainder.
    pub fn time_for(self, bytes: Bytes) -> Span {
        let nanos = u128::from(bytes.0) * 8 * u128::from(NANOS) / u128::from(self.0.max(1));
        Span(nanos as u64)
    }
}

impl Probability {
    /// Never.
    pub const ZERO: Probability = Probability(0.0);
    /// Always.
    pub const ONE: Probability = Probability(1.0);

    /// The number in [0, 1] nearest to `p`; NaN becomes zero.
    pub fn clamped(p: f64) -> Probability {
        Probability(if p > 0.0 { p.min(1.0) } else { 0.0 })
    }
    /// The number itself.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl Interval {
    /// Whether `at` lies inside.
    pub fn contains(self, at: Time) -> bool {
        self.from <= at && at < self.to
    }
    /// Its length.
    pub fn span(self) -> Span {
        self.to.since(self.from)
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}
impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}
impl Sub for Time {
    type Output = Span;
    fn sub(self, earlier: Time) -> Span {
        debug_assert!(self >= earlier, "time ran back: {self:?} - {earlier:?}");
        self.since(earlier)
    }
}
impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}
impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, times: u64) -> Span {
        Span(self.0.saturating_mul(times))
    }
}
impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}
impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        self.0 += other.0;
    }
}
impl Sub for Bytes {
    type Output = Bytes;
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(self.0 - other.0)
    }
}
impl Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(amounts: I) -> Bytes {
        Bytes(amounts.map(|amount| amount.0).sum())
    }
}

/// Splits `150mbit` into 150 and `mbit`.
pub fn number_and_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    Some((number, text[end..].trim_start()))
}

/// Reads a number with one of `scales`; the error names them, or the range.
fn scaled(text: &str, what: &str, scales: &[(&str, u64)], example: &str) -> Result<u64, String> {
    let units = || scales.iter().map(|(unit, _)| *unit).collect::<Vec<_>>().join(", ");
    let wrong =
        || format!("`{text}` is not {what}: write a number and one of {}, as in `{example}`", units());
    let negated = text.trim_start().strip_prefix('-');
    let (number, unit) = number_and_unit(negated.unwrap_or(text)).ok_or_else(wrong)?;
    let named = |name: &str| {
        let alias = |(alias, of): &(&str, &str)| *of == name && alias.eq_ignore_ascii_case(unit);
        name.eq_ignore_ascii_case(unit) || ALIASES.iter().any(alias)
    };
    let (known, scale) = scales.iter().find(|(name, _)| named(name)).ok_or_else(wrong)?;
    let value = libm::round(number * *scale as f64);
    if negated.is_some() && value > 0.0 || value > GREATEST as f64 {
        return Err(format!(
            "`{text}` is out of range: {what} is from 0{known} to {}{known}",
            GREATEST / scale
        ));
    }
    if number > 0.0 && value < 1.0 {
        let least = scales.iter().find(|(_, one)| *one == 1).map_or("", |(name, _)| name);
        return Err(format!("`{text}` is out of range: {what} is 0{least}, or from 1{least}"));
    }
    Ok(value as u64)
}

/// Beyond 2^53 a double no longer counts in ones.
const GREATEST: u64 = 1 << 53;

const SPANS: [(&str, u64); 5] =
    [("s", NANOS), ("ms", 1_000_000), ("us", 1_000), ("ns", 1), ("min", 60 * NANOS)];
const RATES: [(&str, u64); 5] =
    [("bit", 1), ("kbit", 1_000), ("mbit", 1_000_000), ("gbit", NANOS), ("tbit", 1_000 * NANOS)];
const SIZES: [(&str, u64); 4] = [("b", 1), ("kb", 1_000), ("mb", 1_000_000), ("gb", NANOS)];

/// Further names of units, as in reports. There are two code points of the same letter µ.
const ALIASES: [(&str, &str); 9] = [
    ("µs", "us"),
    ("μs", "us"),
    ("bit/s", "bit"),
    ("kbit/s", "kbit"),
    ("Mbit/s", "mbit"),
    ("Gbit/s", "gbit"),
    ("Tbit/s", "tbit"),
    ("byte", "b"),
    ("bytes", "b"),
];

impl FromStr for Span {
    type Err = String;
    fn from_str(text: &str) -> Result<Span, String> {
        scaled(text, "a time", &SPANS, "60ms").map(Span)
    }
}
impl FromStr for Time {
    type Err = String;
    fn from_str(text: &str) -> Result<Time, String> {
        text.parse().map(Span::after_start)
    }
}
impl FromStr for Rate {
    type Err = String;
    fn from_str(text: &str) -> Result<Rate, String> {
        let bits = scaled(text, "a rate", &RATES, "150mbit").map(Rate);
        let per_second = text.trim().to_ascii_lowercase();
        match per_second
            .strip_suffix("bps")
            .and_then(|stem| scaled(&format!("{stem}bit"), "", &RATES, "").ok())
        {
            // iproute2 reads `mbps` as megabytes, other tools as megabits.
            Some(_) => Err(format!(
                "`{text}` could mean bits or bytes: write `{}bit` for bits per second",
                &per_second[..per_second.len() - 3]
            )),
            None => bits,
        }
    }
}
impl FromStr for Bytes {
    type Err = String;
    fn from_str(text: &str) -> Result<Bytes, String> {
        scaled(text, "an amount of data", &SIZES, "64kb").map(Bytes)
    }
}
impl FromStr for Interval {
    type Err = String;
    fn from_str(text: &str) -> Result<Interval, String> {
        let wrong = || format!("`{text}` is not an interval: write it as `100s..300s`");
        let (from, to) = text.split_once("..").ok_or_else(wrong)?;
        let interval = Interval { from: from.parse()?, to: to.parse()? };
        if interval.from <= interval.to {
            Ok(interval)
        } else {
            Err(format!("`{text}` ends before it begins: write it as `100s..300s`"))
        }
    }
}

/// Prints in the largest unit that leaves a whole number; zero in the first.
fn show(value: u64, scales: &[(&str, u64)], f: &mut fmt::Formatter) -> fmt::Result {
    let largest =
        scales.iter().filter(|(_, scale)| value.is_multiple_of(*scale)).max_by_key(|(_, scale)| *scale);
    match largest {
        Some((unit, scale)) if value > 0 => write!(f, "{}{unit}", value / scale),
        _ => write!(f, "{value}{}", scales[0].0),
    }
}

/// For people: in the largest unit in which it is at least one.
fn people(value: u64, units: &[(&str, u64)]) -> String {
    let fits = |(_, scale): &&(&str, u64)| value >= *scale;
    let (unit, scale) = units.iter().find(fits).unwrap_or(&units[0]);
    alloc::format!("{} {unit}", value as f64 / *scale as f64)
}

impl Span {
    /// As in reports: `60 ms`.
    pub fn people(self) -> String {
        people(self.0, &[("s", NANOS), ("ms", 1_000_000), ("µs", 1_000), ("ns", 1)])
    }
}
impl Rate {
    /// As in reports: `150 Mbit/s`.
    pub fn people(self) -> String {
        people(self.0, &[("Gbit/s", NANOS), ("Mbit/s", 1_000_000), ("kbit/s", 1_000), ("bit/s", 1)])
    }
}
impl Bytes {
    /// As in reports: `64 kB`.
    pub fn people(self) -> String {
        people(self.0, &[("GB", NANOS), ("MB", 1_000_000), ("kB", 1_000), ("B", 1)])
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        show(self.0, &SPANS[..4], f)
    }
}
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        show(self.0, &SPANS[..4], f)
    }
}
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        show(self.0, &RATES[..4], f)
    }
}
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        show(self.0, &SIZES, f)
    }
}
impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}..{}", self.from, self.to)
    }
}
impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// `5ms to 20ms`: how an allowed range reads in a message.
pub fn show_range<T: fmt::Display>(range: &RangeInclusive<T>) -> String {
    format!("{} to {}", range.start(), range.end())
}

#[cfg(test)]
mod tests;

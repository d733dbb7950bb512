// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Sizes on paper: `3.3in`, `8cm`, `3.3x2.2in`.

use std::str::FromStr;

/// A width, and a height unless the chart chooses it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    pub(super) width: Length,
    pub(super) height: Option<Length>,
}

/// A length on paper, in points of 1/72 inch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Length(f64);

/// The scale of print: numbers at ticks, 11 pixels of a chart, are set in 8 points.
pub(super) struct PointsPerPixel;

impl PointsPerPixel {
    const SCALE: f64 = 8.0 / 11.0;

    pub(super) fn to_points(pixels: f64) -> f64 {
        pixels * PointsPerPixel::SCALE
    }
}

impl Length {
    /// The pixels of a chart that are so long on paper.
    pub(super) fn pixels(self) -> f64 {
        self.0 / PointsPerPixel::SCALE
    }
}

/// Units and their points.
const UNITS: [(&str, f64); 4] = [("in", 72.0), ("cm", 72.0 / 2.54), ("mm", 7.2 / 2.54), ("pt", 1.0)];
/// Smaller charts have no room for their ticks, larger ones are mistaken units; in points.
const ALLOWED: std::ops::RangeInclusive<f64> = 72.0..=2880.0;

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        let expected = || {
            format!(
                "`{text}` is not a size: expected `3.3in`, `8cm`, `84mm` or, with the height, `3.3x2.2in`"
            )
        };
        let plain = text.trim().to_ascii_lowercase();
        let (unit, points) =
            UNITS.into_iter().find(|(unit, _)| plain.ends_with(unit)).ok_or_else(expected)?;
        let length = |number: &str| {
            // The unit may follow both numbers.
            let number = number.trim().trim_end_matches(unit).trim();
            let points = points * number.parse::<f64>().map_err(|_| expected())?;
            match ALLOWED.contains(&points) {
                true => Ok(Length(points)),
                false => Err(format!("`{text}` is outside the allowed range, 1in to 40in")),
            }
        };
        let (width, height) = match plain.split_once(['x', '×']) {
            Some((width, height)) => (width, Some(height)),
            None => (plain.as_str(), None),
        };
        Ok(Size { width: length(width)?, height: height.map(length).transpose()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(text: &str) -> (f64, Option<f64>) {
        let size: Size = text.parse().unwrap();
        (size.width.0.round(), size.height.map(|height| height.0.round()))
    }

    #[test]
    fn a_size_is_a_width_and_perhaps_a_height_in_the_units_of_publishers() {
        assert_eq!(points("3.3in"), (238.0, None));
        assert_eq!(points("8cm"), (227.0, None));
        assert_eq!(points("84mm"), (238.0, None));
        assert_eq!(points("3.3x2.2in"), (238.0, Some(158.0)));
        assert_eq!(points("3.3in x 2.2in"), (238.0, Some(158.0)));
        assert_eq!(points("240pt"), (240.0, None));
    }

    #[test]
    fn what_is_no_size_says_what_one_looks_like() {
        for text in ["", "3.3", "wide", "3.3x", "x2in", "-3in", "nanin", "300px"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
        assert!("3.3in".parse::<Size>().is_ok());
        assert!("100in".parse::<Size>().unwrap_err().contains("allowed range"));
    }
}

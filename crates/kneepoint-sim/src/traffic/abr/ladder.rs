// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Ladders: the bit rates in which a video is encoded.

use std::fmt;

use crate::settings::{List, Raw, Setting};
use crate::units::Rate;

/// The bit rates in which a video is encoded, increasing.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub struct Ladder(List<Rate>);

impl Ladder {
    /// The rates, at least one.
    pub fn rates(&self) -> &[Rate] {
        self.0.values()
    }
}

/// The ladder that Netflix gave every title until 2015 ("Per-title encode optimization", Netflix Technology Blog, 2015).
impl Default for Ladder {
    fn default() -> Ladder {
        let rates = [235, 375, 560, 750, 1050, 1750, 2350, 3000, 4300, 5800].map(|kbit| Rate(kbit * 1000));
        Ladder(rates.to_vec().into())
    }
}

impl fmt::Display for Ladder {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Setting for Ladder {
    const KIND: &'static str = "list of increasing rates";
    const JSON: &'static [&'static str] = &["string", "array"];

    fn read(raw: &Raw) -> Result<Ladder, String> {
        // In the form of `Display`.
        let inside = |text: &str| Some(text.trim().strip_prefix('[')?.strip_suffix(']')?.to_string());
        let list = match raw {
            Raw::Text(text) => match inside(text) {
                Some(inside) => {
                    let each = inside.split(',').map(|rate| Raw::Text(rate.trim().into()));
                    List::<Rate>::read(&Raw::List(each.collect()))?
                }
                None => List::<Rate>::read(raw)?,
            },
            _ => List::<Rate>::read(raw)?,
        };
        let rates = list.values();
        if rates.is_empty() || rates.len() > 100 || rates[0] < Rate(8) || !rates.is_sorted_by(|a, b| a < b) {
            return Err(format!("{raw} has to be 1 to 100 increasing rates: [\"1mbit\", \"3mbit\"]"));
        }
        Ok(Ladder(list))
    }
}

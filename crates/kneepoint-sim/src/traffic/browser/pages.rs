// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Pages as scenarios and files write them.

use std::fmt;
use std::sync::Arc;

use super::super::csv::{SIZE, is_csv, rows};
use super::super::har;
use super::super::sample::SIZES;
use crate::settings::{Raw, Setting};
use crate::units::Bytes;

/// The sizes of a page: its container's, then its objects'.
type Page = Arc<[Bytes]>;

/// Objects of a page, with its container.
const MOST: usize = 10_000;

/// Pages that are loaded in turn, at least one.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub struct Pages(pub(super) Arc<[Page]>);

impl Pages {
    /// A page as written: its sizes, as in `30kb 5kb 12kb`.
    fn page(raw: &Raw) -> Result<Page, String> {
        let wrong = || format!("{raw} is not a page: write the sizes of its objects, as in `30kb 5kb 12kb`");
        let Raw::Text(text) = raw else { return Err(wrong()) };
        let sizes = text.split_whitespace().map(str::parse).collect::<Result<Vec<Bytes>, _>>();
        Pages::checked(sizes.map_err(|_| wrong())?)
    }

    fn checked(sizes: Vec<Bytes>) -> Result<Page, String> {
        if sizes.is_empty() || sizes.len() > MOST {
            return Err(format!("a page of {} objects: expected 1 to {MOST}", sizes.len()));
        }
        match sizes.iter().find(|size| !SIZES.contains(size)) {
            Some(size) => Err(format!("{size} is outside the allowed range, {}", Bytes::describe(&SIZES))),
            None => Ok(sizes.into()),
        }
    }
}

impl fmt::Display for Pages {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let page = |page: &Page| page.iter().map(Bytes::to_string).collect::<Vec<_>>().join(" ");
        let pages: Vec<String> = self.0.iter().map(page).collect();
        match &pages[..] {
            [one] => f.write_str(one),
            many => write!(f, "[{}]", many.join(", ")),
        }
    }
}

impl Setting for Pages {
    const KIND: &'static str = "list of pages";
    const JSON: &'static [&'static str] = &["string", "array"];

    fn read(raw: &Raw) -> Result<Pages, String> {
        let pages = match raw {
            Raw::Text(text) if har::is_har(text) => {
                har::pages(text)?.into_iter().map(Pages::checked).collect::<Result<Vec<_>, _>>()?
            }
            Raw::Text(text) if is_csv(text) => {
                vec![Pages::checked(rows(text, &[SIZE], |cells| cells.first(SIZES))?)?]
            }
            Raw::List(pages) => pages.iter().map(Pages::page).collect::<Result<_, _>>()?,
            one => vec![Pages::page(one)?],
        };
        if pages.is_empty() {
            return Err("the list is empty: give one page or more".into());
        }
        Ok(Pages(pages.into()))
    }
}

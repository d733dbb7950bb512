// SPDX-License-Identifier: Apache-2.0 OR MIT
//! HAR files: the pages that a browser loaded, as its developer tools export them.
//!
//! Software Is Hard, "HTTP Archive (HAR) 1.2 Specification", 2012; `_transferSize` is an extension of Chromium's.
//!
//! The size of an object is the first of these that the file has: `_transferSize`; `headersSize + bodySize` of the response; the
//! size of its content. Empty objects came from a cache and are left out, and so are objects at `data:` addresses. The objects
//! of a page share its `pageref`; an object without one is its own page. Objects and pages come in the order of their
//! `startedDateTime`, as the specification asks of readers; a page that has none begins with its first object. Equal instants
//! keep the order of the file, and so does a file that has no instants at all.

mod instant;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::units::Bytes;
use instant::Instant;

#[derive(Deserialize)]
#[serde(expecting = "an object with `log`")]
struct File {
    log: Log,
}

#[derive(Deserialize)]
#[serde(expecting = "an object with `entries`")]
struct Log {
    #[serde(default)]
    pages: Option<Vec<Page>>,
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    id: Option<String>,
    started_date_time: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    pageref: Option<String>,
    started_date_time: Option<String>,
    request: Option<Asked>,
    response: Option<Answer>,
}

#[derive(Deserialize)]
struct Asked {
    url: Option<String>,
}

/// Sizes in bytes, negative where unknown.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    #[serde(rename = "_transferSize")]
    transfer_size: Option<f64>,
    headers_size: Option<f64>,
    body_size: Option<f64>,
    content: Option<Content>,
}

#[derive(Deserialize)]
struct Content {
    size: Option<f64>,
}

impl Answer {
    /// The size on the wire; zero if it came from a cache, or is unknown.
    fn size(&self) -> u64 {
        let known = |size: Option<f64>| size.filter(|size| *size >= 0.0).map(|size| size as u64);
        let headers = || known(self.headers_size).unwrap_or(0);
        // An empty body came from a cache, regardless of its headers.
        let body =
            known(self.body_size).map(|body| if body == 0 { 0 } else { body.saturating_add(headers()) });
        let content = || self.content.as_ref().and_then(|content| known(content.size));
        known(self.transfer_size).or(body).or_else(content).unwrap_or(0)
    }
}

/// Whether a file has the extension of HAR.
pub fn is_named(file: &str) -> bool {
    Path::new(file).extension().is_some_and(|end| end.eq_ignore_ascii_case("har"))
}

/// Whether a text is the contents of a HAR file rather than of another JSON document.
pub fn is_har(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with(['{', '['])
}

/// The fields read from an entry.
struct Object<'f> {
    page: &'f str,
    size: Bytes,
    /// None where the file has no instants.
    started: Option<Instant>,
}

/// Words of an address in an error, in characters.
const SHOWN: usize = 60;

impl Entry {
    fn url(&self) -> &str {
        self.request.as_ref().and_then(|request| request.url.as_deref()).unwrap_or_default()
    }

    /// Its size, unless it is left out.
    fn size(&self) -> Option<Bytes> {
        let size = self.response.as_ref().map_or(0, Answer::size);
        (size > 0 && !self.url().starts_with("data:")).then_some(Bytes(size))
    }

    /// Its place in the file, from 1, and its address.
    fn place(&self, index: usize) -> String {
        let mut url: String = self.url().chars().take(SHOWN).collect();
        if url.len() < self.url().len() {
            url.push('…');
        }
        format!("entry {} ({url})", index + 1)
    }

    /// The time at which it began; every entry of a file must have it if one `dated` entry does.
    fn started(&self, index: usize, dated: bool) -> Result<Option<Instant>, String> {
        match &self.started_date_time {
            Some(text) => {
                let read =
                    text.parse().map_err(|wrong| format!("{}: startedDateTime {wrong}", self.place(index)));
                read.map(Some)
            }
            None if !dated => Ok(None),
            None => Err(format!(
                "{} has no startedDateTime, and others have one: add it, or remove it from all to keep the order of the file",
                self.place(index)
            )),
        }
    }
}

impl Log {
    /// The objects in the order of their beginnings.
    fn objects<'l>(&'l self) -> Result<Vec<Object<'l>>, String> {
        let sized =
            self.entries.iter().enumerate().filter_map(|(index, entry)| Some((index, entry, entry.size()?)));
        let sized = sized.collect::<Vec<_>>();
        let dated = sized.iter().any(|(_, entry, _)| entry.started_date_time.is_some());
        let object = |(index, entry, size): (usize, &'l Entry, Bytes)| {
            let page = entry.pageref.as_deref().unwrap_or_default();
            Ok(Object { page, size, started: entry.started(index, dated)? })
        };
        let mut objects = sized.into_iter().map(object).collect::<Result<Vec<_>, String>>()?;
        objects.sort_by_key(|one| one.started);
        Ok(objects)
    }

    /// When pages began by their own records, as far as the file says it: the text of the first record of each that has one.
    fn began(&self) -> BTreeMap<&str, &str> {
        let mut began = BTreeMap::new();
        for Page { id, started_date_time } in self.pages.iter().flatten() {
            if let (Some(id), Some(started)) = (id, started_date_time) {
                began.entry(id.as_str()).or_insert(started.as_str());
            }
        }
        began
    }
}

/// Values by their keys, in the order of their first appearance.
fn grouped<K: Ord + Copy, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let (mut places, mut groups) = (BTreeMap::new(), Vec::<(K, Vec<V>)>::new());
    for (key, value) in pairs {
        let place = *places.entry(key).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

/// The sizes of each page's objects.
pub(super) fn pages(text: &str) -> Result<Vec<Vec<Bytes>>, String> {
    let file: File = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|wrong| format!("not a HAR file: {wrong}: export it from a browser's developer tools"))?;
    let own = file.log.began();
    let by_page = file.log.objects()?.into_iter().map(|object| (object.page, object));
    let page = |(id, objects): (&str, Vec<Object>)| -> Result<_, String> {
        let began = match own.get(id) {
            Some(started) => {
                Some(started.parse().map_err(|wrong| format!("page `{id}`: startedDateTime {wrong}"))?)
            }
            None => objects.first().and_then(|first| first.started),
        };
        Ok((began, objects.iter().map(|object| object.size).collect()))
    };
    let mut pages: Vec<(Option<Instant>, Vec<Bytes>)> =
        grouped(by_page).into_iter().map(page).collect::<Result<_, _>>()?;
    if pages.is_empty() {
        return Err("no object in the HAR file has a size: record the page load with an empty cache".into());
    }
    if pages.iter().all(|(began, _)| began.is_some()) {
        pages.sort_by_key(|(began, _)| *began);
    }
    Ok(pages.into_iter().map(|(_, sizes)| sizes).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(entries: &str) -> String {
        format!(r#"{{"log": {{"version": "1.2", "entries": [{entries}]}}}}"#)
    }

    fn entry(page: &str, url: &str, response: &str) -> String {
        format!(r#"{{"pageref": "{page}", "request": {{"url": "{url}"}}, "response": {{{response}}}}}"#)
    }

    #[test]
    fn objects_belong_to_their_pages_with_the_best_known_size() {
        let entries = [
            entry(
                "a",
                "https://x/",
                r#""_transferSize": 900, "headersSize": 1, "bodySize": 1, "content": {"size": 7000}"#,
            ),
            entry("b", "https://y/", r#""headersSize": 200, "bodySize": 1000, "content": {"size": 5000}"#),
            entry("a", "https://x/1", r#""headersSize": -1, "bodySize": -1, "content": {"size": 300}"#),
            entry("a", "https://x/cached", r#""_transferSize": 0, "bodySize": 0, "content": {"size": 300}"#),
            entry("a", "data:image/png", r#""bodySize": 99, "content": {"size": 99}"#),
            entry("b", "https://y/2", r#""headersSize": -1, "bodySize": 40.0, "content": {}"#),
            entry("b", "https://y/cached", r#""headersSize": 300, "bodySize": 0, "content": {"size": 9}"#),
            r#"{"pageref": null, "request": {}, "response": null}"#.to_string(),
        ];
        let pages = pages(&file(&entries.join(","))).unwrap();
        assert_eq!(pages, [vec![Bytes(900), Bytes(300)], vec![Bytes(1200), Bytes(40)]]);
    }

    /// An entry of a page that begins at an instant and has a size.
    fn dated(page: &str, started: &str, size: u64) -> String {
        let request = format!(r#""request": {{"url": "https://x/{size}"}}"#);
        format!(
            r#"{{"pageref": "{page}", "startedDateTime": "{started}", {request}, "response": {{"bodySize": {size}}}}}"#
        )
    }

    #[test]
    fn objects_come_in_the_order_in_which_they_began_whatever_that_of_the_file() {
        let mut entries = [
            dated("p", "2025-11-24T10:00:00.000Z", 20),
            // Offsets ahead of UTC and behind it.
            dated("p", "2025-11-24T23:45:00.200+13:45", 50),
            dated("p", "2025-11-24T05:00:00.300-0500", 80),
            dated("p", "2025-11-24T10:00:00.300Z", 81),
        ];
        let expected = [[20, 50, 80, 81].map(Bytes).to_vec()];
        assert_eq!(pages(&file(&entries.join(","))).unwrap(), expected);
        entries.swap(0, 2);
        entries.swap(0, 1);
        let said = "equal instants keep their order";
        assert_eq!(pages(&file(&entries.join(","))).unwrap(), expected, "{said}");
    }

    #[test]
    fn pages_come_in_the_order_in_which_they_began() {
        let entries = [
            dated("second", "2025-11-24T10:00:07Z", 21),
            dated("first", "2025-11-24T10:00:02Z", 12),
            dated("second", "2025-11-24T10:00:06Z", 20),
            dated("first", "2025-11-24T10:00:08Z", 13),
        ];
        let sizes = |pages: Vec<Vec<Bytes>>| -> Vec<Vec<u64>> {
            pages.iter().map(|page| page.iter().map(|size| size.0).collect()).collect()
        };
        let without = pages(&file(&entries.join(","))).unwrap();
        assert_eq!(sizes(without), [[12, 13], [20, 21]], "by their first objects");
        // Their own instants count if the file has them.
        let page = |id, at| format!(r#"{{"id": "{id}", "startedDateTime": "{at}"}}"#);
        let own = [page("first", "2025-11-24T11:00:01+01:00"), page("second", "2025-11-24T10:00:00Z")];
        let text =
            format!(r#"{{"log": {{"pages": [{}], "entries": [{}]}}}}"#, own.join(","), entries.join(","));
        assert_eq!(sizes(pages(&text).unwrap()), [[20, 21], [12, 13]]);
    }

    #[test]
    fn twice_as_many_pages_take_twice_the_work() {
        use std::cell::Cell;
        use std::cmp::Ordering;
        thread_local!(static COMPARED: Cell<u64> = const { Cell::new(0) });
        #[derive(Clone, Copy, PartialEq, Eq)]
        struct Counted(u32);
        impl PartialOrd for Counted {
            fn partial_cmp(&self, other: &Counted) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }
        impl Ord for Counted {
            fn cmp(&self, other: &Counted) -> Ordering {
                COMPARED.set(COMPARED.get() + 1);
                self.0.cmp(&other.0)
            }
        }
        let compared = |pages: u32| {
            COMPARED.set(0);
            // Two objects of each page, in an order that is none.
            let keys = (0..2 * pages).map(|place| Counted(place * 7919 % pages));
            assert_eq!(grouped(keys.map(|key| (key, ()))).len() as u32, pages);
            COMPARED.get()
        };
        let (once, twice) = (compared(5000), compared(10_000));
        assert!(once > 0 && twice < 5 * once / 2, "{once} and {twice}");
        // Comparing each page with each other one took hours here.
        let entries: Vec<String> =
            (0..100_000).map(|page| dated(&format!("p{page}"), "2025-11-24T10:00:00Z", 9)).collect();
        let own: Vec<String> = (0..100_000)
            .map(|page| format!(r#"{{"id": "p{page}", "startedDateTime": "2025-11-24T10:00:00Z"}}"#))
            .collect();
        let text =
            format!(r#"{{"log": {{"pages": [{}], "entries": [{}]}}}}"#, own.join(","), entries.join(","));
        assert_eq!(pages(&text).unwrap().len(), 100_000);
    }

    #[test]
    fn an_instant_that_is_missing_or_wrong_is_refused_with_its_entry() {
        let good = dated("p", "2025-11-24T10:00:00Z", 20);
        let none = entry("p", "https://x/late", r#""bodySize": 5"#);
        let said = pages(&file(&format!("{good},{none}"))).unwrap_err();
        assert!(said.starts_with("entry 2 (https://x/late) has no startedDateTime, and others"), "{said}");
        let wrong = pages(&file(&format!("{good},{}", dated("p", "10 o'clock", 7)))).unwrap_err();
        assert!(
            wrong.starts_with("entry 2 (https://x/7): startedDateTime `10 o'clock` is not a date"),
            "{wrong}"
        );
        let text = format!(
            r#"{{"log": {{"pages": [{{"id": "p", "startedDateTime": "now"}}], "entries": [{good}]}}}}"#
        );
        assert!(pages(&text).unwrap_err().starts_with("page `p`: startedDateTime `now`"));
        // Omitted parts need none.
        let cached = entry("p", "https://x/cached", r#""bodySize": 0"#);
        assert_eq!(pages(&file(&format!("{good},{cached}"))).unwrap(), [vec![Bytes(20)]]);
    }

    #[test]
    fn a_fault_says_where_and_what_to_do() {
        let wrong = pages("{\"log\": {}}").unwrap_err();
        assert!(wrong.starts_with("not a HAR file: missing field `entries` at line 1"), "{wrong}");
        assert!(pages("{\"log\":").unwrap_err().contains("line 1"));
        assert!(pages("{\"log\": 1}").unwrap_err().contains("expected an object with `entries` at line 1"));
        assert!(pages("[1]").unwrap_err().starts_with("not a HAR file: "));
        assert!(pages(&file("")).unwrap_err().contains("empty cache"));
    }
}

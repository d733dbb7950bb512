// SPDX-License-Identifier: Apache-2.0 OR MIT
//! HAR files: the pages that a browser loaded, as its developer tools export them.
//!
//! Software Is Hard, "HTTP Archive (HAR) 1.2 Specification", 2012; `_transferSize` is an extension of Chromium's.
//!
//! The size of an object is the first of these that the file has: `_transferSize`; `headersSize + bodySize` of the response; the
//! size of its content. Objects of no bytes came from a cache and are left out, and so are those of `data:` addresses.
//! The objects of a page are those of its `pageref`, in the order of the file; those without one are a page of their own.

use std::path::Path;

use serde::Deserialize;

use crate::units::Bytes;

#[derive(Deserialize)]
#[serde(expecting = "an object with `log`")]
struct File {
    log: Log,
}

#[derive(Deserialize)]
#[serde(expecting = "an object with `entries`")]
struct Log {
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    pageref: Option<String>,
    request: Option<Asked>,
    response: Option<Answer>,
}

#[derive(Deserialize)]
struct Asked {
    url: Option<String>,
}

/// Sizes in bytes, below zero where they are not known.
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
    /// The size on the wire; zero where it came from a cache, or nothing is known.
    fn size(&self) -> u64 {
        let known = |size: Option<f64>| size.filter(|size| *size >= 0.0).map(|size| size as u64);
        let headers = || known(self.headers_size).unwrap_or(0);
        // A body of no bytes came from a cache, whatever its headers.
        let body =
            known(self.body_size).map(|body| if body == 0 { 0 } else { body.saturating_add(headers()) });
        let content = || self.content.as_ref().and_then(|content| known(content.size));
        known(self.transfer_size).or(body).or_else(content).unwrap_or(0)
    }
}

/// Whether a file has the extension of HAR.
pub(crate) fn is_named(file: &str) -> bool {
    Path::new(file).extension().is_some_and(|end| end.eq_ignore_ascii_case("har"))
}

/// Whether a text is the contents of a HAR file, or of another of JSON.
pub(crate) fn is_har(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with(['{', '['])
}

/// The sizes of each page's objects.
pub(super) fn pages(text: &str) -> Result<Vec<Vec<Bytes>>, String> {
    let file: File = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|wrong| format!("not a HAR file: {wrong}: export it from a browser's developer tools"))?;
    let mut pages: Vec<(&str, Vec<Bytes>)> = Vec::new();
    for entry in &file.log.entries {
        let size = entry.response.as_ref().map_or(0, Answer::size);
        let url = entry.request.as_ref().and_then(|request| request.url.as_deref());
        if size == 0 || url.is_some_and(|url| url.starts_with("data:")) {
            continue;
        }
        let page = entry.pageref.as_deref().unwrap_or_default();
        match pages.iter_mut().find(|(other, _)| *other == page) {
            Some((_, sizes)) => sizes.push(Bytes(size)),
            None => pages.push((page, vec![Bytes(size)])),
        }
    }
    if pages.is_empty() {
        return Err("no object in the HAR file has a size: record the page load with an empty cache".into());
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The short transfers that `knee compare` adds to long ones.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use kneepoint::settings::Raw;
use kneepoint::study::dumbbell::Sessions;
use kneepoint::traffic::browser::Http;
use kneepoint_bench::files;

use crate::failure::Failure;
use crate::values::{OneOf, of_range};

/// Options of the traffic.
#[derive(Args)]
pub struct Workload {
    /// The traffic, and with it the default schemes and bottleneck
    #[arg(long, value_enum, default_value_t = Kind::Bulk, ignore_case = true)]
    workload: Kind,
    /// Web sessions next to the long transfers: of pages, one every 15 s on average, or with --workload web of objects, one after another [with --workload web: 100]
    #[arg(
        long,
        default_value_t = 0,
        default_value_if("workload", "web", "100"),
        value_name = "N",
        value_parser = of_range::<u32>(0..=100_000)
    )]
    web: u32,
    /// Sizes of web objects to draw from: a CSV file with a column size_bytes, size_kb or size_mb
    #[arg(long, value_name = "FILE", conflicts_with = "page")]
    sizes: Option<PathBuf>,
    /// Pages that web sessions load: a HAR file as a browser exports it, or a CSV file as for --sizes
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// Use of connections by the objects of a page
    #[arg(long, default_value = "http/2", requires = "page", value_parser = OneOf::of(Http::ALL.iter().map(|http| http.name())))]
    protocol: String,
}

/// The purpose of the traffic.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Long transfers; --web adds sessions with a page every 15 s
    Bulk,
    /// Objects of a web site next to long transfers: which queue gives them the best times, and at what cost?
    Web,
}

/// The schemes that are compared if none is given.
const BULK: &[&str] = &["pert", "sack/droptail", "sack/red-ecn", "vegas/droptail"];
/// None of them marks: otherwise marks of some would be compared with drops of others.
const WEB: &[&str] = &[
    "sack/droptail",
    "sack/pi",
    "sack/pisa",
    "sack/pimc",
    "sack/codel",
    "sack/fq-codel:ecn=false",
    "sack/cake:ecn=false",
    "sack/dualpi2:ecn=false",
];

/// Sessions, and the files that their scenario names.
pub struct Chosen {
    section: &'static str,
    count: u32,
    fields: Vec<(&'static str, Raw)>,
    /// Texts by name.
    pub files: BTreeMap<String, String>,
}

impl Chosen {
    /// The sessions of a scenario.
    pub fn sessions(&self) -> Sessions<'_> {
        Sessions { section: self.section, count: self.count, fields: &self.fields }
    }
}

impl Workload {
    /// Whether objects of a web site are compared.
    pub fn is_web(&self) -> bool {
        self.workload == Kind::Web
    }

    /// The schemes to compare.
    pub fn schemes(&self) -> Vec<String> {
        let names = if self.workload == Kind::Web { WEB } else { BULK };
        names.iter().map(|name| name.to_string()).collect()
    }

    /// Words of a title.
    pub fn title(&self) -> String {
        let named = |file: &Option<PathBuf>| file.as_deref().map(|file| brief(&name(file)));
        match (self.web, named(&self.page), named(&self.sizes)) {
            (0, ..) => String::new(),
            (web, Some(page), _) => format!(", {web} sessions that load {page} over {}", self.protocol),
            (web, _, Some(sizes)) => format!(", {web} web sessions of {sizes}"),
            (web, ..) if self.is_web() => format!(", {web} web sessions of objects"),
            (web, ..) => format!(", {web} web sessions of pages"),
        }
    }

    /// Options of TCP, with a handshake for web objects: opening a connection takes a large part of a short transfer's time.
    pub fn tcp(&self, mut options: Vec<(String, Raw)>) -> Vec<(String, Raw)> {
        if self.workload == Kind::Web && options.iter().all(|(name, _)| name != "handshake") {
            options.push(("handshake".into(), Raw::Bool(true)));
        }
        options
    }

    /// The sessions with their parameters.
    pub fn choose(&self) -> Result<Chosen, Failure> {
        let mut chosen =
            Chosen { section: "web", count: self.web, fields: Vec::new(), files: BTreeMap::new() };
        let file = self.page.as_deref().or(self.sizes.as_deref());
        if self.workload == Kind::Bulk {
            return match file {
                None => Ok(chosen),
                Some(_) => Err(Failure::usage(
                    "--sizes and --page describe web objects, and the workload is `bulk`",
                    "add --workload web",
                )),
            };
        }
        let text = |value: &str| Raw::Text(value.into());
        chosen.section = "browser";
        chosen.fields = match (&self.page, &self.sizes) {
            (Some(_), _) => vec![("protocol", text(&self.protocol))],
            // Objects one after another, each with its own connection, half a second apart.
            (None, sizes) => {
                let apart =
                    [("protocol", text("http/1.0")), ("gap", text("500ms")), ("gap_law", text("constant"))];
                let drawn = [
                    ("law", text("lomax")),
                    ("size", text("10kb")),
                    ("least", text("1kb")),
                    ("greatest", text("2mb")),
                ];
                let drawn = drawn.into_iter().filter(|_| sizes.is_none());
                apart.into_iter().chain(drawn).collect()
            }
        };
        if let Some(file) = file {
            let field = if self.page.is_some() { "pages_file" } else { "sizes_file" };
            chosen.fields.insert(0, (field, text(&name(file))));
            let content = files::data(file).map_err(|why| {
                Failure::run(why, "give a CSV file, or a HAR file as the network panel of a browser's developer tools exports it")
            })?;
            chosen.files.insert(name(file), content);
        }
        Ok(chosen)
    }
}

/// The name of a file next to the scenario that names it.
fn name(file: &Path) -> String {
    file.file_name().map_or_else(|| file.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// Bytes of a file's name in a title, which is not the place where it is read.
const LONGEST: usize = 27;
/// Of these the last ones, in which names of one kind differ.
const END: usize = 11;

/// The name of a file, with an ellipsis in its middle where it is long.
fn brief(name: &str) -> String {
    if name.len() <= LONGEST {
        return name.to_string();
    }
    let begin = name.floor_char_boundary(LONGEST - END - '…'.len_utf8());
    format!("{}…{}", &name[..begin], &name[name.ceil_char_boundary(name.len() - END)..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_tell_pages_from_objects() {
        let of =
            |kind| Workload { workload: kind, web: 20, sizes: None, page: None, protocol: String::new() };
        let titles = [Kind::Bulk, Kind::Web].map(|kind| of(kind).title());
        assert_eq!(titles, [", 20 web sessions of pages", ", 20 web sessions of objects"]);
    }

    #[test]
    fn a_long_name_keeps_its_begin_and_its_end_within_whole_characters() {
        assert_eq!(brief("www.example.org_Archive.har"), "www.example.org_Archive.har");
        assert_eq!(brief("www.example.org_Archive [25-11-24 10-00-00].har"), "www.example.o…-00-00].har");
        assert_eq!(brief("ページの読み込み記録二〇二五年.har"), "ページの…五年.har");
        for length in 1..80 {
            assert!(brief(&"é".repeat(length)).len() <= LONGEST);
        }
    }
}

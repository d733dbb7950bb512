// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee studio`: the page that simulates while a reader drags its sliders, with a scenario in it.
//!
//! The page is one file that needs no server. It is not part of the program: `make studio` builds it, and it is found
//! next to the program or where that leaves it.

mod server;

use std::path::{Path, PathBuf};

use clap::Args;
use kneepoint::report::studio;
use kneepoint_bench::files;
use kneepoint_bench::session::Session;
use serde_json::{Value, json};

use super::Verb;
use crate::failure::Failure;
use crate::values::of_range;

/// Open a scenario in a page that simulates as you drag its sliders
#[derive(Args)]
#[command(after_help = "\
Examples:
  knee studio                               serve it to this machine's browsers
  knee studio my.toml --out my.html         write a file that any browser opens")]
pub struct Arguments {
    /// A scenario in TOML; the presets of the page without one
    file: Option<PathBuf>,
    /// Write the page to this file instead of serving it
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The port on this machine; any free one with 0 [default: 5633, where links in reports lead, or any free one]
    #[arg(long, value_name = "PORT", value_parser = of_range::<u16>(0..=u16::MAX), conflicts_with = "out")]
    port: Option<u16>,
    /// The page that `make studio` built [default: studio.html next to the program, or out/studio/index.html]
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
}

pub const VERB: Verb<Arguments> = Verb { act, answer: None };

/// The place of a scenario in the page.
const ROOM: &str = "<!-- own -->";
/// A page is smaller.
const LARGEST: u64 = 64 << 20;

/// Writes the page or serves it.
fn act(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let page = found(arguments.page.as_deref())?;
    let page = match &arguments.file {
        Some(file) => page.with(&scenario(session, file)?),
        None => page.whole(),
    };
    if let Some(out) = &arguments.out {
        files::write(out, &page)?;
        return match as_json {
            true => session.print_json(&json!({ "page": out, "address": null })),
            false => session.print(format!("wrote {}: any browser opens it", out.display())),
        };
    }
    let server = match arguments.port {
        Some(port) => server::Server::on(port)?,
        None => server::Server::on(studio::PORT).or_else(|_| server::Server::on(0))?,
    };
    let address = server.address();
    match as_json {
        true => session.print_json(&json!({ "page": null, "address": address }))?,
        false => session
            .print(format!("the studio is at {address} for browsers of this machine; Ctrl-C ends it"))?,
    }
    server.serve(session, page.as_bytes())
}

/// A scenario that the page can run, which has no access to files.
fn scenario(session: &Session, file: &Path) -> Result<String, Failure> {
    let text = files::read_text(session, file)?;
    match session.extensions().parse(&text) {
        Ok(_) => Ok(text),
        Err(faults) => Err(Failure::Scenario { origin: file.display().to_string(), text, faults }),
    }
}

/// The studio: the text before and after the place of a scenario.
struct Page(String, String);

impl Page {
    fn of(text: &str) -> Option<Page> {
        text.split_once(ROOM).map(|(before, after)| Page(before.into(), after.into()))
    }

    /// With only its presets.
    fn whole(&self) -> String {
        format!("{}{ROOM}{}", self.0, self.1)
    }

    /// With a scenario in it.
    fn with(&self, text: &str) -> String {
        // No character of a text can end its element.
        let quoted = Value::from(text).to_string().replace('<', "\\u003c");
        format!("{}<script type=\"application/json\" id=\"own\">{quoted}</script>{}", self.0, self.1)
    }
}

/// The page that was named, or else the first that is there.
fn found(named: Option<&Path>) -> Result<Page, Failure> {
    let beside = std::env::current_exe().ok().map(|program| program.with_file_name("studio.html"));
    let usual = beside.into_iter().chain([PathBuf::from("out/studio/index.html")]);
    let path = match named {
        Some(named) => named.to_path_buf(),
        None => usual.clone().find(|path| path.is_file()).ok_or_else(|| {
            let places = usual.map(|path| path.display().to_string()).collect::<Vec<_>>().join(" nor ");
            let remedy = "`make studio` builds it in the sources; --page names it elsewhere";
            Failure::run(format!("there is neither {places}"), remedy)
        })?,
    };
    let bytes = files::read_bytes(&path, LARGEST)?;
    String::from_utf8(bytes).ok().as_deref().and_then(Page::of).ok_or_else(|| {
        Failure::run(
            format!("`{}` is not the studio", path.display()),
            "name the file that `make studio` wrote",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_scenario_ends_the_element_that_it_is_in() {
        let page = Page::of("<body><!-- own --></body>").expect("room").with("name = '</script>'\n");
        assert_eq!(page.matches("</script>").count(), 1, "{page}");
        let quoted = page.split_once("id=\"own\">").unwrap().1.split_once("</script>").unwrap().0;
        assert_eq!(serde_json::from_str::<String>(quoted).unwrap(), "name = '</script>'\n");
    }
}

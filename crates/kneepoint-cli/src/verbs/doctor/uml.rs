// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The kernel of `knee live --on uml`: whether it is there, and how it is built.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use kneepoint_bench::machine;
use kneepoint_bench::session::Session;
use kneepoint_linux::uml::{Build, PACKAGE, Recipe, Source};

use super::Finding;
use crate::failure::Failure;
use crate::hosts::uml::{cache, recipe};

/// How to build a kernel.
#[derive(Args)]
pub struct Options {
    /// Build a Linux that runs in virtual time, for `knee live --on uml`, unless it is there: from the distribution's source, into this user's cache
    #[arg(long, conflicts_with = "clean")]
    build_uml: bool,
    /// The archive of the kernel's source, as Debian packages it [default: the one in /usr/src, or else downloaded]
    #[arg(long, value_name = "FILE", requires = "build_uml")]
    source: Option<PathBuf>,
    /// Apply a patch to the kernel, which is kept in addition to others; repeated, in this order
    #[arg(long, value_name = "FILE", requires = "build_uml")]
    patch: Vec<PathBuf>,
}

impl Options {
    /// If requested, lists what it takes, and builds.
    #[expect(clippy::disallowed_methods, reason = "the duration of a build is printed")]
    pub fn build(&self, session: &Session) -> Result<(), Failure> {
        if !self.build_uml {
            return Ok(());
        }
        let (recipe, cache) = (recipe(&self.patch)?, cache()?);
        // A damaged one is not found.
        if self.source.is_none()
            && let Ok(Some(built)) = recipe.find(&cache)
        {
            session.tell(format!("built already: {}: {}", built.about, built.program.display()));
            return Ok(());
        }
        let source = self.source.clone().map_or_else(Source::of_machine, Source::Archive);
        let download = match &source {
            Source::Archive(path) => format!("from {}", path.display()),
            Source::Package(name) => format!("from {name}, which is downloaded: 150 MB"),
        };
        let build = Build::new(&recipe, &cache, source, machine::cores());
        let lacks = build.lacks();
        if !lacks.is_empty() {
            let message = format!("a kernel cannot be built without {}", lacks.join(", "));
            return Err(Failure::run(message, format!("apt-get install -y {}", lacks.join(" "))));
        }
        session.tell(format!(
            "building Linux as a user process {download}; once, some ten minutes on two cores and 3 GB of {} while it lasts",
            cache.display()
        ));
        let began = Instant::now();
        let built = build.run(&|step| session.tell(format!("{:>4} s  {step}", began.elapsed().as_secs())));
        let built = built.map_err(|error| {
            let remedy = if self.patch.is_empty() { "" } else { ", or leave --patch out" };
            Failure::run(
                format!("the kernel was not built: {error}"),
                format!("give another --source: Debian's {PACKAGE} is known to work{remedy}"),
            )
        })?;
        let seconds = began.elapsed().as_secs();
        session.tell(format!("{seconds:>4} s  {}: {}", built.about, built.program.display()));
        Ok(())
    }
}

/// Whether it exists.
pub fn finding() -> Finding {
    let found = cache().ok().map(|cache| (Recipe::new(Vec::new()).find(&cache), cache));
    let (available, detail) = match found {
        Some((Ok(Some(kernel)), _)) => (true, kernel.about),
        Some((Err(error), _)) => (false, error.to_string()),
        Some((Ok(None), cache)) => (false, not_built(&cache)),
        None => (false, "this user has no cache: set HOME or XDG_CACHE_HOME".into()),
    };
    Finding {
        name: "Linux in virtual time",
        available,
        detail,
        used_for: "the kernel's queues without root: knee live --on uml",
    }
}

fn not_built(cache: &Path) -> String {
    format!("not built in {}; `knee doctor --build-uml`, ten minutes", cache.display())
}

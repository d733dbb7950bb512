// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Builds a kernel: unpack, patch, configure, compile, keep.

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{CONFIG, DIGITS, Kernel, MANIFEST, PROGRAM, Recipe, additions, hash_of};

/// The place of the kernel's source in Debian and Ubuntu.
const SOURCES: &str = "/usr/src";
/// The package, if none is installed: a long-term support kernel, for which the configuration and the patch are made.
pub const PACKAGE: &str = "linux-source-6.12";
/// Requirements of a build, with the Debian package of each.
const TOOLS: [(&str, &str); 9] = [
    ("tar", "tar"),
    ("xz", "xz-utils"),
    ("patch", "patch"),
    ("make", "make"),
    ("gcc", "gcc"),
    ("ld", "binutils"),
    ("flex", "flex"),
    ("bison", "bison"),
    ("bc", "bc"),
];
const PREFIX: &str = "building-";

/// The origin of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// This archive.
    Archive(PathBuf),
    /// The package of this name, by `apt-get download`, which everybody may do.
    Package(&'static str),
}

/// A step of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The package is fetched.
    Downloads,
    /// The archive is unpacked.
    Unpacks,
    /// Patches are applied.
    Patches,
    /// It is configured.
    Configures,
    /// It is compiled.
    Compiles,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Step::Downloads => "downloading the source",
            Step::Unpacks => "unpacking the source",
            Step::Patches => "applying patches",
            Step::Configures => "configuring",
            Step::Compiles => "compiling",
        })
    }
}

impl Source {
    /// The one that this machine has, or else the package.
    pub fn of_machine() -> Source {
        newest(Path::new(SOURCES)).map_or(Source::Package(PACKAGE), Source::Archive)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Source::Archive(path) => path.display().fmt(f),
            Source::Package(name) => write!(f, "the package {name}"),
        }
    }
}

/// The archive `linux-source-VERSION.tar.xz` of the latest version.
fn newest(folder: &Path) -> Option<PathBuf> {
    let version = |path: &Path| {
        let name = path.file_name()?.to_str()?.strip_prefix("linux-source-")?.strip_suffix(".tar.xz")?;
        name.split('.').map(|part| part.parse().ok()).collect::<Option<Vec<u32>>>()
    };
    let paths = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let versions = paths.filter_map(|path| Some((version(&path)?, path)));
    versions.max().map(|(_, path)| path)
}

/// A build that can begin.
#[derive(Debug)]
pub struct Build<'r> {
    recipe: &'r Recipe,
    cache: &'r Path,
    source: Source,
    jobs: usize,
}

impl<'r> Build<'r> {
    /// A build into this cache, with this many compilers at a time.
    pub fn new(recipe: &'r Recipe, cache: &'r Path, source: Source, jobs: usize) -> Build<'r> {
        Build { recipe, cache, source, jobs }
    }

    /// Packages of Debian that this machine lacks for it.
    pub fn lacks(&self) -> Vec<&'static str> {
        let lacks = |tool: &str| {
            let path = std::env::var_os("PATH").unwrap_or_default();
            !std::env::split_paths(&path).any(|folder| folder.join(tool).is_file())
        };
        TOOLS.iter().filter(|(tool, _)| lacks(tool)).map(|(_, package)| *package).collect()
    }

    /// Builds it, and keeps it. Everything is done as this user, and only in the cache.
    pub fn run(&self, tell: &dyn Fn(Step)) -> io::Result<Kernel> {
        fs::create_dir_all(self.cache)?;
        sweep(self.cache);
        let place = Place::new(self.cache)?;
        let log = place.0.join("log");
        let archive = self.archive(&place.0, &log, tell)?;
        let source = hash_of(&archive)?;
        tell(Step::Unpacks);
        let tree = place.0.join("tree");
        fs::create_dir(&tree)?;
        let unpack = ["xf", text(&archive)?, "-C", text(&tree)?, "--strip-components=1"];
        done(Command::new("tar").args(unpack), &log)?;
        tell(Step::Patches);
        for (name, patch) in &self.recipe.patches {
            let file = place.0.join("patch");
            fs::write(&file, patch)?;
            let mut command = Command::new("patch");
            command.args(["-p1", "--force", "-i", text(&file)?]).current_dir(&tree);
            done(&mut command, &log).map_err(|error| io::Error::other(format!("{name}: {error}")))?;
        }
        additions::put(&tree)?;
        tell(Step::Configures);
        self.configure(&tree, &log)?;
        tell(Step::Compiles);
        done(make(&tree).arg(format!("-j{}", self.jobs)).arg(PROGRAM), &log)?;
        self.keep(&tree, &source, &place.0)
    }

    fn archive(&self, place: &Path, log: &Path, tell: &dyn Fn(Step)) -> io::Result<PathBuf> {
        let package = match &self.source {
            Source::Archive(path) => return Ok(path.clone()),
            Source::Package(package) => package,
        };
        tell(Step::Downloads);
        done(Command::new("apt-get").args(["download", package]).current_dir(place), log)?;
        let is_package = |path: &PathBuf| path.extension().is_some_and(|end| end == "deb");
        let found = fs::read_dir(place)?.flatten().map(|entry| entry.path()).find(is_package);
        let found = found.ok_or_else(|| io::Error::other(format!("no package {package} came")))?;
        done(Command::new("dpkg-deb").args(["-x", text(&found)?, text(&place.join("package"))?]), log)?;
        let inside = place.join("package").join(SOURCES.trim_start_matches('/'));
        newest(&inside).ok_or_else(|| io::Error::other(format!("{package} has no archive of the source")))
    }

    fn configure(&self, tree: &Path, log: &Path) -> io::Result<()> {
        fs::write(tree.join("knee.config"), CONFIG)?;
        done(make(tree).arg("tinyconfig"), log)?;
        let merge = ["-m", ".config", "knee.config"];
        done(Command::new("scripts/kconfig/merge_config.sh").args(merge).current_dir(tree), log)?;
        done(make(tree).arg("olddefconfig"), log)?;
        let made = fs::read_to_string(tree.join(".config"))?;
        let lacks: Vec<&str> = CONFIG
            .lines()
            .filter(|line| line.starts_with("CONFIG_") && !made.lines().any(|one| one == *line))
            .collect();
        if lacks.is_empty() {
            return Ok(());
        }
        Err(io::Error::other(format!("this source cannot have {}", lacks.join(", "))))
    }

    /// The program with its manifest takes its place at once.
    fn keep(&self, tree: &Path, source: &str, place: &Path) -> io::Result<Kernel> {
        let version = fs::read_to_string(tree.join("include/config/kernel.release"))?;
        let made = place.join("made");
        fs::create_dir(&made)?;
        fs::copy(tree.join(PROGRAM), made.join(PROGRAM))?;
        let patches: Vec<&str> = self.recipe.patches.iter().skip(1).map(|(name, _)| name.as_str()).collect();
        let patched =
            if patches.is_empty() { String::new() } else { format!(" with {}", patches.join(", ")) };
        let manifest = format!(
            "version {}\nfrom {}{patched}\nsource {source}\nrecipe {}\nprogram {}\n",
            version.trim(),
            self.source,
            self.recipe.hash(),
            hash_of(&made.join(PROGRAM))?
        );
        fs::write(made.join(MANIFEST), manifest)?;
        let name = format!("{}-{}", &self.recipe.hash()[..DIGITS], &source[..DIGITS]);
        let kept = self.cache.join(name);
        // An earlier build of the same kernel is replaced.
        if kept.exists() {
            fs::rename(&kept, place.join("earlier"))?;
        }
        fs::rename(&made, &kept)?;
        Kernel::open(&kept)
    }
}

/// A directory for a build, with a lock; it is removed when dropped.
struct Place(PathBuf, #[expect(dead_code, reason = "it is locked as long as it is open")] File);

impl Place {
    fn new(cache: &Path) -> io::Result<Place> {
        let directory = cache.join(format!("{PREFIX}{}", std::process::id()));
        // The directory of an ended process of the same number.
        if directory.exists() {
            fs::remove_dir_all(&directory)?;
        }
        fs::create_dir(&directory)?;
        let lock = File::create(directory.join("lock"))?;
        lock.lock()?;
        Ok(Place(directory, lock))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Removes leftovers of killed builds.
fn sweep(cache: &Path) {
    for entry in fs::read_dir(cache).into_iter().flatten().flatten() {
        let ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        let lock = File::open(entry.path().join("lock"));
        if ours && lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn make(tree: &Path) -> Command {
    let mut command = Command::new("make");
    command.arg("ARCH=um").current_dir(tree).env_remove("MAKEFLAGS").env_remove("MAKELEVEL");
    command
}

fn text(path: &Path) -> io::Result<&str> {
    path.to_str().ok_or_else(|| io::Error::other(format!("{} is not UTF-8", path.display())))
}

/// Waits for a program, whose output goes to the log; the error of a failed one has its last lines.
fn done(command: &mut Command, log: &Path) -> io::Result<()> {
    let output = File::create(log)?;
    command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
    let name = command.get_program().to_string_lossy().into_owned();
    let status =
        command.status().map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}")))?;
    if status.success() {
        return Ok(());
    }
    let said = fs::read_to_string(log).unwrap_or_default();
    let last: Vec<&str> = said.lines().rev().take(8).collect();
    let last: Vec<&str> = last.into_iter().rev().collect();
    Err(io::Error::other(format!("{name} failed ({status}): {}", last.join("\n"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_sources_the_latest_is_taken() {
        let folder = std::env::temp_dir().join(format!("knee-sources-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        assert_eq!(newest(&folder), None);
        for name in [
            "linux-source-6.1.tar.xz",
            "linux-source-6.12.tar.xz",
            "linux-source-6.9.tar.xz",
            "linux-source-6.13.tar.gz",
        ] {
            fs::write(folder.join(name), "").unwrap();
        }
        assert_eq!(newest(&folder), Some(folder.join("linux-source-6.12.tar.xz")));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_tool_that_fails_tells_its_last_lines() {
        let log = std::env::temp_dir().join(format!("knee-log-{}", std::process::id()));
        let failed =
            done(Command::new("sh").args(["-c", "echo no such rule >&2; exit 2"]), &log).unwrap_err();
        assert!(failed.to_string().contains("no such rule"), "{failed}");
        assert!(done(&mut Command::new("/nowhere/knee"), &log).is_err());
        fs::remove_file(&log).unwrap();
    }
}

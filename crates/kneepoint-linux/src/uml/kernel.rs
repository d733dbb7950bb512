// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The kernel of instances: built once from a distribution's source, kept in the user's cache.
//!
//! ```text
//! CACHE/RECIPE-SOURCE/linux       the program; RECIPE is a hash of configuration, additions and patches, SOURCE of the source's archive
//!                    /manifest    what it was built from, and its own hash, which is checked before it runs
//! CACHE/building-PROCESS/         a build under way, locked; unlocked ones are removed
//! ```

mod additions;
mod build;

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

pub use build::{Build, PACKAGE, Source, Step};

/// Settings beyond `tinyconfig`.
const CONFIG: &str = include_str!("kernel.config");
/// Patches that every kernel receives.
const PATCH: &str = include_str!("kernel.patch");
/// Hexadecimal digits of a hash in a name.
const DIGITS: usize = 12;

const PROGRAM: &str = "linux";
const MANIFEST: &str = "manifest";

/// The congestion controls of mainline Linux.
pub const LINUX: [&str; 17] = [
    "reno",
    "bbr",
    "bic",
    "cdg",
    "cubic",
    "dctcp",
    "highspeed",
    "htcp",
    "hybla",
    "illinois",
    "lp",
    "nv",
    "scalable",
    "vegas",
    "veno",
    "westwood",
    "yeah",
];

/// Congestion controls that it has without further patches: Linux's, and ours.
pub fn controls() -> impl Iterator<Item = &'static str> {
    LINUX.into_iter().chain(additions::CONTROLS)
}

/// A kernel that was built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The program.
    pub program: PathBuf,
    /// Its version and its sources.
    pub about: String,
}

/// A kernel to build, or to find: the configuration, and patches in order.
#[derive(Clone, Debug)]
pub struct Recipe {
    patches: Vec<(String, String)>,
}

impl Recipe {
    /// With these patches of the caller, by their names.
    pub fn new(patches: Vec<(String, String)>) -> Recipe {
        let own = ("kernel.patch".to_string(), PATCH.to_string());
        Recipe { patches: [vec![own], patches].concat() }
    }

    /// Whether it has patches of the caller, so that its contents are unknown.
    pub fn is_patched(&self) -> bool {
        self.patches.len() > 1
    }

    /// The hash of configuration, additions and patches.
    fn hash(&self) -> String {
        let mut hash = Sha256::new();
        let patches = self.patches.iter().map(|(_, text)| text.as_str());
        for part in std::iter::once(CONFIG).chain(additions::texts()).chain(patches) {
            // With its length, so that no text can move from one part to the next.
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        shown(hash)
    }

    /// The latest kernel built from this recipe, if there is an unmodified one.
    pub fn find(&self, cache: &Path) -> io::Result<Option<Kernel>> {
        let prefix = format!("{}-", &self.hash()[..DIGITS]);
        let mut found = Vec::new();
        for entry in entries(cache)? {
            if entry.file_name().to_str().is_some_and(|name| name.starts_with(&prefix)) {
                found.push((entry.metadata()?.modified()?, entry.path()));
            }
        }
        found.sort();
        found.pop().map(|(_, directory)| Kernel::open(&directory)).transpose()
    }
}

fn entries(cache: &Path) -> io::Result<Vec<fs::DirEntry>> {
    match fs::read_dir(cache) {
        Ok(entries) => entries.collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

impl Kernel {
    /// The kernel in a directory of the cache, if its program is as it was built.
    fn open(directory: &Path) -> io::Result<Kernel> {
        let manifest = fs::read_to_string(directory.join(MANIFEST))?;
        let program = directory.join(PROGRAM);
        let field = |name: &str| manifest.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        let is = hash_of(&program)?;
        if field("program") != Some(&is) {
            let message = format!(
                "{} is not the program that was built there: remove the directory",
                program.display()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let about = format!("Linux {}, {}", field("version").unwrap_or("?"), field("from").unwrap_or("?"));
        Ok(Kernel { program, about })
    }
}

/// The place of kept kernels: `kneepoint/uml` in the user's cache.
pub fn cache() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")))?;
    Some(base.join("kneepoint/uml"))
}

/// The SHA-256 of a file.
fn hash_of(file: &Path) -> io::Result<String> {
    let (mut hash, mut opened, mut piece) = (Sha256::new(), fs::File::open(file)?, vec![0; 1 << 20]);
    loop {
        match opened.read(&mut piece)? {
            0 => return Ok(shown(hash)),
            read => hash.update(&piece[..read]),
        }
    }
}

fn shown(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patch(name: &str, text: &str) -> (String, String) {
        (name.into(), text.into())
    }

    fn kept(cache: &Path, recipe: &Recipe, source: &str, program: &str) -> PathBuf {
        let directory = cache.join(format!("{}-{source}", &recipe.hash()[..DIGITS]));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(PROGRAM), program).unwrap();
        let is = hash_of(&directory.join(PROGRAM)).unwrap();
        fs::write(directory.join(MANIFEST), format!("version 6.12.1\nfrom debian\nprogram {is}\n")).unwrap();
        directory
    }

    #[test]
    fn another_patch_or_another_order_is_another_kernel() {
        let hash = |patches: &[(&str, &str)]| {
            Recipe::new(patches.iter().map(|(name, text)| patch(name, text)).collect()).hash()
        };
        assert_eq!(hash(&[("a", "one")]), hash(&[("b", "one")]), "a name is not a part of it");
        assert_ne!(hash(&[]), hash(&[("a", "one")]));
        assert_ne!(hash(&[("a", "one"), ("b", "two")]), hash(&[("a", "two"), ("b", "one")]));
        assert_ne!(hash(&[("a", "onet"), ("b", "wo")]), hash(&[("a", "one"), ("b", "two")]));
    }

    #[test]
    fn a_kernel_is_found_by_its_recipe_and_only_if_it_is_what_was_built() {
        let cache = std::env::temp_dir().join(format!("knee-kernels-{}", std::process::id()));
        let recipe = Recipe::new(Vec::new());
        assert_eq!(recipe.find(&cache).unwrap(), None, "no cache");
        let directory = kept(&cache, &recipe, "0123456789ab", "the program");
        let found = recipe.find(&cache).unwrap().unwrap();
        assert_eq!((found.program, found.about.as_str()), (directory.join(PROGRAM), "Linux 6.12.1, debian"));
        assert_eq!(Recipe::new(vec![patch("a", "one")]).find(&cache).unwrap(), None);
        fs::write(directory.join(PROGRAM), "another").unwrap();
        let refused = recipe.find(&cache).unwrap_err().to_string();
        assert!(refused.contains("not the program that was built"), "{refused}");
        fs::remove_dir_all(&cache).unwrap();
    }

    #[test]
    fn the_configuration_has_every_control_that_is_listed() {
        for control in LINUX.iter().filter(|control| **control != "reno") {
            let name = if *control == "highspeed" { "hstcp" } else { control };
            assert!(CONFIG.contains(&format!("CONFIG_TCP_CONG_{}=y\n", name.to_uppercase())), "{control}");
        }
    }
}

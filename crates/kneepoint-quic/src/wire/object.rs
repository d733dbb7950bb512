// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The objects of a server: made while they are sent, or the files of a folder.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::vec;
use std::vec::Vec;

use bytes::Bytes;

/// Bytes that are handed to the stack at once.
const CHUNK: u64 = 1 << 16;

/// The objects of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Site {
    /// `/N` has N bytes, and any other path this many. Each word of eight bytes is its number, so that a checksum
    /// detects swapped words.
    Made(u64),
    /// The files below a folder.
    Folder(PathBuf),
}

/// The bytes of an object that is made, from the word with this number on.
pub fn made(word: u64) -> impl Iterator<Item = u8> {
    (word..).flat_map(u64::to_be_bytes)
}

impl Site {
    /// The object of a path; `None` if there is none, or it is larger than `largest` bytes.
    pub(super) fn open(&self, path: &str, largest: u64) -> Option<Object> {
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let object = match self {
            Site::Made(usual) => {
                Object { size: path.trim_start_matches('/').parse().unwrap_or(*usual), at: 0, file: None }
            }
            Site::Folder(root) => {
                let path = below(root, path)?;
                let file = File::open(path).ok()?;
                let about = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
                Object { size: about.len(), at: 0, file: Some(file) }
            }
        };
        (object.size <= largest).then_some(object)
    }
}

/// The file of a path, if it is in the folder after all links are followed.
fn below(root: &Path, path: &str) -> Option<PathBuf> {
    let path = Path::new(path.trim_start_matches('/'));
    if !path.components().all(|part| matches!(part, Component::Normal(_))) {
        return None;
    }
    let root = root.canonicalize().ok()?;
    root.join(path).canonicalize().ok().filter(|path| path.starts_with(&root))
}

/// An object being sent.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) size: u64,
    /// Bytes that were passed on.
    at: u64,
    file: Option<File>,
}

impl Object {
    /// The next bytes; `None` at the end. A file that became shorter is an error.
    pub(super) fn next(&mut self) -> io::Result<Option<Bytes>> {
        let size = (self.size - self.at).min(CHUNK) as usize;
        if size == 0 {
            return Ok(None);
        }
        let bytes = match &mut self.file {
            Some(file) => {
                let mut bytes = vec![0; size];
                file.read_exact(&mut bytes)?;
                bytes
            }
            // Chunks are whole words.
            None => made(self.at / 8).take(size).collect::<Vec<u8>>(),
        };
        self.at += size as u64;
        Ok(Some(bytes.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(mut object: Object) -> Vec<u8> {
        let mut all = Vec::new();
        while let Some(part) = object.next().expect("bytes") {
            all.extend_from_slice(&part);
        }
        all
    }

    #[test]
    fn a_path_that_is_a_number_has_as_many_bytes() {
        let site = Site::Made(100);
        let object = whole(site.open("/200001?again", u64::MAX).expect("made"));
        assert_eq!(object.len(), 200_001);
        assert!(object.iter().copied().eq(made(0).take(200_001)));
        assert_eq!(object[8..16], [0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(whole(site.open("/", u64::MAX).expect("usual")).len(), 100);
        assert!(site.open("/200001", 200_000).is_none());
    }

    #[test]
    fn only_files_below_the_folder_are_served() {
        let here = std::env::temp_dir().join(std::format!("kneepoint-site-{}", std::process::id()));
        let root = here.join("root");
        std::fs::create_dir_all(root.join("in")).expect("a folder");
        std::fs::write(root.join("in/file"), b"inside").expect("a file");
        std::fs::write(here.join("secret"), b"outside").expect("a file");
        #[cfg(unix)]
        std::os::unix::fs::symlink(here.join("secret"), root.join("link")).expect("a link");
        let site = Site::Folder(root);
        assert_eq!(whole(site.open("/in/file", 100).expect("a file")), b"inside");
        for path in ["/../secret", "/in/../../secret", "/link", "/in", "/", "//etc/passwd", "/in/file\0"] {
            assert!(site.open(path, 100).is_none(), "{path:?}");
        }
        assert!(site.open("/in/file", 5).is_none());
        std::fs::remove_dir_all(here).expect("removed");
    }
}

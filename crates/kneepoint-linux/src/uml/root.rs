// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The root file system of an instance: this program and its libraries.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The mount points of other file systems.
const PLACES: [&str; 4] = ["proc", "run", "dev", "lib"];

/// Makes it, with this program under the given path.
pub(super) fn make(root: &Path, program: &str) -> io::Result<()> {
    let own = std::env::current_exe()?;
    fs::create_dir(root)?;
    for place in PLACES {
        fs::create_dir(root.join(place))?;
    }
    put(&own, &within(root, program))?;
    if let Some(loader) = interpreter(&own)? {
        put(Path::new(&loader), &within(root, &loader))?;
        for (name, library) in libraries(&own)? {
            put(&library, &root.join("lib").join(name))?;
        }
    }
    Ok(())
}

/// A path inside the root.
fn within(root: &Path, path: &str) -> PathBuf {
    root.join(path.trim_start_matches('/'))
}

/// A copy of a file, which its owner may run.
fn put(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    let copied = fs::copy(from, to).and_then(|_| fs::set_permissions(to, fs::Permissions::from_mode(0o700)));
    copied.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", from.display())))
}

/// The loader of a dynamic program (`PT_INTERP`); none for a static one.
fn interpreter(program: &Path) -> io::Result<Option<String>> {
    const INTERPRETER: u32 = 3;
    let mut head = Vec::new();
    // The headers of a program are at its beginning.
    File::open(program)?.take(1 << 16).read_to_end(&mut head)?;
    let long = |at: usize| {
        head.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes) as usize
    };
    let short = |at: usize| {
        usize::from(
            head.get(at..at + 2).and_then(|bytes| bytes.try_into().ok()).map_or(0, u16::from_le_bytes),
        )
    };
    let (first, size, count) = (long(0x20), short(0x36), short(0x38));
    for place in (0..count).map(|number| first + number * size) {
        let kind = head.get(place..place + 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes);
        if kind == Some(INTERPRETER) {
            let (from, length) = (long(place + 8), long(place + 32));
            let text = head.get(from..from + length.saturating_sub(1)).ok_or(io::ErrorKind::InvalidData)?;
            return Ok(Some(String::from_utf8_lossy(text).into_owned()));
        }
    }
    Ok(None)
}

/// The libraries that the loader finds for a dynamic program, by the names under which it looks for them.
fn libraries(program: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    // As in ldd(1).
    let told = Command::new(program).env("LD_TRACE_LOADED_OBJECTS", "1").output()?;
    Ok(String::from_utf8_lossy(&told.stdout).lines().filter_map(library).collect())
}

/// `libz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x00007f…)`
fn library(line: &str) -> Option<(String, PathBuf)> {
    let (name, rest) = line.trim().split_once(" => ")?;
    let (path, _) = rest.rsplit_once(" (")?;
    Some((name.to_string(), PathBuf::from(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_has_this_program_and_what_it_needs_to_run() {
        let root = std::env::temp_dir().join(format!("knee-root-{}", std::process::id()));
        make(&root, "/knee-inside").unwrap();
        let own = std::env::current_exe().unwrap();
        assert_eq!(fs::metadata(root.join("knee-inside")).unwrap().len(), fs::metadata(&own).unwrap().len());
        let dynamic = interpreter(&own).unwrap();
        if let Some(loader) = &dynamic {
            assert!(within(&root, loader).exists(), "{loader}");
        }
        assert_eq!(fs::read_dir(root.join("lib")).unwrap().count() > 0, dynamic.is_some());
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn a_line_of_the_loader_names_a_library_and_its_place() {
        let line = "\tlibz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x00007f0000000000)";
        assert_eq!(library(line), Some(("libz.so.1".into(), "/lib/x86_64-linux-gnu/libz.so.1".into())));
        assert_eq!(library("\tlinux-vdso.so.1 (0x00007ffd)"), None);
        assert_eq!(library("\tlibmissing.so => not found"), None);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One process at a time changes the state of the kernel. The lock is in a folder of root, so that no other user can
//! hold it.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::sys::stat::{major, minor};
use nix::unistd::geteuid;

use super::errors::{Error, While};

/// State until the machine restarts: the lock, and defaults of network namespaces.
pub const FOLDER: &str = "/run/knee";
const LOCK: &str = "lock";
/// The longest wait. No work under the lock takes this long.
const PATIENCE: Duration = Duration::from_secs(20);
/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(20);

/// Receives the news of a wait.
static LISTENER: OnceLock<fn(&str)> = OnceLock::new();

/// Calls this function before each wait from now on.
pub fn tell_waits(listener: fn(&str)) {
    // The first is the program's.
    let _ = LISTENER.set(listener);
}

/// The turn of this process, until it is dropped.
#[derive(Debug)]
pub struct Turn(#[expect(dead_code, reason = "kept locked")] Flock<File>);

/// Waits for the turn of this process.
pub fn take() -> Result<Turn, Error> {
    own_folder(Path::new(FOLDER))?;
    take_at(&Path::new(FOLDER).join(LOCK), PATIENCE)
}

/// A folder that no other user can enter, made if absent.
fn own_folder(folder: &Path) -> Result<(), Error> {
    let made = DirBuilder::new().mode(0o700).create(folder);
    if let Err(error) = made
        && error.kind() != io::ErrorKind::AlreadyExists
    {
        return Err(error).during(format!("make {}", folder.display()));
    }
    is_own(folder)?;
    fs::set_permissions(folder, Permissions::from_mode(0o700))
        .during(format!("close {} to others", folder.display()))
}

/// Whether it is a folder of this user, and no link to one.
pub(super) fn is_own(folder: &Path) -> Result<(), Error> {
    let there = fs::symlink_metadata(folder).during(format!("look at {}", folder.display()))?;
    if there.is_dir() && there.uid() == geteuid().as_raw() {
        return Ok(());
    }
    Err(Error::new(
        format!("{} is not a folder of knee's: user {} made it", folder.display(), there.uid()),
        format!("look what it is, and remove it: `rm -r {}`", folder.display()),
    ))
}

fn take_at(path: &Path, patience: Duration) -> Result<Turn, Error> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    let mut file = options.open(path).during(format!("open {}", path.display()))?;
    let began = Instant::now();
    let mut told = false;
    let locked = loop {
        file = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(locked) => break locked,
            Err((file, Errno::EWOULDBLOCK | Errno::EINTR)) => file,
            Err((_, error)) => return Err(error).during(format!("lock {}", path.display())),
        };
        let holder = holder(&file);
        if began.elapsed() >= patience {
            return Err(Error::new(
                format!(
                    "{holder} has been changing the kernel for {} s, and does not end",
                    patience.as_secs()
                ),
                "wait for it or end it, and run this again",
            ));
        }
        if !std::mem::replace(&mut told, true)
            && let Some(tell) = LISTENER.get()
        {
            tell(&format!("waiting for {holder}, which is changing the kernel"));
        }
        thread::sleep(PAUSE);
    };
    Ok(Turn(locked))
}

/// The process that holds the lock, as far as the kernel shows it.
fn holder(file: &File) -> String {
    let place = file.metadata().map_or(String::new(), |file| {
        format!("{:02x}:{:02x}:{}", major(file.dev()), minor(file.dev()), file.ino())
    });
    let table = fs::read_to_string("/proc/locks").unwrap_or_default();
    // Number, kind, strength, purpose, process, file. The line of a waiting process has an arrow in front of its kind.
    let lines = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let mut held = lines.filter(|line| line.get(1) == Some(&"FLOCK") && line.get(5) == Some(&place.as_str()));
    let process = held.next().and_then(|line| line[4].parse::<u32>().ok()).filter(|number| *number > 0);
    process.map_or_else(
        || "another process".into(),
        |number| {
            let program = fs::read_to_string(format!("/proc/{number}/comm")).unwrap_or_default();
            format!("process {number} ({})", program.trim())
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that is removed.
    struct Place(std::path::PathBuf);

    impl Place {
        fn new(name: &str) -> Place {
            let place = std::env::temp_dir().join(format!("knee-turn-{name}-{}", std::process::id()));
            own_folder(&place).expect("a folder");
            Place(place)
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_waiting_process_names_the_holder_and_gives_up_in_time() {
        let place = Place::new("wait");
        let lock = place.0.join(LOCK);
        let held = take_at(&lock, PATIENCE).expect("a turn");
        let refused = take_at(&lock, Duration::ZERO).expect_err("it is held");
        let own = format!("process {}", std::process::id());
        assert!(refused.message.starts_with(&own), "{refused}");
        drop(held);
        take_at(&lock, Duration::ZERO).expect("it is free again");
    }

    #[test]
    fn nobody_else_can_hold_it() {
        let place = Place::new("mode");
        drop(take_at(&place.0.join(LOCK), PATIENCE).expect("a turn"));
        let mode = |path: &Path| fs::symlink_metadata(path).expect("it is there").mode() & 0o777;
        assert_eq!((mode(&place.0), mode(&place.0.join(LOCK))), (0o700, 0o600));
        fs::set_permissions(&place.0, Permissions::from_mode(0o777)).expect("it is ours");
        own_folder(&place.0).expect("closed again");
        assert_eq!(mode(&place.0), 0o700);
    }

    #[test]
    fn links_are_not_followed() {
        let place = Place::new("link");
        let (target, link) = (place.0.join("target"), place.0.join("link"));
        fs::write(&target, "kept").expect("written");
        std::os::unix::fs::symlink(&target, &link).expect("a link");
        assert!(take_at(&link, PATIENCE).is_err());
        assert_eq!(fs::read_to_string(&target).expect("text"), "kept");
        fs::remove_file(&link).expect("removed");
        std::os::unix::fs::symlink(&place.0, &link).expect("a link");
        assert!(own_folder(&link).expect_err("a link").message.contains("is not a folder of knee's"));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Recorded scripts in a folder.

use std::fs;
use std::path::Path;

use kneepoint::units::Span;
use kneepoint_linux::player::record::Played;

use super::generator::Case;
use super::script;

/// A player that was later than this has not played what its script says.
const LATEST: Span = Span::from_micros(1500);

/// Why a script must not be believed, if it must not.
pub fn spoiled(played: &Played) -> Option<String> {
    match &played.failure {
        Some(failure) => Some(failure.clone()),
        None => (played.late > LATEST).then(|| "the player was late".into()),
    }
}

/// The kernel's name.
pub fn kernel() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("Linux {}", release.trim())
}

/// Writes the scripts that are not spoiled.
pub fn keep(folder: &Path, cases: &[Case], played: &[Played], kernel: &str) -> Result<(), String> {
    let failed = |path: &Path, error: std::io::Error| format!("{} cannot be written: {error}", path.display());
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    for (case, one) in cases.iter().zip(played) {
        if spoiled(one).is_none() {
            let path = folder.join(case.name()).with_extension("pkt");
            fs::write(&path, script::text(case, one, kernel)).map_err(|error| failed(&path, error))?;
        }
    }
    Ok(())
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Findings on this machine's kernel: the result of `knee live` for each, kept in `validation/hunt`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

/// The reports to keep.
#[derive(Args)]
pub struct Arguments {
    /// Directories of `knee live`, each named after its finding, to be kept
    directories: Vec<PathBuf>,
}

/// Keeps reports, and writes the part of the page.
pub fn run(arguments: &Arguments) -> Result<bool, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let kept = root.join("validation/hunt");
    let said = |error: std::io::Error| format!("validation/hunt: {error}");
    std::fs::create_dir_all(&kept).map_err(said)?;
    for directory in &arguments.directories {
        let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let report = read(&directory.join("live.json"))?;
        let kernel = json!({
            "title": report["title"],
            "claims": report["claims"],
            "kernel": report["manifest"]["kernel"],
            "created": report["manifest"]["created"],
        });
        let text = report["manifest"]["scenario"][0]["text"].as_str().unwrap_or_default();
        std::fs::write(kept.join(format!("{name}.toml")), text).map_err(said)?;
        let told = serde_json::to_string_pretty(&kernel).map_err(|error| error.to_string())? + "\n";
        std::fs::write(kept.join(format!("{name}.json")), told).map_err(said)?;
    }
    let mut names: Vec<PathBuf> =
        std::fs::read_dir(&kept).map_err(said)?.flatten().map(|one| one.path()).collect();
    names.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    names.sort();
    let mut lines = String::from(
        "| finding | what is worse | kernel | simulator | kernel | simulator |\n|---|---|---|---|---|---|\n",
    );
    for path in names {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let report = read(&path)?;
        let claim = &report["claims"][0];
        let word = |value: &Value| value.as_str().unwrap_or_default().to_string();
        let side = |side: &str| {
            let certain = claim[side]["certain"].as_bool().unwrap_or_default();
            let doubt = if certain { "" } else { ", within the noise" };
            (word(&claim[side]["ours"]), format!("{}{doubt}", word(&claim[side]["verdict"])))
        };
        let ((kernel, verdict), (ours, own)) = (side("kernel"), side("simulator"));
        lines += &format!(
            "| [{name}](../validation/hunt/{name}.toml) | {} | {kernel} | {ours} | {verdict} | {own} |\n",
            word(&claim["text"])
        );
    }
    super::page::put("kernel", &lines)?;
    Ok(true)
}

fn read(path: &Path) -> Result<Value, String> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| format!("{shown}: {error}"))?;
    serde_json::from_str(&text).map_err(|error| format!("{shown}: {error}"))
}

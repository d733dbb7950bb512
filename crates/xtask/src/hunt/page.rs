// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Parts of `docs/hunt.md` between marks, which programs write.

use std::path::Path;

/// Puts a text into the place of the part of this name.
pub fn put(part: &str, text: &str) -> Result<(), String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/hunt.md");
    let page = std::fs::read_to_string(&path).map_err(|error| format!("docs/hunt.md: {error}"))?;
    let (begin, end) = (format!("<!-- {part} -->\n"), format!("<!-- end of {part} -->\n"));
    let parts = page.split_once(&begin).and_then(|(before, rest)| Some((before, rest.split_once(&end)?.1)));
    let (before, after) = parts.ok_or_else(|| format!("docs/hunt.md has no marks of `{part}`"))?;
    std::fs::write(&path, format!("{before}{begin}{text}{end}{after}")).map_err(|error| error.to_string())?;
    println!("wrote the part `{part}` of docs/hunt.md");
    Ok(())
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Our own controllers, compiled into the kernel: the programs of `bpf/`, over headers that replace BPF's helpers.
//!
//! User-Mode Linux has no JIT compiler for BPF, without which no program can be a congestion control (`bpf_tcp_ca.c` is built with
//! `CONFIG_BPF_JIT`). RATCP is left out: its TCP option needs its own program.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// The folder in the kernel's tree, and the line that has it built.
const FOLDER: &str = "net/ipv4/knee";
const BUILT_BY: (&str, &str) = ("net/ipv4/Makefile", "obj-y += knee/\n");

/// The controllers' names.
pub(super) const CONTROLS: [&str; 3] = ["pert", "pert_adaptive", "pert_pi"];

macro_rules! files {
    ($($to:literal = $from:literal,)*) => {
        &[$(($to, include_str!(concat!("../../../../../bpf/", $from)))),*]
    };
}

/// The place of each file below the folder, and its text.
const FILES: &[(&str, &str)] = files! {
    "Makefile" = "tree/Makefile",
    "lib/kernel.h" = "tree/lib/kernel.h",
    "register.h" = "tree/register.h",
    "pert.c" = "tree/pert.c",
    "pert_adaptive.c" = "tree/pert_adaptive.c",
    "pert_pi.c" = "tree/pert_pi.c",
    "bpf/pert.bpf.c" = "pert.bpf.c",
    "bpf/pert_adaptive.bpf.c" = "pert_adaptive.bpf.c",
    "bpf/pert_pi.bpf.c" = "pert_pi.bpf.c",
    "bpf/lib/controller.h" = "lib/controller.h",
    "bpf/lib/fixed.h" = "lib/fixed.h",
    "bpf/lib/parameters.h" = "lib/parameters.h",
    "bpf/lib/telemetry.h" = "lib/telemetry.h",
    "bpf/cc/ack.h" = "cc/ack.h",
    "bpf/cc/curve.h" = "cc/curve.h",
    "bpf/cc/delay.h" = "cc/delay.h",
    "bpf/cc/early.h" = "cc/early.h",
    "bpf/cc/event_rate.h" = "cc/event_rate.h",
    "bpf/cc/pert.h" = "cc/pert.h",
    "bpf/cc/pert_adaptive.h" = "cc/pert_adaptive.h",
    "bpf/cc/pert_pi.h" = "cc/pert_pi.h",
    "bpf/cc/responding.h" = "cc/responding.h",
    "bpf/cc/rounds.h" = "cc/rounds.h",
    "bpf/cc/window.h" = "cc/window.h",
};

/// All inputs of a kernel.
pub(super) fn texts<'t>() -> impl Iterator<Item = &'t str> {
    FILES.iter().flat_map(|(to, text)| [*to, *text])
}

/// Puts them into a kernel's tree.
pub(super) fn put(tree: &Path) -> io::Result<()> {
    for (to, text) in FILES {
        let file = tree.join(FOLDER).join(to);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(file, text)?;
    }
    let (makefile, line) = BUILT_BY;
    OpenOptions::new().append(true).open(tree.join(makefile))?.write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// A compiler would report a missing header only after minutes.
    #[test]
    fn every_header_that_is_included_is_put_there() {
        let there: BTreeSet<&str> =
            FILES.iter().map(|(to, _)| to.strip_prefix("bpf/").unwrap_or(to)).collect();
        for (to, text) in FILES {
            for line in text.lines().filter_map(|line| line.strip_prefix("#include \"")) {
                let header = line.trim_end_matches('"');
                assert!(there.contains(header), "{to} includes {header}");
            }
        }
        for control in CONTROLS {
            assert!(there.contains(format!("{control}.c").as_str()), "{control}");
        }
    }
}

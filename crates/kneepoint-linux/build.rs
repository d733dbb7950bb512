// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compiles the algorithms of `bpf/cc` natively, and with the feature `bpf` the kernel programs around them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        native();
    }
    if env::var_os("CARGO_FEATURE_BPF").is_some() {
        objects()?;
    }
    Ok(())
}

/// Compiles `bpf/native.c` into a library.
fn native() {
    println!("cargo::rerun-if-changed=../../bpf");
    let mut native = cc::Build::new();
    native.file("../../bpf/native.c").include("../../bpf").std("gnu11");
    native.warnings(true).flag("-Wno-unused-parameter").compile("knee_native");
}

/// Compiles every `bpf/NAME.bpf.c` to `OUT_DIR/NAME.o`.
fn objects() -> io::Result<()> {
    let sources = Path::new("../../bpf").canonicalize()?;
    println!("cargo::rerun-if-changed={}", sources.display());
    println!("cargo::rerun-if-env-changed=CLANG");
    let variable = |name: &str| env::var(name).map_err(|_| io::Error::other(format!("cargo sets {name}")));
    let out = PathBuf::from(variable("OUT_DIR")?);
    // The headers of the libbpf that is linked into the loader.
    let headers = variable("DEP_BPF_INCLUDE")?;
    let machine = variable("CARGO_CFG_TARGET_ARCH")?;
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".to_string());
    for entry in fs::read_dir(&sources)? {
        let source = entry?.path();
        let Some(name) = source.file_name().and_then(|name| name.to_str()?.strip_suffix(".bpf.c")) else {
            continue;
        };
        let status = Command::new(&clang)
            .args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-std=gnu11", "-Wall", "-Werror"])
            .args(["-I", &headers, "-I"])
            .arg(&sources)
            // `linux/types.h` includes `asm/types.h`, which Debian keeps in the folder of the machine.
            .args(["-idirafter", &format!("/usr/include/{machine}-linux-gnu"), "-c"])
            .arg(&source)
            .arg("-o")
            .arg(out.join(format!("{name}.o")))
            .status();
        let status = status.map_err(|error| {
            let remedy = "install it (Debian: apt-get install -y clang libelf-dev zlib1g-dev pkg-config), or build without the feature `bpf`";
            io::Error::other(format!("cannot run {clang}, which compiles kernel programs: {error}; {remedy}"))
        })?;
        if !status.success() {
            return Err(io::Error::other(format!("{clang} does not compile {}", source.display())));
        }
    }
    Ok(())
}

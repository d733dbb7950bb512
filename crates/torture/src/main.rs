// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The program that libFuzzer drives: it feeds the reader that `KNEE_READER` names. Without one it prints the table of readers: name, longest
//! input, dictionary, folders of seeds.
#![no_main]

use std::sync::OnceLock;

use kneepoint_torture::{READERS, Reader, named};
use libfuzzer_sys::fuzz_target;

static READER: OnceLock<&Reader> = OnceLock::new();

fn begin() {
    let Ok(name) = std::env::var("KNEE_READER") else {
        for Reader { name, longest, words, seeds, .. } in READERS {
            let words = if words.is_empty() { "-" } else { words };
            println!("{name} {longest} {words} {}", seeds.join(" "));
        }
        std::process::exit(0);
    };
    let Some(reader) = named(&name) else {
        eprintln!("no reader is called `{name}`; run this without KNEE_READER for a list");
        std::process::exit(2);
    };
    let _ = READER.set(reader);
}

fuzz_target!(init: begin(), |bytes: &[u8]| {
    if let Some(reader) = READER.get() {
        reader.feed(bytes);
    }
});

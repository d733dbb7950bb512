// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compiles the controller. A stack with a build of its own links its library here instead.

fn main() {
    println!("cargo::rerun-if-changed=src/reno.c");
    cc::Build::new()
        .file("src/reno.c")
        .include(kneepoint_c::include())
        .warnings(true)
        .compile("c_controller");
}

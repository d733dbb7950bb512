// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tells the linker that Python's symbols are there when the module is loaded, which macOS does not assume.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}

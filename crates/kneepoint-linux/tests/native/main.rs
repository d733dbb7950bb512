// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The algorithms of `bpf/`, compiled for this process and compared with the laboratory's. Apart from `machine`, whose
//! tests measure time.
#![cfg(target_os = "linux")]

mod aqm;
mod equivalence;

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! knee
fn main() {}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The program `knee`.

use std::process::ExitCode;

fn main() -> ExitCode {
    kneepoint_cli::main()
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee` with one controller more: `cargo run --release -p c-controller -- gate run reno-in-c --quick`.

use std::process::ExitCode;

fn main() -> ExitCode {
    match c_controller::known() {
        Ok(known) => kneepoint_cli::main_with(known),
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

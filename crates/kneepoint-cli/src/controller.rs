// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A controller that an option names, with its settings.

use kneepoint::cc::Config;
use kneepoint::settings::Assign;
use kneepoint_bench::session::Session;

use crate::failure::Failure;

/// The controller of `--cc NAME[:KEY=VALUE,…]`.
pub fn controller(session: &Session, text: &str) -> Result<Config, Failure> {
    let refused = |message| {
        let remedy = "`knee list controllers` shows the names, `knee explain NAME` their settings";
        Failure::usage(format!("--cc: {message}"), remedy)
    };
    let config = session.extensions().scheme(text).map_err(refused)?.cc;
    config.agree().map_err(refused)?;
    Ok(config)
}

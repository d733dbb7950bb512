// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What RATCP's senders are told: `rate`.

use std::net::IpAddr;

use kneepoint::units::Rate;
use kneepoint_linux::kernel;
use serde_json::json;

use crate::failure::Failure;
use crate::files;

/// `knee kernel rate`.
pub fn rate(arguments: &super::Rates, as_json: bool) -> Result<(), Failure> {
    match &arguments.what {
        super::RateAction::Set { destination, rate } => {
            kernel::set_rate(*destination, *rate)?;
            match as_json {
                true => {
                    files::print_json(&json!({"destination": destination.to_string(), "rate_bps": rate.0}))
                }
                false => files::print(format!("senders to {destination} are told {rate}")),
            }
        }
        super::RateAction::List => {
            let rates = kernel::rates()?;
            if as_json {
                let row =
                    |(to, rate): &(IpAddr, Rate)| json!({"destination": to.to_string(), "rate_bps": rate.0});
                return files::print_json(&rates.iter().map(row).collect());
            }
            let line = |(to, rate): &(IpAddr, Rate)| format!("{to:<40} {rate}\n");
            match rates.is_empty() {
                true => files::print("no rate is set"),
                false => files::print(rates.iter().map(line).collect::<String>()),
            }
        }
        super::RateAction::Clear { destination } => {
            let cleared = kernel::clear_rates(*destination)?;
            match as_json {
                true => files::print_json(&json!({"cleared": cleared})),
                false => files::print(format!("{cleared} rates cleared")),
            }
        }
    }
}

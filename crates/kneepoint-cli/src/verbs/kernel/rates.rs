// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What RATCP's senders are told: `rate`.

use std::net::IpAddr;

use kneepoint::units::Rate;
use kneepoint_linux::kernel;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::files;

fn listed(rates: &[(IpAddr, Rate)]) -> Value {
    let row = |(to, rate): &(IpAddr, Rate)| json!({"destination": to.to_string(), "rate_bps": rate.0});
    json!({ "rates": rates.iter().map(row).collect::<Vec<_>>() })
}

/// `knee kernel rate`.
pub fn rate(arguments: &super::Rates, as_json: bool) -> Result<(), Failure> {
    match &arguments.what {
        super::RateAction::Set { destination, rate } => {
            kernel::set_rate(*destination, *rate)?;
            match as_json {
                true => files::print_json(&listed(&[(*destination, *rate)])),
                false => files::print(format!("senders to {destination} are told {rate}")),
            }
        }
        super::RateAction::List => {
            let rates = kernel::rates()?;
            if as_json {
                return files::print_json(&listed(&rates));
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

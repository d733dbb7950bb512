// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The rates of RATCP's senders: `rate`.

use std::net::IpAddr;

use kneepoint::units::Rate;
use kneepoint_bench::session::Session;
use kneepoint_linux::kernel;
use serde_json::{Value, json};

use super::refused;
use crate::failure::Failure;

fn listed(rates: &[(IpAddr, Rate)]) -> Value {
    let row = |(to, rate): &(IpAddr, Rate)| json!({"destination": to.to_string(), "rate_bps": rate.0});
    json!({ "rates": rates.iter().map(row).collect::<Vec<_>>() })
}

/// `knee kernel rate`.
pub fn rate(session: &Session, arguments: &super::Rates, as_json: bool) -> Result<(), Failure> {
    match &arguments.what {
        super::RateAction::Set { destination, rate } => {
            kernel::set_rate(*destination, *rate).map_err(refused)?;
            match as_json {
                true => session.print_json(&listed(&[(*destination, *rate)])),
                false => session.print(format!("senders to {destination} are told {rate}")),
            }
        }
        super::RateAction::List => {
            let rates = kernel::rates().map_err(refused)?;
            if as_json {
                return session.print_json(&listed(&rates));
            }
            let line = |(to, rate): &(IpAddr, Rate)| format!("{to:<40} {rate}\n");
            match rates.is_empty() {
                true => session.print("no rate is set"),
                false => session.print(rates.iter().map(line).collect::<String>()),
            }
        }
        super::RateAction::Clear { destination } => {
            let cleared = kernel::clear_rates(*destination).map_err(refused)?;
            match as_json {
                true => session.print_json(&json!({"cleared": cleared})),
                false => session.print(format!("{cleared} rates cleared")),
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Who may have sent: every registered controller that needs no help of the network, as it was published and as Linux has it.

use crate::cc::{Config, Marks, REGISTRY, Start, Version, Wanted};
use crate::settings::Raw;
use crate::settings::names::same_name;
use crate::suggest::closest;

crate::choice! {
    /// Whose version of a controller a suspect is.
    pub enum Make {
        /// Linux's.
        Linux = "linux",
        /// Linux's before 5.6, where in avoidance an acknowledgement of several packets counted as one for some controllers.
        LinuxBefore = "linux before 5.6",
        /// As it was published.
        Published = "published",
        /// As it was published before, CUBIC in RFC 8312.
        Rfc8312 = "rfc8312",
    }
}

impl Make {
    /// The version of the controller.
    pub fn version(self) -> Version {
        match self {
            Make::Published | Make::Rfc8312 => Version::Published,
            Make::Linux | Make::LinuxBefore => Version::Linux,
        }
    }

    /// A controller in this version; none if it has none.
    fn of(self, config: &Config) -> Option<Suspect> {
        let mut config = config.clone();
        // No other controller has such a limit.
        config.set(SLACK.0, &Raw::Float(SLACK.1)).ok();
        if self == Make::Rfc8312 {
            config.set("era", &Raw::Text(self.name().into())).ok()?;
        }
        Some(Suspect { config, make: self })
    }

    /// Packets by which an acknowledgement may grow the window in congestion avoidance.
    pub fn most_growth(self) -> f64 {
        if self == Make::LinuxBefore { 1.0 } else { f64::INFINITY }
    }
}

/// BBR's probing phase ends with a flight, and a packet of difference says nothing: one that is missed would prolong it for a cycle.
const SLACK: (&str, f64) = ("probe_slack", 1.0);

/// A controller that may have sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspect {
    /// The controller.
    pub config: Config,
    /// Whose version of it.
    pub make: Make,
}

impl Suspect {
    /// Its name in the registry.
    pub fn name(&self) -> &'static str {
        self.config.name()
    }

    /// Its name and whose version it is.
    pub fn full_name(&self) -> String {
        format!("{} ({})", self.name(), self.make.name())
    }
}

/// Versions that senders of TCP have.
const OF_HOSTS: [Make; 3] = [Make::Linux, Make::LinuxBefore, Make::Published];
/// Versions that QUIC stacks have.
const OF_QUIC: [Make; 3] = [Make::Published, Make::Rfc8312, Make::Linux];

/// All of them, or those of these names, as senders of TCP have them. The error names one that is not registered, or that asks the network for feedback.
pub fn suspects(names: &[String]) -> Result<Vec<Suspect>, String> {
    made(names, OF_HOSTS)
}

/// The same, as QUIC stacks have them.
pub fn suspects_in_quic(names: &[String]) -> Result<Vec<Suspect>, String> {
    made(names, OF_QUIC)
}

fn made(names: &[String], makes: [Make; 3]) -> Result<Vec<Suspect>, String> {
    let all = || REGISTRY.iter().filter_map(|entry| Config::named(entry.name)).filter(alone);
    if let Some(unknown) = names.iter().find(|name| !all().any(|config| same_name(config.name(), name))) {
        return Err(match Config::named(unknown) {
            Some(_) => format!("`{unknown}` needs feedback of the network, which a capture does not show"),
            None if unknown.contains(':') => {
                format!(
                    "`{unknown}` has settings, and candidates are controllers as they are: name one alone"
                )
            }
            None => {
                let known: Vec<&str> = REGISTRY.iter().map(|entry| entry.name).collect();
                let near = closest(unknown, &known)
                    .map_or(String::new(), |name| format!(": did you mean `{name}`?"));
                format!("no controller is called `{unknown}`{near}")
            }
        });
    }
    let asked = |config: &Config| names.is_empty() || names.iter().any(|name| same_name(config.name(), name));
    let each = |config: Config| makes.into_iter().filter_map(move |make| make.of(&config));
    Ok(all().filter(asked).flat_map(each).collect())
}

/// Whether it needs nothing but acknowledgements: no feedback, and no queues that mark early and often.
fn alone(config: &Config) -> bool {
    let controller = config.build(Start::new(2.0));
    controller.wanted() == Wanted::Nothing && controller.marks() != Marks::Scalable
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The controller and the queue that a fluid model describes, and the sources of its parameters.
//!
//! A model declares this in its own file, as data: controllers and queues are independent of models.

use super::{Config, REGISTRY};
use crate::law::pi::Continuous;
use crate::settings::{Raw, Refusal};
use crate::units::Span;
use crate::{cc, queue};

/// The subject of a model.
#[derive(Clone, Copy, Debug)]
pub struct Describes {
    /// The controller's name.
    pub control: &'static str,
    /// The queue's name.
    pub queue: &'static str,
    /// Parameters of the model besides capacity, flows and round-trip time, and where they come from.
    pub settings: &'static [(&'static str, Origin)],
}

/// The source of a parameter.
#[derive(Clone, Copy, Debug)]
pub enum Origin {
    /// It is always this.
    Always(&'static str),
    /// The parameter of this name: the controller's, or else the queue's.
    Given(&'static str),
    /// K = (a - b) f of a PI controller that is computed f times a second, from the names of a, b and f.
    Gain([&'static str; 3]),
    /// m = 2 K / (a + b) of the same.
    Zero([&'static str; 3]),
    /// The queue's automatic value, by its name in [`queue::Any::state`].
    Queue(&'static str),
    /// N / C: how often one of the flows samples the path.
    Interval,
}

/// Flows of one kind on one link.
#[derive(Clone, Debug)]
pub struct Path<'a> {
    /// Their controller.
    pub control: &'a cc::Config,
    /// The link's queue.
    pub queue: &'a queue::Config,
    /// The link's properties, for the queue.
    pub facts: queue::Facts,
    /// The number.
    pub flows: usize,
    /// Their round-trip time without the queue.
    pub rtt: Span,
}

impl Path<'_> {
    fn given(&self, name: &str) -> Option<String> {
        self.control.get(name).or_else(|| self.queue.get(name))
    }

    /// The continuous controller behind a sampled one.
    fn gain_and_zero(&self, names: &[&str; 3]) -> Option<(f64, f64)> {
        let number = |name: &str| self.given(name)?.parse::<f64>().ok();
        let (a, b, frequency) = (number(names[0])?, number(names[1])?, number(names[2])?);
        Some(Continuous::gain_and_zero(a, b, frequency))
    }
}

/// The model of a path with its parameters; the error says why there is none.
pub fn describe(path: &Path) -> Result<Config, String> {
    let (control, queue) = (path.control.name(), path.queue.name());
    let config = REGISTRY.iter().filter_map(|entry| Config::named(entry.name));
    let (mut config, describes) = config
        .filter_map(|config| Some((config.build().describes()?, config)))
        .find(|(describes, _)| (describes.control, describes.queue) == (control, queue))
        .map(|(describes, config)| (config, describes))
        .ok_or_else(|| format!("none describes {control} at {queue}"))?;
    let capacity = path.facts.rate.packets(path.facts.packet);
    let built = path.queue.build(path.facts);
    let mut set = |name: &str, value: String| match config.set(name, &Raw::guess(&value)) {
        Ok(()) => Ok(()),
        Err(Refusal::Unknown) => Err(format!("it has no parameter {name}")),
        Err(Refusal::Value(why)) => Err(format!("{name}: {why}")),
    };
    set("capacity", format!("{capacity}pps"))?;
    set("flows", path.flows.to_string())?;
    set("rtt", path.rtt.to_string())?;
    for (name, origin) in describes.settings {
        let value = match origin {
            Origin::Always(value) => Some((*value).to_string()),
            Origin::Given(theirs) => path.given(theirs),
            Origin::Gain(names) => path.gain_and_zero(names).map(|(gain, _)| gain.to_string()),
            Origin::Zero(names) => path.gain_and_zero(names).map(|(_, zero)| zero.to_string()),
            Origin::Queue(theirs) => {
                built.state().iter().find(|(state, _)| state == theirs).map(|(_, value)| value.to_string())
            }
            Origin::Interval => Some(Span::from_secs_f64(path.flows as f64 / capacity).to_string()),
        };
        set(name, value.ok_or_else(|| format!("nothing says its parameter {name}"))?)?;
    }
    config.check()?;
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::{Facts, Limit};
    use crate::units::{Bytes, Rate};

    fn described(control: &str, queue: &str) -> Result<Config, String> {
        let facts = Facts {
            rate: Rate::from_mbit(150),
            delay: Span::from_millis(20),
            limit: Limit::Unlimited,
            packet: Bytes(1000),
        };
        let (control, queue) = (cc::Config::named(control).unwrap(), queue::Config::named(queue).unwrap());
        describe(&Path { control: &control, queue: &queue, facts, flows: 50, rtt: Span::from_millis(60) })
    }

    #[test]
    fn the_gains_of_a_discrete_controller_are_those_of_the_continuous_one() {
        let model = described("pert-pi", "droptail").unwrap();
        let number = |name: &str| model.get(name).unwrap().parse::<f64>().unwrap();
        // (0.341625 - 0.3405) · 170 and 2 · 0.19125 / 0.682125.
        assert!((number("gain") - 0.19125).abs() < 1e-9, "{}", number("gain"));
        assert!((number("zero") - 0.560_748).abs() < 1e-6, "{}", number("zero"));
    }

    #[test]
    fn every_model_that_describes_something_can_be_built_from_it() {
        for entry in REGISTRY {
            let Some(describes) = Config::named(entry.name).unwrap().build().describes() else { continue };
            let config = described(describes.control, describes.queue).unwrap();
            assert_eq!(config.name(), entry.name);
        }
    }

    #[test]
    fn pert_on_150_mbit_rests_at_its_mean_field_queue() {
        // 1 = f W² p with W = C (R + Tq) / N and Tq = t1 + p (t2 - t1) / pmax: Tq = 5.5 ms.
        let model = described("pert", "droptail").unwrap().build();
        let rest = model.local().unwrap().equilibrium;
        assert!((rest.state[1] - 5.5e-3).abs() < 0.05e-3, "{rest:?}");
        assert!((model.queue(&rest.state) - 103.0).abs() < 1.0);
    }

    #[test]
    fn what_nobody_modelled_is_said() {
        assert_eq!(described("cubic", "droptail").unwrap_err(), "none describes cubic at droptail");
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Markov: the analysis of a persistent session, along a parameter or reading by reading, compared with drawings and
//! packets.
//!
//! The analysis requests no runs. The simulation does: at each point a dumbbell whose capacity ephemeral sessions share,
//! with the parameters of the analysis.
//!
//! | of the analysis | of the network |
//! |---|---|
//! | `rate`, `delay`, `buffer` | rate, round-trip time and buffer of the bottleneck |
//! | `packet` | a payload and 40 bytes of headers |
//! | `arrivals`, `session`, `max_sessions` | `[capacity] kind = "ephemeral"`, whose `epoch` is the delay |
//! | `protocol`, `backlog` | `ratcp` with the oracle, or `reno`; recovery by timeouts alone |
//! | `rounding` | RATCP's `rounding`: up for the next whole number, down otherwise |
//!
//! Nothing in the network corresponds to the other readings. Its timers are TCP's, not three intervals.

mod packets;

pub use packets::{Trial, Trials};

use serde::Serialize;

use super::fluid::Named;
use crate::fluid::axis::ParameterAxis;
use crate::markov::{self, PRESETS, Params, Preset, Protocol, Readings, Sampled, Solution};
use crate::rng::Rng;
use crate::settings::{Raw, Refusal, Settings};
use crate::suggest::did_you_mean;

/// A protocol of the persistent session.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Its name in tables: `RATCP δ=4`.
    pub name: String,
    /// Its parameters where nothing is varied.
    pub params: Params,
}

/// Each protocol, RATCP with each backlog, under otherwise equal parameters.
pub fn cases(base: &Params, protocols: &[Protocol], backlogs: &[f64]) -> Vec<Case> {
    let case = |protocol: &Protocol| match protocol {
        Protocol::Tcp => {
            vec![Case { name: "TCP".into(), params: Params { protocol: Protocol::Tcp, ..base.clone() } }]
        }
        Protocol::Ratcp => {
            let with = |backlog: &f64| Case {
                name: format!("RATCP δ={backlog}"),
                params: Params { protocol: Protocol::Ratcp, backlog: *backlog, ..base.clone() },
            };
            backlogs.iter().map(with).collect()
        }
    };
    protocols.iter().flat_map(case).collect()
}

/// The quantity computed at each point.
#[derive(Clone, Debug)]
pub struct Question {
    /// The protocols.
    pub cases: Vec<Case>,
    /// The parameter that is varied, if any.
    pub along: Option<ParameterAxis>,
    /// Whether each reading is changed, too.
    pub every_reading: bool,
    /// Cycles that are drawn at each point, if any.
    pub cycles: Option<u64>,
    /// The seed of the drawings.
    pub seed: u64,
}

/// A change of the readings.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The reading and its value: `service = carried`.
    pub name: String,
    /// The sentence of documentation of that value.
    pub about: &'static str,
}

/// A point that is to be computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The index of its case.
    pub case: usize,
    /// The change of the readings; none for those that were chosen.
    pub change: Option<Change>,
    /// The value along the axis, if there is one.
    pub at: Option<f64>,
    /// All parameters.
    pub params: Params,
}

/// A point of the analysis.
#[derive(Clone, Debug)]
pub struct Point {
    /// Its place.
    pub place: Place,
    /// The solution, or the reason that there is none.
    pub solution: Result<Solution, String>,
    /// The same by Monte Carlo.
    pub drawn: Option<Sampled>,
    /// The same by simulation of packets.
    pub packets: Option<Sampled>,
}

impl Question {
    /// Every place, the chosen readings first. The error names a value of the axis that is refused.
    pub fn places(&self) -> Result<Vec<Place>, String> {
        let mut places = Vec::new();
        for (index, case) in self.cases.iter().enumerate() {
            for (at, params) in along(&case.params, self.along.as_ref())? {
                places.push(Place { case: index, change: None, at, params });
            }
        }
        if self.every_reading {
            let changed = places.iter().flat_map(|place| {
                let changed = changes(&place.params).into_iter();
                changed.map(|(change, params)| Place { change: Some(change), params, ..place.clone() })
            });
            let changed = changed.collect::<Vec<_>>();
            places.extend(changed);
        }
        Ok(places)
    }

    /// The analysis at a place, and Monte Carlo if requested; `number` separates their random numbers from other
    /// places'.
    pub fn compute(&self, place: &Place, number: usize) -> Point {
        let rng = Rng::stream(self.seed, "markov", number as u64);
        let drawn = self.cycles.and_then(|cycles| markov::simulate(&place.params, cycles, rng).ok());
        Point { place: place.clone(), solution: markov::solve(&place.params), drawn, packets: None }
    }
}

/// The parameters at every value of an axis, or the given ones without an axis.
fn along(params: &Params, axis: Option<&ParameterAxis>) -> Result<Vec<(Option<f64>, Params)>, String> {
    let Some(axis) = axis else { return Ok(vec![(None, params.clone())]) };
    let numeric = Params::fields().iter().filter(|field| field.choices.is_empty());
    let Some(field) = numeric.clone().find(|field| field.name == axis.name) else {
        let names: Vec<&str> = numeric.map(|field| field.name).collect();
        return Err(format!(
            "there is no number `{}` to vary: {}",
            axis.name,
            did_you_mean(&axis.name, &names)
        ));
    };
    let whole = field.kind == <u32 as crate::settings::Setting>::KIND;
    let mut values: Vec<f64> =
        axis.values().map(|value| if whole { libm::round(value) } else { value }).collect();
    values.dedup();
    let at = |value: f64| {
        let mut params = params.clone();
        let written = axis.written(value);
        let set = params.set(&axis.name, &Raw::guess(&written)).map_err(|refusal| match refusal {
            Refusal::Value(why) => why,
            Refusal::Unknown => format!("there is no parameter `{}`", axis.name),
        });
        set.and_then(|()| params.check()).map_err(|why| format!("{} = {written}: {why}", axis.name))?;
        Ok((Some(value), params))
    };
    values.into_iter().map(at).collect()
}

/// Every change of a single reading, and every other preset, with the parameters changed. Values that contradict the
/// other parameters are left out.
fn changes(params: &Params) -> Vec<(Change, Params)> {
    let single = Readings::fields().iter().flat_map(|field| {
        let chosen = params.get(field.name).unwrap_or_default();
        let others = field.choices.iter().filter(move |(value, _)| *value != chosen);
        others.map(move |(value, about)| (format!("{} = {value}", field.name), *about, field.name, *value))
    });
    let single = single.filter_map(|(name, about, field, value)| {
        let mut changed = params.clone();
        changed.set(field, &Raw::Text(value.to_string())).ok()?;
        Some((Change { name, about }, changed))
    });
    let preset = |preset: &Preset| {
        let name = format!("preset {}", preset.name);
        (Change { name, about: preset.about }, params.clone().with(preset))
    };
    let presets = PRESETS.iter().map(preset).filter(|(_, changed)| changed != params);
    single.chain(presets).filter(|(_, changed)| changed.check().is_ok()).collect()
}

/// The analysis at every point.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The protocols.
    pub cases: Vec<Case>,
    /// The parameter that is varied, if any.
    pub along: Option<ParameterAxis>,
    /// The points in the order of [`Question::places`].
    pub points: Vec<Point>,
}

impl Outcome {
    /// The values along the axis, or none for a single point.
    pub fn values(&self) -> Vec<Option<f64>> {
        self.line(0, None).map(|point| point.place.at).collect()
    }

    /// The points of a case under a change of the readings, along the axis.
    pub fn line<'o>(&'o self, case: usize, change: Option<&'o Change>) -> impl Iterator<Item = &'o Point> {
        self.points
            .iter()
            .filter(move |point| point.place.case == case && point.place.change.as_ref() == change)
    }

    /// The changes of the readings, in order.
    pub fn changes(&self) -> Vec<&Change> {
        let mut changes: Vec<&Change> = Vec::new();
        for change in self.points.iter().filter_map(|point| point.place.change.as_ref()) {
            if !changes.contains(&change) {
                changes.push(change);
            }
        }
        changes
    }

    /// The parameters that all cases share, in their written form.
    pub fn shared(&self) -> Named<String> {
        let own = |name: &str| {
            ["protocol", "backlog"].contains(&name)
                || self.along.as_ref().is_some_and(|axis| axis.name == name)
        };
        let params = &self.cases[0].params;
        let fields = Params::fields().iter().filter(|field| !own(field.name));
        Named(fields.filter_map(|field| Some((field.name, params.get(field.name)?))).collect())
    }
}

impl Point {
    /// The solution's number; NaN without a solution.
    pub fn solved(&self, of: fn(&Solution) -> f64) -> f64 {
        self.solution.as_ref().map_or(f64::NAN, of)
    }

    /// The relative excess of the analysis's throughput over the observed one.
    pub fn excess(&self, over: &Sampled) -> f64 {
        self.solved(|solution| solution.throughput) / over.throughput.mean - 1.0
    }
}

impl Serialize for Outcome {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Written<'o> {
            parameters: Named<String>,
            along: Option<String>,
            points: Vec<WrittenPoint<'o>>,
        }
        #[derive(Serialize)]
        struct WrittenPoint<'o> {
            case: &'o str,
            protocol: String,
            change: Option<&'o str>,
            at: Option<f64>,
            solution: Option<&'o Solution>,
            error: Option<&'o str>,
            drawn: Option<Sampled>,
            packets: Option<Sampled>,
        }
        let points = self.points.iter().map(|point| WrittenPoint {
            case: &self.cases[point.place.case].name,
            protocol: point.place.params.protocol.to_string(),
            change: point.place.change.as_ref().map(|change| change.name.as_str()),
            at: point.place.at,
            solution: point.solution.as_ref().ok(),
            error: point.solution.as_ref().err().map(String::as_str),
            drawn: point.drawn,
            packets: point.packets,
        });
        let written = Written {
            parameters: self.shared(),
            along: self.along.as_ref().map(ParameterAxis::column),
            points: points.collect(),
        };
        written.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::packets::observed;
    use super::*;
    use crate::study::Study;
    use crate::study::Work;
    use crate::units::Span;

    fn question(along: Option<&str>) -> Question {
        Question {
            cases: cases(&Params::default(), &[Protocol::Ratcp, Protocol::Tcp], &[1.0, 4.0]),
            along: along.map(|text| text.parse().unwrap()),
            every_reading: false,
            cycles: None,
            seed: 1,
        }
    }

    #[test]
    fn every_case_has_every_value_and_whole_numbers_stay_whole() {
        let places = question(Some("buffer=10..13:7")).places().unwrap();
        assert_eq!(places.len(), 3 * 4);
        assert_eq!(places[..4].iter().map(|place| place.params.buffer).collect::<Vec<_>>(), [10, 11, 12, 13]);
        assert_eq!(question(None).places().unwrap().len(), 3);
        for (axis, why) in [
            ("service=1..2", "no number `service`"),
            ("arival=1..2", "`arrivals`"),
            ("arrivals=1..9", "per delay"),
        ] {
            let wrong = question(Some(axis)).places().unwrap_err();
            assert!(wrong.contains(why), "{axis}: {wrong}");
        }
    }

    #[test]
    fn every_reading_is_changed_alone_for_every_case() {
        let places = Question { every_reading: true, ..question(None) }.places().unwrap();
        let values: usize = Readings::fields().iter().map(|field| field.choices.len() - 1).sum();
        assert_eq!(places.len(), 3 * (1 + values + PRESETS.len() - 1));
    }

    #[test]
    fn the_scenarios_are_valid_and_packets_agree_with_an_undisturbed_session() {
        let question = question(None);
        let places = question.places().unwrap();
        let trial = Trial { seeds: vec![1, 2], duration: Span::from_secs(400) };
        let trials = trial.plan(&question.cases, &places).unwrap();
        assert_eq!((trials.wanted().len(), trials.scenarios.len()), (6, 3));
        let Work::Packets(packets) = trials.wanted()[1].work else { panic!("no packets") };
        let (seen, _) = packets.run(1);
        let [throughput, efficiency, losses] = observed(&seen.rows, 8.0 * 960.0);
        assert!((60.0..100.0).contains(&throughput), "{throughput}");
        assert!((0.8..1.01).contains(&efficiency), "{efficiency}");
        assert!(losses < 0.1, "{losses}");
    }
}

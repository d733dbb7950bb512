// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The sections of an experiment, declared field by field.

use super::claim::{Cause, Need};
use crate::predict::Config;
pub use crate::scenario::{FigureSpec, Names, Scale, Words};
use crate::spec::{Roster, Slot, Valid};
use crate::study::Watched;
use crate::trace::FlowId;

crate::settings! {
    /// The description of an experiment.
    pub struct Head {
        /// Its name in files and reports, as in `pert-fig6`.
        id: Words = Words::default();
        /// Its subject.
        title: Words = Words::default();
        /// Publication, section, figure.
        source: Words = Words::default();
        /// The words of the source that it makes runnable, for a case of a gate.
        quote: Words = Words::default();
    }
}

crate::settings! {
    /// The predictors, and the flow that they watch.
    pub struct Predict {
        /// The flow: its group and its place there, as in `tagged/0`.
        flow: Words = Words::default();
        /// The predictors, with settings as in `ewma:history=0.9`.
        predictors: Names = Names::default();
        /// An episode of losses ends after this many round trips without a drop.
        hold_off: f64 = 1.0, 0.0..=1000.0;
        /// Steps in which the queue at false positives is counted.
        bins: u32 = 10, 1..=1000;
    }
}

impl Predict {
    /// The predictors on its flow; the error says why there is no such flow.
    pub fn watched(&self, valid: &Valid, predictors: &[(String, Config)]) -> Result<Watched, String> {
        let wanted = self.flow.0.rsplit_once('/').and_then(|(name, place)| Some((name, place.parse().ok()?)));
        let is_wanted = |Slot { group, index }: &Slot| {
            let group = &valid.groups()[*group];
            group.kind().listed() && wanted == Some((group.name.as_str(), *index))
        };
        let place = Roster::new(valid).fixed().iter().position(is_wanted);
        let flow = place.ok_or_else(|| format!("flow: there is no `{}`", self.flow))?;
        Watched::flow(valid, FlowId(flow as u32), predictors, self.hold_off, self.bins as usize)
    }
}

crate::settings! {
    /// The statement that is claimed.
    pub struct Statement {
        /// The claim's name within the experiment.
        id: Words = Words::default();
        /// Its sentence, in our words.
        text: Words = Words::default();
        /// The comparisons that test it.
        check: Names = Names::default();
        /// The axes at whose every value it is tested.
        each: Names = Names::default();
        /// The number of these points at which it must hold.
        need: Need = Need::All;
        /// The tolerance in the comparisons, and its origin.
        tolerance: Words = Words::default();
        /// The reason why we believe that it does not hold, or cannot be tested.
        reason: Words = Words::default();
        /// The kind of that reason. Where it is `unknown`, and the claim holds under another reading that was run, it
        /// is `unstated`.
        cause: Cause = Cause::Unknown;
    }
}

crate::settings! {
    /// A gap of the publication.
    pub struct Silence {
        /// The unstated point.
        about: Words = Words::default();
        /// Our choice.
        taken: Words = Words::default();
    }
}

crate::settings! {
    /// A gap of the publication in several experiments.
    pub struct SharedSilence {
        /// The reading's name within the publication.
        id: Words = Words::default();
        /// The unstated point.
        about: Words = Words::default();
        /// Our choice.
        taken: Words = Words::default();
        /// The sentence or the measurement that the choice rests on.
        because: Words = Words::default();
        /// The figures and tables concerned, as in `fig2`; by default all whose runs it changes.
        experiments: Names = Names::default();
        /// Whether its alternatives are also combined with other readings' alternatives.
        joint: bool = true;
    }
}

crate::settings! {
    /// A word of the text that is a number in checks.
    pub struct WordParams {
        /// The word, as in `similar`.
        name: Words = Words::default();
        /// The number.
        value: f64 = 0.0, 0.0..=1000.0;
        /// The quantity that it counts.
        about: Words = Words::default();
    }
}

crate::settings! {
    /// Alternative meanings.
    pub struct Alternative {
        /// The difference.
        name: Words = Words::default();
    }
}

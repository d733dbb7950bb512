// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A baseline: the accepted verdicts and numbers of a gate, for each pace.
//!
//! Numbers are kept seed by seed, because a later run has the same seeds: differences are then due to the subject and
//! not to the random numbers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Outcome;
use crate::experiment::claim::Sides;
use crate::experiment::{CheckResult, Pace, Verdict};
use crate::table::Labels;

/// The version of the layout of the file.
const VERSION: u32 = 1;

/// An accepted outcome for each pace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// The version of the layout.
    pub baseline_version: u32,
    /// The subject.
    pub subject: String,
    /// The accepted cases by pace, and then by their ids.
    pub paces: BTreeMap<String, BTreeMap<String, KeptCase>>,
}

/// The claims of an accepted case by their ids.
pub type KeptCase = BTreeMap<String, KeptClaim>;

/// An accepted claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptClaim {
    /// Its verdict: `holds`, `fails`, `untestable`.
    pub verdict: String,
    /// Its comparisons.
    pub checks: Vec<KeptCheck>,
}

/// An accepted comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptCheck {
    /// The point.
    pub at: Labels,
    /// As written.
    pub check: String,
    /// Its sides for each seed.
    pub sides: Vec<Sides>,
}

impl KeptClaim {
    /// Whether it did not hold.
    pub fn failed(&self) -> bool {
        self.verdict == Verdict::Fails.name()
    }

    /// The same comparison, if it was accepted.
    pub fn same(&self, other: &CheckResult) -> Option<&KeptCheck> {
        self.checks.iter().find(|kept| kept.check == other.check && kept.at == other.at)
    }
}

impl Baseline {
    /// Reads a file; the error names the fault.
    pub fn read(text: &str) -> Result<Baseline, String> {
        let read: Baseline =
            serde_json::from_str(text).map_err(|error| format!("it is no baseline: {error}"))?;
        match read.baseline_version {
            VERSION => Ok(read),
            other => Err(format!("its version is {other}, and this program reads version {VERSION}")),
        }
    }

    /// The text of the file: equal baselines are identical byte by byte.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// The accepted cases of a pace; none if none was accepted.
    pub fn of(&self, pace: Pace) -> Option<&BTreeMap<String, KeptCase>> {
        self.paces.get(pace.name())
    }

    /// This baseline with the cases of an outcome instead of the accepted ones. Accepted cases that were not run
    /// stay, unless [the gate](Outcome::gone) no longer has them. Another subject starts from an empty baseline.
    pub fn accepting(self, outcome: &Outcome) -> Baseline {
        let mut paces = if self.subject == outcome.subject { self.paces } else { BTreeMap::new() };
        let cases = outcome.cases.iter().map(|case| {
            let claims = case.claims.iter().map(|claim| {
                let kept = KeptClaim {
                    verdict: claim.judgement.verdict.name().to_string(),
                    checks: claim.judgement.points.iter().map(kept).collect(),
                };
                (claim.claim.id.clone(), kept)
            });
            (case.id.clone(), claims.collect())
        });
        let accepted = paces.entry(outcome.pace.name().to_string()).or_default();
        accepted.retain(|id, _| !outcome.gone.contains(id));
        accepted.extend(cases);
        Baseline { baseline_version: VERSION, subject: outcome.subject.clone(), paces }
    }
}

fn kept(result: &CheckResult) -> KeptCheck {
    KeptCheck { at: result.at.clone(), check: result.check.clone(), sides: result.sides.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_baseline_reads_back_to_the_last_bit_and_refuses_another_version() {
        let sides = vec![Sides { seed: 1, left: 0.1 + 0.2, right: 1e-300 }];
        let check = KeptCheck { at: Labels::new(), check: "a > b".into(), sides };
        let claim = KeptClaim { verdict: "fails".into(), checks: vec![check] };
        let case = BTreeMap::from([("claim".to_string(), claim)]);
        let paces = BTreeMap::from([("full".to_string(), BTreeMap::from([("case".to_string(), case)]))]);
        let baseline = Baseline { baseline_version: VERSION, subject: "pert".into(), paces };
        let text = baseline.text();
        assert_eq!(Baseline::read(&text).unwrap(), baseline);
        let newer = text.replace("\"baseline_version\": 1", "\"baseline_version\": 2");
        assert!(Baseline::read(&newer).unwrap_err().contains("version is 2"));
        assert!(baseline.of(Pace::Full).is_some() && baseline.of(Pace::Quick).is_none());
    }
}

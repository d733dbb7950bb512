// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The state of a hunt, from which it can be resumed.

use serde::Deserialize;
use serde_json::Value;

use super::Outcome;
use crate::report::reading::Unreadable;
use crate::report::{Manifest, SCHEMA_VERSION};
use crate::study::hunt::{Contestants, Elite, Hunt, Progress};
use crate::table::{Cell, Records};

crate::keys! {
    /// A hunt.
    #[derive(Clone, Debug)]
    pub struct Hunted {
        /// The scheme that is hunted.
        pub subject: String,
        /// The scheme with which it is compared.
        pub reference: String,
        /// The hosts: `linux` or `paper`.
        pub tcp: String,
        /// The profile of realism.
        pub profile: String,
        /// The greatest number of steps of a network.
        pub steps: u32,
        /// The seed of the search.
        pub seed: u64,
        /// Networks that were evaluated.
        pub evaluations: u64,
        /// One for each weakness.
        pub weaknesses: Vec<Searched>,
        /// One for each network on which a weakness was confirmed, in its simplest form.
        pub findings: Vec<Found>,
        /// Enough to repeat the hunt.
        pub manifest: Manifest,
    }

    /// A weakness and the networks of the archive.
    #[derive(Clone, Debug)]
    pub struct Searched {
        /// Its name.
        pub weakness: String,
        /// Its description.
        pub about: String,
        /// The least score of a finding.
        pub found: f64,
        /// The greatest score; null before the first evaluation.
        pub best: Option<f64>,
        /// The part of the known cells in which the score is at least that of a finding.
        pub part: f64,
        /// How many of the worst networks, each with another change of the rate, do not show it: the mean score
        /// over all seeds of a finding is less than that of a finding, or the two numbers that a comparison
        /// measures do not differ.
        pub not_confirmed: usize,
        /// The map: the network of the greatest score in each cell that is known.
        pub archive: Vec<Elite>,
    }

    /// A finding.
    #[derive(Clone, Debug)]
    pub struct Found {
        /// Its name, as in `findings/NAME.toml`.
        pub finding: String,
        /// The weakness.
        pub weakness: String,
        /// The score, the mean over its seeds.
        pub score: f64,
        /// The number of steps of the network.
        pub steps: usize,
        /// The scheme's number, in the unit of the claim.
        pub subject: f64,
        /// The reference's.
        pub reference: f64,
        /// The verdict on the claim.
        pub verdict: String,
        /// The claim in words.
        pub claim: String,
        /// The scenario with its claim.
        pub text: String,
        /// The case of a gate.
        pub case: String,
        /// The address of the scenario in the studio, after the page's.
        pub studio: String,
    }
}

/// A hunt for machines.
pub fn hunted(outcome: &Outcome, manifest: &Manifest) -> Hunted {
    let Hunt { arena, profile, seed, progress } = outcome.hunt;
    let searched =
        outcome.hunt.archives().zip(outcome.others).map(|((weakness, archive), others)| Searched {
            weakness: weakness.name.into(),
            about: weakness.about.into(),
            found: weakness.found,
            best: archive.best().map(|elite| elite.score),
            part: archive.part_above(weakness.found),
            not_confirmed: *others,
            archive: archive.elites().cloned().collect(),
        });
    let found = outcome.findings.iter().zip(outcome.links).map(|(finding, link)| Found {
        finding: finding.id.clone(),
        weakness: finding.weakness.name.into(),
        score: finding.score,
        steps: finding.genome.steps.len(),
        subject: finding.values[0],
        reference: finding.values[1],
        verdict: finding.verdict.name().into(),
        claim: finding.claim.clone(),
        text: finding.text.clone(),
        case: finding.case.clone(),
        studio: link.clone(),
    });
    Hunted {
        subject: arena.contestants.subject.name.clone(),
        reference: arena.contestants.reference.name.clone(),
        tcp: arena.contestants.host.name().into(),
        profile: profile.name.into(),
        steps: profile.steps,
        seed: *seed,
        evaluations: progress.evaluations,
        weaknesses: searched.collect(),
        findings: found.collect(),
        manifest: manifest.clone(),
    }
}

/// A table with a line for each finding, for CSV and Python.
pub fn records(outcome: &Outcome) -> Records {
    let columns = ["finding", "weakness", "score", "steps", "subject", "reference", "verdict", "claim"];
    let row = |finding: &crate::experiment::hunted::Finding| {
        vec![
            Cell::from(finding.id.as_str()),
            Cell::from(finding.weakness.name),
            Cell::Number(finding.score),
            Cell::Number(finding.genome.steps.len() as f64),
            Cell::Number(finding.values[0]),
            Cell::Number(finding.values[1]),
            Cell::from(finding.verdict.name()),
            Cell::from(finding.claim.as_str()),
        ]
    };
    Records { columns: columns.map(String::from).to_vec(), rows: outcome.findings.iter().map(row).collect() }
}

/// The progress that the file of an earlier hunt with this question records; the error names what differs, or
/// what no hunt writes.
pub fn read(hunt: &Hunt, text: &str) -> Result<Progress, String> {
    let written: Value = serde_json::from_str(text).map_err(|why| format!("it is no JSON: {why}"))?;
    match written["schema_version"].as_u64() {
        Some(version) if version == u64::from(SCHEMA_VERSION) => {}
        Some(version) => return Err(Unreadable::Version(version).to_string()),
        None => return Err("it is no result of `knee hunt`".into()),
    }
    for (key, own) in question(hunt) {
        if written[key] != own {
            return Err(format!("its {key} is {}, and this hunt's is {own}", written[key]));
        }
    }
    let searched = written["weaknesses"].as_array().map_or(&[][..], |all| &all[..]);
    let names = hunt.arena.weaknesses.iter().map(|weakness| weakness.name);
    if !searched.iter().map(|one| one["weakness"].as_str()).eq(names.map(Some)) {
        return Err("it is about other weaknesses".into());
    }
    let evaluations = &written["evaluations"];
    let evaluations = evaluations
        .as_u64()
        .ok_or_else(|| format!("its evaluations are {evaluations}, not a whole number"))?;
    Progress::restored(hunt, evaluations, searched.iter().map(elites).collect::<Result<_, _>>()?)
}

/// What must be the same of two hunts for one to go on where the other ended, by the keys of a file.
fn question(hunt: &Hunt) -> [(&'static str, Value); 6] {
    let Contestants { subject, reference, host, .. } = &hunt.arena.contestants;
    [
        ("subject", subject.name.as_str().into()),
        ("reference", reference.name.as_str().into()),
        ("tcp", host.name().into()),
        ("profile", hunt.profile.name.into()),
        ("steps", hunt.profile.steps.into()),
        ("seed", hunt.seed.into()),
    ]
}

/// The networks of a weakness as they are written.
fn elites(searched: &Value) -> Result<Vec<Elite>, String> {
    let name = searched["weakness"].as_str().unwrap_or_default();
    let damaged = |what: String| format!("archive of `{name}`, {what}");
    let entries = searched["archive"].as_array().ok_or_else(|| damaged("which is no list".into()))?;
    let elite = |(place, entry): (usize, &Value)| {
        Elite::deserialize(entry).map_err(|why| damaged(format!("entry {place}: {why}")))
    };
    (1..).zip(entries).map(elite).collect()
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Hunts on all cores, until something is found or the budget is over.

use std::time::{Duration, Instant};

use kneepoint::scenario::Extensions;
use kneepoint::study::hunt::{Arena, Contestants, Elite, Hunt, Profile, Weakness};
use kneepoint::tcp::Host;
use rayon::prelude::*;

/// A hunt with Linux hosts before its first round.
pub fn hunt(
    subject: &str,
    reference: &str,
    weaknesses: &[&'static Weakness],
    profile: &Profile,
    seed: u64,
) -> Result<Hunt, String> {
    let contestants = Contestants::new(subject, reference, Host::Linux, &Extensions::NONE)?;
    Ok(Hunt::new(Arena::new(contestants, weaknesses.to_vec()), profile.clone(), seed))
}

/// Makes a round.
pub fn round(hunt: &mut Hunt, last: u64) -> Result<(), String> {
    let round = hunt.round(last);
    let scores: Result<Vec<_>, _> = round.par_iter().map(|genome| hunt.scores(genome)).collect();
    hunt.take(&round, &scores.map_err(|invalid| invalid.to_string())?);
    Ok(())
}

/// A network that meets a condition, with the evaluations and the time until then; none within the budget.
#[expect(clippy::disallowed_methods, reason = "the budget is a time")]
pub fn until(
    hunt: &mut Hunt,
    budget: Duration,
    is: impl Fn(&Hunt, &Elite) -> bool,
) -> Result<Option<(Elite, u64, Duration)>, String> {
    let began = Instant::now();
    while began.elapsed() < budget {
        round(hunt, u64::MAX)?;
        let ranked = hunt.progress.archives[0].ranked();
        if let Some(found) = ranked.into_iter().take(12).find(|elite| is(hunt, elite)) {
            return Ok(Some((found.clone(), hunt.progress.evaluations, began.elapsed())));
        }
    }
    Ok(None)
}

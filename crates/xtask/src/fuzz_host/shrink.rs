// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The smallest plan whose script still differs: simpler plans are played to the kernel again, all at once.

use kneepoint::units::Span;
use kneepoint_linux::player::plan::{Impairment, MSS, Plan};

use super::generator::Case;

/// Rounds at most; each makes the plan simpler.
const ROUNDS: usize = 40;

/// Makes a case simpler while `differs`, which plays cases and says which scripts differ, finds one that still does.
pub fn shrink(
    mut case: Case,
    mut differs: impl FnMut(&[Case]) -> Result<Vec<bool>, String>,
) -> Result<Case, String> {
    for _ in 0..ROUNDS {
        let simpler = simpler(&case);
        let differing = differs(&simpler)?;
        // The greatest step is the first.
        let Some(next) = simpler.into_iter().zip(differing).find_map(|(one, still)| still.then_some(one))
        else {
            break;
        };
        case = next;
    }
    Ok(case)
}

/// Plans that are simpler by one step, the greatest step first.
fn simpler(case: &Case) -> Vec<Case> {
    let plan = &case.plan;
    let mut plans = Vec::new();
    let count = plan.impairments.len();
    let without = |range: std::ops::Range<usize>| {
        let mut less = plan.clone();
        less.impairments.drain(range);
        less
    };
    let mut part = count;
    while part > 0 {
        plans.extend((0..count).step_by(part).map(|at| without(at..(at + part).min(count))));
        part /= 2;
    }
    plans.extend(shorter(plan));
    let steps: [fn(&mut Plan); 9] = [
        |less| less.writes.truncate(1),
        |less| less.jitter = Span::ZERO,
        |less| less.spacing = Span::ZERO,
        |less| less.timestamps = false,
        |less| less.ecn = false,
        |less| less.every = 1,
        |less| (less.scale, less.window) = (7, 1 << 20),
        |less| less.rtt = rounded(less.rtt),
        |less| less.writes.iter_mut().for_each(|write| write.at = rounded(write.at)),
    ];
    plans.extend(steps.map(|step| {
        let mut less = plan.clone();
        step(&mut less);
        less
    }));
    plans.retain(|less| less != plan);
    plans.into_iter().map(|less| Case { plan: less, ..case.clone() }).collect()
}

/// Plans with less data: without its end, and without its beginning, so that the disturbance moves to the front.
fn shorter(plan: &Plan) -> impl Iterator<Item = Plan> {
    [(1, 2), (3, 4), (9, 10)].into_iter().flat_map(|(of, parts)| {
        let mut less = plan.clone();
        for write in &mut less.writes {
            write.bytes = (write.bytes / MSS * of / parts).max(1) * MSS;
        }
        let segments = |one: &Plan| one.writes.iter().map(|write| write.bytes / MSS).sum::<u32>();
        let mut moved = less.clone();
        let by = segments(plan) - segments(&less);
        moved.impairments.iter_mut().for_each(|impairment| advance(impairment, by));
        [less, moved]
    })
}

/// The same this many segments, or acknowledgements, earlier.
fn advance(impairment: &mut Impairment, by: u32) {
    use Impairment::{Late, LateAck, Loss, LostAck, Mark, Twice, Window};
    match impairment {
        Loss(one) | Late(one, _) | Twice(one, _) | Mark(one) => one.segment = one.segment.saturating_sub(by),
        LostAck(number) | LateAck(number, _) => *number = number.saturating_sub(by),
        Window(..) => {}
    }
}

/// Rounded up to ten milliseconds.
fn rounded(span: Span) -> Span {
    Span::from_millis(span.0.div_ceil(10_000_000) * 10)
}

#[cfg(test)]
mod tests {
    use kneepoint_linux::player::plan::{Transmission, Write};

    use super::super::features::FEATURES;
    use super::super::generator::{Choice, case};
    use super::*;

    #[test]
    fn what_is_left_is_what_the_difference_needs() {
        let choice =
            Choice { features: FEATURES.iter().collect(), controllers: vec!["reno".into()], together: 3 };
        let needed = Impairment::Loss(Transmission { segment: 3, nth: 0 });
        let mut whole = case(5, &choice);
        let at = Span::from_millis(300);
        whole.plan.writes = vec![Write { at, bytes: 90 * MSS }, Write { at: at + at, bytes: 9 * MSS }];
        whole.plan.impairments.insert(1.min(whole.plan.impairments.len()), needed);
        let differs = |cases: &[Case]| {
            let needs =
                |one: &Case| one.plan.impairments.contains(&needed) && one.plan.writes[0].bytes >= 7 * MSS;
            Ok(cases.iter().map(needs).collect())
        };
        let left = shrink(whole, differs).unwrap().plan;
        assert_eq!((left.impairments, left.writes.len()), (vec![needed], 1));
        assert!(left.writes[0].bytes <= 8 * MSS && left.jitter == Span::ZERO && left.every == 1);
        assert_eq!(left.rtt.0 % 10_000_000, 0);
    }

    #[test]
    fn a_case_that_needs_everything_stays_as_it_is() {
        let choice =
            Choice { features: FEATURES.iter().collect(), controllers: vec!["cubic".into()], together: 2 };
        let whole = case(9, &choice);
        let left = shrink(whole.clone(), |cases| Ok(vec![false; cases.len()])).unwrap();
        assert_eq!(left, whole);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Hunts: networks as specs and as texts, rounds, the use of a find.

use kneepoint::experiment::Verdict;
use kneepoint::experiment::hunted::{Finding, Origin, judged};
use kneepoint::report::hunt::{Outcome, hunted, read};
use kneepoint::report::{Manifest, json};
use kneepoint::rng::Rng;
use kneepoint::scenario::{self, Extensions};
use kneepoint::spec::Builder;
use kneepoint::study::hunt::{
    Arena, Company, Contestants, Genome, Hunt, Line, PROFILES, Profile, Step, WEAKNESSES, Weakness, shrink,
};
use kneepoint::tcp::Host;

fn contestants(subject: &str) -> Contestants {
    Contestants::new(subject, "cubic", Host::Linux, &Extensions::NONE).unwrap()
}

fn hunt(subject: &str, weaknesses: &[&str], seed: u64) -> Hunt {
    let weaknesses = weaknesses.iter().map(|name| Weakness::named(name).unwrap()).collect();
    Hunt::new(Arena::new(contestants(subject), weaknesses), Profile::named("any").unwrap().clone(), seed)
}

fn rounds(hunt: &mut Hunt, last: u64) {
    while hunt.progress.evaluations < last {
        let round = hunt.round(last);
        let scores: Vec<Vec<f64>> = round.iter().map(|genome| hunt.scores(genome).unwrap()).collect();
        hunt.take(&round, &scores);
    }
}

#[test]
fn runs_that_are_left_out_change_no_archive() {
    let names: Vec<&str> = WEAKNESSES.iter().map(|one| one.name).collect();
    let mut quick = hunt("bbr", &names, 3);
    let mut whole = quick.clone();
    rounds(&mut quick, 512);
    while whole.progress.evaluations < 512 {
        let round = whole.round(512);
        let scores: Vec<_> = round.iter().map(|genome| whole.arena.scores(genome).unwrap()).collect();
        whole.take(&round, &scores);
    }
    assert_eq!(quick.progress, whole.progress);
}

#[test]
fn a_network_is_the_same_directly_and_as_a_text() {
    let contestants = contestants("bbr");
    let mut rng = Rng::stream(1, "networks", 0);
    for profile in PROFILES {
        for _ in 0..60 {
            let genome = profile.draw(&mut rng);
            assert!(profile.allows(&genome), "{}: {genome:?}", profile.name);
            for company in Company::ALL {
                let contest = contestants.contest(*company, false);
                let rated = genome.rated(contest.is_pair());
                let direct = genome.valid(&contest, rated).unwrap_or_else(|why| panic!("{why}: {genome:?}"));
                let flow = |line: Line| {
                    let cc = contest.group(line).cc.as_ref().unwrap().name();
                    format!(
                        "{{ name = \"{line}\", cc = \"{cc}\"{} }}",
                        genome.fields(line, contest.is_pair())
                    )
                };
                let flows: Vec<String> = contest.lines().map(flow).collect();
                let text = format!(
                    "name = \"hunt\"\n{}tcp = {{ preset = \"linux\" }}\nflows = [{}]\n",
                    genome.lines(rated, 1),
                    flows.join(", ")
                );
                let plan = scenario::parse(&text).unwrap_or_else(|faults| panic!("{}\n{text}", faults[0]));
                let written: &Builder = plan.cases[0].valid.parts();
                assert_eq!(direct.parts(), written, "{text}");
            }
        }
    }
}

#[test]
fn a_hunt_that_goes_on_ends_where_one_without_a_pause_does() {
    let mut whole = hunt("vegas", &["use", "starvation"], 3);
    let mut first = whole.clone();
    rounds(&mut whole, 256);
    rounds(&mut first, 128);
    let told = json::render(&hunted(
        &Outcome { hunt: &first, findings: &[], links: &[], others: &[0; 2] },
        &Manifest::default(),
    ));
    let mut second = hunt("vegas", &["use", "starvation"], 3);
    second.progress = read(&second, &told).unwrap();
    assert_eq!(second.progress, first.progress);
    rounds(&mut second, 256);
    assert_eq!(second.progress, whole.progress);
    let wrong = |other: &Hunt| read(other, &told).unwrap_err();
    assert!(wrong(&hunt("vegas", &["use", "starvation"], 4)).contains("its seed is 3"));
    assert!(wrong(&hunt("bbr", &["use", "starvation"], 3)).contains("its subject is \"vegas\""));
    assert!(wrong(&hunt("vegas", &["use"], 3)).contains("other weaknesses"));
}

/// AdvNet's worst trace of Vegas: the round trip rises.
fn risen() -> Genome {
    let step = |rate, delay, lasting| Step { rate, delay, lasting };
    Genome { steps: vec![step(500, 1, 500), step(10_000, 26, 1850)], ..Genome::plain(7600) }
}

#[test]
fn a_find_is_made_simple_and_its_claim_holds_and_its_case_fails() {
    let names = ["use", "stall", "queue", "swing", "loss", "share", "starvation"];
    let mut hunt = hunt("vegas", &names, 1);
    rounds(&mut hunt, 384);
    let known = contestants("vegas");
    let origin =
        Origin { contestants: &known, about: "profile any, seed 1".into(), extensions: &Extensions::NONE };
    let mut found = 0;
    for (place, name) in names.iter().enumerate() {
        let Some(elite) = hunt.suspects(place).first().copied().cloned() else { continue };
        let Some(simple) = shrink(&hunt.arena, place, &elite.genome, &hunt.profile, || true).unwrap() else {
            continue;
        };
        assert!(simple.genome.steps.len() <= 3, "{name}: {}", simple.genome);
        let stopped = shrink(&hunt.arena, place, &elite.genome, &hunt.profile, || false).unwrap().unwrap();
        assert_eq!((stopped.genome, stopped.tried), (elite.genome, 1));
        let weakness = Weakness::named(name).unwrap();
        let finding =
            Finding::new(&origin, (format!("vegas-{name}-1"), weakness), &simple.genome, simple.score)
                .unwrap();
        let Some(finding) = finding else { continue };
        assert_eq!(finding.verdict, Verdict::Holds, "{}", finding.text);
        for text in [&finding.text, &finding.case] {
            assert!(text.lines().count() <= 15, "{text}");
        }
        let verdict = |scheme| judged(&finding.case, scheme, &Extensions::NONE).unwrap().verdict;
        assert_eq!(
            (verdict("vegas"), verdict("cubic")),
            (Verdict::Fails, Verdict::Holds),
            "{}",
            finding.case
        );
        found += 1;
    }
    assert!(found >= 2, "Vegas has weaknesses");
}

#[test]
fn vegas_takes_a_rise_of_the_round_trip_for_a_queue() {
    let arena = Arena::new(contestants("vegas"), vec![&WEAKNESSES[0]]);
    let scores = arena.scores(&risen()).unwrap();
    assert!(scores[0] > 0.3, "{scores:?}");
}

#[test]
fn every_profile_says_where_its_bounds_come_from() {
    for profile in PROFILES {
        assert!(profile.source.contains("20") && !profile.about.is_empty(), "{}", profile.name);
        assert!(profile.steps <= 15 && Profile::named(profile.name).is_some());
    }
}

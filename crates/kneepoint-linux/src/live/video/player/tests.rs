// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::super::stream::tests::film;
use super::*;

const CACHING: Span = Span::from_secs(1);

fn at(seconds: f64) -> Time {
    Span::from_secs_f64(seconds).after_start()
}

/// Plays a film of `seconds` whose bytes arrive at the times that `arrives` gives for their places in it, in seconds.
fn played(seconds: u64, empty: Empty, arrives: impl Fn(f64) -> f64) -> Playback {
    let bytes = film(24, seconds);
    let buffering = Buffering { caching: CACHING, buffer: Span::from_secs(100), empty };
    let mut player = Player::new(buffering, Time::ZERO);
    let parts = bytes.chunks(188).count() as f64;
    for (place, part) in bytes.chunks(188).enumerate() {
        player.take(part, at(arrives(place as f64 / parts * seconds as f64)));
    }
    let last = at(arrives(seconds as f64));
    player.end(last);
    player.finish(last)
}

#[test]
fn a_film_that_comes_in_time_starts_with_its_cache_full_and_nothing_is_late() {
    for empty in [Empty::Skip, Empty::Pause] {
        let seen = played(10, empty, |place| place / 2.0);
        let started = seen.started.unwrap();
        assert!(started >= at(0.5) && started < at(0.6), "{started}");
        assert_eq!((seen.late_pictures, seen.starvings, seen.stalls.len()), (0, 0, 0));
        assert_eq!((seen.pictures, seen.complete), (240, true));
    }
}

/// Everything from the fifth second on comes three seconds late, with one second ahead: two seconds of pictures are due before.
#[test]
fn a_gap_makes_pictures_late_under_a_clock_that_goes_on_and_is_one_starvation() {
    let gap = |place: f64| if place < 5.0 { place } else { 8.0 + (place - 5.0) / 100.0 };
    let seen = played(10, Empty::Skip, gap);
    assert!((46..=50).contains(&seen.late_pictures), "{seen:?}");
    assert_eq!((seen.starvings, seen.stalls.len()), (1, 0));
}

#[test]
fn a_gap_is_one_stall_under_a_clock_that_stops() {
    let gap = |place: f64| if place < 5.0 { place } else { 8.0 + (place - 5.0) / 100.0 };
    let seen = played(10, Empty::Pause, gap);
    let [(since, span)] = seen.stalls[..] else { panic!("{seen:?}") };
    // It began a second before the end of the buffered part, and ends when another second is buffered.
    assert!(since > at(5.9) && since < at(6.1) && since + span < at(8.1), "{since} {span}");
    assert!(seen.late_pictures + seen.starvings >= 1 && seen.late_pictures <= 1, "{seen:?}");
}

#[test]
fn a_link_that_carries_half_the_film_stops_it_for_half_of_the_time() {
    let seen = played(40, Empty::Pause, |place| 2.0 * place);
    let stalled = seen.stalls.iter().fold(Span::ZERO, |sum, (_, span)| sum + *span).as_secs_f64();
    assert!((stalled - 39.0).abs() < 1.5, "{stalled}");
    // A second of film plays for a second, while half a second arrives: it is fetched again and again.
    assert!(seen.stalls.len() >= 18 && seen.stalls.len() <= 40, "{}", seen.stalls.len());
}

#[test]
fn a_player_reads_no_further_than_its_buffer_and_what_never_came_is_late() {
    let buffering = Buffering { caching: CACHING, buffer: CACHING, empty: Empty::Skip };
    let mut player = Player::new(buffering, Time::ZERO);
    let bytes = film(24, 10);
    let mut taken = 0;
    for part in bytes.chunks(188) {
        if !player.reads(Time::ZERO) {
            break;
        }
        player.take(part, Time::ZERO);
        taken += part.len();
    }
    assert!(taken > bytes.len() / 12 && taken < bytes.len() / 8, "{taken} of {}", bytes.len());
    assert!(player.reads(at(0.5)));
    let mut seen = player.finish(at(20.0));
    seen.settle(240, Empty::Skip);
    assert_eq!(seen.late_pictures, 240 - seen.pictures);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Predictors give the same scores live and on a recording of the run, sorted afterwards.

use kneepoint::link::loss;
use kneepoint::packet::Flags;
use kneepoint::predict::{self, Judge, Laboratory, Prediction, Sample, Score};
use kneepoint::queue::{Fate, Reason};
use kneepoint::run;
use kneepoint::spec::Valid;
use kneepoint::trace::{Event, FlowId, LinkId, Observer};
use kneepoint::units::{Rate, Span, Time};

use crate::common::dumbbell::{
    at, bottleneck, disciplines, edit, flow, full, group, interval, link, minimal, scenario,
};

const TAGGED: FlowId = FlowId(0);
const BINS: usize = 20;
const BUFFER: f64 = 50.0;

/// The recorded events of flow 0 and link 0.
#[derive(Default)]
struct Tape {
    acked: Vec<Sample>,
    drops: Vec<(Time, Judge)>,
    queue: Vec<(Time, u32)>,
}

impl Observer for Tape {
    fn on(&mut self, at: Time, event: &Event) {
        match event {
            Event::Acked { flow: TAGGED, acked, rtt: Some(rtt), one_way, window } => {
                let acked = acked.0.div_ceil(1000) as u32;
                self.acked.push(Sample { now: at, rtt: *rtt, window: *window, one_way: *one_way, acked });
            }
            Event::Arrival { link, packet, fate: Fate::Dropped(reason) }
            | Event::Fate { link, packet, fate: Fate::Dropped(reason) } => {
                if packet.flow == TAGGED.0 && !packet.flags.has(Flags::ACK) {
                    self.drops.push((at, Judge::Flow));
                }
                if *link == LinkId(0) && *reason != Reason::Channel {
                    self.drops.push((at, Judge::Queue));
                }
            }
            Event::Queue { link: LinkId(0), backlog } => self.queue.push((at, backlog.packets)),
            _ => {}
        }
    }
}

/// Recorded events, in their order within one instant.
enum Line {
    Queue(u32),
    Sample(Sample),
    Drop(Judge),
}

impl Tape {
    /// Replays everything before `end` in order, and counts from `begin` on.
    fn play(self, begin: Time, end: Time) -> Vec<Score> {
        let mut lines: Vec<((Time, u8), Line)> = Vec::new();
        lines.extend(self.drops.iter().map(|&(at, judge)| ((at, 2), Line::Drop(judge))));
        lines.extend(self.acked.iter().map(|sample| ((sample.now, 1), Line::Sample(*sample))));
        lines.extend(self.queue.iter().map(|&(at, packets)| ((at, 0), Line::Queue(packets))));
        lines.sort_by_key(|(place, _)| *place);
        let mut laboratory = Laboratory::new(&predict::standard(), 1.0, BUFFER, BINS);
        let mut counting = false;
        for ((at, _), line) in lines.into_iter().filter(|((at, _), _)| *at < end) {
            if at >= begin && !counting {
                laboratory.forget();
                counting = true;
            }
            match line {
                Line::Drop(judge) => laboratory.lose(at, judge),
                Line::Sample(sample) => laboratory.observe(&sample),
                Line::Queue(packets) => laboratory.queue(at, packets),
            }
        }
        laboratory.finish()
    }
}

/// The scores of the live run and of the recording, which must agree.
fn scores(valid: &Valid, seed: u64) -> Vec<Score> {
    let live = Prediction::new(valid, TAGGED, &predict::standard(), 1.0, BINS).unwrap();
    let ((tape, heard), _) = run::run(valid, seed, (Tape::default(), live));
    let (scores, window) = (heard.finish(), valid.schedule().measure);
    let taped = tape.play(window.from, window.to);
    // NaN is not equal to itself, but its text is.
    for (one, other) in scores.iter().zip(&taped) {
        assert_eq!(format!("{one:?}"), format!("{other:?}"));
    }
    assert_eq!(scores.len(), 2 * predict::standard().len());
    scores
}

fn busy(mut valid: Valid) -> Valid {
    edit(&mut valid, |parts| parts.schedule.duration = at(60.0));
    edit(&mut valid, |parts| parts.schedule.measure = interval(5.0, 50.0));
    valid
}

#[test]
fn a_live_observer_hears_what_the_tape_says_whatever_the_queue() {
    for queue in disciplines() {
        for valid in [minimal(&queue, 3), full(&queue, 4)] {
            let scores = scores(&busy(valid), 3);
            let counted: u64 = scores.iter().flat_map(|score| score.counts).sum();
            assert!(counted > 1000, "{}: {counted} transitions", queue.name());
        }
    }
}

/// Two flows whose access links follow the bottleneck and lose packets ahead of time.
fn lossy() -> Valid {
    let queue = disciplines().next().unwrap();
    let mut access = link(1, 2, Some(Rate::from_mbit(100)), Span::from_millis(3));
    access.loss = loss::Config::Uniform(loss::uniform::Params { p: 0.002 });
    let mut out = bottleneck(0, 1, &queue);
    out.loss = loss::Config::Uniform(loss::uniform::Params { p: 0.001 });
    let mut valid = scenario(3, vec![out, access, link(2, 0, None, Span::from_millis(10))]);
    edit(&mut valid, |parts| parts.groups = vec![group("reno", vec![flow(0, 2, None), flow(0, 2, None)])]);
    valid
}

#[test]
fn losses_outside_the_queue_count_for_the_flow_alone() {
    let scores = scores(&busy(lossy()), 1);
    let losses = |judge| {
        let of = scores.iter().find(|score| score.predictor == "rtt" && score.judged_by == judge).unwrap();
        of.counts[1] + of.counts[3]
    };
    assert!(losses(Judge::Flow) > 20, "{}", losses(Judge::Flow));
    assert!(losses(Judge::Flow) > losses(Judge::Queue), "{} {}", losses(Judge::Flow), losses(Judge::Queue));
}

#[test]
fn efficiency_and_false_positives_are_one_and_false_positives_lie_in_the_buffer() {
    let queue = disciplines().next().unwrap();
    for score in scores(&busy(full(&queue, 4)), 2) {
        let [_, n2, _, n4, n5, _] = score.counts;
        assert_eq!(score.efficiency.is_nan(), n2 + n5 == 0);
        assert_eq!(score.false_negatives.is_nan(), n2 + n4 == 0);
        if n2 + n5 > 0 {
            assert!((score.efficiency + score.false_positives - 1.0).abs() < 1e-12, "{score:?}");
        }
        let mass: f64 = score.queue_at_false_positives.iter().sum();
        assert!((mass - f64::from(u8::from(n5 > 0))).abs() < 1e-9, "{score:?}");
    }
}

#[test]
fn a_flow_that_sees_all_drops_is_judged_alike_by_itself_and_by_its_queue() {
    let queue = disciplines().next().unwrap();
    let scores = scores(&busy(minimal(&queue, 1)), 1);
    for pair in scores.chunks(2) {
        assert_eq!((pair[0].counts, &pair[0].predictor), (pair[1].counts, &pair[1].predictor));
    }
    let instantaneous = scores.iter().find(|score| score.predictor == "rtt").unwrap();
    // Alone on a drop-tail queue, the delay grows until it overflows: every loss is predicted.
    assert_eq!((instantaneous.efficiency, instantaneous.false_negatives), (1.0, 0.0));
}

#[test]
fn only_a_listed_transfer_over_a_measured_link_can_be_watched() {
    let queue = disciplines().next().unwrap();
    let mut valid = minimal(&queue, 2);
    let prediction =
        |network: &Valid, flow| Prediction::new(network, FlowId(flow), &predict::standard(), 1.0, BINS);
    assert!(prediction(&valid, 1).is_ok());
    assert!(prediction(&valid, 2).unwrap_err().contains("flow 2"));
    edit(&mut valid, |parts| parts.network.links[0].measured = false);
    assert!(prediction(&valid, 0).unwrap_err().contains("measured"));
}

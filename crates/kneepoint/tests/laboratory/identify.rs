// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Identification: simulated flows are named, strangers are refused, exports are read.

use kneepoint::capture::{Capture, Course, Happened, Step, qlog};
use kneepoint::study::identify::{
    Alone, Crew, Passed, Path, RENEWAL, Suspect, Verdict, follow, identify, suspects, suspects_in_quic,
    witness,
};
use kneepoint::trace::FlowId;
use kneepoint::units::{PacketRate, Span, Time};
use kneepoint::{run, scenario};

/// A path of 10 Mbit/s, 40 ms and a buffer of its bandwidth-delay product.
fn path() -> Path {
    Path {
        base: Span::from_millis(40),
        rate: PacketRate(833.0),
        buffer: Some(33.0),
        first_flight: 10,
        delays: true,
        resent: 0,
        episodes: 0,
        lasted: Span::from_secs(20),
    }
}

fn all(names: &[&str]) -> Vec<Suspect> {
    suspects(&names.iter().map(|name| (*name).to_string()).collect::<Vec<_>>()).expect("registered")
}

/// What the sender of a simulated flow saw.
fn course(name: &str, guessed: bool) -> Course {
    let empty = Course {
        steps: Vec::new(),
        mss: 1448,
        opening: None,
        selective: true,
        guessed,
        timestamps: true,
        expires: true,
        dated: false,
        vantage: None,
        windows: Vec::new(),
    };
    witness(&all(&[name])[0], &empty, &path(), 7).expect("a path that can be simulated")
}

fn verdict(course: &Course, candidates: &[Suspect]) -> Verdict {
    identify(course, candidates, &Alone).expect("round trips")
}

#[test]
fn a_simulated_sender_is_named() {
    let candidates = all(&[]);
    for name in ["reno", "cubic", "bbr", "vegas", "htcp", "illinois", "westwood"] {
        let verdict = verdict(&course(name, false), &candidates);
        let named = verdict.answer().map(|class| class.names()).unwrap_or_default();
        assert!(
            named.contains(&name),
            "{name}: {named:?}, {} of {}",
            verdict.classes[0].error,
            verdict.limit()
        );
    }
}

#[test]
fn a_suspect_whose_first_draws_are_the_same_is_led_on() {
    // BBR begins its cycle with one of seven phases: of twelve flows some begin with one that neither of two streams draws.
    let candidates = all(&["bbr"]);
    let empty = course("reno", false);
    for seed in 1..=12 {
        let course = witness(&candidates[0], &Course { steps: Vec::new(), ..empty.clone() }, &path(), seed);
        let verdict = verdict(&course.expect("a path that can be simulated"), &candidates);
        let best = &verdict.classes[0];
        assert!(best.draws && verdict.answer().is_some(), "seed {seed}: {}", best.error);
    }
}

#[test]
fn a_sender_that_draws_in_every_round_trip_is_named() {
    let candidates = all(&["reno", "cubic", "bbr", "cdg", "vegas"]);
    let cdg = &all(&["cdg"])[0];
    let empty = course("reno", false);
    for seed in 1..=3 {
        let course = witness(cdg, &Course { steps: Vec::new(), ..empty.clone() }, &path(), seed);
        let verdict = verdict(&course.expect("a path that can be simulated"), &candidates);
        assert_eq!(verdict.possible(), ["cdg"], "seed {seed}: {}", verdict.classes[0].error);
    }
}

/// Takes several pieces of work at once, the last one first.
struct Backwards;

impl Crew for Backwards {
    fn hands(&self) -> usize {
        4
    }

    fn map<T: Sync, R: Send>(&self, items: &[T], make: impl Fn(&T) -> R + Sync) -> Vec<R> {
        let mut made: Vec<R> = items.iter().rev().map(make).collect();
        made.reverse();
        made
    }
}

#[test]
fn the_verdict_does_not_depend_on_who_does_the_work() {
    let candidates = all(&["reno", "cubic", "bbr", "cdg", "vegas"]);
    for name in ["bbr", "cdg"] {
        let course = course(name, true);
        let alone = verdict(&course, &candidates);
        assert!(alone.own_error > 0.0, "{name}: nothing was simulated");
        assert_eq!(identify(&course, &candidates, &Backwards).as_ref(), Some(&alone), "{name}");
    }
}

#[test]
fn blocks_that_a_capture_lacks_are_derived() {
    let candidates = all(&[]);
    let reno = verdict(&course("reno", true), &candidates);
    assert!(reno.answer().is_some_and(|class| class.names().contains(&"reno")));
    // At windows of 60 packets what they say is too coarse for a name, and yet fits no other controller as well.
    let cubic = verdict(&course("cubic", true), &candidates);
    assert_eq!(cubic.classes[0].names(), ["cubic"]);
}

#[test]
fn a_sender_that_is_no_candidate_is_refused() {
    let candidates = all(&["reno", "vegas", "westwood"]);
    let verdict = verdict(&course("cubic", false), &candidates);
    assert!(verdict.answer().is_none(), "{} is within {}", verdict.classes[0].error, verdict.limit());
}

/// The same path as scenario.
fn logged(name: &str) -> Vec<u8> {
    let text = format!(
        "[run]\nduration = \"20s\"\nmeasure = \"0s..20s\"\n[topology]\nkind = \"dumbbell\"\nrate = \"10mbit\"\nrtt = \"40ms\"\n\
         buffer = \"33pkt\"\naccess = \"full\"\n[tcp]\npreset = \"linux\"\ncontrollers = \"published\"\n[[flows]]\ncc = \"{name}\"\n"
    );
    let plan = scenario::parse(&text).expect("a scenario");
    let valid = &plan.cases[0].valid;
    let tracer = qlog::Tracer::new(Vec::new(), valid, FlowId(0), name).expect("a flow");
    run::run(valid, 3, tracer).0.finish().expect("written")
}

/// What is said of a simulated sender by its log.
fn by_log(name: &str, candidates: &[&str]) -> Verdict {
    let candidates = candidates.iter().map(|one| (*one).to_string()).collect::<Vec<_>>();
    let (traces, _) = qlog::read(&logged(name)).expect("qlog");
    let course = traces[0].exchange.course().expect("a sender's");
    verdict(&course, &suspects_in_quic(&candidates).expect("registered"))
}

#[test]
fn a_sender_is_told_by_its_qlog() {
    // It loses nothing here, so that the log has every acknowledgement.
    let vegas = by_log("vegas", &[]);
    assert_eq!(vegas.answer().expect("a name").names(), ["vegas"]);
    assert!(by_log("vegas", &["reno", "cubic", "bbr"]).answer().is_none());
    // Acknowledgements out of order are not among the events of a run: too little for a name, and yet nearest.
    assert_eq!(by_log("reno", &["reno", "cubic", "bbr", "bbr3", "copa"]).classes[0].names(), ["reno"]);
}

#[test]
fn cubic_is_a_candidate_of_both_documents_where_stacks_have_both() {
    let versions = |all: Vec<Suspect>| all.iter().map(Suspect::full_name).collect::<Vec<_>>();
    let quic = versions(suspects_in_quic(&["cubic".into(), "reno".into()]).expect("registered"));
    assert_eq!(
        quic,
        ["reno (published)", "reno (linux)", "cubic (published)", "cubic (rfc8312)", "cubic (linux)"]
    );
    assert!(!versions(all(&["cubic"])).contains(&"cubic (rfc8312)".to_string()));
}

#[test]
fn what_nothing_tells_apart_is_said_together() {
    let verdict = verdict(&course("reno", false), &all(&["reno", "dctcp"]));
    assert_eq!(verdict.answer().expect("a name").names(), ["reno", "dctcp"]);
    let sum: f64 = verdict.classes.iter().map(|class| class.likelihood).sum();
    assert!((sum - 1.0).abs() < 1e-9);
}

#[test]
fn a_candidate_that_needs_the_network_or_does_not_exist_is_refused() {
    assert!(suspects(&["xcp".into()]).unwrap_err().contains("feedback"));
    assert!(suspects(&["nobody".into()]).unwrap_err().contains("nobody"));
    assert!(suspects(&["westwod".into()]).unwrap_err().contains("did you mean `westwood`?"));
}

const EXPORT: &str = "\
frame.time_relative,tcp.srcport,tcp.dstport,ip.dst,tcp.seq,tcp.len,tcp.ack
0.000000,4000,5000,10.0.0.2,0,0,0
0.100000,5000,4000,10.0.0.1,0,0,1
0.100050,4000,5000,10.0.0.2,1,0,1
0.100100,4000,5000,10.0.0.2,1,100,1
0.100200,4000,5000,10.0.0.2,101,100,1
0.200100,5000,4000,10.0.0.1,1,0,101
0.200300,,,10.0.0.9,,,
0.200900,4000,5000,10.0.0.2,101,100,1
";

#[test]
fn an_export_has_the_segments_of_its_packets() {
    assert!(kneepoint::capture::is_export(EXPORT.as_bytes()));
    let mut capture = Capture::default();
    capture.read_export(EXPORT).unwrap();
    let (direction, bytes) = capture.senders()[0];
    assert_eq!((direction.0.to_string().as_str(), bytes), ("10.0.0.1:4000", 300));
    let course = capture.course(direction).unwrap();
    assert_eq!((course.mss, course.first_flight(), capture.others()), (100, 2, 1));
    assert_eq!(course.opening.map(|(_, rtt)| rtt), Some(Span::from_micros(100_050)));
    let sent = course.steps.iter().filter_map(|step| match step.what {
        Happened::Sent(segment) => Some(segment),
        Happened::Heard { .. } => None,
    });
    assert_eq!(sent.collect::<Vec<_>>(), [0, 1, 1]);
}

#[test]
fn what_happens_in_one_instant_is_in_the_order_of_the_capture() {
    let answered = EXPORT.to_string()
        + "0.300000,5000,4000,10.0.0.1,1,0,201\n0.300000,4000,5000,10.0.0.2,201,100,1\n0.400000,5000,4000,10.0.0.1,1,0,301\n";
    let mut capture = Capture::default();
    capture.read_export(&answered).unwrap();
    let course = capture.course(capture.senders()[0].0).unwrap();
    let last: Vec<_> = course.steps.iter().rev().take(3).map(|step| step.what).collect();
    assert!(
        matches!(
            last[..],
            [Happened::Heard { una: 3, .. }, Happened::Sent(2), Happened::Heard { una: 2, .. }]
        ),
        "{last:?}"
    );
}

#[test]
fn an_export_without_a_column_is_refused_with_its_name() {
    for column in ["tcp.seq", "tcp.srcport", "tcp.len"] {
        let without = EXPORT.replacen(column, "tcp.window_size", 1);
        assert!(kneepoint::capture::is_export(without.as_bytes()), "{column}");
        let refusal = Capture::default().read_export(&without).unwrap_err();
        assert!(refusal.to_string().contains(&format!("the column {column} is missing")), "{refusal}");
    }
}

#[test]
fn an_echo_of_a_retransmission_that_was_captured_after_its_tick_is_not_older_than_it() {
    let head = "frame.time_relative,tcp.srcport,tcp.dstport,ip.dst,tcp.seq,tcp.len,tcp.ack,tcp.options.timestamp.tsval,tcp.options.timestamp.tsecr\n";
    let data = |micros: u64, seq: u64, stamp: u64| {
        format!("{}.{:06},4000,5000,10.0.0.2,{seq},100,1,{stamp},1\n", micros / 1_000_000, micros % 1_000_000)
    };
    let answer = |micros: u64, ack: u64, echo: u64| {
        format!("{}.{:06},5000,4000,10.0.0.1,1,0,{ack},1,{echo}\n", micros / 1_000_000, micros % 1_000_000)
    };
    // A packet each 10 ms leaves as a clock of 1 ms ticks, and is answered after 5 ms; the thirtieth is lost.
    let every = (0..40_u64).map(|place| {
        let (at, acked) = (10_000 * place, if place < 30 { place } else { 29 });
        data(at, 1 + 100 * place, 1000 + 10 * place)
            + &answer(at + 5000, 1 + 100 * (acked + 1), 1000 + 10 * acked)
    });
    // It is retransmitted with 391 ms, and captured 30 µs into the next one.
    let repair = data(392_030, 3001, 1391) + &answer(397_000, 4001, 1391);
    let mut capture = Capture::default();
    capture.read_export(&format!("{head}{}{repair}", every.collect::<String>())).unwrap();
    let course = capture.course(capture.senders()[0].0).unwrap();
    let [.., sent, _, heard] = &course.steps[..] else { panic!("steps") };
    assert_eq!(sent.what, Happened::Sent(30));
    let Happened::Heard { una: 40, echo, .. } = heard.what else { panic!("{heard:?}") };
    assert_eq!((sent.at, echo), (Time(391_999_999), Time(391_999_999)));
}

#[test]
fn a_fault_of_an_export_has_its_line() {
    let read = |text: &str| Capture::default().read_export(text).unwrap_err().to_string();
    assert!(read(&EXPORT.replace(",101,100", ",x,100")).contains("line 6: tcp.seq: `x`"));
    assert!(
        read(&EXPORT.replace("101,100,1", "101,524289,1"))
            .contains("line 6: tcp.len: `524289` is not a whole number from 0 to 524288")
    );
    assert!(read(&EXPORT.replace(",101,100,1", ",101,100")).contains("line 6: 6 of 7 columns"));
    assert!(read(&EXPORT.replace("tcp.len", "length")).contains("tcp.len is missing"));
}

fn sent(millis: u64, segment: u32) -> Step {
    Step { at: at(millis), what: Happened::Sent(segment) }
}

/// An acknowledgement with one block, of what left 100 ms before.
fn heard(millis: u64, una: u32, block: (u32, u32)) -> Step {
    let what = Happened::Heard { una, blocks: [block, (0, 0), (0, 0)], echo: at(millis - 100) };
    Step { at: at(millis), what }
}

fn at(millis: u64) -> Time {
    Time(millis * 1_000_000)
}

/// The window at the end that CUBIC of RFC 8312 is expected to have.
fn last_window(course: &Course) -> f64 {
    let cubic = suspects_in_quic(&["cubic".into()]).unwrap().swap_remove(1);
    assert_eq!(cubic.full_name(), "cubic (rfc8312)");
    let (moments, _) = follow(course, &Passed::of(course, &cubic), &cubic, 1, RENEWAL);
    moments.last().expect("moments").expected
}

#[test]
fn a_logged_window_that_falls_twice_in_an_episode_of_loss_is_reduced_twice() {
    // Forty segments leave, of which the first is lost, and of the forty after them one more.
    let mut steps: Vec<Step> = (0..40).map(|segment| sent(0, segment)).collect();
    steps.extend([heard(100, 0, (1, 20)), sent(101, 0)]);
    let first = steps.len();
    steps.extend((40..60).map(|segment| sent(110, segment)));
    steps.extend([heard(150, 0, (1, 40)), heard(210, 0, (1, 59))]);
    let second = steps.len();
    steps.extend([heard(220, 60, (0, 0)), sent(221, 60), heard(321, 61, (0, 0))]);
    let windows = vec![(0, 40.0), (first, 28.0), (second, 19.6)];
    let whole = Course { steps, windows, mss: 1448, selective: true, opening: None, ..course("reno", false) };
    assert_eq!(last_window(&whole).floor(), 19.0);
    let once = Course { windows: vec![(0, 40.0), (first, 28.0)], ..whole.clone() };
    assert_eq!(last_window(&once).floor(), 28.0);
}

#[test]
fn a_repair_that_follows_no_acknowledgement_is_a_timeout_of_tcp_and_none_of_quic() {
    // The first segment is lost, and so is its repair, which is sent once more 80 ms after the last acknowledgement.
    let mut steps: Vec<Step> = (0..40).map(|segment| sent(0, segment)).collect();
    steps.extend([heard(100, 0, (1, 20)), sent(101, 0), heard(150, 0, (1, 40)), sent(230, 0)]);
    steps.push(heard(330, 40, (0, 0)));
    let windows = vec![(0, 40.0), (41, 28.0)];
    let tcp = Course { steps, windows, mss: 1448, selective: true, opening: None, ..course("reno", false) };
    let quic = Course { expires: false, ..tcp.clone() };
    assert_eq!(last_window(&quic), 28.0);
    assert!(last_window(&tcp) < 5.0, "{}", last_window(&tcp));
}

#[test]
fn a_repair_releases_no_rate() {
    // Ten packets a second; the second one is lost, and repaired 2 s later: then 19 more are acknowledged at once.
    let mut steps: Vec<_> = (0..40).map(|place| sent(u64::from(place) * 100, place)).collect();
    steps.push(sent(2050, 1));
    for place in 0..40_u32 {
        let (una, block) = match place {
            0 => (1, (0, 0)),
            1..20 => (1, (2, place + 1)),
            _ => (place + 1, (0, 0)),
        };
        let (millis, blocks) = (u64::from(place) * 100 + 90, [block, (0, 0), (0, 0)]);
        let echo = at(u64::from(place) * 100);
        let what = Happened::Heard { una, blocks, echo };
        steps.push(Step { at: at(millis), what });
    }
    steps.sort_by_key(|step| step.at);
    let path = Path::of(&Course { steps, ..course("reno", false) }).expect("round trips");
    assert!(path.rate.0 < 13.0, "{}", path.rate.0);
}

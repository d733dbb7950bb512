// SPDX-License-Identifier: Apache-2.0 OR MIT
//! RACK-TLP and proportional rate reduction, segment by segment: scripts of a sender's input and required output.
//!
//! Each line of a script has a time in milliseconds and one event:
//!
//! ```text
//!   0  > 0..5 7           the sender sends these segments, then and at no other time
//! 100  < 1                it receives an acknowledgement up to 1, which answers segment 0
//! 100  < 1 2..4 by 3      with the block 2..4, in answer to segment 3; `echo 0`, to one sent at 0 ms
//! 100  + 2                two segments more are written
//! 100  = 10               its window is 10 packets
//! ```
//!
//! The script must contain every packet sent, at its time.

use std::sync::Arc;

use kneepoint::cc;
use kneepoint::packet::{Flags, Packet};
use kneepoint::rng::Rng;
use kneepoint::tcp::{Options, Recovery, Reduction, Sender, Woken};
use kneepoint::units::{Bytes, Span, Time};

/// A sender under a script.
struct Script {
    sender: Sender,
    now: Time,
    /// Its packets: milliseconds and numbers.
    sent: Vec<(u64, u32)>,
    timeouts: u32,
    rng: Rng,
}

impl Script {
    /// A sender of `total` segments whose window stays at `window`, but for losses.
    fn new(window: u32, total: u64, options: Options) -> Script {
        let packets = f64::from(window);
        let options = Options {
            recovery: Recovery::Rack,
            initial_window: packets,
            initial_ssthresh: packets,
            ecn: false,
            ..options
        };
        let controller = cc::Config::named("reno").expect("a registered name");
        let mut sender = Sender::writable(Arc::new(options), &controller);
        sender.write(Bytes(1000 * total), Time::ZERO);
        Script { sender, now: Time::ZERO, sent: Vec::new(), timeouts: 0, rng: Rng::stream(1, "script", 0) }
    }

    fn send(&mut self) {
        while let Some(segment) = self.sender.poll(self.now) {
            self.sent.push((self.now.0 / 1_000_000, segment.seq));
        }
    }

    fn advance(&mut self, until: Time) {
        self.send();
        while self.sender.next_wakeup(self.now) <= until {
            self.now = self.now.max(self.sender.next_wakeup(self.now));
            self.timeouts += u32::from(self.sender.on_wakeup(self.now) == Woken::Timeout);
            self.send();
        }
        self.now = until;
    }

    /// The last transmission time of a segment.
    fn time_of(&self, seq: u32) -> Time {
        let sent = self.sent.iter().rev().find(|(_, one)| *one == seq).expect("it was sent");
        Span::from_millis(sent.0).after_start()
    }

    fn hear(&mut self, words: &[&str]) {
        let number = |word: &str| word.parse::<u32>().expect("a number");
        let after = |name| words.iter().position(|word| *word == name).map(|place| number(words[place + 1]));
        let una = number(words[0]);
        let sent = match after("echo") {
            Some(millis) => Span::from_millis(u64::from(millis)).after_start(),
            None => self.time_of(after("by").unwrap_or_else(|| una - 1)),
        };
        let mut blocks = [(0, 0); 3];
        for (block, (first, end)) in
            blocks.iter_mut().zip(words.iter().filter_map(|word| word.split_once("..")))
        {
            *block = (number(first), number(end));
        }
        let packet = Packet::ack(0, una, 40, Flags::default(), sent, blocks);
        self.sender.on_ack(&packet, self.now, &mut self.rng);
        self.send();
    }

    /// Runs a script, and checks the packets sent.
    fn run(&mut self, script: &str) {
        let mut expected = Vec::new();
        for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let millis: u64 = words[0].parse().expect("a time");
            self.advance(Span::from_millis(millis).after_start());
            self.send();
            match words[1] {
                "<" => self.hear(&words[2..]),
                "+" => self.sender.write(Bytes(1000 * words[2].parse::<u64>().expect("a number")), self.now),
                ">" => expected.extend(segments(&words[2..]).map(|seq| (millis, seq))),
                "=" => {
                    let window: f64 = words[2].parse().expect("a window");
                    assert!((self.sender.window() - window).abs() < 0.01, "{line}: {}", self.sender.window());
                }
                other => panic!("`{other}` in `{line}`"),
            }
        }
        assert_eq!(self.sent, expected, "sent, and expected");
    }
}

/// `0..5 7`.
fn segments<'w>(words: &'w [&'w str]) -> impl Iterator<Item = u32> + 'w {
    words.iter().flat_map(|word| match word.split_once("..") {
        Some((first, end)) => first.parse().unwrap()..end.parse().unwrap(),
        None => word.parse().unwrap()..word.parse::<u32>().unwrap() + 1,
    })
}

#[test]
fn three_segments_sacked_say_at_once_that_the_one_below_is_lost() {
    // RFC 8985 §6.2 step 4: no reordering seen and DupThresh segments sacked, so the window of reordering is zero.
    Script::new(5, 7, Options::default()).run(
        "  0 > 0..5
         100 < 0 1..2 by 1
         100 > 5
         101 < 0 1..3 by 2
         101 > 6
         102 < 0 1..4 by 3
         102 > 0
         102 = 2.5",
    );
}

#[test]
fn one_segment_sacked_says_it_after_a_quarter_of_the_round_trip() {
    Script::new(2, 2, Options::default()).run(
        "  0 > 0..2
         100 < 0 1..2 by 1
         125 > 0
         225 < 2 by 0",
    );
}

#[test]
fn a_lost_retransmission_is_found_by_what_was_sent_after_it() {
    let mut script = Script::new(6, 20, Options::default());
    script.run(
        "  0 > 0..6
         100 < 0 1..2 by 1
         100 > 6
         101 < 0 1..3 by 2
         101 > 7
         102 < 0 1..4 by 3
         102 > 0
         103 < 0 1..5 by 4
         104 < 0 1..6 by 5
         200 < 0 1..7 by 6
         200 > 8
         201 < 0 1..8 by 7
         201 > 9
         300 < 0 1..9 by 8
         300 > 0 10",
    );
    assert_eq!(script.timeouts, 0);
}

#[test]
fn once_reordering_was_seen_three_sacked_segments_wait_a_quarter_of_the_round_trip() {
    // 0 arrives after 1. Then 2 is missing; RACK.rtt is 104 ms and a quarter of the smallest round trip 25 ms.
    Script::new(6, 20, Options::default()).run(
        "  0 > 0..6
         100 < 0 1..2 by 1
         100 > 6
         101 < 2 by 0
         101 > 7
         102 < 2 3..4 by 3
         102 > 8
         103 < 2 3..5 by 4
         103 > 9
         104 < 2 3..6 by 5
         104 > 10
         129 > 2",
    );
}

#[test]
fn a_d_sack_widens_the_window_of_reordering_by_another_quarter() {
    // 0 was late, not lost, as the D-SACK of its second copy shows. Then 4 is missing: sent at 200, it is lost
    // at 200 + 100 + 50 ms.
    Script::new(2, 6, Options::default()).run(
        "  0 > 0..2
         100 < 0 1..2 by 1
         100 > 2
         125 > 0
         130 < 2 echo 0
         130 > 3
         200 < 3 by 2
         200 > 4
         225 < 3 0..1 by 0
         230 < 4 by 3
         230 > 5
         330 < 4 5..6 by 5
         350 > 4",
    );
}

#[test]
fn a_probe_goes_after_two_round_trips_and_the_losses_at_the_tail_follow_it() {
    // RFC 8985 §7: the last three of five are lost; the probe repeats the last one, whose block reveals the others.
    let mut script = Script::new(5, 5, Options::default());
    script.run(
        "  0 > 0..5
         100 < 1
         100 < 2
         300 > 4
         400 < 2 4..5 by 4
         400 > 2 3
         400 = 2.6962
         500 < 3
         500 < 5 by 3",
    );
    assert_eq!(script.timeouts, 0);
}

#[test]
fn a_probe_is_new_data_where_there_is_some_whatever_the_window() {
    let mut script = Script::new(4, 6, Options::default());
    script.run(
        "  0 > 0..4
         100 < 1
         100 > 4
         300 > 5
         400 < 1 5..6 by 5
         400 > 1 2
         400 = 2.125",
    );
    assert_eq!(script.timeouts, 0);
}

#[test]
fn a_lone_segment_is_probed_later_by_what_its_acknowledgement_may_wait() {
    let options = Options { rto_granularity: Span::from_millis(900), ..Options::default() };
    Script::new(1, 2, options).run(
        "  0 > 0
         100 < 1
         100 > 1
         500 > 1
         600 < 2",
    );
}

#[test]
fn a_probe_goes_no_later_than_the_timer_would_have_expired_and_the_timer_starts_again() {
    // RTO = 100 + 4 · 50 ms from 100 ms on; the probe of a lone segment would go at 500 ms. Then the timer expires
    // 300 ms after the probe.
    let mut script = Script::new(1, 2, Options::default());
    script.run(
        "  0 > 0
         100 < 1
         100 > 1
         400 > 1
         700 > 1",
    );
    assert_eq!(script.timeouts, 1);
}

#[test]
fn a_probe_that_repaired_the_last_segment_reduces_the_window_and_a_d_sack_says_that_it_did_not() {
    // RFC 8985 §7.4.2: two packets were in flight when later data revealed the loss.
    let options = Options { rto_granularity: Span::from_millis(900), ..Options::default() };
    for (told, window) in [("", 2.2426), ("601 < 4 3..4 by 3", 4.4853)] {
        Script::new(4, 4, options.clone()).run(&format!(
            "  0 > 0..4
             100 < 3
             500 > 3
             600 < 4 by 3
             {told}
             700 + 2
             700 > 4 5
             800 < 5
             800 = {window}"
        ));
    }
}

#[test]
fn after_a_timeout_only_what_did_not_arrive_is_sent_again() {
    // RTO = 100 + 4 · 37.5 ms, from the repair on.
    let options = Options { probes: false, ..Options::default() };
    let mut script = Script::new(6, 6, options);
    script.run(
        "  0 > 0..6
         100 < 0 1..2 by 1
         100 < 0 4..5 1..2 by 4
         125 > 0 2
         375 > 0
         375 = 1
         475 < 2 4..5 by 0
         475 > 2 3
         575 < 3 4..5 by 2
         575 > 5
         576 < 5 by 3
         675 < 6 by 5",
    );
    assert_eq!(script.timeouts, 1);
}

#[test]
fn proportional_rate_reduction_sends_at_every_other_acknowledgement() {
    // RFC 9937 §6: RecoverFS = 10, Linux's window; ssthresh = 5. The acknowledgement that ends it grows the window again.
    let options = Options { reduction: Reduction::Rfc9937, ..Options::default() };
    Script::new(10, 30, options).run(
        "  0 > 0..10
         100 < 0 1..2 by 1
         100 > 10
         101 < 0 1..3 by 2
         101 > 11
         102 < 0 1..4 by 3
         102 > 0
         103 < 0 1..5 by 4
         104 < 0 1..6 by 5
         104 > 12
         105 < 0 1..7 by 6
         106 < 0 1..8 by 7
         106 > 13
         107 < 0 1..9 by 8
         108 < 0 1..10 by 9
         200 < 0 1..11 by 10
         200 > 14
         201 < 0 1..12 by 11
         201 > 15
         202 < 12 by 0
         202 > 16
         202 = 5.2",
    );
}

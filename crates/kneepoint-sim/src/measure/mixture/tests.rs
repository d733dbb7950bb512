// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests of how groups share a link.

use super::*;
use crate::metric::Statistic;
use crate::packet::Hint;
use crate::trace::LinkId;
use crate::units::Bytes;

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

fn two(limit: Limit) -> Mixture {
    let window = Interval { from: at(10_000), to: at(13_500) };
    Mixture::new(2, limit, window)
}

fn waiting(packets: u32) -> Backlog {
    Backlog { packets, bytes: Bytes(1000 * u64::from(packets)) }
}

/// A packet arrives when the window begins, with `window` packets as its hint.
fn arrive(mixture: &mut Mixture, group: usize, backlog: Backlog, window: f64, fate: Fate) {
    let hint = Hint { window, ..Hint::default() };
    let packet = Packet::data(0, 0, 1000, Flags::default(), Time::ZERO).with_hint(hint);
    mixture.on(group, at(10_000), backlog, &Event::Arrival { link: LinkId(0), packet: &packet, fate });
}

/// A packet of this size begins its transmission.
fn serve(mixture: &mut Mixture, group: usize, at: Time, size: u16) {
    let packet = Packet::data(0, 0, size, Flags::default(), Time::ZERO);
    let service = Event::Service { link: LinkId(0), packet: &packet, waited: Span::ZERO };
    mixture.on(group, at, waiting(0), &service);
}

#[test]
fn shares_add_up_to_one_and_the_channel_is_no_fault_of_the_queue() {
    let mut mixture = two(Limit::Packets(10));
    arrive(&mut mixture, 0, waiting(0), 0.0, Fate::Passed);
    arrive(&mut mixture, 0, waiting(10), 0.0, Fate::Dropped(Reason::Overflow));
    arrive(&mut mixture, 1, waiting(1), 0.0, Fate::Marked);
    let lost = Fate::Dropped(Reason::Channel);
    let lost = Event::Fate { link: LinkId(0), packet: &Packet::default(), fate: lost };
    mixture.on(1, at(10_000), waiting(0), &lost);
    serve(&mut mixture, 0, at(10_000), 1000);
    serve(&mut mixture, 1, at(10_100), 3000);
    let shares = mixture.finish();
    assert_eq!(shares.iter().map(|share| share.share).collect::<Vec<_>>(), [0.25, 0.75]);
    assert_eq!(
        shares.iter().map(|share| share.drops as f64 / share.arrivals as f64).collect::<Vec<_>>(),
        [0.5, 0.0]
    );
}

#[test]
fn three_whole_seconds_of_1_0_and_2_kilobytes_have_a_variance_of_a_megabyte_squared() {
    let mut mixture = two(Limit::Unlimited);
    serve(&mut mixture, 0, at(10_000), 400);
    serve(&mut mixture, 0, at(10_999), 600);
    serve(&mut mixture, 0, at(12_000), 2000);
    // Half a second at the end is none.
    serve(&mut mixture, 0, at(13_000), 9000);
    let shares = mixture.finish();
    // Mean 1000 bytes, variance 1000² bytes², 8 bits a byte.
    assert_eq!(shares[0].throughput_variance_to_mean_bps, 8000.0);
    assert!(shares[1].throughput_variance_to_mean_bps.is_nan(), "nothing was served");
    assert!(shares[0].position.mean.is_nan() && shares[0].position.shares.is_empty());
}

#[test]
fn positions_count_what_waits_before_a_packet_of_what_may_wait() {
    for (limit, scale) in [(Limit::Packets(40), 1.0), (Limit::Bytes(Bytes(80_000)), 0.5)] {
        let mut mixture = two(limit);
        for packets in [0, 10, 10, 39] {
            arrive(&mut mixture, 0, waiting(packets), 0.0, Fate::Passed);
        }
        arrive(&mut mixture, 0, waiting(40), 0.0, Fate::Dropped(Reason::Overflow));
        let position = mixture.finish().remove(0).position;
        assert_eq!((position.mean, position.median), (scale * 59.0 / 160.0, scale * 0.25));
        let bin = (scale * 5.0) as usize;
        assert_eq!((position.shares[0], position.shares[bin], position.shares.len()), (0.25, 0.5, 20));
        // ¼, ½, ¼: 1.5·ln 2 of ln 20.
        let exact = 1.5 * core::f64::consts::LN_2 / libm::log(20.0);
        assert!((position.entropy - exact).abs() < 1e-12);
    }
}

#[test]
fn everywhere_alike_is_an_entropy_of_one_and_in_one_place_of_zero() {
    let mut mixture = two(Limit::Packets(20));
    (0..20).for_each(|packets| arrive(&mut mixture, 0, waiting(packets), 0.0, Fate::Passed));
    (0..20).for_each(|_| arrive(&mut mixture, 1, waiting(7), 0.0, Fate::Passed));
    let shares = mixture.finish();
    assert!((shares[0].position.entropy - 1.0).abs() < 1e-12);
    assert_eq!(shares[1].position.entropy, 0.0);
    let bins: Vec<(f64, f64)> = shares[1].positions().collect();
    assert_eq!(bins[7], (0.375, 1.0));
}

#[test]
fn windows_are_those_that_packets_carry() {
    let mut mixture = two(Limit::Packets(40));
    for window in [2.0, 4.0, 8.0, 16.0] {
        arrive(&mut mixture, 0, waiting(0), window, Fate::Passed);
    }
    for window in [6.5, 7.5] {
        arrive(&mut mixture, 0, waiting(0), window, Fate::Dropped(Reason::Early));
    }
    // A datagram carries none.
    arrive(&mut mixture, 0, waiting(0), 0.0, Fate::Dropped(Reason::Early));
    let share = mixture.finish().remove(0);
    assert!((share.window - 44.0 / 6.0).abs() < 1e-12);
    assert_eq!((share.drops, share.drop_rate), (3, 3.0 / 3.5));
    assert_eq!(share.drop_windows.value(Statistic::Mean), 7000.0);
    let up_to: Vec<(String, f64)> = share.drop_windows().skip(5).take(3).collect();
    assert_eq!(up_to, [("6".into(), 0.0), ("7".into(), 0.5), ("8".into(), 1.0)]);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests of units and of their texts.

use alloc::string::ToString;

use super::*;

#[test]
fn every_unit_parses_what_it_prints() {
    for nanos in [0, 1, 999, 1_000, 60_000_000, 1_500_000_000, 400 * NANOS] {
        assert_eq!(Span(nanos).to_string().parse(), Ok(Span(nanos)));
        assert_eq!(Time(nanos).to_string().parse(), Ok(Time(nanos)));
    }
    assert_eq!((Span::ZERO.to_string(), Bytes(0).to_string()), ("0s".into(), "0b".into()));
    for bits in [1, 56_000, 150_000_000, 2_400_000_000] {
        assert_eq!(Rate(bits).to_string().parse(), Ok(Rate(bits)));
        assert_eq!(Bytes(bits).to_string().parse(), Ok(Bytes(bits)));
    }
    assert_eq!("100s..300s".parse::<Interval>().unwrap().to_string(), "100s..300s");
}

#[test]
fn what_reports_print_for_people_is_read() {
    for (text, span) in
        [("60 ms", 60_000_000), ("1.5 s", 1_500_000_000), ("500 µs", 500_000), ("2 μs", 2_000)]
    {
        assert_eq!(text.parse(), Ok(Span(span)), "{text}");
    }
    for text in ["20Mbit/s", "20 Mbit/s", "20000 kbit/s", "0.02Gbit/s", "20000000 bit/s"] {
        assert_eq!(text.parse(), Ok(Rate::from_mbit(20)), "{text}");
    }
    assert_eq!(
        ["64 kB", "64000 bytes", "1 byte"].map(str::parse),
        [64_000, 64_000, 1].map(|size| Ok(Bytes(size)))
    );
    for value in [0, 1, 1_500, 64_000, 20_000_000, 2_400_000_000] {
        assert_eq!(Span(value).people().parse(), Ok(Span(value)));
        assert_eq!(Rate(value).people().parse(), Ok(Rate(value)));
        assert_eq!(Bytes(value).people().parse(), Ok(Bytes(value)));
    }
    assert_eq!(
        (Rate::from_mbit(20).people(), Span(1_500_000).people()),
        ("20 Mbit/s".into(), "1.5 ms".into())
    );
    assert!("20 Mbit/s".parse::<Span>().is_err() && "60 ms/s".parse::<Span>().is_err());
}

#[test]
fn seconds_become_the_nearest_nanosecond_and_a_half_is_rounded_up() {
    let halves = (0..60).flat_map(|power| [0.0, 0.5, 1.0, 1.5].map(|part| part + (1_u64 << power) as f64));
    let near = halves.flat_map(|nanos| [nanos.next_down(), nanos, nanos.next_up()]);
    for nanos in near.chain([0.0, 0.5_f64.next_down(), 0.5, 1e300, -0.3, -0.7, -1e300, f64::INFINITY]) {
        let secs = nanos / NANOS as f64;
        assert_eq!(Span::from_secs_f64(secs).0, (secs * NANOS as f64).round() as u64, "{nanos} ns");
    }
    assert_eq!(Span::from_secs_f64(f64::NAN), Span::ZERO);
}

#[test]
fn a_wrong_unit_names_the_right_ones() {
    assert!("60".parse::<Span>().unwrap_err().contains("60ms"));
    assert!("150".parse::<Rate>().unwrap_err().contains("mbit"));
    assert!("150mbps".parse::<Rate>().unwrap_err().contains("150mbit"));
    assert!("9s..3s".parse::<Interval>().unwrap_err().contains("ends before"));
    assert!("1e300s".parse::<Span>().is_err());
}

#[test]
fn a_value_below_one_unit_is_not_taken_for_none() {
    for small in ["0.1ns", "0.0001us", "0.4ns", "0.000000000001min"] {
        assert!(small.parse::<Span>().unwrap_err().ends_with("a time is 0ns, or from 1ns"), "{small}");
    }
    assert!("0.4bit".parse::<Rate>().unwrap_err().ends_with("a rate is 0bit, or from 1bit"));
    assert!("0.1b".parse::<Bytes>().is_err());
    for none in ["0s", "0.0ns", "-0s"] {
        assert_eq!(none.parse(), Ok(Span::ZERO), "{none}");
    }
    assert_eq!("0.001us".parse(), Ok(Span(1)));
}

#[test]
fn a_value_out_of_range_is_told_the_range_in_its_own_unit() {
    assert!("-3s".parse::<Span>().unwrap_err().ends_with("a time is from 0s to 9007199s"));
    assert!("99999999999999s".parse::<Span>().unwrap_err().contains("out of range"));
    assert!("1000000tbit".parse::<Rate>().unwrap_err().ends_with("a rate is from 0tbit to 9007tbit"));
    let long = format!("{}mb", "9".repeat(400));
    assert!(long.parse::<Bytes>().unwrap_err().ends_with("from 0mb to 9007199254mb"));
}

#[test]
fn a_rate_carries_a_bandwidth_delay_product() {
    let bdp = Rate::from_mbit(150).carries(Span::from_millis(60));
    assert_eq!(bdp, Bytes(1_125_000));
    assert_eq!(Rate::from_mbit(150).time_for(bdp), Span::from_millis(60));
    assert_eq!(Rate::from_mbit(150).packets(Bytes(1000)), 18_750.0);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT

use kneepoint::measure::Meter;
use kneepoint::scenario::parse;
use kneepoint::table::value;
use kneepoint::units::Bytes;

use super::*;

fn valid(flows: &str, run: &str) -> Valid {
    let text = format!(
        "[run]\n{run}\n[tcp]\npreset = 'linux'\n[topology]\nkind = 'dumbbell'\nrate = '20mbit'\nrtt = '20ms'\n\
         buffer = '1bdp'\n{flows}"
    );
    parse(&text).unwrap().cases.remove(0).valid
}

fn plan(valid: &Valid) -> Result<Plan, String> {
    Plan::new(valid, 1, |group| group.cc.as_ref().map_or(String::new(), |cc| cc.name().into()))
}

#[test]
fn listed_transfers_become_the_kernels_in_the_order_of_flows() {
    let valid = valid(
        "[[flows]]\nname = 'a'\ncount = 2\ncc = 'reno'\nstart = '1s..2s'\nstop = '3s'\n\
         [[flows]]\nname = 'b'\ncc = 'cubic'\nsize = '10kb'\ndirection = 'reverse'\n",
        "duration = '5s'",
    );
    let planned = plan(&valid).unwrap().transfers;
    let [first, second, third] = &planned[..] else { panic!("{planned:?}") };
    for one in [first, second] {
        assert!(one.start >= Span::from_secs(1) && one.start < Span::from_secs(2));
        assert_eq!(
            (one.stop, one.size, one.group, one.sender),
            (Some(Span::from_secs(3)), None, 0, Side::Near)
        );
    }
    assert_ne!(first.start, second.start);
    assert_eq!((third.size, third.group, third.sender), (Some(Bytes(10_000)), 1, Side::Far));
    assert_eq!((third.control.as_str(), third.payload), ("cubic", None));
}

#[test]
fn what_the_kernels_hosts_do_not_do_is_said() {
    let large = valid("[[flows]]\nname = 'large'\ncc = 'reno'\ntcp.payload = '9000b'\n", "duration = '5s'");
    assert!(plan(&large).unwrap_err().contains("`large` has 9kb"), "{:?}", plan(&large));
}

#[test]
fn sources_have_their_pairs_of_hosts_and_each_its_random_numbers() {
    let valid = valid(
        "[[flows]]\ncc = 'reno'\n[[web]]\nname = 'pages'\nsessions = 3\ncc = 'cubic'\n[[cbr]]\nname = 'calls'\ncount = 2\n",
        "duration = '5s'",
    );
    let planned = plan(&valid).unwrap();
    assert_eq!(planned.controls(), ["cubic", "reno"]);
    let [pages, calls] = &planned.crews[..] else { panic!("{planned:?}") };
    assert_eq!((pages.members.len(), calls.members.len(), calls.ways.len()), (3, 2, 2));
    assert_eq!(calls.members.iter().map(|member| member.first).collect::<Vec<_>>(), [0, 1]);
    let mut draws: Vec<u64> = pages.members.iter().map(|one| one.rng.clone().below(u64::MAX)).collect();
    draws.dedup();
    assert_eq!(draws.len(), 3);
}

/// Objects that the laboratory's sources fetch through sockets of the kernel: the hosts' reports agree with the
/// packets.
#[test]
fn sources_of_traffic_work_through_sockets_of_the_kernel() {
    if let Some(lack) = missing(&["reno"]) {
        say(&format!("SKIPPED: {lack}"));
        return;
    }
    let valid = valid(
        "[[web]]\nname = 'pages'\nsessions = 5\ngap = '200ms'\ncc = 'reno'\nstart = '0s'\n\
         [[cbr]]\nname = 'calls'\nrate = '1mbit'\nsize = '500b'\nstart = '0s'\n",
        "duration = '4s'\nmeasure = '0s..4s'",
    );
    let planned = plan(&valid).unwrap();
    let seen = experiment(&valid, 1, planned, Meter::new(&valid, 1), &|| false).unwrap();
    let rows = seen.watch.finish();
    let of = |metric: &str, group: &str| value(&rows, metric, &[("group", group)]);
    let (count, bytes) = (of("completions", "pages"), of("completed_bytes", "pages"));
    assert!(count > 20.0 && bytes > 1000.0 * count, "{count} objects, {bytes} bytes");
    assert!(of("completion_time_mean_ms", "pages") >= 20.0, "no faster than the path");
    let payload = of("goodput_bps", "pages") * 4.0 / 8.0;
    assert!((payload - bytes).abs() < 0.2 * bytes, "{payload} acknowledged, {bytes} in whole objects");
    let calls = of("throughput_bps", "calls");
    assert!((calls - 1e6).abs() < 0.05e6, "{calls} of 1 Mbit/s");
}

/// Two transfers of the kernel: the meter agrees with their sockets and with the link's capacity.
#[test]
fn transfers_of_the_kernel_fill_the_link_and_stop() {
    if let Some(lack) = missing(&["reno", "cubic"]) {
        say(&format!("SKIPPED: {lack}"));
        return;
    }
    let valid = valid(
        "[[flows]]\nname = 'long'\ncc = 'reno'\nstart = '0s'\n\
         [[flows]]\nname = 'short'\ncc = 'cubic'\nstart = '0.5s'\nsize = '300kb'\n",
        "duration = '3s'\nmeasure = '0s..3s'",
    );
    let planned = plan(&valid).unwrap();
    let seen = experiment(&valid, 1, planned, Meter::new(&valid, 1), &|| false).unwrap();
    let rows = seen.watch.finish();
    let of = |metric: &str, labels: &[(&str, &str)]| value(&rows, metric, labels);
    assert!(of("utilization", &[]) > 0.5, "{}", of("utilization", &[]));
    assert!(of("utilization", &[]) <= 1.0);
    let short = [("group", "short")];
    assert_eq!((of("completions", &short), of("completed_bytes", &short)), (1.0, 300_000.0));
    assert!(of("rtt_p50_ms", &[("group", "long")]) >= 20.0);
    let again = of("retransmissions", &[("group", "long")]);
    assert_eq!(again, f64::from(seen.retransmissions[0]), "as its kernel counts them");
    assert_eq!((seen.superpackets, seen.groups.len()), (0, 2));
    assert!(
        seen.groups.iter().all(|group| group.ns_per_packet() > 0.0) && seen.receiving.ns_per_packet() > 0.0
    );
}

/// Prints it whether or not the test passes: output of the macros is hidden for a passing test.
fn say(line: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Both ends of a playback agree on the data sent, and nothing is late on a link with spare capacity.
#[test]
fn a_film_is_served_and_played_through_the_link() {
    if let Some(lack) = missing(&["reno"]) {
        say(&format!("SKIPPED: {lack}"));
        return;
    }
    let valid = valid("[[flows]]\nname = 'video'\ncc = 'reno'\n", "duration = '8s'\nmeasure = '0s..8s'");
    let film = video::stream::tests::film(24, 5);
    let contents = video::contents(&film).unwrap();
    assert_eq!((contents.pictures, contents.sound), (120, true));
    let caching = Span::from_secs(1);
    let show = video::Show {
        group: 0,
        clip: film.into(),
        pictures: contents.pictures,
        buffering: video::Buffering { caching, buffer: caching, empty: video::Empty::Skip },
        viewer: video::Viewer::Own,
    };
    let plan = Plan { show: Some(show.clone()), ..plan(&valid).unwrap() };
    let seen = experiment(&valid, 1, plan, Meter::new(&valid, 1), &|| false).unwrap();
    let [shown] = &seen.shown[..] else { panic!("{:?}", seen.shown) };
    assert_eq!((shown.playback.pictures, shown.playback.complete), (120, true), "{:?}", shown.playback);
    assert!(shown.served.sent > show.clip.len() as u64, "a head, and the film");
    let late = (shown.playback.late_pictures, shown.playback.starvings);
    assert!(seen.spoiled.is_some() || late == (0, 0), "{:?}", shown.playback);
    let startup = shown.startup().unwrap().as_secs_f64();
    // From the request's arrival at the server: a second of film is two flights, one and a half round trips of 20 ms.
    assert!(startup > 0.03 && startup < 1.0, "{startup}");
    let goodput = value(&seen.watch.finish(), "goodput_bps", &[("group", "video")]);
    assert!(goodput * 8.0 >= 8.0 * show.clip.len() as f64, "{goodput}");
}

// SPDX-License-Identifier: Apache-2.0 OR MIT

use kneepoint::measure::Meter;
use kneepoint::scenario::parse;
use kneepoint::table::value;

use super::*;

fn valid(flows: &str, run: &str) -> Valid {
    let text = format!(
        "[run]\n{run}\n[tcp]\npreset = 'linux'\n[topology]\nkind = 'dumbbell'\nrate = '20mbit'\nrtt = '20ms'\n\
         buffer = '1bdp'\n{flows}"
    );
    parse(&text).unwrap().cases.remove(0).valid
}

fn plan(valid: &Valid) -> Result<Vec<Transfer>, String> {
    transfers(valid, 1, |group| group.cc.as_ref().map_or(String::new(), |cc| cc.name().into()))
}

#[test]
fn listed_transfers_become_the_kernels_in_the_order_of_flows() {
    let valid = valid(
        "[[flows]]\nname = 'a'\ncount = 2\ncc = 'reno'\nstart = '1s..2s'\nstop = '3s'\n\
         [[flows]]\nname = 'b'\ncc = 'cubic'\nsize = '10kb'\ndirection = 'reverse'\n",
        "duration = '5s'",
    );
    let planned = plan(&valid).unwrap();
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
    let web = valid(
        "[[flows]]\ncc = 'reno'\n[[web]]\nname = 'pages'\nsessions = 1\ncc = 'reno'\n",
        "duration = '5s'",
    );
    assert!(plan(&web).unwrap_err().contains("`pages` is not a group of transfers"));
}

/// Two transfers of the kernel: what the meter says of them is what their sockets and the link's capacity say.
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
    let seen = experiment(&valid, 1, &planned, Meter::new(&valid, 1), &|| false).unwrap();
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

/// Says it whether or not the test passes: what is printed by the macros is not shown of a test that does.
fn say(line: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{line}");
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! RATCP in this machine's kernel over an emulated link that writes rates into its packets: as root, else skipped.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use kneepoint::scenario::parse;
use kneepoint::trace::{Event, Observer};
use kneepoint::units::Time;
use kneepoint_linux::kernel;
use kneepoint_linux::live::{self, Plan};
use libbpf_rs::query::{LinkInfoIter, LinkTypeInfo};

use crate::programs::able;
use crate::{say, turn};

/// The traffic over the bottleneck in an interval.
#[derive(Clone, Copy, Debug, Default)]
struct Carried {
    bytes: u64,
    packets: u64,
    waited_ms: f64,
}

/// The bottleneck by intervals of half a second.
#[derive(Debug)]
struct Bottleneck(Vec<Carried>);

impl Observer for Bottleneck {
    fn on(&mut self, at: Time, event: &Event) {
        if let Event::Service { packet, waited, .. } = event
            && let Some(interval) = self.0.get_mut((at.0 / 500_000_000) as usize)
        {
            interval.bytes += packet.bytes().0;
            interval.packets += 1;
            interval.waited_ms += waited.0 as f64 / 1e6;
        }
    }
}

impl Bottleneck {
    /// Mbit/s and the mean wait in ms from one half second to another.
    fn mean(&self, from: usize, to: usize) -> (f64, f64) {
        let part = &self.0[from..to];
        let sum = |of: fn(&Carried) -> f64| part.iter().map(of).sum::<f64>();
        let mbit = sum(|one| one.bytes as f64 * 8.0 / 1e6) / (0.5 * part.len() as f64);
        (mbit, sum(|one| one.waited_ms) / sum(|one| one.packets as f64))
    }
}

/// A transfer of four seconds over 20 Mbit/s and 40 ms.
fn transfer(control: &str, sections: &str) -> Bottleneck {
    let text = format!(
        "[run]\nduration = '4s'\n[tcp]\npreset = 'linux'\n[topology]\nkind = 'dumbbell'\nrate = '20mbit'\nrtt = '40ms'\n\
         buffer = '1bdp'\n[[flows]]\nname = 'one'\ncc = '{control}'\nstart = '0s'\n{sections}"
    );
    let valid = parse(&text).expect("a scenario").cases.remove(0).valid;
    let plan = Plan::new(&valid, 1, |_| control.to_string()).expect("a plan");
    let seen = live::experiment(&valid, 1, plan, Bottleneck(vec![Carried::default(); 8]), &|| false);
    let seen = seen.expect("a run");
    if let Some(why) = seen.spoiled {
        say(&format!("NOTE: the emulator was late: {why}"));
    }
    seen.watch
}

/// RATCP, loaded for the time of a test.
struct Loaded;

impl Loaded {
    /// None, with the reason printed, where the machine cannot, or where another program uses it.
    fn new() -> Option<Loaded> {
        if !able() {
            return None;
        }
        let lack = live::missing(&["reno"]);
        let taken = || "`ratcp` is loaded already; `knee kernel unload ratcp` removes it".to_string();
        let lack = lack.or_else(|| live::available().iter().any(|one| one == "ratcp").then(taken));
        if let Some(lack) = lack {
            say(&format!("SKIPPED: {lack}"));
            return None;
        }
        let (_, cgroup) = kernel::load_at("ratcp", &[], false, None).expect("loaded");
        if cgroup.is_none() {
            say("SKIPPED: no cgroups of version 2 are mounted");
            kernel::unload("ratcp").expect("unloaded");
            return None;
        }
        Some(Loaded)
    }
    fn option(&self) -> kernel::OptionUse {
        kernel::status("ratcp").expect("loaded").option.expect("attached")
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        kernel::unload("ratcp").expect("unloaded");
    }
}

const EDGE: &str = "[feedback]\nkind = 'erica'\nutilization = 0.95\n";

#[test]
fn a_transfer_holds_the_rate_that_its_packets_bring_and_follows_it() {
    let _turn = turn();
    let Some(loaded) = Loaded::new() else { return };
    let seen = transfer(
        "ratcp",
        &format!("{EDGE}[capacity]\nkind = 'steps'\nrates = ['0s: 20mbit', '2s: 10mbit']\n"),
    );
    let used = loaded.option();
    let (before, after) = (seen.mean(2, 4), seen.mean(6, 8));
    say(&format!("{before:?} {after:?} {used:?}"));
    // A packet takes 0.6 ms before the step and 1.2 ms after it.
    for ((mbit, waited), capacity) in [(before, 20.0), (after, 10.0)] {
        assert!((0.85 * capacity..0.98 * capacity).contains(&mbit), "{mbit} Mbit/s of {capacity}");
        let queue = waited / (12.0 / capacity);
        assert!(queue < 5.0, "{queue} packets: {waited} ms");
    }
    assert!(used.told > 1000 && used.written > used.told, "{used:?}");
}

#[test]
fn random_losses_cost_a_sender_that_is_told_its_rate_little() {
    let _turn = turn();
    let Some(loaded) = Loaded::new() else { return };
    let losses = format!("{EDGE}[loss]\nkind = 'uniform'\np = 0.01\n");
    let told = transfer("ratcp", &losses).mean(2, 8);
    let used = loaded.option();
    let reno = transfer("reno", &losses).mean(2, 8);
    say(&format!("{told:?} {reno:?} {used:?}"));
    assert!(told.0 > 0.85 * 20.0, "{told:?}");
    assert!(reno.0 < 0.5 * 20.0, "{reno:?}");
    assert_eq!(loaded.option(), used, "only our packets have the option");
}

/// Programs at the sockets of a cgroup, by the number of its folder.
fn attached(cgroup: u64) -> usize {
    let at = |link: &LinkTypeInfo| matches!(link, LinkTypeInfo::Cgroup(one) if one.cgroup_id == cgroup);
    LinkInfoIter::default().filter(|link| at(&link.info)).count()
}

/// A separate cgroup, removed when dropped.
struct Cgroup(std::path::PathBuf);

impl Drop for Cgroup {
    fn drop(&mut self) {
        fs::remove_dir(&self.0).expect("an empty cgroup");
    }
}

#[test]
fn the_option_is_where_it_is_wanted_and_goes_with_its_controller() {
    let _turn = turn();
    let Some(loaded) = Loaded::new() else { return };
    let (_, root) = kernel::load_at("ratcp", &[], true, None).expect("replaced");
    let cgroup = Cgroup(root.expect("there are cgroups").join(format!("knee-t{}", std::process::id())));
    fs::create_dir(&cgroup.0).expect("a cgroup");
    let number = fs::metadata(&cgroup.0).expect("a folder").ino();
    kernel::load_at("ratcp", &[], true, Some(&cgroup.0)).expect("replaced");
    assert_eq!(attached(number), 1);
    // Hosts outside of the cgroup receive no rates, and fill the queue as Reno does.
    let (_, waited) = transfer("ratcp", EDGE).mean(2, 8);
    assert_eq!(loaded.option(), kernel::OptionUse::default());
    assert!(waited > 5.0, "{waited} ms");
    drop(loaded);
    assert_eq!(attached(number), 0);
    assert!(!Path::new("/sys/fs/bpf/knee/ratcp").exists());
    let refused = kernel::load_at("pert", &[], false, Some(&cgroup.0)).unwrap_err();
    assert!(refused.usage && refused.message.contains("needs no cgroup"), "{refused}");
    let wrong = kernel::load_at("ratcp", &[], false, Some(Path::new("/tmp"))).unwrap_err();
    assert!(wrong.message.contains("cgroup /tmp"), "{wrong}");
    assert!(!Path::new("/sys/fs/bpf/knee/ratcp").exists() && !live::available().contains(&"ratcp".into()));
}

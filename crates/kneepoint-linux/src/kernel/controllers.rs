// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Congestion controls: load, unload, list, status.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use kneepoint::cc;
use libbpf_rs::btf::Btf;
use libbpf_rs::query::{MapInfoIter, ProgramInfo};
use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, MapType, Object};
use nix::time::{ClockId, clock_gettime};

use super::errors::{Error, While};
use super::option::{self, OptionUse};
use super::programs::{CONTROLLERS, Controller, controller};
use super::settings::{self, Value};
use super::{default, objects, pins, probe};

/// The pin of a registration that ends with its last reference.
const LINK: &str = "link";
/// The pin of a registration that ends when its map is emptied, on kernels without such links.
const CONTROL: &str = "control";
/// The time that the kernel may take to release a name.
const PATIENCE: Duration = Duration::from_secs(5);
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// A controller in this build.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The controller.
    pub controller: Controller,
    /// Whether it is loaded.
    pub loaded: bool,
    /// Its parameters if it is loaded, and this process may see them.
    pub settings: Option<Vec<Value>>,
}

/// A loaded controller.
#[derive(Clone, Debug)]
pub struct Status {
    /// The controller.
    pub controller: Controller,
    /// Its parameters.
    pub settings: Vec<Value>,
    /// The time of loading.
    pub since: SystemTime,
    /// Sockets that use it in this network namespace, if `ss` could count them.
    pub sockets: Option<usize>,
    /// Its programs.
    pub programs: Vec<Program>,
    /// Whether the kernel counts the programs' runs.
    pub counted: bool,
    /// The uses of its TCP option program, if it has one and that is attached.
    pub option: Option<OptionUse>,
}

/// A program of a controller.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// The number of its runs.
    pub runs: u64,
    /// The total time of its runs.
    pub time: Duration,
}

/// The names that sockets may choose.
pub(super) fn available() -> Vec<String> {
    let names = fs::read_to_string(AVAILABLE).unwrap_or_default();
    names.split_whitespace().map(str::to_string).collect()
}

fn registered(name: &str) -> bool {
    available().iter().any(|one| one == name)
}

/// Whether a controller's pins hold a registration.
fn pinned(name: &str) -> bool {
    let folder = pins::folder(name);
    folder.join(LINK).exists() || folder.join(CONTROL).exists() && registered(name)
}

/// Loads a controller with these parameters; all of its parameters.
pub fn load(name: &str, given: &[(String, String)], replace: bool) -> Result<Vec<Value>, Error> {
    load_at(name, given, replace, None).map(|(values, _)| values)
}

/// Loads a controller with these parameters, and its option at the sockets of this cgroup, of all by default; all of its parameters, and
/// where the option is, if it has one and there are cgroups.
pub fn load_at(
    name: &str,
    given: &[(String, String)],
    replace: bool,
    cgroup: Option<&Path>,
) -> Result<(Vec<Value>, Option<PathBuf>), Error> {
    let controller @ Controller { name, object, option, .. } = controller(name)?;
    if let (Some(cgroup), None) = (cgroup, option) {
        let message =
            format!("`{name}` heeds nothing that packets say, and needs no cgroup {}", cgroup.display());
        return Err(Error::usage(message, "leave the cgroup out"));
    }
    let mut object = objects::open(name, object)?;
    let values = settings::apply(&mut object, &mut core(controller), given)?;
    probe::require()?;
    let _lock = pins::lock()?;
    if pinned(name) && !replace {
        let remedy = format!("--replace loads it again, `knee kernel unload {name}` removes it");
        return Err(Error::new(format!("`{name}` is loaded already"), remedy));
    }
    if registered(name) && !pinned(name) && ours(name).is_none() {
        let message = format!("the kernel has a congestion control `{name}` that knee did not load");
        return Err(Error::new(
            message,
            "remove it first: a module with rmmod, a BPF program with its loader",
        ));
    }
    let links = Btf::from_vmlinux().is_ok_and(|types| probe::has_links(&types));
    if !links {
        for mut map in object.maps_mut().filter(|map| map.map_type() == MapType::StructOps) {
            map.set_map_flags(0).during("prepare a registration without a link")?;
        }
    }
    let mut object = objects::load(name, object)?;
    // Leftovers of a replaced or interrupted load are removed only now, when the new one is accepted.
    remove(name)?;
    pins::make(name)?;
    let mut start = || {
        objects::pin_maps(name, &mut object)?;
        let place = option.map_or(Ok(None), |program| option::attach(name, program, cgroup))?;
        register(name, &mut object, links)?;
        Ok(place)
    };
    let place = start().inspect_err(|_| {
        let _ = remove(name);
    })?;
    Ok((values, place))
}

fn register(name: &str, object: &mut Object, links: bool) -> Result<(), Error> {
    let folder = pins::folder(name);
    let map = object.maps_mut().find(|map| map.map_type() == MapType::StructOps);
    let mut map =
        map.ok_or_else(|| Error::new(format!("`{name}` is not a congestion control"), "build knee again"))?;
    if !links {
        // Before it is registered, so that a process that ends in between leaves a name for its removal.
        map.pin(folder.join(CONTROL)).during("pin a congestion control")?;
    }
    let mut link = map.attach_struct_ops().during(format!("register the congestion control `{name}`"))?;
    if links {
        return link.pin(folder.join(LINK)).during("pin a congestion control");
    }
    // Its end would be the registration's.
    link.disconnect();
    Ok(())
}

/// Leftovers of `unload`, for later removal.
#[derive(Clone, Debug, Default)]
pub struct Unloaded {
    /// Sockets of this network namespace that keep the controller until they close.
    pub sockets: usize,
    /// The congestion control of new sockets, if it was the one unloaded.
    pub default: Option<default::Restored>,
}

/// Unloads a controller.
pub fn unload(name: &str) -> Result<Unloaded, Error> {
    let name = controller(name)?.name;
    let _lock = pins::lock()?;
    if !pins::folder(name).exists() && ours(name).is_none() {
        return Err(Error::new(format!("`{name}` is not loaded"), "`knee kernel list` shows what is"));
    }
    let default = default::leave(name)?;
    let sockets = sockets(name).unwrap_or_default();
    remove(name)?;
    Ok(Unloaded { sockets, default })
}

/// Removes the registration and the pins of a controller, in any state.
fn remove(name: &str) -> Result<(), Error> {
    let folder = pins::folder(name);
    if folder.join(LINK).exists() {
        // Kernels that cannot detach a link unregister when its pin goes.
        let _ = Link::open(folder.join(LINK)).and_then(|link| link.detach());
    }
    let map = MapHandle::from_pinned_path(folder.join(CONTROL)).ok();
    if let Some(map) = map.or_else(|| ours(name)) {
        // The registration's only entry; a map registered by a link refuses.
        let _ = map.delete(&0_u32.to_ne_bytes());
    }
    if !pins::remove(name)? {
        return Ok(());
    }
    let began = Instant::now();
    while registered(name) {
        if began.elapsed() > PATIENCE {
            let message = format!("the kernel still lists `{name}`, although nothing of knee holds it");
            return Err(Error::new(
                message,
                "another program holds it: `bpftool struct_ops` and `bpftool link` show which",
            ));
        }
        thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

/// The map of a registration without link that a process left when it ended before it had pinned anything.
fn ours(name: &str) -> Option<MapHandle> {
    let maps = MapInfoIter::default().filter(|map| map.ty == MapType::StructOps && map.name == name);
    let mut maps = maps.filter_map(|map| MapHandle::from_map_id(map.id).ok());
    maps.find(in_use)
}

/// Whether a map of operations is registered by its entry. The kernel frees a map some time after its last user has gone and shows its
/// entry until then, so that an entry alone says nothing.
fn in_use(map: &MapHandle) -> bool {
    // `struct bpf_struct_ops_common_value`: a count of references, then `enum bpf_struct_ops_state`, where 1 is INUSE.
    const STATE: std::ops::Range<usize> = 4..8;
    const INUSE: [u8; 4] = 1_u32.to_ne_bytes();
    let entry = map.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY).ok().flatten();
    entry.is_some_and(|value| value.get(STATE) == Some(&INUSE[..]))
}

fn core(controller: &Controller) -> cc::Config {
    cc::Config::named(controller.core).expect("the registry names controllers of the laboratory")
}

fn values(controller: &Controller, data: &[u8], programs: &[ProgramInfo]) -> Vec<Value> {
    let types = programs.first().and_then(objects::types);
    types.map_or(Vec::new(), |types| settings::read(&types, data, &core(controller)))
}

/// Every controller in this build, and which are loaded.
pub fn list() -> Vec<Listed> {
    let listed = |controller: &Controller| {
        let found = pinned(controller.name).then(|| objects::loaded(controller.name)).flatten();
        let settings = found.map(|(data, programs)| values(controller, &data, &programs));
        // The kernel shows the names to every user, but not the owner of a program.
        let loaded = settings.is_some() || !pins::visible() && registered(controller.name);
        Listed { controller: *controller, loaded, settings }
    };
    CONTROLLERS.iter().map(listed).collect()
}

/// A loaded controller.
pub fn status(name: &str) -> Result<Status, Error> {
    let controller = controller(name)?;
    let found = pinned(controller.name).then(|| objects::loaded(controller.name)).flatten();
    let (data, programs) = found.ok_or_else(|| {
        let own = controller.name;
        if !pins::visible() && registered(own) {
            let message = format!("`{own}` is loaded; only root sees its parameters and activity");
            return Error::new(message, "run it with sudo");
        }
        Error::new(format!("`{own}` is not loaded"), format!("`knee kernel load {own}` loads it, as root"))
    })?;
    let age = clock_gettime(ClockId::CLOCK_BOOTTIME).map(Duration::from).during("read the clock")?;
    let loaded = programs.iter().map(|program| program.load_time).min().unwrap_or(age);
    let program = |one: &ProgramInfo| Program {
        name: one.name.to_string_lossy().into_owned(),
        runs: one.run_cnt,
        time: Duration::from_nanos(one.run_time_ns),
    };
    let counted =
        fs::read_to_string("/proc/sys/kernel/bpf_stats_enabled").is_ok_and(|text| text.trim() != "0");
    Ok(Status {
        controller: *controller,
        settings: values(controller, &data, &programs),
        since: SystemTime::now() - age.saturating_sub(loaded),
        sockets: sockets(controller.name),
        programs: programs.iter().map(program).collect(),
        counted,
        option: option::used(controller.name),
    })
}

/// Sockets of this network namespace that use a controller, if `ss` is installed.
fn sockets(name: &str) -> Option<usize> {
    let output =
        Command::new("ss").args(["-tinOH"]).output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(text.lines().filter(|line| line.split_whitespace().any(|word| word == name)).count())
}

/// Controllers with something left in the kernel: loaded ones, and leftovers of interrupted loads.
pub fn left() -> Vec<String> {
    let names = CONTROLLERS.iter().map(|one| one.name);
    names
        .filter(|name| Path::new(&pins::folder(name)).exists() || ours(name).is_some())
        .map(str::to_string)
        .collect()
}

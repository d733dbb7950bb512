// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Programs at the egress of a device: a queue's judgement, and the sender's window in the DSCP bits.
//!
//! Each has a folder `KIND-NAMESPACE-DEVICE` below `/sys/fs/bpf/knee`, by the numbers of its network namespace and its
//! device, with its maps and its program. An empty folder `clsact-NAMESPACE-DEVICE` says that the qdisc which holds filters
//! is ours: it goes with the last filter.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::{self, Builder};

use kneepoint::queue;
use kneepoint::scenario::scheme;
use libbpf_rs::{MapCore, MapFlags, Object, TC_EGRESS, TC_INGRESS, TcHook};
use nix::net::if_::if_nametoindex;
use nix::sched::{CloneFlags, setns};

use super::errors::{Error, While, heard, listening};
use super::programs::{AQM, Filter, HINT};
use super::settings::{self, Value};
use super::{objects, pins, probe};
use crate::fixed::{FIXED, PROBABILITY};

/// The qdisc that holds filters.
const HOLDER: &str = "clsact";
/// The pin of the program.
const PROGRAM: &str = "program";
/// Named network namespaces.
const NAMESPACES: &str = "/run/netns";

/// A device.
#[derive(Clone, Debug)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// The named network namespace that it is in; this process's without.
    pub namespace: Option<String>,
}

/// The effect of a queue's judgement.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueStatus {
    /// Its parameters.
    pub settings: Vec<Value>,
    /// The queue that the latest packet found.
    pub length: u32,
    /// The law's probability.
    pub probability: f64,
    /// The average window of arriving packets, in packets; zero without hints.
    pub average_window: f64,
    /// Packets judged.
    pub packets: u64,
    /// Packets among them that carried a window.
    pub hinted: u64,
    /// Packets that their window spared.
    pub spared: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Packets marked.
    pub marked: u64,
    /// Packets dropped because their sender does not understand marks.
    pub unmarkable: u64,
}

/// Queues whose length the kernel does not count in one place, and why.
const UNCOUNTED: &[(&str, &str)] = &[
    ("noqueue", "it queues nothing"),
    ("mq", "it counts in its children"),
    ("mqprio", "it counts in its children"),
    ("pfifo_fast", "it counts on each processor"),
];

/// A device in the namespace of the calling thread.
struct Here<'d> {
    device: &'d Device,
    index: u32,
    namespace: u64,
    filter: &'static Filter,
}

impl Device {
    /// Does work in the namespace of the device.
    fn at<T: Send>(
        &self,
        filter: &'static Filter,
        work: impl FnOnce(&Here) -> Result<T, Error> + Send,
    ) -> Result<T, Error> {
        let work = move || work(&Here::of(self, filter)?);
        match &self.namespace {
            None => work(),
            Some(name) => inside(&Path::new(NAMESPACES).join(name), work),
        }
    }
}

/// Does work in a network namespace.
pub(super) fn inside<T: Send>(
    path: &Path,
    work: impl FnOnce() -> Result<T, Error> + Send,
) -> Result<T, Error> {
    let file = File::open(path).map_err(|error| {
        let message = format!("cannot open the network namespace {}: {error}", path.display());
        Error::new(message, "`ip netns list` shows those that have a name")
    })?;
    let work = move || {
        setns(file, CloneFlags::CLONE_NEWNET).during("enter a network namespace")?;
        work()
    };
    thread::scope(|scope| {
        let working = Builder::new().spawn_scoped(scope, work).during("start a thread")?;
        working.join().expect("no panic inside")
    })
}

fn namespace() -> Result<u64, Error> {
    Ok(fs::metadata("/proc/thread-self/ns/net").during("tell the network namespace")?.ino())
}

/// The output of a program of iproute2.
fn ask(program: &str, arguments: &[&str]) -> Result<String, Error> {
    let output = Command::new(program).args(arguments).output().map_err(|error| {
        Error::new(format!("cannot run `{program}`: {error}"), "install it: apt-get install -y iproute2")
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_string();
        return Err(Error::new(format!("{program} {}: {said}", arguments.join(" ")), "check the device"));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

impl<'d> Here<'d> {
    fn of(device: &'d Device, filter: &'static Filter) -> Result<Here<'d>, Error> {
        let index = if_nametoindex(device.name.as_str()).map_err(|_| {
            let names = ask("ip", &["-o", "link"]).unwrap_or_default();
            let names = names.lines().filter_map(|line| line.split(": ").nth(1)?.split('@').next());
            let message = format!("no device is called `{}`", device.name);
            Error::usage(
                message,
                format!("this network namespace has {}", names.collect::<Vec<_>>().join(", ")),
            )
        })?;
        Ok(Here { device, index, namespace: namespace()?, filter })
    }

    /// The folder of something at this device.
    fn folder(&self, kind: &str) -> String {
        format!("{kind}-{}-{}", self.namespace, self.index)
    }

    /// The folder of the filter.
    fn own(&self) -> String {
        self.folder(self.filter.name)
    }

    /// The filter's place; without a program it serves to detach.
    fn hook(&self, program: &impl AsFd) -> TcHook {
        let mut hook = TcHook::new(program.as_fd());
        hook.ifindex(self.index as i32).attach_point(TC_EGRESS).handle(1).priority(self.filter.priority);
        hook
    }

    fn queues(&self, which: &[&str]) -> Result<String, Error> {
        ask("tc", &[&["qdisc", "show", "dev", &self.device.name], which].concat())
    }

    /// Whether other filters share the place.
    fn shared(&self) -> bool {
        let filters = |way| ask("tc", &["filter", "show", "dev", &self.device.name, way]).unwrap_or_default();
        ["ingress", "egress"].into_iter().any(|way| !filters(way).trim().is_empty())
    }

    fn attached(&self) -> bool {
        // libbpf also prints that there is none.
        File::open("/dev/null").is_ok_and(|any| listening(|| self.hook(&any).query().is_ok()).0)
    }

    fn attach(&self, object: libbpf_rs::OpenObject, replace: bool) -> Result<(), Error> {
        probe::require()?;
        let _lock = pins::lock()?;
        if self.attached() && !replace {
            let message = format!("`{}` has `{}` already", self.device.name, self.filter.name);
            let remedy = format!("--replace loads it again, `{}` removes it", self.undo());
            return Err(Error::new(message, remedy));
        }
        let mut object = objects::load(self.filter.name, object)?;
        self.detach()?;
        pins::make(&self.own())?;
        self.start(&mut object).inspect_err(|_| {
            let _ = self.detach();
        })
    }

    fn start(&self, object: &mut Object) -> Result<(), Error> {
        let folder = pins::folder(&self.own());
        objects::pin_maps(&self.own(), object)?;
        let mut program = object.progs_mut().next().expect("the object has a program");
        program.pin(folder.join(PROGRAM)).during("pin a program")?;
        let mut hook = self.hook(&program);
        if !self.queues(&[])?.contains(HOLDER) {
            // Before it is made, so that a process that ends in between leaves a name for its removal.
            pins::make(&self.folder(HOLDER))?;
            heard(format!("prepare `{}` for filters", self.device.name), || hook.create().map(|_| ()))?;
        }
        heard(format!("attach a filter to `{}`", self.device.name), || hook.attach().map(|_| ()))?;
        Ok(())
    }

    /// Removes the filter, its pins, and its qdisc if that is ours; returns whether there was a filter.
    fn detach(&self) -> Result<bool, Error> {
        let any = File::open("/dev/null").during("open /dev/null")?;
        let attached = self.attached();
        if attached {
            heard(format!("remove a filter of `{}`", self.device.name), || self.hook(&any).detach())?;
        }
        let pinned = pins::remove(&self.own())?;
        self.release()?;
        Ok(pinned || attached)
    }

    /// Removes the qdisc that holds filters if we made it and it holds none.
    fn release(&self) -> Result<(), Error> {
        let note = self.folder(HOLDER);
        if !pins::folder(&note).exists() || self.shared() {
            return Ok(());
        }
        if self.queues(&[])?.contains(HOLDER) {
            let any = File::open("/dev/null").during("open /dev/null")?;
            let mut holder = self.hook(&any);
            holder.attach_point(TC_EGRESS | TC_INGRESS);
            heard("remove a qdisc of filters", || holder.destroy())?;
        }
        pins::remove(&note).map(|_| ())
    }

    fn undo(&self) -> String {
        let namespace = self.device.namespace.as_ref();
        let namespace = namespace.map_or_else(String::new, |name| format!(" --netns {name}"));
        format!("knee kernel {} remove --dev {}{namespace}", self.filter.name, self.device.name)
    }
}

/// The laboratory's queue of this name, or of this name for a queue with parameters.
fn law(name: &str) -> Result<queue::Config, Error> {
    let explain = "`knee list queues presets` shows queues; a kernel program exists for pi, pisa and pimc";
    let scheme = scheme::parse(&format!("reno/{name}")).map_err(|why| Error::usage(why, explain))?;
    if scheme.queue.name() == AQM.core {
        return Ok(scheme.queue);
    }
    Err(Error::usage(format!("the queue `{name}` has no kernel program"), explain))
}

/// Judges the packets that enter the queue of a device by a law of the laboratory; the law's parameters.
pub fn attach_queue(
    device: &Device,
    name: &str,
    given: &[(String, String)],
    replace: bool,
) -> Result<Vec<Value>, Error> {
    let mut law = law(name)?;
    let mut object = objects::open(AQM.name, AQM.object)?;
    let values = settings::apply(&mut object, &mut law, given)?;
    let object = Parcel(object);
    device.at(&AQM, move |here| {
        let root = here.queues(&["root"])?;
        let kind = root.split_whitespace().nth(1).unwrap_or("noqueue");
        if let Some((_, why)) = UNCOUNTED.iter().find(|(uncounted, _)| *uncounted == kind) {
            let dev = &here.device.name;
            return Err(Error::new(
                format!("the root queue of `{dev}` is `{kind}`, whose length is unknown: {why}"),
                format!("`tc qdisc replace dev {dev} root tbf rate 20mbit burst 3kb limit 300kb` sets a queue that counts"),
            ));
        }
        here.attach(object.open(), replace)
    })?;
    Ok(values)
}

/// An opened object on its way to the thread that loads it.
struct Parcel(libbpf_rs::OpenObject);
// SAFETY: an object belongs to no thread; it moves to another one whole and is used there alone.
unsafe impl Send for Parcel {}
impl Parcel {
    fn open(self) -> libbpf_rs::OpenObject {
        self.0
    }
}

/// Writes the window of this device's TCP senders into the DSCP bits of their packets.
pub fn attach_hint(device: &Device, replace: bool) -> Result<(), Error> {
    device.at(&HINT, |here| {
        let link = ask("ip", &["-o", "link", "show", "dev", &here.device.name])?;
        let kind = link.split_whitespace().find_map(|word| word.strip_prefix("link/")).unwrap_or("unknown");
        let header = HEADERS.iter().find(|(name, _)| *name == kind).map(|(_, bytes)| *bytes);
        let header = header.ok_or_else(|| {
            let names = HEADERS.iter().map(|(name, _)| *name).collect::<Vec<_>>();
            let message = format!("`{}` is a device of type `{kind}`", here.device.name);
            Error::new(message, format!("the place of the IP header is known for {}", names.join(", ")))
        })?;
        let mut object = objects::open(HINT.name, HINT.object)?;
        settings::set(&mut object, "header", header)?;
        here.attach(object, replace)
    })
}

/// Bytes before the IP header by the type of a device.
const HEADERS: &[(&str, u64)] = &[("ether", 14), ("loopback", 14), ("none", 0)];

/// The effect of a queue's judgement so far.
pub fn queue_status(device: &Device) -> Result<QueueStatus, Error> {
    device.at(&AQM, |here| {
        let missing = || {
            let message = format!("`{}` has no queue of knee", device.name);
            Error::new(message, "`knee kernel aqm LAW --dev DEVICE` attaches one")
        };
        if !here.attached() {
            return Err(missing());
        }
        let (data, programs) = objects::loaded(&here.own()).ok_or_else(missing)?;
        let map = objects::map(&here.own(), "queue").ok_or_else(missing)?;
        let value =
            map.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY).during("read a queue")?.ok_or_else(missing)?;
        let types = programs.first().and_then(objects::types).ok_or_else(missing)?;
        let config = queue::Config::named(AQM.core).expect("the registry names a queue of the laboratory");
        let word = |place: usize| {
            let bytes = value.get(place..place + 8).and_then(|bytes| bytes.try_into().ok());
            bytes.map_or(0, u64::from_ne_bytes)
        };
        let [packets, hinted, spared, dropped, marked, unmarkable] = [40, 48, 56, 64, 72, 80].map(word);
        Ok(QueueStatus {
            settings: settings::read(&types, &data, &config),
            length: (word(0) >> 32) as u32,
            probability: PROBABILITY.decode(word(8)),
            average_window: FIXED.decode(word(32)),
            packets,
            hinted,
            spared,
            dropped,
            marked,
            unmarkable,
        })
    })
}

/// Packets with a hint so far.
pub fn hint_status(device: &Device) -> Result<u64, Error> {
    device.at(&HINT, |here| {
        let missing = || {
            let message = format!("`{}` writes no hints", device.name);
            Error::new(message, "`knee kernel hint --dev DEVICE` makes it do so")
        };
        let map = objects::map(&here.own(), "hinted").filter(|_| here.attached()).ok_or_else(missing)?;
        let value = map.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY).during("read a counter")?;
        Ok(value.and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_ne_bytes))
    })
}

/// Removes a queue's judgement from a device.
pub fn remove_queue(device: &Device) -> Result<(), Error> {
    remove(device, &AQM)
}

/// Removes the hints of a device.
pub fn remove_hint(device: &Device) -> Result<(), Error> {
    remove(device, &HINT)
}

fn remove(device: &Device, filter: &'static Filter) -> Result<(), Error> {
    device.at(filter, |here| {
        let _lock = pins::lock()?;
        if here.detach()? {
            return Ok(());
        }
        let message = format!("`{}` has no `{}` of knee", device.name, filter.name);
        Err(Error::new(message, "`knee doctor --clean` removes what is left elsewhere"))
    })
}

/// Network namespaces by number: this process's, named ones, and other processes'.
pub(super) fn namespaces() -> BTreeMap<u64, PathBuf> {
    let names = fs::read_dir(NAMESPACES).into_iter().flatten().flatten().map(|entry| entry.path());
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = processes.map(|entry| entry.path().join("ns/net"));
    let paths = std::iter::once("/proc/thread-self/ns/net".into()).chain(names).chain(processes);
    let mut found = BTreeMap::new();
    for path in paths {
        if let Ok(file) = fs::metadata(&path) {
            found.entry(file.ino()).or_insert(path);
        }
    }
    found
}

/// Removes every filter and leftovers of interrupted attachments; returns the removed folders.
pub(super) fn remove_all(namespaces: &BTreeMap<u64, PathBuf>) -> Result<Vec<String>, Error> {
    let _lock = pins::lock()?;
    let mut folders = pins::folders();
    // The qdisc that holds filters is removed with the last of them.
    folders.sort_by_key(|folder| folder.starts_with(HOLDER));
    let removed = folders.into_iter().map(|folder| clean(&folder, namespaces));
    Ok(removed.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// Removes one folder if it is one of these, and its filter if the device still exists.
fn clean(folder: &str, namespaces: &BTreeMap<u64, PathBuf>) -> Result<Option<String>, Error> {
    let parts = folder.split('-').collect::<Vec<_>>();
    let [kind, namespace, index] = parts[..] else { return Ok(None) };
    let filter = [&AQM, &HINT].into_iter().find(|filter| filter.name == kind);
    if filter.is_none() && kind != HOLDER {
        return Ok(None);
    }
    let place = namespace.parse().ok().and_then(|number: u64| namespaces.get(&number));
    let found = place.zip(index.parse::<u32>().ok()).map(|(path, index)| {
        inside(path, || {
            let Ok(name) = nix::net::if_::if_indextoname(index) else { return Ok(()) };
            let device = Device { name: name.to_string_lossy().into_owned(), namespace: None };
            let here = Here::of(&device, filter.unwrap_or(&AQM))?;
            filter.map_or_else(|| here.release(), |_| here.detach().map(|_| ()))
        })
    });
    found.transpose()?;
    // Without its namespace or device a filter no longer exists, and only pins remain.
    pins::remove(folder)?;
    Ok(Some(folder.to_string()))
}

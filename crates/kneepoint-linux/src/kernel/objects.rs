// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Objects of kernel programs: opened, loaded, with reasons where the kernel refuses.

use libbpf_rs::btf::Btf;
use libbpf_rs::query::{ProgInfoIter, ProgInfoQueryOptions, ProgramInfo};
use libbpf_rs::{MapCore, MapFlags, MapHandle, Object, ObjectBuilder, OpenObject};

use super::errors::{Error, While, listening};
use super::{pins, probe};

/// The pin of a program's read-only data.
pub const SETTINGS: &str = "settings";
/// Lines of the verifier's log that an error quotes.
const QUOTED: usize = 12;

/// Opens the object of a program.
pub fn open(name: &str, object: &[u8]) -> Result<OpenObject, Error> {
    // A copy, because libelf reads aligned numbers and the bytes of a file have no alignment.
    let copy = object.to_vec();
    let (opened, said) = listening(|| ObjectBuilder::default().name(name)?.open_memory(&copy));
    opened.map_err(|error| {
        Error::new(
            format!("cannot open the kernel program `{name}`: {error}\n{}", quote(&said)),
            "build knee again",
        )
    })
}

/// Loads an object into the kernel.
pub fn load(name: &str, object: OpenObject) -> Result<Object, Error> {
    let (loaded, said) = listening(|| object.load());
    loaded.map_err(|error| refused(name, &error, &said))
}

/// The meaning of a line of the log, and the remedy.
const MEANINGS: &[(&str, &str, &str)] = &[
    (
        "doesn't have",
        "`cong_control` has fewer arguments in this kernel than the program reads",
        "use a kernel from 6.10 on, or a controller that does not need it: pert, pert_pi, pert_adaptive, pert_small",
    ),
    ("is not found in kernel", "this kernel's tcp_congestion_ops lacks a member", "use a newer kernel"),
    (
        "'bpf_cast_to_kern_ctx': not found",
        "the program reads the length of a queue by bpf_cast_to_kern_ctx, which this kernel lacks",
        "use a kernel from 6.2 on",
    ),
    ("unknown func", "this kernel lacks a function that the program calls", "use a newer kernel"),
    (
        "Operation not permitted",
        "the process may not load programs",
        "run knee as root, outside of a container",
    ),
];

fn refused(name: &str, error: &libbpf_rs::Error, said: &[String]) -> Error {
    let heard = |mark: &str| said.iter().any(|line| line.contains(mark)) || error.to_string().contains(mark);
    let meaning = MEANINGS.iter().find(|(mark, ..)| heard(mark));
    let (reason, remedy) =
        meaning.map_or(("", "report these lines with the kernel's version"), |(_, why, what)| (why, what));
    let reason = if reason.is_empty() { error.to_string() } else { format!("{reason} ({error})") };
    let message = format!("kernel {} refuses `{name}`: {reason}\n{}", probe::release(), quote(said));
    Error::new(message.trim_end(), remedy)
}

/// The last lines that say something.
fn quote(said: &[String]) -> String {
    let lines = said.iter().map(|line| line.trim_end()).filter(|line| {
        !line.is_empty()
            && !line.contains("-- BEGIN PROG")
            && !line.contains("-- END PROG")
            && !line.starts_with("processed ")
    });
    let lines = lines.collect::<Vec<_>>();
    lines[lines.len().saturating_sub(QUOTED)..].iter().map(|line| format!("  {line}\n")).collect()
}

/// Pins the maps of a program into its folder: the read-only data as [`SETTINGS`], others by name.
pub fn pin_maps(name: &str, object: &mut Object) -> Result<(), Error> {
    let folder = pins::folder(name);
    for mut map in object.maps_mut().filter(|map| map.map_type() != libbpf_rs::MapType::StructOps) {
        let called = map.name().to_string_lossy().into_owned();
        let pin = match called.strip_suffix(".rodata") {
            Some(_) => SETTINGS,
            // Other data of the program, which libbpf has made into maps.
            None if called.contains('.') => continue,
            None => &called,
        };
        let path = folder.join(pin);
        map.pin(&path).during(format!("pin {}", path.display()))?;
    }
    Ok(())
}

/// A pinned map of a program.
pub fn map(name: &str, map: &str) -> Option<MapHandle> {
    MapHandle::from_pinned_path(pins::folder(name).join(map)).ok()
}

/// The bytes of a program's read-only data, and the programs that use it.
pub fn loaded(name: &str) -> Option<(Vec<u8>, Vec<ProgramInfo>)> {
    let settings = map(name, SETTINGS)?;
    let data = settings.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY).ok()??;
    let id = settings.info().ok()?.info.id;
    let options = ProgInfoQueryOptions::default().include_map_ids(true);
    let programs = ProgInfoIter::with_query_opts(options).filter(|program| program.map_ids.contains(&id));
    Some((data, programs.collect()))
}

/// The type information of a loaded program.
pub fn types(program: &ProgramInfo) -> Option<Btf<'static>> {
    Btf::from_prog_id(program.id).ok()
}

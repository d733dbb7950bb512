// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee doctor`: reports the capabilities of this machine, read-only, without failing; `--clean` removes leftovers.

#[cfg(target_os = "linux")]
mod uml;

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use clap::Args;
use kneepoint_bench::machine;
use kneepoint_bench::session::Session;
#[cfg(target_os = "linux")]
use kneepoint_linux::{Holder, Outcome};
use serde_json::{Value, json};

use super::Verb;
use crate::failure::Failure;
use crate::terminal;

/// Capabilities by their bit in `CapEff` (`linux/capability.h`).
const NET_ADMIN: u32 = 12;
const SYS_ADMIN: u32 = 21;

/// Report the capabilities of this machine; remove leftovers
#[derive(Args)]
#[command(
    after_help = "Examples:\n  knee doctor\n  knee doctor --clean\n  knee doctor --build-uml        once, for `knee live --on uml`"
)]
pub struct Arguments {
    /// Remove everything of knee from this kernel: programs, filters, defaults, and devices `knee0` to `knee255` that no process uses
    #[arg(long)]
    clean: bool,
    #[cfg(target_os = "linux")]
    #[command(flatten)]
    uml: uml::Options,
}

pub const VERB: Verb<Arguments> = Verb { act, answer: None };

/// One capability.
struct Finding {
    name: &'static str,
    available: bool,
    detail: String,
    used_for: &'static str,
}

/// Prints the findings, or removes leftovers.
fn act(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    if arguments.clean {
        return clean(session, as_json);
    }
    #[cfg(target_os = "linux")]
    arguments.uml.build(session)?;
    let findings = look();
    let memory = memory_mib();
    if as_json {
        return session.print_json(&json!({
            "version": env!("CARGO_PKG_VERSION"),
            "revision": env!("KNEE_REVISION"),
            "cores": machine::cores(),
            "kernel": machine::kernel(),
            "memory_mib": memory,
            "findings": findings.iter().map(Finding::json).collect::<Vec<_>>(),
        }));
    }
    let memory = memory.map_or("unknown".to_string(), |mib| format!("{:.1} GiB", mib as f64 / 1024.0));
    let mut text = format!(
        "knee {} ({})\ncores    {} (runs in parallel)\nkernel   {}\nmemory   {memory}\n\n",
        env!("CARGO_PKG_VERSION"),
        env!("KNEE_REVISION"),
        machine::cores(),
        machine::kernel(),
    );
    for finding in &findings {
        let mark = if finding.available { "yes" } else { "no " };
        let line = |name: String, words: &str| terminal::hanging(&name, words, terminal::columns());
        text += &line(format!("{mark}  {:<28} ", finding.name), &finding.detail);
        text += &line(format!("     {:<28} for ", ""), finding.used_for);
    }
    text += "\nSimulation needs none of these.\n";
    session.print(text)
}

/// Removes leftovers and prints a line for each.
#[cfg(target_os = "linux")]
fn clean(session: &Session, as_json: bool) -> Result<(), Failure> {
    if !rustix::process::geteuid().is_root() {
        return Err(Failure::run("only root sees and removes what knee may have left", "run it with sudo"));
    }
    #[cfg(feature = "bpf")]
    kneepoint_linux::kernel::tell_waits(crate::console::tell);
    #[cfg(feature = "bpf")]
    let mut done = kneepoint_linux::kernel::clean().map_err(super::kernel::refused)?;
    #[cfg(not(feature = "bpf"))]
    let mut done = Vec::new();
    let (mut kept, mut failed) = (Vec::new(), Vec::new());
    for (device, outcome) in kneepoint_linux::remove_leftovers() {
        let what = format!("device {device}");
        match outcome {
            Outcome::Removed => done.push(format!("{what} removed")),
            Outcome::Held(None) => kept.push(format!("{what} stays: a process uses it")),
            Outcome::Held(Some(Holder { process, program })) => {
                kept.push(format!("{what} stays: process {process} ({program}) uses it"));
            }
            Outcome::Stays(error) => failed.push(format!("the {what}: {error}")),
        }
    }
    let nothing = "nothing of knee is left on this machine".to_string();
    match as_json {
        true => session.print_json(&json!({"done": done, "kept": kept}))?,
        false if done.is_empty() && kept.is_empty() && failed.is_empty() => session.print(nothing)?,
        false => session.print([done, kept].concat().join("\n"))?,
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(Failure::run(
        format!("cannot remove {}", failed.join("; ")),
        "run it as root, outside of a container",
    ))
}

/// No leftovers where nothing can be started.
#[cfg(not(target_os = "linux"))]
fn clean(session: &Session, as_json: bool) -> Result<(), Failure> {
    match as_json {
        true => session.print_json(&json!({"done": [], "kept": []})),
        false => session.print("nothing of knee is left on this machine"),
    }
}

impl Finding {
    fn json(&self) -> Value {
        json!({"name": self.name, "available": self.available, "detail": self.detail, "used_for": self.used_for})
    }
}

fn look() -> Vec<Finding> {
    let root = rustix::process::geteuid().is_root();
    let capabilities = effective_capabilities();
    let may = |bit: u32| capabilities.map_or(root, |bits| bits >> bit & 1 == 1);
    let yes_no = |yes: bool, name: &str| if yes { format!("{name} held") } else { format!("{name} missing") };
    let tun = OpenOptions::new().read(true).write(true).open("/dev/net/tun");
    let controls =
        fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    let (ns2, clang) = (program("ns"), program("clang"));
    let mut findings = vec![
        Finding {
            name: "root",
            available: root,
            detail: format!("user {}", rustix::process::geteuid().as_raw()),
            used_for: "emulation and kernel experiments; the capabilities below suffice",
        },
        Finding {
            name: "network namespaces",
            available: Path::new("/proc/self/ns/net").exists() && (may(SYS_ADMIN) || user_namespaces()),
            detail: match (may(SYS_ADMIN), user_namespaces()) {
                (true, _) => "CAP_SYS_ADMIN held".to_string(),
                (false, true) => "via user namespaces".to_string(),
                (false, false) => "CAP_SYS_ADMIN missing, user namespaces disabled".to_string(),
            },
            used_for: "isolated links for real programs",
        },
        Finding {
            name: "TUN devices",
            available: tun.is_ok() && may(NET_ADMIN),
            detail: match tun {
                Ok(_) => yes_no(may(NET_ADMIN), "CAP_NET_ADMIN"),
                Err(error) => format!("/dev/net/tun: {error}"),
            },
            used_for: "carrying real packets through an emulated bottleneck",
        },
        Finding {
            name: "kernel congestion controls",
            available: !controls.trim().is_empty(),
            detail: if controls.trim().is_empty() {
                "not listed".into()
            } else {
                controls.trim().to_string()
            },
            used_for: "comparing with the kernel's controllers",
        },
        found_program("clang", clang, "compiling BPF programs"),
        found_program("ns-2", ns2, "running the same scenario in ns-2 to compare results and speed"),
    ];
    #[cfg(target_os = "linux")]
    findings.push(uml::finding());
    findings.extend(kernel_programs());
    findings
}

/// Requirements of kernel programs, as found by the loader.
#[cfg(feature = "bpf")]
fn kernel_programs() -> Vec<Finding> {
    let finding = |need: kneepoint_linux::kernel::Need| Finding {
        name: need.name,
        available: need.met,
        detail: if need.met { need.found } else { format!("{}; {}", need.found, need.remedy) },
        used_for: need.used_for,
    };
    kneepoint_linux::kernel::needs().into_iter().map(finding).collect()
}

/// This build has none.
#[cfg(not(feature = "bpf"))]
fn kernel_programs() -> Vec<Finding> {
    vec![Finding {
        name: "kernel programs",
        available: false,
        detail:
            "not in this build, nor in any static program or wheel; build from source: apt-get install -y clang \
             libelf-dev zlib1g-dev pkg-config, then make build"
                .into(),
        used_for: "loading algorithms into this kernel: knee kernel",
    }]
}

fn found_program(name: &'static str, path: Option<PathBuf>, used_for: &'static str) -> Finding {
    let detail = path.as_ref().map_or("not in PATH".to_string(), |path| path.display().to_string());
    Finding { name, available: path.is_some(), detail, used_for }
}

/// The path of a program, if PATH has it.
fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|file| file.is_file())
}

/// The effective capabilities, on Linux.
fn effective_capabilities() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(line.trim(), 16).ok()
}

/// Whether unprivileged users may create namespaces.
fn user_namespaces() -> bool {
    let number = |path: &str| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let allowed = number("/proc/sys/user/max_user_namespaces").is_some_and(|most| most > 0);
    // Debian's and Ubuntu's own switches; absent elsewhere.
    let debian = number("/proc/sys/kernel/unprivileged_userns_clone") != Some(0);
    let ubuntu = number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") != Some(1);
    allowed && debian && ubuntu
}

/// Physical memory in MiB, on Linux.
fn memory_mib() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1024)
}

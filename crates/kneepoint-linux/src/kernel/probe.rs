// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The requirements of kernel programs that this machine meets.

use std::fs;
use std::path::Path;

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{Enum, Func, Struct};

use super::errors::Error;
use super::pins;

/// A requirement of kernel programs.
#[derive(Clone, Debug)]
pub struct Need {
    /// Its name.
    pub name: &'static str,
    /// Whether this machine has it.
    pub met: bool,
    /// The finding.
    pub found: String,
    /// The remedy if it is missing.
    pub remedy: &'static str,
    /// The features that need it.
    pub used_for: &'static str,
    /// Whether nothing can be loaded without it.
    pub required: bool,
}

/// Capabilities by their bit in `CapEff` (`linux/capability.h`).
const NET_ADMIN: u32 = 12;
const SYS_ADMIN: u32 = 21;
const BPF: u32 = 39;
/// The name of the requirement of queues.
pub const LENGTHS: &str = "lengths of queues in BPF";
/// The kernel's description of its types.
const TYPES: &str = "/sys/kernel/btf/vmlinux";

/// The kernel's release.
pub fn release() -> String {
    fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_string()
}

fn capabilities() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    line.and_then(|line| u64::from_str_radix(line.trim(), 16).ok()).unwrap_or_default()
}

/// All requirements of kernel programs.
pub fn needs() -> Vec<Need> {
    let held = capabilities();
    let may = |bit: u32| held >> bit & 1 == 1;
    let bpf = (may(BPF) || may(SYS_ADMIN)) && may(NET_ADMIN);
    let types = Path::new(TYPES).exists().then(|| Btf::from_vmlinux().ok()).flatten();
    let operations =
        types.as_ref().is_some_and(|types| types.type_by_name::<Struct>("tcp_congestion_ops").is_some());
    let links = types.as_ref().is_some_and(has_links);
    let lengths =
        types.as_ref().is_some_and(|types| types.type_by_name::<Func>("bpf_cast_to_kern_ctx").is_some());
    let place = pins::mounted();
    let yes_no = |yes: bool, what: &str| format!("{what}{}", if yes { "" } else { " missing" });
    vec![
        Need {
            name: "CAP_BPF and CAP_NET_ADMIN",
            met: bpf,
            found: yes_no(bpf, "the capabilities to load programs"),
            remedy: "run knee as root",
            used_for: "loading algorithms into this kernel",
            required: true,
        },
        Need {
            name: "kernel type information",
            met: types.is_some(),
            found: format!("{TYPES} {}", if types.is_some() { "present" } else { "absent" }),
            remedy: "use a kernel built with CONFIG_DEBUG_INFO_BTF=y, as in Debian, Ubuntu and Fedora",
            used_for: "programs that fit this kernel: knee kernel",
            required: true,
        },
        Need {
            name: "congestion controls in BPF",
            met: operations,
            found: yes_no(operations, "struct tcp_congestion_ops"),
            remedy: "use a kernel from 5.6 on with CONFIG_BPF_JIT=y and CONFIG_INET=y",
            used_for: "congestion controls in this kernel: knee kernel load",
            required: true,
        },
        Need {
            name: "BPF file system",
            met: place || Path::new("/sys/fs/bpf").exists(),
            found: format!(
                "/sys/fs/bpf {}",
                if place { "mounted" } else { "not mounted; knee mounts it when it loads" }
            ),
            remedy: "mount sysfs at /sys, and use a kernel built with CONFIG_BPF_SYSCALL=y",
            used_for: "programs that outlive knee",
            required: true,
        },
        Need {
            name: "links of congestion controls",
            met: links,
            found: format!("kernel {}", release()),
            remedy: "none needed: without links, from 6.4 on, a control is registered until it is removed",
            used_for: "unloading with the last reference; without it, by knee alone",
            required: false,
        },
        Need {
            name: LENGTHS,
            met: lengths,
            found: yes_no(lengths, "function bpf_cast_to_kern_ctx"),
            remedy: "use a kernel from 6.2 on",
            used_for: "queues at this machine as a router: knee kernel aqm",
            required: false,
        },
    ]
}

/// Whether a congestion control can be a link that ends with its last reference: the kernel accepts the flag of its
/// map.
pub fn has_links(types: &Btf) -> bool {
    types
        .type_by_kind::<Enum>()
        .any(|one| one.iter().any(|member| member.name.is_some_and(|name| name == "BPF_F_LINK")))
}

/// The first unmet requirement, as an error.
pub fn require() -> Result<(), Error> {
    match needs().into_iter().find(|need| need.required && !need.met) {
        None => Ok(()),
        Some(need) => Err(Error::new(
            format!("kernel programs need {}: {} (kernel {})", need.name, need.found, release()),
            need.remedy,
        )),
    }
}

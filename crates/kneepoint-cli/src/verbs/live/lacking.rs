// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Remedies for a congestion control that this machine's kernel lacks.

use kneepoint_linux::uml::LINUX;

/// Controllers of the laboratory that mainline Linux lacks, or has under another name, with an explanation and the
/// closest substitute.
const ABSENT: [(&str, &str, &str); 3] = [
    ("bbr3", "BBRv3 is not in mainline Linux, whose `bbr` is version 1", "bbr"),
    ("hstcp", "Linux calls HighSpeed TCP `highspeed`", "highspeed"),
    ("prague", "TCP Prague is not in mainline Linux", "dctcp"),
];

/// How to add one of them to the kernel.
#[derive(Debug, PartialEq, Eq)]
enum Way {
    /// Kneepoint has a kernel program, under this name.
    Program(&'static str),
    /// Linux has a module.
    Module,
    /// There is neither; the reason, and a substitute.
    None(Option<(&'static str, &'static str)>),
}

/// The remedy for controls that are not among the kernel's `known` ones.
pub fn remedy(lacking: &[&str], known: &[String]) -> String {
    let each = lacking.iter().map(|name| advice(name, known)).collect::<Vec<_>>();
    format!(
        "{}. With --cc-map another one of the kernel stands for it: there are {}",
        each.join("; "),
        known.join(", ")
    )
}

fn way(name: &str) -> Way {
    if let Some(core) = program(name) {
        return Way::Program(core);
    }
    // Each but Reno, which is always present, is a module `tcp_NAME`.
    if LINUX.contains(&name) {
        return Way::Module;
    }
    let absent = ABSENT.iter().find(|(absent, ..)| *absent == name);
    Way::None(absent.map(|(_, why, nearest)| (*why, *nearest)))
}

fn advice(name: &str, known: &[String]) -> String {
    match way(name) {
        Way::Program(core) => format!("`knee kernel load {core}` loads `{name}`"),
        Way::Module => format!("`modprobe tcp_{name}` loads `{name}` where the kernel was built with it"),
        Way::None(Some((why, nearest))) => {
            let written = name.replace('_', "-");
            let load = match known.iter().any(|one| one == nearest) {
                true => String::new(),
                false => format!(", after `modprobe tcp_{nearest}`"),
            };
            format!("{why}: run it as `--cc-map {written}={nearest}`{load}")
        }
        Way::None(None) => {
            format!(
                "`{name}` is neither in mainline Linux nor among the kernel programs of this build{}",
                programs()
            )
        }
    }
}

/// The laboratory's name of the kernel program of this name, if this build has it.
#[cfg(feature = "bpf")]
fn program(name: &str) -> Option<&'static str> {
    kneepoint_linux::kernel::CONTROLLERS.iter().find(|one| one.name == name).map(|one| one.core)
}

#[cfg(not(feature = "bpf"))]
fn program(_: &str) -> Option<&'static str> {
    None
}

/// The kernel programs of this build.
#[cfg(feature = "bpf")]
fn programs() -> String {
    let names = kneepoint_linux::kernel::CONTROLLERS.iter().map(|one| format!("`{}`", one.core));
    format!(", which are {}", names.collect::<Vec<_>>().join(", "))
}

#[cfg(not(feature = "bpf"))]
fn programs() -> String {
    ", which was made without them: `knee kernel` says how to make one with them".into()
}

#[cfg(test)]
mod tests {
    use kneepoint::cc;

    use super::*;

    fn known() -> Vec<String> {
        ["reno", "cubic"].map(str::to_string).to_vec()
    }

    #[test]
    fn only_a_kernel_program_that_exists_is_to_be_loaded() {
        for entry in cc::REGISTRY {
            let name = entry.name.replace('-', "_");
            let said = remedy(&[&name], &known());
            match program(&name) {
                Some(core) => assert!(said.contains(&format!("knee kernel load {core}`")), "{said}"),
                None => assert!(!said.contains("knee kernel load"), "{said}"),
            }
        }
    }

    #[test]
    fn what_linux_does_not_have_is_said_with_what_comes_closest() {
        let said = remedy(&["bbr3"], &known());
        assert!(said.starts_with("BBRv3 is not in mainline Linux, whose `bbr` is version 1"), "{said}");
        assert!(said.contains("`--cc-map bbr3=bbr`, after `modprobe tcp_bbr`"), "{said}");
        assert!(remedy(&["vegas"], &known()).starts_with("`modprobe tcp_vegas` loads `vegas`"));
        assert!(remedy(&["copa"], &known()).starts_with("`copa` is neither in mainline Linux nor"));
        for (name, _, nearest) in ABSENT {
            assert_eq!(way(nearest), Way::Module, "{name}");
        }
    }
}

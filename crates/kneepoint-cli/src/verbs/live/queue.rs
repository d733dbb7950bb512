// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The queue discipline of the kernel that `knee live` is to have at the bottleneck.

use kneepoint::queue;
use kneepoint::settings::names::declared;
use kneepoint::spec::Valid;

use crate::failure::Failure;
use crate::path::Fields;

/// A discipline of the kernel.
#[derive(Clone, Debug)]
pub struct KernelQueue {
    /// As in the kernel, with parameters after a colon: `fq_codel`.
    pub name: String,
    /// The laboratory's name of it.
    known: &'static str,
}

/// The kernel's names for disciplines of the laboratory, where they are not spellings of the same name.
const OTHERS: [(&str, &str); 2] = [("pfifo", "droptail"), ("bfifo", "droptail")];

/// Reads `kernel:fq_codel`.
pub fn read(text: &str) -> Result<KernelQueue, String> {
    let name = text
        .strip_prefix("kernel:")
        .ok_or("write it as in kernel:fq_codel; the scenario names other queues")?;
    let bare = name.split(':').next().unwrap_or(name);
    let names = || queue::REGISTRY.iter().map(|entry| entry.name);
    let other = OTHERS.iter().find(|(kernels, _)| *kernels == bare).map(|(_, own)| *own);
    let known = other.or_else(|| declared(bare, names()));
    let known = known.ok_or_else(|| {
        format!(
            "no discipline `{bare}` has a prediction; there are {}",
            names().collect::<Vec<_>>().join(", ")
        )
    })?;
    Ok(KernelQueue { name: name.to_string(), known })
}

impl KernelQueue {
    /// The fields of a scenario that say it.
    pub fn set(&self, fields: &mut Fields) {
        let option = format!("--queue kernel:{}", self.name);
        let parameters = self.name.split_once(':').map_or(String::new(), |(_, rest)| format!(":{rest}"));
        fields.add(&option, "queues=linux".into());
        fields.add(&option, format!("queue={}{parameters}", self.known));
    }

    /// Refuses a scenario whose links have queues of their own.
    pub fn must_be_in(&self, valid: &Valid) -> Result<(), Failure> {
        let bottleneck = valid.network().links.iter().find(|link| link.measured);
        match bottleneck.filter(|link| link.queue.name() != self.known) {
            None => Ok(()),
            Some(link) => Err(Failure::usage(
                format!(
                    "--queue kernel:{}: the link {} has its own queue, `{}`",
                    self.name,
                    link.name,
                    link.queue.name()
                ),
                "leave `queue` out of its `[[link]]`",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_discipline_is_found_by_the_name_that_the_kernel_has_for_it() {
        for (written, known) in [
            ("kernel:fq_codel", "fq-codel"),
            ("kernel:pfifo", "droptail"),
            ("kernel:codel:target=9ms", "codel"),
        ] {
            assert_eq!(read(written).unwrap().known, known, "{written}");
        }
        for wrong in ["fq_codel", "kernel:", "kernel:htb"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        let mut fields = Fields::default();
        read("kernel:codel:target=9ms").unwrap().set(&mut fields);
        assert_eq!(fields.lines(), ["queues=linux", "queue=codel:target=9ms"]);
    }
}

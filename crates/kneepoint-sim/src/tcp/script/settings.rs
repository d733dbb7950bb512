// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Settings of the kernel that a script makes, as options of the simulated host.

use super::ecn;
use crate::cc;
use crate::suggest::did_you_mean;
use crate::tcp::accecn::Ecn;
use crate::tcp::{EcnFeedback, Host, Options, ReceiverEcn};
use crate::units::Span;

/// The host that a script requires.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// The options that need no handshake.
    pub options: Options,
    pub cc: cc::Config,
    pub timestamps: bool,
    pub sack: bool,
    /// `tcp_ecn`.
    pub ecn: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            options: Options::of(Host::Linux),
            cc: cc::Config::named("cubic").unwrap_or_default(),
            timestamps: true,
            sack: true,
            ecn: 2,
        }
    }
}

impl Settings {
    /// The options of a connection whose handshake agreed on these; the host negotiates ECN by itself where `tcp_ecn` says so.
    pub fn options(&self, sack: bool, timestamps: bool, ecn: Ecn) -> Options {
        let (timestamps, sack) = (self.timestamps && timestamps, self.sack && sack);
        let ecn_feedback = if ecn == Ecn::Accurate { EcnFeedback::AccEcn } else { EcnFeedback::Echo };
        let ecn_receiver = if ecn::is_strict(self.ecn) { ReceiverEcn::AccEcn } else { ReceiverEcn::Same };
        let ecn = ecn != Ecn::None;
        Options { timestamps, sack, ecn, ecn_feedback, ecn_receiver, ..self.options.clone() }
    }
}

/// A value and its effect.
type Choice = (&'static str, fn(&mut Settings));

/// The effect of a setting.
enum Effect {
    /// This.
    Sets(fn(&mut Settings, u64)),
    /// It has one of these values, each with this effect.
    Chooses(&'static [Choice]),
    /// It has these values, none of which affects a sender.
    Only(&'static [&'static str]),
    /// Nothing that a sender would notice.
    Nothing,
    /// It chooses the controller.
    Controller,
}

use Effect::{Chooses, Controller, Nothing, Only, Sets};

/// The known settings `net.ipv4.tcp_…`, without `tcp_`.
const TABLE: [(&str, Effect); 44] = [
    ("congestion_control", Controller),
    ("timestamps", Sets(|host, value| host.timestamps = value != 0)),
    ("sack", Sets(|host, value| host.sack = value != 0)),
    // Linux 6 recovers by time for either value of the first bit; the other bits change how.
    ("recovery", Only(&["0", "1"])),
    ("early_retrans", Sets(|host, value| host.options.probes = value >= 3)),
    ("reordering", Sets(|host, value| host.options.dupthresh = value.clamp(1, 1000) as u32)),
    ("rto_min_us", Sets(|host, value| set_least_timeout(&mut host.options, value))),
    ("rto_max_ms", Sets(|host, value| host.options.rto_max = Span::from_millis(value.clamp(1000, 120_000)))),
    ("frto", Sets(|host, value| host.options.frto = value != 0)),
    ("slow_start_after_idle", Sets(|host, value| host.options.slow_start_after_idle = value != 0)),
    // Below 3, the handshake of the script determines whether marks are answered.
    ("ecn", Sets(|host, value| host.ecn = value.min(ecn::MOST) as usize)),
    // When the host sends counts of bytes, which are not compared.
    ("ecn_option", Nothing),
    ("ecn_option_beacon", Nothing),
    ("ecn_fallback", Sets(|host, value| host.options.ecn_fallback = value != 0)),
    ("window_scaling", Only(&["1"])),
    ("mtu_probing", Only(&["0"])),
    ("shrink_window", Only(&["0"])),
    ("thin_linear_timeouts", Only(&["0"])),
    ("workaround_signed_windows", Only(&["0"])),
    // Removed from Linux 4.15 on.
    ("fack", Nothing),
    // Settings of a receiver, of listening sockets, of buffers and of closed connections.
    ("dsack", Nothing),
    ("rmem", Nothing),
    ("mem", Nothing),
    // A large send buffer has no effect: the host has no other.
    (
        "wmem",
        Only(&["4096 16384 4194304", "4096 50000 4194304", "4096 262144 4194304", "4096 4194304 4194304"]),
    ),
    ("moderate_rcvbuf", Nothing),
    ("adv_win_scale", Nothing),
    ("app_win", Nothing),
    ("syncookies", Nothing),
    ("syn_retries", Nothing),
    ("synack_retries", Nothing),
    ("retries1", Nothing),
    ("retries2", Nothing),
    ("fin_timeout", Nothing),
    ("tw_reuse", Nothing),
    ("fastopen", Nothing),
    ("fastopen_key", Nothing),
    ("no_metrics_save", Nothing),
    ("autocorking", Nothing),
    ("notsent_lowat", Nothing),
    // How segments are gathered for the device, and paced where the controller sets a pace.
    // A hundredth of a window of packets is less than one, so that nothing waits.
    (
        "tso_win_divisor",
        Chooses(&[("3", |host| host.options.tso = true), ("100", |host| host.options.tso = false)]),
    ),
    ("min_tso_segs", Nothing),
    ("limit_output_bytes", Nothing),
    ("pacing_ss_ratio", Only(&["200"])),
    ("pacing_ca_ratio", Only(&["120"])),
];

/// The settings of `defaults.sh`, of packetdrill's scripts and of Linux's self-tests, that are not a fresh kernel's.
const DEFAULTS: [(&str, &str); 8] = [
    ("congestion_control", "cubic"),
    ("timestamps", "1"),
    ("sack", "1"),
    ("recovery", "1"),
    ("early_retrans", "4"),
    ("reordering", "3"),
    ("frto", "2"),
    ("slow_start_after_idle", "0"),
];

/// Applies the settings of `defaults.sh`.
pub(super) fn apply_defaults(settings: &mut Settings) -> Result<(), (String, String)> {
    DEFAULTS.iter().try_for_each(|(name, value)| apply(settings, name, value))
}

/// Applies one setting, or gives problem and remedy. Its name may be a file's below `/proc/sys`.
pub(super) fn apply(settings: &mut Settings, name: &str, value: &str) -> Result<(), (String, String)> {
    let path = name.trim_start_matches("/proc/sys/").replace('/', ".");
    let bare = path.trim_start_matches("net.ipv4.").trim_start_matches("tcp_");
    let Some((_, effect)) = TABLE.iter().find(|(known, _)| *known == bare) else {
        let known = TABLE.iter().map(|(known, _)| *known).collect::<Vec<_>>();
        let help = format!("without `net.ipv4.tcp_`: {}", did_you_mean(bare, &known));
        return Err((format!("the setting `{name}` is outside the subset"), help));
    };
    match effect {
        Nothing => Ok(()),
        Controller => set_controller(settings, value),
        Only(values) if values.contains(&value) => Ok(()),
        Only(values) => Err(other_value(name, value, values)),
        Chooses(choices) => match choices.iter().find(|(written, _)| *written == value) {
            Some((_, choose)) => {
                choose(settings);
                Ok(())
            }
            None => Err(other_value(
                name,
                value,
                &choices.iter().map(|(written, _)| *written).collect::<Vec<_>>(),
            )),
        },
        Sets(set) => {
            let number = value.parse().map_err(|_| {
                (format!("`{name}` is `{value}`, which is not an integer"), "write an integer".to_string())
            })?;
            set(settings, number);
            Ok(())
        }
    }
}

/// Problem and remedy where a setting has a value that the host cannot have.
fn other_value(name: &str, value: &str, allowed: &[&str]) -> (String, String) {
    let allowed = allowed.join(" or ");
    (format!("`{name}` is `{value}`"), format!("the simulated host has it at {allowed} only"))
}

fn set_least_timeout(options: &mut Options, micros: u64) {
    let least = Span::from_micros(micros.clamp(1000, 60_000_000));
    // TCP_RTO_MIN bounds four times the variance, not the whole timeout.
    (options.rto_min, options.rto_granularity) = (least, least.min(Span::from_secs(1)));
}

/// Chooses the controller by the kernel's name for it.
pub(super) fn set_controller(settings: &mut Settings, name: &str) -> Result<(), (String, String)> {
    let name = name.trim_matches('"');
    settings.cc = cc::Config::named(name).ok_or_else(|| {
        let known = cc::REGISTRY.iter().map(|entry| entry.name).collect::<Vec<_>>();
        (format!("no controller is named `{name}`"), did_you_mean(name, &known))
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_the_kernel_become_options_of_the_host() {
        let mut settings = Settings::default();
        for (name, value) in [
            ("net.ipv4.tcp_early_retrans", "0"),
            ("/proc/sys/net/ipv4/tcp_reordering", "5"),
            ("net/ipv4/tcp_recovery", "0"),
            ("net.ipv4.tcp_tso_win_divisor", "100"),
            ("net.ipv4.tcp_congestion_control", "reno"),
            ("net.ipv4.tcp_rto_min_us", "50000"),
        ] {
            apply(&mut settings, name, value).unwrap();
        }
        let options = settings.options(true, false, Ecn::None);
        assert_eq!((options.probes, options.dupthresh, options.tso), (false, 5, false));
        assert_eq!((options.rto_min, settings.cc.name()), (Span::from_millis(50), "reno"));
        assert!(!options.timestamps);
        assert!(!settings.options(false, true, Ecn::None).sack);
    }

    #[test]
    fn an_unknown_setting_is_refused_by_name_and_a_value_that_the_host_lacks_too() {
        let mut settings = Settings::default();
        let (message, help) = apply(&mut settings, "net.ipv4.tcp_reorderin", "3").unwrap_err();
        assert!(message.contains("`net.ipv4.tcp_reorderin`") && help.contains("did you mean `reordering`?"));
        for (name, value, allowed) in [
            ("tcp_mtu_probing", "2", "at 0 only"),
            ("tcp_recovery", "3", "at 0 or 1 only"),
            ("tcp_tso_win_divisor", "1", "at 3 or 100 only"),
            ("tcp_pacing_ss_ratio", "100", "at 200 only"),
            ("tcp_wmem", "4096 4096 4096", "4194304 only"),
        ] {
            let (problem, remedy) = apply(&mut settings, name, value).unwrap_err();
            assert!(problem.contains(value) && remedy.contains(allowed), "{problem}; {remedy}");
        }
        assert!(apply(&mut settings, "net.ipv4.tcp_sack", "yes").is_err());
        assert!(apply(&mut settings, "net.ipv4.tcp_congestion_control", "qubic").is_err());
    }
}

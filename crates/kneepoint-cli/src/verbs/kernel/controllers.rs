// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Congestion controls: `load`, `unload`, `list`, `status`, `default`.

use std::time::SystemTime;

use kneepoint::cc;
use kneepoint_bench::session::Session;
use kneepoint_linux::kernel::{self, Value};
use serde_json::{Map, json};

use super::refused;
use crate::failure::Failure;
use crate::terminal;

/// Parameters as JSON.
pub fn object(values: &[Value]) -> Map<String, serde_json::Value> {
    values.iter().map(|one| (one.name.clone(), one.value.clone().into())).collect()
}

/// Parameters, one a line.
pub fn written(values: &[Value]) -> String {
    values.iter().map(|one| format!("  {:<24} {}\n", one.name, one.value)).collect()
}

/// `knee kernel load`.
pub fn load(session: &Session, arguments: &super::Load, as_json: bool) -> Result<(), Failure> {
    let (values, cgroup) =
        kernel::load_at(&arguments.name, &arguments.set, arguments.replace, arguments.cgroup.as_deref())
            .map_err(refused)?;
    let name = kernel::status(&arguments.name).map_err(refused)?.controller.name;
    if as_json {
        return session.print_json(&json!({"name": name, "settings": object(&values), "cgroup": cgroup}));
    }
    let heeds = cgroup.map_or_else(String::new, |place| {
        format!("an option of TCP brings the sockets of {} what links tell it\n", place.display())
    });
    session.print(format!(
        "`{name}` is loaded: sockets may choose it, as `iperf3 -C {name}` does\n{}{heeds}remove it with `knee kernel unload {name}`",
        written(&values)
    ))
}

/// `knee kernel unload`.
pub fn unload(session: &Session, arguments: &super::Unload, as_json: bool) -> Result<(), Failure> {
    let names = if arguments.all { kernel::left() } else { arguments.names.clone() };
    let mut unloaded = Vec::new();
    for name in &names {
        let left = kernel::unload(name).map_err(refused)?;
        unloaded.push(json!({
            "name": name,
            "sockets": left.sockets,
            "default": left.default.as_ref().map(|restored| restored.to.clone()),
        }));
        if as_json {
            continue;
        }
        session.print(format!("`{name}` is unloaded"))?;
        if left.sockets > 0 {
            session.tell(format!("{} open sockets keep it until they close", left.sockets));
        }
        if let Some(restored) = left.default {
            session.tell(format!("it was the default congestion control, which is `{}` now", restored.to));
        }
    }
    if as_json {
        return session.print_json(&json!({ "unloaded": unloaded }));
    }
    if names.is_empty() { session.print("no congestion control of knee is loaded") } else { Ok(()) }
}

/// `knee kernel list`.
pub fn list(session: &Session, as_json: bool) -> Result<(), Failure> {
    let listed = kernel::list();
    let summary = |core: &str| {
        let entry = cc::REGISTRY.iter().find(|entry| entry.name == core);
        entry.map_or_else(String::new, |entry| entry.summary())
    };
    if as_json {
        let rows = listed.iter().map(|one| {
            json!({
                "name": one.controller.name,
                "controller": one.controller.core,
                "summary": summary(one.controller.core),
                "loaded": one.loaded,
                "settings": one.settings.as_ref().map(|values| object(values)),
            })
        });
        return session.print_json(&json!({ "controllers": rows.collect::<Vec<_>>() }));
    }
    let columns = terminal::columns();
    let line = |one: &kernel::Listed| {
        let state = if one.loaded { "loaded" } else { "-" };
        let name = format!("{:<16} {state:<8} ", one.controller.name);
        terminal::hanging(&name, &summary(one.controller.core), columns)
    };
    session.print(listed.iter().map(line).collect::<String>())
}

/// `knee kernel status`.
pub fn status(session: &Session, arguments: &super::Status, as_json: bool) -> Result<(), Failure> {
    let status = kernel::status(&arguments.name).map_err(refused)?;
    let since = status.since.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let since = jiff::Timestamp::from_second(since.as_secs() as i64).unwrap_or_default().to_string();
    if as_json {
        let programs = status
            .programs
            .iter()
            .map(|one| json!({"name": one.name, "runs": one.runs, "time_s": one.time.as_secs_f64()}));
        return session.print_json(&json!({
            "name": status.controller.name,
            "controller": status.controller.core,
            "settings": object(&status.settings),
            "since": since,
            "sockets": status.sockets,
            "runs_counted": status.counted,
            "option": status.option.map(|used| json!({"written": used.written, "told": used.told})),
            "programs": programs.collect::<Vec<_>>(),
        }));
    }
    let sockets = status.sockets.map_or_else(
        || "unknown: `ss` is not installed (Debian: apt-get install -y iproute2)".to_string(),
        |count| format!("{count} in this network namespace"),
    );
    let mut text = format!("{}\nloaded   {since}\nsockets  {sockets}\n", status.controller.name);
    text += &written(&status.settings);
    if let Some(used) = status.option {
        text += &format!("  option in {} packets sent, {} told a rate\n", used.written, used.told);
    }
    if status.counted {
        for one in &status.programs {
            let mean = one.time.as_nanos() as f64 / one.runs.max(1) as f64;
            text += &format!("  {:<24} {} runs, {mean:.0} ns each\n", one.name, one.runs);
        }
    } else {
        text += "runs are not counted: `sysctl -w kernel.bpf_stats_enabled=1` counts them from then on\n";
    }
    session.print(text)
}

/// `knee kernel default`.
pub fn default(session: &Session, arguments: &super::Default, as_json: bool) -> Result<(), Failure> {
    let Some(name) = &arguments.name else {
        let restored = kernel::restore().map_err(refused)?;
        if as_json {
            let (to, from) = restored.map(|restored| (restored.to, restored.from)).unzip();
            return session.print_json(&json!({"default": to, "previous": from}));
        }
        return session.print(restored.map_or_else(
            || "knee has not changed the default of this network namespace".to_string(),
            |restored| {
                format!(
                    "the default congestion control is `{}` again, no longer `{}`",
                    restored.to, restored.from
                )
            },
        ));
    };
    let previous = kernel::default(name).map_err(refused)?;
    if as_json {
        return session.print_json(&json!({"default": name, "previous": previous}));
    }
    session.tell(format!(
        "every new TCP connection of this network namespace uses `{name}` from now on, where none is chosen\n\
         back: `knee kernel default --restore`, or `sysctl -w net.ipv4.tcp_congestion_control={previous}`"
    ));
    session.print(format!("the default congestion control is `{name}`; it was `{previous}`"))
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Files that a reader gives: a capture becomes the signals of its greatest transfer, a trace the capacity of the bottleneck.

use kneepoint::capture::{Capture, is_capture};
use kneepoint::link::recording;
use kneepoint::units::Time;
use serde::Serialize;

/// The detected kind of a file.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Given {
    /// A recording of a link's capacity.
    Trace {
        /// Its form, as `mahimahi`.
        form: &'static str,
        /// Its mean rate, in a scenario's form.
        mean: String,
        /// Its period.
        period_s: f64,
    },
    /// A packet capture.
    Capture {
        /// The connection that carried the most.
        connection: String,
        /// Connections that sent data.
        connections: usize,
        /// Payload of that connection.
        bytes: u64,
        /// Its data packets.
        packets: u64,
        /// Its losses.
        losses: u64,
        /// Its duration.
        lasted_s: f64,
        /// Round-trip samples: as many instants, round-trip times in ms and packets outstanding, one after another.
        samples: usize,
    },
    /// Neither, and why.
    Unknown {
        /// The problem.
        message: String,
    },
}

/// The kind of a file, and its numbers.
pub fn read(bytes: &[u8]) -> (Given, Vec<f32>) {
    if is_capture(bytes) {
        return capture(bytes).unwrap_or_else(|message| (Given::Unknown { message }, Vec::new()));
    }
    let text = String::from_utf8_lossy(bytes);
    let given = match recording::read(&text) {
        Ok(known) => Given::Trace {
            form: known.form.name(),
            mean: known.recording.mean().to_string(),
            period_s: known.recording.period().as_secs_f64(),
        },
        Err(message) => Given::Unknown { message: format!("neither a capture nor a trace: {message}") },
    };
    (given, Vec::new())
}

fn capture(bytes: &[u8]) -> Result<(Given, Vec<f32>), String> {
    let mut capture = Capture::default();
    capture.read(bytes).map_err(|fault| fault.to_string())?;
    let senders = capture.senders();
    let greatest = senders.iter().max_by_key(|(_, sent)| *sent).ok_or("no TCP connection in it sent data")?;
    let transfer = capture.transfer(greatest.0).ok_or("its connection has no data")?;
    let samples = &transfer.samples;
    let first = samples.first().map_or(Time::ZERO, |sample| sample.now);
    let times = samples.iter().map(|sample| sample.now.since(first).as_secs_f64() as f32);
    let rtts = samples.iter().map(|sample| sample.rtt.as_millis_f64() as f32);
    let windows = samples.iter().map(|sample| sample.window as f32);
    let numbers = times.chain(rtts).chain(windows).collect();
    let (from, to) = greatest.0;
    let given = Given::Capture {
        connection: format!("{from} → {to}"),
        connections: senders.len(),
        bytes: transfer.bytes,
        packets: transfer.packets,
        losses: transfer.losses.len() as u64,
        lasted_s: transfer.lasted.as_secs_f64(),
        samples: samples.len(),
    };
    Ok((given, numbers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_recognised_and_anything_else_is_named() {
        let (trace, _) = read(b"4\n9\n13\n18\n1000\n");
        assert!(matches!(&trace, Given::Trace { form: "mahimahi", .. }), "{trace:?}");
        let (unknown, _) = read(b"\x89PNG");
        assert!(
            matches!(&unknown, Given::Unknown { message } if message.starts_with("neither")),
            "{unknown:?}"
        );
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Files that a reader gives: a capture or qlog becomes the signals of its greatest transfer, a trace the capacity of the bottleneck.

use kneepoint::capture::{Capture, Transfer, is_capture, qlog};
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
    /// A packet capture, or the record of a QUIC stack.
    Capture {
        /// The connection that carried the most.
        connection: String,
        /// Connections that sent data.
        connections: usize,
        /// Bytes of that connection's data.
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
    /// None of these, and why.
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
    if qlog::is_qlog(bytes) {
        return recorded(bytes).unwrap_or_else(|message| (Given::Unknown { message }, Vec::new()));
    }
    let text = String::from_utf8_lossy(bytes);
    let given = match recording::read(&text) {
        Ok(known) => Given::Trace {
            form: known.form.name(),
            mean: known.recording.mean().to_string(),
            period_s: known.recording.period().as_secs_f64(),
        },
        Err(message) => {
            Given::Unknown { message: format!("neither a capture nor a trace, nor qlog: {message}") }
        }
    };
    (given, Vec::new())
}

fn capture(bytes: &[u8]) -> Result<(Given, Vec<f32>), String> {
    let mut capture = Capture::default();
    capture.read(bytes).map_err(|fault| fault.to_string())?;
    let senders = capture.senders();
    let greatest = senders.iter().max_by_key(|(_, sent)| *sent).ok_or("no TCP connection in it sent data")?;
    let transfer = capture.transfer(greatest.0).ok_or("its connection has no data")?;
    let (from, to) = greatest.0;
    Ok(told(format!("{from} → {to}"), senders.len(), &transfer))
}

fn recorded(bytes: &[u8]) -> Result<(Given, Vec<f32>), String> {
    let (traces, _) = qlog::read(bytes).map_err(|fault| format!("qlog that {fault}"))?;
    let greatest = traces.iter().max_by_key(|traced| traced.transfer.bytes).ok_or("no connection in it")?;
    Ok(told(greatest.name.clone(), traces.len(), &greatest.transfer))
}

/// A connection, and its round trips.
fn told(connection: String, connections: usize, transfer: &Transfer) -> (Given, Vec<f32>) {
    let samples = &transfer.samples;
    let first = samples.first().map_or(Time::ZERO, |sample| sample.now);
    let times = samples.iter().map(|sample| sample.now.since(first).as_secs_f64() as f32);
    let rtts = samples.iter().map(|sample| sample.rtt.as_millis_f64() as f32);
    let windows = samples.iter().map(|sample| sample.window as f32);
    let numbers = times.chain(rtts).chain(windows).collect();
    let given = Given::Capture {
        connection,
        connections,
        bytes: transfer.bytes,
        packets: transfer.packets,
        losses: transfer.losses.len() as u64,
        lasted_s: transfer.lasted.as_secs_f64(),
        samples: samples.len(),
    };
    (given, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_recognised_and_anything_else_is_named() {
        let (trace, _) = read(b"4\n9\n13\n18\n1000\n");
        assert!(matches!(&trace, Given::Trace { form: "mahimahi", .. }), "{trace:?}");
        let aioquic = include_bytes!("../../kneepoint/tests/laboratory/qlog/aioquic.qlog");
        let (qlog, numbers) = read(aioquic);
        let Given::Capture { connections: 1, packets: 59, losses: 2, samples, .. } = qlog else {
            panic!("{qlog:?}")
        };
        assert_eq!(numbers.len(), 3 * samples);
        let (broken, _) = read(b"{\"qlog_version\":\"0.3\"}\n{\"time\":1,\n{}\n");
        assert!(matches!(&broken, Given::Unknown { message } if message.starts_with("qlog")), "{broken:?}");
        let (unknown, _) = read(b"\x89PNG");
        assert!(
            matches!(&unknown, Given::Unknown { message } if message.starts_with("neither")),
            "{unknown:?}"
        );
    }
}

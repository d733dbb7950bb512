// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Packet numbers that no endpoint has. One of them changes which packets count as acknowledged, and the verdict.
//!
//! | numbers | rule | RFC 9000 | otherwise |
//! |---|---|---|---|
//! | sent | less than 2^62 | §12.3 | the log is refused |
//! | sent | greater than the numbers before | §12.3 | the log is refused |
//! | sent | at most 2^31 above these | §17.1, A.2 | the log is refused |
//! | acknowledged | at most the greatest that was sent | §13.1 | the frames are left out |
//!
//! The longest code of a number has four bytes, relative to the largest acknowledged one. Skipped numbers are
//! permitted (§21.4). Each path numbers its packets separately; the frame `ack` is about the first path. Packets
//! of unknown type may belong to the handshake, so they are not checked.

use std::collections::BTreeMap;

use serde_json::Value;

use super::course::{acked_ranges, is_application, number};
use super::fault::Place;

/// One more than the greatest packet number.
const NUMBERS: u64 = 1 << 62;
/// The furthest that a number is from the largest acknowledged one, so that four bytes code it.
const FURTHEST: u64 = 1 << 31;

/// The numbers of a trace.
#[derive(Default)]
pub(super) struct Numbers {
    /// The greatest number sent on each path, and where.
    sent: BTreeMap<u64, (u64, Place)>,
    /// Packets that acknowledge what was not sent.
    impossible: u64,
    /// The first of these: where it is, the number, and the greatest sent.
    first: Option<(Place, u64, u64)>,
}

impl Numbers {
    /// Takes an event, and leaves out what it cannot acknowledge. An error says why its number is none.
    pub(super) fn take(&mut self, place: Place, name: &str, data: &mut Value) -> Result<(), String> {
        match name.rsplit(':').next().unwrap_or_default() {
            "packet_sent" if is_application(data) => self.send(place, data),
            "packet_received" if is_application(data) => {
                self.receive(place, data);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn send(&mut self, place: Place, data: &Value) -> Result<(), String> {
        let Some(number) = number(data) else { return Ok(()) };
        if number >= NUMBERS {
            return Err(format!(
                "{number} is not a packet number: these are less than 2^62 (RFC 9000 §12.3)"
            ));
        }
        let path = data["header"]["path_id"].as_u64().unwrap_or_default();
        match self.sent.insert(path, (number, place)) {
            Some((before, at)) if number <= before => Err(format!(
                "packet {number} is sent after packet {before} of {at}, but numbers increase (RFC 9000 §12.3)"
            )),
            Some((before, at)) if number - before > FURTHEST => Err(format!(
                "packet {number} is sent after packet {before} of {at}, but numbers more than 2^31 above those before \
                 cannot be coded (RFC 9000 §17.1)"
            )),
            _ => Ok(()),
        }
    }

    fn receive(&mut self, place: Place, data: &mut Value) {
        let Some((greatest, _)) = self.sent.get(&0) else { return };
        let acked = acked_ranges(data).map(|(_, to)| to).max();
        let Some(acked) = acked.filter(|acked| acked > greatest) else { return };
        self.impossible += 1;
        self.first.get_or_insert((place, acked, *greatest));
        data["frames"] = Value::Null;
    }

    /// A remark on what was left out.
    pub(super) fn doubt(&self) -> Option<String> {
        let (place, acked, greatest) = self.first?;
        let more = match self.impossible {
            1 => String::new(),
            all => format!(" This is the first of {all} such packets."),
        };
        Some(format!(
            "At {place}, packet {acked} is acknowledged, but none above {greatest} was sent (RFC 9000 §13.1): the \
             ACK frames there were left out.{more}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Numbers, Place};

    /// What is said of an event at this line.
    fn taken(numbers: &mut Numbers, line: usize, name: &str, mut data: Value) -> (Result<(), String>, Value) {
        let said = numbers.take(Place::Line(line), name, &mut data);
        (said, data)
    }

    fn sent(numbers: &mut Numbers, line: usize, header: Value) -> Result<(), String> {
        taken(numbers, line, "quic:packet_sent", json!({ "header": header })).0
    }

    #[test]
    fn numbers_increase_by_what_can_be_coded() {
        for (first, next, said) in [
            (4, 5, None),
            (4, 90_000, None),
            (4, 4 + (1 << 31), None),
            (4, 5 + (1 << 31), Some("more than 2^31 above")),
            (4, 1 << 53, Some("packet 9007199254740992 is sent after packet 4 of line 1")),
            (4, 1 << 62, Some("less than 2^62")),
            (5_000_000, 301, Some("increase")),
            (4, 4, Some("increase")),
        ] {
            let mut numbers = Numbers::default();
            let header = |number: u64| json!({ "packet_type": "1RTT", "packet_number": number });
            assert_eq!(sent(&mut numbers, 1, header(first)), Ok(()));
            match (sent(&mut numbers, 2, header(next)), said) {
                (Err(message), Some(said)) => assert!(message.contains(said), "{message}"),
                (one, other) => assert_eq!((one, other), (Ok(()), None), "{first} {next}"),
            }
        }
    }

    #[test]
    fn the_handshake_and_other_paths_have_their_own_numbers() {
        let mut numbers = Numbers::default();
        for header in [
            json!({ "packet_type": "initial", "packet_number": 9 }),
            json!({ "packet_type": "1RTT", "packet_number": 5 }),
            json!({ "packet_type": "handshake", "packet_number": 1 }),
            json!({ "packet_type": "1RTT", "packet_number": 0, "path_id": 1 }),
            // Of an unknown space.
            json!({ "packet_number": 2 }),
        ] {
            assert_eq!(sent(&mut numbers, 1, header), Ok(()));
        }
    }

    #[test]
    fn acknowledgements_of_what_was_not_sent_are_left_out() {
        let mut numbers = Numbers::default();
        let mut heard = |line: usize, last: u64| {
            let frame = json!({ "frame_type": "ack", "acked_ranges": [[0, last]] });
            let data = json!({ "header": { "packet_type": "1RTT" }, "frames": [frame] });
            let (said, data) = taken(&mut numbers, line, "packet_received", data);
            assert_eq!(said, Ok(()));
            let doubt = numbers.doubt();
            let _ = sent(&mut numbers, line, json!({ "packet_type": "1RTT", "packet_number": 7 }));
            (data["frames"].is_array(), doubt)
        };
        // The log begins in the middle of a connection.
        assert_eq!(heard(2, 6), (true, None));
        assert_eq!(heard(3, 7), (true, None));
        let (kept, doubt) = heard(4, 1 << 53);
        let doubt = doubt.expect("a remark");
        assert!(!kept && doubt.contains("At line 4, packet 9007199254740992 is acknowledged"), "{doubt}");
        assert!(!doubt.contains("first of"), "{doubt}");
        let (_, both) = heard(5, 8);
        assert!(both.is_some_and(|both| both.contains("At line 4") && both.contains("first of 2")));
    }
}

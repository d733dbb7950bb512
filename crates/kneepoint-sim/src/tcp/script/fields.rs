// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The fields of TCP_INFO and the constants that assertions may name.

use crate::tcp::Info;

/// A field of the state of a connection.
pub(super) type Field = fn(&Info, u32) -> i64;

/// An infinite threshold as Linux reports it.
const INFINITE: i64 = 0x7fff_ffff;

/// Fields by their names: of the sender's state and the segment size.
pub(super) const FIELDS: [(&str, Field); 16] = [
    ("tcpi_ca_state", |info, _| info.state as i64),
    ("tcpi_snd_cwnd", |info, _| info.window.into()),
    ("tcpi_snd_ssthresh", |info, _| info.threshold.map_or(INFINITE, i64::from)),
    ("tcpi_snd_mss", |_, mss| mss.into()),
    ("tcpi_unacked", |info, _| info.unacked.into()),
    ("tcpi_sacked", |info, _| info.sacked.into()),
    ("tcpi_lost", |info, _| info.lost.into()),
    ("tcpi_retrans", |info, _| info.retransmitted.into()),
    ("tcpi_total_retrans", |info, _| info.total_retransmitted.into()),
    ("tcpi_reordering", |info, _| info.reordering.into()),
    ("tcpi_rtt", |info, _| (info.srtt.0 / 1000) as i64),
    ("tcpi_rttvar", |info, _| (info.rttvar.0 / 1000) as i64),
    ("tcpi_rto", |info, _| (info.timeout.0 / 1000) as i64),
    // The SYN counts.
    ("tcpi_delivered", |info, _| info.delivered as i64 + 1),
    ("tcpi_delivered_ce", |info, _| info.marked.0.into()),
    ("tcpi_delivered_ce_bytes", |info, _| info.marked.1.into()),
];

/// Constants by their names.
pub(super) const CONSTANTS: [(&str, i64); 8] = [
    ("TCP_INFINITE_SSTHRESH", INFINITE),
    ("TCP_CA_Open", 0),
    ("TCP_CA_Disorder", 1),
    ("TCP_CA_CWR", 2),
    ("TCP_CA_Recovery", 3),
    ("TCP_CA_Loss", 4),
    ("True", 1),
    ("False", 0),
];

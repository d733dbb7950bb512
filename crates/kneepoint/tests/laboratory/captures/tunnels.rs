// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tunnels and link layers: the transfer is the same in any encapsulation.

use super::{ETHERNET, RAW, only, read, same};
use crate::common::shots::{Shot, ethernet, frames, ipv4, ipv6, over_ipv4, over_ipv6, pcap, transfer, udp};

/// The encapsulation of an IP packet with a segment.
type Carried = fn(&Shot, u16) -> Vec<u8>;

/// Outer hosts of a tunnel.
pub const OUTER: [u8; 2] = [8, 9];

pub fn frame4(shot: &Shot, id: u16) -> Vec<u8> {
    ethernet(0x0800, &over_ipv4(shot, id))
}

pub fn tunnel(protocol: u8, header: &[u8], inner: &[u8]) -> Vec<u8> {
    ethernet(0x0800, &ipv4(protocol, OUTER, 7, &[header, inner].concat()))
}

fn over_port(port: u16, header: &[u8], inner: &[u8]) -> Vec<u8> {
    tunnel(17, &[], &udp(port, &[header, inner].concat()))
}

/// Every form, with its link layer.
pub const FORMS: &[(&str, u32, Carried)] = &[
    ("IPv4", RAW, over_ipv4),
    ("IPv6", RAW, over_ipv6),
    ("Ethernet", ETHERNET, frame4),
    ("VXLAN", ETHERNET, |s, id| over_port(4789, &[8, 0, 0, 0, 0, 0, 42, 0], &frame4(s, id))),
    ("VXLAN on the old port", ETHERNET, |s, id| over_port(8472, &[8, 0, 0, 0, 0, 0, 42, 0], &frame4(s, id))),
    ("VXLAN-GPE", ETHERNET, |s, id| over_port(4790, &[12, 0, 0, 2, 0, 0, 42, 0], &over_ipv6(s, id))),
    ("VXLAN in a VLAN over IPv6", ETHERNET, |s, id| {
        let tunnel = udp(4789, &[&[8, 0, 0, 0, 0, 0, 42, 0], &frame4(s, id)[..]].concat());
        ethernet(0x8100, &[&[0, 7, 0x86, 0xdd], &ipv6(17, OUTER, &tunnel)[..]].concat())
    }),
    ("Geneve with options", ETHERNET, |s, id| {
        over_port(6081, &[2, 0, 0x65, 0x58, 0, 0, 42, 0, 1, 2, 3, 1, 0, 0, 0, 9], &frame4(s, id))
    }),
    ("Geneve with IPv6", ETHERNET, |s, id| {
        over_port(6081, &[0, 0, 0x86, 0xdd, 0, 0, 42, 0], &over_ipv6(s, id))
    }),
    ("GRE", ETHERNET, |s, id| tunnel(47, &[0, 0, 8, 0], &over_ipv4(s, id))),
    ("GRE with checksum, key and number, and a VLAN in it", ETHERNET, |s, id| {
        let head = [0xb0, 0, 0x65, 0x58, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 6];
        tunnel(47, &head, &ethernet(0x8100, &[&[0, 7, 8, 0], &over_ipv4(s, id)[..]].concat()))
    }),
    ("GRE of PPTP", ETHERNET, |s, id| {
        tunnel(47, &[0x30, 0x81, 0x88, 0x0b, 0, 9, 0, 1, 0, 0, 0, 6, 0, 0, 0, 7, 0x21], &over_ipv4(s, id))
    }),
    ("GRE in UDP", ETHERNET, |s, id| over_port(4754, &[0, 0, 0x86, 0xdd], &over_ipv6(s, id))),
    ("IP in IP", RAW, |s, id| ipv4(4, OUTER, 7, &over_ipv4(s, id))),
    ("6in4", RAW, |s, id| ipv4(41, OUTER, 7, &over_ipv6(s, id))),
    ("IPv4 in IPv6", RAW, |s, id| ipv6(4, OUTER, &over_ipv4(s, id))),
    ("an authentication header", RAW, |s, id| {
        ipv4(51, s.hosts(), id, &[&[6, 4, 0, 0][..], &[0; 20], &s.tcp()].concat())
    }),
    ("ERSPAN I", ETHERNET, |s, id| tunnel(47, &[0, 0, 0x88, 0xbe], &frame4(s, id))),
    ("ERSPAN II", ETHERNET, |s, id| {
        tunnel(47, &[0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 0x10, 1, 0, 1, 0, 0, 0, 2], &frame4(s, id))
    }),
    ("ERSPAN III", ETHERNET, |s, id| {
        let head = [0x10, 0, 0x22, 0xeb, 0, 0, 0, 1, 0x20, 1, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0];
        tunnel(47, &head, &frame4(s, id))
    }),
    ("ERSPAN III with a subheader", ETHERNET, |s, id| {
        let head =
            [0x10, 0, 0x22, 0xeb, 0, 0, 0, 1, 0x20, 1, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 9, 9, 9, 9, 9, 9, 9, 9];
        tunnel(47, &head, &frame4(s, id))
    }),
    ("GTP-U with an extension", ETHERNET, |s, id| {
        over_port(2152, &[0x34, 255, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 9, 9, 0], &over_ipv4(s, id))
    }),
    ("MPLS in UDP", ETHERNET, |s, id| over_port(6635, &[0, 1, 1, 64], &over_ipv4(s, id))),
    ("a pseudowire of MPLS", ETHERNET, |s, id| {
        ethernet(0x8847, &[&[0, 1, 0, 64, 0, 2, 1, 64, 0, 0, 0, 0], &frame4(s, id)[..]].concat())
    }),
    ("VXLAN in GRE in IPv4", ETHERNET, |s, id| {
        let vxlan = over_port(4789, &[8, 0, 0, 0, 0, 0, 42, 0], &frame4(s, id));
        tunnel(47, &[0, 0, 0x65, 0x58], &vxlan)
    }),
    ("802.3 with SNAP", ETHERNET, |s, id| {
        let packet = over_ipv4(s, id);
        ethernet(packet.len() as u16 + 8, &[&[0xaa, 0xaa, 3, 0, 0, 0, 8, 0], &packet[..]].concat())
    }),
    ("SNAP of 802.1H in a VLAN", ETHERNET, |s, id| {
        let packet = over_ipv4(s, id);
        let [high, low] = (packet.len() as u16 + 8).to_be_bytes();
        ethernet(0x8100, &[&[0, 7, high, low, 0xaa, 0xaa, 3, 0, 0, 0xf8, 8, 0], &packet[..]].concat())
    }),
    ("IP by LLC", ETHERNET, |s, id| ethernet(1503, &[&[6, 6, 3], &over_ipv4(s, id)[..]].concat())),
    ("a provider backbone", ETHERNET, |s, id| {
        ethernet(0x88e7, &[&[0, 0, 0, 5], &frame4(s, id)[..]].concat())
    }),
    ("LLC below a Linux cooked header", 113, |s, id| {
        [&[0; 14][..], &[0, 4, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0], &over_ipv4(s, id)].concat()
    }),
    ("Cisco HDLC", 104, |s, id| [&[0x0f, 0, 8, 0][..], &over_ipv4(s, id)].concat()),
];

#[test]
fn a_transfer_is_the_same_through_every_tunnel_and_link_layer() {
    for (form, link, carried) in FORMS {
        let frames = frames(&transfer(), |shot, id| vec![carried(shot, id)]);
        let capture = read(&pcap(&frames, *link, false, false));
        same(&only(&capture), form);
        assert_eq!((capture.others(), capture.cut_headers()), (0, 0), "{form}");
    }
}

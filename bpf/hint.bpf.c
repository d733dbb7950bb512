// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Writes the sender's window into the DSCP bits of its data packets: a classifier at the egress of the sender's device.
 *
 * Acknowledgements without data and packets of other hosts carry no hint; their DSCP bits stay.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "lib/hint.h"

/* Bytes before the IP header: 14 on Ethernet, none on a TUN device. */
const volatile whole header = 14;

/* Packets with a hint so far. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} hinted SEC(".maps");

#define OPTIONS_END 60

/* Whether a TCP packet whose TCP header starts here has data. */
INLINE flag has_data(struct __sk_buff *skb, u32 start)
{
	u8 length;

	if (bpf_skb_load_bytes(skb, start + 12, &length, 1))
		return 0;
	return skb->len > start + (length >> 4) * 4;
}

SEC("tc")
int knee_hint(struct __sk_buff *skb)
{
	struct bpf_sock *sock = skb->sk;
	struct bpf_tcp_sock *tcp;
	u32 at = header, zero = 0;
	u64 *count;
	u8 head[2], code;

	if (!sock)
		return TC_ACT_UNSPEC;
	sock = bpf_sk_fullsock(sock);
	if (!sock || sock->protocol != IPPROTO_TCP)
		return TC_ACT_UNSPEC;
	tcp = bpf_tcp_sock(sock);
	if (!tcp || at > OPTIONS_END || bpf_skb_load_bytes(skb, at, head, sizeof(head)))
		return TC_ACT_UNSPEC;
	code = hint_of_window(tcp->snd_cwnd);

	if (skb->protocol == bpf_htons(ETH_P_IP) && head[0] >> 4 == 4) {
		u8 class = code << 2 | (head[1] & 3);
		u16 before = bpf_htons(head[0] << 8 | head[1]), after = bpf_htons(head[0] << 8 | class);

		if (!has_data(skb, at + (head[0] & 15) * 4))
			return TC_ACT_UNSPEC;
		if (bpf_l3_csum_replace(skb, at + 10, before, after, 2) || bpf_skb_store_bytes(skb, at + 1, &class, 1, 0))
			return TC_ACT_UNSPEC;
	} else if (skb->protocol == bpf_htons(ETH_P_IPV6) && head[0] >> 4 == 6) {
		/* Traffic class: the lower half of the first byte and the upper half of the second. */
		if (!has_data(skb, at + 40))
			return TC_ACT_UNSPEC;
		head[0] = 6 << 4 | code >> 2;
		head[1] = (code & 3) << 6 | (head[1] & 0x3f);
		if (bpf_skb_store_bytes(skb, at, head, sizeof(head), 0))
			return TC_ACT_UNSPEC;
	} else {
		return TC_ACT_UNSPEC;
	}
	count = bpf_map_lookup_elem(&hinted, &zero);
	if (count)
		__sync_fetch_and_add(count, 1);
	return TC_ACT_UNSPEC;
}

char _license[] SEC("license") = "Dual BSD/GPL";

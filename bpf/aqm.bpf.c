// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * PI, PISA and PIMC at a router: a classifier at the egress of a device judges packets before they are queued there.
 *
 * The queue is the root's count of packets, which leaves out the packet that arrives. Packets that are neither IPv4 nor
 * IPv6 pass. A packet of several segments (GSO) is judged once and counts as the queue counts it.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "aqm/law.h"
#include "lib/hint.h"

struct qdisc_skb_head {
	u32 qlen;
} __attribute__((preserve_access_index));
struct Qdisc {
	struct qdisc_skb_head q;
} __attribute__((preserve_access_index));
struct net_device {
	struct Qdisc *qdisc;
} __attribute__((preserve_access_index));
struct sk_buff {
	struct net_device *dev;
} __attribute__((preserve_access_index));

extern void *bpf_cast_to_kern_ctx(void *) __ksym;

const volatile fine a = 20033102, b = 19967131;
const volatile fixed reference = 214748364800;
const volatile fixed frequency = 730144440320;
const volatile flag at_arrival = 0;
const volatile flag ecn = 0;
const volatile choice spare = AQM_SPARE_NONE;
const volatile fixed spare_gain = 12884901888;
const volatile fixed spare_weight = 85899346;
const volatile fixed min_window = 30064771072;
const volatile fixed min_window_share = 0;

/* Read by `knee kernel aqm status`. */
struct queue {
	struct bpf_spin_lock lock;
	/* The queue that the latest packet met. */
	u32 length;
	struct aqm_state law;
	/* Judged packets, in total and with the sender's window. */
	u64 packets, hinted;
	/* Packets that the window spared. */
	u64 spared;
	u64 dropped, marked;
	/* Packets dropped instead of marked. */
	u64 unmarkable;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct queue);
} queue SEC(".maps");

/* The window that a packet carries, with 32 fractional bits; zero without one, negative for other protocols. */
INLINE s64 window_of(struct __sk_buff *skb)
{
	u8 head[2];
	u32 class;

	if (skb->protocol != bpf_htons(ETH_P_IP) && skb->protocol != bpf_htons(ETH_P_IPV6))
		return -1;
	if (bpf_skb_load_bytes_relative(skb, 0, head, sizeof(head), BPF_HDR_START_NET))
		return -1;
	class = head[0] >> 4 == 4 ? head[1] : (head[0] & 15) << 4 | head[1] >> 4;
	return hint_window((class >> 2) & 63);
}

SEC("tc")
int knee_aqm(struct __sk_buff *skb)
{
	const struct aqm_settings set = {
		.a = a,
		.b = b,
		.reference = reference,
		.interval = frequency ? (1000000000ULL << 32) / frequency : 0,
		.spare = spare,
		.at_arrival = at_arrival,
		.spare_gain = spare_gain,
		.spare_weight = spare_weight,
		.min_window = min_window,
		.min_window_share = min_window_share,
	};
	struct sk_buff *whole_skb = bpf_cast_to_kern_ctx(skb);
	u32 zero = 0, length = whole_skb->dev->qdisc->q.qlen, chance = bpf_get_prandom_u32();
	struct queue *state = bpf_map_lookup_elem(&queue, &zero);
	u64 now = bpf_ktime_get_ns(), probability;
	s64 window = window_of(skb);
	flag marked;

	if (!state || window < 0)
		return TC_ACT_UNSPEC;
	bpf_spin_lock(&state->lock);
	probability = aqm_judge(&set, &state->law, length, window, now);
	state->length = length;
	state->packets++;
	state->hinted += window > 0;
	state->spared += window > 0 && set.spare == AQM_SPARE_THRESHOLD && !probability && state->law.probability > 0;
	bpf_spin_unlock(&state->lock);
	if (chance >= probability)
		return TC_ACT_UNSPEC;

	marked = ecn && bpf_skb_ecn_set_ce(skb);
	__sync_fetch_and_add(marked ? &state->marked : &state->dropped, 1);
	if (marked)
		return TC_ACT_UNSPEC;
	if (ecn)
		__sync_fetch_and_add(&state->unmarkable, 1);
	return TC_ACT_SHOT;
}

char _license[] SEC("license") = "Dual BSD/GPL";

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The kernel's types, as far as the programs read them; a loader finds the offsets in the running kernel's BTF. */
#ifndef KNEE_KERNEL_H
#define KNEE_KERNEL_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>

#include "lib/fixed.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct in6_addr {
	union {
		u8 u6_addr8[16];
		u32 u6_addr32[4];
	} in6_u;
};

struct sock_common {
	u32 skc_daddr;
	u32 skc_rcv_saddr;
	u16 skc_dport;
	u16 skc_num;
	u16 skc_family;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
	unsigned long sk_pacing_rate;
	u32 sk_pacing_status;
};

struct tcp_sock {
	u32 snd_cwnd;
	u32 snd_cwnd_clamp;
	u32 snd_ssthresh;
	u32 snd_una;
	u32 snd_nxt;
	u32 packets_out;
	u32 sacked_out;
	u32 lost_out;
	u32 retrans_out;
	u32 max_packets_out;
	u32 mss_cache;
	u32 delivered;
	u8 is_cwnd_limited : 1;
};

struct ack_sample {
	u32 pkts_acked;
	s32 rtt_us;
};

struct rate_sample;
enum tcp_ca_event;

struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*set_state)(struct sock *sk, u8 new_state);
	u32 (*undo_cwnd)(struct sock *sk);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
	u32 flags;
	char name[16];
};

#pragma clang attribute pop

/* tcp_congestion_ops.flags: any process may choose it */
#define TCP_CONG_NON_RESTRICTED 1

/* inet_connection_sock.icsk_ca_state, as set_state is told it */
enum { OPEN, DISORDER, REDUCED, RECOVERY, LOSS };

#define AF_INET 2

char _license[] SEC("license") = "Dual BSD/GPL";

#endif

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * RATCP's rate in a TCP option: kind 253, experiment 0x4b50 (RFC 6994), then two numbers of 1000 bit/s in network order.
 *
 *   rate   data asks for as much as there is (all ones), and links lower it
 *   echo   an acknowledgement returns what came
 *
 * The twelve bytes stand beside timestamps and leave room for one SACK block.
 */
#include "lib/advice.h"

#define KIND 253
#define EXPERIMENT 0x4b50
#define LENGTH 12
#define UNIT 1000
#define ANY 0xffffffff

struct option {
	u8 kind, length;
	u16 experiment;
	u32 rate, echo;
} __attribute__((packed));

INLINE struct advice *advice_of(struct bpf_sock_ops *ops)
{
	struct bpf_sock *sk = ops->sk;

	return sk ? bpf_sk_storage_get(&advices, sk, 0, BPF_SK_STORAGE_GET_F_CREATE) : 0;
}

INLINE void read_option(struct bpf_sock_ops *ops)
{
	struct option option = { .kind = KIND, .length = 4, .experiment = bpf_htons(EXPERIMENT) };
	struct advice *advice;

	if (bpf_load_hdr_opt(ops, &option, sizeof(option), 0) != LENGTH)
		return;
	advice = advice_of(ops);
	if (!advice)
		return;
	advice->stamped = option.rate;
	if (option.echo && option.echo != ANY) {
		advice->rate = (u64)bpf_ntohl(option.echo) * UNIT;
		advice->at = bpf_ktime_get_ns();
	}
}

INLINE void write_option(struct bpf_sock_ops *ops)
{
	struct advice *advice = advice_of(ops);
	struct option option = {
		.kind = KIND,
		.length = LENGTH,
		.experiment = bpf_htons(EXPERIMENT),
		.rate = ANY,
		.echo = advice ? advice->stamped : 0,
	};

	bpf_store_hdr_opt(ops, &option, sizeof(option), 0);
}

SEC("sockops")
int knee_rate_option(struct bpf_sock_ops *ops)
{
	switch (ops->op) {
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
	case BPF_SOCK_OPS_TCP_LISTEN_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
		bpf_sock_ops_cb_flags_set(ops, ops->bpf_sock_ops_cb_flags | BPF_SOCK_OPS_PARSE_ALL_HDR_OPT_CB_FLAG |
						       BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
		break;
	case BPF_SOCK_OPS_HDR_OPT_LEN_CB:
		bpf_reserve_hdr_opt(ops, LENGTH, 0);
		break;
	case BPF_SOCK_OPS_WRITE_HDR_OPT_CB:
		write_option(ops);
		break;
	case BPF_SOCK_OPS_PARSE_HDR_OPT_CB:
		read_option(ops);
		break;
	}
	return 1;
}

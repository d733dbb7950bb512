/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * RATCP's rate in a TCP option: kind 253, experiment 0x4b50 (RFC 6994), then two numbers of 1000 bit/s in network order.
 *
 *   rate data requests the maximum (all ones), and links lower it echo an acknowledgement returns the received value
 *
 * A host writes the option if its own controller heeds rates, from the end of the handshake on, or once its peer
 * wrote one. Packets of other connections of the cgroup are not changed. The controller is inspected when the
 * connection is established.
 *
 * The twelve bytes fit next to timestamps and one SACK block. The stack serves blocks first: an acknowledgement with
 * more of them has
 * no echo.
 */
#include "lib/advice.h"

#define KIND 253
#define EXPERIMENT 0x4b50
#define LENGTH 12
#define UNIT 1000
#define ANY 0xffffffff

#define SOL_TCP 6
#define TCP_CONGESTION 13

struct option {
	u8 kind, length;
	u16 experiment;
	u32 rate, echo;
} __attribute__((packed));

/* Packets with the option that hosts wrote, and the ones that gave a sender its rate. */
enum { WRITTEN, TOLD, COUNTS };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, COUNTS);
	__type(key, u32);
	__type(value, u64);
} counts SEC(".maps");

INLINE void count(u32 what)
{
	u64 *so_far = bpf_map_lookup_elem(&counts, &what);

	if (so_far)
		__sync_fetch_and_add(so_far, 1);
}

/* Whether the controller of a socket heeds rates. */
INLINE flag heeds(struct bpf_sock_ops *ops)
{
	char name[16] = {};

	return !bpf_getsockopt(ops, SOL_TCP, TCP_CONGESTION, name, sizeof(name)) &&
	       !bpf_strncmp(name, sizeof(ADVISED), ADVISED);
}

INLINE void listen_for(struct bpf_sock_ops *ops, int what)
{
	bpf_sock_ops_cb_flags_set(ops, ops->bpf_sock_ops_cb_flags | what);
}

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
	listen_for(ops, BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
	advice->stamped = option.rate;
	if (option.echo && option.echo != ANY) {
		advice->rate = (u64)bpf_ntohl(option.echo) * UNIT;
		advice->at = bpf_ktime_get_ns();
		count(TOLD);
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

	if (!bpf_store_hdr_opt(ops, &option, sizeof(option), 0))
		count(WRITTEN);
}

SEC("sockops")
int knee_rate_option(struct bpf_sock_ops *ops)
{
	switch (ops->op) {
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
		listen_for(ops, BPF_SOCK_OPS_PARSE_UNKNOWN_HDR_OPT_CB_FLAG |
					(heeds(ops) ? BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG : 0));
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

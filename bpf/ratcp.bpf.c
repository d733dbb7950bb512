/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* cc/ratcp.h in the kernel, with two sources of its rate: user space, by a map, and the network, by a TCP option. */
#include "cc/ratcp.h"
#include "lib/advice.h"

RATCP_PARAMETERS(CONSTANT)

/* Whether packets are spaced at the rate. */
const volatile flag pace = 0;

#define ALGORITHM ratcp
#define NAME ADVISED
#define VALUES RATCP_VALUES

/* A path: the destination (IPv4 as ::ffff:a.b.c.d) and both ports in host order, zero for any. */
struct path {
	u8 destination[16];
	u16 source_port, destination_port;
};

/* Rates of paths from user space, in bits per second. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct path);
	__type(value, u64);
} rates SEC(".maps");

#define prepare(sk, flow) look_up(sk, &(flow)->controller)
struct sock;
INLINE void look_up(struct sock *sk, struct ratcp *controller);

#include "lib/controller.h"

#define SOL_SOCKET 1
#define SO_MAX_PACING_RATE 47
#define UNPACED 0xffffffffU

/* Bytes of a packet besides its payload: IP, TCP and timestamps. A socket of IPv6 whose peer is ::ffff:a.b.c.d sends IPv4. */
INLINE u32 headers(const struct sock *sk)
{
	const struct sock_common *common = &sk->__sk_common;

	if (common->skc_family == AF_INET || common->skc_v6_daddr.in6_u.u6_addr32[2] == bpf_htonl(0xffff))
		return 52;
	return 72;
}

/* Bits per second: the network's latest rate, else the rate from user space, else zero. */
INLINE u64 told_rate(struct sock *sk)
{
	struct advice *advice = bpf_sk_storage_get(&advices, sk, 0, 0);
	struct record place = {};
	struct path path = {};
	u64 *rate;

	if (advice && advice->rate && bpf_ktime_get_ns() - advice->at < FRESH)
		return advice->rate;
	address(sk, &place);
	__builtin_memcpy(path.destination, place.destination, 16);
	path.source_port = place.source_port;
	path.destination_port = place.destination_port;
	rate = bpf_map_lookup_elem(&rates, &path);
	if (!rate) {
		path.source_port = path.destination_port = 0;
		rate = bpf_map_lookup_elem(&rates, &path);
	}
	return rate ? *rate : 0;
}

INLINE void look_up(struct sock *sk, struct ratcp *controller)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	fixed before = controller->rate;

	controller->rate = quotient(told_rate(sk), 8 * (tp->mss_cache + headers(sk)));
	if (pace && controller->rate != before) {
		/* The stack computes its own pace at every acknowledgement; a bound on it stays. */
		u64 bytes = product(tp->mss_cache, controller->rate);
		u32 bound = controller->rate ? LESSER(GREATER(bytes, 1), UNPACED - 1) : UNPACED;

		bpf_setsockopt(sk, SOL_SOCKET, SO_MAX_PACING_RATE, &bound, sizeof(bound));
	}
}

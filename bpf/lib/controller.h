/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A controller of cc/ in the kernel's TCP. A program defines ALGORITHM, its name, and VALUES, its parameters, and includes this.
 *
 *   pkts_acked every acknowledgement, before it grows the window: takes in delays, and makes an early response
 *   cong_avoid the window grows, if it limits the sender and no response was made
 *   ssthresh     a loss or a congestion mark; after a timeout, too
 *   set_state    the stack repairs, or has repaired
 *
 * The kernel has whole packets: its window is the controller's, rounded down. Where the stack changed the window by itself (during a recovery episode,
 * after an idle time, to undo a reduction), the controller resumes there.
 *
 * Departures from the laboratory's hosts: while the stack repairs, its proportional rate reduction sets the window; the
 * window where a loss is found counts as the packets that were using the path; a congestion mark is a loss.
 */
#include "lib/kernel.h"
#include "lib/telemetry.h"

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define STRUCT(suffix) struct JOIN(ALGORITHM, suffix)
#define CALL(function) JOIN(ALGORITHM, function)

/* The threshold of a connection without one (TCP_INFINITE_SSTHRESH). */
#define NO_THRESHOLD 0x7fffffff
/* As many packets as the algorithms count. */
#define GREATEST_WINDOW (1 << 24)

/* How often a connection reports; zero for never. */
const volatile span_ns report_every = 10000000;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 21);
} records SEC(".maps");

struct flow {
	struct ALGORITHM controller;
	u64 reported;
	u32 losses;
	u32 before;      /* the window before the latest reduction by a loss */
	u32 rtt;         /* the latest, microseconds */
	u32 in_flight;
	u8 state;        /* of the stack */
	flag responded;  /* to the acknowledgement under way, which then grows nothing */
	flag timeout;    /* the next threshold is that of a timeout */
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct flow);
} flows SEC(".maps");

INLINE STRUCT(parameters) parameters(void)
{
	return (STRUCT(parameters))VALUES;
}

INLINE struct flow *find(struct sock *sk)
{
	return bpf_sk_storage_get(&flows, sk, 0, 0);
}

/* The window and the threshold as the stack has them. */
INLINE u32 shown_window(const struct tcp_sock *tp, const struct window *window)
{
	u32 packets = LESSER(window->packets >> 32, GREATEST_WINDOW);

	packets = GREATER(packets, 1);
	return LESSER(packets, tp->snd_cwnd_clamp);
}

INLINE u32 shown_threshold(const struct window *window)
{
	return LESSER(window->ssthresh >> 32, NO_THRESHOLD);
}

INLINE void publish(struct tcp_sock *tp, const struct window *window)
{
	tp->snd_cwnd = shown_window(tp, window);
	tp->snd_ssthresh = shown_threshold(window);
}

/* Goes on from the stack's window and threshold where those are others; while it repairs, the window is for after the recovery episode. */
INLINE void follow(const struct flow *flow, const struct tcp_sock *tp, struct window *window)
{
	u32 packets = tp->snd_cwnd, threshold = tp->snd_ssthresh;

	if (flow->state == REDUCED || flow->state == RECOVERY)
		return;
	if (shown_window(tp, window) != packets)
		window->packets = (fixed)packets << 32;
	if (shown_threshold(window) != threshold)
		window->ssthresh = threshold >= NO_THRESHOLD ? MOST : (fixed)threshold << 32;
}

/* Packets outstanding, as tcp_packets_in_flight() has it. */
INLINE u32 outstanding(const struct tcp_sock *tp)
{
	return tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;
}

/* Whether the window limits the sender, as in tcp_is_cwnd_limited(): an unused window does not grow. */
INLINE flag limits(const struct tcp_sock *tp, flag slow)
{
	return BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited) || (slow && tp->snd_cwnd < 2 * tp->max_packets_out);
}

INLINE void address(const struct sock *sk, struct record *record)
{
	const struct sock_common *common = &sk->__sk_common;

	record->source_port = common->skc_num;
	record->destination_port = bpf_ntohs(common->skc_dport);
	if (common->skc_family == AF_INET) {
		record->source[10] = record->source[11] = 0xff;
		record->destination[10] = record->destination[11] = 0xff;
		*(u32 *)(record->source + 12) = common->skc_rcv_saddr;
		*(u32 *)(record->destination + 12) = common->skc_daddr;
		return;
	}
#ifndef WITHOUT_IPV6
	for (int place = 0; place < 4; place++) {
		((u32 *)record->source)[place] = common->skc_v6_rcv_saddr.in6_u.u6_addr32[place];
		((u32 *)record->destination)[place] = common->skc_v6_daddr.in6_u.u6_addr32[place];
	}
#endif
}

INLINE void report(struct sock *sk, struct flow *flow, u64 now, flag closed)
{
	STRUCT(parameters) set = parameters();
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct record *record;

	if (!report_every || (!closed && now - flow->reported < report_every))
		return;
	flow->reported = now;
	record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);
	if (!record)
		return;
	__builtin_memset(record, 0, sizeof(*record));
	record->at = now;
	record->closed = closed;
	address(sk, record);
	CALL(tell)(&flow->controller, &set, record);
	record->window = LESSER(CALL(window)(&flow->controller)->packets >> 16, 0xffffffff);
	record->ssthresh = tp->snd_ssthresh >= NO_THRESHOLD ? 0xffffffff : tp->snd_ssthresh;
	record->rtt = flow->rtt;
	record->losses = flow->losses;
	record->in_flight = flow->in_flight;
	record->delivered = tp->delivered;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

INLINE struct ack heard(const struct flow *flow, const struct tcp_sock *tp, u64 now)
{
	return (struct ack){
		.now = now,
		.una = tp->snd_una,
		.next = tp->snd_nxt,
		.recovering = flow->state >= REDUCED,
	};
}

SEC("struct_ops")
void BPF_PROG(knee_init, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	STRUCT(parameters) set = parameters();
	struct flow *flow = bpf_sk_storage_get(&flows, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);

	if (!flow)
		return;
	__builtin_memset(flow, 0, sizeof(*flow));
	CALL(open)(&flow->controller, &set, (fixed)tp->snd_cwnd << 32);
}

SEC("struct_ops")
void BPF_PROG(knee_release, struct sock *sk)
{
	struct flow *flow = find(sk);

	if (flow)
		report(sk, flow, bpf_ktime_get_ns(), 1);
}

SEC("struct_ops")
void BPF_PROG(knee_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	STRUCT(parameters) set = parameters();
	struct flow *flow = find(sk);
	s32 rtt = sample->rtt_us;
	struct window *window;
	struct ack ack;

	if (!flow)
		return;
	/* Read once: the compiler would choose between two addresses to read from, which the verifier refuses. */
	barrier_var(rtt);
	window = CALL(window)(&flow->controller);
	follow(flow, tp, window);
	ack = heard(flow, tp, bpf_ktime_get_ns());
	ack.acked = sample->pkts_acked;
	ack.in_flight = outstanding(tp);
	ack.random = bpf_get_prandom_u32();
	if (rtt > 0) {
		ack.rtt = (u64)rtt * 1000;
		flow->rtt = rtt;
	}
	prepare(sk, flow);
	flow->responded = CALL(sample)(&flow->controller, &set, &ack);
	if (!ack.recovering)
		publish(tp, window);
	flow->in_flight = ack.in_flight;
	report(sk, flow, ack.now, 0);
}

SEC("struct_ops")
void BPF_PROG(knee_cong_avoid, struct sock *sk, u32 acknowledged, u32 acked)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	STRUCT(parameters) set = parameters();
	struct flow *flow = find(sk);
	struct window *window;

	if (!flow || flow->responded)
		return;
	window = CALL(window)(&flow->controller);
	follow(flow, tp, window);
	if (!limits(tp, slow_start(window)))
		return;
	CALL(grow)(&flow->controller, &set, (fixed)acked << 32);
	publish(tp, window);
}

SEC("struct_ops")
u32 BPF_PROG(knee_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	STRUCT(parameters) set = parameters();
	struct flow *flow = find(sk);
	struct window *window;
	struct ack ack;

	if (!flow)
		return GREATER(tp->snd_cwnd / 2, 2);
	window = CALL(window)(&flow->controller);
	follow(flow, tp, window);
	flow->losses++;
	flow->before = tp->snd_cwnd;
	ack = heard(flow, tp, bpf_ktime_get_ns());
	CALL(loss)(&flow->controller, &set, &ack, window->packets);
	return shown_threshold(window);
}

SEC("struct_ops")
void BPF_PROG(knee_set_state, struct sock *sk, u8 state)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	STRUCT(parameters) set = parameters();
	struct flow *flow = find(sk);

	if (!flow)
		return;
	if (state == LOSS) {
		struct ack ack = heard(flow, tp, bpf_ktime_get_ns());

		/* ssthresh() was asked just before, where the threshold was to fall. */
		CALL(timeout)(&flow->controller, &set, &ack, CALL(window)(&flow->controller)->packets, 1);
	}
	flow->state = state;
}

SEC("struct_ops")
u32 BPF_PROG(knee_undo_cwnd, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct flow *flow = find(sk);

	return flow ? GREATER(tp->snd_cwnd, flow->before) : tp->snd_cwnd;
}

SEC(".struct_ops.link")
struct tcp_congestion_ops ALGORITHM = {
	.init = (void *)knee_init,
	.release = (void *)knee_release,
	.pkts_acked = (void *)knee_pkts_acked,
	.cong_avoid = (void *)knee_cong_avoid,
	.ssthresh = (void *)knee_ssthresh,
	.set_state = (void *)knee_set_state,
	.undo_cwnd = (void *)knee_undo_cwnd,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = NAME,
};

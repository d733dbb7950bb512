/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * PI, PISA and PIMC in a kernel's own tree: a queue of packets whose arrivals the law of aqm.bpf.c judges.
 *
 * A packet carries its sender's window in its DSCP bits. Every TCP of this kernel writes it there from the moment at which
 * a queue wants to know it; hint.bpf.c does so on a real machine.
 */
#include <linux/tcp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/pkt_sched.h>
#include <net/tcp.h>

#include "aqm/law.h"
#include "lib/hint.h"

/* The form of the options in netlink. */
struct knee_options {
	struct aqm_settings law;
	/* Packets. */
	u32 limit;
	u32 ecn;
};

struct knee_queue {
	struct knee_options set;
	struct aqm_state law;
};

/* Called by __ip_queue_xmit for the type of service of a packet (kernel.patch). */
extern u8 (*knee_tos)(const struct sock *sk, const struct sk_buff *skb, u8 tos);

/* Acknowledgements without data keep their bits. */
static u8 hinted(const struct sock *sk, const struct sk_buff *skb, u8 tos)
{
	if (sk->sk_protocol != IPPROTO_TCP || skb->len == skb_transport_offset(skb) + tcp_hdrlen(skb))
		return tos;
	return hint_of_window(tcp_snd_cwnd(tcp_sk(sk))) << 2 | (tos & INET_ECN_MASK);
}

static u64 window_of(const struct sk_buff *skb)
{
	return skb->protocol == htons(ETH_P_IP) ? hint_window(ip_hdr(skb)->tos >> 2) : 0;
}

static int knee_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct knee_queue *queue = qdisc_priv(sch);
	u64 probability = aqm_judge(&queue->set.law, &queue->law, sch->q.qlen, window_of(skb), ktime_get_ns());

	if (sch->q.qlen >= queue->set.limit)
		return qdisc_drop(skb, sch, to_free);
	if (get_random_u32() < probability && !(queue->set.ecn && INET_ECN_set_ce(skb)))
		return qdisc_drop(skb, sch, to_free);
	return qdisc_enqueue_tail(skb, sch);
}

static int knee_init(struct Qdisc *sch, struct nlattr *options, struct netlink_ext_ack *extack)
{
	struct knee_queue *queue = qdisc_priv(sch);

	if (!options || nla_len(options) < sizeof(queue->set)) {
		NL_SET_ERR_MSG(extack, "the law's settings are missing");
		return -EINVAL;
	}
	memcpy(&queue->set, nla_data(options), sizeof(queue->set));
	if (queue->set.law.spare != AQM_SPARE_NONE)
		knee_tos = hinted;
	return 0;
}

static struct Qdisc_ops knee_ops = {
	.id = "knee",
	.priv_size = sizeof(struct knee_queue),
	.enqueue = knee_enqueue,
	.dequeue = qdisc_dequeue_head,
	.peek = qdisc_peek_head,
	.init = knee_init,
	.reset = qdisc_reset_queue,
	.owner = THIS_MODULE,
};

static int __init knee_queue_register(void)
{
	return register_qdisc(&knee_ops);
}
late_initcall(knee_queue_register);

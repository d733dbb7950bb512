/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Replaces lib/kernel.h in a kernel's own tree: the helpers of BPF as functions of the kernel. So
 * a controller is compiled into a kernel that cannot load it, as User-Mode Linux, which has no JIT compiler for BPF.
 *
 * There is no reader of reports: the ring has no room.
 */
#ifndef KNEE_KERNEL_H
#define KNEE_KERNEL_H

#include <linux/slab.h>
#include <net/tcp.h>

#include "lib/fixed.h"

/* Names of one program carry its name here, where all programs share one namespace. */
#define OWN_(a, b) a##_##b
#define OWN(a, b) OWN_(a, b)
#define records OWN(ALGORITHM, records)
#define flows OWN(ALGORITHM, flows)
#define report_every OWN(ALGORITHM, report_every)

#define SEC(name)
#define __uint(name, value) int (*name)[value]
#define __type(name, value) value *name
#define BPF_PROG(name, ...) static name(__VA_ARGS__)
#define BPF_CORE_READ_BITFIELD(from, field) ((from)->field)
#define WITHOUT_IPV6

#define bpf_ktime_get_ns() ktime_get_ns()
#define bpf_get_prandom_u32() get_random_u32()
#define bpf_ntohs(port) ntohs(port)
#define barrier_var(value) OPTIMIZER_HIDE_VAR(value)
#define bpf_ringbuf_reserve(ring, size, how) NULL
#define bpf_ringbuf_submit(record, how)
#define bpf_sk_storage_get(map, sk, value, how) state_of(sk, sizeof(struct flow), how)

/* inet_connection_sock.icsk_ca_state */
enum { OPEN, DISORDER, REDUCED, RECOVERY, LOSS };

INLINE void **place_of(struct sock *sk)
{
	return (void **)inet_csk_ca(sk);
}

INLINE void *state_of(struct sock *sk, size_t size, u32 how)
{
	void **place = place_of(sk);

	if (!*place && how)
		*place = kzalloc(size, GFP_ATOMIC);
	return *place;
}

#endif

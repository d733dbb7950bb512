/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Signals to a controller. Sequence numbers are in any unit, bytes or packets, and wrap around. */
#ifndef KNEE_ACK_H
#define KNEE_ACK_H

#include "lib/fixed.h"

struct ack {
	u64 now;          /* ns */
	u64 rtt;          /* ns; zero where the acknowledgement measures none */
	u32 una, next;    /* the first number not acknowledged, the next one never sent */
	u32 acked;        /* packets newly acknowledged */
	u32 random;       /* uniform, 32 fractional bits */
	u32 in_flight;    /* packets */
	flag recovering;  /* losses are being repaired */
};

/* Whether sequence number a is b or follows it. */
INLINE flag reaches(u32 a, u32 b)
{
	return (s32)(a - b) >= 0;
}

#endif

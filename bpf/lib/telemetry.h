/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Reports of controllers on a connection. */
#ifndef KNEE_TELEMETRY_H
#define KNEE_TELEMETRY_H

#include "lib/fixed.h"

#define NO_MODE 255

struct record {
	u64 at;                               /* CLOCK_MONOTONIC, ns */
	u8 source[16], destination[16];       /* IPv6; IPv4 as ::ffff:a.b.c.d */
	u16 source_port, destination_port;    /* host order */
	u8 closed, mode, padding[2];          /* mode: 0 high-speed, 1 safe, 2 compete; 255 none */
	u32 window;                           /* packets, 16 fractional bits */
	u32 ssthresh;                         /* packets; ~0 none */
	u32 rtt, srtt, least_rtt, queueing;   /* microseconds; srtt is srtt_0.99 */
	u32 alpha;                            /* packets a round trip, 16 fractional bits */
	u32 probability;                      /* 32 fractional bits, at most all ones */
	u32 early_responses, losses;          /* so far */
	u32 in_flight;                        /* packets */
	u32 padding2;
	u64 delivered;                        /* packets so far */
};

#endif

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The rate of rare events per packet, from the packets between the last eight: losses, or early responses (RFC 5348 section 5.4).
 *
 *   mean(a_1 .. a_8) = (a_1 + a_2 + a_3 + a_4 + 0.8 a_5 + 0.6 a_6 + 0.4 a_7 + 0.2 a_8) / 6
 *   rate = 1 / max(mean(n_1 .. n_8), mean(n_0 .. n_7)), where n_0 counts since the last event
 */
#ifndef KNEE_EVENT_RATE_H
#define KNEE_EVENT_RATE_H

#include "lib/fixed.h"

#define INTERVALS 8

struct event_rate {
	u32 open;
	u32 closed[INTERVALS];  /* the newest first */
	u32 count;
};

INLINE void event_happen(struct event_rate *rate)
{
	if (!rate->open)
		return;
	for (int place = INTERVALS - 1; place > 0; place--)
		rate->closed[place] = rate->closed[place - 1];
	rate->closed[0] = rate->open;
	rate->count = LESSER(rate->count + 1, INTERVALS);
	rate->open = 0;
}

/* The weighted packets between events, and the sum of the weights, in fifths; their quotient is the mean. */
struct weighted {
	u64 packets, weight;
};

INLINE struct weighted event_mean(const struct event_rate *rate, flag ages)
{
	const u8 weights[INTERVALS] = { 5, 5, 5, 5, 4, 3, 2, 1 };
	u64 settled = 0, aged = 0, weight = 0;

	for (u32 place = 0; place < INTERVALS; place++) {
		if (place >= rate->count)
			break;
		weight += weights[place];
		settled += (u64)weights[place] * rate->closed[place];
		aged += (u64)weights[place] * (place ? rate->closed[place - 1] : rate->open);
	}
	return (struct weighted){ ages && aged > settled ? aged : settled, weight };
}

#endif

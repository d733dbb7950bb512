/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The queueing delay as an end host sees it: the smoothed round-trip time less the smallest one.
 *
 *   s <- s + (1 - h) (r - s)    every sample; the first sets s        P <- min(P, r)
 *
 * The average has 24 fractional bits of a nanosecond. A step rounds down by less than one of them, and the steps that still count sum to less than
 * 1 / (1 - h) of those: 6e-6 ns for h = 0.99.
 */
#ifndef KNEE_DELAY_H
#define KNEE_DELAY_H

#include "lib/fixed.h"

#define AVERAGE_BITS 24

struct delay {
	u64 smoothed;  /* ns, AVERAGE_BITS fractional bits */
	u64 least;     /* ns; zero before the first sample */
};

/* A sample with its own weight. */
INLINE void delay_take(struct delay *delay, u64 rtt, fixed weight)
{
	u64 sample = rtt << AVERAGE_BITS;

	if (!delay->least) {
		delay->smoothed = sample;
		delay->least = rtt;
		return;
	}
	if (sample >= delay->smoothed)
		delay->smoothed += product(sample - delay->smoothed, weight);
	else
		delay->smoothed -= product(delay->smoothed - sample, weight);
	delay->least = LESSER(delay->least, rtt);
}

INLINE void delay_observe(struct delay *delay, u64 rtt, fixed history)
{
	delay_take(delay, rtt, ONE - history);
}

INLINE u64 srtt(const struct delay *delay)
{
	return delay->smoothed >> AVERAGE_BITS;
}

INLINE u64 queueing(const struct delay *delay)
{
	return excess(srtt(delay), delay->least);
}

#endif

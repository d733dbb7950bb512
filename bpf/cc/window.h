/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The window and threshold that all controllers share (RFC 5681). Packets. */
#ifndef KNEE_WINDOW_H
#define KNEE_WINDOW_H

#include "lib/fixed.h"

#define FLOOR_AFTER_LOSS (2 * ONE)

struct window {
	fixed packets;
	fixed ssthresh;
};

INLINE void window_open(struct window *window, fixed packets)
{
	window->packets = packets;
	window->ssthresh = MOST;
}

INLINE flag slow_start(const struct window *window)
{
	return window->packets < window->ssthresh;
}

/* Slow start, then this many packets a round trip: W += acked, W += per_rtt acked / W. */
INLINE void window_grow(struct window *window, fixed credit, fixed per_rtt)
{
	if (slow_start(window)) {
		fixed growth = LESSER(credit, window->ssthresh - window->packets);

		window->packets += growth;
		credit -= growth;
	}
	window->packets += quotient(product(per_rtt, credit), window->packets);
}

/* Continues from this many packets, in congestion avoidance; never from more than before, or two. */
INLINE void window_reduce(struct window *window, fixed packets)
{
	packets = LESSER(packets, window->packets);
	window->packets = GREATER(packets, FLOOR_AFTER_LOSS);
	window->ssthresh = window->packets;
}

/* Starts over from one packet and doubles up to the threshold. */
INLINE void window_restart(struct window *window, fixed ssthresh, flag reported)
{
	if (!reported)
		window->ssthresh = ssthresh;
	window->ssthresh = GREATER(window->ssthresh, FLOOR_AFTER_LOSS);
	window->packets = ONE;
}

#endif

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * When a sender may respond early: once per round trip, and not while it responds to losses. A round trip ends when something
 * that was sent after its beginning is acknowledged.
 */
#ifndef KNEE_EARLY_H
#define KNEE_EARLY_H

#include "cc/ack.h"

struct early {
	u32 marker;      /* the next response waits until what begins here is acknowledged */
	flag waiting;    /* whether there is a marker: numbers wrap around */
	flag recovering;
	u32 responses;
};

#define EARLY_PARAMETERS(P) \
	P(flag, once_per_round_trip, 1) \
	P(flag, loss_counts, 1)

INLINE void early_mark(struct early *early, u32 next)
{
	early->marker = next;
	early->waiting = 1;
}

INLINE void early_lost(struct early *early, u32 next, flag loss_counts)
{
	if (loss_counts)
		early_mark(early, next);
}

/* An acknowledgement arrived; it may be the end of a recovery episode. */
INLINE void early_hear(struct early *early, const struct ack *ack, flag loss_counts)
{
	if (early->recovering && !ack->recovering)
		early_lost(early, ack->next, loss_counts);
	early->recovering = ack->recovering;
	if (early->waiting && !reaches(early->marker, ack->una))
		early->waiting = 0;
}

/* Whether a response to the current acknowledgement is permitted. */
INLINE flag early_allowed(const struct early *early, const struct ack *ack, flag once, flag in_slow_start, flag slow)
{
	return !ack->recovering && (!early->waiting || !once) && (in_slow_start || !slow);
}

INLINE void early_responded(struct early *early, u32 next)
{
	early_mark(early, next);
	early->responses++;
}

#endif

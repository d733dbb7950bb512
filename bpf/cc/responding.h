/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How PERT acts on a probability, whichever response computed it.
 *
 *   with probability p, once per round trip:   W <- (1 - f) W,  S <- W
 *   otherwise, and at a loss, as Reno:         W += 1 / W;  W <- W / 2
 */
#ifndef KNEE_RESPONDING_H
#define KNEE_RESPONDING_H

#include "cc/ack.h"
#include "cc/delay.h"
#include "cc/early.h"
#include "cc/window.h"
#include "lib/parameters.h"
#include "lib/telemetry.h"

#define RESPONDING_PARAMETERS(P) \
	EARLY_PARAMETERS(P) \
	P(fixed, history, FIXED(0.99)) \
	P(fixed, decrease, FIXED(0.35)) \
	P(fixed, loss_decrease, FIXED(0.5)) \
	P(fixed, increase, ONE) \
	P(fixed, min_window, ONE)

PARAMETERS(responding, RESPONDING_PARAMETERS);

struct responding {
	struct window window;
	struct delay delay;
	struct early early;
	fixed probability;
};

/* Whether the sender responds early to the current acknowledgement; if so, its window is reduced. */
INLINE flag respond(struct responding *it, const struct responding_parameters *set, flag in_slow_start,
		    const struct ack *ack)
{
	flag slow = slow_start(&it->window);

	if (!early_allowed(&it->early, ack, set->once_per_round_trip, in_slow_start, slow) || ack->random >= it->probability)
		return 0;
	it->window.packets = GREATER(product(it->window.packets, ONE - set->decrease), set->min_window);
	it->window.ssthresh = GREATER(it->window.packets, FLOOR_AFTER_LOSS);
	early_responded(&it->early, ack->next);
	return 1;
}

INLINE void responding_loss(struct responding *it, const struct responding_parameters *set, const struct ack *ack,
			    fixed flight)
{
	window_reduce(&it->window, product(flight, ONE - set->loss_decrease));
	early_lost(&it->early, ack->next, set->loss_counts);
}

INLINE void responding_timeout(struct responding *it, const struct responding_parameters *set, const struct ack *ack,
			       fixed flight, flag reported)
{
	window_restart(&it->window, product(flight, ONE - set->loss_decrease), reported);
	early_lost(&it->early, ack->next, set->loss_counts);
}

INLINE void responding_tell(const struct responding *it, const struct responding_parameters *set, struct record *record)
{
	record->mode = NO_MODE;
	record->srtt = srtt(&it->delay) / 1000;
	record->least_rtt = it->delay.least / 1000;
	record->queueing = queueing(&it->delay) / 1000;
	record->alpha = set->increase >> 16;
	record->probability = LESSER(it->probability, ONE - 1);
	record->early_responses = it->early.responses;
}

#endif

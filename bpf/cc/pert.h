/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * PERT: responds to queueing delay early and at random, as a RED router would have marked.
 *
 * S. Bhandarkar, A. L. N. Reddy, Y. Zhang, D. Loguinov, "Emulating AQM from End Hosts", SIGCOMM 2007, section 3, Figure 5.
 *
 *   q = srtt_0.99 - min RTT                                                     every sample
 *   p = the curve through (t1, 0), (t2, pmax), (t3, 1) at q
 *   with probability p, once per round trip:   W <- (1 - f) W,  S <- W
 *   otherwise, and at a loss, as Reno:         W += 1 / W;  W <- W / 2
 *
 * Parameters, their defaults and the readings of the paper are the same as in the laboratory's `pert`. Departures
 * from it: fixed point (the window agrees to 1e-6 of itself), and no one-way delays (`signal`).
 */
#ifndef KNEE_PERT_H
#define KNEE_PERT_H

#include "cc/curve.h"
#include "cc/responding.h"

#define PERT_OWN_PARAMETERS(P) \
	P(span_ns, t1, 5000000) \
	P(span_ns, t2, 10000000) \
	P(span_ns, t3, 20000000) \
	P(fixed, pmax, FIXED(0.05)) \
	P(span_ns, every, 0) \
	P(flag, early_in_slow_start, 0)

#define PERT_PARAMETERS(P) PERT_OWN_PARAMETERS(P) RESPONDING_PARAMETERS(P)
#define PERT_VALUES { PERT_OWN_PARAMETERS(COPY) .responding = { RESPONDING_PARAMETERS(COPY) } }

struct pert_parameters {
	PERT_OWN_PARAMETERS(FIELD)
	struct responding_parameters responding;
};

struct pert {
	struct responding responding;
	u64 computed;
};

INLINE void pert_open(struct pert *it, const struct pert_parameters *set, fixed window)
{
	window_open(&it->responding.window, window);
}

INLINE struct window *pert_window(struct pert *it)
{
	return &it->responding.window;
}

INLINE flag pert_sample(struct pert *it, const struct pert_parameters *set, const struct ack *ack)
{
	struct responding *own = &it->responding;

	early_hear(&own->early, ack, set->responding.loss_counts);
	if (!ack->rtt)
		return 0;
	delay_observe(&own->delay, ack->rtt, set->responding.history);
	if (excess(ack->now, it->computed) >= set->every) {
		it->computed = ack->now;
		own->probability = curve(queueing(&own->delay), set->t1, set->t2, set->t3, set->pmax);
	}
	return respond(own, &set->responding, set->early_in_slow_start, ack);
}

INLINE void pert_grow(struct pert *it, const struct pert_parameters *set, fixed credit)
{
	window_grow(&it->responding.window, credit, set->responding.increase);
}

INLINE void pert_loss(struct pert *it, const struct pert_parameters *set, const struct ack *ack, fixed flight)
{
	responding_loss(&it->responding, &set->responding, ack, flight);
}

INLINE void pert_timeout(struct pert *it, const struct pert_parameters *set, const struct ack *ack, fixed flight,
			 flag reported)
{
	responding_timeout(&it->responding, &set->responding, ack, flight, reported);
}

INLINE void pert_tell(const struct pert *it, const struct pert_parameters *set, struct record *record)
{
	responding_tell(&it->responding, &set->responding, record);
}

#endif

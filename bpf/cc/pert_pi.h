/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * PERT/PI: PERT that responds as a router with a proportional-integral controller would have marked.
 *
 * S. Bhandarkar, A. L. N. Reddy, Y. Zhang, D. Loguinov, "Emulating AQM from End Hosts", SIGCOMM 2007, section 6; C. Hollot, V. Misra,
 * D. Towsley, W. Gong, "On Designing Improved Controllers for AQM Routers Supporting TCP Flows", INFOCOM 2001.
 *
 *   e = q - target                                             every 1/frequency
 *   p <- p + gamma e - beta e',  within [0, 1];   e' <- e
 *
 * Parameters, their defaults and the readings of the paper are the same as in the laboratory's `pert-pi`. Departures
 * from it: fixed point (the window agrees to 1e-6 of itself), and no one-way delays (`signal`). The sum is kept
 * finer than the probability, so that rounding errors do not accumulate.
 */
#ifndef KNEE_PERT_PI_H
#define KNEE_PERT_PI_H

#include "cc/responding.h"

#define PERT_PI_OWN_PARAMETERS(P) \
	P(span_ns, target, 3000000) \
	P(fixed, gamma, FIXED(0.341625)) \
	P(fixed, beta, FIXED(0.3405)) \
	P(fixed, frequency, 170 * ONE) \
	P(flag, early_in_slow_start, 1)

#define PERT_PI_PARAMETERS(P) PERT_PI_OWN_PARAMETERS(P) RESPONDING_PARAMETERS(P)
#define PERT_PI_VALUES { PERT_PI_OWN_PARAMETERS(COPY) .responding = { RESPONDING_PARAMETERS(COPY) } }

struct pert_pi_parameters {
	PERT_PI_OWN_PARAMETERS(FIELD)
	struct responding_parameters responding;
};

struct pert_pi {
	struct responding responding;
	u64 next;      /* the clock's next tick; zero before the first */
	u64 delay;     /* the latest estimate, ns */
	s64 before;    /* the error at the latest tick, ns */
	u64 sum;       /* p times CERTAIN */
	flag begun;
};

#define SECOND 1000000000ULL
/* After this long without acknowledgements the clock stops. */
#define PATIENCE SECOND
/* Fractional bits of the sum, whose unit is then 2^-16 ns/s: fine enough for ever, and a factor of 1000 times an error of 100 s fits. */
#define SUM_BITS 16
#define CERTAIN (SECOND << SUM_BITS)

/* factor error, in units of the sum */
INLINE s64 weighed(fixed factor, s64 error)
{
	return error < 0 ? -(s64)product((u64)-error << SUM_BITS, factor) : (s64)product((u64)error << SUM_BITS, factor);
}

INLINE u64 moved(u64 sum, s64 change)
{
	return change < 0 ? excess(sum, -change) : LESSER(sum + change, CERTAIN);
}

/* Several ticks with the same delay: the first moves by the new part, the others by the same each. */
INLINE void pert_pi_tick(struct pert_pi *it, const struct pert_pi_parameters *set, u64 ticks)
{
	s64 error = (s64)it->delay - (s64)set->target;
	s64 before = it->begun ? it->before : -(s64)set->target;
	s64 now = weighed(set->gamma, error), again = now - weighed(set->beta, error);
	/* A tick beyond the whole range takes the sum to its end. */
	s64 bounded = again < 0 ? -(s64)LESSER((u64)-again, CERTAIN) : (s64)LESSER((u64)again, CERTAIN);

	it->sum = moved(it->sum, now - weighed(set->beta, before));
	it->sum = moved(it->sum, bounded * (s64)(ticks - 1));
	it->before = error;
	it->begun = 1;
}

INLINE void pert_pi_open(struct pert_pi *it, const struct pert_pi_parameters *set, fixed window)
{
	window_open(&it->responding.window, window);
}

INLINE struct window *pert_pi_window(struct pert_pi *it)
{
	return &it->responding.window;
}

INLINE flag pert_pi_sample(struct pert_pi *it, const struct pert_pi_parameters *set, const struct ack *ack)
{
	struct responding *own = &it->responding;
	u64 period = ((SECOND << 32) + set->frequency / 2) / set->frequency;

	early_hear(&own->early, ack, set->responding.loss_counts);
	if (!ack->rtt)
		return 0;
	delay_observe(&own->delay, ack->rtt, set->responding.history);
	if (!it->next)
		it->next = ack->now + period;
	if (ack->now >= it->next) {
		u64 missed = 1 + (ack->now - it->next) / period;

		it->next += missed * period;
		pert_pi_tick(it, set, LESSER(missed, (PATIENCE + period - 1) / period));
		own->probability = (it->sum << (32 - SUM_BITS)) / SECOND;
	}
	it->delay = queueing(&own->delay);
	return respond(own, &set->responding, set->early_in_slow_start, ack);
}

INLINE void pert_pi_grow(struct pert_pi *it, const struct pert_pi_parameters *set, fixed credit)
{
	window_grow(&it->responding.window, credit, set->responding.increase);
}

INLINE void pert_pi_loss(struct pert_pi *it, const struct pert_pi_parameters *set, const struct ack *ack, fixed flight)
{
	responding_loss(&it->responding, &set->responding, ack, flight);
}

INLINE void pert_pi_timeout(struct pert_pi *it, const struct pert_pi_parameters *set, const struct ack *ack,
			    fixed flight, flag reported)
{
	responding_timeout(&it->responding, &set->responding, ack, flight, reported);
}

INLINE void pert_pi_tell(const struct pert_pi *it, const struct pert_pi_parameters *set, struct record *record)
{
	responding_tell(&it->responding, &set->responding, record);
}

#endif

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Adaptive PERT: PERT that grows faster where the link is empty, or where others fill the queue.
 *
 * K. Kotla, "Adapting a Delay-based Protocol to Heterogeneous Environments", M.S. thesis, Texas A&M University 2008, chapters III, IV.
 *
 *   q = srtt_0.99 - min RTT        qm = max(t2, max RTT - min RTT)        beta = q / (q + qm)
 *   early response, with probability as PERT's curve through (t1, 0), (t2, pmax), (max(2 t2, g qm), 1),
 *       once per round trip:  W <- (1 - beta) W,  S <- W                  loss:  W <- (1 - beta) W
 *   otherwise:                W += alpha / W                              per acknowledgement, in congestion avoidance
 *   every 5 srtt:   high-speed  q <= t1      alpha <- min(alpha + 0.5, alpha_max)
 *                   compete     q >= c qm    alpha <- min(alpha + 0.1, target, alpha_max)
 *                   safe        otherwise    alpha <- max(0.9 alpha, 1)
 *   target = 1 + (P - 1) (1 + d / (g - c)) (1 - d / (q / qm - c + d)) up to g qm, from there P = 1 + p' / p;  d = 0.01
 *   p, p' = 1 / weighted mean of the packets between the last eight losses, early responses
 *
 * Parameters, their defaults and the readings of the thesis are the same as in the laboratory's `pert-adaptive`.
 * Departures from it: fixed point (the window agrees to 1e-6 of itself), no one-way delays (`signal`), no curve in
 * safe mode (`safe_target`), the greatest delay taken from samples (`greatest_of`), and of the additions to the
 * thesis no `probe`, `forget`, `friendly`.
 */
#ifndef KNEE_PERT_ADAPTIVE_H
#define KNEE_PERT_ADAPTIVE_H

#include "cc/ack.h"
#include "cc/curve.h"
#include "cc/delay.h"
#include "cc/early.h"
#include "cc/event_rate.h"
#include "cc/rounds.h"
#include "cc/window.h"
#include "lib/parameters.h"
#include "lib/telemetry.h"

/* The common part of the variants, and the rules in which they differ. */
#define PERT_ADAPTIVE_LIST(P, window, threshold, grows, rtts, one_a_round, step) \
	P(span_ns, t1, 5000000) \
	P(span_ns, t2, 10000000) \
	P(fixed, pmax, FIXED(0.05)) \
	P(fixed, history, FIXED(0.99)) \
	P(fixed, compete, FIXED(0.5)) \
	P(fixed, full_compete, FIXED(0.65)) \
	P(fixed, third_floor, 2 * ONE) \
	P(fixed, initial_alpha, ONE) \
	P(fixed, alpha_max, 32 * ONE) \
	P(fixed, high_speed_step, FIXED(0.5)) \
	P(fixed, compete_step, step) \
	P(fixed, safe_factor, FIXED(0.9)) \
	P(fixed, step_rtts, 5 * ONE) \
	P(flag, hold, 0) \
	EARLY_PARAMETERS(P) \
	P(flag, loss_beta, 1) \
	P(fixed, loss_decrease, FIXED(0.5)) \
	P(flag, early_rate_ages, 1) \
	P(flag, early_in_slow_start, 0) \
	P(fixed, min_window, window) \
	P(fixed, min_threshold, threshold) \
	P(flag, grow_on_response, grows) \
	P(fixed, memory_rtts, rtts) \
	P(flag, rounds, one_a_round)

#define PERT_ADAPTIVE_PARAMETERS(P) PERT_ADAPTIVE_LIST(P, ONE, 2 * ONE, 0, 0, 0, FIXED(0.1))
#define PERT_ADAPTIVE_VALUES { PERT_ADAPTIVE_PARAMETERS(COPY) }

PARAMETERS(pert_adaptive, PERT_ADAPTIVE_PARAMETERS);

enum mode { HIGH_SPEED, SAFE, COMPETE };

struct pert_adaptive {
	struct window window;
	struct delay delay;
	struct early early;
	struct round round;
	struct event_rate losses, responses;
	u64 peak;        /* the greatest round-trip time, ns */
	u64 greatest;    /* qm, ns */
	fixed probability;
	fixed alpha;
	u64 stepped;     /* when alpha took its last step; zero before the first acknowledgement */
	u32 repair;      /* the episode of repair lasts until all below it is acknowledged */
	flag repairing;
	u32 held[2];     /* acknowledgements in high-speed and in compete mode since then, or since safe mode */
	u8 mode;
};

/* How far below the compete threshold the hyperbola of Figure 2 has its pole, as a fraction of the greatest delay. */
#define POLE FIXED(0.01)

/* 1 + p' / p; as much as there is before the first loss. */
INLINE fixed fair_growth(const struct pert_adaptive *it, flag ages)
{
	struct weighted losses = event_mean(&it->losses, 1), responses = event_mean(&it->responses, ages);
	fixed more;

	if (!losses.weight)
		return MOST;
	if (!responses.weight)
		return ONE;
	more = quotient(losses.packets * responses.weight, responses.packets * losses.weight);
	return more > MOST - ONE ? MOST : ONE + more;
}

/*
 * Figure 2's growth in compete mode: 1 - d / (x - c + d) is (q - c qm) / (q - c qm + d qm), small near c where P may be
 * large, so its inverse is computed.
 */
INLINE fixed compete_target(u64 q, u64 qm, fixed fair, const struct pert_adaptive_parameters *set)
{
	fixed target = fair;

	if (q < product(qm, set->full_compete) && fair != MOST) {
		u64 above = excess(q << AVERAGE_BITS, product(qm << AVERAGE_BITS, set->compete));
		u64 inverse = quotient(above + product(qm << AVERAGE_BITS, POLE), above);
		fixed scale = ONE + quotient(POLE, excess(set->full_compete, set->compete));

		target = ONE + product(quotient(fair - ONE, inverse), scale);
	}
	return LESSER(GREATER(target, ONE), set->alpha_max);
}

INLINE void step(struct pert_adaptive *it, const struct pert_adaptive_parameters *set, u64 q)
{
	flag high_speed = !set->hold || (fixed)it->held[0] << 32 >= it->window.packets;
	flag compete = !set->hold || (fixed)it->held[1] << 32 >= it->window.packets;

	if (it->mode == COMPETE && compete) {
		fixed target = compete_target(q, it->greatest, fair_growth(it, set->early_rate_ages), set);

		it->alpha = LESSER(it->alpha + set->compete_step, target);
	} else if (it->mode == HIGH_SPEED && high_speed) {
		it->alpha = LESSER(it->alpha + set->high_speed_step, set->alpha_max);
	} else if (it->alpha > ONE) {
		it->alpha = GREATER(product(it->alpha, set->safe_factor), ONE);
	}
}

/* Follows the mode. */
INLINE void look(struct pert_adaptive *it, const struct pert_adaptive_parameters *set, u64 now, u64 q)
{
	if (q <= set->t1)
		it->mode = HIGH_SPEED;
	else
		it->mode = q >= product(it->greatest, set->compete) ? COMPETE : SAFE;
	if (it->mode == SAFE)
		it->held[0] = it->held[1] = 0;
	else
		it->held[it->mode == COMPETE]++;
	if (!it->stepped)
		it->stepped = now;
	if (excess(now, it->stepped) >= product(srtt(&it->delay), set->step_rtts)) {
		step(it, set, q);
		it->stepped = now;
		it->held[0] = it->held[1] = 0;
	}
}

INLINE fixed decrease(const struct pert_adaptive *it)
{
	u64 q = queueing(&it->delay);

	return quotient(q, q + it->greatest);
}

INLINE void pert_adaptive_open(struct pert_adaptive *it, const struct pert_adaptive_parameters *set, fixed window)
{
	window_open(&it->window, window);
	it->alpha = set->initial_alpha;
	it->greatest = set->t2;
	it->mode = SAFE;
}

INLINE struct window *pert_adaptive_window(struct pert_adaptive *it)
{
	return &it->window;
}

/* The average takes in a sample of this many packets' weight, and what follows from it is computed. */
INLINE void learn(struct pert_adaptive *it, const struct pert_adaptive_parameters *set, u64 rtt, fixed packets)
{
	u64 q, certain;
	fixed weight = ONE - set->history;

	if (set->memory_rtts)
		weight = gone(quotient(packets, product(set->rounds ? ONE : it->window.packets, set->memory_rtts)));
	delay_take(&it->delay, rtt, weight);
	it->peak = GREATER(it->peak, rtt);
	it->greatest = GREATER(it->peak - it->delay.least, set->t2);
	q = queueing(&it->delay);
	certain = GREATER(product(it->greatest, set->full_compete), product(set->t2, set->third_floor));
	it->probability = curve(q, set->t1, set->t2, certain, set->pmax);
}

/* Whether the sender responds early, and the acknowledgement is not to grow the window. */
INLINE flag pert_adaptive_sample(struct pert_adaptive *it, const struct pert_adaptive_parameters *set, const struct ack *ack)
{
	early_hear(&it->early, ack, set->loss_counts);
	if (reaches(ack->una, it->repair))
		it->repairing = 0;
	it->losses.open += ack->acked;
	it->responses.open += ack->acked;
	it->round.acknowledged |= ack->acked > 0;
	if (!ack->rtt)
		return 0;
	if (!set->rounds)
		learn(it, set, ack->rtt, (fixed)GREATER(ack->acked, 1) << 32);
	else if (round_over(&it->round, ack))
		learn(it, set, it->round.least, ONE);
	look(it, set, ack->now, queueing(&it->delay));
	if (!early_allowed(&it->early, ack, set->once_per_round_trip, set->early_in_slow_start, slow_start(&it->window)) ||
	    ack->random >= it->probability)
		return 0;
	it->window.packets = GREATER(product(it->window.packets, ONE - decrease(it)), set->min_window);
	it->window.ssthresh = GREATER(it->window.packets, set->min_threshold);
	early_responded(&it->early, ack->next);
	event_happen(&it->responses);
	return !set->grow_on_response;
}

INLINE void pert_adaptive_grow(struct pert_adaptive *it, const struct pert_adaptive_parameters *set, fixed credit)
{
	window_grow(&it->window, credit, it->alpha);
}

INLINE fixed kept_after_loss(const struct pert_adaptive *it, const struct pert_adaptive_parameters *set)
{
	return ONE - (set->loss_beta ? decrease(it) : set->loss_decrease);
}

INLINE void pert_adaptive_loss(struct pert_adaptive *it, const struct pert_adaptive_parameters *set, const struct ack *ack,
			       fixed flight)
{
	event_happen(&it->losses);
	/* A mark has nothing to repair. */
	if (ack->una != ack->next) {
		it->repair = ack->next;
		it->repairing = 1;
	}
	window_reduce(&it->window, product(flight, kept_after_loss(it, set)));
	early_lost(&it->early, ack->next, set->loss_counts);
}

INLINE void pert_adaptive_timeout(struct pert_adaptive *it, const struct pert_adaptive_parameters *set, const struct ack *ack,
				  fixed flight, flag reported)
{
	if (!reported && !it->repairing)
		event_happen(&it->losses);
	it->repair = ack->next;
	it->repairing = 1;
	window_restart(&it->window, product(flight, kept_after_loss(it, set)), reported);
	early_lost(&it->early, ack->next, set->loss_counts);
}

INLINE void pert_adaptive_tell(const struct pert_adaptive *it, const struct pert_adaptive_parameters *set, struct record *record)
{
	record->mode = it->mode;
	record->srtt = srtt(&it->delay) / 1000;
	record->least_rtt = it->delay.least / 1000;
	record->queueing = queueing(&it->delay) / 1000;
	record->alpha = it->alpha >> 16;
	record->probability = LESSER(it->probability, ONE - 1);
	record->early_responses = it->early.responses;
}

#endif

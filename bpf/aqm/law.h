/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * PI with the adjustment by the sender's window (PISA, PIMC), in fixed point.
 *
 *   p <- p + a e - b e',  within [0, 1];   e' <- e        every interval, e = queue - reference
 *   SA: P = min(1, gain p cwnd / avg)
 *   MC: P = 0 if cwnd <= max(min_window, share avg), else p
 *   avg <- (1 - w) avg + w cwnd                           every packet with a hint; the first one sets avg
 *
 * Formats: p 44 fractional bits, a and b 40, e 4 and held to 131,072 packets, so that no product exceeds 2^61; windows 32.
 *
 * A gain is off by at most 2^-41 = 4.5e-13; with these gains, probabilities agree with the laboratory's to six
 * decimals (crates/kneepoint-linux/tests/native/aqm.rs).
 *
 * Departure: no timer. The intervals that ended since the last packet are made up for when a packet arrives, all with the
 * queue of that instant. It is exact while the queue is empty or full, and late by less than the time between two packets.
 */
#ifndef KNEE_AQM_LAW_H
#define KNEE_AQM_LAW_H

#include "lib/fixed.h"

/* A factor whose difference to another matters: 40 fractional bits. */
typedef u64 fine;
/* The place of a choice in the laboratory's list. */
typedef u32 choice;

#define AQM_ONE (1LL << 44)
#define AQM_GREATEST_ERROR (1LL << 21)

enum { AQM_SPARE_NONE, AQM_SPARE_PROPORTIONAL, AQM_SPARE_THRESHOLD };

struct aqm_settings {
	u64 a, b;
	/* Packets, 32 fractional bits. */
	u64 reference;
	/* Nanoseconds. */
	u64 interval;
	u32 spare;
	u32 at_arrival;
	/* 32 fractional bits. */
	u64 spare_gain, spare_weight, min_window, min_window_share;
};

struct aqm_state {
	s64 probability;
	s64 before;
	/* When the interval under way ends; zero before the first packet. */
	u64 next;
	/* The average window, 32 fractional bits; zero before the first. */
	u64 average;
};

INLINE s64 aqm_clamp(s64 value, s64 least, s64 greatest)
{
	return value < least ? least : value > greatest ? greatest : value;
}

INLINE s64 aqm_error(const struct aqm_settings *set, u32 queue)
{
	s64 reference = (set->reference + (1 << 27)) >> 28;

	return aqm_clamp(((s64)queue << 4) - reference, -AQM_GREATEST_ERROR, AQM_GREATEST_ERROR);
}

/* The probability if the queue were sampled now. */
INLINE s64 aqm_at(const struct aqm_settings *set, const struct aqm_state *state, s64 error)
{
	s64 change = (s64)set->a * error - (s64)set->b * state->before;

	return aqm_clamp(state->probability + change, 0, AQM_ONE);
}

/* Samples the queue for every interval that has ended. */
INLINE void aqm_tick(const struct aqm_settings *set, struct aqm_state *state, u32 queue, u64 now)
{
	s64 error = aqm_error(set, queue), drift;
	u64 missed, magnitude;

	if (!state->next) {
		/* The queue was empty before the first packet. */
		state->before = aqm_error(set, 0);
		state->next = now + set->interval;
		return;
	}
	if (now < state->next)
		return;
	state->probability = aqm_at(set, state, error);
	state->before = error;
	missed = set->interval ? (now - state->next) / set->interval : 0;
	state->next += (missed + 1) * set->interval;
	if (!missed)
		return;
	/* With the same error before as now each further sample adds as much, up to a bound. */
	drift = ((s64)set->a - (s64)set->b) * error;
	magnitude = drift < 0 ? -drift : drift;
	if (!magnitude)
		return;
	if (missed > AQM_ONE / magnitude)
		state->probability = drift < 0 ? 0 : AQM_ONE;
	else
		state->probability = aqm_clamp(state->probability + (s64)missed * drift, 0, AQM_ONE);
}

INLINE void aqm_observe(const struct aqm_settings *set, struct aqm_state *state, u64 window)
{
	if (!window || set->spare == AQM_SPARE_NONE)
		return;
	if (!state->average)
		state->average = window;
	else if (window > state->average)
		state->average += product(window - state->average, set->spare_weight);
	else
		state->average -= product(state->average - window, set->spare_weight);
}

/* The probability of a packet whose sender has this window, with 32 fractional bits. */
INLINE u64 aqm_adjust(const struct aqm_settings *set, const struct aqm_state *state, s64 probability, u64 window)
{
	u64 plain = (u64)probability >> 12, factor, limit;

	if (!window || !state->average)
		return plain;
	if (set->spare == AQM_SPARE_PROPORTIONAL) {
		factor = product(set->spare_gain, quotient(window, state->average));
		plain = product(factor, plain);
		return LESSER(plain, ONE);
	}
	if (set->spare == AQM_SPARE_THRESHOLD) {
		limit = product(state->average, set->min_window_share);
		return window <= GREATER(limit, set->min_window) ? 0 : plain;
	}
	return plain;
}

/* The probability of a packet that arrives at this queue, with 32 fractional bits. */
INLINE u64 aqm_judge(const struct aqm_settings *set, struct aqm_state *state, u32 queue, u64 window, u64 now)
{
	s64 probability;

	aqm_tick(set, state, queue, now);
	aqm_observe(set, state, window);
	probability = set->at_arrival ? aqm_at(set, state, aqm_error(set, queue)) : state->probability;
	return aqm_adjust(set, state, probability, window);
}

#endif

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Round trips, each with its smallest sample (RFC 9406 section 4.2), and how much of an average is gone after a time.
 *
 *   a round is over when what was sent first after it began is acknowledged
 *   gone(x) = 1 - exp(-x)
 */
#ifndef KNEE_ROUNDS_H
#define KNEE_ROUNDS_H

#include "cc/ack.h"

struct round {
	u64 least;     /* ns; the sample of the round that was over last where `over` is set, else of the one under way */
	u32 last;      /* the round is over when more than this is acknowledged */
	flag acknowledged; /* something, so that the first round is over with the next sample */
	flag begun;    /* another than the first */
	flag over;     /* the next sample begins another */
};

/* Takes in the sample of an acknowledgement; returns whether it ends the round. `least` is the smallest sample of that round until the next sample. */
INLINE flag round_over(struct round *round, const struct ack *ack)
{
	round->least = round->over || !round->least ? ack->rtt : LESSER(round->least, ack->rtt);
	round->over = round->begun ? !reaches(round->last, ack->una) : round->acknowledged;
	if (round->over) {
		round->begun = 1;
		round->last = ack->next;
	}
	return round->over;
}

#define TERMS 13
#define HALVINGS 6

/* By its series, within 4e-9 up to 1; larger arguments are halved up to six times and the result is squared, within 2e-7. */
INLINE fixed gone(fixed x)
{
	fixed left = 0, term = ONE;
	u32 halved = 0;

	for (u32 half = 0; half < HALVINGS; half++) {
		if (x <= ONE)
			break;
		x /= 2;
		halved++;
	}
	if (x > ONE)
		return ONE;
	for (u32 n = 1; n <= TERMS; n++) {
		/* For e^-x, even terms are added and odd ones subtracted. */
		left = n & 1 ? left + term : left - term;
		term = product(term, x) / n;
	}
	for (u32 half = 0; half < HALVINGS; half++) {
		if (half >= halved)
			break;
		left = product(left, left);
	}
	return ONE - left;
}

#endif

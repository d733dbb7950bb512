/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * RATCP: TCP with a known fair rate.
 *
 * A. Karnik, A. Kumar, "Performance of TCP Congestion Control With Explicit Rate Feedback", IEEE/ACM ToN 13(1) 2005, section II.
 *
 *   Wr = floor(base RTT rate + backlog), at least one
 *   W > Wr:                 W <- Wr, and no growth until what is outstanding has come down to it
 *   loss:                   W <- Wr, S <- Wr           timeout:  W <- 1, S <- Wr
 *   otherwise, as Reno:     W += 1 below S, until W first met Wr; then W += 1 / W
 *
 * Parameters, their defaults and the readings of the paper are the same as in the laboratory's `ratcp`. Departures
 * from it: fixed point (the kernel rounds a window between two whole numbers, and has the rate to 2^-32), no base
 * round-trip time but the measured one (`base_rtt`), no rounding but down (`rounding`).
 */
#ifndef KNEE_RATCP_H
#define KNEE_RATCP_H

#include "cc/ack.h"
#include "cc/window.h"
#include "lib/parameters.h"
#include "lib/telemetry.h"

#define RATCP_PARAMETERS(P) \
	P(fixed, backlog, ONE)

#define RATCP_VALUES { RATCP_PARAMETERS(COPY) }

PARAMETERS(ratcp, RATCP_PARAMETERS);

struct ratcp {
	struct window window;
	u64 base;          /* the least round-trip time, ns; zero before the first sample */
	fixed rate;        /* packets per second; zero if unknown */
	u64 last, mean;    /* the latest round-trip time, and its average by 1/8, ns */
	flag leaves_slow_start;
	flag inactive;
};

/* Wr; zero if it is not known. */
INLINE fixed rate_window(const struct ratcp *it, const struct ratcp_parameters *set)
{
	fixed exact;

	if (!it->base || !it->rate)
		return 0;
	exact = quotient(product(it->rate, it->base), 1000000000) + set->backlog;
	return GREATER(exact >> 32 << 32, ONE);
}

INLINE void ratcp_open(struct ratcp *it, const struct ratcp_parameters *set, fixed window)
{
	window_open(&it->window, window);
}

INLINE struct window *ratcp_window(struct ratcp *it)
{
	return &it->window;
}

INLINE flag ratcp_sample(struct ratcp *it, const struct ratcp_parameters *set, const struct ack *ack)
{
	fixed bound, in_flight = (fixed)ack->in_flight << 32;

	if (ack->rtt) {
		it->base = it->base ? LESSER(it->base, ack->rtt) : ack->rtt;
		it->last = ack->rtt;
		it->mean = it->mean ? it->mean - it->mean / 8 + ack->rtt / 8 : ack->rtt;
	}
	bound = rate_window(it, set);
	if (bound && bound < it->window.packets) {
		it->window.packets = bound;
		it->leaves_slow_start = 1;
		it->inactive = in_flight > bound;
	}
	it->inactive = it->inactive && in_flight > it->window.packets;
	return it->inactive;
}

INLINE void ratcp_grow(struct ratcp *it, const struct ratcp_parameters *set, fixed credit)
{
	if (it->leaves_slow_start) {
		it->window.packets += quotient(credit, it->window.packets);
		return;
	}
	window_grow(&it->window, credit, ONE);
	it->leaves_slow_start = !slow_start(&it->window);
}

INLINE void ratcp_loss(struct ratcp *it, const struct ratcp_parameters *set, const struct ack *ack, fixed flight)
{
	fixed bound = rate_window(it, set);

	it->leaves_slow_start = 1;
	it->inactive = 0;
	if (bound)
		it->window.packets = it->window.ssthresh = bound;
	else
		window_reduce(&it->window, flight / 2);
}

INLINE void ratcp_timeout(struct ratcp *it, const struct ratcp_parameters *set, const struct ack *ack, fixed flight,
			  flag reported)
{
	fixed bound = rate_window(it, set);

	it->leaves_slow_start = 0;
	it->inactive = 0;
	if (!bound) {
		window_restart(&it->window, flight / 2, reported);
		return;
	}
	it->window.packets = ONE;
	it->window.ssthresh = bound;
}

INLINE void ratcp_tell(const struct ratcp *it, const struct ratcp_parameters *set, struct record *record)
{
	record->mode = NO_MODE;
	record->srtt = it->mean / 1000;
	record->least_rtt = it->base / 1000;
	record->queueing = excess(it->mean, it->base) / 1000;
	record->alpha = ONE >> 16;
}

#endif

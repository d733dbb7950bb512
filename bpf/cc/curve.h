/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The curve of gentle RED through (t1, 0), (t2, pmax), (t3, 1) over queueing delay, in nanoseconds. */
#ifndef KNEE_CURVE_H
#define KNEE_CURVE_H

#include "lib/fixed.h"

INLINE fixed curve(u64 q, span_ns t1, span_ns t2, span_ns t3, fixed pmax)
{
	if (q <= t1)
		return 0;
	if (q < t2)
		return product(pmax, quotient(q - t1, t2 - t1));
	if (q < t3)
		return LESSER(pmax + product(ONE - pmax, quotient(q - t2, t3 - t2)), ONE);
	return ONE;
}

#endif

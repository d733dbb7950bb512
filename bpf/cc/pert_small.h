/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Adaptive PERT for small windows and receivers that delay acknowledgements: the laboratory's `pert-small`, beyond the thesis.
 *
 *   a round trip's sample is its smallest      s <- s + (1 - exp(-1 / m)) (r - s)      once per round trip
 *   early response     W <- max((1 - beta) W, least),  S <- max(W, least threshold),  and the acknowledgement may grow W still
 *
 * All else is cc/pert_adaptive.h. A departure from the laboratory's rule, besides that file's: the delay is the round
 * trip, not the one-way delay.
 */
#ifndef KNEE_PERT_SMALL_H
#define KNEE_PERT_SMALL_H

#include "cc/pert_adaptive.h"

#define PERT_SMALL_PARAMETERS(P) PERT_ADAPTIVE_LIST(P, 2 * ONE, 2 * ONE, 1, 10 * ONE, 1, FIXED(0.5))

#endif

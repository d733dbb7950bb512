/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The algorithms of cc/ without a kernel: one table of functions each, for tests and for `knee replay`.
 *
 * An acknowledgement is taken in and then grows the window, unless it caused a response: the kernel's calls are
 * pkts_acked and cong_avoid.
 */
#include <stddef.h>

#include "cc/pert.h"
#include "cc/pert_adaptive.h"
#include "cc/pert_pi.h"
#include "cc/pert_small.h"
#include "cc/ratcp.h"

struct parameter {
	const char *name, *type;
	u64 place;    /* in the structure of parameters */
	u64 value;    /* the default */
};

struct algorithm {
	const char *name;
	const struct parameter *list;
	u64 listed;
	u64 state, parameters;    /* sizes, bytes */
	void (*open)(void *it, const void *set, fixed window);
	void (*acknowledge)(void *it, const void *set, const struct ack *ack, fixed credit);
	void (*loss)(void *it, const void *set, const struct ack *ack, fixed flight);
	void (*timeout)(void *it, const void *set, const struct ack *ack, fixed flight, flag reported);
	void (*advise)(void *it, fixed rate);    /* packets per second; none where nothing is asked of the network */
	struct window *(*window)(void *it);
	void (*tell)(const void *it, const void *set, struct record *record);
};

#define ROW(type, name, value) { #name, #type, offsetof(STRUCT, name), value },
#define RESPONDING_ROW(type, name, value) { #name, #type, offsetof(STRUCT, responding.name), value },
#define COUNT(list) (sizeof(list) / sizeof(*list))

#define FUNCTIONS(name) \
	static void name##_open_native(void *it, const void *set, fixed window) \
	{ \
		name##_open(it, set, window); \
	} \
	static void name##_acknowledge(void *it, const void *set, const struct ack *ack, fixed credit) \
	{ \
		if (!name##_sample(it, set, ack)) \
			name##_grow(it, set, credit); \
	} \
	static void name##_loss_native(void *it, const void *set, const struct ack *ack, fixed flight) \
	{ \
		name##_loss(it, set, ack, flight); \
	} \
	static void name##_timeout_native(void *it, const void *set, const struct ack *ack, fixed flight, flag reported) \
	{ \
		name##_timeout(it, set, ack, flight, reported); \
	} \
	static struct window *name##_window_native(void *it) \
	{ \
		return name##_window(it); \
	} \
	static void name##_tell_native(const void *it, const void *set, struct record *record) \
	{ \
		name##_tell(it, set, record); \
	}

#define VARIANT(name, of, advise) { \
	#name, name##_list, COUNT(name##_list), sizeof(struct of), sizeof(struct of##_parameters), of##_open_native, \
	of##_acknowledge, of##_loss_native, of##_timeout_native, advise, of##_window_native, of##_tell_native }
#define ALGORITHM(name, advise) VARIANT(name, name, advise)

#define STRUCT struct pert_parameters
static const struct parameter pert_list[] = { PERT_OWN_PARAMETERS(ROW) RESPONDING_PARAMETERS(RESPONDING_ROW) };
#undef STRUCT
#define STRUCT struct pert_pi_parameters
static const struct parameter pert_pi_list[] = { PERT_PI_OWN_PARAMETERS(ROW) RESPONDING_PARAMETERS(RESPONDING_ROW) };
#undef STRUCT
#define STRUCT struct pert_adaptive_parameters
static const struct parameter pert_adaptive_list[] = { PERT_ADAPTIVE_PARAMETERS(ROW) };
static const struct parameter pert_small_list[] = { PERT_SMALL_PARAMETERS(ROW) };
#undef STRUCT
#define STRUCT struct ratcp_parameters
static const struct parameter ratcp_list[] = { RATCP_PARAMETERS(ROW) };
#undef STRUCT

FUNCTIONS(pert)
FUNCTIONS(pert_pi)
FUNCTIONS(pert_adaptive)
FUNCTIONS(ratcp)

static void ratcp_advise(void *it, fixed rate)
{
	((struct ratcp *)it)->rate = rate;
}

const struct algorithm knee_algorithms[] = {
	ALGORITHM(pert, 0),
	ALGORITHM(pert_pi, 0),
	ALGORITHM(pert_adaptive, 0),
	VARIANT(pert_small, pert_adaptive, 0),
	ALGORITHM(ratcp, ratcp_advise),
};
const u64 knee_algorithm_count = COUNT(knee_algorithms);

/* The arithmetic, for its tests. */
u64 knee_product(u64 a, u64 b)
{
	return product(a, b);
}
u64 knee_quotient(u64 a, u64 b)
{
	return quotient(a, b);
}

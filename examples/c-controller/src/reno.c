/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reno (RFC 5681) in C: the same numbers as the laboratory's Reno, bit by bit, which a test compares.
 *
 *     W < S:   W += acked                  slow start; what is beyond S counts for avoidance
 *     W >= S:  W += acked / W              avoidance
 *     loss:    S = W = max(flight / 2, 2);  W = 1 after a timeout
 */
#include "knee_controller.h"

struct reno {
    double window, ssthresh;
};

static double least(double a, double b) { return a < b ? a : b; }
static double most(double a, double b) { return a > b ? a : b; }

static void reno_open(void *state, const struct knee_start *start)
{
    struct reno *reno = state;
    reno->window = start->window;
    reno->ssthresh = start->ssthresh;
}

static void reno_on_ack(void *state, const struct knee_ack *ack)
{
    struct reno *reno = state;
    double credit = ack->credit;
    if (reno->window < reno->ssthresh) {
        double growth = least(credit, reno->ssthresh - reno->window);
        reno->window += growth;
        credit -= growth;
    }
    reno->window += credit / reno->window;
}

static void reno_on_loss(void *state, const struct knee_event *loss)
{
    struct reno *reno = state;
    reno->window = most(least(loss->flight * 0.5, reno->window), 2.0);
    reno->ssthresh = reno->window;
}

static void reno_on_timeout(void *state, const struct knee_event *timeout)
{
    struct reno *reno = state;
    if (!timeout->reported)
        reno->ssthresh = timeout->flight * 0.5;
    reno->ssthresh = most(reno->ssthresh, 2.0);
    reno->window = 1.0;
}

static void reno_on_resize(void *state, const struct knee_resize *sizes)
{
    struct reno *reno = state;
    reno->window = most(sizes->window, 1.0);
    reno->ssthresh = sizes->ssthresh;
}

static void reno_control(const void *state, struct knee_control *control)
{
    const struct reno *reno = state;
    control->window = most(reno->window, 1.0);
    control->packets_per_s = 0;
}

const struct knee_controller reno_in_c = {
    .name = "reno-in-c",
    .about = "Reno in C: one packet more every round trip, half the window at a loss.",
    .version = "1",
    .state = sizeof(struct reno),
    .open = reno_open,
    .on_ack = reno_on_ack,
    .on_loss = reno_on_loss,
    .on_timeout = reno_on_timeout,
    .on_resize = reno_on_resize,
    .control = reno_control,
};

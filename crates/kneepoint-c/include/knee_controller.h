/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A congestion control in C as an algorithm of the laboratory.
 *
 * Define one constant of type `struct knee_controller`, with external linkage, and name it in Rust:
 *
 *     kneepoint_c::controller!(reno_in_c)
 *
 * Times are nanoseconds since the beginning of the run. Windows are in packets of full size. A flow's
 * state is plain memory of `state` bytes, aligned to 16 and zero before `open`: the laboratory copies it
 * with memcpy, so it must not point into itself, and nothing frees what it points to. Functions have no
 * clock, no random numbers and no static variables that change, or runs cannot be repeated: flows of
 * several threads call them at the same time, each with its own state. `control` is asked after every
 * other function. An answer that no host can use, such as a window of NaN, is refused in a trial before
 * the first run; in a run it ends the call with an error, and the run is not kept.
 */
#ifndef KNEE_CONTROLLER_H
#define KNEE_CONTROLLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A fresh connection. The threshold is infinite unless an experiment sets it. */
struct knee_start {
    double window;
    double ssthresh;
};

/* An acknowledgement, in order or duplicate. */
struct knee_ack {
    uint64_t now_ns;
    uint64_t rtt_ns;    /* 0: it measures none */
    uint64_t delivered; /* packets that are known to have arrived */
    uint64_t una;       /* first packet not yet acknowledged in order */
    uint64_t next;      /* next packet never sent so far */
    double credit;      /* packets by which the window may grow: 0 during repair, or where it is not the limit */
    double random;      /* uniform from 0, below 1 */
    uint32_t acked;     /* packets newly acknowledged in order; 0 for a duplicate */
    uint32_t marked;    /* marked packets by this acknowledgement, unless marks are classic */
    uint32_t in_flight;
    bool limited;       /* the sender had nothing more to send */
    bool recovering;    /* losses are being repaired */
};

/* Packets were lost, the retransmission timer expired, or a mark was echoed: at most once a window. */
struct knee_event {
    uint64_t now_ns;
    double flight;      /* packets that a reduction starts from */
    uint64_t una;       /* first packet not yet acknowledged in order; of a timeout and a mark: as next */
    uint64_t next;      /* the episode ends when this packet is acknowledged */
    bool reported;      /* a timeout whose loss was already reported: the threshold must not fall again */
};

/* The host sets window and threshold: a reduction is undone, or the connection was idle. */
struct knee_resize {
    uint64_t now_ns;
    double window;
    double ssthresh;
};

/* The answer. */
struct knee_control {
    double window;        /* packets that may be outstanding: at least 1, at most 1e6 */
    double packets_per_s; /* the rate at which to space them; 0: as acknowledgements come */
};

/* The codepoint of a sender's packets, and how marks are echoed. */
enum knee_marks {
    KNEE_MARKS_CLASSIC = 0,  /* ECT(0), once a window: RFC 3168 */
    KNEE_MARKS_EACH = 1,     /* ECT(0), each one: RFC 8257 */
    KNEE_MARKS_SCALABLE = 2, /* ECT(1), each one: RFC 9331 */
};

/* The algorithm. All functions but on_mark, on_resize and on_resume are required. */
struct knee_controller {
    const char *name;    /* in commands: small letters, digits, dashes */
    const char *about;   /* a line for lists */
    const char *version; /* changes with its behaviour; NULL: runs are not kept for later */
    size_t state;        /* bytes of a flow's state, at most 64 KiB */
    enum knee_marks marks;
    void (*open)(void *state, const struct knee_start *start);
    void (*on_ack)(void *state, const struct knee_ack *ack);
    void (*on_loss)(void *state, const struct knee_event *loss);
    void (*on_timeout)(void *state, const struct knee_event *timeout);
    void (*on_mark)(void *state, const struct knee_event *mark); /* NULL: as on_loss */
    void (*on_resize)(void *state, const struct knee_resize *sizes);   /* NULL: reductions are not undone */
    void (*on_resume)(void *state, uint64_t now_ns, uint64_t idle_ns); /* sending begins again, nothing in flight; NULL: ignored */
    void (*control)(const void *state, struct knee_control *control);
};

#ifdef __cplusplus
}
#endif

#endif
